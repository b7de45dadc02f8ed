"""Work in a process of its own: a crash or a wait without end fails one trial, and its last step is known."""

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

PATIENCE_S = 120
_CONTEXT = multiprocessing.get_context("forkserver")
# Imports take seconds: the server makes them once, and forks.
_CONTEXT.set_forkserver_preload(["tests.estimators.instances", "tests.soak.hostile.tables"])

# Takes a function that says which step comes next, then the other arguments.
Work = Callable[..., Any]


def run_apart(work: Work, *args: Any, patience_s: float = PATIENCE_S) -> Any:
    """Return what the work returns; raise AssertionError if it fails, crashes or takes longer than the patience."""
    received, sent = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_run, args=(sent, work, args))
    process.start()
    sent.close()
    step, ending = "the start", None
    try:
        while received.poll(patience_s):
            kind, value = received.recv()
            if kind != "step":
                ending = kind, value
                break
            step = value
        else:
            raise AssertionError(f"{step}: has not returned after {patience_s:g} s")
    except EOFError:
        process.join()
        raise AssertionError(f"{step}: the process died of {_reason(process.exitcode)}") from None
    finally:
        process.kill()
        process.join()
    if ending[0] == "failed":
        raise AssertionError(f"{step}: {ending[1]}")
    return ending[1]


def _run(sent: Connection, work: Work, args: tuple[Any, ...]) -> None:
    try:
        sent.send(("done", work(lambda step: sent.send(("step", step)), *args)))
    except Exception as error:
        broken = isinstance(error, AssertionError)
        sent.send(("failed", str(error) if broken else f"{type(error).__name__}: {error}"))


def _reason(status: int | None) -> str:
    return signal.Signals(-status).name if status is not None and status < 0 else f"exit status {status}"
