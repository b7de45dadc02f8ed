"""The best split of a node and the proof that it needs no revision, next to a search of every threshold."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from estimators.trees._kernels.hoeffding import TreeChunk
from estimators.trees._kernels.revising import RevisionParams, learn
from estimators.trees._kernels.splitting import MIN_BRANCH_SHARE, ROUGHNESS, ROUGHNESS_OF_GAIN
from estimators.trees._kernels.tree_arrays import NONE, new_trees
from tests.estimators.trees.kernels.comparing import N_CLASSES
from tests.estimators.trees.kernels.compiled_search import best_split, is_settled
from tests.estimators.trees.kernels.slow_observers import Observer, in_turn, thresholds
from tests.estimators.trees.kernels.slow_revising import RevisedNode

NEVER = RevisionParams(1e9, 0.1, 0.0, 100, 1e9, 1e9, 1.0)
TINY = 1e-7


@st.composite
def nodes(draw):
    """Draw a node that has observed rows of up to three classes, and counted more than it has observed."""
    n, d, n_classes = (draw(st.sampled_from(sizes)) for sizes in ((60, 150, 20), (3, 4, 2, 1), (2, 2, 2, 3, 1)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shares = np.array(draw(st.sampled_from(((1, 1, 1), (1, 9, 4), (9, 1, 4)))))[:n_classes]
    codes = rng.choice(n_classes, n, p=shares / shares.sum())
    # classes that differ in their means, in their spreads, in hardly anything
    gaps, spreads = (draw(st.sampled_from(sizes)) for sizes in ((0.5, 0.2, 1.0, 30.0), (0.0, 0.5)))
    X = rng.normal(size=(n, d)) * np.exp(spreads * rng.normal(size=(N_CLASSES, d)))[codes]
    X += gaps * rng.normal(size=(N_CLASSES, d))[codes]
    # columns that equal others, and that no threshold divides
    X = np.ascontiguousarray(X[:, rng.integers(0, d, d)] if draw(st.integers(0, 3)) == 0 else X)
    X *= rng.choice(draw(st.sampled_from(((1.0,), (1.0, 0.0)))), d)
    weights = rng.choice((1.0, 2.5, 0.5), n if draw(st.booleans()) else 0)
    born = rng.choice(draw(st.sampled_from(((0.0,), (0.0, 5.3, 40.7), (0.0, 40.7, 300.1)))), N_CLASSES)
    return X, codes, weights, born


def compiled_node(X, codes, weights, born):
    """Let a tree of one leaf learn rows; then its classes get the weights that they were born with, too."""
    arrays, none = new_trees(1, X.shape[1]), np.empty((0, 1, N_CLASSES))
    arrays = learn(arrays, TreeChunk(X[:0], X, codes[:, np.newaxis], weights, 0), NEVER, none)
    used = arrays.stats[: len(np.unique(codes))]
    used["weight"] += born[used["code"]]
    arrays.nodes["weight"][0] = in_turn(used["weight"])
    return arrays


def slow_node(X, codes, weights, born):
    node = RevisedNode(0, range(X.shape[1]), ())
    for i, code in enumerate(codes.tolist()):
        weight = weights[i] if len(weights) else 1.0
        node.counts[code] = node.counts.get(code, born[code]) + weight
        node.observers.setdefault(code, Observer()).add(X[i], weight)
    return node


def is_unsure(node):
    """Return whether a threshold has so small a part on a side that rough weights cannot tell whether it counts."""
    total = in_turn(o.weight for o in node.observers.values())
    for f in node.features:
        ends = min(o.low[f] for o in node.observers.values()), max(o.high[f] for o in node.observers.values())
        for value in thresholds(*ends):
            share = in_turn(o.below(f, value) for o in node.observers.values()) / total
            if abs(min(share, 1 - share) - MIN_BRANCH_SHARE) < 2 * ROUGHNESS:
                return True
    return False


# a hundredth of the rows lies apart: too small a part for a split, of which rough weights are not sure
APART = np.array([[0.0], [1.0], *[[0.0]] * 99]), np.repeat([0, 1], [2, 99]), np.repeat([0.5, 1.0], [2, 99]), np.zeros(3)


@pytest.mark.slow
@settings(max_examples=120)
@given(nodes(), st.sampled_from((0.3, 0.05, 0.01)))
@example(APART, 0.3)
def test_the_best_split_is_that_of_a_search_of_all_thresholds(drawn, bound):
    arrays, node = compiled_node(*drawn), slow_node(*drawn)
    expected, split, merits = node.ranked()
    for current in (NONE, *node.features):
        feature, threshold, best, own = best_split(arrays, 0, current)
        assert feature == (NONE if expected is None else expected)
        assert threshold == split.threshold
        np.testing.assert_allclose(best, split.merit, atol=1e-9)
        np.testing.assert_allclose(own, -math.inf if current == NONE else merits[current], atol=1e-9)
    for current in node.features:
        arrays.nodes["feature"][0] = current
        assert_settled(arrays, node, merits, merits[current], bound)


def assert_settled(arrays, node, merits, own, bound):
    """See that a proof holds where it is given, and that it is given where rough gains suffice for it."""
    best, rough = max(merits), ROUGHNESS_OF_GAIN
    bounds = [bound]
    if own > -math.inf:
        bounds += [best - own - TINY, best - own + 4.5 * rough, -best - TINY, 3.5 * rough - own]
    for allowed in (value for value in bounds if value > 0):
        settled = is_settled(arrays, 0, allowed)
        assert not settled or (own > -math.inf and best - own <= allowed and best >= -allowed)
        if len(node.observers) == 1:
            assert settled == (own > -math.inf)
        elif len(node.observers) == 2 and own > -math.inf and not is_unsure(node):
            assert settled or own + allowed <= 3 * rough or best - own + 4 * rough >= allowed
        else:
            assert not settled or len(node.observers) == 2
