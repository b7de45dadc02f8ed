"""Tasks get names, signatures and profiles from their rows."""

import numpy as np
import pytest

from mlstream.generators.schedule.partition import deal_rows, make_partition
from tests.mlstream.generators.tables import make_table

TABLE = make_table([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])


def test_signatures_and_profiles_come_from_the_rows():
    partition = make_partition(TABLE, [np.array([0, 1]), np.array([2, 3])])
    assert [task.name for task in partition.tasks] == ["task-0", "task-1"]
    assert partition.signatures.tolist() == [[True, True, False], [False, False, True]]
    assert partition.profiles.tolist() == [[1, 0.5, 0], [0, 0, 1]]
    assert not partition.shares_rows
    assert make_partition(TABLE, [np.array([0, 1]), np.array([1])]).shares_rows


def test_a_task_without_rows_is_refused():
    with pytest.raises(ValueError, match=r"table: every task must hold rows. Got 0 in b"):
        make_partition(TABLE, [np.array([0]), np.array([], dtype=int)], names=["a", "b"])


def test_rows_are_dealt_in_proportion_and_none_is_lost():
    members = [np.arange(100), np.arange(100, 400)]
    dealt = deal_rows(members, np.arange(400, 2400), seed=0)
    assert sorted(np.concatenate(dealt).tolist()) == list(range(2400))
    assert abs(len(dealt[0]) - 600) < 80
    assert set(members[1]) <= set(dealt[1])
