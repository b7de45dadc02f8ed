"""Mutations of files that hold others: ZIP archives with correct checksums, and packed files."""

import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random

from tests.fuzz.mutators.json_texts import mutate_json
from tests.fuzz.mutators.parquet_tables import mutate_parquet
from tests.fuzz.mutators.pieces import mutate_pieces, some
from tests.fuzz.mutators.texts import mutate_table

Member = tuple[str, bytes]

_NAMES = ("a.npy", "prob.npy", "row_id.npy", "masks.npy", "learning_X.npy", "x", "", "../x", "é", "\n", "a" * 300)
_NPY_MAGIC = b"\x93NUMPY"
_TYPES = (
    b"|b1", b"|u1", b"<u8", b"<i4", b"<i8", b"<f2", b"<f4", b"<f8", b">f8", b">i8", b"<U16", b"|S16", b"|O", b"<c16",
    b"<M8[s]", b"|V8", b"<f0", b"<u99",
)  # fmt: skip
_SIZES = (b"0", b"1", b"2", b"3", b"7", b"255", b"65536", b"999999999", b"9" * 12, b"9" * 18, b"9" * 30)
_BOUNDS = (0, 1, 2, 3, 255, 2**31 - 1, 2**31, 2**63 - 1, 2**64 - 1)
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError, OverflowError)
_DESCR, _SHAPE = re.compile(rb"'descr': '([^']*)'"), re.compile(rb"\d+(?=[,)])")
_UNPACKERS: tuple[tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]], ...] = (
    (lambda packed: zlib.decompressobj(31).decompress(packed, _MOST_UNPACKED), partial(gzip.compress, mtime=0)),
    (lambda packed: bz2.BZ2Decompressor().decompress(packed, _MOST_UNPACKED), bz2.compress),
    (lambda packed: lzma.LZMADecompressor(memlimit=2**28).decompress(packed, _MOST_UNPACKED), lzma.compress),
)
# Copies of copies would take long to unpack.
_MOST_UNPACKED = 2**16
_FIRST_BYTES = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")


def mutate_files(content: bytes, rng: Random) -> bytes:
    """Change a file of the kind that its first bytes show, and pack it again if it is packed."""
    for first, (unpack, pack) in zip(_FIRST_BYTES, _UNPACKERS, strict=True):
        if content.startswith(first):
            return _repack(content, rng, unpack, pack)
    if content.startswith(b"PK\x03\x04"):
        return mutate_archive(content, rng)
    if content.startswith(b"PAR1"):
        return mutate_parquet(content, rng)
    with suppress(ValueError):
        if content.startswith(b"{") and rng.random() < 0.8:
            return _mutate_json_lines(content, rng)
    return mutate_table(content, rng)


def mutate_archive(content: bytes, rng: Random) -> bytes:
    """Change the members of a ZIP archive, and write it again with their checksums."""
    members = unzip(content)
    contents = [inner for _, inner in members] or [b""]

    def change() -> None:
        if rng.random() < 0.15 or not members:
            mutate_pieces(members, rng, lambda rng: (rng.choice(_NAMES), rng.choice(contents)))
            return
        place = rng.randrange(len(members))
        name, inner = members[place]
        members[place] = (rng.choice(_NAMES), inner) if rng.random() < 0.05 else (name, mutate_member(inner, rng))

    some(rng, change)
    return zip_up(members, packed=rng.random() < 0.1)


def unzip(content: bytes) -> list[Member]:
    """Return names and contents of the members of an archive; ValueError if it is not a whole one."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        OSError,
        EOFError,
        RuntimeError,
        zlib.error,
        struct.error,
        OverflowError,
    ):
        raise ValueError("The content must be a ZIP archive.") from None


def zip_up(members: list[Member], *, packed: bool = False) -> bytes:
    """Write an archive, in which a name may be there twice."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, inner in members:
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = archive.compression
            # It warns of a name that is there twice, if it knows the first.
            archive.NameToInfo.clear()
            with archive.open(info, "w") as member:
                member.write(inner)
    return sink.getvalue()


def mutate_member(inner: bytes, rng: Random) -> bytes:
    """Change an array: its type, its shape or its values; text that it holds is changed as JSON."""
    if not inner.startswith(_NPY_MAGIC) or len(inner) < 10:
        return mutate_files(inner, rng)
    n_header = 10 + struct.unpack("<H", inner[8:10])[0]
    header, values = inner[:n_header], inner[n_header:]
    if values.startswith(b"{"):
        values = mutate_json(values, rng)
        return _with_length(header, len(values)) + values
    match rng.randrange(5):
        case 0:
            return _DESCR.sub(lambda _: b"'descr': '%s'" % rng.choice(_TYPES), header) + values
        case 1:
            return _SHAPE.sub(lambda size: rng.choice((*_SIZES, size[0], size[0])), header) + values
        case 2:
            return header + values[: rng.randint(0, len(values))]
        case _:
            return header + _change_number(values, rng)


def _with_length(header: bytes, n_bytes: int) -> bytes:
    return _SHAPE.sub(b"%d" % n_bytes, header, count=1)


def _change_number(values: bytes, rng: Random) -> bytes:
    width = rng.choice((1, 4, 8))
    if len(values) < width:
        return values
    start = width * rng.randrange(len(values) // width)
    old = int.from_bytes(values[start : start + width], "little")
    new = rng.choice((*_BOUNDS, old + 1, old - 1, old ^ (1 << rng.randrange(8 * width)))) % 2 ** (8 * width)
    return values[:start] + new.to_bytes(width, "little") + values[start + width :]


def _repack(content: bytes, rng: Random, unpack: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]) -> bytes:
    try:
        inner = unpack(content)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        raise ValueError("The content must be whole.") from None
    match rng.randrange(8):
        case 0:
            return pack(inner) + pack(inner)
        case 1:
            return content + rng.choice((b"\x00", b"x", content[:9], b"\x00" * 512))
        case 2:
            return rng.choice(_UNPACKERS)[1](inner)
        case 3:
            return pack(inner + bytes(rng.choice((0, 9, 2**12))))
        case _:
            return pack(mutate_table(inner, rng))


def _mutate_json_lines(content: bytes, rng: Random) -> bytes:
    lines = content.splitlines()
    if rng.random() < 0.3:
        mutate_pieces(lines, rng, lambda rng: rng.choice(lines))
    elif lines:
        place = rng.randrange(len(lines))
        lines[place] = mutate_json(lines[place], rng)
    return b"\n".join([*lines, b""])
