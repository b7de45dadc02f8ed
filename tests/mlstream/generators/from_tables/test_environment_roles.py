"""Training environments are learnt, and all others are only evaluated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators.from_tables.environment_roles import ROLES, check_roles, lay_out_roles
from tests.mlstream.generators.tables import make_table


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
