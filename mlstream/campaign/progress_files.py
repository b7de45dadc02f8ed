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

_UPDATE_INTERVAL_S = 0.5
_MAX_BYTES = 4096


class Progress(NamedTuple):
    """Progress of a run, and its worker."""

    worker: str
    n_rows_done: int
    n_rows: int


class ProgressFile:
    """A file that exists while a run goes on: ``with ProgressFile(path, n_rows) as file: ...``.

    A process that dies leaves its file behind. A run whose file cannot be written goes on without one.

    Parameters
    ----------
    path : Path
        The file.
    n_rows : int
        Number of rows of the stream.
    """

    def __init__(self, path: Path, n_rows: int) -> None:
        self._path = path
        self._n_rows = n_rows
        self._worker = worker_name()
        # Other processes may run the same job.
        self._part = path.with_name(f".{uuid.uuid4().hex}.part")

    def __enter__(self) -> Self:
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        self._write(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove_progress(self._path)

    def update(self, n_rows_done: int, _n_rows: int) -> None:
        """Write the progress of the run, twice a second at most."""
        if time.monotonic() - self._written > _UPDATE_INTERVAL_S:
            self._write(n_rows_done)

    def _write(self, n_rows_done: int) -> None:
        self._written = time.monotonic()
        progress = json.dumps(Progress(self._worker, n_rows_done, self._n_rows))
        try:
            # Not flushed to disk: after a crash of the machine, progress has no meaning.
            self._part.write_text(progress, encoding="utf-8")
            self._part.replace(self._path)
        except OSError:
            remove_progress(self._part)


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
                yield path, _read(path)


_PROGRESS = TypeAdapter(Progress)


def _read(path: Path) -> Progress:
    with path.open("rb") as file:
        return _PROGRESS.validate_json(file.read(_MAX_BYTES), strict=True)


def _list_files(directory: Path) -> list[Path]:
    # A folder may vanish while it is read.
    with suppress(OSError):
        return sorted(directory.rglob("*.json"))
    return []
