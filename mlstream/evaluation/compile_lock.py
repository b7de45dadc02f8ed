"""Turns between processes of a machine: what one has compiled, the others load from disk, and need not compile."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mlstream.records.paths import file_name

# A turn spares work, and nothing depends on it: who has waited for so long goes on without.
TIMEOUT_S = 300.0
_POLL_INTERVAL_S = 0.05


@contextmanager
def compile_lock(what: str, *, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Let one process of this user do something at a time, for as long as the block goes on.

    Parameters
    ----------
    what : str
        What it is: processes that name something else do not wait.
    timeout_s : float
        Seconds of waiting after which the block is entered without a turn. A process that dies gives up its turn.
    """
    try:
        file = (Path(tempfile.gettempdir()) / f"mlstream-{os.getuid()}-{file_name(what)}.lock").open("ab")
    except OSError:
        yield
        return
    with file:
        _wait_for(file, time.monotonic() + timeout_s)
        yield


def _wait_for(file: IO[bytes], deadline: float) -> None:
    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_POLL_INTERVAL_S)
        else:
            return
