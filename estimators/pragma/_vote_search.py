"""Search the weights of votes for the lowest PRAGMA: by annealing, by exact line searches, or one after the other."""

from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from scipy import sparse

from estimators._typing import Array
from estimators.pragma._kernels.vote_search import anneal, sweep
from estimators.pragma._kernels.votes import Losses, Votes, decide, objective, totals
from metrics.validation import require_choice, require_integer

Search = Literal["exact", "annealing", "both"]

# PRAGMA is in [0, 1] and rarely moves by more than a thousandth at a time
FIRST_TEMPERATURE, LAST_TEMPERATURE = 1e-3, 1e-6
# number of votes that all searches in bags may read together: with many rows, one search is precise enough
MAX_BAGGED_READS = 400_000
MIN_BAGS = 4
# how often a search reads every vote, with more than two classes; with two, about once
READS_PER_VOTE = 8
# standard deviations of the logarithm of a weight: of a move of the chain, and of a jump before a descent
MOVE_SCALE, JUMP_SCALE = 0.25, 1.0
# factor by which a first line search changes a weight at most, up or down
FIRST_REACH = 4.0
# parts of the way from the mean weights of bags to those of all rows
N_PARTS = 32


@dataclass(frozen=True)
class SearchOptions:
    """Options of the search: the method, and how long it runs."""

    search: Search
    n_restarts: int
    n_moves: int
    n_bags: int = 0

    def __post_init__(self) -> None:
        require_choice(self.search, "search", get_args(Search))
        for name, minimum in (("n_restarts", 0), ("n_moves", 1), ("n_bags", 0)):
            require_integer(getattr(self, name), name, minimum)


@dataclass(frozen=True)
class SearchResult:
    """Result of a search: weights of the classes, the objective, and the PRAGMA after each step.

    The objective is PRAGMA, and more below a floor.
    """

    weights: Array
    value: float
    trace: Array


def store(votes: Array | sparse.csr_array, truth: Array) -> Votes:
    """Store votes (n_samples, n_classes), at least one in every row, by row and by class."""
    rows = sparse.csr_array(votes)
    columns = rows.tocsc()
    return Votes(
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int32),
        rows.data.astype(np.float64),
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.int32),
        columns.data.astype(np.float64),
        truth.astype(np.int32),
    )


def evaluate(votes: Votes, losses: Losses, weights: Array) -> float:
    """Compute the objective for given weights: PRAGMA, if no recall or precision is below its floor."""
    return float(objective(*totals(losses, decide(votes, weights))))


def measure(votes: Votes, losses: Losses, weights: Array) -> tuple[float, Array]:
    """Compute, for given weights, PRAGMA and what recall and precision of each class lack to their floors."""
    state = decide(votes, weights)
    pragma, _ = totals(losses, state)
    lacking = np.zeros((len(weights), 2))
    if len(losses.floors):
        counted = np.flatnonzero(losses.share)
        rows = np.column_stack([losses.n_true, np.maximum(state.predicted, 1)])[counted]
        lacking[counted] = np.maximum(losses.floors[counted] - state.hits[counted, np.newaxis] / rows, 0.0)
    return float(pragma), lacking


def find_weights(votes: Votes, losses: Losses, options: SearchOptions, rng: np.random.RandomState) -> SearchResult:
    """Search from equal weights; the product of the result is 1, and a class without any vote keeps weight 1.

    With bags, weights are geometric means over searches on rows resampled class by class: the optimum for a few rows is
    far from that for other rows, and the mean of several is nearer. If the mean is below a floor on all rows, so much
    of the way to the weights of all rows is gone as reaches it. The trace ends with the PRAGMA on all rows.
    """
    found = _search(votes, losses, options, rng)
    reads = len(votes.row_vote) * (1 if len(losses.share) == 2 else READS_PER_VOTE)
    n_bags = min(options.n_bags, MAX_BAGGED_READS // reads)
    if n_bags < MIN_BAGS:
        return found
    bags = [_search(_draw_rows(votes, rng), losses, options, rng).weights for _ in range(n_bags)]
    weights = _nearest(votes, losses, np.exp(np.log(bags).mean(axis=0)), found.weights)
    pragma, _ = measure(votes, losses, weights)
    return SearchResult(weights, evaluate(votes, losses, weights), np.append(found.trace, pragma))


def _nearest(votes: Votes, losses: Losses, start: Array, end: Array) -> Array:
    """Return the weights nearest to the start, on the way to the end, that lack no more to the floors than the end."""
    lacking = measure(votes, losses, end)[1].sum()
    for part in np.linspace(0.0, 1.0, N_PARTS + 1):
        weights = start ** (1.0 - part) * end**part
        if measure(votes, losses, weights)[1].sum() <= lacking:
            return weights
    return end


def _draw_rows(votes: Votes, rng: np.random.RandomState) -> Votes:
    """Draw as many rows of each class as there are, with replacement."""
    by_class = (np.flatnonzero(votes.truth == c) for c in np.unique(votes.truth))
    rows = np.concatenate([rng.choice(mine, len(mine)) for mine in by_class])
    width = len(votes.class_start) - 1
    table = sparse.csr_array((votes.row_vote, votes.row_class, votes.row_start), shape=(len(votes.truth), width))
    return store(table[rows], votes.truth[rows])


def _search(votes: Votes, losses: Losses, options: SearchOptions, rng: np.random.RandomState) -> SearchResult:
    movable = np.flatnonzero(np.diff(votes.class_start))
    start = np.ones(len(losses.share))
    found = SearchResult(start, evaluate(votes, losses, start), np.empty(0))
    if options.search != "exact":
        weights, trace = anneal(votes, losses, start, *draw_moves(movable, options.n_moves, rng))
        found = _better(found, SearchResult(weights, evaluate(votes, losses, weights), trace))
    if options.search != "annealing":
        found = _descend_again(votes, losses, found, movable, options.n_restarts, rng)
    weights = found.weights.copy()
    weights[movable] /= np.exp(np.log(weights[movable]).mean())
    return SearchResult(weights, evaluate(votes, losses, weights), found.trace)


def draw_moves(movable: Array, n_moves: int, rng: np.random.RandomState) -> tuple[Array, Array, Array]:
    """Draw the moves of a chain: the class, the factor of its weight, and the rise of PRAGMA that is accepted.

    A rise d is accepted with probability exp(-d / T), the temperature T falling geometrically: that is, if d is no more
    than -T times the logarithm of a uniform number.
    """
    temperatures = np.geomspace(FIRST_TEMPERATURE, LAST_TEMPERATURE, n_moves)
    movers = rng.choice(movable, size=n_moves)
    factors = np.exp(rng.normal(scale=MOVE_SCALE, size=n_moves))
    return movers, factors, -temperatures * np.log1p(-rng.random_sample(n_moves))


def _descend_again(
    votes: Votes, losses: Losses, found: SearchResult, movable: Array, n_restarts: int, rng: np.random.RandomState
) -> SearchResult:
    """Descend from a result, then `n_restarts` times from a random jump away from the best weights so far.

    Lines are searched near the current weights first, where few rows change class, and without a limit at the end.
    """
    if len(movable) <= 2:  # the ratio of two weights is all that matters
        weights, trace, _ = sweep(votes, losses, found.weights, movable[:1], np.inf)
        return _better(found, SearchResult(weights, evaluate(votes, losses, weights), trace))
    descend = partial(_descend, votes, losses, movable=movable, rng=rng)
    found = _better(found, descend(found.weights, reach=FIRST_REACH))
    found = _better(found, descend(found.weights, reach=np.inf))
    for _ in range(n_restarts):
        start = found.weights.copy()
        start[movable] *= np.exp(rng.normal(scale=JUMP_SCALE, size=len(movable)))
        again = descend(start, reach=FIRST_REACH)
        if again.value < found.value:
            again = _better(again, descend(again.weights, reach=np.inf))
        found = _better(found, again)
    return found


def _descend(
    votes: Votes, losses: Losses, weights: Array, *, movable: Array, reach: float, rng: np.random.RandomState
) -> SearchResult:
    """Search along one weight after another, in random order, until no single weight within reach is better."""
    value, traces = evaluate(votes, losses, weights), []
    while True:
        weights, trace, lowest = sweep(votes, losses, weights, rng.permutation(movable), reach)
        traces.append(trace)
        if not lowest < value:
            return SearchResult(weights, float(lowest), np.concatenate(traces))
        value = lowest


def _better(one: SearchResult, two: SearchResult) -> SearchResult:
    """Return the result of lower objective, the first on a tie, with the traces of both."""
    chosen = two if two.value < one.value else one
    return SearchResult(chosen.weights, chosen.value, np.concatenate([one.trace, two.trace]))
