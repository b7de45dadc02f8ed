"""Forked processes: each begins with all that is imported here, and leaves nothing behind."""

import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

_POLL_S = 0.01
_MOST_BYTES = 8 * 2**30


def in_child(work: Callable[[], int], *, seconds: float) -> int | None:
    """Run a function in a forked process, without output.

    Parameters
    ----------
    work : callable
        Returns the exit status.
    seconds : float
        After this time, the process and its children are killed.

    Returns
    -------
    int or None
        The exit status, 1 if it raised an error or was killed; None if the time was over.
    """
    child = os.fork()
    if not child:
        _be_child(work)
    status = _wait(child, seconds)
    # What it started goes with it.
    _kill_group(child)
    if status is None:
        os.waitpid(child, 0)
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 1


def _be_child(work: Callable[[], int]) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        _bound_memory()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        code = work()
    finally:
        # Without the parent's handlers at exit.
        os._exit(code)


def _bound_memory() -> None:
    """Let the process map no more than some memory: beside what it was forked with, which may be as much."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + _MOST_BYTES, mapped + _MOST_BYTES))


def _wait(child: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(_POLL_S)
    return None


def _kill_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        # It ended, and left nobody.
        return
