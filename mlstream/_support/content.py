"""The bytes and text of a file, packed or not, and safe in spreadsheets; and errors that name the place."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from mlstream._support.files import open_plain

_PACKED_BYTES = 2**16
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
        packed = self._file.read(_PACKED_BYTES) if self._unpacker.needs_input else b""
        if self._unpacker.needs_input and not packed:
            raise EOFError("the file ends before its content does")
        return self._unpacker.decompress(packed, n_bytes)

    def _begin_next(self, n_bytes: int) -> bytes:
        packed = self._unpacker.unused_data or self._file.read(_PACKED_BYTES)
        self._unpacker = _make_unpacker()
        with suppress(lzma.LZMAError):
            if packed:
                return self._unpacker.decompress(packed, n_bytes)
        self._is_over = True
        return b""


def _make_unpacker() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=_MOST_MEMORY_BYTES)


PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": open_xz}

# Real tables shrink to a hundredth at most; beyond that, with room for small files, it is a bomb.
_MAX_TIMES = 200
_ALWAYS_BYTES = 64 * 2**20
_PIECE_BYTES = 2**20
# What a formula begins with, in Excel, LibreOffice or Google Sheets; the wide signs are those of East Asian keyboards.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class FormatError(ValueError):
    """A file breaks the rules of its format; the message names the file and, where there is one, the line."""


class UnpackedFile:
    """The content of a file that may be packed by gzip, bzip2 or xz, as its ending says, read forwards."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._suffix = path.suffix.lower()
        self._packed = open_plain(path)
        self._file: IO[bytes] = PACKED[self._suffix](self._packed) if self._suffix in PACKED else self._packed
        self._bytes_left = _ALWAYS_BYTES + _MAX_TIMES * os.fstat(self._packed.fileno()).st_size
        self._digest = hashlib.sha256()

    def __enter__(self) -> UnpackedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._packed.close()

    @property
    def sha256(self) -> str:
        """Hash of what was read so far."""
        return self._digest.hexdigest()

    def read(self, n_bytes: int) -> bytes:
        """Read as many bytes; fewer at the end only.

        Raises FormatError if the file is not, to its end, packed as its name promises, or unpacks to hundreds of times
        its size.
        """
        try:
            piece: bytes = self._file.read(n_bytes)
        except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
            if self._suffix not in PACKED or getattr(error, "filename", None):
                raise
            raise FormatError(f"{self._path} must be a complete {self._suffix} file. Got: {error}.") from None
        self._bytes_left -= len(piece)
        if self._bytes_left < 0 and self._suffix in PACKED:
            rule = f"must unpack to at most {_MAX_TIMES} times its size; if you trust it, unpack it first"
            raise FormatError(f"{self._path} {rule}. Got more.")
        self._digest.update(piece)
        return piece

    def read_all(self) -> bytes:
        """Read what is left."""
        return b"".join(iter(lambda: self.read(_PIECE_BYTES), b""))


def require_room(n_bytes: int, n_bytes_of_file: int, what: str) -> None:
    """Raise FormatError, before memory is taken, if a file would grow to over 64 MiB and over 200 times its size."""
    if n_bytes > _ALWAYS_BYTES + _MAX_TIMES * n_bytes_of_file:
        rule = f"must need at most {_MAX_TIMES} times the {n_bytes_of_file:,} bytes of the file"
        raise FormatError(f"{what} {rule}. Got {n_bytes / 2**30:,.2f} GiB, and nothing was read.")


def at(path: Path, number: int, unit: str = "line") -> str:
    """Return the place of an error: a line of a text, or a row of what has no lines."""
    return f"{path}, {unit} {number}"


def clip(text: str) -> str:
    """Cut text to a length that fits an error of one line."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def show(text: str) -> str:
    """Quote text that was got, cut to a length that fits an error of one line."""
    return repr(clip(text))


def first_repeated(values: Iterable[object]) -> object:
    """Find the first value that was there before; None if all differ."""
    seen = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def bare_path(path: Path) -> Path:
    """Drop the ending of a packed file: ``a.arff.gz`` -> ``a.arff``."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def stem(path: Path) -> str:
    """Return the name of a file without the endings of its packing and format."""
    return bare_path(path).stem


def read_unpacked(path: Path) -> bytes:
    """Read the whole content of a file that may be packed; raise what `UnpackedFile.read` raises."""
    with UnpackedFile(path) as file:
        return file.read_all()


def hash_unpacked(path: Path) -> str:
    """Hash the content of a file that may be packed, without keeping it in memory; raise as `UnpackedFile.read`."""
    with UnpackedFile(path) as file:
        while file.read(_PIECE_BYTES):
            pass
        return file.sha256


def read_lines(content: bytes) -> list[str]:
    """Decode text, UTF-8 or else Latin-1, and cut it where lines end on Unix, Windows or old Macs."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


_MOST_BYTES = 2**12
_UNPACK = "unpack it first"
_EXPORT = "save or export the table as CSV"
_SAVE = "save the sheet as CSV in UTF-8"
# Pattern of the first bytes, what it is, and what to do. Of zip archives, the name of the first member tells the kind.
_KINDS = [
    (re.compile(pattern, re.DOTALL), f"{what}; {way_out}")
    for pattern, what, way_out in (
        (rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|xl/)", "an Excel workbook", _SAVE),
        (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis", "an OpenDocument file", _SAVE),
        (rb"PK\x03\x04.{26}[^\0]{1,99}?\.npy", "an NPZ file", "its name must end in .npz"),
        (rb"PK(?:\x03\x04|\x05\x06)", "a zip archive", _UNPACK),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", _SAVE),
        (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
        (rb"Rar!\x1a\x07", "a RAR archive", _UNPACK),
        (rb".{257}ustar[\0 ]", "a tar archive", _UNPACK),
        (rb"\x1f\x8b", "a gzip file", "unpack it first, or end its name in .gz"),
        (rb"BZh[1-9]1AY&SY", "a bzip2 file", _UNPACK),
        (rb"\xfd7zXZ\0", "an xz file", _UNPACK),
        (rb"\x28\xb5\x2f\xfd", "a Zstandard file", _UNPACK),
        (rb"\x89PNG\r\n|\xff\xd8\xff", "a picture", _EXPORT),
        (rb"%PDF-\d", "a PDF document", _EXPORT),
        (rb"\x80[\x02-\x05]", "a pickle", "write its table as CSV; pickles run code, and are never read"),
        (rb"\x93NUMPY", "an NPY file", "write its table as CSV"),
        (rb"\x89HDF\r\n", "an HDF5 file", _EXPORT),
        (rb"SQLite format 3\0", "an SQLite database", _EXPORT),
        (rb"PAR1\x15", "a Parquet file", "its name must end in .parquet"),
        (rb"ARROW1\0", "an Arrow file", "write it as Parquet or CSV"),
        (rb"\xff\xfe|\xfe\xff", "text in UTF-16", "save it as CSV in UTF-8"),
        (rb"\s*<(?i:!doctype\s+html|html|head|body)\b", "an HTML page", "sign in, and download the file itself"),
        (rb"\s*<\?xml\b", "an XML file", _EXPORT),
        (rb'\s*(?:\[\s*)?\{\s*"[^"]*"\s*:|\s*\[\s*\[', "JSON", _EXPORT),
    )
]


def kind_by_content(start: bytes) -> str | None:
    """Return what a file is that begins so, and what to do about it; None if it may be a table of text.

    >>> kind_by_content(b"%PDF-1.7"), kind_by_content(b"a,b")
    ('a PDF document; save or export the table as CSV', None)
    """
    return next((text for pattern, text in _KINDS if pattern.match(start[:_MOST_BYTES])), None)


def guard_text(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula, as OWASP recommends.

    Numbers stay numbers. Text that begins with apostrophes and then like a formula gets one more, so that
    `unguard_text` gives back every text as it was.

    >>> guard_text("=HYPERLINK(...)"), guard_text("-0.5"), guard_text("a=b"), guard_text("'=1")
    ("'=HYPERLINK(...)", '-0.5', 'a=b', "''=1")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def table_text(text: str) -> str:
    """Guard text for a table that is only looked at; a carriage return, which csv does not quote, is a blank.

    >>> table_text("=a" + chr(13) + "b")
    "'=a b"
    """
    return guard_text(text.replace("\r", " "))


def unguard_text(text: str) -> str:
    """Undo `guard_text`.

    >>> unguard_text("'=HYPERLINK(...)"), unguard_text("'quoted'")
    ('=HYPERLINK(...)', "'quoted'")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
