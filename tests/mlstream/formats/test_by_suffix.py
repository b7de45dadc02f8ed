"""Write then read is the identity, and the same stream gives the same bytes."""

import pytest
from hypothesis import given, settings

from mlstream.formats import load, save
from mlstream.stream import Stream
from tests.mlstream.streams import assert_same_stream, streams

SUFFIXES = [".npz", ".arff", ".arff.gz"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(stream=streams())
@settings(max_examples=60, deadline=None)
def test_a_stream_read_is_the_stream_written(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, stream: Stream
) -> None:
    path = tmp_path_factory.mktemp("round") / f"x{suffix}"
    save(stream, path)
    assert_same_stream(load(path), stream)
