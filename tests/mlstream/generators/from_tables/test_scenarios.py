"""Each scenario gives the tasks, labels and knowledge of tasks that the literature says."""

import re
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mlstream.evaluation.evaluate import evaluate
from mlstream.generators.from_tables.scenarios import SCENARIOS, scenario_stream
from tests.loops import check_all
from tests.mlstream.evaluation.streams import Targeted
from tests.mlstream.generators.tables import make_table, tables

IDENTITY = {
    "instance-incremental": "never",
    "domain-incremental": "never",
    "task-incremental": "always",
    "class-incremental": "training",
    "task-free": "never",
    "online": "training",
    "blurred-boundary": "training",
    "pre-training": "training",
    "task-based": "training",
}
DISJOINT = ["task-incremental", "class-incremental", "task-free", "online"]


def table_of(seed, n_rows=160):
    rng = np.random.default_rng(seed)
    return make_table(rng.random((n_rows, 6)) < 0.35, rng.random((n_rows, 3)))


def all_parts(stream):
    return (*stream.experiences, *stream.evaluation_sets)


def tasks_of(part):
    """Give the task of each row."""
    return part.task_ids if hasattr(part, "task_ids") else np.full(len(part), part.task_id)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
@given(seed=st.integers(0, 30))
@settings(max_examples=8, deadline=None)
def test_rows_show_their_own_labels_and_are_never_learnt_and_evaluated(scenario, seed):
    table = table_of(seed)
    stream = scenario_stream(table, scenario, n_tasks=2, seed=seed)
    signatures = np.array([task.signature for task in stream.tasks])
    for part in all_parts(stream):
        np.testing.assert_array_equal(part.X, table.X[part.row_ids])
        masks = signatures[tasks_of(part)]
        shown = masks if part in stream.experiences else np.ones_like(masks)
        np.testing.assert_array_equal(part.Y, table.Y[part.row_ids] & shown)
        np.testing.assert_array_equal(np.broadcast_to(part.label_mask, part.Y.shape), masks)
    learnt = {row for part in stream.experiences for row in part.row_ids.tolist()}
    evaluated = {row for part in stream.evaluation_sets for row in part.row_ids.tolist()}
    assert not learnt & evaluated
    assert learnt | evaluated == set(np.flatnonzero(table.Y.any(axis=1)).tolist())
    assert stream.card.scenario.task_identity == IDENTITY[scenario]
    assert stream.card.scenario.name == scenario


@pytest.mark.parametrize("scenario", DISJOINT)
@given(seed=st.integers(0, 30), shared_rows=st.sampled_from(["mask", "drop"]))
@settings(max_examples=10, deadline=None)
def test_label_spaces_are_disjoint_and_cover_all_labels(scenario, seed, shared_rows):
    table = table_of(seed)
    stream = scenario_stream(table, scenario, n_tasks=3, seed=seed, shared_rows=shared_rows)
    assert (sum(task.signature.astype(int) for task in stream.tasks) == 1).all()
    rows = np.concatenate([part.row_ids for part in all_parts(stream)])
    if shared_rows == "drop":
        assert len(set(rows.tolist())) == len(rows)
        assert len(rows) + sum(drop.count for drop in stream.card.drops) == table.n_samples
    else:
        tasks = np.concatenate([tasks_of(part) for part in all_parts(stream)])
        expected = [
            (row, number)
            for number, task in enumerate(stream.tasks)
            for row in np.flatnonzero(table.Y[:, task.signature].any(axis=1))
        ]
        assert sorted(zip(rows.tolist(), tasks.tolist(), strict=True)) == sorted(expected)


@pytest.mark.parametrize("scenario", DISJOINT)
def test_a_card_counts_the_labels_of_a_task_only_where_its_rows_hide_the_others(scenario):
    table = table_of(0)
    stream = scenario_stream(table, scenario, n_tasks=2)
    assert stream.card.scenario.shared_rows == "mask"
    for number, (task, card) in enumerate(zip(stream.tasks, stream.card.tasks, strict=True)):
        rows = np.concatenate([part.row_ids for part in all_parts(stream) if tasks_of(part)[0] == number])
        own = table.Y[rows] * task.signature
        np.testing.assert_allclose(card.label_frequencies, own.mean(axis=0))
        assert card.n_label_sets == len(np.unique(own, axis=0))
        assert card.cardinality == pytest.approx(own.sum(axis=1).mean())


def test_domains_have_the_same_labels_and_other_features():
    table = table_of(0)
    stream = scenario_stream(table, "domain-incremental", by="column", column="x1", n_tasks=2)
    assert all(task.signature.all() for task in stream.tasks)
    low, high = (held_out.X[:, 1] for held_out in stream.evaluation_sets)
    assert low.max() < high.min()


def test_domains_without_a_shift_are_refused_and_with_one_in_any_feature_they_are_not():
    rng = np.random.default_rng(1)
    X = rng.random((600, 5))
    table = make_table(rng.random((600, 3)) < 0.5, X)
    with pytest.raises(
        ValueError, match=r"domain-incremental: features must differ .* Got task-0 and task-1 with a least"
    ):
        scenario_stream(table, "domain-incremental", by="time", n_tasks=2)
    # The mean and the variance stay, the distribution does not.
    shifted = X.copy()
    shifted[300:, 4] = 0.5 + np.sqrt(1 / 12) * np.where(rng.random(300) < 0.5, -1, 1)
    for layout in (np.asarray, sparse.csr_array):
        stream = scenario_stream(make_table(table.Y, layout(shifted)), "domain-incremental", by="time", n_tasks=2)
        assert stream.n_tasks == 2


def test_time_goes_on():
    table = table_of(0)
    stream = scenario_stream(table, "online", by="time", n_tasks=3, unlabelled="keep")
    learnt = np.concatenate([experience.row_ids for experience in stream])
    assert (np.diff(learnt) > 0).all()
    assert [int(experience.task_ids[0]) for experience in stream] == [0, 1, 2]


def test_instances_come_in_batches_of_one_task():
    stream = scenario_stream(table_of(1), "instance-incremental", n_tasks=4)
    assert stream.n_tasks == 1
    assert len(stream) == 5
    assert np.ptp([len(experience) for experience in stream]) <= 1


@given(seed=st.integers(0, 30), n_tasks=st.integers(2, 5))
@settings(max_examples=15, deadline=None)
def test_blurred_boundaries_mix_tasks_whose_labels_overlap_and_differ(seed, n_tasks):
    stream = scenario_stream(table_of(seed), "blurred-boundary", n_tasks=n_tasks, seed=seed)
    assert stream.card.scenario.boundary == "gradual"
    assert all(len(np.unique(experience.task_ids)) > 1 for experience in stream)
    for one, other in combinations(stream.tasks, 2):
        assert (one.signature & other.signature).any()
        assert (one.signature != other.signature).any()
    assert np.any([task.signature for task in stream.tasks], axis=0).all()
    abrupt = scenario_stream(table_of(seed), "blurred-boundary", n_tasks=n_tasks, window=0)
    assert abrupt.card.scenario.boundary == "abrupt"


@pytest.mark.parametrize(
    ("Y", "options", "got"),
    [
        (np.eye(4), {"label_lists": [["y0", "y1"], ["y2", "y3"]]}, "no label in common in task-0 and task-1"),
        (np.eye(4), {"label_lists": [["y0", "y1"], ["y1", "y0"]]}, "the same labels in task-0 and task-1"),
        (
            [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]],
            {"by": "label-sets"},
            "no label in common in task-0 and task-1",
        ),
        # A row with the label that two lists have in common is dropped, so that the label occurs in no task.
        (
            np.eye(4),
            {"label_lists": [["y0", "y1"], ["y1", "y2"]], "shared_rows": "drop"},
            "no label in common in task-0 and task-1",
        ),
    ],
)
def test_blurred_boundaries_refuse_disjoint_and_equal_labels(Y, options, got):
    table = make_table(np.tile(Y, (20, 1)))
    with pytest.raises(ValueError, match=rf"overlap without being equal. Got {got}; use by='label-lists'"):
        scenario_stream(table, "blurred-boundary", n_tasks=2, **options)


def test_pre_training_comes_in_batches_before_the_downstream_tasks():
    stream = scenario_stream(table_of(3), "pre-training", n_tasks=2, pretraining_fraction=0.25)
    assert [task.name for task in stream.tasks] == ["pre-training", "task-0", "task-1"]
    assert stream.card.scenario.task_roles == ["pre-training", "downstream", "downstream"]
    tasks = [int(experience.task_ids[0]) for experience in stream]
    assert tasks[:5] == [0] * 5
    assert sorted(tasks[5:]) == [1, 2]
    n_rows = sum(len(part) for part in all_parts(stream) if (tasks_of(part) == 0).all())
    assert n_rows == round(0.25 * table_of(3).Y.any(axis=1).sum())
    assert stream.tasks[0].signature.all()


@pytest.mark.slow
def test_task_identity_can_be_chosen_where_the_scenario_leaves_it_open():
    def check(case):
        scenario, identity = case
        allowed = {
            "instance-incremental": {"never"},
            "task-incremental": {"always"},
            "class-incremental": {"training"},
            "task-free": {"never"},
            "blurred-boundary": {"training", "never"},
        }.get(scenario, {"always", "training", "never"})
        options = {"n_tasks": 2, "task_identity": identity}
        if identity not in allowed:
            with pytest.raises(ValueError, match="task_identity must be "):
                scenario_stream(table_of(0), scenario, **options)
            return
        stream = scenario_stream(table_of(0), scenario, **options)
        assert stream.card.scenario.task_identity == identity
        given = evaluate(Targeted(), stream, energy="none").given_labels
        assert given == ("all" if identity == "never" else "task")

    check_all(product(SCENARIOS, ["always", "training", "never"]), check)


@given(tables())
@settings(max_examples=15, deadline=None)
def test_label_sets_of_any_table_make_a_stream(table):
    stream = scenario_stream(table, "task-based", n_tasks=2)
    rows = np.concatenate([part.row_ids for part in all_parts(stream)])
    assert sorted(rows.tolist()) == np.flatnonzero(table.Y.any(axis=1)).tolist()


def test_errors_name_rule_and_value():
    def check(case):
        scenario, options, message = case
        with pytest.raises(ValueError, match=message):
            scenario_stream(table_of(4), scenario, n_tasks=2, **{} | options)

    check_all(
        [
            ("lifelong", {}, r"scenario must be one of 'instance-incremental', .* Got 'lifelong'"),
            ("class-incremental", {"by": "time"}, r"class-incremental: by must be 'label-lists'. Got 'time' instead"),
            ("instance-incremental", {"by": "time"}, r"by must be 'all'. .* that take it: domain-incremental, online"),
            (
                "task-free",
                {"task_identity": "training"},
                r"task-free: task_identity must be 'never'. Got 'training' instead; scen",
            ),
            (
                "blurred-boundary",
                {"task_identity": "always"},
                r"blurred-boundary: task_identity must be one of 'training', 'never'. Got 'always'",
            ),
            (
                "task-incremental",
                {"label_lists": [["y0", "y1"], ["y1", "y2"]]},
                r"task-incremental: no label must be in two lists. Got label 1 in more than one",
            ),
            ("pre-training", {"pretraining_fraction": 1.0}, r"pretraining_fraction must lie between 0 and 1. Got 1.0"),
            ("pre-training", {"pretraining_fraction": 0}, r"pretraining_fraction must lie between 0 and 1. Got 0"),
            ("blurred-boundary", {"window": -1}, r"window must be a whole number, at least 0. Got -1"),
            ("online", {"evaluation_fraction": 0.4}, r"must add up to at most 1"),
        ],
        check,
    )


def test_another_scenario_takes_rows_in_time_that_do_not_differ():
    table = make_table(np.ones((40, 2)), X=np.arange(40.0)[:, np.newaxis] % 2)
    with pytest.raises(ValueError, match="features must differ in distribution") as refused:
        scenario_stream(table, "domain-incremental", by="time")
    named = re.search(r"or the scenario '([a-z-]+)'", str(refused.value)).group(1)
    assert scenario_stream(table, named, by="time").n_tasks == 4
