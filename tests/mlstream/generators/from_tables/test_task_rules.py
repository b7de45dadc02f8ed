"""Each rule finds the tasks that its name says, and accounts for every row."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mlstream import Dataset, load_dataset
from mlstream.generators import carve_environments, scenario_stream
from mlstream.generators.from_tables.task_rules import TaskRule, find_tasks
from tests.loops import check_all
from tests.mlstream.generators.tables import make_table, tables

RNG = np.random.default_rng(0)


@given(tables(), st.sampled_from(["all", "label-sets", "features", "time"]), st.integers(1, 3), st.integers(0, 5))
def test_every_row_is_in_exactly_one_task(table, by, n_tasks, seed):
    rows = np.arange(2, table.n_samples)
    table = make_table(table.Y, table.X + sparse.csr_array(np.random.default_rng(seed).random(table.X.shape)))
    found = find_tasks(table, rows, TaskRule(by, n_tasks, seed=seed))
    assert sorted(np.concatenate(found.partition.members).tolist()) == rows.tolist()
    assert not found.drops


@given(tables(), st.integers(1, 3), st.sampled_from(["mask", "drop"]), st.integers(0, 5))
def test_label_lists_place_rows_by_the_labels_they_carry(table, n_tasks, shared_rows, seed):
    rows = np.flatnonzero(table.Y.any(axis=1))
    table = make_table(table.Y[:, table.Y.any(axis=0)])
    try:
        partition, drops, _ = find_tasks(
            table, rows, TaskRule("label-lists", n_tasks, shared_rows=shared_rows, seed=seed)
        )
    except ValueError as error:
        assert "every task must hold rows" in str(error)  # noqa: PT017 - a task all of whose rows are shared
        return
    sizes = partition.signatures.sum(axis=1)
    assert (partition.signatures.sum(axis=0) == 1).all()
    assert sizes.max() - sizes.min() <= 1
    dropped = 0
    for row in rows:
        carried = [task for task, signature in enumerate(partition.signatures) if (table.Y[row] & signature).any()]
        expected = carried if shared_rows == "mask" or len(carried) == 1 else []
        dropped += not expected
        assert [task for task, members in enumerate(partition.members) if row in members] == expected
    assert sum(drop.count for drop in drops) == dropped


def test_given_lists_leave_out_rows_of_other_labels():
    table = make_table([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0], [0, 0, 1]])
    rule = TaskRule("label-lists", label_lists=[["y0"], ["y1"]])
    partition, drops, _ = find_tasks(table, np.arange(6), rule)
    assert [[row for row in part if row != 4] for part in partition.members] == [[0, 3], [1]]
    assert sorted(np.concatenate(partition.members).tolist()) == [0, 1, 3, 4]
    assert [(drop.reason, drop.count) for drop in drops] == [("labels of no task", 2)]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_few_values_of_a_column_are_tasks(layout):
    values = np.array([0.0, 2, 2, 0, 5])
    table = make_table(np.ones((5, 1)), layout(np.column_stack([np.arange(5.0), values])))
    partition = find_tasks(table, np.arange(5), TaskRule("column", 3, column="x1")).partition
    assert [task.name for task in partition.tasks] == ["x1=0", "x1=2", "x1=5"]
    assert [members.tolist() for members in partition.members] == [[0, 3], [1, 2], [4]]


@given(st.integers(2, 5), st.integers(0, 50))
def test_many_values_of_a_column_are_cut_at_quantiles(n_tasks, seed):
    values = np.random.default_rng(seed).integers(0, 12, 60).astype(float)
    table = make_table(np.ones((60, 1)), values[:, np.newaxis])
    members = find_tasks(table, np.arange(60), TaskRule("column", n_tasks, column="x0")).partition.members
    assert sorted(np.concatenate(members).tolist()) == list(range(60))
    assert len(members) <= n_tasks
    for part, following in pairwise(members):
        assert values[part].max() < values[following].min()


def test_time_is_the_order_of_rows_or_a_column():
    table = make_table(np.ones((7, 1)), np.column_stack([np.arange(7.0), -np.arange(7.0)]))
    by_order = find_tasks(table, np.arange(7), TaskRule("time", 2)).partition.members
    by_column = find_tasks(table, np.arange(7), TaskRule("time", 2, column="x1")).partition.members
    assert [part.tolist() for part in by_order] == [[0, 1, 2, 3], [4, 5, 6]]
    assert [part.tolist() for part in by_column] == [[6, 5, 4, 3], [2, 1, 0]]


DAYS = RNG.permutation(28) + 1
DATES = [f"2026-02-{day:02d}" for day in DAYS]
CELLS = [f"{date},{row % 5},{row % 2},{row // 2 % 2}" for row, date in enumerate(DATES)]
HEADER = (
    "@relation 'toy: -C -2'\n@attribute when date yyyy-MM-dd\n@attribute x numeric\n@attribute a {0,1}\n"
    "@attribute b {0,1}\n@data\n"
)


@pytest.fixture
def dated(tmp_path):
    """The same table in several formats, by the names of the files."""
    (tmp_path / "toy.arff").write_text("\n".join([HEADER, *CELLS]), encoding="utf-8")
    (tmp_path / "toy.csv").write_text("\n".join(["when,x,a,b", *CELLS]), encoding="utf-8")
    frame = pd.read_csv(tmp_path / "toy.csv", parse_dates=["when"])
    frame.to_parquet(tmp_path / "toy.parquet")
    return tmp_path


def test_dates_of_a_file_sort_rows_and_are_a_feature_on_request_only(dated):
    expected = [part.tolist() for part in np.array_split(np.argsort(DAYS), 4)]
    rule = TaskRule("time", 4, column="when")

    def check(case):
        suffix, dates, names = case
        options = {"time": "when", "dates": dates}
        if suffix == "frame":
            frame = pd.read_parquet(dated / "toy.parquet")
            table = Dataset.from_frame(frame, ["a", "b"], **options)
        else:
            table = load_dataset(dated / f"toy.{suffix}", -2, **options)
        assert table.feature_names == names
        members = find_tasks(table, np.arange(28), rule).partition.members
        assert [part.tolist() for part in members] == expected

    parts = tuple(f"when.{part}" for part in ("year", "month", "day", "weekday", "hour", "minute", "second"))
    kinds = ((None, ("x",)), ("epoch", ("when", "x")), ("parts", (*parts, "x")))
    check_all([(suffix, *kind) for suffix in ("arff", "csv", "parquet", "frame") for kind in kinds], check)


def test_generators_read_the_dates_of_a_path_by_themselves(dated):
    order = np.argsort(DAYS)
    options = {"by": "time", "column": "when", "unlabelled": "keep"}
    stream = scenario_stream(dated / "toy.arff", "task-based", n_tasks=2, **options)
    carved = carve_environments(str(dated / "toy.arff"), ("train", "unseen"), **options)
    for one in (stream, carved):
        assert set(one.experiences[0].row_ids.tolist()) < set(order[:14].tolist())
        assert one.card.feature_names == ["x"]
        assert one.card.source.reading.time == "when"


def test_times_must_be_there_in_every_row_and_the_column_too(dated):
    path = dated / "toy.csv"
    with pytest.raises(ValueError, match=r"time= or --column must be columns.* Got 'wen'.*did you mean 'when'"):
        load_dataset(path, -2, time="wen")
    with pytest.raises(ValueError, match=r"ignore must not name the column of times. Got 'when'; dates there are no"):
        load_dataset(path, -2, time="when", ignore=["when"])
    path.write_text(path.read_text(encoding="utf-8").replace(DATES[3], ""), encoding="utf-8")
    for missing in ("mean", "keep"):
        with pytest.raises(ValueError, match=r"line 5: column 'when' must have a value.*--missing drop leaves its row"):
            load_dataset(path, -2, time="when", missing=missing)
    assert load_dataset(path, -2, time="when", missing="drop").n_samples == 27


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_clusters_of_features_are_found_whatever_their_scale(layout):
    truth = np.repeat([0, 1, 2], 30)
    X = (np.eye(3)[truth] + 0.1 * RNG.random((90, 3))) * [1, 1000, 0.001]
    table = make_table(np.ones((90, 1)), layout(X))
    members = find_tasks(table, np.arange(90), TaskRule("features", 3)).partition.members
    assert {frozenset(truth[part].tolist()) for part in members} == {frozenset({0}), frozenset({1}), frozenset({2})}


def test_groups_of_features_are_compared_by_their_features():
    table = make_table(np.ones((40, 1)), np.repeat([[0.0], [1], [9], [10]], 10, axis=0))
    profiles = find_tasks(table, np.arange(40), TaskRule("time", 4)).partition.profiles
    assert (np.sign(profiles[:, 0]) == [-1, -1, 1, 1]).all()


def test_errors_name_rule_and_value():
    def check(case):
        options, message = case
        table = make_table(np.ones((6, 2)))
        with pytest.raises(ValueError, match=message):
            find_tasks(table, np.arange(6), TaskRule(**options))

    check_all(
        [
            ({"by": "weather"}, r"by must be one of 'all', .* Got 'weather'"),
            ({"by": "time", "n_tasks": 9}, r"table: there must be at least 9 rows for the tasks. Got 6"),
            ({"by": "time", "n_tasks": 0}, r"n_tasks must be a whole number, at least 1. Got 0"),
            ({"by": "time", "column": "x9"}, r"column must be a feature of table that varies. Got 'x9'"),
            ({"by": "column"}, r"column must be a feature of table that varies. Got None"),
            ({"by": "label-lists", "n_tasks": 3}, r"table: there must be at least 3 labels for the tasks. Got 2"),
            ({"by": "label-lists", "label_lists": [["y0"], ["y7"]]}, r"label_lists must name labels .* Got 'y7'"),
            ({"by": "label-lists", "label_lists": [["y0"], []]}, r"none of them empty. Got \[\['y0'\], \[\]\]"),
            ({"by": "label-lists", "shared_rows": "both"}, r"shared_rows must be one of 'mask', 'drop'. Got 'both'"),
            (
                {"by": "label-lists", "n_tasks": 2, "shared_rows": "drop"},
                r"table: every task must hold rows. Got 0 in task-0",
            ),
        ],
        check,
    )


def test_rows_of_which_no_label_is_known_to_be_present_are_dealt_to_the_tasks():
    table = make_table([[1, 0, 0], [0, 1, np.nan], [0, 0, 1], [np.nan, 0, 0], [np.nan, np.nan, np.nan]])
    rule = TaskRule("label-lists", label_lists=[["y0"], ["y1"]])
    partition, drops, _ = find_tasks(table, np.arange(5), rule)
    assert [[row for row in part if row < 3] for part in partition.members] == [[0], [1]]
    assert sorted(np.concatenate(partition.members).tolist()) == [0, 1, 3, 4]
    assert [(drop.reason, drop.count) for drop in drops] == [("labels of no task", 1)]
