"""Campaigns of detections: drift detectors on the errors of learners, each recorded, and none made twice."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from estimators.detectors import make_detector
from estimators.strategies import make_strategy
from mlstream.campaign.executors import call_in_processes
from mlstream.campaign.job import require_same
from mlstream.campaign.planning import name_apart, prepare_folder
from mlstream.evaluation.detect import SeededLearner, describe_detection, detect_all
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.settings import DetectionOptions, Errors, LabelSpace
from mlstream.evaluation.watching import Watcher, fresh_detector
from mlstream.publishing.named_streams import StreamLike, as_stream
from mlstream.records.detection_record import (
    Detection,
    Detections,
    detection_path_of,
    load_detection_at,
    save_detection,
)
from mlstream.records.paths import detection_path
from mlstream.streams.stream import Stream

# Fields that are equal if a record is that of the requested detection.
_IDENTITY = ("stream_sha256", "parameters", "detector_class", "label_space", "settings", "drifts")

_LOG = logging.getLogger("mlstream")

Item = TypeVar("Item")
# Called with each detection as soon as it is there, whether it was recorded earlier, and the numbers done and in all.
DetectionProgress = Callable[[Detection, bool, int, int], None]


@dataclass(frozen=True)
class DetectionJob:
    """Detectors on the errors of one learner with one seed, which learns the stream once."""

    detectors: Mapping[str, object]
    stream: Stream
    learner: SeededLearner
    options: DetectionOptions
    directory: Path

    def path(self, name: str) -> Path:
        """Return the file of the record of a detector."""
        return detection_path(self.directory, self.stream.card.name, self.learner.name, name, self.learner.seed)

    def describe(self, name: str) -> dict[str, Any]:
        """Return the fields of the record of a detector that are known before."""
        return describe_detection(name, self.detectors[name], self.stream, self.learner, self.options)

    def find_records(self) -> dict[str, Detection]:
        """Return the records that are there, by detector, without those of failures.

        A ValueError is raised if a file holds the record of another detection, or is not of this version.
        """
        found = {}
        for name in self.detectors:
            if not self.path(name).exists():
                continue
            record, expected = load_detection_at(self.path(name), self.directory), self.describe(name)
            require_same(self.path(name), {field: (getattr(record, field), expected[field]) for field in _IDENTITY})
            if record.status == "done":
                found[name] = record
        return found

    def run(self) -> list[Detection]:
        """Run the detectors that have no record yet, and record each, also as a failure; return all records."""
        kept = self.find_records()
        waiting = {name: one for name, one in self.detectors.items() if name not in kept}
        if waiting:
            with threadpool_limits(limits=1):
                kept |= {one.detector: self._save(one) for one in self._results(waiting)}
        return [kept[name] for name in self.detectors]

    def _results(self, waiting: Mapping[str, object]) -> list[Detection]:
        try:
            found = detect_all(waiting, self.stream, self.learner, self.options)
        except (Exception, SystemExit) as error:
            found = [error if isinstance(error, Exception) else RuntimeError(f"SystemExit: {error}")] * len(waiting)
        return [
            Detection(**self.describe(name), status="failed", error="".join(traceback.format_exception(one)))
            if isinstance(one, Exception)
            else one
            for name, one in zip(waiting, found, strict=True)
        ]

    def _save(self, one: Detection) -> Detection:
        try:
            save_detection(one, self.directory)
        except FileExistsError:
            # Another process in the same folder was first, and its record counts.
            return load_detection_at(detection_path_of(one, self.directory), self.directory)
        return one


def run_detections(  # noqa: PLR0913 - what a campaign varies, and how it is run
    detectors: Sequence[str] | Mapping[str, object],
    streams: Sequence[StreamLike],
    learners: Sequence[str] | Mapping[str, object],
    directory: str | os.PathLike[str],
    *,
    seeds: Sequence[int] = DetectionOptions.seeds,
    errors: Errors = DetectionOptions.errors,
    max_delay: int | None = DetectionOptions.max_delay,
    max_early: int = DetectionOptions.max_early,
    label_space: LabelSpace | None = DetectionOptions.label_space,
    n_jobs: int = DetectionOptions.n_jobs,
    progress: DetectionProgress | None = None,
    config: str | None = None,
) -> Detections:
    """Give drift detectors the errors of learners on streams, and record each detection in a folder.

    A campaign that was stopped, or killed, resumes: detections with a record are kept, except failed ones, which are
    tried again. One that fails is recorded with its traceback and stops no other. A learner learns a stream once for
    all detectors that wait.

    Parameters
    ----------
    detectors : sequence of str, or mapping of str to str or detector
        Names of `estimators.detectors.DETECTORS`; or by names of your own such names, or detectors, see `detect`.
    streams : sequence of Stream, str or path
        The streams; or their files, published folders, or names of streams that this project publishes.
    learners : sequence of str, or mapping of str to str or estimator
        Names of `estimators.strategies`; or by names of your own such names, or estimators.
    directory : path
        The folder of the records and of the cards of the streams; created if absent.
    seeds : sequence of int
        Seeds of the learners, and of the detector that draws.
    errors : {"subset", "hamming"}
        Errors that a detector of whole rows is given: 1 if any label is wrong, or the share of labels that are.
    max_delay : int, optional
        Rows after the end of a drift within which an alarm is in time; by default half of the shortest stretch from the
        start of a drift to that of the next, or to the end of the stream.
    max_early : int
        Rows before the start of a drift within which an alarm is in time, too.
    label_space : {"task", "seen", "all"}, optional
        Labels that count in a score: those of the row's task, of all tasks seen so far, or all; by default as the
        scenario asks.
    n_jobs : int
        Number of processes; -1 for as many as cores.
    progress : callable, optional
        Called with every detection, whether it was recorded earlier, how many there are by then, and how many in all.
    config : str, optional
        Text to keep beside the records as ``config.toml``.

    Returns
    -------
    Detections
        A list of all records, including those kept: by stream, then learner, seed and detector.

    Raises
    ------
    ValueError
        If a name or the value of an option is unknown, or does not fit a detector, or the folder holds the record of
        another detection under the name of one of these. Nothing is run then.
    RuntimeError
        If a process dies. The records that are there stay.
    OSError
        If a record cannot be written (no permission, no space). Existing records stay.

    Examples
    --------
    >>> from mlstream import run_detections
    >>> from mlstream.generators import drifting_stream
    >>> stream = drifting_stream("hyperplane", n_rows=500)
    >>> folder = getfixture("tmp_path")  # any folder
    >>> [one.detector for one in run_detections(["ADWIN", "DDM"], [stream], ["mean"], folder)]
    ['ADWIN', 'DDM']
    """
    options = DetectionOptions(
        errors=errors,
        max_delay=max_delay,
        max_early=max_early,
        label_space=label_space,
        seeds=tuple(seeds),
        n_jobs=n_jobs,
    )
    # Processes keep the working directory that they started in.
    folder = Path(directory).absolute()
    opened = name_apart([as_stream(stream) for stream in require_list(streams, "streams")])
    named = _detectors(detectors), _learners(learners)
    jobs = [
        DetectionJob(named[0], stream, SeededLearner(name, learner, int(seed)), options, folder)
        for stream, (name, learner), seed in product(opened, named[1].items(), options.seeds)
    ]
    if not jobs or not named[0]:
        raise ValueError(
            "A campaign must have detectors, streams, learners and seeds. Got an empty list of one of them."
        )
    _require_fit(named[0], opened, options)
    kept = [job.find_records() for job in jobs]
    prepare_folder(folder, [stream.card for stream in opened], config)
    counter = _Counter(progress, len(jobs) * len(named[0]))
    counter.count([one for found in kept for one in found.values()], were_kept=True)
    for number, ended in _run_all(jobs, [n for n, found in enumerate(kept) if len(found) < len(named[0])], n_jobs):
        counter.count([one for one in ended if one.detector not in kept[number]], were_kept=False)
        kept[number] = {one.detector: one for one in ended}
    return Detections(found[name] for found in kept for name in named[0])


def require_list(values: Sequence[Item], name: str) -> Sequence[Item]:
    """Return a list of streams or names; raise a TypeError for one name alone."""
    if isinstance(values, str):
        raise TypeError(f"{name} must be a list, of names for example. Got {values!r} instead.")
    return values


def _detectors(detectors: Sequence[str] | Mapping[str, object]) -> dict[str, object]:
    named = _by_name(detectors, "detectors")
    return {name: make_detector(one) if isinstance(one, str) else one for name, one in named.items()}


def _learners(learners: Sequence[str] | Mapping[str, object]) -> dict[str, object]:
    named = _by_name(learners, "learners")
    made = {name: make_strategy(one) if isinstance(one, str) else one for name, one in named.items()}
    for one in made.values():
        fresh(one, 0)
    return made


def _by_name(given: Sequence[str] | Mapping[str, object], name: str) -> dict[str, object]:
    named = given if isinstance(given, Mapping) else {one: one for one in require_list(given, name)}
    for key in named:
        if not isinstance(key, str):
            raise TypeError(f"The names of {name} must be text: {{'mine': ...}}. Got {key!r} instead.")
    return dict(named)


def _require_fit(detectors: Mapping[str, object], streams: Sequence[Stream], options: DetectionOptions) -> None:
    """Refuse detectors whose parameters are wrong, or that do not take these errors, before anything runs."""
    for detector, stream in product(detectors.values(), streams):
        Watcher(fresh_detector(detector, 0), options.errors, stream.n_labels)


def _run_all(
    jobs: Sequence[DetectionJob], waiting: Sequence[int], n_jobs: int
) -> Iterator[tuple[int, list[Detection]]]:
    """Run the jobs that wait in this process or in others, and yield the number and the records of each as it ends."""
    if n_jobs == 1:
        for number in waiting:
            yield number, jobs[number].run()
        return
    try:
        called = [jobs[number] for number in waiting]
        for place, ended in call_in_processes(DetectionJob.run, called, n_jobs, "loky"):
            yield waiting[place], ended
    except BrokenProcessPool:
        raise RuntimeError(
            "A process died: killed by the system (out of memory, for example), or by the code of a learner or "
            "detector. Records that are there stay, and the same command goes on."
        ) from None


class _Counter:
    """Counts detections, and calls a function with each."""

    def __init__(self, progress: DetectionProgress | None, n_in_all: int) -> None:
        self._progress = progress
        self._n_in_all = n_in_all
        self._n_done = 0

    def count(self, detections: Sequence[Detection], *, were_kept: bool) -> None:
        """Count detections that are there, now or from earlier."""
        for one in detections:
            self._n_done += 1
            place, outcome = (self._n_done, self._n_in_all), "recorded earlier" if were_kept else one.status
            names = one.detector, one.learner, one.stream, one.seed
            _LOG.info("[%d/%d] %s on %s on %s, seed %d: %s", *place, *names, outcome)
            if self._progress is not None:
                self._progress(one, were_kept, self._n_done, self._n_in_all)
