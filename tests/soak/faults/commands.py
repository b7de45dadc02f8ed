"""Runs of the command line below a folder whose files can fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.soak.faults.file_system import FailingFiles

ROOT = Path(__file__).parents[3]
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class Done:
    """A command that has ended.

    Parameters
    ----------
    status : int or None
        Its exit status, negative for a signal; None if it did not end and was killed.
    output, errors : str
        What it printed.
    wall_time_s : float
        How long it took.
    n_left : int
        How many processes that it had started outlived it, for longer than they need to notice.
    """

    status: int | None
    output: str
    errors: str
    wall_time_s: float
    n_left: int

    @property
    def last_line(self) -> str:
        """The last line of its errors, empty if there is none."""
        return (self.errors.strip().splitlines() or [""])[-1]


@dataclass(frozen=True)
class Stop:
    """A signal that a command gets.

    Parameters
    ----------
    signal : signal.Signals
        Which.
    after_s : float
        When, in seconds from its start.
    everybody : bool
        Whether all processes that it has started get it as well, as from a terminal.
    """

    signal: signal.Signals
    after_s: float
    everybody: bool


class Commands:
    """Runs commands, one at a time: ``with Commands(files, place) as commands: ...``.

    Parameters
    ----------
    files : FailingFiles
        The library that fails.
    place : Path
        A folder for what commands print.
    """

    def __init__(self, files: FailingFiles, place: Path) -> None:
        self._output, self._errors = place / "output", place / "errors"
        paths = [str(ROOT), *filter(None, sys.path)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200", "TERM": "dumb"}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.faults.server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env=environment | files.environment(),
        )  # fmt: skip
        self._read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process that runs commands."""
        self._server.communicate()

    def run(
        self,
        folder: Path,
        *arguments: str,
        most_bytes: int | None = None,
        environment: dict[str, str] | None = None,
        stop: Stop | None = None,
    ) -> Done:
        """Run ``mlstream ARGUMENTS`` in a folder, in which no file may be larger than `most_bytes`."""
        order = {
            "folder": str(folder), "arguments": arguments, "output": str(self._output), "errors": str(self._errors),
            "most_bytes": most_bytes, "patience_s": _PATIENCE_S, "environment": environment or {},
            "stop": stop and asdict(stop),
        }  # fmt: skip
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        ended = json.loads(self._read())
        output, errors = (path.read_text(errors="replace") for path in (self._output, self._errors))
        return Done(output=output, errors=errors, **ended)

    def _read(self) -> str:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            raise RuntimeError("The process that runs commands ended.")
        return line
