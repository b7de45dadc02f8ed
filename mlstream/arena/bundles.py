"""Submissions to the arena: a bundle holds the runs of a learner, and whoever receives it runs a random part again."""

from __future__ import annotations

import math
import os
import random
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from estimators.strategies import STRATEGIES
from mlstream._support.files import atomic_path, open_plain
from mlstream.analysis.costs import energy_j
from mlstream.arena.again import compare, run_again
from mlstream.arena.records import LearnerRecord, make_record
from mlstream.arena.running import ORIGIN, SEED, Contestant, Origin, enter, load_streams, read_folder
from mlstream.arena.suite import Suite, load_suite, score_names
from mlstream.campaign.calls import parse_call
from mlstream.campaign.campaign import CampaignProgress
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.summary import ScoreRecord, add_continual, add_frugality, add_hierarchy, decided_by
from mlstream.records.checks import require_consistent
from mlstream.records.run_record import load_runs, path_of
from mlstream.records.run_result import RunResult, Score, total_cost
from mlstream.records.schema import AnyModel
from mlstream.streams.stream import Stream

# Of one record, of all unpacked, and their number: more than a suite has.
_MOST_BYTES, _MOST_IN_ALL, _MOST_FILES = 2**24, 2**28, 2000
# Sums in another order round otherwise.
_DIGITS = 9
# CPU time of another processor may be that of the records times this, at most.
_MOST_TIMES = 20.0
# Of energy and CPU time, which are rounded apart.
_TOLERANCE, _LEAST_J = 0.05, 3.6e-3

Progress = Callable[[CampaignProgress], None]


class Verification(NamedTuple):
    """A bundle that held: its record, the streams that were run again, and the largest difference of a score there."""

    record: LearnerRecord
    again: tuple[str, ...]
    largest_difference: float
    times_cpu: float  # CPU seconds of these runs here, over those of their records.
    missing: dict[str, str]  # Streams that were drawn, and have no table here.


def pack(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> LearnerRecord:
    """Write the runs of a learner as a bundle, a ZIP file; return its record.

    Parameters
    ----------
    folder : path
        The folder of a learner that `run` wrote.
    path : path
        The file to write; it must not exist.

    Returns
    -------
    LearnerRecord
        The record that others will find in it.

    Raises
    ------
    FileNotFoundError
        If the folder holds no runs of the arena.
    FileExistsError
        If the file exists.
    """
    folder = Path(folder)
    record = read_folder(folder)
    files = [folder / ORIGIN, *(path_of(run, folder) for run in load_runs(folder) if run.stream in record.cells)]
    with (
        atomic_path(path, replace=False) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for file in files:
            archive.write(file, file.relative_to(folder).as_posix())
    return record


def verify(
    bundle: str | os.PathLike[str],
    learner: object = None,
    *,
    seed: int | None = None,
    share: float = 0.1,
    progress: Progress | None = None,
) -> Verification:
    """Check that the runs of a bundle are those of a learner: their form, what follows from R, and a random tenth.

    Parameters
    ----------
    bundle : path
        A file that `pack` wrote. Nothing in it is executed.
    learner : str or estimator, optional
        The learner, as `run` takes it, from a module that you have read: its code runs. By default the strategy that
        the bundle names.
    seed : int, optional
        Seed of the draw of the cells that are run again; by default no one can know it beforehand.
    share : float
        Share of the cells that is run again, in (0, 1]; 1 leaves nothing to trust.
    progress : callable, optional
        Called with every event of the runs.

    Returns
    -------
    Verification
        The record, the streams that were run again, and the largest difference of a score.

    Raises
    ------
    ValueError
        If the bundle is not one, is of a suite that is not here, or was edited: a record contradicts itself, its R, the
        suite or the others, the source of the learner has another hash, or a cell that is run again has other scores by
        more than the suite tolerates.
    FileNotFoundError
        If there is no such file, or no stream that was drawn can be had.

    Examples
    --------
    >>> import tempfile
    >>> from mlstream import arena
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = arena.run("last_class", folder, scope="lite", boards=["environments"])
    ...     record = arena.pack(done.folder, f"{folder}/last_class.zip")
    ...     arena.verify(f"{folder}/last_class.zip", seed=0).largest_difference
    0.0
    """
    if not 0 < share <= 1:
        raise ValueError(f"share (--share) must be in (0, 1]. Got {share} instead.")
    origin, runs = read_bundle(bundle)
    suite = load_suite(origin.suite)
    for run in runs:
        _require_sound(run, origin, suite, bundle)
    record = make_record(origin.learner, origin.source_sha256, runs, suite)
    contestant = _enter(learner, origin, bundle)
    streams, absent = load_streams([entry for entry in suite.streams if entry.name in record.cells])
    _require_schedules(runs, streams, bundle)
    drawn = _draw(record, seed, share)
    chosen = [stream for stream in streams if stream.card.name in drawn]
    missing = {name: reason for name, reason in absent.items() if name in drawn}
    if not chosen:
        raise FileNotFoundError(f"A stream to run again must be here. Got 0: {next(iter(missing.values()))}")
    found = run_again(contestant, chosen, suite, progress)
    return Verification(record, tuple(found.cells), *_require_again(found, record, suite, bundle), missing)


def _require_schedules(runs: Sequence[RunResult], streams: Sequence[Stream], bundle: str | os.PathLike[str]) -> None:
    """Raise a ValueError unless runs have the tasks and the experiences of their streams, of those that are here."""
    by_name = {run.stream: run for run in runs}
    for stream in streams:
        run = by_name[stream.card.name]
        visits = [np.flatnonzero(row).tolist() for row in stream.order]
        names, sizes = [task.name for task in stream.tasks], [len(part) for part in stream]
        if (run.task_names, run.order, run.experience_sizes) != (names, visits, sizes):
            raise ValueError(f"{bundle}, {run.stream}: tasks and experiences must be those of the stream. Got others.")


def _require_again(
    found: LearnerRecord, record: LearnerRecord, suite: Suite, bundle: str | os.PathLike[str]
) -> tuple[float, float]:
    """Compare cells that were run again with their records; return the largest difference, and the ratio of CPU."""
    largest = max(compare(record, found), key=lambda one: one.size)
    if largest.size > suite.tolerance:
        raise ValueError(
            f"{bundle} must have scores that come again, within {suite.tolerance}. Got {largest.score} of "
            f"{largest.recorded} on {largest.stream}; run again, it is {largest.found}."
        )
    if found.estimator != record.estimator:
        raise ValueError(f"{bundle} must be of {found.estimator}. Got runs of {record.estimator}.")
    times = _times_cpu(found, record)
    if times > _MOST_TIMES:
        raise ValueError(
            f"{bundle} must state what runs cost: run again, they take {times:.0f} times the CPU. Got less."
        )
    return largest.size, times


def _enter(learner: object, origin: Origin, bundle: str | os.PathLike[str]) -> Contestant:
    """Return the learner of a bundle; raise a ValueError if it is not here, or of another source."""
    if learner is None and parse_call(origin.learner, f"{bundle}: learner")[0] not in STRATEGIES:
        raise ValueError(
            f"learner (--learner) must name the class of {origin.learner}, as my_module:{origin.learner}, in a module "
            f"whose code you have read: it is not a strategy. Got nothing."
        )
    contestant = enter(origin.learner) if learner is None else enter(learner, origin.learner)
    if contestant.source_sha256 != origin.source_sha256:
        raise ValueError(
            f"{bundle} must be of the source of {origin.learner} that is here ({contestant.source_sha256[:12]}...). "
            f"Got that of another version ({origin.source_sha256[:12]}...)."
        )
    return contestant


def _draw(record: LearnerRecord, seed: int | None, share: float) -> set[str]:
    """Draw the streams that are run again."""
    drawn = random.SystemRandom() if seed is None else random.Random(seed)  # noqa: S311 - a seed that is asked for
    return set(drawn.sample(sorted(record.cells), max(1, math.ceil(share * len(record.cells)))))


def _times_cpu(found: LearnerRecord, record: LearnerRecord) -> float:
    here_s, there_s = (math.fsum(side.cells[name].cpu_s or 0.0 for name in found.cells) for side in (found, record))
    return here_s / there_s if there_s else math.nan


def read_bundle(path: str | os.PathLike[str]) -> tuple[Origin, list[RunResult]]:
    """Read a bundle in memory; a ValueError names the file, and what in it is not as `pack` writes it."""
    with open_plain(path) as file:
        try:
            content = _unpack(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, EOFError) as error:
            raise ValueError(f"{path} must be a bundle that `mlstream arena pack` wrote. Got this: {error}.") from None
    origin = _parse(path, ORIGIN, content.pop(ORIGIN), Origin)
    runs = [_parse(path, name, text, RunResult) for name, text in content.items()]
    if not runs or len({run.stream for run in runs}) < len(runs):
        raise ValueError(f"{path} must hold one run for each of its streams, at least one. Got {len(runs)} runs.")
    return origin, runs


def _parse(path: str | os.PathLike[str], name: str, text: bytes, model: type[AnyModel]) -> AnyModel:
    try:
        return model.model_validate_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: {name} must be as `mlstream arena pack` writes it. Got this: {error}") from None


def _unpack(file: IO[bytes]) -> dict[str, bytes]:
    """Return the files of a bundle by name, read in memory, all of bounded size."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        names, sizes = [info.filename for info in members], [info.file_size for info in members]
        if len(names) > _MOST_FILES or max(sizes, default=0) > _MOST_BYTES or sum(sizes) > _MOST_IN_ALL:
            raise ValueError(f"{len(names)} files of {sum(sizes):,} bytes, more than a suite has")
        if ORIGIN not in names or len(set(names)) < len(names):
            raise ValueError(f"no {ORIGIN}, or a file that is there twice")
        return {info.filename: archive.read(info) for info in members}


def _require_sound(run: RunResult, origin: Origin, suite: Suite, bundle: str | os.PathLike[str]) -> None:
    """Raise a ValueError if a run is not one of this learner in this suite, or its scores do not follow from its R."""
    try:
        require_consistent(run)
        _require_energy(run, suite)
        facts = _facts(run, origin, suite)
        # A run that was stopped ranks last, and its curves end before its scores.
        following = _follow_from_records(run, suite) if run.status == "done" else {}
    except ValueError as error:
        raise ValueError(f"{bundle}, {run.stream}: {error}") from None
    facts |= {f"score {name}": (_round(run.scores.get(name)), _round(value)) for name, value in following.items()}
    for name, (got, wanted) in facts.items():
        if got != wanted:
            why = ", as its R or its curve says" if name.startswith("score ") else ""
            raise ValueError(f"{bundle}, {run.stream}: {name} must be {wanted!r}{why}. Got {got!r} instead.")


def _require_energy(run: RunResult, suite: Suite) -> None:
    """Raise a ValueError unless the energy of a run is its CPU time at the power of the suite."""
    cpu_s, joules = total_cost(run, "cpu_time_s"), energy_j(run)
    expected = None if cpu_s is None else cpu_s * suite.cpu_power_w
    if expected is not None and not math.isclose(joules or 0.0, expected, rel_tol=_TOLERANCE, abs_tol=_LEAST_J):
        raise ValueError(f"energy must be CPU time at {suite.cpu_power_w} W, {expected:.3g} J. Got {joules}.")


def _facts(run: RunResult, origin: Origin, suite: Suite) -> dict[str, tuple[object, object]]:
    """Return fields of a run, each as it is and as the suite asks for it."""
    # A learner without probabilities has no further rules; other settings follow from the stream.
    settings = {name: value for name, value in Settings(**suite.settings).as_json().items() if name != "also_decide"}
    entry = next((entry for entry in suite.streams if entry.name == run.stream), None)
    return {
        "stream": (run.stream, None if entry is None else entry.name),
        "stream_sha256": (run.stream_sha256, None if entry is None else entry.data_sha256),
        "strategy": (run.strategy, origin.learner),
        "seeds": ((run.seed, run.order_seed, run.split_seed), (SEED, None, None)),
        "settings": ({name: run.settings.get(name) for name in settings}, settings),
    }


def _follow_from_records(run: RunResult, suite: Suite) -> dict[str, Score]:
    """Return the scores that follow from other fields of a run: its matrices R, its energy, and the ends of its curves.

    Each score that ranks learners must be among them; a ValueError names one that is not.
    """
    if "ba_macro" not in run.R:
        raise ValueError(f"R must hold ba_macro. Got {sorted(run.R)}.")
    curves = {name: curve.cumulative[-1] for name, curve in run.curves.items() if curve.cumulative}
    found = curves | _follow_from_matrices(run, suite)
    if "nce" in run.R:
        # The worst of some environments is one of all.
        last, worst = run.R["nce"][-1], run.scores.get("nce_worst_unseen")
        found["nce_worst_unseen"] = worst if worst in last else None
    open_ = [name for name in score_names(suite, run.stream) if name in run.scores and name not in found]
    if open_:
        raise ValueError(f"{open_[0]} must follow from R or from a curve. Got neither.")
    return found


def _follow_from_matrices(run: RunResult, suite: Suite) -> dict[str, Score]:
    """Return the scores that follow from the matrices R of a run, by each rule of decisions, and from its energy."""
    matrices = {name: np.array(R, dtype=np.float64) for name, R in run.R.items()}
    order = np.array([[task in tasks for task in range(len(run.task_names))] for tasks in run.order])
    found = ScoreRecord()
    for ending in Settings(**suite.settings).endings:
        if f"ba_macro{ending}" not in matrices:
            # It estimates no probabilities.
            continue
        part, R = ScoreRecord(is_complete=run.status == "done"), decided_by(ending, matrices)
        add_continual(part, R["ba_macro"], order)
        add_hierarchy(part, R, order)
        add_frugality(part, total_cost(run, "energy_kwh"))
        found.take(part, ending)
    if "nce" in matrices:
        found.add("nce_worst", matrices["nce"][-1].max(), "")
    return found.values


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
