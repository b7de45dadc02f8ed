"""Parameters of the multi-label Hoeffding adaptive tree, rows to learn, and room for the work on a row."""

from typing import NamedTuple

from estimators._kernels.compile import HOT, njit
from estimators._kernels.randomness import advance, uniform
from estimators._typing import Array, Integer


class LeafParams(NamedTuple):
    """When a leaf has many rows, and how fast its regressions learn."""

    cardinality: float
    entropy: float
    learning_rate: float
    intercept_rate: float


class AdaptiveParams(NamedTuple):
    """Parameters of a tree; `poisson_limit` is exp(-rate)."""

    grace_period: float
    delta: float
    tau: float
    drift_window: float
    switch_significance: float
    poisson_limit: float
    max_bytes: float
    leaf: LeafParams


class Row(NamedTuple):
    """A row to learn: features, labels, and its weight."""

    x: Array
    y: Array
    weight: float


class Chunk(NamedTuple):
    """Rows to predict and to learn: features, labels, and weights (if empty, all are 1)."""

    X: Array
    Y: Array
    weights: Array


class Scratch(NamedTuple):
    """Room for the work on a row, so that compiled loops own no arrays."""

    votes: Array  # (n_kept, n_labels, 2): of the leaves that were asked last for the row at hand
    owners: Array  # (n_kept + 1,): their nodes, and how many leaves were asked
    logits: Array  # (n_models * n_labels,): logits, then gradients, of all regressions of a leaf
    filled: Array  # (n_features + 1,): columns of the row that are not 0, and last their number
    distances: Array  # (n_neighbors + 1,): of the nearest rows so far
    places: Array  # (n_neighbors + 1,): the nearest rows so far
    repeats: Array  # (n_models,): how often each regression learns the row
    sides: Array  # (2, n_labels + 2): weights on both sides of a threshold


@njit(**HOT)
def begin_row(scratch: Scratch, x: Array, places: Array) -> None:
    """Forget the votes for the row before, and list the columns of the new row that are numbers other than 0.

    `places` tells nominal features, as `Categories` does: regressions do not see them.
    """
    scratch.owners[-1] = 0
    n = 0
    for f in range(len(x)):
        scratch.filled[n] = f
        n += x[f] != 0.0 and (len(places) == 0 or places[f] < 0)
    scratch.filled[-1] = n


@njit(**HOT)
def poisson(state: Integer, limit: float) -> tuple[int, Integer]:
    """Draw from Poisson(-log(limit)) by Knuth's product of uniform numbers; return the draw and the new state."""
    k, product = 0, 1.0
    while product > limit:
        state = advance(state)
        product *= uniform(state)
        k += 1
    return k - 1, state
