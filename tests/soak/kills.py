"""``kill -9`` and Ctrl-C at random moments of commands: targets are whole or absent, and the same command goes on."""

from __future__ import annotations

import atexit
import signal
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from tests.mlstream.campaign.test_cluster import Cluster
from tests.soak.faults.cases import CASES, Case
from tests.soak.faults.commands import Done, Stop
from tests.soak.faults.stage import Stage
from tests.soak.runner import Trial

# In words -> the signal, and whether all processes of the command get it, as from a terminal.
KILLS = {"kill -9": (signal.SIGKILL, False), "Ctrl-C": (signal.SIGINT, True)}
_INTERRUPTED = 130
# Some signals come when the command has just ended.
_LATE = 1.1
_WAYS = {"--jobs": "2 jobs", "--dask": "Dask", "--tune": "tuned"}
_RUN = "run s.npz -s mean,last_class -o out --energy none --quiet --dask {address}"


def prepare(folder: Path, seed: int) -> Trial:
    """Make the inputs of all commands, and start a cluster for one."""
    (folder / "cluster").mkdir()
    cluster = Cluster(folder / "cluster")
    atexit.register(cluster.close)
    for _ in range(2):
        cluster.add_worker()
    cases = (*CASES, Case(_RUN.format(address=cluster.address), "s.npz"))
    stage = Stage(folder, cases)
    atexit.register(stage.close)
    return kill_in_turn(stage, cases, seed)


def kill_in_turn(stage: Stage, cases: Sequence[Case], seed: int) -> Trial:
    """Return the trial of one kill: each command by each signal once, in random order, then again in another one."""

    every = list(product(KILLS, cases))

    def trial(number: int, rng: np.random.Generator) -> Counter[str]:
        turn, place = divmod(number, len(every))
        kill, case = every[np.random.default_rng([seed, turn]).permutation(len(every))[place]]
        kill_once(stage, case, kill, float(rng.uniform(0, _LATE)))
        return Counter({f"{kill} of {_name(case)}": 1})

    return trial


def kill_once(stage: Stage, case: Case, kill: str, share: float) -> None:
    """Stop a command after a share of the time that it takes, look at what it left, and run it again.

    Raises
    ------
    AssertionError
        If something is half-written or lost, a process outlives the command, or the command does not go on.
    """
    expected = stage.meet(case)
    number, everybody = KILLS[kill]
    stage.begin(case)
    done = stage.run(case, stop=Stop(number, share * expected.wall_time_s, everybody))
    where = f"mlstream {case.command}, {kill} after {share:.3f} of its time"
    _require_end(done, number, where)
    was_cut = number == signal.SIGKILL
    found = stage.require_whole(case, where, was_cut=was_cut)
    stage.require_success(case, found, where, was_cut=was_cut)
    stage.require_check(case, where)


def _require_end(done: Done, number: signal.Signals, where: str) -> None:
    assert done.status in (0, -signal.SIGKILL if number == signal.SIGKILL else _INTERRUPTED), (
        f"{where}: exit status {done.status}: {done.last_line}"
    )
    assert "Traceback" not in done.errors + done.output, f"{where}: a traceback: {done.last_line}"
    assert done.status != _INTERRUPTED or done.last_line.startswith("Interrupted"), f"{where}: says {done.last_line!r}"
    assert not done.n_left, f"{where}: {done.n_left} processes outlive it"


def _name(case: Case) -> str:
    """Return the first word of a command, and how it is run."""
    first, *others = case.command.split()
    how = [words for option, words in _WAYS.items() if option in others]
    return ", ".join([first, *how, *(["over an older target"] if case.earlier else [])])
