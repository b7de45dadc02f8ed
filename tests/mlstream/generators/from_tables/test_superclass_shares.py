"""Superclasses and subclasses get their shares of rows, with the overlap that is asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators.from_tables.hierarchy import ancestor_matrix, complete_labels
from mlstream.generators.from_tables.superclass_shares import SuperclassShares, deal_to_labels
from tests.mlstream.generators.from_tables.test_hierarchy import forests


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
