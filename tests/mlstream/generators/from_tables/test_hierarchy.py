"""Hierarchies are checked, completed, read off names and discovered."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators.from_tables.hierarchy import (
    SuperclassShares,
    ancestor_matrix,
    check_hierarchy,
    complete_labels,
    deal_to_labels,
    discover_hierarchy,
    hierarchy_from_names,
    with_superclasses,
)
from mlstream.streams.label_values import as_indicator
from tests.mlstream.generators.tables import make_table
from tests.mlstream.small_streams import hide_cells


@st.composite
def forests(draw, max_labels=7):
    """Draw names and, for some of them, a parent that stands before them."""
    n_labels = draw(st.integers(1, max_labels))
    names = [f"y{label}" for label in range(n_labels)]
    above = [draw(st.none() | st.integers(0, label - 1)) if label else None for label in range(n_labels)]
    return names, {names[label]: names[upper] for label, upper in enumerate(above) if upper is not None}


def ancestors(name, parents):
    return [] if name not in parents else [parents[name], *ancestors(parents[name], parents)]


@pytest.mark.slow
@given(forests(), st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_rows_get_all_ancestors_and_nothing_else(forest, seed):
    names, parents = forest
    check_hierarchy(parents, names)
    Y = (np.random.default_rng(seed).random((6, len(names))) < 0.3).astype(np.uint8)
    full = complete_labels(Y, ancestor_matrix(parents, names))
    for before, after in zip(Y, full, strict=True):
        carried = {names[label] for label in np.flatnonzero(before)}
        expected = carried | {upper for name in carried for upper in ancestors(name, parents)}
        assert {names[label] for label in np.flatnonzero(after)} == expected


@given(forests(max_labels=5), st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_a_hierarchy_is_discovered_where_every_label_has_rows_of_its_own(forest, seed):
    names, parents = forest
    own = np.repeat(np.eye(len(names), dtype=np.uint8), 2, axis=0)
    Y = complete_labels(np.random.default_rng(seed).permutation(own), ancestor_matrix(parents, names))
    assert discover_hierarchy(Y, names) == parents
    assert discover_hierarchy(Y, names, min_support=1000) == {}


def test_labels_that_always_come_together_are_not_below_each_other():
    assert discover_hierarchy(np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1]], dtype=np.uint8), ["a", "b", "c"]) == {}


def test_the_newsgroups_have_their_hierarchy():
    names = ["comp.graphics", "comp.sys.mac", "comp.sys.ibm", "rec.autos", "rec.sport", "misc_forsale", "sci.space"]
    parents = hierarchy_from_names(names)
    assert parents == {
        "comp.graphics": "comp",
        "comp.sys.mac": "comp.sys",
        "comp.sys.ibm": "comp.sys",
        "comp.sys": "comp",
        "rec.autos": "rec",
        "rec.sport": "rec",
    }
    table = with_superclasses(replace(make_table(np.eye(7)), label_names=tuple(names)), parents)
    assert table.label_names[7:] == ("comp", "comp.sys", "rec")
    assert table.Y[1, 7:].tolist() == [1, 1, 0]
    assert table.Y[6, 7:].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"y1": "y9"}, r"must name labels of the table. Got 'y9' \('y1' -> 'y9'\)"),
        ({"bear": "y1"}, r"must name labels of the table. Got 'bear'"),
        ({"y0": "y1", "y1": "y2", "y2": "y0"}, r"must have no cycle. Got y0 -> y1 -> y2 -> y0"),
        ({"y0": "y0"}, r"must have no cycle. Got y0 -> y0"),
        ({"y0": "y1", "y1": "y2", "y2": "y1"}, r"must have no cycle. Got y1 -> y2 -> y1"),
    ],
)
def test_errors_name_the_offender(parents, message):
    with pytest.raises(ValueError, match=message):
        check_hierarchy(parents, ["y0", "y1", "y2"])


def test_a_chain_of_twelve_hundred_labels_is_a_hierarchy():
    names = [f"n{level}" for level in range(1200)]
    parents = dict(zip(names[:0:-1], names[-2::-1], strict=True))
    check_hierarchy(parents, names)
    np.testing.assert_array_equal(ancestor_matrix(parents, names), np.tril(np.ones((1200, 1200), dtype=bool), -1))


def test_a_long_cycle_is_one_short_line():
    names = [f"n{level}" for level in range(3000)]
    with pytest.raises(ValueError, match=r"no cycle. Got n1 -> n2 -> .* -> \.\.\. -> n1\.$") as caught:
        check_hierarchy(dict(zip(names, [*names[1:], "n1"], strict=True)), names)
    assert len(str(caught.value)) < 120


@given(forests(), st.integers(0, 99))
def test_ancestors_of_what_is_unknown_stay_as_they_are(forest, seed):
    names, parents = forest
    Y = hide_cells((np.random.default_rng(seed).random((6, len(names))) < 0.3).astype(np.uint8), 0.3, seed)
    full = complete_labels(Y, ancestor_matrix(parents, names))
    for before, after in zip(Y.tolist(), full.tolist(), strict=True):
        carried = {name for name, cell in zip(names, before, strict=True) if cell == 1}
        above = {upper for name in carried for upper in ancestors(name, parents)}
        expected = [1 if name in above else cell for name, cell in zip(names, before, strict=True)]
        np.testing.assert_array_equal(after, expected)


def test_a_new_superclass_is_unknown_where_a_label_below_is_and_none_is_present():
    table = make_table([[1, np.nan, 0], [np.nan, 0, 0], [0, 0, np.nan], [0, 0, 0]])
    full = with_superclasses(table, {"y0": "upper", "y1": "upper", "upper": "top"})
    assert full.label_names == ("y0", "y1", "y2", "top", "upper")
    np.testing.assert_array_equal(full.Y[:, 3:], [[1, 1], [np.nan, np.nan], [0, 0], [0, 0]])


def test_implications_are_found_in_the_rows_where_both_labels_are_known():
    # y1 never occurs without y0 where both are known; y2 does once; y3 is never known together with y0.
    Y = [
        [1, 1, 1, np.nan],
        [1, 0, 0, np.nan],
        [np.nan, 1, 0, 1],
        [0, 0, 1, np.nan],
        [1, 0, 0, np.nan],
        [1, 0, 0, np.nan],
    ]
    names = ["y0", "y1", "y2", "y3"]
    assert discover_hierarchy(as_indicator(Y), names) == {"y1": "y0"}
    assert discover_hierarchy(as_indicator(Y), names, min_support=2) == {}


def test_the_reference_shares_come_out():
    above = ancestor_matrix({"polar": "bear", "brown": "bear"}, ["bear", "polar", "brown", "dog"])
    Y = np.repeat(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], dtype=np.uint8), 100, axis=0)
    shown = deal_to_labels(Y, above, SuperclassShares(), seed=0)
    assert shown.sum(axis=0).tolist() == [80, 80, 80, 100]
    assert (shown[:, 0] & shown[:, 1]).sum() == 20
    assert shown.any(axis=1).all()
    tested = deal_to_labels(Y, above, SuperclassShares(), seed=0, overlap=False)
    assert tested.sum(axis=0).tolist() == [80, 60, 60, 100]
    assert (tested.sum(axis=1) == 1).all()


def test_a_superclass_of_many_stops_growing():
    names = ["top", *(f"sub{number}" for number in range(16))]
    above = ancestor_matrix(dict.fromkeys(names[1:], "top"), names)
    Y = complete_labels(np.repeat(np.eye(17, dtype=np.uint8)[1:], 50, axis=0), above)
    assert deal_to_labels(Y, above, SuperclassShares(cap=8), seed=0)[:, 0].sum() == 16 * 50 * 0.4 / 2


@given(forests(), st.integers(0, 20), st.booleans())
@settings(max_examples=40, deadline=None)
def test_rows_are_shown_under_their_own_labels_and_all_are_shown(forest, seed, overlap):
    names, parents = forest
    above = ancestor_matrix(parents, names)
    rng = np.random.default_rng(seed)
    Y = complete_labels(np.eye(len(names), dtype=np.uint8)[rng.integers(0, len(names), 60)], above)
    shown = deal_to_labels(Y, above, SuperclassShares(0.4, 0.8, 100), seed, overlap=overlap)
    assert not (shown & (Y == 0)).any()
    assert overlap or (shown.sum(axis=1) == 1).all()
    depth = above.sum(axis=1)
    if (depth <= 1).all():
        assert shown.any(axis=1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"superclass": 1.2}, r"superclass_share must lie in \[0, 1\]. Got 1.2"),
        ({"subclass": -0.1}, r"subclass_share must lie in \[0, 1\]. Got -0.1"),
        ({"cap": 0}, r"superclass_cap must be a whole number, at least 1. Got 0"),
    ],
)
def test_errors_name_rule_and_value(options, message):
    with pytest.raises(ValueError, match=message):
        SuperclassShares(**options)
