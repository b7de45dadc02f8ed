"""Tasks are split without losing a row, in the sizes that are published, and visited in the order that is asked for."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators.visits import Visits, lay_out, part_sizes, resolve_order
from tests.mlstream.generators.tables import make_table


def rows_of(parts):
    return [part.row_ids for part in (*parts.experiences, *parts.evaluation_sets)]


@given(st.integers(20, 400), st.lists(st.integers(1, 10), min_size=2, max_size=5))
def test_sizes_add_up_and_are_within_one_row_of_the_shares(n_rows, weights):
    fractions = [weight / sum(weights) for weight in weights]
    sizes = part_sizes(n_rows, Visits(fractions[:-1], fractions[-1]))
    assert sum(sizes) == n_rows
    assert all(abs(size - share * n_rows) < 2 for size, share in zip(sizes, fractions, strict=True))


@pytest.mark.parametrize("name", ["20NG", "Yeast", "Scene", "Slashdot", "Reuters-K500", "Mediamill", "synthetic_rand"])
def test_sizes_are_the_published_ones(shared_data, name):
    lengths = json.loads(shared_data(f"osc-mlc/Length/{name}_stream_length_task_based.json").read_text())
    for task in range(len(lengths) // 3):
        published = [lengths[f"cluster_{task}_{part}"] for part in ("exp_1", "exp_2", "eval_set")]
        assert part_sizes(sum(published), Visits()) == published


@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 9))
def test_default_order_is_one_permutation_repeated(n_tasks, n_visits, seed):
    order = resolve_order(n_tasks, Visits([0.5 / n_visits] * n_visits, 0.5, seed=seed))
    assert order == order[:n_tasks] * n_visits
    assert sorted(order[:n_tasks]) == list(range(n_tasks))


def test_default_order_depends_on_the_seed():
    assert len({tuple(resolve_order(6, Visits(seed=seed))) for seed in range(10)}) > 5


@given(st.permutations([0, 1, 2] * 2), st.integers(0, 9), st.booleans())
@settings(max_examples=30)
def test_every_row_is_in_exactly_one_part_and_the_order_is_kept(order, seed, stratified):
    rng = np.random.default_rng(seed)
    table = make_table(rng.integers(0, 2, (90, 4)))
    members = np.array_split(rng.permutation(90)[:80], 3)
    parts, drops = lay_out(table, members, Visits(order=order, seed=seed, stratified=stratified))
    assert not drops
    assert [int(experience.task_ids[0]) for experience in parts.experiences] == order
    assert sorted(np.concatenate(rows_of(parts)).tolist()) == sorted(np.concatenate(members).tolist())
    for part in (*parts.experiences, *parts.evaluation_sets):
        np.testing.assert_array_equal(part.X, table.X[part.row_ids])
        np.testing.assert_array_equal(part.Y, table.Y[part.row_ids])
    for index, task in enumerate(parts.tasks):
        np.testing.assert_array_equal(task.signature, table.Y[members[index]].any(axis=0))
        assert set(parts.evaluation_sets[index].row_ids) <= set(members[index])
    for experience in parts.experiences:
        assert set(experience.row_ids) <= set(members[experience.task_ids[0]])
        np.testing.assert_array_equal(experience.label_mask, parts.tasks[experience.task_ids[0]].signature)


@given(st.integers(0, 20))
def test_stratified_parts_hold_each_label_set_in_proportion(seed):
    rng = np.random.default_rng(seed)
    table = make_table(rng.integers(0, 2, (120, 3)))
    parts, _ = lay_out(table, [np.arange(120)], Visits(stratified=True, seed=seed))
    total = Counter(row.tobytes() for row in table.Y)
    for rows, share in zip(rows_of(parts), (0.35, 0.35, 0.3), strict=True):
        found = Counter(row.tobytes() for row in table.Y[rows])
        assert all(abs(found[labels] - share * count) < 2 for labels, count in total.items())


def test_another_seed_is_another_split():
    table = make_table(np.ones((60, 1)))
    splits = {tuple(rows_of(lay_out(table, [np.arange(60)], Visits(seed=seed))[0])[0]) for seed in range(5)}
    assert len(splits) == 5


@pytest.mark.parametrize("stratified", [False, True])
def test_rows_outside_the_fractions_are_counted(stratified):
    table = make_table(np.arange(40).reshape(40, 1) % 2)
    parts, drops = lay_out(table, [np.arange(40)], Visits((0.25, 0.25), 0.25, stratified=stratified))
    assert [len(rows) for rows in rows_of(parts)] == [10, 10, 10]
    assert [(drop.what, drop.count) for drop in drops] == [("rows", 10)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_fractions": (0.5, 0.4), "evaluation_fraction": 0.3}, r"at most 1. Got \(0.5, 0.4, 0.3\): 1.2"),
        ({"learning_fractions": (0.5, -0.1)}, r"all fractions positive. Got \(0.5, -0.1, 0.3\)"),
        ({"learning_fractions": (0.5, float("nan"))}, r"all fractions positive. Got \(0.5, nan, 0.3\)"),
        ({"learning_fractions": ()}, r"must be learning fractions.* Got \(0.3,\)"),
        ({"evaluation_fraction": 0.0}, r"all fractions positive. Got \(0.35, 0.35, 0.0\)"),
        ({"seed": -3}, r"seed must be a whole number, at least 0. Got -3"),
        ({"order": (0, 1, 2, 0, 1, 3)}, r"order must name tasks from 0 to 2. Got 3 in"),
        ({"order": (0, 1, 2)}, r"order must visit each of 3 tasks 2 times.* Got task 0 1 times in \[0, 1, 2\]"),
        ({"order": (0, 0, 0, 1, 2, 2)}, r"Got task 0 3 times"),
        ({"learning_fractions": (0.01, 0.69)}, r"must hold rows. Got sizes \[0, 7, 3\] for task 0 with 10 rows"),
    ],
)
def test_errors_name_rule_and_value(options, message):
    table = make_table(np.ones((30, 1)))
    with pytest.raises(ValueError, match=message):
        lay_out(table, np.array_split(np.arange(30), 3), Visits(**options))
