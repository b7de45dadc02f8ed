"""A stream whose tasks are not what was asked for warns, once for each reason, and nothing else does."""

import warnings

import numpy as np
import pytest

from mlstream.generators import emerging_labels_stream, scenario_stream, suggest_n_tasks, task_stream
from mlstream.generators.from_tables.doubtful_tasks import DoubtfulTasksWarning
from tests.mlstream.generators.tables import make_table

PAIRS = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]


def doubts(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    assert all(one.category is DoubtfulTasksWarning and one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("sizes", "n_tasks", "expected"),
    [
        ([10, 10, 10, 10], 2, []),
        ([10, 10, 10, 10], 3, ["there are 2 tasks instead of 3"]),
        ([10, 10, 10, 10], 1, []),
        ([18, 18, 12, 12], 2, []),
        ([19, 19, 12, 12], 2, ["task-0 has 61% of all rows"]),
        ([40, 0, 10, 10], 2, ["there is one task only instead of 2"]),
    ],
)
def test_tasks_that_are_too_few_or_too_large_are_doubted(sizes, n_tasks, expected):
    table = make_table(np.repeat(PAIRS, sizes, axis=0), name="toy")
    found = doubts(lambda: task_stream(table, n_tasks=n_tasks))
    assert len(found) == len(expected)
    assert all(one.startswith(f"toy-tasks: {want}") for one, want in zip(found, expected, strict=True))
    clusters = doubts(lambda: scenario_stream(table, "task-based", by="label-sets", n_tasks=n_tasks))
    assert [one.replace("toy-task-based", "toy-tasks") for one in clusters] == found


def test_rows_to_pretrain_on_do_not_count_for_the_share_of_a_task():
    table = make_table(np.repeat(PAIRS, [60, 60, 20, 20], axis=0), name="toy")
    found = doubts(lambda: scenario_stream(table, "pre-training", by="label-sets", n_tasks=2))
    assert len(found) == 1
    assert found[0].startswith("toy-pre-training: task-0 has 74% of the rows after pre-training, and")


@pytest.mark.parametrize("share", [0.3, 0.05])
def test_the_number_that_is_suggested_is_not_doubted(share):
    # Ten rows of a group have a second label: enough of them are held out of 30 %, and too few of 5 %.
    groups = [*np.kron(np.eye(2), [[1, 1, 0, 0], [1, 0, 0, 0]]), *np.kron(np.eye(2), [[0, 0, 1, 1], [0, 0, 0, 1]])]
    table = make_table(np.repeat(groups, [10, 50] * 4, axis=0))
    options = {"evaluation_fraction": share, "learning_fractions": [1 - share]}
    assert doubts(lambda: task_stream(table, n_tasks=6, **options))
    suggested = suggest_n_tasks(table, evaluation_fraction=share).n_tasks
    assert suggested == (4 if share == 0.3 else 2)
    assert doubts(lambda: task_stream(table, n_tasks=suggested, **options)) == []


@pytest.mark.parametrize(
    "make",
    [task_stream, emerging_labels_stream, lambda table, **options: scenario_stream(table, "task-free", **options)],
)
@pytest.mark.parametrize("n_unlabelled", [39, 40])
def test_half_of_the_rows_without_a_label_are_doubted_unless_they_are_kept(make, n_unlabelled):
    table = make_table(np.repeat([*PAIRS, [0, 0, 0, 0]], [10, 10, 10, 10, n_unlabelled], axis=0))
    options = {"n_tasks": 2} if make is not emerging_labels_stream else {"labels_per_task": 2}
    found = doubts(lambda: make(table, **options))
    assert [one.partition(": ")[2] for one in found] == [
        "40 of 80 rows carry no label and were left out; --unlabelled keep (unlabelled='keep') keeps them."
    ] * (n_unlabelled == 40)
    assert doubts(lambda: make(table, **options, unlabelled="keep")) == []
