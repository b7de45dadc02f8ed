"""Both searches for weights find what new computations from all rows find."""

import itertools
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.pragma._kernels.vote_search import anneal, search_line, sweep
from estimators.pragma._kernels.votes import decide
from tests.estimators.pragma.kernels.slow_votes import objective, predict, problems
from tests.scattered import tables


def slow_chain(votes, truth, losses, n_classes, moves):
    """Return the best weights of the chain and PRAGMA after each move, every move computed again from all rows."""
    weights, trace = [1.0] * n_classes, []
    pragma, value = objective(truth, predict(votes, weights), losses)
    best, lowest = weights, value
    for c, factor, limit in moves:
        moved = [w * factor if k == c else w for k, w in enumerate(weights)]
        new_pragma, new = objective(truth, predict(votes, moved), losses)
        if new - value <= limit:
            weights, value, pragma = moved, new, new_pragma
            best, lowest = (weights, value) if value < lowest else (best, lowest)
        trace.append(pragma)
    return best, trace


@settings(max_examples=100)
@given(problems(), st.integers(0, 12), st.data())
def test_a_chain_moves_as_the_slow_one(problem, n, data):
    votes, truth, stored, losses = problem
    n_classes = len(losses.share)
    movers = data.draw(tables((n,), tuple(range(n_classes)), np.int64))
    factors, limits = data.draw(tables((n,), (0.5, 0.7, 2.0, 1.3))), data.draw(tables((n,), (1e-4, 0.03, 0.3)))
    best, trace = anneal(stored, losses, np.ones(n_classes), movers, factors, limits)
    moves = zip(movers.tolist(), factors.tolist(), limits.tolist(), strict=True)
    expected, slow_trace = slow_chain(votes, truth, losses, n_classes, moves)
    assert best.tolist() == expected
    assert trace.tolist() == slow_trace


def intervals(votes, truth, losses, line):
    """Return (objective, width, low, high) between any two weights at which a row changes hands.

    The line is the weights, the class whose weight varies, and how far, up or down.
    """
    weights, c, reach = line
    low, high = weights[c] / reach, weights[c] * reach
    points = {low, high}
    for row in votes:
        others = max(w * vote for k, (w, vote) in enumerate(zip(weights, row, strict=True)) if k != c)
        points |= {others / row[c]} if row[c] > 0 and low < others / row[c] < high else set()
    for a, b in itertools.pairwise(sorted(points)):
        middle = (a + b) / 2 if b < math.inf else 2 * a + 1
        moved = [middle if k == c else one for k, one in enumerate(weights)]
        yield objective(truth, predict(votes, moved), losses)[1], b / a if a else math.inf, a, b


@settings(max_examples=100)
@given(problems(), st.sampled_from([math.inf, 2.0]), st.data())
def test_the_widest_of_the_best_intervals_is_found(problem, reach, data):
    votes, truth, stored, losses = problem
    weights = data.draw(tables((len(losses.share),), (1.0, 0.6, 2.3))).tolist()
    for c in range(len(weights)):
        found = search_line(stored, losses, decide(stored, np.array(weights)), c, reach)
        now = objective(truth, predict(votes, weights), losses)[1]
        line = list(intervals(votes, truth, losses, (weights, c, reach)))
        least = min(value for value, *_ in line)
        if found == weights[c]:
            # floors are missed by sums in another order
            assert now <= least + 1e-9 * (1 + least)
            continue
        (value, width), *_ = [part[:2] for part in line if part[2] < found < part[3]]
        assert value <= least + 1e-9 * (1 + least)
        assert width >= max(part[1] for part in line if part[0] <= least) * (1 - 1e-9)


@settings(max_examples=100)
@given(problems(), st.data())
def test_a_sweep_is_one_line_after_another(problem, data):
    votes, truth, stored, losses = problem
    n_classes = len(losses.share)
    order = data.draw(tables((3,), tuple(range(n_classes)), np.int64))
    weights, trace, value = sweep(stored, losses, np.ones(n_classes), order, 4.0)
    expected, slow_trace = np.ones(n_classes), []
    for c in order:
        expected[c] = search_line(stored, losses, decide(stored, expected), c, 4.0)
        slow_trace.append(objective(truth, predict(votes, expected.tolist()), losses))
    assert weights.tolist() == expected.tolist()
    assert trace.tolist() == [pragma for pragma, _ in slow_trace]
    assert abs(value - slow_trace[-1][1]) <= 1e-9 * (1 + value)
