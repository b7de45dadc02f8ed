"""A stream is found by what a user types, or its nearest name is named."""

import pytest

from mlstream.formats import save
from mlstream.publishing.named_streams import open_named
from tests.mlstream.evaluation.streams import make_stream


def test_streams_are_found_by_path_folder_and_name(tmp_path):
    stream = make_stream()
    (tmp_path / "folder").mkdir()
    save(stream, tmp_path / "folder" / "stream.npz")
    for name in ("folder", "folder/stream.npz", str(tmp_path / "folder" / "stream.npz")):
        assert open_named(name, tmp_path).card == stream.card
    assert open_named("synthetic-rand").card.name == "synthetic-rand"


@pytest.mark.parametrize(("name", "near"), [("yeast-task", "yeast-tasks"), ("strem.npz", "stream.npz")])
def test_a_stream_that_is_not_there_is_named_with_the_nearest(tmp_path, name, near):
    (tmp_path / "stream.npz").touch()
    with pytest.raises(FileNotFoundError, match=f"did you mean '{near}'"):
        open_named(name, tmp_path)
