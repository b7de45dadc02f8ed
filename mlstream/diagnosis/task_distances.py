"""Distances between tasks: in their inputs, in their labels, and in the labels given the inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.metrics import euclidean_distances

from mlstream.streams.label_sets import expected_labels
from mlstream.streams.label_values import as_indicator, known
from mlstream.streams.stream import Features, Indicator, Stream
from mlstream.streams.tables.arrays import join_rows

Distances = npt.NDArray[np.float64]


class TaskDistances(NamedTuple):
    """Distances in P(X), P(Y) and P(Y|X) between all pairs of tasks, as `task_distances` defines them.

    Each is in [0, 1]; NaN where a task has fewer than two rows.
    """

    inputs: Distances
    labels: Distances
    labels_given_inputs: Distances


class _Sample(NamedTuple):
    """Rows of every task, one task after the other."""

    X: Features
    Y: Indicator
    rows: list[slice]


def task_distances(stream: Stream, *, max_rows: int = 3000, seed: int = 0) -> TaskDistances:
    """Measure how far the tasks of a stream are from each other: symmetric matrices with a zero diagonal.

    Learning rows and evaluation rows of a task are taken together. `max_rows` are drawn, all tasks together, equally
    many from each; memory and time grow with its square. Raises ValueError if it is less than two for each task.

    P(X): the energy coefficient ``1 - (E|X - X'| + E|Z - Z'|) / 2 E|X - Z|`` of drawn rows X of one task and Z of the
    other, each feature divided by its standard deviation in the draw (G. Székely, M. Rizzo. Energy statistics: A class
    of statistics based on distances. Journal of Statistical Planning and Inference 143(8), 2013). It is 0 only if the
    distributions are equal; an estimate below 0 is set to 0.

    P(Y): the energy coefficient of their label vectors, not scaled; an unknown label is replaced by the label's
    frequency in the draw.

    P(Y|X): the root of the mean squared difference between the probabilities that the two tasks give to a label of
    either signature at the same x. With nearest rows in place of the same x, it is how much more often labels differ
    from those of the nearest row of the other task than from those of the nearest other row of the same task: noise in
    labels cancels out. Where inputs do not overlap there is no same x, and the distance measures how far labels differ
    from those of the nearest rows. Labels that are unknown in either row are left out.
    """
    if max_rows < 2 * stream.n_tasks:
        raise ValueError(f"max_rows must be at least 2 for each of {stream.n_tasks} tasks. Got {max_rows!r} instead.")
    sample = _draw(stream, max_rows, seed)
    between, between_labels = _distances(_scale(sample.X)), _distances(expected_labels(sample.Y).astype(np.float64))
    # No row is its own neighbour.
    np.fill_diagonal(between, np.inf)
    signatures = [task.signature for task in stream.tasks]

    def inputs(one: int, other: int) -> float:
        return _energy(between, sample.rows[one], sample.rows[other])

    def labels(one: int, other: int) -> float:
        return _energy(between_labels, sample.rows[one], sample.rows[other])

    def labels_given_inputs(one: int, other: int) -> float:
        Y = sample.Y[:, signatures[one] | signatures[other]]
        return _disagreement(between, Y, sample.rows[one], sample.rows[other])

    return TaskDistances(*(_by_pair(sample.rows, measure) for measure in (inputs, labels, labels_given_inputs)))


def _draw(stream: Stream, max_rows: int, seed: int) -> _Sample:
    rng = np.random.default_rng(seed)
    share = max_rows // stream.n_tasks
    tables: list[Features] = []
    labels: list[Indicator] = []
    rows = []
    n_drawn = 0
    for task in range(stream.n_tasks):
        held_out = stream.evaluation_sets[task]
        parts = [(part.X, part.Y, np.flatnonzero(part.task_ids == task)) for part in stream]
        parts.append((held_out.X, held_out.Y, np.arange(len(held_out))))
        sizes = [len(found) for _, _, found in parts]
        chosen = np.sort(rng.permutation(sum(sizes))[:share])
        rows.append(slice(n_drawn, n_drawn + len(chosen)))
        n_drawn += len(chosen)
        for (X, Y, found), start in zip(parts, np.cumsum([0, *sizes[:-1]]), strict=True):
            mine = found[chosen[(chosen >= start) & (chosen < start + len(found))] - start]
            tables.append(X[mine])
            labels.append(Y[mine])
    return _Sample(join_rows(tables), as_indicator(np.concatenate(labels)), rows)


def _distances(X: Features) -> Distances:
    return np.asarray(euclidean_distances(X)) if X.shape[0] else np.zeros((0, 0))


def _scale(X: Features) -> Features:
    """Divide each feature by its standard deviation; by its greatest value first, whose square may be too great."""
    if not X.shape[0]:
        return X
    table = _divide(X.astype(np.float64), np.maximum(_dense(X.max(axis=0)), -_dense(X.min(axis=0))))
    mean, square = _dense(table.mean(axis=0)), _dense((table * table).mean(axis=0))
    return _divide(table, np.sqrt(np.maximum(square - mean**2, 0)))


def _dense(row: npt.NDArray[np.floating] | sparse.coo_array) -> Distances:
    values = row.toarray() if sparse.issparse(row) else row
    return np.asarray(values, dtype=np.float64).ravel()


def _divide(X: Features, by: Distances) -> Features:
    divisor = np.where(by > 0, by, 1)
    if not sparse.issparse(X):
        return np.asarray(X / divisor)
    return sparse.csr_array((X.data / divisor[X.indices], X.indices, X.indptr), shape=X.shape)


def _by_pair(rows: Sequence[slice], measure: Callable[[int, int], float]) -> Distances:
    found = np.zeros((len(rows), len(rows)))
    for one in range(len(rows)):
        for other in range(one):
            enough = min(rows[task].stop - rows[task].start for task in (one, other)) > 1
            found[one, other] = found[other, one] = measure(one, other) if enough else np.nan
    return found


def _energy(between: Distances, one: slice, other: slice) -> float:
    across = between[one, other].mean()
    within = (_mean_within(between[one, one]) + _mean_within(between[other, other])) / 2
    return float(max(0.0, 1 - within / across)) if across > 0 else 0.0


def _mean_within(square: Distances) -> float:
    return float(square[~np.eye(len(square), dtype=bool)].mean())


def _disagreement(between: Distances, Y: Indicator, one: slice, other: slice) -> float:
    across = (_differ(between, Y, one, other) + _differ(between, Y, other, one)) / 2
    within = (_differ(between, Y, one, one) + _differ(between, Y, other, other)) / 2
    return float(np.sqrt(max(0.0, across - within)))


def _differ(between: Distances, Y: Indicator, rows: slice, among: slice) -> float:
    """Share of labels that differ from those of the nearest row."""
    nearest = between[rows, among].argmin(axis=1)
    mine, theirs = Y[rows], Y[among][nearest]
    cells = known(mine + theirs)
    differ = (mine != theirs) if cells is None else (mine != theirs)[cells]
    return float(differ.mean()) if differ.size else 0.0
