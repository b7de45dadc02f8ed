"""Progress files: small files from which any process reads how far each worker is, and which worker died."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from pydantic import TypeAdapter, ValidationError

from mlstream.campaign.cpu_times import worker_name

# Progress is written, or sent, after so many seconds.
UPDATE_INTERVAL_S = 0.5
_MAX_BYTES = 4096


class Progress(NamedTuple):
    """Progress of a run, and its worker."""

    worker: str
    n_rows_done: int
    n_rows: int


_PROGRESS = TypeAdapter(Progress)


class ProgressFile:
    """A file that exists while a run goes on: ``with ProgressFile(path, n_rows) as file: ...``.

    A process that dies leaves its file behind. A run whose file cannot be written goes on without one.
    """

    def __init__(self, path: Path, n_rows: int) -> None:
        self._path = path
        self._n_rows = n_rows
        self._worker = worker_name()

    def __enter__(self) -> Self:
        self._write(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove_progress(self._path)

    def update(self, n_rows_done: int, _n_rows: int) -> None:
        """Write the progress of the run, twice a second at most."""
        if time.monotonic() - self._written > UPDATE_INTERVAL_S:
            self._write(n_rows_done)

    def _write(self, n_rows_done: int) -> None:
        self._written = time.monotonic()
        write_progress(self._path, Progress(self._worker, n_rows_done, self._n_rows))


def write_progress(path: Path, progress: Progress) -> None:
    """Write a progress file, if it can be written."""
    # Other processes may run the same job.
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not flushed to disk: after a crash of the machine, progress has no meaning.
        part.write_text(json.dumps(progress), encoding="utf-8")
        part.replace(path)
    except OSError:
        remove_progress(part)


def remove_progress(path: Path) -> None:
    """Remove a progress file, if it exists and can be removed."""
    with suppress(OSError):
        path.unlink()


def read_progress(directory: Path) -> Iterator[tuple[Path, Progress]]:
    """Read the progress files in a folder and below; those that vanish meanwhile, and other files, are skipped."""
    for path in _list_files(directory):
        # Reading anything but a plain file might never end, or never begin.
        with suppress(OSError, ValidationError):
            if path.is_file():
                with path.open("rb") as file:
                    progress = _PROGRESS.validate_json(file.read(_MAX_BYTES), strict=True)
                yield path, progress


def _list_files(directory: Path) -> list[Path]:
    # A folder may vanish while it is read.
    with suppress(OSError):
        return sorted(directory.rglob("*.json"))
    return []
