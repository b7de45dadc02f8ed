"""Spherical k-means: clusters of directions, compared by their cosine."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metrics.validation import require_choice
from mlstream.generators._parameters import require_count, require_seed
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators._threads import for_each
from mlstream.streams.stream import Index

Floats = npt.NDArray[np.float64]
Input = npt.ArrayLike | sparse.csr_array

# Two rows nearer than this are one direction; rounding leaves about 1e-16.
_SAME_DIRECTION = 1e-12
# Digits of cosines, and of gains in units of the greatest possible criterion, that rounding leaves alone.
_DIGITS = 12
# When rows that are moved at once do not gain together, so many times fewer are moved, and more when they do.
_STEP = 4
# Steps of a start, of which label sets of real tables take up to 45; the best start goes on without a limit.
_STEPS_PER_START = 100
_PUBLISHED_ITERATIONS, _PUBLISHED_TOLERANCE = 20, 1e-9


class Clustering(NamedTuple):
    """Rows in clusters."""

    assignment: Index  # (n_samples,): cluster of each row; no cluster is empty
    centres: Floats  # (n_clusters, n_columns): unit vectors
    criterion: float  # weighted sum of the cosines between rows and their centres; greater is better


def spherical_kmeans(
    X: Input, n_clusters: int, *, seed: int, n_init: int = 10, sample_weight: npt.ArrayLike | None = None
) -> Clustering:
    """Cluster the directions of rows; the best of several random starts is kept. Starts run in threads.

    Every other start is a random assignment of rows. The others draw rows as centres, each with a probability
    proportional to its weight times one minus the cosine to the nearest centre drawn before; a row goes to the nearest
    centre, and to a random cluster where it has a cosine of 0 with all of them. From there, rows move while the
    criterion gains by it, counted with the centres that follow the rows: no single row is left whose move would gain,
    which a row that lies nearest to its own centre may be. Starts end after 100 steps, and only the best goes on.
    Weights are positive. Raises ValueError if X holds a zero row, or fewer directions than clusters.

    K. Hornik, I. Feinerer, M. Kober, C. Buchta. Spherical k-means clustering. Journal of Statistical Software, 2012.
    I. S. Dhillon, Y. Guan, J. Kogan. Iterative clustering of high dimensional text data augmented by local search.
    ICDM, 2002, where the gain of a move is the "first variation".
    """
    rows = _to_unit_rows(X)
    weight = _to_weights(sample_weight, rows.shape[0])
    require_seed(seed)
    _require_enough_rows(rows, require_count(n_clusters, "n_clusters"))

    def climb(assignment: Index, max_steps: float) -> Clustering:
        assignment = _climb(rows, weight / weight.sum(), assignment, n_clusters, max_steps)
        sums = _sum_clusters(rows, weight, assignment, n_clusters)
        return Clustering(assignment, _to_centres(sums), float(_lengths(sums).sum()))

    def run(restart: int) -> Clustering:
        rng = generator_for(Purpose.CLUSTERING, seed, restart)
        if restart % 2:
            assignment = rng.permutation(np.arange(rows.shape[0]) % n_clusters)
        else:
            assignment = _assign_to_nearest(rows, _draw_centres(rows, weight, n_clusters, rng), rng)
        return climb(assignment, _STEPS_PER_START)

    best = max(for_each(run, range(require_count(n_init, "n_init"))), key=lambda found: found.criterion)
    return climb(best.assignment, np.inf)


def published_spherical_kmeans(
    Y: Input, n_clusters: int, *, n_init: int = 10, keep: Literal["last", "best"] = "last"
) -> Clustering:
    """Cluster label vectors exactly as the published tasks were made.

    The published code kept the last start, by mistake. The order of the rows matters, and each has a label; expected
    values may stand for labels that are unknown. Labels are weighted by tf-idf. A start is a random assignment of rows,
    its seed drawn by ``RandomState(1)``; it ends after 20 iterations, or when the criterion moves by no more than 1e-9.
    """
    require_choice(keep, "keep", ("last", "best"))
    rows = _to_unit_rows(tf_idf(Y))
    _require_enough_rows(rows, require_count(n_clusters, "n_clusters"))
    seeds = np.random.RandomState(1).randint(2**31 - 1, size=require_count(n_init, "n_init"))
    weight = np.ones(rows.shape[0])
    runs = []
    for seed in seeds[-1:] if keep == "last" else seeds:
        assignment = np.random.RandomState(seed).randint(n_clusters, size=(rows.shape[0],))
        runs.append(_iterate(rows, weight, _to_centres(_sum_clusters(rows, weight, assignment, n_clusters))))
    return max(runs, key=lambda run: run.criterion)


def tf_idf(Y: Input) -> sparse.csr_array:
    """Weight the columns of an indicator by how rare they are.

    Each column is multiplied by ``log((1 + n_samples) / (1 + positives)) + 1``; rows are not normalised.
    """
    rows = (Y if sparse.issparse(Y) else sparse.csr_array(np.asarray(Y))).astype(np.float64)
    positives = np.bincount(rows.indices, weights=rows.data, minlength=rows.shape[1])
    rows.data = rows.data * (np.log((1 + rows.shape[0]) / (1 + positives)) + 1)[rows.indices]
    return rows


def _to_unit_rows(X: Input) -> sparse.csr_array:
    # One layout for all: dense rows would be summed in another order, and rounding can then break ties differently.
    rows: sparse.csr_array = sparse.csr_array(X if sparse.issparse(X) else np.asarray(X)).astype(np.float64)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    lengths = np.sqrt(np.asarray((rows * rows).sum(axis=1)))
    if not np.isfinite(lengths).all() or not lengths.all():
        bad = int(np.argmin(np.isfinite(lengths) & (lengths > 0)))
        raise ValueError(f"Every row of X must be finite and point somewhere. Got length {lengths[bad]} in row {bad}.")
    rows.data /= np.repeat(lengths, np.diff(rows.indptr))
    return rows


def _to_weights(sample_weight: npt.ArrayLike | None, n_rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,) or not (weight > 0).all():
        raise ValueError(f"sample_weight must hold {n_rows} positive numbers. Got shape {weight.shape}: {weight}.")
    return weight


def _require_enough_rows(rows: sparse.csr_array, n_clusters: int) -> None:
    if rows.shape[0] < n_clusters:
        raise ValueError(f"There must be at least as many rows as clusters. Got {rows.shape[0]} for {n_clusters}.")


def _draw_centres(rows: sparse.csr_array, weight: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    centres = np.empty((n_clusters, rows.shape[1]))
    chance = weight
    nearest = np.full(rows.shape[0], -np.inf)
    for cluster in range(n_clusters):
        if not chance.any():
            raise ValueError(f"X must hold at least {n_clusters} directions, one per cluster. Got {cluster}.")
        chosen = rng.choice(rows.shape[0], p=chance / chance.sum())
        centres[cluster] = _dense(rows, chosen)
        nearest = np.maximum(nearest, rows @ centres[cluster])
        distance = 1 - nearest
        chance = np.where(distance > _SAME_DIRECTION, weight * distance, 0)
    return centres


def _assign_to_nearest(rows: sparse.csr_array, centres: Floats, rng: np.random.Generator) -> Index:
    similarity = (rows @ centres.T).round(_DIGITS)
    assignment: Index = similarity.argmax(axis=1)
    # In the first cluster, all of these would be kept together for good by the centre that they make.
    orthogonal = np.flatnonzero(similarity.max(axis=1) == 0)
    assignment[orthogonal] = rng.integers(len(centres), size=len(orthogonal))
    return assignment


def _climb(rows: sparse.csr_array, weight: Floats, assignment: Index, n_clusters: int, max_steps: float) -> Index:
    """Move rows, those that gain most first, as many at once as raise the criterion: the lengths of all sums."""
    sums = _sum_clusters(rows, weight, assignment, n_clusters)
    criterion, n_moved = _lengths(sums).sum(), len(assignment)
    movers, target = _find_moves(rows, weight, assignment, sums)
    n_steps = 0
    while len(movers) and n_steps < max_steps:
        n_steps += 1
        moved = movers[:n_moved]
        tried = assignment.copy()
        tried[moved] = target[:n_moved]
        sums = _sum_clusters(rows, weight, tried, n_clusters)
        reached = _lengths(sums).sum()
        if reached > criterion and np.bincount(tried, minlength=n_clusters).all():
            assignment, criterion, n_moved = tried, reached, _STEP * len(moved)
            movers, target = _find_moves(rows, weight, assignment, sums)
        elif len(moved) > 1:
            n_moved = max(1, len(moved) // _STEP)
        else:
            break  # what one row gains is lost in rounding
    return assignment


def _find_moves(rows: sparse.csr_array, weight: Floats, assignment: Index, sums: Floats) -> tuple[Index, Index]:
    """Return the rows whose move would gain, those that gain most first, and the best cluster of each.

    A row x of weight w that leaves a sum s for a sum t gains ``|t + w x| - |t|`` and loses ``|s| - |s - w x|``.
    """
    length, square = _lengths(sums)[:, np.newaxis], weight**2
    # By cluster, then row, and in place: NumPy passes fast over long rows that stay in the cache.
    gain = np.ascontiguousarray((rows @ (2 * sums).T).T)
    gain *= weight
    own = np.arange(len(assignment)) + len(assignment) * assignment
    twice, stayed = gain.take(own), length.take(assignment)
    gain += square
    gain += length**2
    np.sqrt(np.maximum(gain, 0, out=gain), out=gain)
    gain -= length
    lost = stayed - np.sqrt(np.maximum(stayed**2 - twice + square, 0))
    gain.put(own, lost)
    # Rounded, so that moves of equal gain tie whatever the order of the sums behind them.
    gain.round(_DIGITS, out=gain)
    gained = gain.max(axis=0) - gain.take(own)
    gained[np.bincount(assignment)[assignment] == 1] = 0
    movers = np.flatnonzero(gained > 0)
    movers = movers[np.argsort(-gained[movers], kind="stable")]
    return movers, gain[:, movers].argmax(axis=0)


def _iterate(rows: sparse.csr_array, weight: Floats, centres: Floats) -> Clustering:
    """Assign rows to the nearest centre and move the centres, as the published code did."""
    found, moved = _assign(rows, weight, centres), np.inf
    for _ in range(_PUBLISHED_ITERATIONS - 1):
        if moved <= _PUBLISHED_TOLERANCE:
            break
        before = found.criterion
        found = _assign(rows, weight, _to_centres(_sum_clusters(rows, weight, found.assignment, len(centres))))
        moved = abs(found.criterion - before)
    return found


def _assign(rows: sparse.csr_array, weight: Floats, centres: Floats) -> Clustering:
    similarity = rows @ centres.T
    # Rounded, because equal cosines must tie whatever the order of the sums behind them.
    assignment = similarity.round(_DIGITS).argmax(axis=1)
    cosine = similarity[np.arange(len(assignment)), assignment]
    size = np.bincount(assignment, minlength=len(centres))
    for empty in np.flatnonzero(size == 0):
        farthest = int(np.argmin(np.where(size[assignment] > 1, cosine, np.inf)))
        size[assignment[farthest]] -= 1
        assignment[farthest], cosine[farthest], size[empty] = empty, 1.0, 1
        centres[empty] = _dense(rows, farthest)
    return Clustering(assignment, centres, float(weight @ cosine))


def _sum_clusters(rows: sparse.csr_array, weight: Floats, assignment: Index, n_clusters: int) -> Floats:
    n_columns, n_stored = rows.shape[1], np.diff(rows.indptr)
    cells = np.repeat(assignment * n_columns, n_stored) + rows.indices
    sums = np.bincount(cells, weights=rows.data * np.repeat(weight, n_stored), minlength=n_clusters * n_columns)
    return np.asarray(sums, dtype=np.float64).reshape(n_clusters, n_columns)


def _lengths(sums: Floats) -> Floats:
    return np.asarray(np.linalg.norm(sums, axis=1))


def _to_centres(sums: Floats) -> Floats:
    length = _lengths(sums)[:, np.newaxis]
    # Opposite rows can cancel out: such a centre points nowhere and has cosine 0 with every row.
    return np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)


def _dense(rows: sparse.csr_array, row: int) -> Floats:
    return np.asarray(rows[[row]].toarray()[0])
