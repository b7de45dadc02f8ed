"""Labels emerge one group after another, stay, and occur nowhere before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_multilabel_classification

from mlstream.generators.from_tables.emerging_labels import draw_emergence, emerging_labels_stream
from tests.mlstream.generators.tables import make_table


def table_of(seed, n_labels=6, n_rows=200):
    rng = np.random.default_rng(seed)
    Y = rng.random((n_rows, n_labels)) < 0.25
    Y[rng.permutation(n_rows)[:n_labels]] = np.eye(n_labels, dtype=bool)
    return make_table(Y, rng.random((n_rows, 3)))


@given(st.integers(0, 50), st.integers(1, 4), st.integers(1, 4), st.sampled_from(["drop", "keep"]))
@settings(max_examples=40, deadline=None)
def test_every_row_comes_once_and_no_label_before_it_emerges(seed, first_labels, labels_per_task, unlabelled):
    table = table_of(seed)
    options = {"first_labels": first_labels, "labels_per_task": labels_per_task, "unlabelled": unlabelled}
    stream = emerging_labels_stream(table, seed=seed, **options)
    emergence = np.array(stream.card.scenario.emergence)
    parts = (*stream.experiences, *stream.evaluation_sets)
    rows = np.concatenate([part.row_ids for part in parts]).tolist()
    kept = np.flatnonzero(table.Y.any(axis=1)) if unlabelled == "drop" else np.arange(200)
    assert sorted(rows) == kept.tolist()
    for part in parts:
        np.testing.assert_array_equal(part.Y, table.Y[part.row_ids])
        np.testing.assert_array_equal(part.X, table.X[part.row_ids])
    for number, (experience, held_out) in enumerate(zip(stream, stream.evaluation_sets, strict=True)):
        emerged = [when <= number for when in emergence.tolist()]
        for part in (experience, held_out):
            np.testing.assert_array_equal(part.label_mask, emerged)
            assert not part.Y[:, ~part.label_mask].any()
        np.testing.assert_array_equal(stream.tasks[number].signature, emerged)
        assert experience.Y[:, emergence == number].any(axis=0).all()
    sizes = np.bincount(emergence)
    assert sizes[0] <= first_labels
    assert (sizes[1:] <= labels_per_task).all()
    assert sizes.min() >= 1


@given(st.integers(0, 50), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_tasks_are_as_equal_in_size_as_labels_allow(seed, first_labels, labels_per_task):
    table = table_of(seed)
    stream = emerging_labels_stream(table, seed=seed, first_labels=first_labels, labels_per_task=labels_per_task)
    emergence = np.array(stream.card.scenario.emergence)
    rows = [np.concatenate([one.row_ids, two.row_ids]) for one, two in zip(stream, stream.evaluation_sets, strict=True)]
    sizes = [len(part) for part in rows]
    for early in range(len(rows)):
        for late in range(early + 1, len(rows)):
            # A row may always come later, unless it announces a label.
            assert sizes[early] <= max(sizes[late] + 1, (emergence == early).sum())
            if sizes[late] > sizes[early] + 1:
                assert table.Y[rows[late]][:, emergence > early].any(axis=1).all()


def test_thirty_labels_emerge_three_at_a_time():
    X, Y = make_multilabel_classification(3000, n_classes=30, n_labels=2, allow_unlabeled=False, random_state=0)
    stream = emerging_labels_stream(make_table(Y, X), first_labels=3, labels_per_task=3, seed=1)
    widths = [int(experience.label_mask.sum()) for experience in stream]
    assert (widths[0], widths[-1]) == (3, 30)
    assert (np.diff(widths) > 0).all()
    assert max(np.diff(widths)) <= 3


def test_thirty_labels_emerge_where_a_fifth_of_them_are_unknown():
    X, Y = make_multilabel_classification(1000, n_classes=30, n_labels=2, allow_unlabeled=False, random_state=0)
    Y = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    stream = emerging_labels_stream(make_table(Y, X), first_labels=3, labels_per_task=3, seed=1)
    widths = [int(experience.label_mask.sum()) for experience in stream]
    assert (widths[0], widths[-1]) == (3, 30)
    assert max(np.diff(widths)) <= 3
    for number, part in enumerate(stream):
        assert not (part.Y[:, ~part.label_mask] == 1).any()
        assert (part.Y[:, np.array(stream.card.scenario.emergence) == number] == 1).any(axis=0).all()


def test_given_lists_are_kept_and_rows_wait_for_the_last_of_their_labels():
    table = make_table(np.tile([[1, 0, 0], [1, 1, 0], [0, 0, 1]], (30, 1)))
    stream = emerging_labels_stream(table, label_lists=[["y2"], ["y0"], ["y1"]])
    assert stream.card.scenario.emergence == [1, 2, 0]
    assert stream.card.generator.parameters["label_lists"] == [["y2"], ["y0"], ["y1"]]
    for number, part in enumerate(stream):
        first = {0: 1, 1: 2, 2: 0}
        assert all(first[row % 3] <= number for row in part.row_ids.tolist())


def test_a_task_takes_more_labels_than_asked_only_where_no_row_carries_fewer():
    Y = np.repeat([[1, 1, 1, 0], [1, 1, 1, 1]], 20, axis=0)
    assert draw_emergence(Y, first_labels=1, labels_per_task=1, seed=0).tolist() == [0, 0, 0, 1]


def test_the_card_is_a_page_that_states_when_labels_emerge():
    from mlstream.cards.page import card_page

    page = card_page(emerging_labels_stream(table_of(1), first_labels=2, labels_per_task=2).card, prefix="x.")
    assert "| labels that emerge, by experience | 2 in 0, 2 in 1, 2 in 2 |" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first_labels": 0}, "first_labels must be a whole number, at least 1. Got 0"),
        ({"labels_per_task": 0}, "labels_per_task must be a whole number, at least 1. Got 0"),
        ({"label_lists": [["y0"], []]}, "label_lists must hold at least one list, none of them empty"),
        ({"label_lists": [["y0", "y1"]]}, "must list each label once. Got 'y2' 0 times"),
        ({"label_lists": [["y0", "y1"], ["y1", "y2"]]}, "must list each label once. Got 'y1' 2 times"),
        ({"label_lists": [["y0", "y1", "y2", "y9"]]}, "only if it occurs in the table. Got 'y9' 1 times"),
        ({"label_lists": [["y1"], ["y0"], ["y2"]]}, "no later one. Got label 'y1' in task 0; move it to a later list"),
        ({"evaluation_fraction": 0.99, "labels_per_task": 1, "first_labels": 1}, "rows to learn and to evaluate"),
    ],
)
def test_errors_name_rule_and_value(options, message):
    table = make_table(np.tile([[1, 0, 0], [1, 1, 0], [0, 0, 1]], (5, 1)))
    with pytest.raises(ValueError, match=message):
        emerging_labels_stream(table, **options)
