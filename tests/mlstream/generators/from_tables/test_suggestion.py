"""Of the suggested number, as many tasks are made, none is too large, and their label sets are diverse."""

import numpy as np
import pytest
from hypothesis import given, settings

from mlstream.generators.from_tables.clustering import task_stream
from mlstream.generators.from_tables.suggestion import draw_suggestion, suggest_n_tasks
from tests.mlstream.generators.tables import make_table, tables


@given(tables())
@settings(max_examples=15, deadline=None)
def test_tasks_are_measured_as_by_a_loop_and_no_number_is_better(table):
    found = suggest_n_tasks(table, max_tasks=5, n_init=2)
    n_rows, faults = int(table.Y.any(axis=1).sum()), {}
    measures = zip(found.candidates, found.n_made, found.diversity, found.largest, strict=True)
    for n_tasks, n_made, diversity, largest in measures:
        stream = task_stream(table, n_tasks=n_tasks, n_init=2)
        rows = [np.concatenate([part.Y for part in parts]) for parts in parts_by_task(stream)]
        shares = []
        for Y in rows:
            sets = [frozenset(np.flatnonzero(row)) for row in Y]
            shares.append(len(set(sets)) / min(len(sets), 2 ** len(frozenset().union(*sets))))
        assert n_made == stream.n_tasks
        assert diversity == pytest.approx(sum(shares) / n_made)
        assert largest == max(map(len, rows)) / n_rows
        if n_made == n_tasks:
            faults[n_tasks] = (max(largest, 0.6), -diversity)
    assert faults.get(found.n_tasks) == (pytest.approx(min(faults.values())) if faults else None)
    assert faults or found.n_tasks == 1


def parts_by_task(stream):
    parts = [[*stream.evaluation_sets[task : task + 1]] for task in range(stream.n_tasks)]
    for experience in stream.experiences:
        parts[int(experience.task_ids[0])].append(experience)
    return parts


def test_groups_of_labels_are_found():
    blocks = np.array([[1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]])
    Y = np.concatenate([np.roll(blocks, 2 * group, axis=1) for group in range(3)] * 10)
    assert suggest_n_tasks(make_table(Y), max_tasks=6).n_tasks == 3


def test_a_number_of_which_fewer_tasks_are_made_comes_last():
    # Of these, any two clusters have one label, or one label set, in one of them.
    classes = make_table(np.repeat(np.eye(3), [60, 30, 10], axis=0))
    assert suggest_n_tasks(classes)[:3] == (1, (2, 3), (1, 1))
    sets = make_table(np.repeat([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], [30, 30, 20, 20], axis=0))
    found = suggest_n_tasks(sets)
    assert found.n_tasks == 2
    assert found.n_made[0] == 2
    assert all(n_made < n_tasks for n_tasks, n_made in zip(found.candidates[1:], found.n_made[1:], strict=True))


@pytest.mark.parametrize(
    ("Y", "most", "what"), [([[1, 0]] * 4, 5, "two distinct"), ([[1, 0], [0, 1]], 1, "max_tasks must")]
)
def test_what_cannot_be_clustered_is_said(Y, most, what):
    with pytest.raises(ValueError, match=what):
        suggest_n_tasks(make_table(Y), max_tasks=most)


@pytest.mark.slow
def test_the_picture_is_drawn(tmp_path):
    draw_suggestion(suggest_n_tasks(make_table(np.eye(4))), tmp_path / "k.png")
    assert (tmp_path / "k.png").read_bytes().startswith(b"\x89PNG")
