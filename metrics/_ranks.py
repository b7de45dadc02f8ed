"""Labels in order of their scores: the k best and full rankings, block by block.

Masked cells get the score minus infinity, which no valid score has, so that they rank last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import read_indicator, read_mask, read_scores, row_blocks, row_sums
from metrics._means import mean_of_blocks
from metrics._typing import Array, Floats, LabelMatrix, Ties
from metrics.validation import check_probabilities, check_same_shape, check_scores, check_truth, require_choice

# Which way is fastest, measured: searches for the best label one after the other, a sort, or a partition.
_FEW = 8  # values of k
_MANY = 32
_NARROW = 128  # labels


class ScoredRows(NamedTuple):
    """Rows with at least one cell that counts: truth (0 where masked), scores, and how many cells count in each row."""

    true: NDArray[np.uint8]
    score: NDArray[np.floating]
    mask: NDArray[np.uint8] | None
    n_counted: NDArray[np.int64]


def mean_over_rows(
    score_rows: Callable[[ScoredRows], Array],
    y_true: LabelMatrix,
    y_score: ArrayLike,
    label_mask: ArrayLike | None,
    *,
    probabilities: bool = False,
) -> float:
    """Average a number per row over the rows that count; NaN is left out, and a mean over no row is NaN."""
    return mean_of_blocks(score_rows(block) for block in _blocks(y_true, y_score, label_mask, probabilities))


def values_of_rows(
    score_rows: Callable[[ScoredRows], Floats], y_true: LabelMatrix, y_score: ArrayLike, label_mask: ArrayLike | None
) -> Floats:
    """Return a number per row that counts, in the order of the rows."""
    return np.concatenate([score_rows(block) for block in _blocks(y_true, y_score, label_mask)])


def _blocks(
    y_true: LabelMatrix, y_score: ArrayLike, label_mask: ArrayLike | None, probabilities: bool = False
) -> Iterator[ScoredRows]:
    name = "y_prob" if probabilities else "y_score"
    truth, mask = check_truth(y_true, label_mask)
    scores = check_scores(y_score, name)
    check_same_shape(truth, scores, name)
    for rows in row_blocks(truth.shape):
        t, s = read_indicator(truth, rows, "y_true"), read_scores(scores, rows, name)
        if probabilities:
            check_probabilities(s, name, rows.start)
        yield (
            ScoredRows(t, s, None, np.full(len(t), t.shape[1]))
            if mask is None
            else _masked(t, s, read_mask(mask, rows))
        )


def _masked(t: NDArray[np.uint8], s: NDArray[np.floating], mask: NDArray[np.uint8]) -> ScoredRows:
    mask = np.broadcast_to(mask, t.shape)
    n_counted = row_sums(mask)
    if not n_counted.all():
        kept = n_counted > 0
        t, s, mask, n_counted = t[kept], s[kept], mask[kept], n_counted[kept]
    return ScoredRows(t & mask, s, mask, n_counted)


def infinite_where_zero(bits: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[np.floating]:
    """Return 0 for a 1 and infinity for a 0, to be added to scores or subtracted from them.

    It is 1 / bits - 1, because `numpy.where` on random bits takes three times as long.
    """
    with np.errstate(divide="ignore"):
        penalty: NDArray[np.floating] = np.divide(1, bits, dtype=dtype)
    penalty -= 1
    return penalty


def sink_masked(scores: NDArray[np.floating], mask: NDArray[np.uint8] | None) -> NDArray[np.floating]:
    """Lower the scores of cells that do not count below all others."""
    return scores if mask is None else scores - infinite_where_zero(mask, scores.dtype)


def hits_of_best(true: NDArray[np.uint8], scores: NDArray[np.floating], k: int, ties: Ties) -> Floats:
    """Return how many of the `k` best-scored labels of each row are relevant, in the mean over the orders of ties."""
    require_choice(ties, "ties", get_args(Ties))
    narrow = scores.shape[1] <= _NARROW
    if ties == "order" or k == 1 or (k <= _FEW and not narrow):
        return np.asarray(truth_of_best(true, scores, k, ties).sum(axis=1), dtype=np.float64)
    ordered = np.sort(scores, axis=1) if narrow else np.partition(scores, -k, axis=1)
    lowest = ordered[:, -k, None]
    top = (scores >= lowest).view(np.uint8)
    hits: Floats = row_sums(top & true).astype(np.float64)
    if np.count_nonzero(top) == k * len(top):
        return hits
    above = (scores > lowest).view(np.uint8)
    n_above, hits_above = row_sums(above), row_sums(above & true)
    hits -= hits_above
    hits *= (k - n_above) / (row_sums(top) - n_above)
    return hits + hits_above


def truth_of_best(true: Array, scores: NDArray[np.floating], k: int, ties: Ties) -> Array:
    """Return the truth, or another gain, at each of the `k` best places of each row, best first.

    Tied labels share their mean, or come in the order of columns.
    """
    require_choice(ties, "ties", get_args(Ties))
    cells = _best_cells(scores, k)
    found, values = true.take(cells), scores.take(cells)
    if ties == "order":
        return found
    changes = values[:, 1:] != values[:, :-1]
    tied = (scores == values[:, -1:]).view(np.uint8)  # with the last place, those that were not found included
    if changes.all() and np.count_nonzero(tied) == len(tied):
        return found
    starts = np.flatnonzero(np.pad(changes, ((0, 0), (1, 0)), constant_values=True))
    sizes = np.diff(starts, append=found.size)
    means = np.repeat(np.add.reduceat(found.ravel(), starts, dtype=np.float64) / sizes, sizes).reshape(found.shape)
    of_tied = row_sums(tied & true) if true.dtype == np.uint8 else np.einsum("ij,ij->i", tied, true)
    last = of_tied / row_sums(tied)
    return np.where(values == values[:, -1:], last[:, None], means)


def _best_cells(scores: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    """Return the places of the `k` best scores of each row in the flattened table, best first, ties by column."""
    n_rows, n_labels = scores.shape
    starts = np.arange(0, scores.size, n_labels)
    if k > _MANY:
        return np.argsort(-scores, axis=1, kind="stable")[:, :k] + starts[:, None]
    cells = np.empty((n_rows, k), dtype=np.intp)
    left = scores if k == 1 else scores.copy()
    for place in range(k):
        if place:
            left.reshape(-1)[cells[:, place - 1]] = -np.inf
        np.add(left.argmax(axis=1), starts, out=cells[:, place])
    return cells


class Ranking(NamedTuple):
    """Rows sorted by decreasing score: truth, and per place how many (relevant) labels score at least as high."""

    true: NDArray[np.uint8]
    n_at_least: NDArray[np.int64]
    n_relevant_at_least: NDArray[np.int64]


def rank(true: NDArray[np.uint8], scores: NDArray[np.floating]) -> Ranking:
    """Sort each row by decreasing score; a label counts every label that ties with it."""
    n_rows, n_labels = scores.shape
    flat = np.argsort(-scores, axis=1) + np.arange(n_rows)[:, None] * n_labels
    ranked_true, ranked_scores = true.take(flat), scores.take(flat)
    n_relevant = ranked_true.cumsum(axis=1, dtype=np.int64)
    last = ranked_scores[:, :-1] != ranked_scores[:, 1:]
    if last.all():
        return Ranking(ranked_true, np.arange(1, n_labels + 1)[None, :], n_relevant)
    # for each place, the last place of its run of equal scores
    ends = np.full((n_rows, n_labels), n_labels - 1)
    ends[:, :-1] = np.where(last, np.arange(n_labels - 1), n_labels - 1)
    ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return Ranking(ranked_true, ends + 1, np.take_along_axis(n_relevant, ends, axis=1))
