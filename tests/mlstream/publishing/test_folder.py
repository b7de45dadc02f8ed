"""Published folders: complete and verified, or absent, whatever happens."""

import errno
import gzip
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import arff
import numpy as np
import pytest
from pyarrow import parquet

from mlstream._support.files import sha256_of
from mlstream.data.datasets import load_dataset
from mlstream.formats import load, save
from mlstream.formats.parquet_rows import StreamRows
from mlstream.generators import carve_environments, scenario_stream, task_stream
from mlstream.publishing.folder import publish, regenerate, verify
from mlstream.publishing.source_tables import have_same_keys
from mlstream.streams.card_model import PersistenceCard, load_card
from mlstream.streams.stream import Stream, StreamParts
from mlstream.streams.tables.mulan import read_labels
from tests.loops import check_all
from tests.mlstream.small_streams import Shape, assert_same_stream, make_keyed_stream, make_stream

# Streams made by hand state no terms, which `publish` warns of.
pytestmark = pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")

FILES = {
    ".zenodo.json",
    "CITATION.cff",
    "README.md",
    "SHA256SUMS",
    "croissant.json",
    "datacite.json",
    "openml.xml",
    "schedule.svg",
    "signatures.svg",
    "stream-card.schema.json",
    "stream.arff",
    "stream.card.json",
    "stream.evaluation.arff",
    "stream.npz",
    "stream.test.parquet",
    "stream.train.parquet",
    "stream.xml",
}


@pytest.fixture
def published(tmp_path: Path) -> Path:
    return publish(make_stream(), tmp_path / "out")


def all_bytes(folder: Path) -> bytes:
    """Join the contents of all files, Parquet and gzip unpacked, and texts of NumPy as UTF-8."""
    found = []
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            found.append(str(parquet.read_table(path).to_pydict()).encode())
        elif path.is_file():
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            found += [path.name.encode(), content, content.replace(b"\0\0\0", b"")]
    return b"".join(found)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_keys_are_published_only_on_demand(tmp_path: Path, is_sparse: bool) -> None:
    stream = make_keyed_stream(Shape(sparse=is_sparse))
    with pytest.warns(UserWarning, match="Keys were left out, since they may be personal data: host, start, port, wei"):
        folder = publish(stream, tmp_path / "without")
    # The host of the keys, in Latin letters, and the millisecond of their starts.
    assert b"st, 1" not in all_bytes(folder)
    assert "stream.keys.csv" not in {path.name for path in folder.iterdir()}
    card = verify(folder)
    assert (card.keys, card.drops[-1].what, card.drops[-1].names) == ([], "keys", stream.card.keys)
    assert load(folder).key_names == ()
    assert card.data_sha256 == stream.card.data_sha256
    kept = publish(stream, tmp_path / "with", keep_keys=True)
    assert b"st, 1" in all_bytes(kept)
    assert verify(kept).keys == stream.card.keys
    for name in ("stream.npz", "stream.arff", "stream.train.parquet"):
        assert_same_stream(load(kept / name), stream)


def test_other_keys_are_found(tmp_path: Path) -> None:
    stream = make_keyed_stream()
    first = stream.experiences[0]
    assert first.keys is not None
    other = replace(first, keys=first.keys[::-1])
    changed = Stream(StreamParts(stream.tasks, (other, *stream.experiences[1:]), stream.evaluation_sets), stream.card)
    folder = publish(stream, tmp_path / "out", keep_keys=True)
    rows = folder / "stream.train.parquet", folder / "stream.test.parquet"
    assert [StreamRows(one).are_in(*rows) for one in (stream, changed)] == [True, False]
    assert [have_same_keys(load(folder / "stream.arff"), one) for one in (stream, changed)] == [True, False]


def test_a_card_without_keys_regenerates_a_stream_without_keys(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = [f"x{number}" for number in range(3)]
    rows = np.hstack([rng.integers(0, 2, (60, 3)), rng.random((60, 3)), np.arange(60)[:, np.newaxis]])
    np.savetxt(
        tmp_path / "t.csv",
        rows,
        fmt=["%d"] * 3 + ["%g"] * 3 + ["h%d"],
        delimiter=",",
        comments="",
        header=",".join([*"klm", *names, "host"]),
    )
    stream = task_stream(load_dataset(tmp_path / "t.csv", labels=3, keys=["host"]), n_tasks=2, n_init=1)
    with pytest.warns(UserWarning, match="Keys were left out"):
        card = verify(publish(stream, tmp_path / "out"))
    again = regenerate(card, table=tmp_path / "t.csv")
    assert (again.key_names, again.card) == ((), card.model_copy(update={"files": [], "rows": None}))
    assert regenerate(stream.card, table=tmp_path / "t.csv").key_names == ("host",)


@pytest.fixture(scope="module")
def yeast() -> Stream:
    return task_stream(load_dataset("yeast"), n_init=1, seed=7)


@pytest.mark.parametrize("shape", [Shape(), Shape(sparse=True), Shape(dtype=np.float32), Shape(by_row=True)])
def test_a_published_folder_is_complete_and_loads_either_way(tmp_path: Path, shape: Shape) -> None:
    stream = make_stream(shape)
    folder = publish(stream, tmp_path / "out")
    columns = {"columns.test.parquet", "columns.train.parquet"} if shape.sparse else set()
    assert {path.name for path in folder.iterdir()} == FILES | columns
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert_same_stream(load(folder / "stream.npz"), stream)
    assert_same_stream(load(folder / "stream.arff"), stream)
    assert_same_stream(load(folder / "stream.train.parquet"), stream)
    card = verify(folder)
    assert card == load_card(folder / "stream.card.json")
    assert card.model_copy(update={"files": [], "rows": None}) == stream.card


def test_a_folder_without_plain_rows_holds_nothing_about_them(tmp_path: Path) -> None:
    folder = publish(make_stream(), tmp_path / "out", arff=False)
    plain = {"stream.arff", "stream.evaluation.arff", "stream.xml", "openml.xml"}
    assert {path.name for path in folder.iterdir()} == FILES - plain
    assert_same_stream(load(folder / "stream.train.parquet"), make_stream())
    listed = [file.name for file in verify(folder).files]
    assert listed == ["stream.npz", "stream.train.parquet", "stream.test.parquet"]
    assert "ARFF" not in (folder / "README.md").read_text()
    publish(load(folder / "stream.npz", mmap=True), folder, force=True, arff=False)
    assert_same_stream(load(folder / "stream.npz"), make_stream())
    with (folder / "stream.npz").open("r+b") as file:
        file.seek(-300, os.SEEK_END)
        file.write(b"spoilt")
    with pytest.raises(ValueError, match=r"stream.npz has changed"):
        verify(folder)


def test_plain_rows_that_are_taken_away_are_missed(published: Path) -> None:
    for name in ("stream.arff", "stream.evaluation.arff", "stream.xml", "openml.xml"):
        (published / name).unlink()
    with pytest.raises(ValueError, match=r"openml.xml is missing; stream.arff is missing"):
        verify(published)
    lines = (published / "SHA256SUMS").read_text().splitlines(keepends=True)
    kept = [line for line in lines if (published / line.split()[1]).is_file()]
    (published / "SHA256SUMS").write_text("".join(kept))
    with pytest.raises(ValueError, match=r"stream.card.json lists other files"):
        verify(published)


@pytest.mark.slow
def test_streams_whose_rows_hide_labels_and_those_with_roles_are_published(tmp_path: Path) -> None:
    yeast = load_dataset("yeast")
    for number, stream in enumerate(
        (scenario_stream(yeast, "class-incremental"), carve_environments(yeast, by="time", roles=("train", "unseen")))
    ):
        publish(stream, tmp_path / str(number))
        assert_same_stream(load(tmp_path / str(number) / "stream.npz"), stream)
        assert regenerate(stream.card).card.data_sha256 == stream.card.data_sha256


def test_the_hashes_are_those_of_sha256sum(published: Path) -> None:
    lines = (published / "SHA256SUMS").read_text().splitlines()
    expected = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
        for path in sorted(published.iterdir())
        if path.name != "SHA256SUMS"
    ]
    assert sorted(lines) == sorted(expected)


def test_mulan_finds_its_labels(published: Path) -> None:
    assert list(read_labels(published / "stream.xml").names) == make_stream().card.label_names


def test_files_are_readable_by_others(published: Path) -> None:
    umask = os.umask(0)
    os.umask(umask)
    assert published.stat().st_mode & 0o777 == 0o777 & ~umask
    assert {path.stat().st_mode & 0o777 for path in published.iterdir()} == {0o666 & ~umask}


def test_a_folder_that_exists_is_refused_and_left_alone(published: Path) -> None:
    before = {path.name: path.read_bytes() for path in published.iterdir()}
    with pytest.raises(FileExistsError, match=r"out must not exist yet: --force replaces"):
        publish(make_stream(Shape(seed=1)), published)
    assert {path.name: path.read_bytes() for path in published.iterdir()} == before


def test_the_same_stream_gives_the_same_bytes(published: Path, tmp_path: Path) -> None:
    again = publish(make_stream(), tmp_path / "again")
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in published.iterdir()
    }


def test_force_replaces_a_published_folder_and_leaves_nothing_else(published: Path) -> None:
    other = make_stream(Shape(seed=1))
    assert publish(other, published, force=True) == published
    assert verify(published).data_sha256 == other.card.data_sha256
    assert [path.name for path in published.parent.iterdir()] == ["out"]


def test_force_makes_a_folder_that_is_not_there(tmp_path: Path) -> None:
    verify(publish(make_stream(), tmp_path / "out", force=True))


def add_a_file(folder: Path) -> None:
    (folder / "thesis.pdf").write_text("years of work")


def add_a_listed_file(folder: Path) -> None:
    add_a_file(folder)
    with (folder / "SHA256SUMS").open("a") as sums:
        sums.write(f"{hashlib.sha256(b'years of work').hexdigest()}  thesis.pdf\n")


def add_a_hidden_file(folder: Path) -> None:
    (folder / ".thesis").touch()


def add_a_folder(folder: Path) -> None:
    (folder / "thesis" / "chapters").mkdir(parents=True)
    (folder / "thesis" / "chapters" / "1.tex").write_text("mine")


def add_a_link(folder: Path) -> None:
    (folder / "images").symlink_to(folder.parent)


def link_a_file_of_ours(folder: Path) -> None:
    (folder / "README.md").rename(folder.parent / "mine.md")
    (folder / "README.md").symlink_to(folder.parent / "mine.md")


def make_a_folder_of_a_file_of_ours(folder: Path) -> None:
    (folder / "stream.xml").unlink()
    (folder / "stream.xml").mkdir()
    (folder / "stream.xml" / "mine").touch()


def add_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def add_many_files(folder: Path) -> None:
    for number in range(9):
        (folder / f"{number}.iso").touch()


def drop_the_card(folder: Path) -> None:
    (folder / "stream.card.json").unlink()


def put_in_another_card(folder: Path) -> None:
    (folder / "stream.card.json").write_text("{}")


def list_everything(place: Path) -> dict[str, object]:
    """All that lies below a folder: where links lead to, and the bytes of files."""
    found: dict[str, object] = {}
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        found[name] = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else ""
    return found


def test_force_replaces_nothing_that_was_not_published(published: Path, tmp_path: Path) -> None:
    def check(case: tuple[int, tuple[Callable[[Path], None], str]]) -> None:
        number, (change, got) = case
        folder = shutil.copytree(published, tmp_path / str(number) / "out")
        change(folder)
        before = list_everything(folder.parent)
        with pytest.raises(FileExistsError, match=re.escape(got)):
            publish(make_stream(Shape(seed=1)), folder, force=True)
        assert list_everything(folder.parent) == before

    check_all(
        enumerate(
            [
                (add_a_file, "and hold nothing else. Got 'thesis.pdf'; move them elsewhere first"),
                (add_a_listed_file, "Got 'thesis.pdf'"),
                (add_a_hidden_file, "Got '.thesis'"),
                (add_a_folder, "Got 'thesis'"),
                (add_a_link, "Got 'images'"),
                (link_a_file_of_ours, "Got 'README.md'"),
                (make_a_folder_of_a_file_of_ours, "Got 'stream.xml'"),
                (add_a_pipe, "Got 'pipe'"),
                (add_many_files, "Got '0.iso', '1.iso', '2.iso', '3.iso', '4.iso' and 4 more"),
                (drop_the_card, "with a valid stream.card.json in it. Got no valid card; remove the folder first"),
                (put_in_another_card, "with a valid stream.card.json in it"),
            ]
        ),
        check,
    )


def test_force_deletes_no_folder_of_disk_images(tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    (images / "debian.iso").write_bytes(b"image")
    (images / "SHA256SUMS").write_text(f"{hashlib.sha256(b'image').hexdigest()}  debian.iso\n")
    with pytest.raises(FileExistsError, match=r"images must be a published folder to be replaced.*'debian.iso'"):
        publish(make_stream(), images, force=True)
    assert sorted(path.name for path in images.iterdir()) == ["SHA256SUMS", "debian.iso"]


def test_force_replaces_no_empty_folder_and_no_sums_alone(tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").touch()
    for folder in (tmp_path, tmp_path / "empty"):
        folder.mkdir(exist_ok=True)
        with pytest.raises(FileExistsError, match="must be a published folder"):
            publish(make_stream(), folder, force=True)
        assert folder.is_dir()
        (tmp_path / "SHA256SUMS").unlink(missing_ok=True)


def test_force_keeps_what_is_put_there_meanwhile(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def verify_slowly(folder: Path) -> None:
        verify(folder)
        add_a_file(published)

    monkeypatch.setattr("mlstream.publishing.folder.verify", verify_slowly)
    with pytest.raises(FileExistsError, match=r"Got 'thesis\.pdf'"):
        publish(make_stream(Shape(seed=1)), published, force=True)
    assert (published / "thesis.pdf").read_text() == "years of work"
    assert [path.name for path in published.parent.iterdir()] == ["out"]


def test_force_repairs_a_published_folder_with_spoilt_and_missing_files(published: Path) -> None:
    (published / "README.md").write_text("spoilt")
    (published / "SHA256SUMS").unlink()
    verify(publish(make_stream(), published, force=True))


@pytest.mark.parametrize("kind", ["file", "link"])
def test_force_replaces_neither_files_nor_links(published: Path, tmp_path: Path, kind: str) -> None:
    place = tmp_path / kind
    if kind == "file":
        place.write_text("mine")
    else:
        place.symlink_to(published)
    with pytest.raises(FileExistsError, match=f"{kind} must be a published folder to be replaced. Got a link or a"):
        publish(make_stream(), place, force=True)
    assert place.is_symlink() == (kind == "link")
    verify(published)


def test_a_folder_that_is_replaced_keeps_its_permissions(published: Path) -> None:
    published.chmod(0o750)
    (published / "stream.npz").chmod(0o600)
    publish(make_stream(Shape(seed=1)), published, force=True)
    assert published.stat().st_mode & 0o777 == 0o750
    assert (published / "stream.npz").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_what_a_killed_process_left_is_swept_by_the_next_one(tmp_path: Path) -> None:
    script = PUBLISH + (
        "import os, signal\n"
        "p.verify = lambda folder: os.kill(os.getpid(), signal.SIGKILL)\n"
        "p.publish(make_stream(), sys.argv[1])"
    )
    subprocess.run([sys.executable, "-B", "-c", script, str(tmp_path / "out")], check=False)
    (left,) = tmp_path.iterdir()
    assert re.fullmatch(r"\.out\.[a-z0-9_]{8}\.part", left.name)
    publish(make_stream(), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["SHA256SUMS", "stream.npz", "stream.card.json", "README.md", "stream.xml"])
def test_a_pipe_or_device_in_a_published_folder_holds_up_nothing(published: Path, name: str) -> None:
    for replace_by in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (published / name).unlink()
        replace_by(published / name)
        with pytest.raises(ValueError, match=f"{name} is not a plain file"):
            verify(published)


def test_a_failure_before_the_exchange_leaves_the_old_folder(published: Path) -> None:
    before = {path.name: path.read_bytes() for path in published.iterdir()}
    stream = make_stream()
    stream.experiences[0].X[0, 0] = np.inf
    with pytest.raises(ValueError, match="X must be finite"):
        publish(stream, published, force=True)
    assert {path.name: path.read_bytes() for path in published.iterdir()} == before
    assert [path.name for path in published.parent.iterdir()] == ["out"]


def test_a_system_that_cannot_exchange_says_so_and_leaves_the_old_folder(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unable:
        def __init__(self, *_: object, **__: object) -> None:
            """No such calls here."""

    monkeypatch.setattr("mlstream._support.files.ctypes.CDLL", Unable)
    with pytest.raises(OSError, match="cannot replace a folder in one step; remove it first"):
        publish(make_stream(Shape(seed=1)), published, force=True)
    assert verify(published).data_sha256 == make_stream().card.data_sha256


@pytest.mark.parametrize(
    ("code", "message"),
    [(errno.EINVAL, "cannot be replaced in one step here; remove it first"), (errno.EACCES, "Permission denied")],
)
def test_a_file_system_that_cannot_exchange_says_so(
    published: Path, monkeypatch: pytest.MonkeyPatch, code: int, message: str
) -> None:
    class Refusing:
        def __init__(self, *_: object, **__: object) -> None:
            self.renameat2 = lambda *_: -1

    monkeypatch.setattr("mlstream._support.files.ctypes.CDLL", Refusing)
    monkeypatch.setattr("mlstream._support.files.ctypes.get_errno", lambda: code)
    with pytest.raises(OSError, match=message) as caught:
        publish(make_stream(Shape(seed=1)), published, force=True)
    assert caught.value.filename == str(published)
    assert verify(published).data_sha256 == make_stream().card.data_sha256
    assert [path.name for path in published.parent.iterdir()] == ["out"]


def test_a_file_or_a_dangling_link_in_the_place_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link"):
        with pytest.raises(FileExistsError, match=f"{name} must not exist yet"):
            publish(make_stream(), tmp_path / name)


@pytest.mark.parametrize("parent", ["absent", "file"])
def test_a_parent_that_is_no_folder_is_one_error(tmp_path: Path, parent: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=f"{parent} must be a folder that exists, to write out in it"):
        publish(make_stream(), tmp_path / parent / "out")


def test_a_stream_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    stream = make_stream()
    stream.experiences[0].X[0, 0] = np.inf
    with pytest.raises(ValueError, match="X must be finite"):
        publish(stream, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


PUBLISH = (
    "from pathlib import Path; import sys; from tests.mlstream.small_streams import *; "
    "import mlstream.publishing.folder as p\n"
)


@pytest.mark.slow
def test_a_full_disk_is_one_error_and_leaves_nothing(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    script = PUBLISH + "try: p.publish(make_stream(), sys.argv[1])\nexcept OSError as error: print(error)"
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=limit,
    )
    assert done.stdout == f"[Errno 27] File too large: '{tmp_path / 'out'}'\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("step", ["save", "verify", "card_page", "write_text_atomically"])
def test_a_process_killed_on_the_way_leaves_nothing_in_the_place(tmp_path: Path, step: str) -> None:
    script = PUBLISH + (
        f"real = p.{step}\n"
        "def stop(*arguments, **options):\n"
        "    real(*arguments, **options)\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.read()\n"
        f"p.{step} = stop\n"
        "p.publish(make_stream(), sys.argv[1])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "out")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "out").exists()
    publish(make_stream(), tmp_path / "out")
    verify(tmp_path / "out")


KILLED = PUBLISH + (
    "streams = [make_stream(Shape(sizes=(500,), seed=seed)) for seed in (0, 1)]\n"
    "target = Path(sys.argv[1])\n"
    "p.publish(streams[0], target)\n"
    "print('ready', flush=True)\n"
    "for turn in range(1, 999): p.publish(streams[turn % 2], target, force=True)"
)


def kill_while_publishing(target: Path, delay_s: float) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(target)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay_s)
        process.send_signal(signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("moment", range(6))
def test_a_process_killed_at_any_moment_leaves_the_old_folder_or_the_new_one(tmp_path: Path, moment: int) -> None:
    delay_s = float(np.random.default_rng(moment).uniform(0, 0.6))
    kill_while_publishing(tmp_path / "out", delay_s)
    hashes = {make_stream(Shape(sizes=(500,), seed=seed)).card.data_sha256 for seed in (0, 1)}
    assert verify(tmp_path / "out").data_sha256 in hashes
    # What is left besides is hidden and marked.
    assert all(re.fullmatch(r"\.out\..*\.part|out", path.name) for path in tmp_path.iterdir())


@pytest.mark.slow
def test_a_process_killed_between_the_exchange_and_the_end_leaves_the_new_folder(tmp_path: Path) -> None:
    script = PUBLISH + (
        "import mlstream._support.files as f, os, signal\n"
        "p.publish(make_stream(), sys.argv[1])\n"
        "real = f._exchange\n"
        "def stop(*arguments):\n"
        "    real(*arguments)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "f._exchange = stop\n"
        "p.publish(make_stream(Shape(seed=1)), sys.argv[1], force=True)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "out")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert verify(tmp_path / "out").data_sha256 == make_stream(Shape(seed=1)).card.data_sha256


@pytest.mark.slow
def test_the_place_is_never_empty_while_a_folder_is_replaced(published: Path) -> None:
    """Look as often as possible while another thread replaces the folder."""
    streams = [make_stream(Shape(seed=seed)) for seed in (0, 1)]
    replacing = threading.Thread(
        target=lambda: [publish(streams[turn % 2], published, force=True) for turn in range(6)]
    )
    replacing.start()
    while replacing.is_alive():
        assert (published / "stream.npz").stat().st_size
    replacing.join()


def link_elsewhere(path: Path) -> None:
    """The same bytes, but not in the folder."""
    path.rename(path.parent.parent / path.name)
    path.symlink_to(path.parent.parent / path.name)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def change_text(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def test_whatever_differs_is_said(published: Path, tmp_path: Path) -> None:
    def check(case: tuple[int, tuple[Callable[[Path], object], str]]) -> None:
        number, (change, message) = case
        folder = shutil.copytree(published, tmp_path / str(number) / "out")
        change(folder)
        with pytest.raises(ValueError, match=f"out must be as it was published. Got: .*{message}"):
            verify(folder)

    check_all(
        enumerate(
            [
                (lambda folder: (folder / "stream.npz").write_bytes(b"spoilt"), "stream.npz has changed"),
                (lambda folder: (folder / "stream.xml").unlink(), "stream.xml is missing"),
                (lambda folder: (folder / "SHA256SUMS").unlink(), "SHA256SUMS is missing"),
                (lambda folder: (folder / "extra").touch(), "extra is not listed in SHA256SUMS"),
                (change_text("README.md", "Tasks", "tasks"), "README.md has changed"),
                (lambda folder: link_elsewhere(folder / "README.md"), "README.md is not a plain file"),
                (lambda folder: make_folder(folder / "stream.npz"), "stream.npz is not a plain file"),
                (
                    lambda folder: os.truncate(folder / "SHA256SUMS", 2**34),
                    "SHA256SUMS holds a line that is not a hash",
                ),
                (change_text("SHA256SUMS", "  ", " "), "SHA256SUMS holds a line that is not a hash"),
                (change_text("SHA256SUMS", "  README.md", "  ../README.md"), "README.md is not listed in SHA256SUMS"),
            ]
        ),
        check,
    )


def test_all_that_differs_is_said_at_once(published: Path) -> None:
    (published / "stream.xml").unlink()
    (published / "README.md").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"Got: README.md has changed; stream.xml is missing\."):
        verify(published)


def sign_again(folder: Path) -> None:
    """Write the hashes anew, as someone who forges a folder would."""
    path = folder / "stream.card.json"
    card = json.loads(path.read_text())
    for file in card["files"]:
        content = (folder / file["name"]).read_bytes()
        file.update(n_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    path.write_text(json.dumps(card))
    sums = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(FILES - {"SHA256SUMS"})
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            change_text("stream.card.json", '"imbalance": ', '"imbalance": 1'),
            "tasks on the card are not those of",
        ),
        (change_text("stream.card.json", '"name": "hand: made"', '"name": "x"'), "the card in stream.npz is not"),
        (change_text("stream.arff", "\n0,", "\n1,"), "the data in stream.arff are not those on the card"),
        (lambda folder: save(make_stream(Shape(seed=1)), folder / "stream.npz"), "the card in stream.npz is not"),
        (lambda folder: (folder / "stream.npz").write_bytes(b"spoilt"), "stream.npz must be an NPZ file"),
        (change_text("stream.card.json", '"licence"', '"license"'), "source.license must not be there"),
    ],
)
def test_a_folder_that_is_consistently_wrong_is_found_out(
    published: Path, change: Callable[[Path], None], message: str
) -> None:
    change(published)
    sign_again(published)
    with pytest.raises(ValueError, match=f"out must be as it was published. Got: .*{message}"):
        verify(published)


def test_what_is_no_folder_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="absent must be a published folder"):
        verify(tmp_path / "absent")


def test_a_card_alone_makes_the_same_files(yeast: Stream, tmp_path: Path) -> None:
    folder = publish(yeast, tmp_path / "out")
    again = regenerate(load_card(folder / "stream.card.json"))
    assert_same_stream(again, yeast)
    save(again, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (folder / "stream.npz").read_bytes()


def test_the_rows_of_a_published_stream_are_those_of_the_source(yeast: Stream, tmp_path: Path) -> None:
    folder = publish(yeast, tmp_path / "out")
    with (folder / "stream.arff").open(encoding="utf-8") as file:
        rows = np.array(arff.load(file, encode_nominal=True)["data"])
    source = load_dataset("yeast")
    ids = np.concatenate([part.row_ids for part in yeast])
    np.testing.assert_array_equal(rows, np.hstack([source.Y, source.X])[ids])


def test_a_stream_from_a_file_is_made_again_with_its_labels(shared_data: Callable[[str], Path]) -> None:
    path = shared_data("multilabel/synthetic_bilab.arff")
    stream = task_stream(replace(load_dataset(path, -4), name="renamed", licence="MIT"), n_init=1)
    again = regenerate(stream.card, table=path)
    assert_same_stream(again, stream)
    assert (again.card.source.name, again.card.source.labels) == ("renamed", -4)


def test_data_that_come_out_differently_name_the_versions_that_changed(yeast: Stream) -> None:
    versions = yeast.card.versions | {"numpy": "1.0"}
    card = yeast.card.model_copy(update={"data_sha256": "0" * 64, "versions": versions})
    with pytest.raises(ValueError, match=r"must have the hash on the card, 0{64}. Got .* \(numpy 1.0 then, .* now\)"):
        regenerate(card)


@pytest.mark.parametrize("parameters", [{"surprise": 1}, {"n_tasks": "many"}, {"n_init": {}}])
def test_parameters_that_the_generator_has_not_are_one_error(yeast: Stream, parameters: dict[str, object]) -> None:
    generator = yeast.card.generator.model_copy(update={"parameters": yeast.card.generator.parameters | parameters})
    with pytest.raises(ValueError, match=r"parameters on the card must be those of task_stream|must be") as caught:
        regenerate(yeast.card.model_copy(update={"generator": generator}))
    assert "\n" not in str(caught.value)


def test_a_card_of_older_parameters_names_the_version_that_makes_the_stream(yeast: Stream) -> None:
    generator = yeast.card.generator.model_copy(update={"parameters": {"clusters": 4}})
    card = yeast.card.model_copy(update={"generator": generator, "versions": {"mlstream": "0.0.7"}})
    with pytest.raises(ValueError, match=r"Got: .*'clusters'.* made by mlstream 0\.0\.7; install that version\."):
        regenerate(card)


def test_a_folder_of_cards_of_version_1_is_verified_and_its_stream_made_again(yeast: Stream, tmp_path: Path) -> None:
    folder = publish(yeast, tmp_path / "out")
    path = folder / "stream.card.json"
    path.write_text(path.read_text().replace('"schema_version": 2', '"format_version": 1'), encoding="utf-8")
    sums = [f"{sha256_of(file)}  {file.name}\n" for file in sorted(folder.iterdir()) if file.name != "SHA256SUMS"]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    assert regenerate(verify(folder)).card == yeast.card


def test_a_stream_made_by_hand_cannot_be_made_again(yeast: Stream) -> None:
    with pytest.raises(ValueError, match=r"generator must be one of .* Got 'by hand'"):
        regenerate(make_stream().card)
    source = yeast.card.source.model_copy(update={"sha256": None, "origin": "memory"})
    with pytest.raises(ValueError, match=r"must be a data set or a file to be found again. Got 'memory'"):
        regenerate(yeast.card.model_copy(update={"source": source}))


def test_a_folder_whose_card_lacks_later_measures_is_verified(tmp_path: Path) -> None:
    stream = make_stream()
    older = Stream(
        StreamParts(stream.tasks, stream.experiences, stream.evaluation_sets),
        stream.card.model_copy(update={"persistence": None}),
    )
    card = verify(publish(older, tmp_path / "older"))
    assert card.persistence is None
    wrong = stream.card.model_copy(update={"persistence": PersistenceCard(repeated=1.0, by_chance=0.0)})
    lies = Stream(StreamParts(stream.tasks, stream.experiences, stream.evaluation_sets), wrong)
    with pytest.raises(ValueError, match=r"persistence on the card are not those of stream\.npz"):
        publish(lies, tmp_path / "wrong")
