"""A stream is found by what a user types, or its nearest name is named."""

import re
from pathlib import Path

import pytest

from mlstream.formats import save
from mlstream.publishing.named_streams import open_named
from mlstream.publishing.presets import make_preset
from tests.mlstream.cli.commands import invoke
from tests.mlstream.evaluation.streams import make_stream


def test_streams_are_found_by_path_folder_and_name(tmp_path):
    stream = make_stream()
    (tmp_path / "folder").mkdir()
    save(stream, tmp_path / "folder" / "stream.npz")
    for name in ("folder", "folder/stream.npz", str(tmp_path / "folder" / "stream.npz")):
        assert open_named(name, tmp_path).card == stream.card
    assert open_named("synthetic-rand").card.name == "synthetic-rand"


def test_names_are_listed_with_the_nearest_first(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"or one of synthetic-rand, .*yeast-tasks"):
        open_named("synthetic-ran", tmp_path)


@pytest.mark.parametrize(
    ("name", "near"), [("yeast-task", "yeast-tasks"), ("yeas", "yeast"), ("strem.npz", "stream.npz")]
)
def test_a_stream_that_is_not_there_is_named_with_the_nearest(tmp_path, name, near):
    (tmp_path / "stream.npz").touch()
    with pytest.raises(FileNotFoundError, match=f"did you mean '{near}'"):
        open_named(name, tmp_path)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_registered_name_is_not_shadowed_by_a_file_or_folder(tmp_path, monkeypatch, kind):
    """Otherwise the data of a run would depend on the folder that it is started in."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "synthetic-rand"
    if kind == "folder":
        place.mkdir()
        save(make_stream(), place / "stream.npz")
    else:
        save(make_stream(), tmp_path / "s.npz")
        (tmp_path / "s.npz").rename(place)
    message = f"'synthetic-rand' is the registered stream, not the {kind} of that name: write ./synthetic-rand for the"
    with pytest.warns(UserWarning, match=re.escape(message)) as warned:
        assert open_named("synthetic-rand").card == make_preset("synthetic-rand").card
    assert [one.filename for one in warned] == [__file__]
    if kind == "folder":
        assert open_named("./synthetic-rand").card == make_stream().card


def test_the_shell_takes_a_bare_name_for_the_registered_stream_and_a_path_for_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("synthetic-rand").mkdir()
    save(make_stream(), "synthetic-rand/stream.npz")
    assert invoke("convert", "./synthetic-rand", "own.train.csv").exit_code == 0
    with pytest.warns(UserWarning, match="is the registered stream, not the folder"):
        assert invoke("convert", "synthetic-rand", "published.train.csv").exit_code == 0
    names = [len(Path(f"{name}.train.csv").read_text().splitlines()) for name in ("own", "published")]
    assert names == [1 + make_stream().n_samples, 1 + make_preset("synthetic-rand").n_samples]
    own = invoke("perturb", "noisy-labels", "./synthetic-rand", "--rate", "0.1", "-o", "noisy.npz")
    assert "Stream('tiny-noisy-labels'" in own.output
