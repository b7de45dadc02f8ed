"""Paths of rows through trees of all labels, beside those through a tree of each label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier, MultiLabelHoeffdingTreeClassifier

SETTINGS = {"delta": 0.5, "grace_period": 50, "tau": 0.3}


@given(seed=st.integers(0, 10**6), n_rows=st.integers(20, 1200), has_categories=st.booleans())
def test_with_one_label_it_is_what_a_tree_of_that_label_says(seed, n_rows, has_categories):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + 10, 4))
    X[:, 3] = rng.integers(0, 3, len(X))
    settings = SETTINGS | ({"categorical_features": {3: 3}} if has_categories else {})
    Y = (X[:, :1] + (X[:, 3:] == 1) > 0.4).astype(int)
    one, all_labels = (
        kind(**settings).partial_fit(X[:n_rows], Y[:n_rows]).explain(X[n_rows:])
        for kind in (HoeffdingTreeClassifier, MultiLabelHoeffdingTreeClassifier)
    )
    assert all_labels.base == pytest.approx(one.base, abs=1e-12)
    assert all_labels.contributions == pytest.approx(one.contributions, abs=1e-9)
    assert all_labels.interactions.shape[2] == 0


@given(seed=st.integers(0, 10**6), max_features=st.sampled_from([None, 2]))
def test_a_forest_is_the_mean_of_its_trees_by_their_accuracy(seed, max_features):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(410, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5])
    forest = AdaptiveRandomForestClassifier(
        3, multilabel="native", max_features=max_features, random_state=seed, **SETTINGS
    ).partial_fit(X[:400], Y[:400])
    found, members = forest.explain(X[400:]), forest.forest_.trees
    expected = np.zeros(found.contributions.shape)
    for member in members:
        # a tree of its own, with the arrays of the member
        own = slice(None) if member.foreground.features is None else member.foreground.features
        tree = MultiLabelHoeffdingTreeClassifier(**SETTINGS).begin(X[:1, own], Y[:1])
        tree.tree_ = member.foreground.tree
        expected[:, :, own] += member.accuracy * tree.explain(X[400:, own]).contributions
    assert found.contributions == pytest.approx(expected / sum(member.accuracy for member in members), abs=1e-9)
