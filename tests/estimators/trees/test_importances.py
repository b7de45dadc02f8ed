"""Importances are the decreases of entropy by the splits, as a drawing of the tree tells them."""

import re

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.feature_selection import RFE, SelectFromModel

from estimators import (
    AdaptiveRandomForestClassifier,
    BinaryRelevance,
    ExtremelyFastDecisionTreeClassifier,
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
    ISOUPTreeClassifier,
    MultiLabelHoeffdingAdaptiveTreeClassifier,
    MultiLabelHoeffdingTreeClassifier,
    OnlineLogisticRegression,
    PragmaStreamForestClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 4))
Y = np.column_stack([X[:, 1] > 0, X[:, 1] + X[:, 3] > 1]).astype(int)
CLASSES = Y.sum(axis=1)
HASTY = {"grace_period": 50, "delta": 0.01}
TREES = [
    HoeffdingTreeClassifier(**HASTY),
    HoeffdingTreeClassifier(**HASTY, zeros="together"),
    ExtremelyFastDecisionTreeClassifier(**HASTY),
    HoeffdingAdaptiveTreeClassifier(**HASTY, random_state=0),
    AdaptiveRandomForestClassifier(3, random_state=0),
    AdaptiveRandomForestClassifier(3, multilabel="native", max_features=None, random_state=0),
    MultiLabelHoeffdingTreeClassifier(**HASTY),
    MultiLabelHoeffdingAdaptiveTreeClassifier(**HASTY, random_state=0),
    ISOUPTreeClassifier(**HASTY),
    BinaryRelevance(HoeffdingTreeClassifier(**HASTY)),
    BinaryRelevance(AdaptiveRandomForestClassifier(3, random_state=0)),
    PragmaStreamForestClassifier(AdaptiveRandomForestClassifier(3, random_state=0)),
]


@pytest.mark.parametrize("learner", TREES)
def test_features_that_matter_share_the_importance(learner):
    assert not learner.partial_fit(X[:5], Y[:5]).feature_importances_.any()
    found = learner.fit(X, Y).feature_importances_
    assert found.shape == (4,)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert found[[1, 3]].sum() > 0.6
    for selector in (SelectFromModel(learner, max_features=2, threshold=-np.inf), RFE(learner, n_features_to_select=2)):
        assert np.flatnonzero(selector.fit(X, Y).get_support()).tolist() == [1, 3]


def test_features_in_another_order_have_the_same_importances():
    order, tree = [2, 3, 0, 1], HoeffdingTreeClassifier(**HASTY)
    found = tree.fit(X, CLASSES).feature_importances_
    np.testing.assert_allclose(tree.fit(X[:, order], CLASSES).feature_importances_, found[order], atol=1e-12)


def test_importances_of_labels_are_the_mean_of_their_trees():
    tree = HoeffdingTreeClassifier(**HASTY)
    expected = np.mean([tree.fit(X, y).feature_importances_ for y in Y.T], axis=0)
    np.testing.assert_allclose(BinaryRelevance(tree).fit(X, Y).feature_importances_, expected)
    with pytest.raises(AttributeError, match="OnlineLogisticRegression has no feature_importances_"):
        _ = BinaryRelevance(OnlineLogisticRegression()).fit(X, Y).feature_importances_


def test_importances_are_the_decrease_of_variance_for_regression_trees():
    tree = ISOUPTreeClassifier(**HASTY).fit(X, Y)
    nodes, table, expected = tree.tree_.nodes, tree.tree_, np.zeros(4)

    def below(i):
        node = nodes[i]
        if node["feature"] < 0:
            return table.weights[i], table.weights[i] * table.mean[i]
        sides = below(node["left"]), below(node["right"])
        whole = tuple(left + right for left, right in zip(*sides, strict=True))
        n_variance = [(ones - ones**2 / n).sum() for n, ones in (whole, *sides)]
        expected[node["feature"]] += n_variance[0] - sum(n_variance[1:])
        return whole

    below(0)
    np.testing.assert_allclose(tree.feature_importances_, expected / expected.sum())


def test_importances_are_those_of_the_drawing():
    tree = HoeffdingTreeClassifier(**HASTY).fit(X, CLASSES)
    nodes = dict(re.findall(r'n(\d+) \[label="([^"]*)"', tree.to_dot()))
    sides = {i: [] for i in nodes}
    for parent, child in re.findall(r"n(\d+) -> n(\d+)", tree.to_dot()):
        sides[parent].append(child)
    expected = np.zeros(4)

    def weights(i):
        if not sides[i]:
            counts = dict(re.findall(r"(\d): ([\d.e+-]+)", nodes[i]))
            return np.array([float(counts.get(code, 0)) for code in "012"])
        below = [weights(side) for side in sides[i]]
        parts = [part.sum() * entropy(part, base=2) for part in (sum(below), *below) if part.any()]
        expected[int(nodes[i][1])] += parts[0] - sum(parts[1:])
        return sum(below)

    assert weights(next(iter(nodes))).sum() > 2000
    np.testing.assert_allclose(tree.feature_importances_, expected / expected.sum(), rtol=1e-3, atol=1e-6)
