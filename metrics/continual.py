"""Continual metrics: scores on all tasks while a learner is trained on one after the other.

`R` has shape (n_experiences + 1, n_tasks): row s holds the scores on the evaluation set of every task after experience
s, row 0 before any learning. `order` is the task of each experience, or, where experiences mix tasks, a boolean array
(n_experiences, n_tasks). Tasks may recur, and some may never be trained. Without `order`, each task is visited once, in
the order of columns. Row 0 may be left out where it is not used. Scores are such that higher is better. A NaN or
infinite score is an error if a metric needs it, and does not matter otherwise; with ``undefined="skip"``, cells of NaN
are left out instead. A mean over no task is NaN.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from metrics._means import divide, nan_mean
from metrics._transfer_matrix import Undefined, check_reference_scores, left_behind, mean_over_tasks, read_history
from metrics.validation import require_choice


def acc(
    R: ArrayLike,
    order: ArrayLike | None = None,
    *,
    when: Literal["final", "mean", "triangular"] = "final",
    undefined: Undefined = "raise",
) -> float:
    """Average score on the tasks seen; higher is better.

    Parameters
    ----------
    R : array-like of shape (n_experiences + 1, n_tasks) or (n_experiences, n_tasks)
        Scores after each experience; row 0 is not used and may be left out.
    order : array-like of int, shape (n_experiences,), or of bool, shape (n_experiences, n_tasks), optional
        Task of each experience, or the tasks it holds. By default each task is visited once, in the order of columns.
    when : {"final", "mean", "triangular"}, default="final"
        After the last experience; mean of that average over all experiences; or mean over all pairs of an experience
        and a task seen by then.
    undefined : {"raise", "skip"}, default="raise"
        Whether NaN in a cell that is needed is an error, or the cell is left out of means.

    Returns
    -------
    float
        In the range of the scores; NaN if every cell is left out.

    Raises
    ------
    ValueError
        If R lacks a row or a task that order names, or a score that is needed is not finite.

    Notes
    -----
    ACC_s = mean over j in Seen(s) of R[s, j]. "final" is ACC_E (Lopez-Paz and Ranzato), "mean" the mean over s of ACC_s
    (AIA in the survey; what Peuzet et al. print), "triangular" the sum over s and j in Seen(s) of R[s, j] divided by
    the number of terms (Díaz-Rodríguez et al.).

    References
    ----------
    D. Lopez-Paz, M. Ranzato, "Gradient episodic memory for continual learning", NeurIPS 2017.
    N. Díaz-Rodríguez, V. Lomonaco, D. Filliat, D. Maltoni, "Don't forget, there is more than forgetting", 2018.

    Examples
    --------
    >>> R = [[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]]
    >>> acc(R, [0, 1])
    0.75
    >>> acc(R[1:])  # each task once, in turn; row 0 is not used
    0.75
    >>> round(acc(R, [0, 1], when="mean"), 3), round(acc(R, [0, 1], when="triangular"), 3)
    (0.825, 0.8)
    """
    require_choice(when, "when", ("final", "mean", "triangular"))
    history = read_history(R, order, undefined)
    steps, tasks = np.nonzero(history.seen)
    if when == "final":
        return mean_over_tasks(history.cells(-1, np.flatnonzero(history.seen[-1])))
    scores = history.cells(steps, tasks)
    if when == "triangular":
        return mean_over_tasks(scores)
    defined = ~np.isnan(scores)
    sums = np.bincount(steps, weights=np.where(defined, scores, 0.0))[1:]
    return float(nan_mean(divide(sums, np.bincount(steps, weights=defined)[1:])))


def aia(R: ArrayLike, order: ArrayLike | None = None, *, undefined: Undefined = "raise") -> float:
    """Average incremental accuracy: `acc` averaged over all experiences; higher is better.

    Parameters
    ----------
    R : array-like of shape (n_experiences + 1, n_tasks) or (n_experiences, n_tasks)
        Scores after each experience; row 0 is not used and may be left out.
    order : array-like of int, shape (n_experiences,), or of bool, shape (n_experiences, n_tasks), optional
        Task of each experience, or the tasks it holds. By default each task is visited once, in the order of columns.
    undefined : {"raise", "skip"}, default="raise"
        Whether NaN in a cell that is needed is an error, or the cell is left out of means.

    Returns
    -------
    float
        In the range of the scores; NaN if every cell is left out.

    Raises
    ------
    ValueError
        If R lacks a row or a task that order names, or a score that is needed is not finite.

    Notes
    -----
    AIA = 1 / E * sum over s of ACC_s, the same as ``acc(R, order, when="mean")``.

    References
    ----------
    L. Wang, X. Zhang, H. Su, J. Zhu, "A comprehensive survey of continual learning", TPAMI 2024.

    Examples
    --------
    >>> round(aia([[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]], [0, 1]), 3)
    0.825
    """
    return acc(R, order, when="mean", undefined=undefined)


def fm(
    R: ArrayLike,
    order: ArrayLike | None = None,
    *,
    best_since: Literal["first_visit", "start"] = "first_visit",
    include_current: bool = False,
    undefined: Undefined = "raise",
) -> float:
    """Forgetting measure: how far tasks have fallen from their best; lower is better.

    Parameters
    ----------
    R : array-like of shape (n_experiences + 1, n_tasks) or (n_experiences, n_tasks)
        Scores after each experience; row 0 is not used and may be left out.
    order : array-like of int, shape (n_experiences,), or of bool, shape (n_experiences, n_tasks), optional
        Task of each experience, or the tasks it holds. By default each task is visited once, in the order of columns.
    best_since : {"first_visit", "start"}, default="first_visit"
        Experience from which on the best score of a task is looked for: its first visit, or the first experience of
        all, as in the formula of the references.
    include_current : bool, default=False
        Whether tasks of the last experience take part if they were visited before.
    undefined : {"raise", "skip"}, default="raise"
        Whether NaN in a cell that is needed is an error, or the cell is left out of means.

    Returns
    -------
    float
        In [-1, 1] for scores in [0, 1]; negative if tasks are at their best at the end. NaN if no task is left.

    Raises
    ------
    ValueError
        If R lacks a row or a task that order names, or a score that is needed is not finite.

    Notes
    -----
    Mean over tasks j of max over s = b..E-1 of R[s, j], minus R[E, j]. With "first_visit" b is f(j), the experience of
    the first visit of j. With "start" b is 1: max over i = 1..k-1 of a[i, j] - a[k, j] with k = E (Chaudhry et al.;
    Wang et al.). The two differ where a task scored higher before its first visit than in any experience since, the
    last one left out, by transfer from other tasks or by luck; then "start" gives more.

    References
    ----------
    A. Chaudhry, P. K. Dokania, T. Ajanthan, P. H. S. Torr, "Riemannian walk for incremental learning", ECCV 2018.
    L. Wang, X. Zhang, H. Su, J. Zhu, "A comprehensive survey of continual learning", TPAMI 2024.

    Examples
    --------
    >>> round(fm([[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]], [0, 1]), 3)
    0.2

    Task 1 had 0.8 before its first visit, 0.7 after it, and ends at 0.6:

    >>> R = [[0.5, 0.5, 0.5], [0.9, 0.8, 0.5], [0.7, 0.7, 0.5], [0.7, 0.6, 0.8]]
    >>> round(fm(R, [0, 1, 2]), 3), round(fm(R, [0, 1, 2], best_since="start"), 3)
    (0.15, 0.2)
    """
    require_choice(best_since, "best_since", ("first_visit", "start"))
    history = read_history(R, order, undefined)
    tasks = np.flatnonzero(history.seen[-2]) if include_current else left_behind(history)
    steps, columns = np.nonzero(history.seen[1:-1, tasks] | (best_since == "start"))
    best = np.full(len(tasks), np.nan)
    np.fmax.at(best, columns, history.cells(steps + 1, tasks[columns]))
    return mean_over_tasks(best - history.cells(-1, tasks))


def intransigence(
    R: ArrayLike,
    order: ArrayLike | None = None,
    reference_scores: ArrayLike | None = None,
    *,
    when: Literal["final", "mean"] = "final",
    undefined: Undefined = "raise",
) -> float:
    """Inability to learn new tasks, against a model trained jointly; lower is better.

    Parameters
    ----------
    R : array-like of shape (n_experiences + 1, n_tasks) or (n_experiences, n_tasks)
        Scores after each experience; row 0 is not used and may be left out.
    order : array-like of int, shape (n_experiences,), or of bool, shape (n_experiences, n_tasks), optional
        Task of each experience, or the tasks it holds. By default each task is visited once, in the order of columns.
    reference_scores : array-like of shape (n_tasks,)
        Score on each task of a model trained jointly on all data up to and including the first visit of that task. It
        must be given.
    when : {"final", "mean"}, default="final"
        For the task that came last as a new one, or averaged over all trained tasks.
    undefined : {"raise", "skip"}, default="raise"
        Whether NaN in a cell that is needed is an error, or the cell is left out of means.

    Returns
    -------
    float
        In [-1, 1] for scores in [0, 1]; negative if learning task by task did better.

    Raises
    ------
    ValueError
        If R lacks a row or a task that order names, or a score that is needed is not finite.

    Notes
    -----
    IM_k = a*_k - R[f(k), k], a*_k the reference score and f(k) the experience in which k is first visited. Where an
    experience brings several new tasks their mean is taken.

    References
    ----------
    A. Chaudhry, P. K. Dokania, T. Ajanthan, P. H. S. Torr, "Riemannian walk for incremental learning", ECCV 2018.
    L. Wang, X. Zhang, H. Su, J. Zhu, "A comprehensive survey of continual learning", TPAMI 2024.

    Examples
    --------
    >>> round(intransigence([[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]], [0, 1], [0.9, 0.85]), 3)
    0.05
    """
    require_choice(when, "when", ("final", "mean"))
    history = read_history(R, order, undefined)
    tasks = history.trained
    if when == "final":
        tasks = tasks[history.first[tasks] == history.first.max()]
    reached = history.cells(history.first[tasks], tasks)
    return mean_over_tasks(check_reference_scores(reference_scores, history, tasks) - reached)
