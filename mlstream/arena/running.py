"""Runs of one learner in the arena: its laws first, then a campaign over the streams that have no record yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from estimators.checks import LAWS, stream_checks
from estimators.strategies import STRATEGIES, make_strategy
from mlstream._support.files import did_you_mean, write_text_atomically
from mlstream.arena.learner_source import hash_source
from mlstream.arena.records import LearnerRecord, make_record
from mlstream.arena.suite import NEWEST_SUITE, Scope, StreamEntry, Suite, load_suite
from mlstream.campaign.calls import parse_call
from mlstream.campaign.campaign import CampaignProgress, run_campaign
from mlstream.campaign.config import make_own
from mlstream.evaluation.predictions import require_probabilities
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.wrapping import wrap
from mlstream.records.paths import file_name
from mlstream.records.run_record import has_runs, load_runs
from mlstream.records.schema import Record, read_record
from mlstream.streams.stream import Stream

SEED = 0
ORIGIN = "arena.json"
# Scores rely on these: no prediction sees its own labels, predictions are free, and a seed gives a result.
ARENA_LAWS = (
    "check_same_seed_same_bits",
    "check_predict_changes_nothing",
    "check_no_row_sees_its_labels",
    "check_one_call_equals_two",
    "check_mask_is_honoured",
)


class Contestant(NamedTuple):
    """A learner that joins: its name on the boards, the estimator, and the hash of its source."""

    name: str
    estimator: object
    source_sha256: str
    is_strategy: bool  # Also with parameters of its own: no code of the user's.


class Origin(Record):
    """The learner and the suite that the runs of a folder are of."""

    suite: int
    learner: str
    source_sha256: str


class ArenaRun(NamedTuple):
    """The record of a learner that ran, the folder of its runs, and the streams that could not be had, with reasons."""

    record: LearnerRecord
    folder: Path
    missing: dict[str, str]


def enter(learner: object, name: str | None = None) -> Contestant:
    """Return the contestant of a strategy's name or "package.module:Class", both also with parameters, or an estimator.

    A ValueError is raised if a name or class is unknown, or the class has no source in a file; a TypeError if it cannot
    learn from a stream.
    """
    if not isinstance(learner, str):
        return Contestant(name or type(learner).__name__, learner, hash_source(learner), is_strategy=False)
    called, parameters = parse_call(learner, "LEARNER")
    if ":" in called:
        estimator = make_own("LEARNER", called, parameters or {})
    elif called in STRATEGIES:
        estimator = make_strategy(called, **parameters or {})
    else:
        raise ValueError(
            f"LEARNER must be a strategy that `mlstream strategies` lists, or the class of a module, as "
            f"my_module:MyLearner. Got {learner!r} instead{did_you_mean(called, STRATEGIES)}"
        )
    name = name or learner.rpartition(":")[2]
    return Contestant(name, estimator, hash_source(estimator), is_strategy=name == learner)


def require_laws(estimator: object) -> None:
    """Raise a ValueError if a learner breaks a law that the scores of the arena rely on; it names the law."""
    failing = {law.__name__: "" for law in LAWS if law.__name__ not in ARENA_LAWS}
    for one, check in stream_checks(wrap(estimator), expected_failed_checks=failing):
        broken = _broken_law(one, check)
        if isinstance(broken, TypeError):
            raise broken
        if broken is not None:
            raise ValueError(f"LEARNER must keep the laws of learning from a stream. Got this: {broken}")


def _broken_law(estimator: Any, check: Callable[[Any], None]) -> Exception | None:
    """Return the error of a law that is broken, or of a learner that does not learn tables of labels at all."""
    try:
        check(estimator)
    except AssertionError as error:
        cause = error.__cause__
        return TypeError(str(cause)) if isinstance(cause, TypeError) else error
    except SystemExit as error:
        return AssertionError(f"{type(estimator).__name__} ended its process (SystemExit: {error})")
    return None


def run(  # noqa: PLR0913 - what is run, and how
    learner: object,
    directory: str | os.PathLike[str] = "arena",
    *,
    suite: int = NEWEST_SUITE,
    scope: Scope = "full",
    boards: Sequence[str] = (),
    name: str | None = None,
    n_jobs: int = 1,
    dask: str | None = None,
    progress: Callable[[CampaignProgress], None] | None = None,
) -> ArenaRun:
    """Run a learner on the streams of the suite; those that have a record are kept.

    Parameters
    ----------
    learner : str or estimator
        Name of a strategy or "package.module:Class", also with parameters: "NN(learning_rate=0.1)"; or an estimator
        that `mlstream.evaluate` takes, whose class is in a file.
    directory : path
        Folder of the records; each learner has a folder there.
    suite : int
        Number of the suite; by default the newest.
    scope : {"full", "lite"}
        All streams, or the part whose ranks agree with those of all.
    boards : sequence of str
        Run the streams of these boards; by default those of all.
    name : str, optional
        Name on the boards; by default that of the strategy or class.
    n_jobs : int
        Number of processes; -1 for as many as cores.
    dask : str, optional
        Address of a Dask scheduler whose workers run everything.
    progress : callable, optional
        Called with every event, as by `mlstream.run_campaign`.

    Returns
    -------
    ArenaRun
        The record, its folder, and the streams whose tables are missing here.

    Raises
    ------
    ValueError
        If the learner is unknown, breaks a law that scores rely on, or has the name of another one; if there is no such
        suite or board; or the folder holds runs of another suite, or of the learner before its source changed.
    TypeError
        If the learner cannot learn from a stream.

    Examples
    --------
    >>> import tempfile
    >>> from mlstream import arena
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = arena.run("last_class", folder, scope="lite", boards=["environments"])
    >>> {cell.status for cell in done.record.cells.values()}
    {'done'}
    """
    content, contestant = load_suite(suite), enter(learner, name)
    entries = choose_entries(content, scope, boards)
    _require_own_name(contestant)
    require_laws(contestant.estimator)
    folder = Path(directory) / file_name(contestant.name)
    _claim(folder, contestant, suite)
    streams, missing = load_streams(entries)
    if not streams:
        raise FileNotFoundError(f"The streams of the arena must be here. Got 0: {next(iter(missing.values()))}")
    run_campaign(
        {contestant.name: contestant.estimator},
        streams,
        [SEED],
        folder,
        n_jobs=n_jobs,
        dask=dask,
        progress=progress,
        **options_for(contestant.estimator, content),
    )
    return ArenaRun(read_folder(folder), folder, missing)


def options_for(estimator: object, suite: Suite) -> dict[str, Any]:
    """Return the options of a run: a learner that estimates no probabilities is scored by its own decisions alone."""
    try:
        require_probabilities(estimator, Settings(**suite.settings))
    except TypeError:
        return suite.settings | {"also_decide": ()}
    return suite.settings


def choose_entries(suite: Suite, scope: Scope, boards: Sequence[str] = ()) -> list[StreamEntry]:
    """List the streams of some boards, each once; a ValueError names a board that is unknown."""
    unknown = next((board for board in boards if board not in suite.boards), None)
    if unknown is not None:
        raise ValueError(
            f"boards must be among {', '.join(suite.boards)}. Got {unknown!r} instead"
            f"{did_you_mean(unknown, suite.boards)}"
        )
    chosen = {entry.name: entry for board in boards or suite.boards for entry in suite.entries(scope, board)}
    return list(chosen.values())


def load_streams(entries: Sequence[StreamEntry]) -> tuple[list[Stream], dict[str, str]]:
    """Make streams; those whose table is not here are left out, with the reason by name."""
    streams, missing = [], {}
    for entry in entries:
        try:
            streams.append(entry.load())
        except FileNotFoundError as error:
            missing[entry.name] = str(error)
    return streams, missing


def read_folder(folder: Path) -> LearnerRecord:
    """Read the record of the learner whose runs a folder holds."""
    path = folder / ORIGIN
    if not path.is_file() or not has_runs(folder):
        raise FileNotFoundError(
            f"{folder} must be the folder of a learner, as `mlstream arena run` writes it (arena.json and runs). "
            f"Got neither."
        )
    origin = read_record(path, Origin)
    suite = load_suite(origin.suite)
    known = {entry.name for entry in suite.streams}
    runs = [run for run in load_runs(folder) if run.stream in known and run.strategy == origin.learner]
    if not runs:
        raise FileNotFoundError(f"{folder} must hold runs on streams of suite {suite.version}. Got 0.")
    return make_record(origin.learner, origin.source_sha256, runs, suite)


def _require_own_name(contestant: Contestant) -> None:
    """Raise a ValueError if a learner has the name of one whose records come with this package."""
    if contestant.name in STRATEGIES and not contestant.is_strategy:
        raise ValueError(f"name (--name) must be another than those of strategies. Got {contestant.name!r}.")


def _claim(folder: Path, contestant: Contestant, suite: int) -> None:
    """Note what the runs of a folder are of; raise a ValueError if it holds those of anything else."""
    wanted = Origin(suite=suite, learner=contestant.name, source_sha256=contestant.source_sha256)
    path = folder / ORIGIN
    if path.exists():
        found = read_record(path, Origin)
        if found != wanted:
            what = "suite" if found.suite != suite else "source"
            raise ValueError(
                f"{folder} must hold runs of this learner and suite only: remove it, or name another folder "
                f"(--output). Got runs of another {what} of {found.learner}."
            )
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_text_atomically(path, wanted.model_dump_json(indent=1))
