"""Synthetic tasks by multipliers: labels are thresholds on weighted features, and each task has its own weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from mlstream._support.mapped import INDEX_BYTES, empty_table, require_memory, slices
from mlstream.cards.description import describe_stream
from mlstream.generators._parameters import describe_call, require_count, require_seed, require_share
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators._threads import for_each
from mlstream.generators.schedule.experiences import lay_out
from mlstream.generators.schedule.partition import make_partition
from mlstream.generators.schedule.visit_plan import OrderName, Shape, VisitPlan
from mlstream.streams.card_model import ScenarioCard
from mlstream.streams.stream import Dataset, Indicator, Mask, Stream

Floats = npt.NDArray[np.float64]

_PIECE = 8192

PRESETS: dict[str, list[list[float]]] = {
    "monolab": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    "bilab": [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]],
    "rand": [[1.1, 1.3, 1.4, 1.3], [0.9, 1, 1.5, 1.1], [1, 1.3, 0.6, 1.2], [0.7, 0.6, 0.6, 1.4]],
}


def multiplier_stream(  # noqa: PLR0913 - the options of a generator are what its card holds
    multipliers: Literal["monolab", "bilab", "rand"] | npt.ArrayLike,
    *,
    seed: int = 0,
    n_rows: int = 1000,
    threshold: float = 0.5,
    noise: float = 0.0,
    name: str | None = None,
    learning_fractions: Sequence[float] = (0.35, 0.35),
    evaluation_fraction: float = 0.30,
    order: Sequence[int] | OrderName | None = None,
    stratified: bool = False,
    window: int = 0,
    shape: Shape = "linear",
) -> Stream:
    """Make a stream of synthetic tasks: label j of task i is there if a feature, times ``M[i][j]``, passes a threshold.

    Parameters
    ----------
    multipliers : {"monolab", "bilab", "rand"} or array-like
        The matrix M. Of shape (n_tasks, n_labels): label j depends on feature j alone; there are as many features as
        labels. Of shape (n_tasks, n_labels, n_features): label j depends on the weighted sum of all features. A name
        stands for a matrix of the literature, with four tasks, features and labels.
    seed : int
        Source of everything random.
    n_rows : int
        Rows of each task.
    threshold : float
        What a weighted feature must be greater than.
    noise : float
        Probability in [0, 1] with which each label of a task's signature is turned round, by row.
    name : str, optional
        Name of the stream; by default that of the matrix with "synthetic-" before it.
    learning_fractions : sequence of float
        Share of each task's rows that each of its visits gets; two numbers are two visits.
    evaluation_fraction : float
        Share of each task's rows that is held out.
    order : sequence of int or {"random", "similarity", "dissimilarity", "interleaved"}, optional
        Task of each experience, each task as often as there are learning fractions; or the rule that gives it. By
        default, and by "random", a seeded permutation of the tasks, repeated once per learning fraction.
    stratified : bool
        Spread every label set of a task evenly over its parts.
    window : int
        Rows around each boundary in which a task gives way to the next one; 0 is an abrupt boundary. More rows than an
        experience has blend several tasks at a time.
    shape : {"linear", "sigmoid"}
        How the share of the next task rises in the window.

    Returns
    -------
    Stream
        Features uniform in [0, 1]; rows without labels stay. A signature holds the labels that can pass the threshold.

    Raises
    ------
    ValueError
        If the matrix is unknown, has another number of dimensions or is not finite, or an option is out of its range.

    Notes
    -----
    The published draws of the three matrices are files; this function makes new draws from the same distributions.

    Examples
    --------
    >>> multiplier_stream("bilab", seed=0)
    Stream('synthetic-bilab': 8 experiences of 4 tasks, 2800 rows, 4 features, 4 labels)
    """
    given = dict(locals())
    matrix = _to_matrix(multipliers)
    _require_options(threshold, noise)
    visits = VisitPlan(tuple(learning_fractions), evaluation_fraction, order, stratified, window, shape, seed)
    known = multipliers if isinstance(multipliers, str) else "custom"
    name = name or f"synthetic-{known}"
    table = _draw_table(matrix, require_count(n_rows, "n_rows"), threshold, noise, seed, name)
    signatures = [possible_labels(weights, threshold) for weights in matrix]
    partition = make_partition(table, np.split(np.arange(table.n_samples), len(matrix)), signatures=signatures)
    # Rows of a task are drawn independently: cutting them in order is a random split already.
    parts, unused = lay_out(table, partition, visits, shuffle=False)
    chosen = {"multipliers": multipliers if isinstance(multipliers, str) else matrix, "name": name}
    card = describe_stream(
        table,
        parts,
        name=name,
        description=f"Synthetic tasks by multipliers ({known}), visited {len(learning_fractions)} times each.",
        generator=describe_call(multiplier_stream, given | visits.describe() | chosen),
        scenario=ScenarioCard(name="task-based", boundary=visits.boundary, task_identity="training"),
        drops=unused,
    )
    return Stream(parts, card)


def multiplier_rows(
    weights: npt.ArrayLike, *, seed: int, threshold: float = 0.5, noise: float = 0.0, chunk_size: int = 65536
) -> Iterator[tuple[Floats, Indicator]]:
    """Draw rows of one task without end, in constant memory.

    Parameters
    ----------
    weights : array-like of shape (n_labels,) or (n_labels, n_features)
        One task's part of the matrix of `multiplier_stream`.
    seed : int
        Source of everything random.
    threshold, noise : float
        As in `multiplier_stream`.
    chunk_size : int
        Rows at a time.

    Yields
    ------
    X : ndarray of shape (chunk_size, n_features)
        Features, uniform in [0, 1].
    Y : ndarray of uint8, shape (chunk_size, n_labels)
        Labels.

    Examples
    --------
    >>> X, Y = next(multiplier_rows([1, 0], seed=0, chunk_size=5))
    >>> bool(((X[:, 0] > 0.5) == Y[:, 0]).all())
    True
    """
    task = _to_matrix(np.asarray(weights)[np.newaxis])[0]
    _require_options(threshold, noise)
    require_memory(require_count(chunk_size, "chunk_size") * (8 * task.shape[-1] + len(task)), "chunk_size rows")
    rng = generator_for(Purpose.SAMPLING, require_seed(seed))
    while True:
        X = rng.random((chunk_size, task.shape[-1]))
        yield X, _label_rows(X, task, threshold, noise, rng)


def possible_labels(weights: Floats, threshold: float) -> Mask:
    """Tell which labels can pass the threshold when features lie in [0, 1]: the signature of a task, (n_labels,).

    `weights` are the multipliers of the task, (n_labels,) or (n_labels, n_features). A weighted feature, or sum of
    features, must be greater than the threshold.
    """
    positive = np.maximum(weights, 0)
    return np.asarray((positive if weights.ndim == 1 else positive.sum(axis=1)) > threshold)


def _to_matrix(multipliers: npt.ArrayLike) -> Floats:
    if isinstance(multipliers, str):
        if multipliers not in PRESETS:
            raise ValueError(
                f"multipliers must be numbers or one of {', '.join(PRESETS)}. Got {multipliers!r} instead."
            )
        multipliers = PRESETS[multipliers]
    matrix = np.asarray(multipliers, dtype=np.float64)
    if matrix.ndim not in (2, 3) or not matrix.size or not np.isfinite(matrix).all():
        raise ValueError(
            "multipliers must be finite, of shape (n_tasks, n_labels) or (n_tasks, n_labels, n_features). "
            f"Got shape {matrix.shape}{'' if np.isfinite(matrix).all() else ' with NaN or infinity'}."
        )
    return matrix


def _require_options(threshold: float, noise: float) -> None:
    if not np.isfinite(threshold):
        raise ValueError(f"threshold must be finite. Got {threshold!r} instead.")
    require_share(noise, "noise")


def _draw_table(matrix: Floats, n_rows: int, threshold: float, noise: float, seed: int, name: str) -> Dataset:
    n_tasks, n_labels, n_features = len(matrix), matrix.shape[1], matrix.shape[-1]
    what = "n_rows rows of each task"
    require_memory(n_tasks * n_rows * (n_labels + INDEX_BYTES), what)
    X = empty_table((n_tasks * n_rows, n_features), np.float64, what)
    Y = np.empty((n_tasks * n_rows, n_labels), dtype=np.uint8)

    def draw(task: int) -> None:
        rng, own = generator_for(Purpose.SAMPLING, seed, task), slice(task * n_rows, (task + 1) * n_rows)
        features, labels = X[own], Y[own]
        # In pieces that stay in the cache; the draws are the same as in one go.
        for rows in slices(n_rows, _PIECE, features):
            rng.random(out=features[rows])
        for rows in slices(n_rows, _PIECE, features):
            labels[rows] = _label_rows(features[rows], matrix[task], threshold, noise, rng)

    for_each(draw, range(n_tasks))
    features = tuple(f"x{column}" for column in range(n_features))
    return Dataset(X, Y, features, tuple(f"y{column}" for column in range(n_labels)), name, source="synthetic")


def _label_rows(X: Floats, weights: Floats, threshold: float, noise: float, rng: np.random.Generator) -> Indicator:
    labels = (X * weights if weights.ndim == 1 else X @ weights.T) > threshold
    if noise:
        labels ^= (rng.random(labels.shape) < noise) & possible_labels(weights, threshold)
    return labels.view(np.uint8)
