"""Tables that lie in files or must fit into memory: large ones are made in files, and are read some rows at a time."""

from __future__ import annotations

import math
import mmap
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

# Pages of files that may be in memory at a time; to give them back more often takes longer than to read them.
_MAPPED_BYTES = 8 * 2**20
# Tables that are larger than this are made in a file.
_IN_MEMORY_BYTES = 512 * 2**20
# Cells of a piece of a table that is looked at as a whole, with room for intermediate results.
_PIECE_CELLS = 2**20
# Of a row of a stream: where it comes from, its task, and what selects it while a stream is made.
INDEX_BYTES = 32


def empty_table(shape: tuple[int, ...], dtype: npt.DTypeLike, what: str) -> np.ndarray:
    """Make a table to be filled: in memory, or if it is large in a temporary file that nobody else sees.

    Its values mean nothing yet. A file is in the folder for temporary files, which the variable TMPDIR names, and is
    gone with the array, or with the process. Raises ValueError, with `what` as the subject, if the file would not fit
    there.
    """
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if n_bytes <= _IN_MEMORY_BYTES or not hasattr(os, "posix_fallocate"):
        require_memory(n_bytes, what)
        return np.empty(shape, dtype)
    folder = tempfile.gettempdir()
    file = tempfile.TemporaryFile(prefix="mlstream-", dir=folder)  # noqa: SIM115 - it is open as long as the array lives
    try:
        # What is not reserved now could end the process later, when the disk is full.
        os.posix_fallocate(file.fileno(), 0, n_bytes)
    except (OSError, OverflowError):
        file.close()
        n_free = shutil.disk_usage(folder).free
        raise ValueError(
            f"{what} must fit into the folder of temporary files, {folder}, where {n_free / 2**30:,.1f} GiB are free. "
            f"Got {n_bytes / 2**30:,.1f} GiB instead; set TMPDIR to another folder."
        ) from None
    whole = np.memmap(file, np.dtype(dtype), "r+", shape=shape)
    keep_open(whole, file)
    return np.asarray(whole)


def keep_open(whole: Any, file: IO[bytes], path: Path | None = None) -> None:
    """Keep a file open as long as its map, and name the map by it: processes map it too, even if it was replaced.

    Joblib sends the name of a map instead of what it holds. Where the system has no names of open files, it is `path`.
    """
    name = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
    whole.filename = name if name.exists() else path
    weakref.finalize(whole, file.close)


def take_rows(table: np.ndarray, rows: npt.NDArray[np.int64]) -> np.ndarray:
    """Copy rows of a dense table, in any order, into a table that `empty_table` makes."""
    taken = empty_table((len(rows), *table.shape[1:]), table.dtype, "the rows that are taken")
    for part in slices(len(rows), max(1, _PIECE_CELLS // max(1, table[:1].size)), taken, table):
        taken[part] = table[rows[part]]
    return taken


def slices(n_rows: int, step: int, *tables: object) -> Iterator[slice]:
    """Cut rows into slices, one after the other; memory that maps what was read of tables in files is given back.

    >>> list(slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    n_bytes = sum(int(array.nbytes) for table in tables for array in _arrays(table))
    rows_at_a_time = _MAPPED_BYTES * n_rows // max(1, n_bytes)
    n_read = 0
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
        n_read += step
        if n_read >= rows_at_a_time:
            release(*tables)
            n_read = 0
    release(*tables)


def pieces(table: np.ndarray) -> Iterator[np.ndarray]:
    """Cut a dense table into pieces of some rows, as `slices` does, whose size does not depend on that of the table."""
    width = max(1, table[:1].size)
    for rows in slices(len(table), max(1, _PIECE_CELLS // width), table):
        yield table[rows]


def release(*tables: object) -> None:
    """Give back the memory by which tables in files were read; they stay as they are, and can be read again.

    Nothing happens to tables in memory, nor to maps with changes that are in no file.
    """
    for table in tables:
        for array in _arrays(table):
            whole = _map_behind(array)
            if whole is not None and array.size:
                start, stop = (address - whole.ctypes.data for address in np.lib.array_utils.byte_bounds(array))
                # Pages are given back whole, the last one by whoever reads on.
                start, stop = start - start % mmap.PAGESIZE, stop - stop % mmap.PAGESIZE
                if stop > start:
                    whole.base.madvise(mmap.MADV_DONTNEED, start, stop - start)


def plain(table: object) -> Any:
    """Return rows of a table in a file as an array in memory that may be written to; other tables as they are.

    Validation is slower on maps, and compiled code is compiled again for arrays that cannot be written to.
    """
    if sparse.issparse(table):
        return table
    array = np.asarray(table)
    return array if array.flags.writeable else array.copy()


def _arrays(table: object) -> tuple[Any, ...]:
    """Return the arrays that hold what a table holds in its rows."""
    return (table.data, table.indices) if isinstance(table, sparse.csr_array) else (table,)


def _map_behind(array: object) -> Any:
    """Return the map of a file that an array lies in, if it cannot hold changes that would be lost."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    if array is None or array.mode == "c":
        return None
    while isinstance(array.base, np.memmap):
        array = array.base
    return array if isinstance(array.base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None


def require_memory(n_bytes: int, what: str, error: type[ValueError] = ValueError) -> None:
    """Raise an error, with the size needed, if arrays of so many bytes are larger than the memory of this machine.

    `what` the arrays hold is the subject of the error.
    """
    if n_bytes > (n_available := memory_bytes()):
        raise error(
            f"{what} must fit into the memory of this machine, {n_available / 2**30:,.1f} GiB. "
            f"Got {n_bytes / 2**30:,.1f} GiB instead."
        )


def memory_bytes() -> int:
    """Return the size of the memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
