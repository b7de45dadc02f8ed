"""A lock between processes of a machine: one compiles, and the others then load its kernels from disk."""

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

# The lock saves work, and no result depends on it: a process that has waited for so long goes on without it.
TIMEOUT_S = 300.0
_POLL_INTERVAL_S = 0.05


@contextmanager
def compile_lock(what: str, *, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Let one process of this user at a time run the block; processes with another name in `what` do not wait.

    After `timeout_s` the block runs without the lock. A process that dies releases it.
    """
    try:
        file = (Path(tempfile.gettempdir()) / f"mlstream-{os.getuid()}-{file_name(what)}.lock").open("ab")
    except OSError:
        yield
        return
    with file:
        _wait_for(file, time.monotonic() + timeout_s)
        try:
            yield
        finally:
            # a process that was forked meanwhile has the file open, too
            fcntl.flock(file, fcntl.LOCK_UN)


def _wait_for(file: IO[bytes], deadline: float) -> None:
    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_POLL_INTERVAL_S)
        else:
            return
