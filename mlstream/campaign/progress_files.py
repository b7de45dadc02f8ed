"""Marks of runs that are going on: small files, so that any process can see how far each worker is, and which died."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from pydantic import TypeAdapter, ValidationError

_SECONDS_BETWEEN = 0.5
_MAX_BYTES = 4096


class Progress(NamedTuple):
    """How far a run is, and which worker runs it."""

    worker: str
    n_rows_met: int
    n_rows: int


class Mark:
    """A file that is there while a run goes on: ``with Mark(path, n_rows) as mark: ...``.

    A run whose process died leaves its mark behind. A run whose mark cannot be written goes on without one.

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
        self._worker = f"{socket.gethostname()} {os.getpid()}"

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
        remove_mark(self._path)

    def tell(self, n_rows_met: int, _n_rows: int) -> None:
        """Say how far the run is, twice a second at most."""
        if time.monotonic() - self._written > _SECONDS_BETWEEN:
            self._write(n_rows_met)

    def _write(self, n_rows_met: int) -> None:
        self._written = time.monotonic()
        progress = json.dumps(Progress(self._worker, n_rows_met, self._n_rows))
        try:
            # Not flushed to disk: what is lost with the machine has no meaning afterwards.
            self._part.write_text(progress, encoding="utf-8")
            self._part.replace(self._path)
        except OSError:
            remove_mark(self._part)


def remove_mark(path: Path) -> None:
    """Remove a mark, if it is there and can be removed."""
    with suppress(OSError):
        path.unlink()


def read_marks(directory: Path) -> Iterator[tuple[Path, Progress]]:
    """Read the marks in a folder and below; files that vanish meanwhile, or are not marks, are passed over."""
    for path in _list_files(directory):
        # What is no plain file might never end, or never begin.
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
