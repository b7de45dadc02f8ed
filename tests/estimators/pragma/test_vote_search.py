"""The searches, held to full recomputations in NumPy: every move of the chain, every point of a line."""

from itertools import product

import numpy as np
import pytest

from estimators.pragma._kernels.vote_search import anneal, search_line
from estimators.pragma._kernels.votes import decide
from estimators.pragma._preferences import Preferences
from estimators.pragma._vote_search import SearchOptions, draw_moves, evaluate, find_weights, store
from estimators.pragma._vote_weights import usable_votes
from metrics import pragma
from tests.loops import check_all


def problem(n_rows=300, n_classes=5, n_trees=7, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_classes, size=n_rows, p=rng.dirichlet(np.ones(n_classes)))
    chances = rng.dirichlet(np.full(n_classes, 0.5), size=n_rows)
    chances[np.arange(n_rows), truth] += 0.3
    votes = np.array([rng.multinomial(n_trees, row / row.sum()) for row in chances])
    importance = {c: float(v) for c, v in enumerate(rng.uniform(0.5, 10, n_classes))}
    compromise = {c: tuple(pair) for c, pair in enumerate(rng.uniform(0, 0.95, (n_classes, 2)).tolist())}
    return votes, truth, {"importance": importance, "compromise": compromise}


def prepared(votes, truth, wanted):
    preferences = Preferences.from_options(wanted["importance"], wanted["compromise"], list(range(votes.shape[1])))
    return store(votes, truth), preferences.losses(truth)


def slow_value(votes, truth, wanted, weights):
    return pragma(truth, (votes * weights).argmax(axis=1), **wanted)


def slow_chain(votes, truth, wanted, movers, factors, limits):
    weights = np.ones(votes.shape[1])
    value, trace = slow_value(votes, truth, wanted, weights), []
    best, lowest = weights.copy(), value
    for c, factor, limit in zip(movers, factors, limits, strict=True):
        moved = weights.copy()
        moved[c] *= factor
        if (new := slow_value(votes, truth, wanted, moved)) - value <= limit:
            weights, value = moved, new
        if value < lowest:
            best, lowest = weights, value
        trace.append(value)
    return best, np.array(trace)


def test_the_chain_is_that_of_a_full_recomputation_move_by_move():
    def check(seed, votes_as):
        votes, truth, wanted = problem(seed=seed)
        if votes_as is float:
            votes = votes / 7 + np.random.default_rng(seed).random(votes.shape)
        movers, factors, limits = draw_moves(np.arange(5), 300, np.random.RandomState(seed))
        moves = movers, factors, 10 * limits
        best, trace = anneal(*prepared(votes, truth, wanted), np.ones(5), *moves)
        slow_best, slow_trace = slow_chain(votes, truth, wanted, *moves)
        assert np.array_equal(best, slow_best)
        assert trace == pytest.approx(slow_trace, abs=1e-12)
        assert (np.diff(slow_trace) > 0).any()
        assert (np.diff(slow_trace) < 0).any()

    check_all(product(range(4), [int, float]), lambda case: check(*case))


def test_a_rise_is_accepted_as_often_as_the_temperature_says():
    _, _, limits = draw_moves(np.arange(3), 200_000, np.random.RandomState(0))
    hot = limits[:2000]
    assert np.mean(hot >= 1e-3) == pytest.approx(np.exp(-1), abs=0.04)
    assert limits[-2000:].mean() == pytest.approx(1e-6, rel=0.2)


def between_breakpoints(votes, weights, c):
    """Weights between any two at which a row changes hands, and beyond."""
    others = (np.delete(votes, c, axis=1) * np.delete(weights, c)).max(axis=1)
    points = np.unique((others / np.where(votes[:, c] > 0, votes[:, c], np.nan)).round(12))
    points = points[np.isfinite(points) & (points > 0)]
    return [points[0] / 2, *np.sqrt(points[1:] * points[:-1]), points[-1] * 2]


def test_a_line_search_finds_the_best_of_its_line():
    def check(seed):
        votes, truth, wanted = problem(n_rows=60, seed=seed)
        weights = np.exp(np.random.default_rng(seed).normal(size=5))
        stored, losses = prepared(votes, truth, wanted)
        for c in range(5):
            line = [np.where(np.arange(5) == c, w, weights) for w in between_breakpoints(votes, weights, c)]
            lowest = min(slow_value(votes, truth, wanted, point) for point in [weights, *line])
            found = weights.copy()
            found[c] = search_line(stored, losses, decide(stored, weights), c, np.inf)
            assert slow_value(votes, truth, wanted, found) == pytest.approx(lowest, abs=1e-9)

    check_all(range(6), check)


def test_a_line_search_of_short_reach_finds_the_best_within_it():
    def check(seed):
        votes, truth, wanted = problem(n_rows=60, seed=seed)
        weights = np.exp(np.random.default_rng(seed).normal(size=5))
        stored, losses = prepared(votes, truth, wanted)
        for c in range(5):
            line = [w for w in between_breakpoints(votes, weights, c) if weights[c] / 2 < w < weights[c] * 2]
            points = [np.where(np.arange(5) == c, w, weights) for w in [weights[c], *line]]
            lowest = min(slow_value(votes, truth, wanted, point) for point in points)
            found = weights.copy()
            found[c] = search_line(stored, losses, decide(stored, weights), c, 2.0)
            assert weights[c] / 2 < found[c] < weights[c] * 2
            assert slow_value(votes, truth, wanted, found) <= lowest + 1e-9

    check_all(range(6), check)


def test_small_votes_of_a_row_and_those_of_unvoted_classes_are_not_used():
    votes = np.random.default_rng(0).integers(6, size=(200, 7)).astype(float)
    unvoted = np.arange(7) == 2
    others = np.where(unvoted, 0.0, votes)
    third = np.sort(others, axis=1)[:, -3, np.newaxis]
    assert np.array_equal(usable_votes(votes, unvoted), np.where(others < third, 0.0, others))
    assert np.array_equal(usable_votes(votes[:, :3], unvoted[:3]), others[:, :3])


@pytest.mark.parametrize("search", ["exact", "annealing", "both"])
def test_what_is_found_is_measured_right_and_no_worse_than_equal_weights(search):
    votes, truth, wanted = problem()
    stored, losses = prepared(votes, truth, wanted)
    found = find_weights(stored, losses, SearchOptions(search, 1, 2000), np.random.RandomState(0))
    assert found.value == pytest.approx(slow_value(votes, truth, wanted, found.weights))
    assert found.value < slow_value(votes, truth, wanted, np.ones(5))
    assert found.value == pytest.approx(min(found.trace))
    assert np.prod(found.weights) == pytest.approx(1)


def test_no_single_weight_improves_what_an_exact_search_found():
    votes, truth, wanted = problem(n_rows=80, seed=3)
    stored, losses = prepared(votes, truth, wanted)
    found = find_weights(stored, losses, SearchOptions("exact", 0, 1), np.random.RandomState(0))
    for c in range(5):
        for weight in between_breakpoints(votes, found.weights, c):
            point = np.where(np.arange(5) == c, weight, found.weights)
            assert slow_value(votes, truth, wanted, point) >= found.value - 1e-9


def test_more_restarts_are_never_worse():
    stored, losses = prepared(*problem(seed=5))
    values = [
        find_weights(stored, losses, SearchOptions("exact", n, 1), np.random.RandomState(0)).value
        for n in (0, 2, 5, 20)
    ]
    assert values == sorted(values, reverse=True)


def test_a_class_without_votes_keeps_its_weight():
    votes, truth, wanted = problem()
    votes[:, 2] = 0
    votes[:, 0] += 1
    stored, losses = prepared(votes, truth, wanted)
    for search in ("exact", "annealing", "both"):
        found = find_weights(stored, losses, SearchOptions(search, 3, 500), np.random.RandomState(0))
        assert found.weights[2] == 1
        assert found.weights[[0, 1, 3, 4]].prod() == pytest.approx(1)


def test_a_vote_of_zero_never_wins():
    stored = store(np.array([[0, 3], [2, 0]]), np.array([0, 1]))
    assert decide(stored, np.array([1e300, 1e-300])).winner.tolist() == [1, 0]


def test_of_equal_scores_the_first_class_wins():
    stored, losses = prepared(np.array([[1, 1], [1, 1]]), np.array([0, 1]), {"importance": 1.0, "compromise": (0, 0)})
    assert decide(stored, np.ones(2)).winner.tolist() == [0, 0]
    assert evaluate(stored, losses, np.ones(2)) == pytest.approx(pragma([0, 1], [0, 0], compromise=(0, 0)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("best", 0, 1), "search must be one of"),
        (("exact", -1, 1), "n_restarts must be an integer of at least 0"),
        (("exact", 0, 0), "n_moves must be an integer of at least 1"),
        (("exact", 0.5, 1), "n_restarts must be an integer"),
    ],
)
def test_invalid_search_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SearchOptions(*options)


def test_weights_of_few_rows_vary_less_with_bags():
    wanted = {"importance": {0: 1.0, 1: 3.0}, "compromise": (0.5, 0.5)}
    ratios = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = np.append(rng.integers(2, size=58), [0, 1])
        share = 1 / (1 + np.exp(-rng.normal(2.0 * truth - 1.0)))
        votes = np.column_stack([1 - share, share])
        preferences = Preferences.from_options(wanted["importance"], wanted["compromise"], [0, 1])
        stored, losses = store(votes, truth), preferences.losses(truth)
        for n_bags in (0, 20):
            found = find_weights(stored, losses, SearchOptions("exact", 1, 1, n_bags), np.random.RandomState(0))
            assert found.weights.prod() == pytest.approx(1)
            assert found.trace[-1 if n_bags else np.argmin(found.trace)] == pytest.approx(found.value)
            assert found.value == pytest.approx(slow_value(votes, truth, wanted, found.weights))
            ratios.append(np.log(found.weights[1] / found.weights[0]))
    assert np.std(ratios[1::2]) < np.std(ratios[::2])


def test_many_rows_are_searched_once():
    stored, losses = prepared(*problem(n_rows=20_000, n_classes=3))
    once, bagged = (
        find_weights(stored, losses, SearchOptions("exact", 0, 1, n_bags), np.random.RandomState(0))
        for n_bags in (0, 10)
    )
    assert np.array_equal(once.weights, bagged.weights)
