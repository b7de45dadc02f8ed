"""Text that is read forwards: line by line at first, then in blocks of whole lines."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Protocol

from mlstream._support.content import FormatError, at

# Enough for compiled loops to be fast, few enough to be nothing beside a table.
BLOCK_BYTES = 2**19
# Below this, nothing is gained by loading compiled loops.
SHORT_BYTES = 2**20
# A row of millions of numbers is shorter; what is longer is not text.
LONGEST_LINE_BYTES = 32 * 2**20

LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\r|\n)")
_WINDOWS = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xA0)}


class Readable(Protocol):
    """A source of bytes."""

    def read(self, n_bytes: int, /) -> bytes:
        """Read as many bytes; fewer at the end only."""


def decode_windows(text: bytes) -> str:
    r"""Decode Windows-1252, its five bytes without a character as in Latin-1.

    >>> decode_windows(b"\x80 \xe9 \x81")
    '€ é \x81'
    """
    return text.decode("latin-1").translate(_WINDOWS)


class Lines:
    """The lines of a text, which end as on Unix, Windows or old Macs.

    The first line with other characters than ASCII, comments (which begin with `comment`) aside, determines whether the
    text is UTF-8 or Windows-1252, which reads Latin-1 alike.
    """

    def __init__(self, source: Readable, path: Path, comment: str = "") -> None:
        self.path = path
        self.n_read = 0
        """How many lines `head` gave."""
        self.is_short = False
        """Whether the text is so short that it is not worth much effort."""
        self._encoding, self._comment = "", comment.encode()
        self._block, self._position = b"", 0
        self._blocks = self._read_blocks(source)

    def head(self, *, keep_ends: bool = False) -> Iterator[str]:
        """Read line by line, as long as lines are taken."""
        for block in self._blocks:
            self._block = block
            for match in LINE.finditer(block):
                self.n_read, self._position = self.n_read + 1, match.end()
                yield self.decode(match.group(not keep_ends), self.n_read)

    @property
    def block(self) -> bytes:
        """The block of which `head` gave the last line."""
        return self._block

    def blocks(self) -> Iterator[bytes]:
        """Read what `head` left, in blocks of whole lines, each of which ends."""
        if self._position < len(self._block):
            yield self._block[self._position :]
        yield from self._blocks

    def rewind(self, n_lines: int) -> None:
        """Give back the lines that `head` gave, all of them of the first block, but for some."""
        self.n_read = self._position = 0
        for match in islice(LINE.finditer(self._block), n_lines):
            self.n_read, self._position = self.n_read + 1, match.end()

    def to_utf8(self, block: bytes, first_line: int) -> bytes:
        """Encode a block, whose first line has a number, as UTF-8."""
        if block.isascii():
            return block
        if self._encoding != "Windows-1252":
            with suppress(UnicodeDecodeError):
                block.decode()
                self._encoding = "UTF-8"
                return block
        lines = (self.decode(match.group(), line) for line, match in enumerate(LINE.finditer(block), first_line))
        return "".join(lines).encode()

    def decode(self, line: bytes, number: int) -> str:
        """Decode one line."""
        if line.isascii():
            return line.decode("ascii")
        if self._comment and line.lstrip().startswith(self._comment):
            return line.decode("utf-8", "replace")
        try:
            text, encoding = line.decode("utf-8"), "UTF-8"
        except UnicodeDecodeError:
            text, encoding = decode_windows(line), "Windows-1252"
        if self._encoding == "UTF-8" != encoding:
            raise FormatError(f"{at(self.path, number)}: text must be UTF-8, as it was before. Got other bytes.")
        self._encoding = self._encoding or encoding
        return text if self._encoding == encoding else decode_windows(line)

    def _read_blocks(self, source: Readable) -> Iterator[bytes]:
        # Pieces of one line are joined when it ends: joining them one by one would copy a long line each time.
        waiting: list[bytes] = []
        for piece in self._read_pieces(source):
            # A carriage return at the very end may be half of a line's end.
            end = piece.rfind(b"\n") + 1 or piece.rfind(b"\r", 0, -1) + 1
            if end:
                yield b"".join([*waiting, piece[:end]])
                waiting = []
            waiting.append(piece[end:])
            if sum(map(len, waiting)) > LONGEST_LINE_BYTES:
                raise FormatError(f"{self.path}: a line must be at most {LONGEST_LINE_BYTES} bytes long. Got a longer.")
        rest = b"".join(waiting)
        if rest:
            yield rest + b"\n"

    def _read_pieces(self, source: Readable) -> Iterator[bytes]:
        start = source.read(SHORT_BYTES)
        self.is_short = len(start) < SHORT_BYTES
        start = start.removeprefix(codecs.BOM_UTF8)
        yield from (start[place : place + BLOCK_BYTES] for place in range(0, len(start), BLOCK_BYTES))
        yield from iter(lambda: source.read(BLOCK_BYTES), b"")
