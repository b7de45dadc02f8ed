"""Worlds look scores up where a loop over rows finds them, and draw features where they say."""

import numpy as np
import pytest

from mlstream.generators.synthetic.concept_functions import Hyperplane, RandomRBF, RandomTree, make_world


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
    world = RandomRBF(3, rng)
    X, weights = rng.random((200, 3)), rng.normal(size=(len(world.shares), 2))
    expected = [weights[min(range(len(world.place)), key=lambda k: np.sum((world.place[k] - row) ** 2))] for row in X]
    np.testing.assert_array_equal(world.score(X, weights), expected)


@pytest.mark.parametrize("kind", ["hyperplane", "tree", "rbf"])
def test_shares_make_the_variance_of_a_score(kind):
    rng = np.random.default_rng(2)
    world = make_world(kind, 4, rng)
    weights = rng.normal(size=(len(world.shares), 3))
    score = world.score(world.draw(60000, world.place, world.place, 0.0, rng), weights)
    np.testing.assert_allclose((score**2).mean(axis=0), world.shares @ weights**2, rtol=0.05)
    assert world.partitions == (abs(world.shares.sum() - 1) < 1e-9)


@pytest.mark.parametrize("kind", ["hyperplane", "tree", "rbf"])
def test_the_way_between_places_begins_and_ends_there(kind):
    world = make_world(kind, 3, np.random.default_rng(3))
    other = world.move(1.0, np.random.default_rng(4))
    for progress, place in ((0.0, world.place), (1.0, other)):
        on_the_way, there = (
            world.draw(50, world.place if far else place, other if far else place, progress, np.random.default_rng(5))
            for far in (True, False)
        )
        np.testing.assert_allclose(on_the_way, there)


def test_uniform_features_stay_in_the_cube_wherever_they_drift():
    world = Hyperplane(3)
    place = world.move(1.0, np.random.default_rng(6))
    X = world.draw(20000, place, place, 0.0, np.random.default_rng(7))
    assert X.min() >= 0
    assert X.max() <= 1
    # The mean of U ** k is 1 / (k + 1).
    np.testing.assert_allclose(X.mean(axis=0), 1 / (np.exp(place) + 1), atol=0.01)
