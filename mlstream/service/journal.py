"""An append-only file of what a service has accepted, which survives the death of its process at any moment."""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Condition
from types import TracebackType
from typing import NoReturn, Self

from filelock import lock_descriptor

from mlstream._support.files import flush_to_disk, is_plain

MAGIC = b"mlstream journal 1\n"
# of a record: its length, the checksum of its content, and the checksum of these two
_HEADER = struct.Struct("<III")
_CHECKED = 8
_NAME = re.compile(r"\d{8}\.journal")


class Journal:
    """Records in numbered files of a folder, in the order in which they were written.

    `write` hands a record to the system, where it survives the death of the process; `sync` waits until it is on the
    disk, where it survives a power failure. Threads that wait at once share one flush of the disk.

    Parameters
    ----------
    folder : path-like
        Folder of the files, which must exist. One process at a time may have it open.

    Attributes
    ----------
    folder : Path
        The folder.
    first : int
        Number of the oldest file.
    number : int
        Number of the file that is written now; the first is 1.

    Raises
    ------
    BlockingIOError
        If another journal, here or in another process, has the folder open.
    ValueError
        If the newest file is not a journal, or a record in it is damaged.

    Notes
    -----
    Each record has its length and checksums. If the last record of the newest file is incomplete, as where the process
    died while it wrote, it is cut off: nobody has been told that it was there. A record that is complete and does not
    match its checksum is damage, and an error.

    After an error of the disk, what has been written is not known. Every later call raises an OSError; a new `Journal`
    of the folder reads what is there.

    Examples
    --------
    >>> import tempfile
    >>> from mlstream.service import Journal
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Journal(folder) as journal:
    ...         journal.sync(journal.write(b"first"))
    ...         position = journal.write(b"second")
    ...     with Journal(folder) as journal:
    ...         list(journal.records())
    [b'first', b'second']
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._lock_file = _lock_folder(self.folder)
        try:
            numbers = self._numbers()
            self.first, self.number = (numbers[0], numbers[-1]) if numbers else (1, 1)
            path = self._path(self.number)
            self._was_empty = not path.exists() or not path.stat().st_size
            self._handle, size = _open_to_append(path)
        except BaseException:
            os.close(self._lock_file)
            raise
        # bytes since this journal was opened, and the lengths of files
        self._written = self._synced = 0
        self._size, self._older = size, sum(self._path(number).stat().st_size for number in numbers[:-1])
        self._flushing, self._failure = False, ""
        self._turn = Condition()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def n_bytes(self) -> int:
        """Length of the file that is written now."""
        return self._size

    @property
    def total_bytes(self) -> int:
        """Length of all files."""
        return self._older + self._size

    def write(self, record: bytes) -> int:
        """Append a record.

        Parameters
        ----------
        record : bytes
            Its content, of less than 4 GiB.

        Returns
        -------
        int
            Its position, for `sync`.

        Raises
        ------
        OSError
            If it cannot be written, or an earlier one could not.
        """
        checked = struct.pack("<II", len(record), zlib.crc32(record))
        framed = b"".join((checked, struct.pack("<I", zlib.crc32(checked)), record))
        with self._turn:
            self._require_open()
            try:
                _write_all(self._handle, framed)
            except OSError as error:
                self._fail(error)
            self._size += len(framed)
            self._written += len(framed)
            return self._written

    def sync(self, position: int) -> None:
        """Return when all records up to a position are on the disk.

        Parameters
        ----------
        position : int
            What `write` has returned.

        Raises
        ------
        OSError
            If they cannot be flushed.
        """
        with self._turn:
            while self._synced < position and self._flushing:
                self._turn.wait()
            if self._synced >= position:
                return
            self._require_open()
            self._flushing, target = True, self._written
        # others write meanwhile, and wait together for the next flush
        try:
            os.fsync(self._handle)
        except OSError as error:
            target = self._synced
            self._fail(error)
        finally:
            with self._turn:
                self._synced, self._flushing = target, False
                self._turn.notify_all()

    def rotate(self) -> int:
        """Flush the file that is written now, and begin the next one.

        Returns
        -------
        int
            Number of the new file: a snapshot of the state at this moment holds all records before it.

        Raises
        ------
        OSError
            If the disk fails.
        """
        with self._turn:
            while self._flushing:
                self._turn.wait()
            self._require_open()
            try:
                os.fsync(self._handle)
                handle, size = _open_to_append(self._path(self.number + 1))
            except OSError as error:
                self._fail(error)
            os.close(self._handle)
            self._synced = self._written
            self._older += self._size
            self._handle, self._size = handle, size
            self.number += 1
            return self.number

    def require_begun(self, number: int) -> None:
        """Refuse a file that had begun, and was empty when it was opened.

        Parameters
        ----------
        number : int
            Number of the file, which `rotate` returned.

        Raises
        ------
        ValueError
            If it was: what it held is lost.
        """
        if self._was_empty and number == self.number:
            raise ValueError(
                f"{self._path(number)} must hold the calls since the snapshot. Got an empty file: restore it from a "
                "backup, or begin with what the other journals say: relearn=True."
            )

    def records(self, since: int = 0) -> Iterator[bytes]:
        """Yield records, oldest first.

        Parameters
        ----------
        since : int
            Number of the file to begin with; by default the oldest.

        Yields
        ------
        bytes
            The content of a record.

        Raises
        ------
        ValueError
            If a record is damaged, or a file is missing.
        """
        start = since or self.first
        numbers = [number for number in self._numbers() if number >= start]
        if missing := set(range(start, max(start, self.number) + 1)).difference(numbers):
            raise ValueError(
                f"{self.folder} must hold all journals from {start} on. Got a gap at number {min(missing)}: restore "
                "the file from a backup."
            )
        for number in numbers:
            path = self._path(number)
            content = path.read_bytes()
            found, end = _read_records(content, path)
            if end < len(content) and number < self.number:
                _refuse_damage(path, end)
            yield from found

    def drop_before(self, number: int, keep_bytes: int = 0) -> None:
        """Delete files whose records a snapshot holds, oldest first.

        Parameters
        ----------
        number : int
            The oldest file that is needed.
        keep_bytes : int
            Of the others, the newest stay as long as they are no longer than this, all together.
        """
        sizes = {old: self._path(old).stat().st_size for old in self._numbers() if old < number}
        surplus = sum(sizes.values()) - keep_bytes
        for old, size in sizes.items():
            if surplus <= 0:
                break
            self._path(old).unlink()
            surplus -= size
            self._older -= size
            self.first = old + 1

    def close(self) -> None:
        """Flush what has been written, and let go of the folder."""
        with self._turn:
            while self._flushing:
                self._turn.wait()
            if self._failure == _CLOSED:
                return
            try:
                if not self._failure:
                    os.fsync(self._handle)
            finally:
                self._failure = _CLOSED
                os.close(self._handle)
                os.close(self._lock_file)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08}.journal"

    def _numbers(self) -> list[int]:
        files = [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name) and is_plain(path)]
        return sorted(int(path.stem) for path in files)

    def _fail(self, error: OSError) -> NoReturn:
        self._failure = f"has failed ({error.strerror})"
        raise OSError(error.errno, f"{error.strerror}; open the journal again", str(self._path(self.number))) from error

    def _require_open(self) -> None:
        if self._failure:
            raise OSError(f"{self.folder}: the journal {self._failure}; open it again.")


_CLOSED = "is closed"


def _lock_folder(folder: Path) -> int:
    """Lock a folder for one journal, until the returned file is closed or the process ends."""
    if not folder.is_dir():
        raise NotADirectoryError(f"folder must be a folder that exists. Got {str(folder)!r} instead.")
    handle = os.open(folder / "journal.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with suppress(BlockingIOError):
        if lock_descriptor(handle, blocking=False):
            return handle
    os.close(handle)
    raise BlockingIOError(f"{folder} must be used by one journal at a time. Another one has it open: stop that first.")


def _open_to_append(path: Path) -> tuple[int, int]:
    """Open a file to append to it, after its last complete record; return it and its length."""
    content = path.read_bytes() if path.exists() else b""
    _, end = _read_records(content, path)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        os.ftruncate(handle, end)
        if not end:
            _write_all(handle, MAGIC)
        os.fsync(handle)
        flush_to_disk(path.parent)
    except BaseException:
        os.close(handle)
        raise
    return handle, end or len(MAGIC)


def _read_records(content: bytes, path: Path) -> tuple[list[bytes], int]:
    """Return the complete records of a file, and the place where they end."""
    if not content.startswith(MAGIC):
        if MAGIC.startswith(content) or not any(content):
            return [], 0
        raise ValueError(f"{path} must begin with {MAGIC.decode().strip()!r}. Got {content[: len(MAGIC)]!r} instead.")
    records, place = [], len(MAGIC)
    while place + _HEADER.size <= len(content):
        length, checksum, own = _HEADER.unpack_from(content, place)
        start = place + _HEADER.size
        if zlib.crc32(content[place : place + _CHECKED]) != own:
            if not any(content[place:]):
                break  # room that the system gave to the file before it was written to
            _refuse_damage(path, place)
        if start + length > len(content):
            break
        records.append(content[start : start + length])
        if zlib.crc32(records[-1]) != checksum:
            _refuse_damage(path, place)
        place = start + length
    return records, place


def _refuse_damage(path: Path, place: int) -> NoReturn:
    raise ValueError(
        f"{path}: the record at byte {place:,} must match its checksum. Got a damaged one: restore the file from a "
        f"backup, or give up this record and all after it with `truncate -s {place} {path}`."
    )


def _write_all(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]
