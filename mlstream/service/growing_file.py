"""The whole lines of a text file that grows, is cut short, or is replaced by another of its name."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypedDict

from mlstream._support.content import FormatError
from mlstream.formats.csv_blocks import find_quotes
from mlstream.formats.lines import BLOCK_BYTES, LONGEST_LINE_BYTES


class Position(TypedDict):
    """A place in a file that grows, behind a row; JSON holds it."""

    inode: int
    head: int
    """Bytes of the header."""
    byte: int
    line: int


class SourceWarning(UserWarning):
    """A live source leaves something out: a row that is not complete, or a file that comes too late."""


class Patience:
    """How long a source waits for more: until `stop` returns True, or `timeout_s` seconds after the last row."""

    def __init__(self, interval_s: float, timeout_s: float | None, stop: Callable[[], bool] | None) -> None:
        for name, value in (("interval_s", interval_s), ("timeout_s", timeout_s)):
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be a positive number of seconds. Got {value!r} instead.")
        self._interval_s, self._timeout_s, self._stop = interval_s, timeout_s, stop
        self.renew()

    def renew(self) -> None:
        """Begin to wait again."""
        self._began = time.monotonic()

    def is_over(self) -> bool:
        """Return whether nothing more is waited for; what is there by now still counts."""
        if self._stop is not None and self._stop():
            return True
        return self._timeout_s is not None and time.monotonic() - self._began >= self._timeout_s

    def sleep(self) -> None:
        """Wait until it is time to look again."""
        time.sleep(self._interval_s)


class GrowingFile:
    """The rows of a file as they come, in pieces of whole lines; a line break in a quoted cell ends none.

    Lines of CSV come one by one until `end_head` is called, so that the bytes of the header are known. `read` waits for
    more, and returns nothing at the end, or where the file was replaced or cut short (`is_replaced`): then `open`
    begins the next one.
    """

    def __init__(self, path: Path, patience: Patience, start: Position | None, *, is_csv: bool) -> None:
        self._path, self._patience, self._start, self._is_csv = path, patience, start, is_csv
        self._file: BinaryIO | None = None
        self._first, self._tail, self._in_head, self.is_replaced = b"", b"", True, False
        self.position = start or Position(inode=0, head=0, byte=0, line=0)

    def open(self) -> bool:
        """Wait for the file, and for its first line; return whether there is one."""
        while True:
            self.close()
            while not self._path.exists():
                if self._patience.is_over():
                    return False
                self._patience.sleep()
            self._file = self._path.open("rb")
            self._tail, self._in_head, self.is_replaced = b"", self._is_csv, False
            self._resume(os.fstat(self._file.fileno()))
            self._first = self._next_piece()
            if self._first or not self.is_replaced:
                return bool(self._first)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def end_head(self) -> int:
        """Give larger pieces from now on, and go to where an earlier reader was; return how many lines are skipped."""
        self._in_head = False
        self.position["head"] = self.position["byte"]
        if self._start is None or self._file is None:
            return 0
        n_skipped = self._start["line"] - self.position["line"]
        self.position, self._start = Position(**self._start), None
        self._first = self._tail = b""
        self._file.seek(self.position["byte"])
        return n_skipped

    def read(self, n_bytes: int, /) -> bytes:  # noqa: ARG002 - a line may be longer
        """Return whole lines, at once if there are some."""
        piece, self._first = self._first or self._next_piece(), b""
        self.position["byte"] += len(piece)
        self.position["line"] += piece.count(b"\n")
        return piece

    def _resume(self, found: os.stat_result) -> None:
        start = self._start
        if start is not None and (found.st_ino != start["inode"] or found.st_size < start["byte"]):
            got = "It was replaced or cut short since, and is read from its first row on"
            warnings.warn(f"{self._path} must be the file of the position. {got}.", SourceWarning, stacklevel=2)
            self._start = None
        self.position = Position(inode=found.st_ino, head=0, byte=0, line=0)

    def _next_piece(self) -> bytes:
        while True:
            # Looked at before the file: what was written by then is read.
            is_over, is_replaced = self._patience.is_over(), self._was_replaced()
            piece = self._take()
            if piece:
                self._patience.renew()
                return piece
            if is_replaced or is_over:
                self.is_replaced = is_replaced
                return self._take_rest()
            self._patience.sleep()

    def _was_replaced(self) -> bool:
        assert self._file is not None  # noqa: S101 - of the class itself
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return False
        return found.st_ino != self.position["inode"] or found.st_size < self._file.tell()

    def _take(self) -> bytes:
        """Take whole lines of what is there."""
        assert self._file is not None  # noqa: S101
        while True:
            end = self._find_end()
            if end:
                piece, self._tail = self._tail[:end], self._tail[end:]
                return piece
            more = self._file.read(BLOCK_BYTES)
            if not more:
                return b""
            self._tail += more
            if len(self._tail) > LONGEST_LINE_BYTES:
                rule = f"a line must be at most {LONGEST_LINE_BYTES} bytes long"
                raise FormatError(f"{self._path}: {rule}. Got a longer from byte {self.position['byte']} on.")

    def _find_end(self) -> int:
        end = self._tail.find(b"\n") + 1 if self._in_head else self._tail.rfind(b"\n") + 1
        if self._is_csv and b'"' in self._tail[:end]:
            quotes = find_quotes(self._tail[:end], ",")
            if len(quotes) % 2:
                # In the header, the reader asks for the next line itself.
                return end if self._in_head else self._tail.rfind(b"\n", 0, int(quotes[-1])) + 1
        return end

    def _take_rest(self) -> bytes:
        """Take the last line of a file that was replaced, which no line break ends; of others, warn."""
        assert self._file is not None  # noqa: S101
        rest, self._tail = self._tail, b""
        if not rest:
            return b""
        was_moved = self.is_replaced and os.fstat(self._file.fileno()).st_size >= self._file.tell()
        if was_moved and not self._in_head:
            return rest + b"\n"
        rule = "the last row must end with a line break"
        got = f"Got {len(rest)} bytes without one from byte {self.position['byte']} on, which are left out"
        warnings.warn(f"{self._path}: {rule}. {got}.", SourceWarning, stacklevel=2)
        return b""
