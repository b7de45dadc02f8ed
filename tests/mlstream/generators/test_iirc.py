"""Superclasses come first, one label is shown at a time, and evaluation knows the whole truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.datasets import load_dataset
from mlstream.generators.iirc import iirc_stream
from tests.mlstream.generators.tables import make_table

PARENTS = {"y1": "y0", "y2": "y0", "y3": "y2"}
FULL = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 0], [0, 0, 0, 0, 1]])


def zoo(n_rows=40):
    return make_table(np.repeat(FULL, n_rows, axis=0))


@given(st.integers(0, 30), st.sampled_from(["incomplete", "complete"]), st.booleans())
@settings(max_examples=30, deadline=None)
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hierarchy": {"y1": "y0", "y0": "y1"}}, r"must have no cycle. Got y1 -> y0 -> y1"),
        ({"hierarchy": {"y1": "cat"}}, r"must name labels of the table. Got 'cat'"),
        ({"hierarchy": "guess"}, r"hierarchy must be one of 'names', 'discover'. Got 'guess'"),
        ({"introductions": [["y3"], ["y0"]]}, r"later task than its superclass. Got 'y3' in task 0"),
        ({"superclass_share": 2}, r"superclass_share must lie in \[0, 1\]. Got 2"),
        ({"information": "some"}, r"information must be one of 'incomplete', 'complete'. Got 'some'"),
        ({"labels_per_task": 0}, r"labels_per_task must be a whole number, at least 1. Got 0"),
        ({"subclass_share": 0, "superclass_share": 0}, r"rows to learn and to evaluate. Got 0 and \d+ for task"),
        ({"evaluation_fraction": 1.5}, r"all fractions positive"),
    ],
)
def test_errors_name_the_offender(options, message):
    with pytest.raises(ValueError, match=message):
        iirc_stream(zoo(), **{"hierarchy": PARENTS, "labels_per_task": 1} | options)
