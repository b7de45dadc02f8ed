"""Votes of nodes are those of a walk from the root, and sums and cuts of votes those of lists."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.pragma._kernels.shrinking import add_shares, keep_greatest, shrink
from tests.scattered import tables


@st.composite
def trees(draw):
    """Draw the children of nodes numbered in the order of a descent, and the weights of the rows in them."""
    left, right, weights = [], [], []

    def grow(weight, depth):
        node = len(left)
        left.append(-1)
        right.append(-1)
        weights.append(weight)
        if depth < 3 and weight >= 2 and draw(st.booleans()):
            left[node], right[node] = grow(weight / 4, depth + 1), grow(weight * 3 / 4, depth + 1)
        return node

    grow(64.0, 0)
    return np.array(left), np.array(right), np.array(weights)


def path_to(node, left, right):
    """Return the nodes from the root to a node."""
    path = [node]
    while path[0]:
        path.insert(0, next(up for up in range(len(left)) if path[0] in (left[up], right[up])))
    return path


@settings(max_examples=100)
@given(trees(), st.integers(1, 3), st.sampled_from([0.0, 1.0, 50.0]), st.data())
def test_shares_are_shrunken_along_their_paths(tree, width, strength, data):
    left, right, weights = tree
    values = data.draw(tables((len(left), width), (0.0, 1.0, 0.3)))
    found = shrink(values, weights, left, right, strength)
    for node in range(len(left)):
        path = path_to(node, left.tolist(), right.tolist())
        for k in range(width):
            # Agarwal et al., equation 1: each step down counts by N / (N + strength) of the upper node
            steps = [
                (values[down, k] - values[up, k]) / (1 + strength / weights[up])
                for up, down in itertools.pairwise(path)
            ]
            assert abs(found[node, k] - (values[0, k] + sum(steps) + values[node, k]) / 2) < 1e-12


@settings(max_examples=100)
@given(st.integers(0, 4), st.data())
def test_shares_of_leaves_are_added(n, data):
    shares, total = data.draw(tables((3, 2), (0.5, 0.0, 2.0))), np.ones((5, 2))
    leaves, rows = data.draw(tables((n,), (0, 1, 2), np.int64)), data.draw(tables((n,), (0, 1, 4), np.int64))
    add_shares(shares, leaves, rows, total)
    pairs = list(zip(rows.tolist(), leaves.tolist(), strict=True))
    expected = [[1 + sum(shares[leaf, k] for row, leaf in pairs if row == i) for k in range(2)] for i in range(5)]
    assert total.tolist() == expected


@settings(max_examples=100)
@given(st.integers(0, 4), st.integers(1, 5), st.data())
def test_the_greatest_votes_of_a_row_stay_and_what_ties_with_them(n, width, data):
    votes, kept = data.draw(tables((n, width), (0.0, 1.0, 2.0, 0.5))), data.draw(st.integers(1, width))
    expected = [[vote if vote >= sorted(row)[-kept] else 0.0 for vote in row] for row in votes.tolist()]
    keep_greatest(votes, kept)
    assert votes.tolist() == expected
