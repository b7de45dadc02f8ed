"""Upload to a hub: all files in one commit, or the hub as it was."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlstream.cards.page import card_page
from mlstream.interop.hub import upload
from mlstream.publishing.folder import publish, verify
from tests.mlstream.interop.hub_stand_in import Hub, run_hub
from tests.mlstream.small_streams import Shape, make_stream

# Its library calls its transport in a way that the transport has deprecated.
# Streams made by hand state no terms, which `publish` warns of.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The stream should state:UserWarning")

TOKEN = "of-a-stand-in"  # noqa: S105


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    pytest.importorskip("huggingface_hub", reason="needs the extra `hub`")
    # The stand-in keeps large files by the older of the two interfaces.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with run_hub() as hub:
        yield hub


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return publish(make_stream(), tmp_path / "out")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_comes_back_as_it_was_uploaded(hub: Hub, folder: Path, tmp_path: Path) -> None:
    where = upload(folder, "me/stream", endpoint=hub.endpoint, token=TOKEN)
    assert where == f"{hub.endpoint}/datasets/me/stream/commit/{'1' * 40}"
    files = hub.repositories["me/stream"]
    assert files == contents(folder) | {".gitattributes": b""}
    assert hub.visibility["me/stream"] == "private"
    assert hub.validated == [card_page(verify(folder))]
    assert hub.tokens - {None} == {f"Bearer {TOKEN}"}
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in contents(folder):
        (copy / name).write_bytes(files[name])
    assert verify(copy).data_sha256 == make_stream().card.data_sha256


def test_another_upload_replaces_all_in_one_commit(hub: Hub, folder: Path) -> None:
    options = {"endpoint": hub.endpoint, "token": TOKEN, "private": False}
    upload(folder, "me/stream", **options)
    assert hub.visibility["me/stream"] == "public"
    hub.repositories["me/stream"]["old.txt"] = b"old"
    publish(make_stream(Shape(seed=1)), folder, force=True)
    upload(folder, "me/stream", **options)
    assert hub.repositories["me/stream"] == contents(folder) | {".gitattributes": b""}
    assert len(hub.messages) == 2
    assert hub.messages[1].startswith("Publish hand: made, data ")


@pytest.mark.parametrize(
    "step", ["/api/repos/create", "/tree/", "/validate-yaml", "/preupload/", "objects/batch", "/store/", "/commit/"]
)
def test_a_hub_that_refuses_any_step_is_one_error_and_is_as_it_was(hub: Hub, folder: Path, step: str) -> None:
    hub.repositories["me/stream"] = {"old.txt": b"old"}
    hub.refuses = step
    with pytest.raises(
        OSError, match=r"The hub at http://127.0.0.1:\d+ must accept the upload. .*(403|not allowed)"
    ) as caught:
        upload(folder, "me/stream", endpoint=hub.endpoint, token=TOKEN)
    assert "\n" not in str(caught.value)
    assert hub.repositories == {"me/stream": {"old.txt": b"old"}}


def test_a_folder_that_has_changed_is_not_uploaded(hub: Hub, folder: Path) -> None:
    (folder / "README.md").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"must be as it was published. Got: README.md has changed"):
        upload(folder, "me/stream", endpoint=hub.endpoint, token=TOKEN)
    assert hub.repositories == {}


@pytest.mark.parametrize("name", ["../../etc", "a/b/c", "me/..", "me/a b"])
def test_a_name_that_is_none_is_one_error(hub: Hub, folder: Path, name: str) -> None:
    with pytest.raises(ValueError, match="Repo id"):
        upload(folder, name, endpoint=hub.endpoint, token=TOKEN)
    assert hub.repositories == {}


def test_a_hub_that_is_not_there_is_one_error(folder: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="needs the extra `hub`")
    with pytest.raises(OSError, match="must accept the upload"):
        upload(folder, "me/stream", endpoint="http://127.0.0.1:9", token=TOKEN)


def test_without_the_extra_the_error_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match=r"pip install 'mlstream-toolkit\[hub\]'"):
        upload(folder, "me/stream")
