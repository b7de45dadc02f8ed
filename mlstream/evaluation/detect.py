"""Drift detectors on the errors of a learner, their alarms compared with the drifts that are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from estimators.detectors import make_detector
from estimators.strategies import make_strategy
from metrics import detection_scores
from metrics.detection import match_alarms
from mlstream.evaluation.label_space import resolve_label_space
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.provenance import describe_machine, installed_versions, parameters_as_json, plain_repr
from mlstream.evaluation.run import RowProgress
from mlstream.evaluation.scoring import delaying_call
from mlstream.evaluation.settings import DetectionOptions, Errors, LabelSpace, Settings, require_seed
from mlstream.evaluation.watching import Watcher, fresh_detector, mistakes_along
from mlstream.evaluation.wrapping import wrapped_as
from mlstream.publishing.named_streams import StreamLike, as_stream
from mlstream.records.detection_record import Alarm, Detection, TrueDrift
from mlstream.records.run_result import to_score
from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Experience, Index, Stream

_OF_DRIFTS = "The stream has no drift that is known."
_UNDEFINED = {
    "detection_rate": _OF_DRIFTS,
    "recall": _OF_DRIFTS,
    "precision": _OF_DRIFTS,
    "f1": _OF_DRIFTS,
    "mean_delay": "No drift was found.",
    "normalised_delay": "No drift was found.",
    "normalised_time_between": "There was no false alarm.",
}

# Streams of this scenario have every drift on their card, and none beside.
_LISTED = "drift"


class SeededLearner(NamedTuple):
    """A learner, the name that it has in records, and the seed of it and of the detectors."""

    name: str
    estimator: object
    seed: int


def detect(  # noqa: PLR0913 - the options of a detection are what its record holds
    detector: object,
    stream: StreamLike,
    *,
    learner: object = "NN_TL",
    seed: int = 0,
    errors: Errors = DetectionOptions.errors,
    max_delay: int | None = DetectionOptions.max_delay,
    max_early: int = DetectionOptions.max_early,
    label_space: LabelSpace | None = DetectionOptions.label_space,
) -> Detection:
    """Give a drift detector the errors of a learner along a stream, and score its alarms.

    Every row is predicted, then learnt. The detector is given the error of each row in order; it does not change the
    learner.

    Parameters
    ----------
    detector : str or detector
        A name of `estimators.detectors.DETECTORS`; or a detector, which is cloned, never changed: one of
        `estimators.drift`, or any object with `get_params` and ``update_many(values)``, which returns whether there is
        a drift at each of the values. `LabelDrift` is given the error of each label that counts, `LabelSetDrift` the
        error of each row with its labels, others the errors of rows alone.
    stream : Stream, str or path
        The stream; or its file, its published folder, or the name of one that this project publishes.
    learner : str or estimator
        A name of `estimators.strategies`, or any estimator that `evaluate` takes. It is cloned, never changed.
    seed : int
        Value that every `random_state` of the learner and of the detector gets. Of the detectors, only KSWIN draws.
    errors : {"subset", "hamming"}
        Errors that a detector of whole rows is given: 1 if any label is wrong, or the share of labels that are. DDM and
        EDDM need "subset".
    max_delay : int, optional
        Rows after the end of a drift within which an alarm is in time; by default half of the shortest stretch from the
        start of a drift to that of the next, or to the end of the stream.
    max_early : int
        Rows before the start of a drift within which an alarm is in time, too.
    label_space : {"task", "seen", "all"}, optional
        Labels that count in a score: those of the row's task, of all tasks seen so far, or all; by default as the
        scenario asks. See `evaluate`. A row of which none counts has no error.

    Returns
    -------
    Detection
        The record: the drifts that are known, the alarms, and the scores of `metrics.detection_scores`. A score that is
        not defined is None, and ``undefined`` holds the reason.

    Raises
    ------
    TypeError
        If the detector or the learner is not one.
    ValueError
        If the value of an option is not valid, or does not fit the detector.

    Notes
    -----
    The drifts that are known are those on the card of a synthetic stream that drifts. For any other stream they are the
    boundaries of experiences at which other tasks or environments come, or labels emerge. A task that comes back is a
    drift, too. Drifts that nobody knows of, as in real data within a task, count against the detector that finds them.

    References
    ----------
    Cerqueira et al., "Evaluating drift detection", 2026, arXiv 2606.07789.

    Examples
    --------
    >>> from estimators.drift import ADWIN
    >>> from mlstream import detect
    >>> from mlstream.generators import drifting_stream
    >>> stream = drifting_stream("hyperplane", n_rows=4000, n_concepts=3, learning_fractions=(0.7,))
    >>> one = detect(ADWIN(), stream, max_delay=500, errors="hamming")
    >>> [alarm.row for alarm in one.alarms if alarm.drift is not None], one.scores["detection_rate"]
    ([3007, 5695], 1.0)
    """
    options = DetectionOptions(errors=errors, max_delay=max_delay, max_early=max_early, label_space=label_space)
    student = SeededLearner(_name(learner), make_strategy(learner) if isinstance(learner, str) else learner, seed)
    watching = make_detector(detector) if isinstance(detector, str) else detector
    (found,) = detect_all({_name(detector): watching}, as_stream(stream), student, options)
    if isinstance(found, Exception):
        raise found
    return found


def detect_all(
    detectors: Mapping[str, object],
    stream: Stream,
    learner: SeededLearner,
    options: DetectionOptions,
    progress: RowProgress | None = None,
) -> list[Detection | Exception]:
    """Give several detectors the errors of one learner, which learns the stream once.

    The results are in the order of the detectors, named by the keys of the mapping; if one failed, its error.
    `progress` is called with the number of rows done and the number of rows of the stream.
    """
    settings = Settings(label_space=options.label_space)
    watchers = {
        name: Watcher(fresh_detector(detector, require_seed(learner.seed)), options.errors, stream.n_labels)
        for name, detector in detectors.items()
    }
    total, n_errors = 0.0, 0
    for mistakes in mistakes_along(fresh(learner.estimator, learner.seed, stream), stream, settings):
        for watcher in watchers.values():
            watcher.watch(mistakes)
        given = mistakes.errors(options.errors)
        total, n_errors = total + float(given.sum()), n_errors + len(given)
        if progress is not None:
            progress(mistakes.start + len(mistakes.Y), stream.n_samples)
    found: list[Detection | Exception] = []
    for name, watcher in watchers.items():
        fields = describe_detection(name, detectors[name], stream, learner, options)
        result = watcher.failure or _score(fields, watcher, total / n_errors if n_errors else None)
        found.append(result)
    return found


def describe_detection(
    name: str, detector: object, stream: Stream, learner: SeededLearner, options: DetectionOptions
) -> dict[str, Any]:
    """Return the fields of a record that are known before the detection."""
    seed, drifts = learner.seed, true_drifts(stream)
    watching, learning = fresh_detector(detector, seed), fresh(learner.estimator, seed, stream)
    max_delay = options.max_delay or _default_delay(drifts, stream.n_samples)
    return {
        "detector": name,
        "detector_class": plain_repr(watching),
        "detector_parameters": parameters_as_json(watching),
        "learner": learner.name,
        "estimator": plain_repr(learning),
        "parameters": parameters_as_json(learning),
        "wrapped_as": wrapped_as(learner.estimator),
        "seed": seed,
        "stream": stream.card.name,
        "stream_sha256": stream.card.data_sha256,
        "n_rows": stream.n_samples,
        "label_space": resolve_label_space(options.label_space, stream.card),
        "settings": {"errors": options.errors, "max_delay": max_delay, "max_early": options.max_early},
        "drifts": drifts,
        "versions": installed_versions(),
        "machine": describe_machine(),
    }


def _name(one: object) -> str:
    return one if isinstance(one, str) else type(one).__name__


def _default_delay(drifts: Sequence[TrueDrift], n_rows: int) -> int:
    starts = [*(drift.start for drift in drifts), n_rows]
    return max(1, min((after - before for before, after in pairwise(starts)), default=n_rows) // 2)


def _score(fields: dict[str, Any], watcher: Watcher, error_rate: float | None) -> Detection:
    """Compare the alarms of a detector with the truth."""
    truth = np.array([(drift.start, drift.stop) for drift in fields["drifts"]], dtype=np.int64).reshape(-1, 2)
    rows = np.array([row for row, _ in watcher.alarms], dtype=np.int64)
    limits = {name: fields["settings"][name] for name in ("max_delay", "max_early")} | {"n_samples": fields["n_rows"]}
    owners = match_alarms(truth, rows, **limits)
    scores = {name: to_score(value) for name, value in detection_scores(truth, rows, **limits)._asdict().items()}
    return Detection(
        **fields,
        status="done",
        error_rate=error_rate,
        alarms=[
            Alarm(row=row, drift=int(owner) if owner >= 0 else None, labels=labels)
            for (row, labels), owner in zip(watcher.alarms, owners, strict=True)
        ],
        scores=scores,
        undefined={name: _UNDEFINED[name] for name, score in scores.items() if score is None},
    )


def true_drifts(stream: Stream) -> list[TrueDrift]:
    """List the drifts that a detector is to find, in order.

    A drift begins where the one before is complete, at the earliest. Those of a synthetic stream that drifts are on its
    card. Those of any other stream are the boundaries of experiences at which other tasks (or environments) come, or
    labels emerge; where tasks give way to each other gradually, or labels are late, a drift lasts from the first row of
    the next task to the last row of the one before.
    """
    found = _listed(stream.card) if stream.card.scenario.name == _LISTED else _boundaries(stream)
    drifts: list[TrueDrift] = []
    for one in found:
        start = max(one.start, drifts[-1].stop if drifts else 0)
        drifts.append(one.model_copy(update={"start": start, "stop": max(start, one.stop)}))
    return drifts


def _listed(card: StreamCard) -> Iterator[TrueDrift]:
    for one in sorted(card.drifts, key=lambda drift: drift.start):
        change = f"{card.tasks[one.before].name} to {card.tasks[one.after].name}: {', '.join(one.what)}, {one.pattern}"
        yield TrueDrift(start=one.start, stop=one.stop, what=change)


def _boundaries(stream: Stream) -> Iterator[TrueDrift]:
    parts, emergence = stream.experiences, set(stream.card.scenario.emergence or [])
    is_gradual = stream.card.scenario.boundary == "gradual" or delaying_call(stream.card) is not None
    names = [task.name for task in stream.tasks]
    row = 0
    for number, (before, after) in enumerate(pairwise(parts), start=1):
        row += len(before)
        old, new = _tasks(before, is_gradual=is_gradual), _tasks(after, is_gradual=is_gradual)
        if old != new:
            start, stop = _window(before, after, old[0], new[0]) if is_gradual else (0, 0)
            what = f"{' and '.join(names[task] for task in old)} to {' and '.join(names[task] for task in new)}"
            yield TrueDrift(start=row - start, stop=row + stop, what=what)
        elif number in emergence:
            yield TrueDrift(start=row, stop=row, what="labels emerge")


def _tasks(part: Experience, *, is_gradual: bool) -> list[int]:
    """Return the tasks of an experience; where they blend at its ends, the one with the most rows."""
    tasks, counts = np.unique(part.task_ids, return_counts=True)
    return [int(tasks[counts.argmax()])] if is_gradual else [int(task) for task in tasks]


def _window(before: Experience, after: Experience, old: int, new: int) -> tuple[int, int]:
    """Return the rows before and after a boundary in which two tasks blend, at most half an experience each."""
    late, early = before.task_ids[len(before) // 2 :], after.task_ids[: -(-len(after) // 2)]
    return _reach(late[::-1], new), _reach(early, old)


def _reach(tasks: Index, other: int) -> int:
    """Return the number of rows up to the last one that is of the other task."""
    places = np.flatnonzero(tasks == other)
    return int(places[-1]) + 1 if len(places) else 0
