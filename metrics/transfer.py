"""Transfer between tasks: the effect of learning one task on the scores of the others.

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
from numpy.typing import ArrayLike, NDArray

from metrics._means import divide
from metrics._transfer_matrix import Undefined, check_reference_scores, left_behind, mean_over_tasks, read_history
from metrics._typing import Floats
from metrics.validation import require_choice


def bwt(
    R: ArrayLike,
    order: ArrayLike | None = None,
    *,
    reference: Literal["last", "first"] = "last",
    include_current: bool = False,
    undefined: Undefined = "raise",
) -> float:
    """Backward transfer: effect of later learning on the tasks learnt before; higher is better.

    Parameters
    ----------
    R : array-like of shape (n_experiences + 1, n_tasks) or (n_experiences, n_tasks)
        Scores after each experience; row 0 is not used and may be left out.
    order : array-like of int, shape (n_experiences,), or of bool, shape (n_experiences, n_tasks), optional
        Task of each experience, or the tasks it holds. By default each task is visited once, in the order of columns.
    reference : {"last", "first"}, default="last"
        Visit of a task with which the end is compared. "first" mixes relearning in.
    include_current : bool, default=False
        Whether tasks of the last experience take part. With reference="last" they can only add zeros.
    undefined : {"raise", "skip"}, default="raise"
        Whether NaN in a cell that is needed is an error, or the cell is left out of means.

    Returns
    -------
    float
        In [-1, 1] for scores in [0, 1]; negative for forgetting. NaN if every task is of the last experience.

    Raises
    ------
    ValueError
        If R lacks a row or a task that order names, or a score that is needed is not finite.

    Notes
    -----
    Mean over tasks j of R[E, j] - R[v(j), j], v(j) the experience in which j was last (or first) visited. Where no task
    recurs this is Lopez-Paz and Ranzato's 1 / (T - 1) * sum over j < T of R[T, j] - R[j, j].

    References
    ----------
    D. Lopez-Paz, M. Ranzato, "Gradient episodic memory for continual learning", NeurIPS 2017.

    Examples
    --------
    >>> round(bwt([[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]], [0, 1]), 3)
    -0.2
    """
    require_choice(reference, "reference", ("last", "first"))
    history = read_history(R, order, undefined)
    tasks = history.trained if include_current else left_behind(history)
    visit = history.last if reference == "last" else history.first
    return mean_over_tasks(history.cells(-1, tasks) - history.cells(visit[tasks], tasks))


def fwt(
    R: ArrayLike,
    order: ArrayLike | None = None,
    *,
    reference_scores: ArrayLike | None = None,
    undefined: Undefined = "raise",
) -> float:
    """Forward transfer: effect of earlier learning on tasks that were new; higher is better.

    Parameters
    ----------
    R : array-like of shape (n_experiences + 1, n_tasks)
        Scores after each experience; row 0 may be left out if reference scores are given.
    order : array-like of int, shape (n_experiences,), or of bool, shape (n_experiences, n_tasks), optional
        Task of each experience, or the tasks it holds. By default each task is visited once, in the order of columns.
    reference_scores : array-like of shape (n_tasks,), optional
        Score on each task of a fresh model trained on that task alone. If given, the survey's forward transfer is
        computed, which is another quantity.
    undefined : {"raise", "skip"}, default="raise"
        Whether NaN in a cell that is needed is an error, or the cell is left out of means.

    Returns
    -------
    float
        In [-1, 1] for scores in [0, 1]. NaN if no task is new after the first experience.

    Raises
    ------
    ValueError
        If R lacks a row or a task that order names, or a score that is needed is not finite.

    Notes
    -----
    f(j) is the experience in which j is first visited; the tasks of the first experience are left out. By default the
    mean over tasks j of R[f(j) - 1, j] - R[0, j]: the gain on a task just before it is learnt (Lopez-Paz and
    Ranzato). With reference scores a, the mean of R[f(j), j] - a[j]: how much better a task is learnt than from nothing
    (Wang et al.). A third quantity of the same name is in `stepwise_transfer`.

    References
    ----------
    D. Lopez-Paz, M. Ranzato, "Gradient episodic memory for continual learning", NeurIPS 2017.
    L. Wang, X. Zhang, H. Su, J. Zhu, "A comprehensive survey of continual learning", TPAMI 2024.

    Examples
    --------
    >>> R = [[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]]
    >>> round(fwt(R, [0, 1]), 3)
    0.1
    >>> round(fwt(R, [0, 1], reference_scores=[0.9, 0.75]), 3)
    0.05
    """
    history = read_history(R, order, undefined, needs_start=reference_scores is None)
    tasks = history.trained[history.first[history.trained] > 1]
    if reference_scores is not None:
        learnt = history.cells(history.first[tasks], tasks)
        return mean_over_tasks(learnt - check_reference_scores(reference_scores, history, tasks))
    return mean_over_tasks(history.cells(history.first[tasks] - 1, tasks) - history.cells(0, tasks))


def stepwise_transfer(
    R: ArrayLike,
    order: ArrayLike | None = None,
    *,
    baseline: Literal["measured", "zero"] = "measured",
    include_current: bool = False,
    undefined: Undefined = "raise",
) -> dict[str, float]:
    """Backward and forward transfer experience by experience, as a whole and split by sign; higher is better.

    Parameters
    ----------
    R : array-like of shape (n_experiences + 1, n_tasks)
        Scores after each experience; row 0 may be left out if the baseline is "zero".
    order : array-like of int, shape (n_experiences,), or of bool, shape (n_experiences, n_tasks), optional
        Task of each experience, or the tasks it holds. By default each task is visited once, in the order of columns.
    baseline : {"measured", "zero"}, default="measured"
        Row 0 as measured before any learning, or zeros, as in the published code, where the first score on a task thus
        counts as forward transfer.
    include_current : bool, default=False
        Whether the backward transfer includes the task of the current experience if it was seen before, as in the EGC
        2025 paper's table.
    undefined : {"raise", "skip"}, default="raise"
        Whether NaN in a cell that is needed is an error, or the cell is left out of means.

    Returns
    -------
    dict of str to float
        Keys "BWT", "FWT", "BWT+", "BWT-", "FWT+", "FWT-". Each in [-1, 1] for scores in [0, 1]; those with a sign in
        their name have it. 0 where no task qualifies.

    Raises
    ------
    ValueError
        If R lacks a row or a task that order names, or a score that is needed is not finite.

    Notes
    -----
    d(s, j) = R[s, j] - R[s - 1, j]. Backward at s: tasks seen before s, without those of experience s. Forward at s:
    tasks not seen up to s. "+" takes d >= 0, "-" takes d < 0. Means run over tasks, then over the experiences where
    there is any. With both options at the published values, the published tables are reproduced to the last digit.

    References
    ----------
    Hugo Peuzet, Pascale Kuntz, Frank Meyer, Vincent Lemaire, Killian Le Mau, "Apprentissage multi-labels et
    multi-tâches en continu pour données tabulaires", EGC 2025, and its supplement.

    Examples
    --------
    >>> transfer = stepwise_transfer([[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]], [0, 1])
    >>> {name: round(value, 3) for name, value in transfer.items()}
    {'BWT': -0.2, 'FWT': 0.1, 'BWT+': 0.0, 'BWT-': -0.2, 'FWT+': 0.1, 'FWT-': 0.0}
    """
    require_choice(baseline, "baseline", ("measured", "zero"))
    history = read_history(R, order, undefined, needs_start=baseline == "measured")
    if baseline == "zero":
        history.R[0] = 0.0
    backward, forward = history.seen[:-1], ~history.seen[1:]
    if not include_current:
        backward = backward & ~history.visits[1:]
    steps, tasks = np.nonzero(backward | forward)
    change = np.zeros(backward.shape)
    change[steps, tasks] = history.cells(steps + 1, tasks) - history.cells(steps, tasks)
    defined = ~np.isnan(change)
    groups = {"BWT": backward & defined, "FWT": forward & defined}
    groups |= {f"{name}+": group & (change >= 0) for name, group in groups.items()} | {
        f"{name}-": group & (change < 0) for name, group in groups.items()
    }
    keys = ("BWT", "FWT", "BWT+", "BWT-", "FWT+", "FWT-")
    return {key: _mean_over_steps(change, groups[key]) for key in keys}


def _mean_over_steps(change: Floats, group: NDArray[np.bool_]) -> float:
    """Average over the tasks of a group at each step, then over the steps that have any; 0 if none has."""
    counts = group.sum(axis=1)
    means = divide(np.where(group, change, 0.0).sum(axis=1), counts)[counts > 0]
    return float(means.mean()) if means.size else 0.0
