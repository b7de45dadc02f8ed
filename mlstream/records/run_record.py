"""The files of a campaign: the record of each run, written once, and the cards of its streams."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mlstream._support.files import write_text_atomically
from mlstream.records.checks import require_consistent
from mlstream.records.paths import file_name, require_own_path, run_path
from mlstream.records.run_result import (  # noqa: F401 - some are here for pickles and programs of version 0.1
    Curve,
    LeftOut,
    PhaseResources,
    References,
    Resources,
    RunResult,
    Runs,
    Score,
    to_score,
)
from mlstream.records.schema import list_records, read_record, refusal, require_none_failed, write_record
from mlstream.records.selection_record import SelectionRecord
from mlstream.streams.card_model import StreamCard


def save_run(result: RunResult, directory: str | os.PathLike[str]) -> Path:
    """Write the record of a run, by the rules of `write_record`, into the folder of its campaign."""
    return write_record(result, path_of(result, directory), lambda path: load_run(path).status == "failed", "run")


def load_run(path: str | os.PathLike[str]) -> RunResult:
    """Read one record; a ValueError names a file that is not of this version, or whose fields contradict each other."""
    run = read_record(Path(path), RunResult)
    try:
        require_consistent(run)
    except ValueError as error:
        raise refusal(path, RunResult, str(error)) from None
    return run


def load_run_at(path: Path, directory: str | os.PathLike[str]) -> RunResult:
    """Read one record of a campaign, which must be that of the run that the file is named after.

    A ValueError names a file that is not a record of this version, or holds another run.
    """
    run = load_run(path)
    require_own_path(path, path_of(run, directory), "run")
    return run


def load_runs(directory: str | os.PathLike[str]) -> Runs:
    """Read every record of a campaign, sorted by stream, strategy and seed.

    Parameters
    ----------
    directory : path
        The folder of a campaign.

    Returns
    -------
    Runs
        A list of at least one RunResult, with `Runs.to_frame`.

    Raises
    ------
    FileNotFoundError
        If the folder holds no record.
    ValueError
        If a file there is not a record of this version, contradicts itself, or holds another run than that of its name;
        the message names it.
    OSError
        If there is no permission to read a file or folder there.
    """
    paths = list_records(Path(directory) / "runs", 1)
    if not paths:
        folder = Path(directory)
        got = "none" if folder.is_dir() else "a file" if folder.exists() else "no such folder"
        raise FileNotFoundError(
            f"{directory} must hold records of runs (runs/STREAM/STRATEGY-seedN.json), as `mlstream run` writes them. "
            f"Got {got}{_way_to_runs(folder)}"
        )
    return Runs(load_run_at(path, directory) for path in paths)


def _way_to_runs(folder: Path) -> str:
    """Return the end of an error: the campaign meant, which lies in a folder with others, or around this one."""
    below = sorted(folder.iterdir()) if folder.is_dir() else []
    meant = next(filter(has_runs, [*below, folder.parent, folder.parent.parent]), None)
    return "." if meant is None else f"; did you mean {meant}?"


def has_runs(place: str | os.PathLike[str]) -> bool:
    """Return whether the folder of a campaign holds the record of a run."""
    # Others' folders may be closed to us.
    with suppress(OSError):
        return bool(list_records(Path(place) / "runs", 1))
    return False


def path_of(run: RunResult, directory: str | os.PathLike[str]) -> Path:
    """Return the path of a record in the folder of its campaign."""
    return run_path(directory, run.stream, run.strategy, run.repetition)


def require_success(results: Sequence[RunResult], directory: str | os.PathLike[str]) -> None:
    """Raise a RuntimeError about the runs that failed, if any, once a campaign has ended."""
    errors = {path_of(run, directory): run.error for run in results if run.status == "failed"}
    require_none_failed(errors, len(results), "runs")


def load_selection(path: str | os.PathLike[str]) -> SelectionRecord:
    """Read the selection of a run; a ValueError names a file that is not a record of this version."""
    return read_record(Path(path), SelectionRecord)


def save_card(card: StreamCard, directory: str | os.PathLike[str]) -> Path:
    """Write the card of a campaign's stream beside its runs, so that a report needs nothing else.

    The path is ``directory/streams/<stream>.card.json``; the folder is made if absent.
    """
    path = Path(directory) / "streams" / f"{file_name(card.name)}.card.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_atomically(path, card.model_dump_json(indent=1))
    return path


def load_cards(directory: str | os.PathLike[str]) -> dict[str, StreamCard]:
    """Read the cards of a campaign's streams, by the name of the stream."""
    cards = [read_record(path, StreamCard) for path in sorted(Path(directory).glob("streams/*.card.json"))]
    return {card.name: card for card in cards}
