"""Scores equal those of a loop over rows, and features have the distribution that is promised."""

import numpy as np
import pytest

from mlstream.generators.synthetic.concept_functions import Hyperplane, RandomRBF, RandomTree, make_functions


def slow_leaf(tree, row):
    node, n_inner = 0, len(tree._split)
    while node < n_inner:
        node = 2 * node + (2 if row[tree._feature[node]] > tree._split[node] else 1)
    return node - n_inner


def test_a_row_has_the_score_of_its_leaf():
    rng = np.random.default_rng(0)
    tree = RandomTree(3, rng)
    X, weights = rng.random((500, 3)), rng.normal(size=(len(tree.shares), 2))
    expected = [weights[slow_leaf(tree, row)] for row in X]
    np.testing.assert_array_equal(tree.score(X, weights), expected)


def test_a_row_has_the_score_of_the_nearest_centre():
    rng = np.random.default_rng(1)
    functions = RandomRBF(3, rng)
    X, weights = rng.random((200, 3)), rng.normal(size=(len(functions.shares), 2))
    expected = [
        weights[min(range(len(functions.place)), key=lambda k: np.sum((functions.place[k] - row) ** 2))] for row in X
    ]
    np.testing.assert_array_equal(functions.score(X, weights), expected)


@pytest.mark.parametrize("kind", ["hyperplane", "tree", "rbf"])
def test_shares_make_the_variance_of_a_score(kind):
    rng = np.random.default_rng(2)
    functions = make_functions(kind, 4, rng)
    weights = rng.normal(size=(len(functions.shares), 3))
    score = functions.score(functions.draw(60000, functions.place, functions.place, 0.0, rng), weights)
    np.testing.assert_allclose((score**2).mean(axis=0), functions.shares @ weights**2, rtol=0.05)
    assert functions.partitions == (abs(functions.shares.sum() - 1) < 1e-9)


@pytest.mark.parametrize("kind", ["hyperplane", "tree", "rbf"])
def test_the_way_between_places_begins_and_ends_there(kind):
    functions = make_functions(kind, 3, np.random.default_rng(3))
    other = functions.move(1.0, np.random.default_rng(4))
    for progress, place in ((0.0, functions.place), (1.0, other)):
        on_the_way, there = (
            functions.draw(
                50, functions.place if far else place, other if far else place, progress, np.random.default_rng(5)
            )
            for far in (True, False)
        )
        np.testing.assert_allclose(on_the_way, there)


def test_uniform_features_stay_in_the_cube_wherever_they_drift():
    functions = Hyperplane(3)
    place = functions.move(1.0, np.random.default_rng(6))
    X = functions.draw(20000, place, place, 0.0, np.random.default_rng(7))
    assert X.min() >= 0
    assert X.max() <= 1
    # The mean of U ** k is 1 / (k + 1).
    np.testing.assert_allclose(X.mean(axis=0), 1 / (np.exp(place) + 1), atol=0.01)
