"""Search the weights of votes for the lowest PRAGMA: by annealing, by exact line searches, or one after the other."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from scipy import sparse

from estimators._typing import Array
from estimators.pragma._kernels.vote_search import anneal, sweep
from estimators.pragma._kernels.votes import Losses, Votes, decide, objective
from metrics._validation import require_choice, require_integer

Search = Literal["exact", "annealing", "both"]
SEARCHES = ("exact", "annealing", "both")

# PRAGMA is in [0, 1] and rarely moves by more than a thousandth at a time
HOT, COLD = 1e-3, 1e-6
# votes that may be read by all searches in bags together: where rows are many, one search errs little
BAGGED_READS = 400_000
FEWEST_BAGS = 4
# a search of two classes reads every vote about once, one of more classes about so often
READS = 8
# standard deviations of the logarithm of a weight: of a move of the chain, and of a jump before a descent
STRIDE, JUMP = 0.25, 1.0
# factor by which a line search goes up and down at first
NEAR = 4.0


@dataclass(frozen=True)
class Effort:
    """How to search, and how long."""

    search: Search
    n_restarts: int
    n_moves: int
    n_bags: int = 0

    def __post_init__(self) -> None:
        require_choice(self.search, "search", SEARCHES)
        for name, minimum in (("n_restarts", 0), ("n_moves", 1), ("n_bags", 0)):
            require_integer(getattr(self, name), name, minimum)


@dataclass(frozen=True)
class Found:
    """What a search found: the weights of the classes, the PRAGMA they reach, and what was reached step by step."""

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
    """Compute the PRAGMA that weights reach."""
    return float(objective(losses, decide(votes, weights)))


def find_weights(votes: Votes, losses: Losses, effort: Effort, rng: np.random.RandomState) -> Found:
    """Search from equal weights; the product of the weights found is 1, and a class without any vote keeps weight 1.

    With bags, weights are geometric means over searches on rows drawn anew, class by class: the lowest point of a few
    rows' PRAGMA is far from that of other rows, their mean is nearer. The trace ends with what they reach on all rows.
    """
    found = _search(votes, losses, effort, rng)
    reads = len(votes.row_vote) * (1 if len(losses.share) == 2 else READS)
    n_bags = min(effort.n_bags, BAGGED_READS // reads)
    if n_bags < FEWEST_BAGS:
        return found
    bags = [_search(_draw_rows(votes, rng), losses, effort, rng).weights for _ in range(n_bags)]
    weights = np.exp(np.log(bags).mean(axis=0))
    value = evaluate(votes, losses, weights)
    return Found(weights, value, np.append(found.trace, value))


def _draw_rows(votes: Votes, rng: np.random.RandomState) -> Votes:
    """Draw as many rows of each class as there are, with replacement."""
    rows = np.concatenate([rng.choice(mine, len(mine)) for mine in _rows_by_class(votes.truth)])
    width = len(votes.class_start) - 1
    table = sparse.csr_array((votes.row_vote, votes.row_class, votes.row_start), shape=(len(votes.truth), width))
    return store(table[rows], votes.truth[rows])


def _rows_by_class(truth: Array) -> list[Array]:
    return [np.flatnonzero(truth == c) for c in np.unique(truth)]


def _search(votes: Votes, losses: Losses, effort: Effort, rng: np.random.RandomState) -> Found:
    movable = np.flatnonzero(np.diff(votes.class_start))
    start = np.ones(len(losses.share))
    found = Found(start, evaluate(votes, losses, start), np.empty(0))
    if effort.search != "exact":
        weights, trace = anneal(votes, losses, start, *draw_moves(movable, effort.n_moves, rng))
        found = _lower(found, Found(weights, evaluate(votes, losses, weights), trace))
    if effort.search != "annealing":
        found = _descend_again(votes, losses, found, movable, effort.n_restarts, rng)
    weights = found.weights.copy()
    weights[movable] /= np.exp(np.log(weights[movable]).mean())
    return Found(weights, evaluate(votes, losses, weights), found.trace)


def draw_moves(movable: Array, n_moves: int, rng: np.random.RandomState) -> tuple[Array, Array, Array]:
    """Draw what makes a chain: the class to move, the factor of its weight, and the rise of PRAGMA that is accepted.

    A rise d is accepted with probability exp(-d / T), the temperature T falling geometrically: that is, if d is no more
    than -T times the logarithm of a uniform number.
    """
    temperatures = np.geomspace(HOT, COLD, n_moves)
    movers = rng.choice(movable, size=n_moves)
    factors = np.exp(rng.normal(scale=STRIDE, size=n_moves))
    return movers, factors, -temperatures * np.log1p(-rng.random_sample(n_moves))


def _descend_again(
    votes: Votes, losses: Losses, found: Found, movable: Array, n_restarts: int, rng: np.random.RandomState
) -> Found:
    """Descend from what was found, then again and again from a jump away from the best so far.

    Lines are searched near the present weights, where few rows change hands, and at last as far as they go.
    """
    if len(movable) <= 2:  # one ratio: its line is all there is
        weights, trace = sweep(votes, losses, found.weights, movable[:1], np.inf)
        return _lower(found, Found(weights, evaluate(votes, losses, weights), trace))
    descend = partial(_descend, votes, losses, movable=movable, rng=rng)
    found = _lower(found, descend(found.weights, reach=NEAR))
    found = _lower(found, descend(found.weights, reach=np.inf))
    for _ in range(n_restarts):
        start = found.weights.copy()
        start[movable] *= np.exp(rng.normal(scale=JUMP, size=len(movable)))
        again = descend(start, reach=NEAR)
        if again.value < found.value:
            again = _lower(again, descend(again.weights, reach=np.inf))
        found = _lower(found, again)
    return found


def _descend(
    votes: Votes, losses: Losses, weights: Array, *, movable: Array, reach: float, rng: np.random.RandomState
) -> Found:
    """Search along one weight after another, in random order, until no single weight in reach can lower PRAGMA."""
    value, traces = evaluate(votes, losses, weights), []
    while True:
        weights, trace = sweep(votes, losses, weights, rng.permutation(movable), reach)
        traces.append(trace)
        if not trace[-1] < value:
            return Found(weights, float(trace[-1]), np.concatenate(traces))
        value = trace[-1]


def _lower(one: Found, two: Found) -> Found:
    """Choose the lower of two, the first of equals; the trace is that of both."""
    chosen = two if two.value < one.value else one
    return Found(chosen.weights, chosen.value, np.concatenate([one.trace, two.trace]))
