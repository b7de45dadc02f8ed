"""Marks of runs that are going on: small files, so that any process can see how far each worker is, and which died."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

_SECONDS_BETWEEN = 0.5


class Progress(NamedTuple):
    """How far a run is, and which worker runs it."""

    worker: str
    n_rows_met: int
    n_rows: int


class Mark:
    """A file that is there while a run goes on: ``with Mark(path, n_rows) as mark: ...``.

    A run whose process died leaves its mark behind.

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

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._write(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._path.unlink(missing_ok=True)

    def tell(self, n_rows_met: int, _n_rows: int) -> None:
        """Say how far the run is, twice a second at most."""
        if time.monotonic() - self._written > _SECONDS_BETWEEN:
            self._write(n_rows_met)

    def _write(self, n_rows_met: int) -> None:
        # Not flushed to disk: what is lost with the machine has no meaning afterwards.
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(Progress(self._worker, n_rows_met, self._n_rows)), encoding="utf-8")
        part.replace(self._path)
        self._written = time.monotonic()


def read_marks(directory: Path) -> Iterator[tuple[Path, Progress]]:
    """Read the marks in a folder and below; one that vanishes meanwhile is passed over."""
    for path in sorted(directory.rglob("*.json")):
        try:
            yield path, Progress(*json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            continue
