"""The best split of a leaf is that of a search that leaves nothing out, and no bound of a gain is too low."""

import math

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from estimators._kernels.compile import njit
from estimators.trees._kernels import multilabel_arrays, multilabel_splitting
from estimators.trees._kernels.gaussian import observe
from estimators.trees._kernels.hoeffding import SKIP
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, MEAN, NONE, PRECISION, SQUARES
from tests.estimators.trees.kernels.slow_multilabel import Node
from tests.estimators.trees.kernels.slow_observers import UndecidedError, entropy

close = np.testing.assert_allclose


# parts of kernels are called by compiled functions only
@njit()
def begin(tree):
    """Return a new leaf that observes; its slot is not its place."""
    i = multilabel_arrays.take_node(tree, 1)
    multilabel_arrays.take_slot(tree, i)
    return i


@njit()
def learn(tree, i, x, codes, weight):
    for j in range(len(codes)):
        if codes[j] != SKIP:
            observe(tree, multilabel_arrays.start_observer(tree, tree.nodes[i].slot, j, codes[j]), x, weight)


@njit()
def best_two_splits(tree, i):
    return multilabel_splitting.best_two_splits(tree, i)


@njit()
def write_weights_below(tree, i, f, threshold, below):
    multilabel_splitting.write_weights_below(tree, tree.nodes[i].slot, f, threshold, below)


@njit()
def gain(before, below, observed, minimum):
    return multilabel_splitting._gain(before, below, observed, minimum)


@st.composite
def leaves(draw, d, n_labels):
    """Draw rows that a leaf observes, of which labels depend on features, more or less, and weights from before."""
    n, rng = draw(st.sampled_from((60, 200, 8, 1))), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    noise = draw(st.sampled_from((0.1, 1.0, 10.0)))
    edges = rng.choice(draw(st.sampled_from(((0.0, 1.5, -1.5), (0.3,)))), n_labels)
    codes = (X[:, np.arange(n_labels) % d] + noise * rng.normal(size=(n, n_labels)) > edges).astype(np.int64)
    codes[rng.random(codes.shape) < draw(st.sampled_from((0.0, 0.3)))] = SKIP
    codes[:, rng.random(n_labels) < draw(st.sampled_from((0.0, 0.3)))] = SKIP
    # features that are equal, constant, or of few values
    X[:, d // 2] = draw(st.sampled_from((X[:, d // 2], X[:, 0], np.ones(n), np.round(X[:, 0]), np.sign(X[:, 0] - 1))))
    before = rng.choice(draw(st.sampled_from(((0.0, 5.0, 40.0), (0.0,), (0.0, 0.0, 0.7)))), (n_labels, 2))
    return X, codes, rng.choice((1.0, 0.5, 2.0), n), before


def fill_free_slot(tree):
    """Leave observers in the next slot, as another leaf may have done."""
    n = tree.weights.shape[1] * 2
    places = slice(tree.counts[0]["slot"] * n, (tree.counts[0]["slot"] + 1) * n)
    tree.observers["weight"][places] = 5.0
    for moment, value in ((MEAN, 0.3), (SQUARES, 4.0), (PRECISION, 0.5), (LOWEST, -9.0), (HIGHEST, 9.0)):
        tree.moments[places, moment] = value


def learnt(tree, i, leaf):
    """Let a leaf, and its twin, observe rows; return the twin."""
    X, codes, weights, before = leaf
    slow = Node(1, codes.shape[1])
    for label, pair in zip(slow.labels, before.tolist(), strict=True):
        label.weights = {value: weight for value, weight in enumerate(pair) if weight}
    for x, row, weight in zip(X, codes, weights, strict=True):
        learn(tree, i, x, row, weight)
        for label, code in zip(slow.labels, row.tolist(), strict=True):
            if code != SKIP:
                label.count(code, weight)
                label.observe(code, x, weight)
    tree.weights[i] = [[label.weights.get(value, 0.0) for value in (0, 1)] for label in slow.labels]
    return slow


def best_two(slow, d):
    """Return feature, threshold and merit of the best split, and the merit of the next best feature, as a search."""
    try:
        merits = [slow.best_threshold(f) for f in range(d)]
    except UndecidedError:
        reject()
    first, *others = sorted(range(d), key=lambda f: (-merits[f][0], -f))
    best, second = merits[first], merits[others[0]][0] if others else -math.inf
    if best[0] == -math.inf:
        return NONE, 0.0, best[0], second
    if second != best[0] and math.isclose(best[0], second, rel_tol=1e-9, abs_tol=1e-9):
        reject()
    return first, best[1], best[0], second


@pytest.mark.slow
@settings(max_examples=100)
@given(st.sampled_from((3, 8, 1)), st.sampled_from((1, 2, 5)), st.data())
def test_the_best_splits_are_those_of_a_search(d, n_labels, data):
    tree, slow = multilabel_arrays.new_tree(d, n_labels), {}
    for _ in range(2):
        tree = multilabel_arrays.grow(tree)
        fill_free_slot(tree)
        i = begin(tree)
        slow[i] = learnt(tree, i, data.draw(leaves(d, n_labels)))
    for i, leaf in slow.items():
        feature, threshold, best, second = best_two_splits(tree, i)
        expected = best_two(leaf, d)
        assert (feature, threshold) == expected[:2]
        assert [best, second] == pytest.approx(expected[2:], abs=1e-9)
        for f, at in ((d - 1, 0.2), (0, 1.0), (max(feature, 0), threshold)):
            below = np.full((n_labels, 2), np.nan)
            write_weights_below(tree, i, f, at, below)
            parts, _ = leaf.parts(f, at)
            close(below, [[part.get(value, 0.0) for value in (0, 1)] for part in parts], atol=1e-9)


@st.composite
def parts(draw):
    """Draw the weights of the values of labels, and the parts on the left, of about the same shares or of any."""
    n_labels, rng = draw(st.sampled_from((1, 2, 4))), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    observed = rng.choice(draw(st.sampled_from(((1.0,), (1.0, 0.0), (1.0, 1e-3)))), (n_labels, 2))
    observed *= rng.uniform(1, 50, (n_labels, 2))
    shares = draw(st.sampled_from((0.5, 0.3, 0.9, 0.0102, 0.0098, 0.9898, 0.9902)))
    spread = draw(st.sampled_from((1e-3, 0.1, 1.0)))
    shares = np.clip(shares + spread * shares * rng.uniform(-1, 1, observed.shape), 0, 1)
    ends = rng.random(observed.shape) < draw(st.sampled_from((0.0, 0.0, 0.3)))
    shares = np.where(ends, rng.integers(0, 2, observed.shape), shares)
    observed[0, 0] = max(observed[0, 0], 1.0)
    return shares * observed, observed


@pytest.mark.slow
@settings(max_examples=200)
@given(parts(), st.sampled_from((0.0, 0.4)), st.sampled_from((0.0, 1e-3, 1.0, math.inf)))
def test_a_gain_is_left_out_only_if_it_is_under_the_minimum(weights, excess, slack):
    below, observed = weights
    sides, total = (below, observed - below), observed.sum()
    entropies = [entropy(label) if label.sum() else 0.0 for label in observed]
    after = [
        sum(side[j].sum() * entropy(side[j]) for side in sides if side[j].sum()) / label.sum() if label.sum() else 0.0
        for j, label in enumerate(observed)
    ]
    known = np.mean(entropies) - np.mean(after)
    found = gain(np.mean(entropies) + excess, below, observed, known - slack)
    if min(side.sum() for side in sides) / total > 0.01:
        assert found == pytest.approx(known + excess, abs=1e-9)
    else:
        assert found == -math.inf
