"""The disk after a power loss: what was written since the last flush of a file is gone, in part or wholly.

Every write of a command was recorded with the bytes that it replaced. A journalling file system keeps the order of
renames, and may keep a rename without the content of the file. So names stay as they are, and of each file the blocks
that were not flushed since they were written get their old content, or zeros where the file has grown.
"""

from __future__ import annotations

import os
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

# Of `struct entry` in shim.c.
_ENTRY = struct.Struct("<7q")
_SECTOR = 512


class _Write(NamedTuple):
    offset: int
    old: bytes
    old_size: int
    n_bytes: int


def lose_power(root: Path, log: Path, rng: np.random.Generator) -> int:
    """Take back what was not flushed, below a folder; return the number of files that lost something.

    In every second file, all that was not flushed is lost; in the others, each of its sectors with probability 1/2.
    """
    unflushed = _read_log(log.read_bytes())
    lost = 0
    for path in sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink()):
        found = path.stat()
        if writes := unflushed.get((found.st_dev, found.st_ino)):
            _take_back(path, writes, 1.0 if rng.random() < 0.5 else 0.5, rng)
            lost += 1
    return lost


def _read_log(content: bytes) -> dict[tuple[int, int], list[_Write]]:
    """Return the writes since the last flush, by file."""
    unflushed: defaultdict[tuple[int, int], list[_Write]] = defaultdict(list)
    place = 0
    while place < len(content):
        is_flush, device, inode, offset, length, size, n_bytes = _ENTRY.unpack_from(content, place)
        place += _ENTRY.size + length
        if is_flush:
            unflushed.pop((device, inode), None)
        else:
            old = content[place - length : place]
            unflushed[device, inode].append(_Write(offset, old, size, n_bytes))
    return unflushed


def _take_back(path: Path, writes: list[_Write], probability: float, rng: np.random.Generator) -> None:
    content = path.read_bytes()
    flushed = bytearray(content)
    for write in reversed(writes):
        # Zeros beyond the old content, which the file may not have had.
        flushed[write.offset : write.offset + write.n_bytes] = write.old.ljust(write.n_bytes, b"\0")
    size = writes[0].old_size if probability == 1 else len(content)
    mixed = bytearray(content)
    for sector in _sectors(len(content)):
        if rng.random() < probability:
            mixed[sector] = flushed[sector].ljust(len(mixed[sector]), b"\0")
    # A file that was emptied, or cut, has its old length again.
    mixed.extend(flushed[len(mixed) :])
    with path.open("r+b") as file:
        file.write(mixed[:size].ljust(size, b"\0"))
        os.ftruncate(file.fileno(), size)


def _sectors(size: int) -> Iterator[slice]:
    return (slice(start, min(start + _SECTOR, size)) for start in range(0, size, _SECTOR))
