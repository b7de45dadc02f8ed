"""Files packed by xz, unpacked in bounded memory."""

from __future__ import annotations

import io
import lzma
from contextlib import suppress
from typing import IO

_PIECE_BYTES = 2**16
# Four times what `xz -9` takes. The first bytes of a file may ask for gigabytes, which `lzma.open` grants.
_MOST_MEMORY_BYTES = 2**28


def open_xz(file: IO[bytes]) -> io.BufferedReader:
    """Open the content of an xz file, of which there may be several one after the other.

    Closing the result leaves the file open. Reading raises LZMAError if the file is not xz, or asks for more than 256
    MiB to be unpacked; and EOFError if it is cut. Anything else after a whole xz file is ignored.
    """
    return io.BufferedReader(_XzContent(file))


class _XzContent(io.RawIOBase):
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._unpacker = _make_unpacker()
        self._is_over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = b""
        while not piece and not self._is_over:
            piece = (self._begin_next if self._unpacker.eof else self._go_on)(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def _go_on(self, n_bytes: int) -> bytes:
        packed = self._file.read(_PIECE_BYTES) if self._unpacker.needs_input else b""
        if self._unpacker.needs_input and not packed:
            raise EOFError("the file ends before its content does")
        return self._unpacker.decompress(packed, n_bytes)

    def _begin_next(self, n_bytes: int) -> bytes:
        packed = self._unpacker.unused_data or self._file.read(_PIECE_BYTES)
        self._unpacker = _make_unpacker()
        with suppress(lzma.LZMAError):
            if packed:
                return self._unpacker.decompress(packed, n_bytes)
        self._is_over = True
        return b""


def _make_unpacker() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=_MOST_MEMORY_BYTES)
