"""Commands in processes that need no start: a process that has imported all, of which each is a copy.

Run with the library of ``shim.c`` before libc. Each line of its input is a command in JSON; the reply is how it ended.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import psutil

# What commands import when they need it. None of it may start a thread, which a copy of a process would lack.
_MODULES = (
    "mlstream", "mlstream.cli", "mlstream.campaign.campaign", "mlstream.publishing.folder", "mlstream.reporting.report",
    "mlstream.challenge.engine", "mlstream.evaluation.evaluate", "mlstream.evaluation.detect", "mlstream.generators",
    "mlstream.data.datasets", "mlstream.data.registry", "mlstream.cards.page", "mlstream.diagnosis",
    "mlstream.plotting.matplotlib_parts", "matplotlib.figure", "matplotlib.backends.backend_agg", "pyarrow.parquet",
    "sklearn.linear_model", "jinja2", "sqlite3", "multiprocessing.pool", "mlstream.challenge.page", "joblib",
    "estimators", "river.drift", "mlstream.formats.parquet", "scipy.spatial.distance", "sklearn.cluster",
    "mlstream.challenge.codabench.export", "mlstream.challenge.client", "mlstream.publishing.presets",
    "mlstream.campaign.detection",
)  # fmt: skip
_POLL_S = 0.002
# Workers notice within this time that who started them is gone, on a busy machine, too.
_MOURNING_S = 60.0


def main() -> None:
    """Reply until the input ends."""
    for name in _MODULES:
        import_module(name)
    gc.freeze()
    # A command listens to it from where the program of a user does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(order)
        print(json.dumps(_wait(child, order["patience_s"], order["stop"])), flush=True)


def _become(order: dict[str, Any]) -> NoReturn:
    """Run a command in this process, which is a copy, and end as a process of its own does."""
    os.setsid()
    os.chdir(order["folder"])
    os.environ.update(order["environment"])
    for handle, name in ((0, os.devnull), (1, order["output"]), (2, order["errors"])):
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, handle)
        os.close(file)
    if (limit := order["most_bytes"]) is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["mlstream", *order["arguments"]]
    from mlstream.cli import main as command

    status = 0
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        command()
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        status = 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # As the interpreter ends, but without taking apart all that was imported, which takes a second.
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def _wait(child: int, patience_s: float, stop: dict[str, Any] | None) -> dict[str, Any]:
    """Return the exit status of a process, negative for a signal and None if it had to be killed; and what it left."""
    began = time.monotonic()
    ended, status, pending = 0, 0, stop
    while not ended and time.monotonic() - began < patience_s:
        time.sleep(_POLL_S)
        if pending and time.monotonic() - began >= pending["after_s"] and _send(child, pending):
            pending = None
        ended, status = os.waitpid(child, os.WNOHANG)
    wall_time_s = time.monotonic() - began
    n_left = _count_left(child) if stop else 0
    with suppress(ProcessLookupError):
        # With all that it started, even after its own end: nothing of it may meet the next command.
        os.killpg(child, signal.SIGKILL)
    if not ended:
        os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status) if ended else None
    return {"status": code, "wall_time_s": wall_time_s, "n_left": n_left}


def _send(child: int, stop: dict[str, Any]) -> bool:
    """Send a signal; return whether the process was there."""
    with suppress(ProcessLookupError):
        (os.killpg if stop["everybody"] else os.kill)(child, stop["signal"])
        return True
    return False


def _count_left(session: int) -> int:
    """Count the processes of a session that do not end by themselves."""
    deadline = time.monotonic() + _MOURNING_S
    while (n_left := sum(_is_of(process, session) for process in psutil.process_iter())) > 0:
        if time.monotonic() > deadline:
            break
        time.sleep(_POLL_S)
    return n_left


def _is_of(process: psutil.Process, session: int) -> bool:
    with suppress(psutil.Error, ProcessLookupError):
        return os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE
    return False


if __name__ == "__main__":
    main()
