"""Superclasses come first, one label is shown at a time, and evaluation knows the whole truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.data.datasets import load_dataset
from mlstream.generators.from_tables.hierarchy import with_superclasses
from mlstream.generators.from_tables.iirc import iirc_stream
from tests.loops import check_all
from tests.mlstream.generators.tables import make_table
from tests.mlstream.small_streams import hide_cells

PARENTS = {"y1": "y0", "y2": "y0", "y3": "y2"}
FULL = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 0], [0, 0, 0, 0, 1]])


def zoo(n_rows=40):
    return make_table(np.repeat(FULL, n_rows, axis=0))


@given(st.integers(0, 30), st.sampled_from(["incomplete", "complete"]), st.booleans())
def test_rows_labels_and_masks_keep_the_rules(seed, information, leaves_only):
    # Ancestors are filled in where the table names the finest label only.
    table = make_table(np.repeat(np.eye(5), 40, axis=0)) if leaves_only else zoo()
    stream = iirc_stream(table, seed=seed, hierarchy=PARENTS, labels_per_task=2, information=information)
    truth = np.repeat(FULL, 40, axis=0)
    introduced = np.zeros(5, dtype=bool)
    for experience, task, held_out in zip(stream, stream.tasks, stream.evaluation_sets, strict=True):
        new = task.signature & ~introduced
        for label in np.flatnonzero(new):
            parent = PARENTS.get(f"y{label}")
            assert parent is None or introduced[int(parent[1])]
        introduced |= new
        visible = introduced if information == "complete" else new
        np.testing.assert_array_equal(experience.label_mask, visible)
        assert not experience.Y[:, ~visible].any()
        assert experience.Y.any(axis=1).all()
        assert (truth[experience.row_ids] >= experience.Y).all()
        if information == "complete":
            np.testing.assert_array_equal(experience.Y, truth[experience.row_ids] * introduced)
        np.testing.assert_array_equal(held_out.Y, truth[held_out.row_ids])
        assert held_out.Y[:, new].any(axis=1).all()
    assert introduced.all()
    learnt = {row for experience in stream for row in experience.row_ids.tolist()}
    evaluated = [row for held_out in stream.evaluation_sets for row in held_out.row_ids.tolist()]
    assert len(set(evaluated)) == len(evaluated) == 60
    assert not learnt & set(evaluated)
    assert len(learnt) + len(evaluated) + sum(drop.count for drop in stream.card.drops) == 200


@st.composite
def forests(draw):
    """Draw parents of labels, each below one of smaller number or none, and rows closed upwards."""
    n_labels = draw(st.integers(2, 9))
    choices = [draw(st.sampled_from([None, *range(label)])) for label in range(n_labels)]
    choices[1] = 0
    parents = {f"y{label}": f"y{parent}" for label, parent in enumerate(choices) if parent is not None}
    paths = [[label] for label in range(n_labels)]
    for path in paths:
        while choices[path[-1]] is not None:
            path.append(choices[path[-1]])
    single = np.array([np.isin(np.arange(n_labels), path) for path in paths])
    pairs = np.array([one | other for one in single for other in single])
    extra = pairs[draw(st.lists(st.integers(0, len(pairs) - 1), max_size=6))]
    return parents, np.repeat(np.vstack([single, extra.reshape(-1, n_labels)]), 12, axis=0).astype(np.uint8)


@given(forests(), st.integers(0, 9), st.sampled_from(["incomplete", "complete"]))
def test_hierarchies_of_any_depth_keep_the_rules(forest, seed, information):
    parents, Y = forest
    n_labels = Y.shape[1]
    stream = iirc_stream(
        make_table(Y), seed=seed, hierarchy=parents, labels_per_task=2, information=information, plain_first=True
    )
    above = {label: set() for label in range(n_labels)}
    for label in range(n_labels):
        name = f"y{label}"
        while name in parents:
            name = parents[name]
            above[label].add(int(name[1:]))
    introduced: set[int] = set()
    for experience, task, held_out in zip(stream, stream.tasks, stream.evaluation_sets, strict=True):
        new = {label for label in np.flatnonzero(task.signature).tolist() if label not in introduced}
        new -= set().union(*(above[label] & introduced for label in new))
        assert new
        assert all(above[label] <= introduced for label in new)
        introduced |= new
        visible = introduced if information == "complete" else new
        assert set(np.flatnonzero(experience.label_mask).tolist()) == visible
        for y, row in zip(experience.Y, experience.row_ids, strict=True):
            shown, truth = set(np.flatnonzero(y).tolist()), set(np.flatnonzero(Y[row]).tolist())
            assert shown
            assert shown <= truth & visible
            assert information == "incomplete" or shown == truth & visible
            # What a row shows is on a path to one of its finest labels.
            assert shown & new
        np.testing.assert_array_equal(held_out.Y, Y[held_out.row_ids])
        assert held_out.Y[:, sorted(new)].any(axis=1).all()
        assert set(np.flatnonzero(task.signature).tolist()) == new | set().union(*(above[label] for label in new))
    assert introduced == set(range(n_labels))
    learnt = {row for part in stream for row in part.row_ids.tolist()}
    evaluated = {row for part in stream.evaluation_sets for row in part.row_ids.tolist()}
    assert not learnt & evaluated
    lost = sum(drop.count for drop in stream.card.drops if drop.what == "rows")
    assert len(learnt) + len(evaluated) + lost == len(Y)


@given(st.integers(2, 5), st.integers(60, 150), st.integers(0, 9))
def test_along_a_chain_every_label_gets_its_share(depth, n_rows, seed):
    # Rows of the finest label of a chain, and of an unrelated one.
    Y = np.zeros((2 * n_rows, depth + 1), dtype=np.uint8)
    Y[:n_rows, :depth], Y[n_rows:, depth] = 1, 1
    parents = {f"y{label}": f"y{label - 1}" for label in range(1, depth)}
    order = [["y0", f"y{depth}"], *([f"y{label}"] for label in range(1, depth))]
    stream = iirc_stream(make_table(Y), seed=seed, hierarchy=parents, introductions=order, plain_first=True)
    held_out = [(part.row_ids < n_rows).sum() for part in stream.evaluation_sets]
    n_learnt = n_rows - sum(held_out)
    learnt = [int((part.row_ids < n_rows).sum()) for part in stream]
    assert learnt == [round(0.4 * n_learnt)] * (depth - 1) + [round(0.8 * n_learnt)]
    # In evaluation no row is shared: the superclasses part 40 % among them.
    rows = np.concatenate([part.row_ids for part in stream.evaluation_sets])
    assert len(set(rows.tolist())) == len(rows)
    assert held_out[-1] == round(0.6 * sum(held_out))


def test_a_superclass_sees_part_of_its_subclasses_and_shares_part_of_that():
    stream = iirc_stream(
        make_table(np.repeat([[1, 1], [1, 0]], [100, 100], axis=0)),
        hierarchy={"y1": "y0"},
        introductions=[["y0"], ["y1"]],
    )
    first, second = (set(experience.row_ids.tolist()) for experience in stream)
    # 70 learning rows of each kind: 40 % and 80 % of the subclass, and all that is the superclass only.
    assert (len(first), len(second), len(first & second)) == (28 + 70, 56, 14)


def test_superclasses_are_discovered_or_read_off_names():
    found = iirc_stream(zoo(), labels_per_task=2)
    assert found.card.label_parents == PARENTS
    table = make_table(np.repeat(np.eye(3), 30, axis=0))
    named = replace(table, label_names=("rec.autos", "rec.cycles", "misc"))
    stream = iirc_stream(named, hierarchy="names", first_labels=1)
    assert stream.card.label_names == ["rec.autos", "rec.cycles", "misc", "rec"]
    assert stream.card.label_parents == {"rec.autos": "rec", "rec.cycles": "rec"}
    assert stream.card.tasks[0].signature == [3]


def test_the_hierarchy_that_a_table_comes_with_is_taken_before_one_is_discovered():
    table = replace(zoo(), label_parents={"y1": "y0"})
    assert iirc_stream(table, labels_per_task=2).card.label_parents == {"y1": "y0"}
    assert iirc_stream(table, labels_per_task=2, hierarchy="discover").card.label_parents == PARENTS


def test_the_newsgroups_make_a_stream(shared_data):
    stream = iirc_stream(load_dataset(shared_data("multilabel/20NG-F.arff.gz")), hierarchy="names")
    assert set(stream.card.label_names[20:]) == {"comp", "comp.sys", "politics", "rec", "rec.sport", "religion", "sci"}
    assert {len(task.signature) > 0 for task in stream.card.tasks} == {True}


def test_errors_name_the_offender():
    def check(case):
        options, message = case
        with pytest.raises(ValueError, match=message):
            iirc_stream(zoo(), **{"hierarchy": PARENTS, "labels_per_task": 1} | options)

    check_all(
        [
            ({"hierarchy": {"y1": "y0", "y0": "y1"}}, r"must have no cycle. Got y1 -> y0 -> y1"),
            ({"hierarchy": {"y1": "cat"}}, r"must name labels of the table. Got 'cat'"),
            ({"hierarchy": "guess"}, r"hierarchy must be one of 'names', 'discover'. Got 'guess'"),
            (
                {"introductions": [["y3"], ["y0"]]},
                r"first task must introduce superclasses only. Got 'y3', a subclass of",
            ),
            ({"introductions": [["y0", "y4"], ["y1"]]}, r"superclasses only. Got 'y4', which has no subclass"),
            ({"introductions": [["y0"], ["y2", "y3"]]}, r"later task than its superclass. Got 'y3' in task 1 and 'y2'"),
            ({"superclass_share": 2}, r"superclass_share must lie in \[0, 1\]. Got 2"),
            ({"information": "some"}, r"information must be one of 'incomplete', 'complete'. Got 'some'"),
            ({"labels_per_task": 0}, r"labels_per_task must be a whole number, at least 1. Got 0"),
            ({"subclass_share": 0, "superclass_share": 0}, r"rows to learn and to evaluate. Got 0 and \d+ for task"),
            ({"evaluation_fraction": 1.5}, r"evaluation_fraction must be more than 0 and less than 1. Got 1.5"),
        ],
        check,
    )


@pytest.mark.parametrize("information", ["incomplete", "complete"])
def test_labels_that_are_unknown_stay_unknown_and_no_row_is_shown_under_them(information):
    full = np.repeat(FULL, 40, axis=0)
    hidden = hide_cells(full, 0.1, 0)
    stream = iirc_stream(make_table(hidden), hierarchy=PARENTS, labels_per_task=2, information=information)
    truth = with_superclasses(make_table(hidden), PARENTS).Y
    for experience in stream:
        unknown = np.isnan(truth[experience.row_ids])
        np.testing.assert_array_equal(np.isnan(experience.Y), unknown)
        assert (truth[experience.row_ids][experience.Y == 1] == 1).all()
    for held_out in stream.evaluation_sets:
        np.testing.assert_array_equal(held_out.Y, truth[held_out.row_ids])
