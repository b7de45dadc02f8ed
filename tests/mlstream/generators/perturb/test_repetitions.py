"""A repetition holds the same tasks and rows; only their order, or their split, is another."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from mlstream.generators import (
    drifting_stream,
    duplicated_rows,
    emerging_labels_stream,
    iirc_stream,
    multiplier_stream,
    reordered_tasks,
    resplit_rows,
    scenario_stream,
)
from mlstream.streams.stream import Stream, StreamParts
from tests.mlstream.evaluation.streams import make_stream
from tests.mlstream.generators.tables import make_table

BASE = multiplier_stream("rand", seed=3, n_rows=60)
# Learning rows hide label y2, which is in no list.
PARTLY_LISTED = scenario_stream(
    make_table(np.tile([[1, 0, 1], [0, 1, 0]], (10, 1))), "class-incremental", label_lists=[["y0"], ["y1"]], n_tasks=2
)
# Later tasks go back on what earlier ones show.
EMERGING = emerging_labels_stream(make_table(np.tile(np.eye(4), (10, 1))), first_labels=2, labels_per_task=2)
REFINED = iirc_stream(
    make_table(np.tile([[1, 1, 0], [1, 0, 1]], (10, 1))), hierarchy={"y1": "y0", "y2": "y0"}, labels_per_task=1
)
INCREMENTAL = drifting_stream("hyperplane", n_rows=100, window=20, pattern="incremental")


def rows_by_task(stream):
    """Collect (features, labels) of each task, wherever they are."""
    found = {}
    for part in stream:
        for x, y, task in zip(part.X, part.Y, part.task_ids, strict=True):
            found.setdefault(int(task), []).append((*x, *y))
    for part in stream.evaluation_sets:
        found[part.task_id] += [(*x, *y) for x, y in zip(part.X, part.Y, strict=True)]
    return {task: sorted(rows) for task, rows in found.items()}


def with_narrow_masks(stream):
    parts = tuple(replace(part, label_mask=np.zeros_like(part.label_mask)) for part in stream)
    return Stream(StreamParts(stream.tasks, parts, stream.evaluation_sets), stream.card)


def pre_training(stream):
    roles = ["pre-training", *["downstream"] * (stream.n_tasks - 1)]
    scenario = stream.card.scenario.model_copy(update={"task_roles": roles})
    return stream.with_card(stream.card.model_copy(update={"scenario": scenario}))


def shape(stream):
    return [part.task_ids.tolist() for part in stream], [len(part) for part in stream.evaluation_sets]


def test_tasks_change_places_and_keep_their_visits():
    orders = set()
    for seed in range(8):
        again = reordered_tasks(BASE, seed=seed)
        visits = [int(part.task_ids[0]) for part in again]
        assert visits[:4] == visits[4:]
        orders.add(tuple(visits))
        for task in range(4):
            mine = [part for part in again if part.task_ids[0] == task]
            theirs = [part for part in BASE if part.task_ids[0] == task]
            assert all(one is two for one, two in zip(mine, theirs, strict=True))
        assert again.evaluation_sets == BASE.evaluation_sets
    assert len(orders) > 3


def test_rows_are_drawn_anew_within_their_task():
    again = resplit_rows(BASE, seed=4)
    assert rows_by_task(again) == rows_by_task(BASE)
    assert shape(again) == shape(BASE)
    held_out = [set(part.row_ids.tolist()) for part in again.evaluation_sets]
    assert held_out != [set(part.row_ids.tolist()) for part in BASE.evaluation_sets]
    assert not set.union(*held_out) & {row for part in again for row in part.row_ids.tolist()}
    assert Counter(row for part in again for row in part.row_ids.tolist()).most_common(1)[0][1] == 1


@pytest.mark.parametrize("as_sparse", [False, True])
def test_mixed_experiences_and_sparse_rows_are_split_anew(as_sparse):
    stream = make_stream(as_sparse=as_sparse)
    again = resplit_rows(stream, seed=1)
    assert shape(again) == shape(stream)
    moved = np.concatenate([part.row_ids for part in again])
    assert moved.tolist() != np.concatenate([part.row_ids for part in stream]).tolist()


@pytest.mark.parametrize("repeat", [reordered_tasks, resplit_rows])
def test_the_same_seed_gives_the_same_stream_and_another_one_another(repeat):
    assert repeat(BASE, seed=5).card == repeat(BASE, seed=5).card
    assert len({repeat(BASE, seed=seed).card.data_sha256 for seed in range(5)}) > 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reordered_tasks(make_stream()), "must hold one task to be moved. Got a mixture in 'tiny'"),
        (lambda: reordered_tasks(make_stream(((0,), (1,), (0,)), (9, 9, 9))), r"equally often .*Got \{0: 2, 1: 1\}"),
        (lambda: reordered_tasks(drifting_stream("hyperplane", seed=1)), "no drifts"),
        (lambda: reordered_tasks(pre_training(BASE)), "no task to pre-train on"),
        (lambda: reordered_tasks(EMERGING), r"no labels that emerge, .* Got the scenario 'label-emerging' in"),
        (lambda: reordered_tasks(REFINED), r"no labels that emerge, .* Got the scenario 'iirc' in"),
        (lambda: resplit_rows(INCREMENTAL), "no incremental drift on its card"),
        (lambda: resplit_rows(duplicated_rows(BASE, rate=0.5)), "repetitions in"),
        (lambda: resplit_rows(with_narrow_masks(BASE)), "label mask of each row"),
        (lambda: resplit_rows(PARTLY_LISTED), r"Every label must be in a task's signature .*shared_rows='drop'"),
        (lambda: resplit_rows(BASE, seed=-1), "seed must be"),
    ],
)
def test_what_cannot_be_repeated_so_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
