"""The size of a window: that of a few whose rows, tested then learnt, would have been predicted best."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.neighbours._kernels.window import N_NEAR, Order, Part, Window, count_votes, recall_nearest, sort_nearest

FREE = -1


class Options(NamedTuple):
    """Options of a learner."""

    max_window: int  # most rows of a window
    min_window: int  # fewest rows that a window is cut to
    penalty: float  # errors for each known label beyond which a row is removed
    reduction: float  # size of a candidate window, as a share of the next larger one
    hamming: bool  # windows are compared by Hamming score, not by subset accuracy
    adaptive: bool  # each label has a k of its own, and rows vote for some labels only
    faithful: bool  # do what the authors' code does where that is a defect


class Histories(NamedTuple):
    """Scores of the rows of candidate windows, each predicted from the rows before it in the window."""

    starts: Array  # int64, (n_candidates,): position of the first row, or `FREE`
    lengths: Array  # int64, (n_candidates,): number of rows
    scores: Array  # (n_candidates, capacity): score of each row


@njit(**HOT)
def next_size(size: int, options: Options) -> int:
    """Return the size of the next smaller candidate, 0 after the last one."""
    if size < 2 * options.min_window:
        return 0
    smaller = np.int64(size * options.reduction)
    return smaller if smaller > 1 else 1  # type: ignore[return-value]


@njit(**PART)
def choose_size(window: Window, ks: Array, histories: Histories, options: Options, order: Order) -> int:
    """Return the size of the best window, the largest of equal ones."""
    n_rows = window.size[0]
    if n_rows < 2 * options.min_window:
        return n_rows
    _free_others(histories, n_rows, options)
    best_size, best, size = n_rows, -1.0, n_rows
    while size > 0:
        mean = _mean_score(window, ks, histories, n_rows - size, options, order)
        if mean > best:
            best, best_size = mean, size
        size = next_size(size, options)
    return best_size


@njit(**PART)
def _free_others(histories: Histories, n_rows: int, options: Options) -> None:
    """Forget the histories that do not begin where a candidate window does, or that another one repeats."""
    starts = histories.starts
    for c in range(len(starts)):
        size, is_candidate = n_rows, False
        while size > 0:
            is_candidate |= starts[c] == n_rows - size
            size = next_size(size, options)
        for other in range(c):
            is_candidate &= starts[c] != starts[other]
        if not is_candidate:
            starts[c] = FREE


@njit(**PART)
def _mean_score(window: Window, ks: Array, histories: Histories, start: int, options: Options, order: Order) -> float:
    """Score the rows of a candidate window that have no score yet, and return the mean of all."""
    starts, lengths, c = histories.starts, histories.lengths, 0
    while c < len(starts) and starts[c] != start:
        c += 1
    is_new = c == len(starts)
    if is_new:
        c = 0
        while starts[c] != FREE:
            c += 1
        starts[c], lengths[c] = start, 0
    scores = histories.scores[c]
    for p in range(start + lengths[c], window.size[0]):
        scores[p - start] = _score(window, ks, start, p, is_new, options, order)
        lengths[c] += 1
    total = 0.0
    for i in range(lengths[c]):
        total += scores[i]
    return total / lengths[c]


@njit(**HOT)
def _sort_first(window: Window, order: Order, part: Part, n: int, faithful: bool) -> None:
    """Sort about n rows of a part, nearest to the row behind it first."""
    # distances that were misplaced have another order than what rows remember
    if faithful or part.end - part.begin <= N_NEAR:
        sort_nearest(window, order, part, n)
    else:
        recall_nearest(window, order, part, n)


@njit(**PART)
def _score(window: Window, ks: Array, start: int, p: int, is_new: bool, options: Options, order: Order) -> float:
    """Return how well the row at a position is predicted from those between start and it."""
    place, n_before, part = window.places[p], p - start, Part(start, p, False)
    order = Order(window.distances[place], order.positions, order.distances, order.size)
    _sort_first(window, order, part, 8 if options.adaptive else ks[0], options.faithful)
    n_right = n_known = 0
    for label in range(len(ks)):
        value = window.Y[place, label]
        if value == UNKNOWN:
            continue
        n_known += 1
        k = n_before if n_before < ks[label] and not (options.faithful and not is_new) else ks[label]
        positive, total, count = count_votes(window, order, part, label, k)
        if options.faithful and count < k:
            oldest = window.places[0]
            total += (k - count) * window.weights[oldest]
            if window.Y[oldest, label] == 1:
                positive += (k - count) * window.weights[oldest]
        if (total > 0.0 and positive / total >= 0.5) == (value == 1):
            n_right += 1
        elif not options.hamming:
            return 0.0
    if options.hamming:
        return n_right / n_known
    return 1.0


@njit(**PART)
def forget_row(histories: Histories, p: int) -> None:
    """Leave the row at a position out of all histories, and move the starts behind it."""
    starts, lengths = histories.starts, histories.lengths
    for c in range(len(starts)):
        if starts[c] > p:
            starts[c] -= 1
        elif starts[c] != FREE and p < starts[c] + lengths[c]:
            for i in range(p - starts[c], lengths[c] - 1):
                histories.scores[c, i] = histories.scores[c, i + 1]
            lengths[c] -= 1


@njit(**PART)
def cut_histories(histories: Histories, n: int) -> None:
    """Forget the histories that begin before position n, and move the starts of the others."""
    for c in range(len(histories.starts)):
        start = histories.starts[c]
        histories.starts[c] = start - n if start >= n else FREE
