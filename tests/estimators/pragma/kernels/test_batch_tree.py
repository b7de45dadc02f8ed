"""Trees are grown as by a recursion over lists of rows that tries every split."""

import itertools
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.pragma._kernels.batch_tree import ENTROPY, GINI, PRAGMA, Growth, grow_tree
from tests.estimators.ensembles.draws import uniforms
from tests.scattered import tables

TINY = 1e-12


def impurity(counts, entropy):
    shares = [count / sum(counts) for count in counts if count]
    return -sum(p * math.log2(p) for p in shares) if entropy else 1 - sum(p * p for p in shares)


def expected_pragma(sides, growth):
    """Return PRAGMA if each side predicts classes at random, by their mass there; a class has its share on both."""
    present = [c for c in range(len(sides[0])) if any(side[c] for side in sides)]
    rows = {c: sum(side[c] for side in sides) for c in present}
    chances = []
    for side in sides:
        mass = {c: growth.share[c] * side[c] / rows[c] for c in present}
        chances.append({c: mass[c] / sum(mass.values()) for c in present})
    total = 0.0
    for c in present:
        hits = sum(side[c] * chance[c] for side, chance in zip(sides, chances, strict=True))
        predicted = sum(sum(side) * chance[c] for side, chance in zip(sides, chances, strict=True))
        total += growth.share[c] * (1 + growth.alpha[c] * hits / rows[c] + growth.beta[c] * hits / predicted)
    return total / sum(growth.share[c] for c in present)


def goes_left(nominal, feature, value, threshold):
    return value == threshold if nominal[feature] else value <= threshold


class SlowTree:
    """Nodes in the order of a descent to the left first: (feature, threshold, shares, weight, depth)."""

    def __init__(self, X, y, weights, growth, state):
        self.X, self.y, self.weights, self.growth = X, y, weights, growth
        self.chances, self.nodes = uniforms(state), []
        self.grow(list(range(len(y))), 0)

    def counts(self, rows):
        return [sum(self.weights[i] for i in rows if self.y[i] == c) for c in range(len(self.growth.share))]

    def grow(self, rows, depth):
        growth, counts = self.growth, self.counts(rows)
        node = [-1, 0.0, [count / sum(counts) for count in counts], sum(counts), depth]
        self.nodes.append(node)
        few = len(rows) < growth.min_samples_split or len(rows) < 2 * growth.min_samples_leaf
        if few or depth >= growth.max_depth or len({self.y[i] for i in rows}) == 1:
            return
        best = self.best_split(rows)
        if best:
            node[:2] = best
            for side in self.parts(rows, *best):
                self.grow(side, depth + 1)

    def parts(self, rows, feature, threshold):
        left = [i for i in rows if goes_left(self.growth.nominal, feature, self.X[i][feature], threshold)]
        return left, [i for i in rows if i not in left]

    def best_split(self, rows):
        drawn = self.draw_features()
        best, lowest = None, math.inf
        for feature in drawn:
            for loss, threshold in [self.best_threshold(rows, feature)]:
                if loss < lowest - TINY:
                    best, lowest = (feature, threshold), loss
        # of the features that were not drawn, the first that can split the rows, where no drawn one can
        for feature in range(len(self.X[0])) if best is None and len(drawn) < len(self.X[0]) else ():
            loss, threshold = self.best_threshold(rows, feature)
            if loss < math.inf:
                return feature, threshold
        return best

    def draw_features(self):
        """Knuth's algorithm S."""
        n, left, drawn = len(self.X[0]), min(self.growth.max_features, len(self.X[0])), []
        for feature in range(n):
            if next(self.chances) * (n - feature) < left - len(drawn):
                drawn.append(feature)
        return drawn

    def best_threshold(self, rows, feature):
        values, lowest = sorted({self.X[i][feature] for i in rows}), (math.inf, 0.0)
        middles = [(low + high) / 2 for low, high in itertools.pairwise(values)]
        for threshold in values if self.growth.nominal[feature] else middles:
            sides = self.parts(rows, feature, threshold)
            if min(map(len, sides)) >= self.growth.min_samples_leaf:
                loss = self.loss([self.counts(side) for side in sides])
                lowest = (loss, threshold) if loss < lowest[0] - TINY else lowest
        return lowest

    def loss(self, sides):
        if self.growth.criterion == PRAGMA:
            return expected_pragma(sides, self.growth)
        parts = [sum(side) * impurity(side, self.growth.criterion == ENTROPY) for side in sides]
        return sum(parts) / sum(map(sum, sides))


@settings(max_examples=100)
@given(st.integers(1, 9), st.integers(1, 3), st.sampled_from([GINI, ENTROPY, PRAGMA]), st.data())
def test_trees_are_those_of_the_recursion(n, n_features, criterion, data):
    nominal = data.draw(tables((n_features,), (False, True)))
    X = data.draw(tables((n, n_features), (0.0, 1.0, -2.5, 0.25), np.float32))
    X[:, nominal] = data.draw(tables((n, n_features), (0, 1, 8, 2**24 - 1), np.float32))[:, nominal]
    y, weights = data.draw(tables((n,), (0, 1, 2), np.int64)), data.draw(tables((n,), (1.0, 0.5, 3.0)))
    share, (alpha, beta) = data.draw(tables((3,), (0.2, 0.5))), data.draw(tables((2, 3), (-0.5, -0.1, -0.9)))
    limits = [data.draw(st.integers(*bounds)) for bounds in ((0, 5), (2, 4), (1, 3), (1, n_features))]
    growth, state = Growth(criterion, share, alpha, beta, 0, *limits, nominal), data.draw(st.integers(0, 2**64 - 1))
    nodes = grow_tree(X, y, weights, growth, np.uint64(state))
    slow = SlowTree(X.tolist(), y.tolist(), weights.tolist(), growth, state)
    assert nodes.feature.tolist() == [feature for feature, *_ in slow.nodes]
    assert nodes.threshold.tolist() == [threshold for _, threshold, *_ in slow.nodes]
    np.testing.assert_allclose(nodes.value[:, 0], [value for _, _, value, _, _ in slow.nodes], rtol=1e-12)
    np.testing.assert_allclose(nodes.weighted_n_node_samples, [weight for *_, weight, _ in slow.nodes], rtol=1e-12)
    for i, leaf in enumerate(nodes.apply(X)):
        at = 0
        while nodes.children_left[at] >= 0:
            feature = nodes.feature[at]
            is_left = goes_left(nominal, feature, X[i, feature], nodes.threshold[at])
            at = nodes.children_left[at] if is_left else nodes.children_right[at]
        assert leaf == at
