"""The scores of a run, and the reason for each that is not defined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from metrics import acc, bwt, fm, frug, fwt, intransigence, stack_counts, stepwise_transfer
from mlstream.evaluation.held_out import (
    HIERARCHY_METRICS,
    add_counts,
    count_known_by_rule,
    pooled_ba_macro,
    predict_held_out,
)
from mlstream.evaluation.label_space import CountedLabels, labels_at_prediction, learning_view
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.learners import adapt_to_stream, fresh
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.scoring import Value, with_ending
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.wrapping import nested
from mlstream.records.frugality import FRUGALITIES
from mlstream.records.run_result import LeftOut, Score
from mlstream.streams.card_model import StreamCard
from mlstream.streams.frames import Features
from mlstream.streams.stream import Index, Indicator, Mask, Stream
from mlstream.streams.tables.arrays import join_rows

# Name in a record, which no other one differs from by case alone -> name in the published definition.
_STEPWISE = {
    "bwt_stepwise": "BWT",
    "bwt_stepwise_gains": "BWT+",
    "bwt_stepwise_losses": "BWT-",
    "fwt_stepwise": "FWT",
    "fwt_stepwise_gains": "FWT+",
    "fwt_stepwise_losses": "FWT-",
}
_NO_BOTH_CLASSES = "No task has a label with both classes in its evaluation set."
_NO_TASK = "No task qualifies."
_NO_MISTAKE = "Repeating the last labels makes no mistake, so that nothing can be gained."

Numbers = Mapping[str, float]


class ReferenceScores(NamedTuple):
    """Balanced accuracy of reference models on each task's evaluation set, (n_tasks,); NaN for tasks never learnt."""

    # Of a clone that learnt all experiences, rows shuffled: what can be reached without any order of tasks.
    joint: Floats
    # Of a clone that learnt, rows shuffled, all experiences up to the first visit of the task, included.
    joint_at_first_visit: Floats
    single: Floats  # Of a clone that learnt nothing but the task's rows of its first visit.

    def without_pretraining(self, card: StreamCard) -> ReferenceScores:
        """Return the scores of the tasks that scores over tasks count."""
        kept = counted_tasks(card)
        return ReferenceScores(*(scores[kept] for scores in self))


class ScoreRecord:
    """Scores by name; one that cannot be computed is None, and has a reason.

    If everything was measured (`is_complete`), a cell of R that is NaN is undefined, and left out of means; otherwise
    it may be one that was not measured, and a mean that needs it is undefined.
    """

    def __init__(self, *, is_complete: bool = True) -> None:
        self.values: dict[str, Score] = {}
        self.undefined: dict[str, str] = {}
        self.left_out: dict[str, LeftOut] = {}
        self.cells: Literal["skip", "raise"] = "skip" if is_complete else "raise"

    def add(self, name: str, value: float, reason: str) -> None:
        """Record a score; NaN becomes None, for the reason given."""
        self.values[name] = None if math.isnan(value) else float(value)
        if math.isnan(value):
            self.undefined[name] = reason

    def take(self, other: ScoreRecord, ending: str) -> None:
        """Take over the scores of another record, their names with an ending."""
        self.values.update(with_ending(ending, other.values))
        self.undefined.update(with_ending(ending, other.undefined))
        self.left_out.update(with_ending(ending, other.left_out))

    def count_undefined(self, name: str, R: Floats, used: Mask) -> None:
        """Record how many cells of a matrix means leave out, if any."""
        n = int(np.isnan(R[used]).sum())
        if n and self.cells == "skip":
            self.left_out[name] = LeftOut(what="cells", n=n, of=int(used.sum()))

    def compute(self, scores: Callable[[], Numbers], names: tuple[str, ...], reason: str) -> None:
        """Record the scores of a metric; its error (a missing cell of R, for example) is the reason for all of them."""
        try:
            values = scores()
        except ValueError as error:
            values, reason = dict.fromkeys(names, math.nan), str(error)
        for name in names:
            self.add(name, values[name], reason)


def counted_tasks(card: StreamCard) -> Mask:
    """Return which tasks scores over tasks count: all but those to pre-train on."""
    roles: Sequence[str] = card.scenario.task_roles or [""] * len(card.tasks)
    return np.array([role != "pre-training" for role in roles])


def without_pretraining(R: Mapping[str, Floats], order: Mask, card: StreamCard) -> tuple[dict[str, Floats], Mask]:
    """Return the matrices and the order of a stream without its pre-training, which no score over tasks counts.

    `R` holds a matrix per metric, (n_experiences + 1, n_tasks); `order` has the tasks of each experience,
    (n_experiences, n_tasks). The result lacks the columns of tasks to pre-train on, and the rows after experiences that
    hold only such tasks. Row 0 of the result is the learner after pre-training.
    """
    kept = counted_tasks(card)
    steps = np.flatnonzero(order[:, kept].any(axis=1)) + 1
    rows = np.concatenate([steps[:1] - 1, steps])
    return {name: matrix[np.ix_(rows, kept)] for name, matrix in R.items()}, order[np.ix_(steps - 1, kept)]


def decided_by(ending: str, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return, by their plain names, the values whose names have the ending of a rule of decisions, see `Settings`."""
    plain = {name: name.partition("[")[0] for name in values}
    return {plain[name]: value for name, value in values.items() if name == f"{plain[name]}{ending}"}


def add_prequential(record: ScoreRecord, scores: Numbers) -> None:
    """Record the scores over all rows of the stream."""
    for name, value in scores.items():
        no_change = name.startswith("kappa_temporal")
        record.add(name, value, _NO_MISTAKE if no_change else "No label that counts has both classes.")


def add_counted(record: ScoreRecord, estimator: object) -> None:
    """Record the scores that a learner, or one inside it, has counted itself, such as those of its prediction sets."""
    counted: dict[str, float] = {}
    for learner in nested(estimator, "_"):
        counted = getattr(learner, "counted_scores_", {}) | counted
    for name, value in counted.items():
        record.add(name, value, "No row was learnt.")


def add_continual(record: ScoreRecord, R: Floats, order: Mask) -> None:
    """Record the scores that follow from the matrix of balanced accuracies, (n_experiences + 1, n_tasks).

    NaN in R was not measured or is not defined; `order` has the tasks of each experience, (n_experiences, n_tasks).
    """
    single: dict[str, Callable[[], float]] = {
        "acc": lambda: acc(R, order, undefined=record.cells),
        "acc_mean": lambda: acc(R, order, when="mean", undefined=record.cells),
        **_transfers(record, R, order),
    }
    for name, metric in single.items():
        _compute_one(record, name, metric, _NO_BOTH_CLASSES if name in {"acc", "acc_mean"} else _NO_TASK)
    record.compute(lambda: _stepwise(record, R, order), tuple(_STEPWISE), "")
    record.count_undefined("ba_macro", R, _used_cells(order))


def add_references(record: ScoreRecord, R: Floats, order: Mask, references: ReferenceScores) -> None:
    """Record the scores that need reference models: intransigence, single-task forward transfer, the joint bound."""
    joint, single, joint_at_first_visit = references.joint, references.single, references.joint_at_first_visit
    cells = record.cells
    _compute_one(record, "im", lambda: intransigence(R, order, joint_at_first_visit, when="mean", undefined=cells))
    _compute_one(record, "fwt_single", lambda: fwt(R, order, reference_scores=single, undefined=cells))
    bound = joint[order.any(axis=0) & ~np.isnan(joint)]
    record.add("acc_joint", bound.mean() if len(bound) else math.nan, "No task has a balanced accuracy.")


def add_hierarchy(record: ScoreRecord, R: Mapping[str, Floats], order: Mask) -> None:
    """Record, where labels have a hierarchy, the means of its metrics over the tasks seen, and transfer of pw-JS."""
    last = _final_cells(order)
    for name in HIERARCHY_METRICS:
        if name in R:
            _compute_one(record, name, partial(acc, R[name], order, undefined=record.cells))
            record.count_undefined(name, R[name], _used_cells(order) if name == "pw_js" else last)
    if "pw_js" in R:
        _compute_one(record, "pw_js_mean", lambda: acc(R["pw_js"], order, when="mean", undefined=record.cells))
        for name, metric in _transfers(record, R["pw_js"], order).items():
            _compute_one(record, f"pw_js_{name}", metric)


def add_named(record: ScoreRecord, R: Mapping[str, Floats], order: Mask, names: Sequence[str]) -> None:
    """Record, for metrics asked for by name, the means over the evaluation sets of the tasks seen, at the end.

    Each metric becomes the score ``NAME_held_out``; those that R lacks are passed over.
    """
    for name in names:
        if name not in R:
            continue
        _compute_one(record, f"{name}_held_out", partial(acc, R[name], order, undefined=record.cells))
        record.count_undefined(f"{name}_held_out", R[name], _final_cells(order))


def add_environments(record: ScoreRecord, R: Mapping[str, Floats], card: StreamCard) -> None:
    """Record, where tasks are environments, the normalised cross-entropy in each of them at the end, and the worst.

    The scores are ``nce[NAME]`` for each environment, ``nce_worst``, and ``nce_worst_unseen`` over those with the role
    "unseen", if there are any: not those for validation and test, by which a learner may be chosen.
    """
    if "nce" not in R:
        return
    final = R["nce"][-1]
    reason = "Every label of an environment has one class there, or the run did not reach the end."
    for task, value in zip(card.tasks, final, strict=True):
        record.add(f"nce[{task.name}]", value, reason)
    record.add("nce_worst", final.max(), reason)
    unseen = np.array([role == "unseen" for role in card.scenario.task_roles or ()])
    if unseen.any():
        record.add("nce_worst_unseen", final[unseen].max(), reason)


def add_constant_labels(record: ScoreRecord, constant: Mapping[str, tuple[int, int]]) -> None:
    """Record how many labels the cross-entropy of each environment leaves out, see `count_constant_labels`."""
    for name, (n, n_labels) in constant.items():
        record.left_out[f"nce[{name}]"] = LeftOut(what="labels", n=n, of=n_labels)


def add_frugality(record: ScoreRecord, energy_kwh: float | None) -> None:
    """Record accuracy against energy, on each scale; both must be known."""
    accuracy = record.values["acc"]
    for name, scale in FRUGALITIES.items():
        if accuracy is None or energy_kwh is None:
            record.add(name, math.nan, "Energy was not measured." if energy_kwh is None else "ACC is not defined.")
        else:
            record.add(name, frug(accuracy, energy_kwh, scale=scale), "")


def _transfers(record: ScoreRecord, R: Floats, order: Mask) -> dict[str, Callable[[], float]]:
    return {
        "bwt": lambda: bwt(R, order, undefined=record.cells),
        "fwt": lambda: fwt(R, order, undefined=record.cells),
        "fm": lambda: fm(R, order, undefined=record.cells),
    }


def _stepwise(record: ScoreRecord, R: Floats, order: Mask) -> dict[str, float]:
    transfer = stepwise_transfer(R, order, undefined=record.cells)
    return {name: transfer[published] for name, published in _STEPWISE.items()}


def _final_cells(order: Mask) -> Mask:
    """Return the cells of R after the last experience, of the tasks seen."""
    last = np.zeros((len(order) + 1, order.shape[1]), dtype=bool)
    last[-1] = order.any(axis=0)
    return last


def _used_cells(order: Mask) -> Mask:
    """Return the cells of R that accuracy and transfer use: those of tasks seen, and for the later ones two before."""
    seen = np.vstack([np.zeros_like(order[:1]), np.logical_or.accumulate(order, axis=0)])
    first = seen.argmax(axis=0)
    later = np.flatnonzero(first > 1)
    seen[0, later] = seen[first[later] - 1, later] = True
    return np.asarray(seen)


def _compute_one(record: ScoreRecord, name: str, metric: Callable[[], float], reason: str = _NO_TASK) -> None:
    record.compute(lambda: {name: metric()}, (name,), reason)


class _Rows(NamedTuple):
    X: Features
    Y: Indicator
    mask: Mask
    task_ids: Index

    def take(self, rows: Index | Mask) -> _Rows:
        return _Rows(self.X[rows], self.Y[rows], self.mask[rows], self.task_ids[rows])


def reference_scores(estimator: object, stream: Stream, seed: int, settings: Settings) -> list[ReferenceScores]:
    """Train reference models and score them on the evaluation sets of tasks, by rule, that of the run first.

    A joint model learns the rows of several experiences in a seeded random order, each once, as the learner does.
    Meanwhile the rows of the stream are in memory twice. The estimator is cloned for every model.
    """
    models = _Models(estimator, stream, seed, settings)
    scores = ReferenceScores(*(np.full((len(settings.rules), stream.n_tasks), np.nan) for _ in range(3)))
    order, shown = stream.order, learning_view(stream)
    last, trained = len(stream), np.flatnonzero(order.any(axis=0)).tolist()
    first = order.argmax(axis=0) + 1
    for step in sorted({*first[trained].tolist(), last}):
        new = [task for task in trained if first[task] == step]
        wanted = trained if step == last else new
        joint = models.score(models.train(_shuffled(_rows_until(shown, step), seed, step)), step, wanted)
        scores.joint_at_first_visit[:, new] = joint[:, new]
        if step == last:
            scores.joint[:, trained] = joint[:, trained]
    for task in trained:
        step = int(first[task])
        single = models.score(models.train(_rows_of_task(shown, step, task)), step, [task])
        scores.single[:, task] = single[:, task]
    return [ReferenceScores(*of_rule) for of_rule in zip(*scores, strict=True)]


class _Models:
    """Trains clones, and scores them as the learner itself is scored after the same number of experiences."""

    def __init__(self, estimator: object, stream: Stream, seed: int, settings: Settings) -> None:
        self._estimator = estimator
        self._stream = stream
        self._seed = seed
        self._counted = CountedLabels(stream, settings.label_space)
        self._one_class = settings.one_class
        self._settings = settings
        self._signatures = np.stack([task.signature for task in stream.tasks])

    def train(self, rows: _Rows) -> Learner:
        copy = fresh(self._estimator, self._seed, self._stream)
        learner = adapt_to_stream(copy, self._stream, ResourceMeter("none"), self._settings)
        learner.learn(*rows)
        return learner

    def score(self, learner: Learner, step: int, tasks: Sequence[int]) -> Floats:
        """Return the balanced accuracy of each of some tasks, (n_rules, n_tasks); those of the others mean nothing."""
        pools = self._counted.pools(step)
        is_needed = np.any(pools[tasks], axis=0).tolist()
        counts, n_rules = [], len(self._settings.rules)
        for held_out, needed in zip(self._stream.evaluation_sets, is_needed, strict=True):
            heads = labels_at_prediction(self._stream, np.array([held_out.task_id]))
            predicted = predict_held_out(learner, held_out, heads) if needed else ()
            known = (count_known_by_rule(held_out.Y[rows], predictions) for rows, predictions in predicted)
            counts.append(add_counts(known, n_rules, self._stream.n_labels))
        options = (pools, self._signatures, self._one_class)
        return np.stack([pooled_ba_macro(stack_counts(of_rule), *options) for of_rule in zip(*counts, strict=True)])


def _rows_until(stream: Stream, step: int) -> _Rows:
    experiences = stream.experiences[:step]
    X, Y = join_rows([part.X for part in experiences]), np.concatenate([part.Y for part in experiences])
    mask = np.concatenate([np.broadcast_to(part.label_mask, part.Y.shape) for part in experiences])
    return _Rows(X, Y, mask, np.concatenate([part.task_ids for part in experiences]))


def _rows_of_task(stream: Stream, step: int, task: int) -> _Rows:
    experience = stream.experiences[step - 1]
    mask = np.broadcast_to(experience.label_mask, experience.Y.shape)
    return _Rows(experience.X, experience.Y, mask, experience.task_ids).take(experience.task_ids == task)


def _shuffled(rows: _Rows, seed: int, step: int) -> _Rows:
    return rows.take(np.random.default_rng([seed, step]).permutation(len(rows.Y)))
