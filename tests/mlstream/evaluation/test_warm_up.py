"""What is compiled, or loaded, is so before the clock of a run starts."""

import json
import os
import signal
import subprocess
import sys
import time
from multiprocessing import get_context

import pytest

from estimators.strategies import STRATEGIES, make_strategy
from mlstream import evaluate
from mlstream.evaluation import energy
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.warm_up import compile_lock, warm_up
from tests.mlstream.evaluation import warm_up_paths
from tests.mlstream.evaluation.streams import make_stream

# Long enough for the busiest machine: only a turn that is not given up takes as long.
TIMEOUT_S = 120.0
FORK = get_context("fork")


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_run_meets_no_compiled_function_that_its_warm_up_has_not(layout):
    command = [sys.executable, warm_up_paths.__file__, layout]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {one["learner"]: one for one in map(json.loads, printed.splitlines())}
    here = {name for name, strategy in STRATEGIES.items() if not strategy.to_install}
    assert found.keys() == here | {*warm_up_paths.OTHERS}
    assert {name: one["late"] for name, one in found.items() if one["late"]} == {}
    # All but the baselines of counts, and learners in plain NumPy, are compiled.
    assert sum(one["loaded"] > 0 for one in found.values()) > len(found) / 2


def test_the_meter_of_energy_is_started_before_a_run_that_needs_it():
    learner, stream = make_strategy("mean"), make_stream()
    energy._meter_of.cache_clear()
    warm_up(learner, stream, Settings(energy="none"))
    assert energy._meter_of.cache_info().misses == 0
    warm_up(learner, stream, Settings(energy="codecarbon"))
    assert energy._meter_of.cache_info().misses == 1
    evaluate(learner, stream, energy="codecarbon")
    assert energy._meter_of.cache_info().misses == 1


@pytest.fixture
def name(monkeypatch, tmp_path):
    """Name something that no other process names."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return f"of test {os.getpid()}"


def hold(name, held):
    with compile_lock(name):
        held.set()
        signal.pause()


@pytest.fixture
def holder(name):
    """Give a process that holds the turn."""
    held = FORK.Event()
    process = FORK.Process(target=hold, args=(name, held))
    process.start()
    assert held.wait(TIMEOUT_S)
    yield process
    process.kill()
    process.join()


def seconds_to_enter(name, timeout_s):
    began = time.monotonic()
    with compile_lock(name, timeout_s=timeout_s):
        return time.monotonic() - began


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_turn_is_waited_for_but_not_for_ever(holder, name):
    assert seconds_to_enter(name, 0.5) >= 0.5
    assert seconds_to_enter(f"{name} else", TIMEOUT_S) < TIMEOUT_S


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_that_is_killed_gives_up_its_turn(holder, name):
    holder.kill()
    holder.join()
    assert seconds_to_enter(name, TIMEOUT_S) < TIMEOUT_S


def test_a_turn_ends_with_its_block(name):
    for _ in range(2):
        assert seconds_to_enter(name, TIMEOUT_S) < TIMEOUT_S


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_turn_ends_with_its_block_for_a_process_too_that_was_forked_in_it(name):
    with compile_lock(name):
        if (child := os.fork()) == 0:
            os._exit(signal.pause() or 0)
    try:
        assert seconds_to_enter(name, TIMEOUT_S) < TIMEOUT_S
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_without_a_folder_for_turns_all_go_on(name, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert seconds_to_enter(name, TIMEOUT_S) < TIMEOUT_S
