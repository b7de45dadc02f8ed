"""Names of the files of a campaign."""

from __future__ import annotations

import hashlib
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_KINDS = ("runs", "selections", "streams", "running", "detections")
_LEFTOVER_AGE_S = 3600
# With the seeds after it and a temporary name around it, a name of this length stays below the 255 of file systems.
_MAX_PLAIN = 150
_PLAIN = re.compile(r"[A-Za-z0-9_-]([A-Za-z0-9._-]*[A-Za-z0-9_-])?")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_REPETITION = re.compile(r"-seed(\d+)(?:-order(\d+))?(?:-split(\d+))?\.json$")
# No plain name holds the plus sign that stands between the two.
_N_KEPT, _N_DIGITS = 60, 16


class Repetition(NamedTuple):
    """Seeds that distinguish the runs of one strategy on one stream."""

    seed: int  # Of the learner.
    order_seed: int | None = None  # Of the order of tasks; None for the order that the stream has.
    split_seed: int | None = None  # Of the split of rows; None for the split that the stream has.

    @property
    def name(self) -> str:
        """Its part in the name of a file."""
        parts = (("seed", self.seed), ("order", self.order_seed), ("split", self.split_seed))
        return "-".join(f"{what}{number}" for what, number in parts if number is not None)

    @property
    def is_varied(self) -> bool:
        """Whether its seed is also that of the order of tasks, of the split of rows, or of both."""
        return {self.order_seed, self.split_seed} - {None} == {self.seed}


def run_path(directory: str | os.PathLike[str], stream: str, strategy: str, repetition: Repetition | int) -> Path:
    """Return the path of the record of a run; an int for `repetition` is the seed of the learner.

    The path is ``directory/runs/<stream>/<strategy>-seed<seed>.json``, with ``-order<seed>`` and ``-split<seed>`` after
    the seed where these are repeated.
    """
    return _path(directory, "runs", stream, strategy, repetition)


def list_repetitions(directory: str | os.PathLike[str], stream: str) -> dict[Path, Repetition]:
    """List the records of the runs on a stream, with the seeds that their names state."""
    paths = sorted((Path(directory) / "runs" / file_name(stream)).glob("*.json"))
    found = {path: match for path in paths if (match := _REPETITION.search(path.name))}
    return {
        path: Repetition(int(match[1]), *(None if seed is None else int(seed) for seed in match.group(2, 3)))
        for path, match in found.items()
    }


def detection_path(directory: str | os.PathLike[str], stream: str, learner: str, detector: str, seed: int) -> Path:
    """Return the path ``directory/detections/<stream>/<learner>/<detector>-seed<seed>.json`` of a record."""
    folder = Path(directory) / "detections" / file_name(stream) / file_name(learner)
    return folder / f"{file_name(detector)}-{Repetition(seed).name}.json"


def selection_path(directory: str | os.PathLike[str], stream: str, strategy: str, repetition: Repetition) -> Path:
    """Return the path of the selection of a run: as `run_path`, in the folder ``selections``."""
    return _path(directory, "selections", stream, strategy, repetition)


def progress_path(directory: str | os.PathLike[str], stream: str, strategy: str, repetition: Repetition) -> Path:
    """Return the path of the progress file of a run: as `run_path`, in the folder ``running``."""
    return _path(directory, "running", stream, strategy, repetition)


def file_name(name: str) -> str:
    """Return the name under which a file or folder can hold something called `name`, on any system.

    A plain name stays: at most 150 ASCII letters, digits, dots, dashes and underscores, with no dot at either end, and
    not a device of Windows (``con``, ``nul``). Of any other, up to 60 characters without dots, a plus sign and 16
    digits of its SHA-256 remain, so that different names have different files.
    """
    if len(name) <= _MAX_PLAIN and _PLAIN.fullmatch(name) and not _DEVICE.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_N_DIGITS]
    stem = re.sub(r"[^A-Za-z0-9-]+", "_", name)[:_N_KEPT].strip("_")
    return f"{stem or 'name'}+{digest}"


def remove_leftovers(directory: str | os.PathLike[str]) -> None:
    """Remove the temporary files that killed processes left in the folder of a campaign an hour ago or earlier.

    A younger file may belong to a process that is writing it.
    """
    oldest = time.time() - _LEFTOVER_AGE_S
    for kind in _KINDS:
        for path in (Path(directory) / kind).rglob(".*.part"):
            # Another process may remove it, and a file that cannot be removed does no harm.
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


def _path(
    directory: str | os.PathLike[str], kind: str, stream: str, strategy: str, repetition: Repetition | int
) -> Path:
    one = repetition if isinstance(repetition, Repetition) else Repetition(repetition)
    return Path(directory) / kind / file_name(stream) / f"{file_name(strategy)}-{one.name}.json"


def require_own_path(path: Path, own: Path, what: str) -> None:
    """Raise a ValueError if a file holds the record of another run, or detection, than its name says.

    A copy would count as another run.
    """
    if path != own:
        raise ValueError(
            f"{path} must hold the {what} of its name: remove the file, or rename it. Got the {what} of {own} instead."
        )
