"""Processes that score, started when they are needed and replaced when they die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from queue import LifoQueue
from typing import Any, cast

from mlstream.challenge.errors import InvalidSubmission, ScoringFailed, StateFailed
from mlstream.challenge.folder import OrganiserFolder
from mlstream.challenge.scoring.scorer import FinalScores, PublicScores

_MAX_S = 600.0
_NICENESS = 10
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class ScoringPool:
    """Processes that score submissions of one challenge; safe to use from several threads.

    At most `n_processes` run at once.
    """

    def __init__(self, folder: OrganiserFolder, n_processes: int = 1) -> None:
        self._folder = folder
        # None: a process that has not been started.
        self._free: LifoQueue[subprocess.Popen[str] | None] = LifoQueue()
        self._n_processes = n_processes
        for _ in range(n_processes):
            self._free.put(None)

    def score_public(self, sha256: str, name: str) -> PublicScores:
        """Score a stored file on validation.

        Raises InvalidSubmission if the file is not a submission; ScoringFailed if it is not the file that was sent, the
        process died, or the files of the challenge are damaged; StateFailed if the disk fails while they are read.
        """
        return cast(PublicScores, self._request(kind="public", sha256=sha256, name=name))

    def score_final(self, sha256: str, name: str) -> FinalScores:
        """Score a stored file on test and unseen environments; as `score_public`."""
        return cast(FinalScores, self._request(kind="final", sha256=sha256, name=name))

    def close(self) -> None:
        """End all processes; those that are scoring are waited for."""
        for _ in range(self._n_processes):
            process = self._free.get()
            if process is not None:
                _end(process)
        for _ in range(self._n_processes):
            self._free.put(None)

    def _request(self, **request: str) -> Any:
        # A process may die for reasons of the machine, which are not the file's.
        reply = self._try(request) or self._try(request) or {}
        if "invalid" in reply:
            raise InvalidSubmission(reply["invalid"])
        if "disk" in reply:
            raise StateFailed(
                f"{self._folder.path} must be on a disk that can be read. Got this error: {reply['disk']}. "
                "Check the disk, then run the same command again."
            )
        if "changed" in reply:
            raise ScoringFailed(
                f"{self._folder.submissions / request['sha256']} must be the file that its team sent. Got another one. "
                "Put it back from a copy; `mlstream challenge audit --files` finds all such files."
            )
        if "scores" not in reply:
            raise ScoringFailed("The submission is stored but could not be scored. The organiser can try again.")
        return reply["scores"]

    def _try(self, request: Mapping[str, str]) -> Any:
        """Send a request to a free process; return its reply, or None if it died."""
        process = self._free.get()
        try:
            if process is None or process.poll() is not None:
                process = self._start()
            return _ask(process, json.dumps(request))
        except (OSError, ValueError):
            _end(process)
            process = None
            return None
        except BaseException:
            # Its reply, which nobody waits for now, must not be taken for that to the next request.
            _end(process)
            process = None
            raise
        finally:
            self._free.put(process)

    def _start(self) -> subprocess.Popen[str]:
        path = os.pathsep.join(filter(None, sys.path))
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-m", "mlstream.challenge.scoring.process", str(self._folder.path.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | _ONE_THREAD | {"PYTHONPATH": path},
        )
        # Teams wait for their file to be accepted, not for this, nor for what it imports first.
        os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
        return process


def _ask(process: subprocess.Popen[str], request: str) -> Any:
    """Send one request and wait for its reply; a process that takes too long is ended, and has failed."""
    timer = threading.Timer(_MAX_S, process.kill)
    # One that an interrupt leaves behind must not keep this process from its end.
    timer.daemon = True
    try:
        timer.start()
        assert process.stdin is not None and process.stdout is not None  # noqa: PT018, S101 - both are pipes
        process.stdin.write(f"{request}\n")
        process.stdin.flush()
        line = process.stdout.readline()
        return json.loads(line) if line or not timer.finished.is_set() else {"failed": True}
    finally:
        timer.cancel()


def _end(process: subprocess.Popen[str] | None) -> None:
    if process is None:
        return
    for pipe in (process.stdin, process.stdout):
        # A request that a dead process never read is still to be written.
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    process.kill()
    process.wait()
