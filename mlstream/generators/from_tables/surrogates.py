"""Surrogates: streams of drawn tables with the counts of a real table that is not available."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.cards.description import describe_again
from mlstream.generators._parameters import describe_call, require_count, require_seed
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.from_tables.clustering import task_stream
from mlstream.streams.stream import Dataset, Indicator, Stream, StreamParts

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_TOPICS = 8
# Share of a feature that depends on the labels; the rest is noise.
_SIGNAL = 0.6


class TableShape(NamedTuple):
    """The counts that a drawn table has exactly."""

    n_rows: int
    n_features: int
    n_labels: int
    n_label_sets: int  # distinct ones; the empty set counts if there are rows without labels
    n_unlabelled: int  # rows without any label
    n_positives: int  # ones in Y; divided by the rows, the cardinality


# Rows, features, labels, cardinality 4.376 and label sets: MULAN's table. Rows without labels: what the protocol's
# 42,177 rows leave of 43,907.
SHAPES = {"mediamill": TableShape(43_907, 120, 101, 6_555, 1_730, 192_137)}


def stand_in_stream(shape: str = "mediamill", *, seed: int = 0, n_tasks: int = 4, n_init: int = 10) -> Stream:
    """Make a stream of the shape of a real table that cannot be had. It is no real data.

    Parameters
    ----------
    shape : {"mediamill"}
        The table that it stands in for.
    seed : int
        Source of everything random.
    n_tasks : int
        Number of clusters of label vectors, before merging.
    n_init : int
        Random starts of the clustering.

    Returns
    -------
    Stream
        Tasks from the label sets of a drawn table, as `task_stream` makes them. The drawn table has as many rows,
        features, labels, positive labels, distinct label sets and rows without labels as the real one; which labels
        go together, and how features depend on them, is drawn.

    Raises
    ------
    ValueError
        If the shape is unknown, or an option is out of its range.

    Notes
    -----
    Label sets are drawn around a few topics with long-tailed frequencies. A feature is the mean of what the labels of
    its row add to it, and uniform noise; it lies in [0, 1] and has six digits, as Mediamill's have.

    Examples
    --------
    >>> stand_in_stream(seed=0, n_init=1)  # doctest: +ELLIPSIS
    Stream('mediamill-stand-in': 8 experiences of 4 tasks, 29... rows, 120 features, 101 labels)
    """
    if shape not in SHAPES:
        raise ValueError(f"shape must be one of {', '.join(SHAPES)}. Got {shape!r} instead.")
    name = f"{shape}-stand-in"
    stream = task_stream(draw_table(SHAPES[shape], seed, name), n_tasks=n_tasks, n_init=n_init, seed=seed, name=name)
    call = describe_call(stand_in_stream, {"shape": shape, "n_tasks": n_tasks, "n_init": n_init, "seed": seed})
    parts = StreamParts(stream.tasks, stream.experiences, stream.evaluation_sets)
    description = (
        f"STAND-IN for {shape}, not its data: drawn rows with its counts of rows, features, labels, positive labels "
        f"and label sets. For tests of scale and speed; scores on it say nothing about {shape}."
    )
    return Stream(parts, describe_again(stream.card, parts, name=name, description=description, generator=call))


def draw_table(shape: TableShape, seed: int, name: str) -> Dataset:
    """Draw a table that has exactly the counts of a shape, rows in random order.

    Raises ValueError if no table has these counts.
    """
    rng = generator_for(Purpose.SAMPLING, require_seed(seed))
    sets = _draw_label_sets(shape, rng)
    copies = _draw_copies(sets.sum(axis=1, dtype=np.int64), shape, rng)
    rows = rng.permutation(np.repeat(np.arange(len(sets)), copies))
    Y = np.zeros((shape.n_rows, shape.n_labels), dtype=np.uint8)
    labelled = rng.permutation(shape.n_rows)[: len(rows)]
    Y[np.sort(labelled)] = sets[rows]
    features = tuple(f"Att{column}" for column in range(1, shape.n_features + 1))
    labels = tuple(f"Class{column}" for column in range(1, shape.n_labels + 1))
    return Dataset(_draw_features(Y, shape.n_features, rng), Y, features, labels, name, source="synthetic")


def _draw_label_sets(shape: TableShape, rng: np.random.Generator) -> Indicator:
    """Draw distinct label sets with at least one label: every label alone, and others around topics."""
    wanted = shape.n_label_sets - bool(shape.n_unlabelled)
    if wanted < shape.n_labels:
        raise ValueError(f"n_label_sets must be at least the number of labels. Got {shape.n_label_sets}.")
    common = 1 / np.arange(3, shape.n_labels + 3)
    liking = common * rng.random((_TOPICS, shape.n_labels)) ** 3
    sets = np.eye(shape.n_labels, dtype=np.uint8)
    mean = shape.n_positives / (shape.n_rows - shape.n_unlabelled)
    while len(sets) < wanted:
        drawn = _draw_around_topics(liking, mean, wanted, rng)
        _, first = np.unique(np.concatenate([sets, drawn]), axis=0, return_index=True)
        # In the order in which they were drawn, so that common sets come first.
        sets = np.concatenate([sets, drawn])[np.sort(first)][:wanted]
    return sets


def _draw_around_topics(liking: Floats, mean: float, count: int, rng: np.random.Generator) -> Indicator:
    # The labels that win a race of exponential clocks are a draw without replacement by liking.
    clocks = rng.standard_exponential((count, liking.shape[1])) / liking[rng.integers(len(liking), size=count)]
    sizes = np.clip(1 + rng.poisson(mean, size=count), 1, liking.shape[1])
    ranks = clocks.argsort(axis=1).argsort(axis=1)
    return (ranks < sizes[:, np.newaxis]).astype(np.uint8)


def _draw_copies(sizes: Counts, shape: TableShape, rng: np.random.Generator) -> Counts:
    """Draw how many rows carry each label set: each at least one, few of them many, and as many positives as wanted."""
    weights = 1 / np.arange(5, len(sizes) + 5)
    extra = shape.n_rows - shape.n_unlabelled - len(sizes)
    require_count(extra, "n_rows less n_unlabelled less the label sets", minimum=0)
    copies = 1 + rng.multinomial(extra, weights / weights.sum())
    missing = shape.n_positives - int(copies @ sizes)
    while missing:
        moved = _move_copies(copies, sizes, missing, rng)
        missing -= moved
        if not moved:
            raise ValueError(f"n_positives must be reachable with the other counts. Got {shape.n_positives}.")
    return np.asarray(copies)


def _move_copies(copies: Counts, sizes: Counts, missing: int, rng: np.random.Generator) -> int:
    """Give rows a label set of one label more, or less, until the positives are right; return the change."""
    step = 1 if missing > 0 else -1
    spare = rng.permutation(np.repeat(np.arange(len(copies)), copies - 1))
    movable = spare[np.isin(sizes[spare] + step, sizes)][: abs(missing)]
    for size in np.unique(sizes[movable]):
        leaving = movable[sizes[movable] == size]
        np.subtract.at(copies, leaving, 1)
        np.add.at(copies, rng.choice(np.flatnonzero(sizes == size + step), size=len(leaving)), 1)
    return step * len(movable)


def _draw_features(Y: Indicator, n_features: int, rng: np.random.Generator) -> Floats:
    adds = rng.random((Y.shape[1], n_features))
    # Sparse products add in the order of the labels, so that every machine gives the same bits.
    sums = sparse.csr_array(Y, dtype=np.float64) @ adds
    means = sums / np.maximum(Y.sum(axis=1, dtype=np.int64), 1)[:, np.newaxis]
    noise = rng.random(means.shape)
    return np.asarray(np.round(_SIGNAL * means + (1 - _SIGNAL) * noise, 6))
