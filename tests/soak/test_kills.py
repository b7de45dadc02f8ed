"""Kills are sent in time, find a command that leaves half of a file, and are survived by those that we have."""

import signal
from collections import Counter

import numpy as np
import pytest

from tests.soak.faults.cases import Case
from tests.soak.faults.commands import Stop
from tests.soak.faults.stage import Stage
from tests.soak.kills import KILLS, kill_in_turn, kill_once
from tests.soak.test_faults import EVENTS, needs_shim

pytestmark = needs_shim

RUNS = Case("run s.npz -s mean,last_class -o out --energy none --quiet", "s.npz")
# Python imports this before anything else: the writers of the command leave a half of their file for a while.
NOT_ATOMIC = """
import time
from contextlib import contextmanager
from pathlib import Path
import mlstream._support.files

@contextmanager
def write_in_place(path, *, replace=True):
    Path(path).write_text("half")
    time.sleep(1)
    yield Path(path)

mlstream._support.files.atomic_path = write_in_place
"""


@pytest.fixture
def make_stage(tmp_path):
    """Return a function that makes the stage of one command, and close it afterwards."""
    stages = []

    def make(case):
        (tmp_path / "stage").mkdir()
        stages.append(Stage(tmp_path / "stage", [case]))
        return stages[0]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.soak
@pytest.mark.parametrize("kill", KILLS)
def test_a_writer_that_is_not_atomic_is_found(make_stage, tmp_path, monkeypatch, kill):
    (tmp_path / "sitecustomize.py").write_text(NOT_ATOMIC)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AssertionError, match=r"out\.csv is neither old nor new"):
        kill_once(make_stage(EVENTS), EVENTS, kill, 0.5)


@pytest.mark.soak
@pytest.mark.parametrize("kill", KILLS)
def test_a_signal_stops_a_command(make_stage, kill):
    stage = make_stage(EVENTS)
    whole = stage.meet(EVENTS).wall_time_s
    stage.begin(EVENTS)
    number, everybody = KILLS[kill]
    done = stage.run(EVENTS, stop=Stop(number, whole / 2, everybody))
    assert done.status == (-9 if number == signal.SIGKILL else 130)
    assert done.wall_time_s < 2 * whole
    assert done.n_left == 0


@pytest.mark.soak
@pytest.mark.parametrize("case", [EVENTS, RUNS])
def test_our_commands_survive_their_kills(make_stage, case):
    trial = kill_in_turn(make_stage(case), [case], seed=0)
    counts = sum((trial(number, np.random.default_rng([0, number])) for number in range(10)), start=Counter())
    assert counts.total() == 10
