"""Trees learn each label from the rows where it is known: against masks, single trees, and slow loops."""

import math

import numpy as np
import pytest

from estimators import PragmaStreamForestClassifier
from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from estimators.trees.isoup import ISOUPTreeClassifier
from estimators.trees.multilabel import MultiLabelHoeffdingTreeClassifier
from tests.estimators import streams

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


def partly_known(n_rows=900, n_labels=3, share=0.3, seed=5):
    """Draw a stream in which a share of the labels, and all labels of some rows, are unknown."""
    X, Y = streams.drawn(n_rows, n_labels=n_labels)
    rng = np.random.default_rng(seed)
    hidden = (rng.random(Y.shape) < share) | (rng.random((n_rows, 1)) < 0.05)
    return X, np.where(hidden, np.nan, Y)


def test_the_tree_of_a_label_learns_the_rows_where_it_is_known():
    X, Y = partly_known()
    trees = HoeffdingTreeClassifier(**EAGER).begin(X, Y)
    decided, proba = trees.predict_then_fit(X[:600], Y[:600])
    trees.partial_fit(X[600:], Y[600:])
    for j in range(3):
        label, known = np.nan_to_num(Y[:, [j]]).astype(int), ~np.isnan(Y[:, j])
        alone = HoeffdingTreeClassifier(**EAGER).begin(X, label)
        for i in range(600):
            assert decided[i, j] == alone.predict(X[[i]])[0, 0]
            assert proba[i, j] == alone.predict_proba(X[[i]])[0, 0]
            if known[i]:
                alone.partial_fit(X[[i]], label[[i]])
        alone.partial_fit(X[600:][known[600:]], label[600:][known[600:]])
        assert np.array_equal(trees.predict_proba(X)[:, j], alone.predict_proba(X)[:, 0])


FOREST = {"n_models": 3, "random_state": 0, "max_features": 0.6}


@pytest.mark.parametrize(
    ("untargeted", "targeted"),
    [
        (
            AdaptiveRandomForestClassifier(**FOREST, multilabel=kind),
            AdaptiveRandomForestClassifier(**FOREST, multilabel=kind, targeted=True),
        )
        for kind in ("binary", "native")
    ]
    + [
        (MultiLabelHoeffdingTreeClassifier(**EAGER), MultiLabelHoeffdingTreeClassifier(**EAGER, targeted=True)),
        tuple(
            PragmaStreamForestClassifier(
                AdaptiveRandomForestClassifier(**FOREST, targeted=targeted), window=200, random_state=0
            )
            for targeted in (False, True)
        ),
    ],
    ids=["binary forest", "native forest", "multi-label tree", "weighted forest"],
)
def test_an_unknown_label_is_learnt_like_one_outside_the_mask(untargeted, targeted):
    X, Y = partly_known()
    known = ~np.isnan(Y)
    some, filled = known.any(axis=1), np.nan_to_num(Y).astype(int)
    untargeted.begin(X, Y)
    predicted = untargeted.predict_then_fit(X, Y)
    targeted.begin(X, filled)
    expected = targeted.predict_then_fit(X[some], filled[some], label_mask=known[some])
    for one, two in zip(predicted, expected, strict=True):
        assert np.array_equal(one[some], two)
    assert np.array_equal(untargeted.predict_proba(X), targeted.predict_proba(X))


# ---------------------------------------------------------------------- iSOUP
class SlowIsoup:
    """The iSOUP tree over known cells, from lists of rows: a leaf splits at every attempt that reduces variance."""

    def __init__(self, n_features, n_labels, grace_period):
        self.grace_period, self.n_labels, self.delta = grace_period, n_labels, 0.5
        self.root = {
            "start": np.zeros((3, n_labels)),
            "means": np.zeros(n_labels),
            "rows": [],
            "coefs": np.zeros((n_labels, n_features + 1)),
            "errors": np.zeros((n_labels, 2)),
            "last": 0.0,
        }

    def leaf(self, x):
        node = self.root
        while "feature" in node:
            node = node["left"] if x[node["feature"]] <= node["threshold"] else node["right"]
        return node

    def sums(self, leaf):
        """Number, sum and sum of squares of the known cells of each label."""
        return leaf["start"] + sum((self.of_row(y, w) for _, y, w in leaf["rows"]), np.zeros((3, self.n_labels)))

    def of_row(self, y, w):
        return w * np.array([[0 if np.isnan(v) else p for v in y] for p in (1, 1, 1)]) * np.nan_to_num([y**0, y, y**2])

    def means(self, leaf):
        n, total, _ = self.sums(leaf)
        return np.where(n > 0, total / np.maximum(n, 1e-300), leaf["means"])

    def outputs(self, x):
        leaf = self.leaf(x)
        models, by_mean = leaf["coefs"] @ [*x, 1.0], leaf["errors"][:, 0] < leaf["errors"][:, 1]
        return np.where(by_mean, self.means(leaf), models)

    def learn(self, x, y, w=1.0):
        leaf = self.leaf(x)
        means, models = self.means(leaf), leaf["coefs"] @ [*x, 1.0]
        for j in np.flatnonzero(~np.isnan(y)):
            leaf["errors"][j] = 0.95 * leaf["errors"][j] + [(y[j] - means[j]) ** 2, (y[j] - models[j]) ** 2]
            leaf["coefs"][j] -= 0.01 * 2 * (models[j] - y[j]) * w * np.array([*x, 1.0])
        leaf["rows"].append(([round(v, 1) for v in x], y, w))
        weight = self.sums(leaf)[0].mean()
        if weight - leaf["last"] >= self.grace_period:
            leaf["last"] = weight
            self.attempt(leaf)

    def attempt(self, leaf):
        before, best = self.sums(leaf), (0.0,)
        for f in range(len(leaf["rows"][0][0])):
            for key in sorted({row[f] for row, _, _ in leaf["rows"]}):
                left = sum(self.of_row(y, w) for row, y, w in leaf["rows"] if row[f] <= key)
                merit = self.merit(before, left, before - left)
                if merit > best[0] + 1e-12 or (merit > best[0] - 1e-12 and len(best) > 1 and best[1] != f):
                    best = merit, f, key, left, before - left
        if len(best) > 1:
            means = self.means(leaf)
            _, leaf["feature"], leaf["threshold"], left, right = best
            for side, sums in (("left", left), ("right", right)):
                parts = {"coefs": leaf["coefs"].copy(), "errors": leaf["errors"].copy(), "rows": []}
                leaf[side] = {**parts, "start": sums, "means": means, "last": sums[0].mean()}

    def merit(self, before, left, right):
        merit = 0.0
        for j in range(self.n_labels):
            if min(left[0, j], right[0, j]) >= 5:
                share = left[0, j] / before[0, j]
                merit += variance(before[:, j]) - share * variance(left[:, j]) - (1 - share) * variance(right[:, j])
        return merit / self.n_labels

    def n_splits(self, node):
        return 1 + self.n_splits(node["left"]) + self.n_splits(node["right"]) if "feature" in node else 0


def variance(sums):
    n, total, squares = sums
    return (squares - total**2 / n) / (n - 1)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.slow), True])
def test_isoup_computes_everything_from_known_cells(weighted):
    X, Y = partly_known(700)
    weight = np.random.default_rng(1).choice([1.0, 2.0], len(X)) if weighted else np.ones(len(X))
    # with a tau of 1, the best split of every attempt is taken, and nothing is pruned
    ours, slow = ISOUPTreeClassifier(grace_period=80, delta=0.5, tau=1.0), SlowIsoup(6, 3, 80)
    ours.begin(X, Y)
    expected = []
    for x, y, w in zip(X.tolist(), Y, weight.tolist(), strict=True):
        expected.append(slow.outputs(x))
        if not np.isnan(y).all():
            slow.learn(x, y, w)
    if not weighted:
        _, proba = ours.predict_then_fit(X, Y)
        np.testing.assert_allclose(proba, np.clip(expected, 0, 1), atol=1e-9)
    else:
        ours.partial_fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), np.clip([slow.outputs(x) for x in X], 0, 1), atol=1e-9)
    assert (ours.tree_.counts[0] - 1) // 2 == slow.n_splits(slow.root) > 3


def test_where_isoup_first_meets_an_unknown_label_does_not_depend_on_the_cuts():
    X, Y = streams.drawn(600)
    Y = Y.astype(float)
    Y[451::3, 1] = np.nan
    whole = ISOUPTreeClassifier(**EAGER).begin(X, Y).predict_then_fit(X, Y)[1]
    learner = ISOUPTreeClassifier(**EAGER).begin(X, Y)
    cut = [learner.predict_then_fit(X[i : i + 50], Y[i : i + 50])[1] for i in range(0, 600, 50)]
    assert np.array_equal(whole, np.concatenate(cut))
    known = ISOUPTreeClassifier(**EAGER).begin(X, Y).predict_then_fit(X[:451], Y[:451].astype(int))[1]
    assert np.array_equal(whole[:451], known)


def test_the_bound_on_the_memory_of_isoup_counts_the_weights_of_labels():
    X, Y = partly_known(1500)
    bound = ISOUPTreeClassifier(**EAGER, max_bytes=4000).fit(X, Y)
    n_values = len(bound.tree_.search.places) - bound.tree_.search.free[1]
    assert n_values * (32 + 24 * 3) <= 4000
    assert (bound.tree_.nodes["active"][: bound.tree_.counts[0]] == 0).any()


def test_a_label_unknown_in_a_leaf_keeps_the_mean_of_the_parent():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [1.0]], 200, axis=0)[rng.permutation(400)]
    Y = np.column_stack([X[:, 0], np.where(X[:, 0] == 0, rng.random(400) < 0.7, np.nan)])
    tree = ISOUPTreeClassifier(grace_period=60, delta=0.5, tau=1.0).fit(X[:110], Y[:110]).tree_
    left, right = tree.nodes["left"][0], tree.nodes["right"][0]
    assert tree.weights[right, 1] == 0
    assert math.isclose(tree.mean[right, 1], tree.mean[0, 1])
    assert 0.4 < tree.mean[left, 1] < 1
