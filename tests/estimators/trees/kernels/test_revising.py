"""Trees that revise their splits learn as trees of objects do, in chunks, with bounds on memory and depth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.trees._kernels.hoeffding import SKIP, TreeChunk, predict
from estimators.trees._kernels.revising import RevisionParams, learn
from estimators.trees._kernels.tree_arrays import NONE, new_trees
from tests.estimators.trees.kernels import comparing
from tests.estimators.trees.kernels.slow_observers import UndecidedError
from tests.estimators.trees.kernels.slow_revising import SlowRevisingTree

N_TREES, FIRST = 2, 1
# for all nodes, for none, and for a few beside their observers
ENOUGH, BOUND = (1e9,), (1e9, 0.0, 800.0, 1200.0, 1600.0, 2400.0)


def params_of(memory):
    """Draw parameters; weights of rows are multiples of a half, and never add up to a period."""
    return st.builds(
        RevisionParams,
        st.sampled_from((9.25, 2.25)),
        st.sampled_from((0.97, 0.9, 0.3)),
        st.sampled_from((0.3, 0.0, 0.1)),
        comparing.DEPTHS,
        st.sampled_from(memory),
        st.sampled_from((1.25, 5.25, 20.25)),
        st.sampled_from((1.0, 1.0, 0.99, 0.8)),
    )


@st.composite
def streams(draw, third):
    """Draw rows whose classes follow one feature after the other, and no feature at times; and weights or none."""
    n, d = draw(st.sampled_from((150, 100, 200, 40))), draw(st.sampled_from((3, 2, 1)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.random((n, d)) - 0.5
    epochs = np.arange(n) // draw(st.sampled_from((25, 40, 100)))
    codes = np.empty((n, FIRST + N_TREES), np.int64)
    for k in range(codes.shape[1]):
        features = rng.integers(0, d, epochs[-1] + 1)[epochs]
        noise = rng.choice(draw(st.sampled_from(((0.0, 1.0, 0.5), (0.1, 0.5, 0.9), (0.05,)))), epochs[-1] + 1)[epochs]
        codes[:, k] = (X[np.arange(n), features] > 0) ^ (rng.random(n) < noise)
    if third == "often":
        codes[rng.random(codes.shape) < draw(st.sampled_from((0.02, 0.2)))] = comparing.N_CLASSES - 1
    codes[n // 2 :] += third == "late"
    codes[rng.random(codes.shape) < draw(st.sampled_from((0.0, 0.2)))] = SKIP
    # columns that equal others, of few values, and that never vary
    X = X[:, rng.integers(0, d, d)] if draw(st.integers(0, 3)) == 0 else X
    X = np.round(X, draw(st.sampled_from((16, 16, 1)))) * rng.choice(
        draw(st.sampled_from(((1.0,), (1.0,), (1.0, 0.0)))), d
    )
    weights = rng.choice((1.0, 0.0, 2.5, 0.5), n if draw(st.booleans()) else 0)
    if third == "far":
        # one row is so far away, and so light, that no threshold divides the others
        i = n * 3 // 4
        X[i, : draw(st.sampled_from((d, 1)))], codes[i], weights[i : i + 1] = 1e4, comparing.N_CLASSES - 1, 0.5
    return np.ascontiguousarray(X), codes, weights


def learnt_slowly(stream, params, to_predict):
    """Let slow trees predict and learn rows until one is undecided; return them, their votes, and how many rows."""
    X, codes, weights = stream
    slow = [SlowRevisingTree(X.shape[1], params) for _ in range(N_TREES)]
    votes = np.full((len(X), N_TREES, comparing.N_CLASSES), np.nan)
    for i in range(len(X)):
        votes[i] = [comparing.expected_votes(tree.votes(to_predict[i])) for tree in slow]
        weight = weights[i] if len(weights) else 1.0
        for t, tree in enumerate(slow):
            if codes[i, FIRST + t] != SKIP and weight > 0:
                try:
                    tree.learn(X[i], codes[i, FIRST + t], weight)
                except UndecidedError:
                    return learnt_slowly((X[:i], codes[:i], weights[:i]), params, to_predict)
    return slow, votes, len(X)


def assert_same_branches(arrays, i, node):
    """Compare what branches keep of the rows that pass, and what leaves must not keep of a split."""
    ours = arrays.nodes[i]
    assert ours["active"] == node.active
    np.testing.assert_allclose([ours["weight"], ours["last_attempt"]], [node.weight, node.last_attempt], atol=1e-9)
    for side, child in zip(("left", "right"), node.children, strict=bool(node.children)):
        assert_same_branches(arrays, ours[side], child)
    if not node.children:
        assert (ours["left"], ours["right"], ours["threshold"]) == (NONE, NONE, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("third", "memory"), [("never", ENOUGH), ("far", ENOUGH), ("late", BOUND), ("often", BOUND)])
@settings(max_examples=25)
@given(st.data(), st.integers(1, 200), st.booleans(), st.booleans())
def test_every_vote_and_node_is_that_of_the_slow_tree(third, memory, data, size, other, voting):
    stream, params = data.draw(streams(third)), data.draw(params_of(memory))
    X = stream[0]
    to_predict = X[::-1].copy() if other else X
    slow, expected, n = learnt_slowly(stream, params, to_predict)
    (X, codes, weights), to_predict = (array[:n] for array in stream), to_predict[:n]
    arrays = new_trees(N_TREES, X.shape[1])
    votes = np.full((n if voting else 0, FIRST + N_TREES, comparing.N_CLASSES), 7.0)
    for part in comparing.chunks(n, size):
        chunk = TreeChunk(to_predict[part] if other else X[:0], X[part], codes[part], weights[part], FIRST)
        arrays = learn(arrays, chunk, params, votes[part])
    assert (votes[:, :FIRST] == 7).all()
    np.testing.assert_allclose(votes[:, FIRST:], expected[: len(votes)], atol=1e-7)
    comparing.assert_same_trees(arrays, slow)
    for t, tree in enumerate(slow):
        assert_same_branches(arrays, arrays.trees[t]["root"], tree.root)
    votes = np.full((n, FIRST + N_TREES, comparing.N_CLASSES), 7.0)
    predict(arrays, X, votes, FIRST)
    for x, row in zip(X, votes, strict=True):
        np.testing.assert_allclose(row[FIRST:], [comparing.expected_votes(tree.votes(x)) for tree in slow], atol=1e-7)
