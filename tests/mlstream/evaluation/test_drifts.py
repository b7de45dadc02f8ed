"""The truth about drifts: that of the card, or the rows at which tasks change."""

from dataclasses import replace

import numpy as np
import pytest

from mlstream.evaluation.drifts import true_drifts
from mlstream.generators import delayed_labels, drifting_stream, multiplier_stream, reordered_rows
from mlstream.streams.stream import Stream, StreamParts
from tests.loops import check_all
from tests.mlstream.evaluation.streams import make_stream
from tests.mlstream.generators.test_registry import STREAMS


def spans(stream):
    return [(drift.start, drift.stop) for drift in true_drifts(stream)]


@pytest.mark.parametrize("window", [0, 60])
def test_a_synthetic_stream_has_the_drifts_of_its_card(window):
    stream = drifting_stream("tree", n_rows=300, window=window, order=[0, 0, 1, 1, 2, 2], seed=1)
    assert spans(stream) == [(one.start, one.stop) for one in stream.card.drifts]
    # A concept that comes twice in a row does not drift between.
    assert len(spans(stream)) == 2
    assert true_drifts(stream)[0].what.startswith("task-0 to task-1: P(Y|X), ")


def test_a_world_that_stays_has_none():
    assert spans(drifting_stream("tree", n_rows=300, n_concepts=1)) == []
    assert spans(drifting_stream("tree", n_rows=300, magnitude=0.0)) == []


def test_elsewhere_a_boundary_at_which_other_tasks_come_is_one():
    assert [(one.start, one.what) for one in true_drifts(make_stream())] == [
        (23, "task 0 to task 1"),
        (40, "task 1 to task 0 and task 2"),
        (69, "task 0 and task 2 to task 1"),
    ]
    assert spans(make_stream(visits=((0,), (0,), (1,)), sizes=(10, 12, 14))) == [(22, 22)]


def test_a_label_that_emerges_is_one_where_the_task_stays():
    stream = make_stream(visits=((0,), (0,), (0,)), sizes=(10, 12, 14))
    scenario = stream.card.scenario.model_copy(update={"emergence": [0, 0, 2, 0, 0]})
    emerging = stream.with_card(stream.card.model_copy(update={"scenario": scenario}))
    assert [(one.start, one.stop, one.what) for one in true_drifts(emerging)] == [(22, 22, "labels emerge")]


@pytest.mark.parametrize("window", [10, 40, 140])
def test_of_gradual_boundaries_the_rows_that_blend_are_one(window):
    stream = multiplier_stream("rand", n_rows=200, window=window, seed=3, learning_fractions=(0.7,))
    tasks = np.concatenate([part.task_ids for part in stream])
    path = [np.bincount(part.task_ids).argmax() for part in stream]
    ends = np.cumsum([len(part) for part in stream])[:-1]
    assert len(spans(stream)) == len(ends)
    for (start, stop), end, before, after in zip(spans(stream), ends, path, path[1:], strict=False):
        assert end - window // 2 <= start <= end <= stop <= end + window - window // 2
        assert after not in tasks[end - window // 2 : start]
        assert before not in tasks[stop : end + window // 2]
        assert (start == end) or tasks[start] == after
        assert (stop == end) or tasks[stop - 1] == before


def test_late_labels_make_the_change_as_long_as_rows_of_the_task_before_come():
    base = STREAMS["task_stream"]()
    late = delayed_labels(base, delay=5, seed=0)
    found = spans(late)
    boundaries = np.cumsum([len(part) for part in late])[:-1]
    changing = [
        one
        for one, (a, b) in zip(boundaries, zip(base, list(base)[1:], strict=False), strict=True)
        if a.task_ids[0] != b.task_ids[0]
    ]
    assert [start for start, _ in found] == changing
    assert any(stop > start for start, stop in found)


def test_drifts_that_overlap_once_rows_have_moved_are_put_one_after_the_other():
    stream = drifting_stream("tree", n_rows=40, window=14, pattern="incremental", seed=3)
    drift = stream.card.drifts[0]
    later = [drift.model_copy(update={"start": 5, "stop": 30}), drift.model_copy(update={"start": 20, "stop": 25})]
    assert spans(stream.with_card(stream.card.model_copy(update={"drifts": later}))) == [(5, 30), (30, 30)]
    moved = reordered_rows(stream, seed=0)
    flat = [row for span in spans(moved) for row in span]
    assert flat == sorted(flat)


def test_drifts_lie_in_order_within_every_kind_of_stream():
    def check(name):
        stream = STREAMS[name]()
        flat = [row for span in spans(stream) for row in span]
        assert flat == sorted(flat)
        assert all(0 < row <= stream.n_samples for row in flat)

    check_all(sorted(STREAMS), check)


def test_rows_alone_decide_and_not_where_they_are_held_out():
    stream = make_stream()
    parts = StreamParts(stream.tasks, tuple(replace(part) for part in stream), stream.evaluation_sets)
    assert spans(Stream(parts, stream.card)) == spans(stream)
