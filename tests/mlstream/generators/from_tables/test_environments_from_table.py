"""Environments out of a table have its rows, once each, and shifted features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mlstream.generators.from_tables.environments_from_table import (
    ROLES,
    carve_environments,
    check_roles,
    lay_out_roles,
)
from tests.mlstream.generators.tables import make_table

RNG = np.random.default_rng(0)
TABLE = make_table(RNG.random((120, 3)) < 0.5, RNG.random((120, 2)))


@pytest.mark.parametrize(("by", "column"), [("features", None), ("column", "x1"), ("time", None), ("time", "x0")])
def test_every_row_is_in_one_environment(by, column):
    stream = carve_environments(TABLE, ("train", "unseen", "train", "test"), by=by, column=column)
    assert [task.name for task in stream.tasks] == ["train-0", "train-1", "test-0", "unseen-0"]
    assert stream.card.scenario.task_roles == ["train", "train", "test", "unseen"]
    rows = np.concatenate([part.row_ids for part in (*stream.experiences, *stream.evaluation_sets)])
    assert sorted(rows.tolist()) == list(range(120))
    if column:
        values = [part.X[:, int(column[1])] for part in stream.evaluation_sets]
        # Found in the order of the column: train, unseen, train, test.
        assert values[0].max() < values[3].min() < values[3].max() < values[1].min() < values[1].max() < values[2].min()


def test_sparse_tables_with_long_indices_are_carved_too():
    X = sparse.csr_array(TABLE.X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    roles = ("train", "test")
    dense, stream = (carve_environments(make_table(TABLE.Y, X), roles) for X in (TABLE.X, X))
    assert [part.row_ids.tolist() for part in stream] == [part.row_ids.tolist() for part in dense]


def test_every_environment_has_a_label_with_both_classes_or_there_is_one_error():
    Y = np.zeros((160, 2))
    Y[:120:2, 0], Y[:, 1] = 1, 1
    with pytest.raises(
        ValueError, match=r"label with both classes. Got unseen-0 with 40 rows without one; carve fewer"
    ):
        carve_environments(make_table(Y), ("train", "test", "train", "unseen"), by="time")
    Y[130, 1] = 0
    assert carve_environments(make_table(Y), ("train", "test", "train", "unseen"), by="time").n_tasks == 4


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"by must be one of 'features', 'column', 'time'. Got 'label-sets'"):
        carve_environments(TABLE, by="label-sets")
    few = make_table(np.ones((30, 1)), np.column_stack([np.arange(30.0), np.arange(30) % 2]))
    with pytest.raises(ValueError, match=r"one role per environment. Got 6 for 2 environments"):
        carve_environments(few, by="column", column="x1")


@given(st.lists(st.sampled_from(ROLES), min_size=1, max_size=8), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_rows_go_where_their_role_says(roles, seed):
    roles = ["train", *roles]
    table = make_table(np.random.default_rng(seed).integers(0, 2, (20 * len(roles), 2)))
    members = np.split(np.random.default_rng(seed).permutation(len(table.Y)), len(roles))
    parts = lay_out_roles(table, members, roles, evaluation_fraction=0.25, seed=seed)
    names = [f"{role}-{number}" for role in ROLES for number in range(roles.count(role))]
    assert [task.name for task in parts.tasks] == names
    ordered = [rows for role in ROLES for rows, other in zip(members, roles, strict=True) if other == role]
    learnt = {int(experience.task_ids[0]): experience for experience in parts.experiences}
    assert list(learnt) == list(range(roles.count("train")))
    for task, (rows, held_out) in enumerate(zip(ordered, parts.evaluation_sets, strict=True)):
        together = [*held_out.row_ids, *(learnt[task].row_ids if task in learnt else [])]
        assert sorted(together) == sorted(rows)
        assert len(held_out) == (5 if task in learnt else 20)


@pytest.mark.parametrize(
    ("roles", "n_environments", "message"),
    [
        (["train", "judge"], 2, r"roles must be of train, validation, test, unseen. Got 'judge'"),
        (["train"], 2, r"one role per environment. Got 1 for 2 environments"),
        (["test", "unseen"], 2, r"must have the role 'train'. Got \['test', 'unseen'\]"),
    ],
)
def test_errors_name_rule_and_value(roles, n_environments, message):
    with pytest.raises(ValueError, match=message):
        check_roles(roles, n_environments)
