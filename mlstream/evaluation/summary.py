"""The scores of a run, and the reason for each that is not defined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from metrics import acc, bwt, fm, frug, fwt, intransigence, stepwise_transfer
from mlstream.evaluation.held_out import HIERARCHY_METRICS
from mlstream.evaluation.predictions import Floats
from mlstream.records.run_record import Score
from mlstream.stream import Mask

_NO_MISTAKE = "Repeating the last labels makes no mistake, so that nothing can be gained."

Numbers = Mapping[str, float]


class ReferenceScores(NamedTuple):
    """Balanced accuracy of reference models on the evaluation set of each task; NaN for tasks never learnt.

    Parameters
    ----------
    joint : ndarray of shape (n_tasks,)
        Of a clone that learnt all experiences, rows shuffled: what can be had without any order of tasks.
    joint_at_first_visit : ndarray of shape (n_tasks,)
        Of a clone that learnt, rows shuffled, all experiences up to and including the task's first visit.
    single : ndarray of shape (n_tasks,)
        Of a clone that learnt nothing but the task's rows of its first visit.
    """

    joint: Floats
    joint_at_first_visit: Floats
    single: Floats


class ScoreRecord:
    """Collects scores by name; one that cannot be computed is None, and has a reason."""

    def __init__(self) -> None:
        self.values: dict[str, Score] = {}
        self.undefined: dict[str, str] = {}

    def add(self, name: str, value: float, reason: str) -> None:
        """Record a score; NaN becomes None, for the reason given."""
        self.values[name] = None if math.isnan(value) else float(value)
        if math.isnan(value):
            self.undefined[name] = reason

    def compute(self, scores: Callable[[], Numbers], names: tuple[str, ...], reason: str) -> None:
        """Record the scores of a metric; its error (a missing cell of R, for example) is the reason for all of them."""
        try:
            values = scores()
        except ValueError as error:
            values, reason = dict.fromkeys(names, math.nan), str(error)
        for name in names:
            self.add(name, values[name], reason)


def add_prequential(record: ScoreRecord, scores: Numbers) -> None:
    """Record the scores over all rows of the stream."""
    for name, value in scores.items():
        no_change = name.startswith("kappa_temporal")
        record.add(name, value, _NO_MISTAKE if no_change else "No label that counts has both classes.")


def add_continual(record: ScoreRecord, R: Floats, order: Mask) -> None:
    """Record the scores that follow from the matrix of balanced accuracies.

    Parameters
    ----------
    record : ScoreRecord
        Receives the scores.
    R : ndarray of shape (n_experiences + 1, n_tasks)
        Balanced accuracies; NaN where not measured or not defined.
    order : ndarray of bool, shape (n_experiences, n_tasks)
        Tasks of each experience.
    """
    single: dict[str, Callable[[], float]] = {
        "acc": lambda: acc(R, order),
        "acc_mean": lambda: acc(R, order, when="mean"),
        "bwt": lambda: bwt(R, order),
        "fwt": lambda: fwt(R, order),
        "fm": lambda: fm(R, order),
    }
    for name, metric in single.items():
        _compute_one(record, name, metric)
    stepwise = ("BWT", "FWT", "BWT+", "BWT-", "FWT+", "FWT-")
    record.compute(lambda: stepwise_transfer(R, order), stepwise, "")


def add_references(record: ScoreRecord, R: Floats, order: Mask, references: ReferenceScores) -> None:
    """Record the scores that need reference models: intransigence, single-task forward transfer, the joint bound."""
    _compute_one(record, "im", lambda: intransigence(R, order, references.joint_at_first_visit, when="mean"))
    _compute_one(record, "fwt_single", lambda: fwt(R, order, reference_scores=references.single))
    record.add("acc_joint", float(references.joint[order.any(axis=0)].mean()), "A task has no balanced accuracy.")


def add_hierarchy(record: ScoreRecord, R: Mapping[str, Floats], order: Mask) -> None:
    """Record, where labels have a hierarchy, the means of its metrics over the tasks seen.

    Parameters
    ----------
    record : ScoreRecord
        Receives the scores.
    R : dict of str to ndarray of shape (n_experiences + 1, n_tasks)
        A matrix per metric.
    order : ndarray of bool, shape (n_experiences, n_tasks)
        Tasks of each experience.
    """
    for name in HIERARCHY_METRICS:
        if name in R:
            _compute_one(record, name, partial(acc, R[name], order))
    if "pw_js" in R:
        _compute_one(record, "pw_js_mean", lambda: acc(R["pw_js"], order, when="mean"))


def add_named(record: ScoreRecord, R: Mapping[str, Floats], order: Mask, names: Sequence[str]) -> None:
    """Record, for metrics asked for by name, the means over the evaluation sets of the tasks seen, at the end.

    Parameters
    ----------
    record : ScoreRecord
        Receives ``NAME_held_out`` for each metric.
    R : dict of str to ndarray of shape (n_experiences + 1, n_tasks)
        A matrix per metric.
    order : ndarray of bool, shape (n_experiences, n_tasks)
        Tasks of each experience.
    names : sequence of str
        Names of the metrics.
    """
    for name in names:
        _compute_one(record, f"{name}_held_out", partial(acc, R[name], order))


def add_environments(record: ScoreRecord, R: Mapping[str, Floats], order: Mask, task_names: Sequence[str]) -> None:
    """Record, where tasks are environments, the normalised cross-entropy in each of them at the end, and the worst.

    Parameters
    ----------
    record : ScoreRecord
        Receives ``nce[NAME]`` for each environment, ``nce_worst``, and ``nce_worst_unseen`` of those never learnt.
    R : dict of str to ndarray of shape (n_experiences + 1, n_tasks)
        A matrix per metric.
    order : ndarray of bool, shape (n_experiences, n_tasks)
        Environments of each experience.
    task_names : sequence of str
        Names of the environments.
    """
    if "nce" not in R:
        return
    final, reason = R["nce"][-1], "An environment has a label of one class, or the run did not reach the end."
    for name, value in zip(task_names, final, strict=True):
        record.add(f"nce[{name}]", value, reason)
    record.add("nce_worst", final.max(), reason)
    unseen = ~order.any(axis=0)
    if unseen.any():
        record.add("nce_worst_unseen", final[unseen].max(), reason)


def add_frugality(record: ScoreRecord, energy_kwh: float | None, energy_unit: str) -> None:
    """Record accuracy against energy; both must be known."""
    accuracy = record.values["acc"]
    if accuracy is None or energy_kwh is None:
        record.add("frug", math.nan, "Energy was not measured." if energy_kwh is None else "ACC is not defined.")
    else:
        record.add("frug", frug(accuracy, energy_kwh, energy_unit=energy_unit), "")


def _compute_one(record: ScoreRecord, name: str, metric: Callable[[], float]) -> None:
    record.compute(lambda: {name: metric()}, (name,), "No task qualifies.")
