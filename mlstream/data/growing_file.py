"""The whole lines of a text file that grows, is cut short, or is replaced by another of its name."""

from __future__ import annotations

import os
import time
import warnings
import zlib
from collections.abc import Callable, Mapping
from io import FileIO
from pathlib import Path
from typing import TypedDict

from mlstream._support.content import FormatError
from mlstream._support.files import require_plain
from mlstream.formats.csv_blocks import find_quotes
from mlstream.formats.lines import BLOCK_BYTES, LONGEST_LINE_BYTES


class Position(TypedDict):
    """A place in a file that grows, behind a row; JSON holds it."""

    inode: int
    head: int
    """Bytes of the header."""
    byte: int
    line: int
    last: int
    """Checksum of the last bytes before this place."""


_START = Position(inode=0, head=0, byte=0, line=0, last=0)
# bytes before a place that must stay what they were: a file that is written again may be longer than before
_N_LAST = 64


def require_position(start: object, first: Mapping[str, object]) -> None:
    """Raise ValueError unless this is None, or a place with the names and types of the first one."""
    kinds = {name: type(value) for name, value in first.items()}
    if start is None or (isinstance(start, Mapping) and {name: type(start[name]) for name in start} == kinds):
        return
    raise ValueError(f"start must be the position() of such a source, with {', '.join(kinds)}. Got {start!r} instead.")


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
        require_position(start, _START)
        self._path, self._patience, self._start, self._is_csv = path, patience, start, is_csv
        self._file: FileIO | None = None
        self._first, self._tail, self._in_head, self.is_replaced = b"", b"", True, False
        # the last bytes of what was read, and of the pieces that were given
        self._last, self._given = b"", b""
        self.position = start or Position(**_START)

    def open(self) -> bool:
        """Wait for the file, and for its first line; return whether there is one."""
        while True:
            self.close()
            while not self._path.exists():
                if self._patience.is_over():
                    return False
                self._patience.sleep()
            require_plain(self._path)
            self._file = self._path.open("rb", buffering=0)
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
        self._last = self._given = self._bytes_before(self.position["byte"])
        return n_skipped

    def read(self, n_bytes: int, /) -> bytes:  # noqa: ARG002 - a line may be longer
        """Return whole lines, at once if there are some."""
        piece, self._first = self._first or self._next_piece(), b""
        self.position["byte"] += len(piece)
        self.position["line"] += piece.count(b"\n")
        self._given = (self._given + piece)[-_N_LAST:]
        self.position["last"] = zlib.crc32(self._given)
        return piece

    def _resume(self, found: os.stat_result) -> None:
        start = self._start
        if start is not None and not self._is_same(start, found):
            got = "It was replaced or cut short since, and is read from its first row on"
            warnings.warn(f"{self._path} must be the file of the position. {got}.", SourceWarning, stacklevel=2)
            self._start = None
        assert self._file is not None  # noqa: S101
        self._file.seek(0)
        self._last = self._given = b""
        self.position = Position(**{**_START, "inode": found.st_ino})

    def _is_same(self, start: Position, found: os.stat_result) -> bool:
        """Return whether the file is that of a position; another one may have got its number."""
        if found.st_ino != start["inode"] or not 0 <= start["byte"] <= found.st_size:
            return False
        return zlib.crc32(self._bytes_before(start["byte"])) == start["last"]

    def _bytes_before(self, place: int) -> bytes:
        """Read the last bytes before a place, and go there."""
        assert self._file is not None  # noqa: S101
        self._file.seek(max(0, place - _N_LAST))
        return self._file.read(min(place, _N_LAST))

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
        return found.st_ino != self.position["inode"] or self._was_cut()

    def _was_cut(self) -> bool:
        """Return whether the file itself no longer holds what was read."""
        assert self._file is not None  # noqa: S101
        place = self._file.tell()
        return os.fstat(self._file.fileno()).st_size < place or self._bytes_before(place) != self._last

    def _take(self) -> bytes:
        """Take whole lines of what is there."""
        assert self._file is not None  # noqa: S101
        while True:
            end = self._find_end()
            if end:
                piece, self._tail = self._tail[:end], self._tail[end:]
                return piece
            if self._was_cut() or not (more := self._file.read(BLOCK_BYTES)):
                return b""
            self._tail, self._last = self._tail + more, (self._last + more)[-_N_LAST:]
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
        rest, self._tail = self._tail, b""
        if not rest:
            return b""
        was_moved = self.is_replaced and not self._was_cut()
        if was_moved and not self._in_head:
            return rest + b"\n"
        is_open = self._is_csv and len(find_quotes(rest, ",")) % 2
        rule = f"the last row must {'close its quotes, and ' if is_open else ''}end with a line break"
        got = f"Got {len(rest)} bytes that do not from byte {self.position['byte']} on, which are left out"
        warnings.warn(f"{self._path}: {rule}. {got}.", SourceWarning, stacklevel=2)
        return b""
