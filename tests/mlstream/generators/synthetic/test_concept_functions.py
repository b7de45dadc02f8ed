"""Scores equal those of a loop over rows, and features have the distribution that is promised."""

import numpy as np
import pytest

from mlstream.generators.synthetic.concept_functions import (
    KINDS,
    Categorical,
    Hyperplane,
    Interactions,
    RandomRBF,
    RandomTree,
    make_functions,
)


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


def test_a_row_has_the_score_of_its_pairs():
    rng = np.random.default_rng(2)
    functions = Interactions(5, rng)
    X, weights = functions.draw(100, functions.place, functions.place, 0.0, rng), rng.normal(size=(2, 3))
    expected = np.zeros((100, 3))
    for row, x in enumerate(X):
        for pair, (a, b) in enumerate(functions._pairs):
            expected[row] += weights[pair] * (1 if (x[a] > 0.5) != (x[b] > 0.5) else -1)
    np.testing.assert_allclose(functions.score(X, weights), expected, atol=1e-12)


def test_effects_of_categories_and_of_pairs_have_the_shares_of_the_variance_that_are_stated():
    rng = np.random.default_rng(3)
    functions = Categorical(6, rng)
    chances = []
    for columns in functions._columns:
        odds = np.exp(functions.place[columns])
        chances.append(odds / odds.sum())
    X = functions.draw(20, functions.place, functions.place, 0.0, rng)
    first, score = 0, np.zeros(20)
    weights = rng.normal(size=len(functions.shares))
    for (a, b), (parts, shares) in zip(functions._pairs, functions._parts, strict=True):
        n_a, n_b = len(chances[a]), len(chances[b])
        square, own, mean = np.zeros((len(shares),) * 2), weights[first : first + len(shares)], 0.0
        effect_a, effect_b, table = np.zeros((n_a, len(shares))), np.zeros((n_b, len(shares))), {}
        for i in range(n_a):
            for j in range(n_b):
                part, chance = parts[i * n_b + j], chances[a][i] * chances[b][j]
                square += chance * np.outer(part, part)
                mean += chance * part
                effect_a[i] += chances[b][j] * part
                effect_b[j] += chances[a][i] * part
                table[i, j] = part @ own
        np.testing.assert_allclose(mean, 0, atol=1e-9)
        np.testing.assert_allclose(square, np.diag(shares), atol=1e-9)
        alone = chances[a] @ effect_a**2, chances[b] @ effect_b**2
        np.testing.assert_allclose([part.sum() for part in alone], 0.35)
        assert shares.sum() == pytest.approx(1)
        for row, x in enumerate(X):
            score[row] += table[int(np.flatnonzero(x[functions._columns[a]])[0]), x[functions._columns[b]].argmax()]
        first += len(shares)
    np.testing.assert_allclose(functions.score(X, weights[:, np.newaxis])[:, 0], score)


def test_categories_have_the_frequencies_of_their_logits_wherever_they_drift():
    functions = Categorical(4, np.random.default_rng(4))
    place = functions.move(1.0, np.random.default_rng(5))
    X = functions.draw(40000, place, place, 0.0, np.random.default_rng(6))
    for columns in functions._columns:
        odds = np.exp(place[columns])
        np.testing.assert_allclose(X[:, columns].mean(axis=0), odds / odds.sum(), atol=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_shares_make_the_variance_of_a_score(kind):
    rng = np.random.default_rng(2)
    functions = make_functions(kind, 4, rng)
    weights = rng.normal(size=(len(functions.shares), 3))
    score = functions.score(functions.draw(60000, functions.place, functions.place, 0.0, rng), weights)
    np.testing.assert_allclose((score**2).mean(axis=0), functions.shares @ weights**2, rtol=0.05)
    assert not functions.partitions or functions.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
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
