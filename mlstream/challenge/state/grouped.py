"""Writes that share a transaction where many come at once: each commit waits for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Generic, TypeVar

from mlstream.challenge.errors import ChallengeError
from mlstream.challenge.state.store import Writing
from mlstream.challenge.state.submitting import QueriesWaiting, sync_folder

T = TypeVar("T")


class GroupedWrites(Generic[T]):
    """Writes that store files in a folder, each in a transaction that `begin` opens; safe to use from several threads.

    Those that come while another transaction is under way are made together by the next one.
    """

    def __init__(self, begin: Callable[[], AbstractContextManager[Writing]], folder: Path) -> None:
        self._begin = begin
        self._folder = folder
        self._waiting: list[_Write[T]] = []
        self._turn = threading.Lock()

    def run(self, act: Callable[[Writing], T]) -> T:
        """Return what a write returns, once it and its files are on disk.

        A write that raises a ChallengeError, which it may do before it adds anything, fails alone. Any other failure
        undoes all writes of the transaction, and is raised for each of them. An interrupt, say Ctrl-C, ends its own
        write only: the others are made by the next transaction.
        """
        write = _Write(act)
        self._waiting.append(write)
        try:
            with self._turn:
                if not write.is_done:
                    self._write_all([other for other in self._waiting.copy() if not other.is_done])
        finally:
            # Of a write that was interrupted before, nobody stores the file, which is about to go.
            self._waiting.remove(write)
        return write.result()

    def _write_all(self, writes: list[_Write[T]]) -> None:
        try:
            with self._begin() as state:
                for write in writes:
                    write.run(state)
                sync_folder(self._folder)
        except Exception as error:
            for write in writes:
                write.error = error
        for write in writes:
            write.is_done = True


class _Write(Generic[T]):
    """A write, and what became of it."""

    def __init__(self, act: Callable[[Writing], T]) -> None:
        self._act = act
        self._returned: list[T] = []
        self.error: Exception | None = None
        self.is_done = False

    def run(self, state: Writing) -> None:
        """Do it, unless it is refused; again, if an interrupt undid it."""
        self.error = None
        try:
            self._returned = [self._act(state)]
        except (ChallengeError, QueriesWaiting) as error:
            self.error = error

    def result(self) -> T:
        """Return what it returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self._returned[0]
