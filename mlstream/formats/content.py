"""The bytes and text of a file that may be packed, and errors that say where in it."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}


class FormatError(ValueError):
    """A file is not what its format says; the message carries the file and, where there is one, the line."""


def at(path: Path, line: int) -> str:
    """Say where an error is."""
    return f"{path}, line {line}"


def clip(text: str) -> str:
    """Cut text to a length that fits an error of one line."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def show(text: str) -> str:
    """Quote text that was got, cut to a length that fits an error of one line."""
    return repr(clip(text))


def bare_path(path: Path) -> Path:
    """Drop the ending that says how a file is packed: ``a.arff.gz`` -> ``a.arff``."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def stem(path: Path) -> str:
    """Name of a file without any ending that says how it is packed or written."""
    return bare_path(path).stem


def read_unpacked(path: Path) -> bytes:
    """Read a file that may be packed by gzip, bzip2 or xz.

    Raises
    ------
    FormatError
        If the file is not, to its end, packed as its name says.
    """
    content = path.read_bytes()
    unpack = PACKED.get(path.suffix.lower())
    if unpack is None:
        return content
    try:
        return unpack(content)
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise FormatError(f"{path} must be a complete {path.suffix} file. Got: {error}.") from None


def read_lines(content: bytes) -> list[str]:
    """Decode text, UTF-8 or else Latin-1, and cut it where lines end on Unix, Windows or old Macs."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
