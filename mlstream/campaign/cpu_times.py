"""CPU time of a campaign: that of the learners' own calls, and all that the campaign adds to it."""

from __future__ import annotations

import os
import socket
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mlstream.evaluation.cpu_ledger import REST, CpuLedger

LEARNERS, STARTS, HAND_OVER = "learners", "starts of processes", "plans and hand-overs"
_NS = 1e-9


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
