"""Progress of the workers of a campaign, in small files, and their CPU time: that of learners, and of all else."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from pydantic import TypeAdapter, ValidationError

from mlstream.evaluation.cpu_ledger import REST, CpuLedger

# Progress is written, or sent, after so many seconds.
UPDATE_INTERVAL_S = 0.5
_MAX_BYTES = 4096
LEARNERS, STARTS, HAND_OVER = "learners", "starts of processes", "plans and hand-overs"
_NS = 1e-9


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


class RunCpu(NamedTuple):
    """CPU time of one run, of its search and its records included."""

    worker: str  # Machine and process.
    began_ns: int  # CPU time of the process when the run began.
    ended_ns: int
    spent_ns: Mapping[str, int]  # By part; the parts add up to the run, see `mlstream.evaluation.cpu_ledger.CpuLedger`.


def worker_name() -> str:
    """Return the name of this process: machine and number."""
    return f"{socket.gethostname()} {os.getpid()}"


def read_ledger(ledger: CpuLedger) -> RunCpu:
    """Return the CPU time of a block that has ended in this process."""
    return RunCpu(worker_name(), ledger.began_ns, ledger.ended_ns, dict(ledger.spent_ns))


def add_up(runs: Iterable[RunCpu], command: RunCpu) -> dict[str, float]:
    """Add up the parts of a campaign, in s: runs, what lies before and between them, and the command that started them.

    `command` is the block of this process in which the campaign was made; it includes the runs that this process made
    itself. The parts add up to the CPU time of all processes, from their start to the end of their last run and, of
    this process, to the end of the block.
    """
    by_worker: defaultdict[str, list[RunCpu]] = defaultdict(list)
    spent: Counter[str] = Counter(command.spent_ns)
    spent[STARTS], spent[HAND_OVER] = command.began_ns, spent.pop(REST, 0)
    for run in runs:
        by_worker[run.worker].append(run)
        spent.update(run.spent_ns)
        spent[HAND_OVER] -= run.ended_ns - run.began_ns
    for worker in by_worker.keys() - {command.worker}:
        began, ended = min(run.began_ns for run in by_worker[worker]), max(run.ended_ns for run in by_worker[worker])
        spent[STARTS] += began
        spent[HAND_OVER] += ended - began
    return {name: ns * _NS for name, ns in spent.items()}


def sum_run(run: RunCpu) -> tuple[float, float]:
    """Return the CPU time of the learner's calls in a run, and that of everything else in it, in s."""
    own, whole = run.spent_ns.get(LEARNERS, 0), sum(run.spent_ns.values())
    return own * _NS, (whole - own) * _NS
