"""A stream as long arrays."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from mlstream.formats.flat import flatten, restore
from mlstream.streams.stream import Experience, Stream, StreamParts
from tests.mlstream.small_streams import Shape, assert_same_stream, make_stream, streams


@given(streams())
def test_a_stream_is_restored_as_it_was(stream: Stream) -> None:
    assert_same_stream(restore(flatten(stream)), stream)


def test_rows_follow_each_other_in_stream_order() -> None:
    stream = make_stream(Shape(by_row=True))
    flat = flatten(stream)
    rows = [(X, mask) for part in stream for X, mask in zip(part.X, part.label_mask, strict=True)]
    np.testing.assert_array_equal(flat.learning.X, [X for X, _ in rows])
    np.testing.assert_array_equal(flat.masks[flat.learning.mask_ids], [mask for _, mask in rows])


def test_the_card_of_a_file_lists_no_files() -> None:
    stream = make_stream()
    listed = stream.card.model_copy(update={"files": ["something"]})
    assert flatten(Stream(parts_of(stream), listed)).card.files == []


@pytest.mark.parametrize(
    "other",
    [
        Shape(label_names=("k", "l")),
        Shape(feature_names=("a",)),
        Shape(sizes=(5, 1, 3, 5)),
        Shape(evaluation_sizes=(3, 3)),
        Shape(seed=5),
    ],
)
def test_the_card_must_be_that_of_the_stream(other: Shape) -> None:
    with pytest.raises(ValueError, match="card of a stream must describe its tasks and experiences"):
        flatten(Stream(parts_of(make_stream()), make_stream(other).card))


@pytest.mark.parametrize("X", [np.zeros((6, 4), np.float32), make_stream(Shape(sparse=True)).experiences[0].X])
def test_features_must_be_of_one_kind(X: Any) -> None:
    stream = make_stream()
    first = stream.experiences[0]
    odd = Experience(X, first.Y, first.task_ids, first.label_mask, first.row_ids)
    parts = parts_of(stream)._replace(experiences=(odd, *stream.experiences[1:]))
    with pytest.raises(ValueError, match=r"All X of a stream must be of one kind to be written. Got "):
        flatten(Stream(parts, stream.card))


def test_arrays_that_do_not_fit_are_refused() -> None:
    flat = flatten(make_stream())
    broken = replace(flat, learning=replace(flat.learning, row_ids=flat.learning.row_ids[:-1]))
    with pytest.raises(ValueError, match=r"row_ids must have the shape \(14,\). Got \(13,\)"):
        restore(broken)


def parts_of(stream: Stream) -> StreamParts:
    return StreamParts(stream.tasks, stream.experiences, stream.evaluation_sets)
