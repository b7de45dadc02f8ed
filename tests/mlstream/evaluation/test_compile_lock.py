"""Processes take turns at what they name alike; none waits for one that is dead, or for ever."""

import os
import signal
import time
from multiprocessing import get_context

import pytest

from mlstream.evaluation.compile_lock import compile_lock

# Long enough for the busiest machine: only a turn that is not given up takes as long.
TIMEOUT_S = 120.0
FORK = get_context("fork")


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
