"""Files and folders that are complete or absent, and reading that nothing can hold up."""

import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from io import BufferedReader, FileIO
from itertools import islice
from pathlib import Path
from typing import Any

# Errors of file systems that have no hard links.
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
# Of the system calls that let two names change places, on Linux and on macOS.
_HERE, _SWAP = -100, 2
# Errors of file systems that cannot do it, and what they mean for a folder.
_NO_EXCHANGE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}
_ONE_STEP = "cannot be replaced in one step here; remove it first"
_PERMISSIONS = 0o777
_PIECE_BYTES = 2**16
# Files of a folder that are compared with a name that was mistyped.
_MAX_LISTED = 10_000
# Characters of a name that is worth to compare.
_MAX_COMPARED = 200
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, replace: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it if the block succeeds and deleted if it fails.

    The temporary file is flushed to disk before the rename, so that a crash leaves the old file or the new one. A file
    that is replaced keeps its permissions; a new one has those that the umask leaves. Unless `replace`, a file that is
    there, even if another process made it meanwhile, stays: FileExistsError. Temporary files that earlier processes
    left beside `path` when they died are deleted.
    """
    path = Path(path)
    _require_parent(path)
    with naming_errors(path), _temporary(path, is_folder=False) as temporary:
        yield temporary
        flush_to_disk(temporary)
        _copy_permissions(path, temporary)
        if replace:
            temporary.replace(path)
        else:
            _rename_to_new(temporary, path)


@contextmanager
def atomic_paths(*paths: str | os.PathLike[str]) -> Iterator[tuple[Path, ...]]:
    """Yield temporary paths beside several, renamed to them in this order if the block succeeds.

    If one cannot be renamed, those before it are taken back: all files are the new ones, or all are as they were. (A
    process that is killed in between leaves the first ones new.) Otherwise as `atomic_path`.
    """
    with _temporaries(paths, is_folder=False) as pairs:
        yield tuple(temporary for temporary, _ in pairs)
        for temporary, path in pairs:
            flush_to_disk(temporary)
            _copy_permissions(path, temporary)
        with ExitStack() as undo:
            for temporary, path in pairs:
                undo.callback(_put(temporary, path))
            undo.pop_all()


@contextmanager
def atomic_folder(folder: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Path]:
    """Yield a temporary folder beside `folder`, renamed to it if the block succeeds and deleted if it fails.

    All files in it are flushed to disk before. If `replace`, a folder that is there changes places with the temporary
    one in one step of the system, and is deleted afterwards; the new one and its files keep the permissions of the old
    ones. A process that is killed may leave the temporary folder (its name starts with a dot and ends in ``.part``),
    but never a part of `folder`, and never none where there was one; the next call deletes what it left.
    """
    with atomic_folders(folder, replace=replace) as (temporary,):
        yield temporary


@contextmanager
def atomic_folders(*folders: str | os.PathLike[str], replace: bool = False) -> Iterator[tuple[Path, ...]]:
    """Yield temporary folders beside several, renamed to them if the block succeeds: all, or none if one cannot be."""
    for folder in map(Path, folders):
        if os.path.lexists(folder) and not replace:
            raise FileExistsError(f"{folder} must not exist yet: nothing is overwritten.")
    with _temporaries(folders, is_folder=True) as pairs:
        yield tuple(temporary for temporary, _ in pairs)
        for temporary, folder in pairs:
            _flush_all(temporary)
            for path in temporary.iterdir() if folder.exists() else ():
                _copy_permissions(folder / path.name, path)
            _copy_permissions(folder, temporary)
        with ExitStack() as undo:
            for temporary, folder in pairs:
                undo.callback(_put(temporary, folder))
                flush_to_disk(folder.parent)
            undo.pop_all()


def write_text_atomically(path: str | os.PathLike[str], text: str, *, replace: bool = True) -> None:
    """Write a UTF-8 text file that is complete or absent; unless `replace`, one that is there stays."""
    with atomic_path(path, replace=replace) as temporary:
        temporary.write_text(text, encoding="utf-8")


def sha256_of(path: str | os.PathLike[str]) -> str:
    """Hash of a file's bytes, as hexadecimal digits."""
    with open_plain(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _rename_to_new(temporary: Path, path: Path) -> None:
    """Rename a file to a name that must be free: a link, unlike a rename, never replaces anything."""
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # The best that such a file system can do: another process may come between these two lines.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        temporary.replace(path)


def open_plain(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a plain file to read its bytes.

    Named pipes, devices and sockets are refused at once: reading them may wait for ever, or never end. Symbolic links
    are followed.
    """
    # Without waiting for whoever would write to a pipe; for plain files, the flag has no effect.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        # Sockets, and devices without a driver, cannot be opened at all.
        require_plain(path)
        raise
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(f"{os.fspath(path)} must be a plain file. Got {kind_of(mode)}.")
    return BufferedReader(_PlainFile(handle, os.fspath(path)))


def require_plain(path: str | os.PathLike[str]) -> None:
    """Raise an OSError for what is there and is not a plain file; it says what it is. Symbolic links are followed."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise OSError(f"{os.fspath(path)} must be a plain file. Got {kind_of(mode)}.")


def kind_of(mode: int) -> str:
    """Return in words what a file of a mode is."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


class _PlainFile(FileIO):
    """A file that is read, named by errors of the disk that holds it."""

    def __init__(self, handle: int, path: str) -> None:
        super().__init__(handle, "rb")
        self._path = path

    def readinto(self, buffer: Any) -> int:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from None

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from None


def raise_disk_error(error: BaseException) -> None:
    """Raise the error of the disk, if there was one, that a library has taken for a broken file."""
    cause = error.__context__
    if isinstance(cause, OSError) and cause.filename:
        raise cause from None


def ends_as_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path ends in a slash, as only that of a folder may; pathlib drops it."""
    return os.fspath(path).endswith(("/", "/."))


def is_plain(path: Path) -> bool:
    """Tell whether a path is a file, and neither a symbolic link to one nor anything else."""
    return path.is_file() and not path.is_symlink()


def read_bounded(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """Read the whole content of a plain file, and raise a ValueError if it is larger than it may be."""
    content = bytearray()
    with open_plain(path) as file:
        # In pieces, because a buffer for all that is allowed may be far more than there is, and the file may grow.
        is_large = os.fstat(file.fileno()).st_size > most_bytes
        while not is_large and (piece := file.read(_PIECE_BYTES)):
            content += piece
            is_large = len(content) > most_bytes
    if is_large:
        raise ValueError(f"{os.fspath(path)} must be of {most_bytes} bytes at most. Got more.")
    return bytes(content)


def _put(temporary: Path, path: Path) -> Callable[[], object]:
    """Rename a temporary file or folder to its path; return what takes this back."""
    if not os.path.lexists(path):
        temporary.rename(path)
        return partial(path.rename, temporary)
    try:
        _exchange(temporary, path)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE or path.is_dir():
            raise
        # The best that such a file system can do: what is replaced is gone.
        temporary.replace(path)
        return lambda: None
    return partial(_exchange, temporary, path)


@contextmanager
def _temporaries(paths: Iterable[str | os.PathLike[str]], *, is_folder: bool) -> Iterator[list[tuple[Path, Path]]]:
    """Make a temporary file or folder for each path; yield them with their paths."""
    wanted = [Path(path) for path in paths]
    for path in wanted:
        _require_parent(path)
    with naming_errors(*wanted), ExitStack() as stack:
        yield [(stack.enter_context(_temporary(path, is_folder=is_folder)), path) for path in wanted]


@contextmanager
def _temporary(path: Path, *, is_folder: bool) -> Iterator[Path]:
    """Make a temporary file or folder beside a path, locked while this process lives, and delete it afterwards."""
    _sweep(path)
    temporary, lock = _make_locked(path, is_folder=is_folder)
    try:
        yield temporary
    finally:
        _delete(temporary)
        # What was written is on disk by now, or given up: an error of this handle has no meaning.
        with suppress(OSError):
            os.close(lock)


def _make_locked(path: Path, *, is_folder: bool) -> tuple[Path, int]:
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        # What replaces something is open to nobody else until it gets the permissions of that.
        make = _make_folder if is_folder else _make_file
        lock = make(temporary, 0o700 if path.exists() else 0o777)
        if lock is None:
            continue
        _lock(lock, wait=True)
        # Another process may have swept it before it was locked.
        if temporary.exists():
            return temporary, lock
        os.close(lock)


def _make_file(path: Path, permissions: int) -> int | None:
    with suppress(FileExistsError):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, permissions & 0o666)
    return None


def _make_folder(path: Path, permissions: int) -> int | None:
    with suppress(FileExistsError):
        path.mkdir(permissions)
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return None


def _sweep(path: Path) -> None:
    """Delete the temporary files beside a path whose process is dead: nobody holds their locks."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.part")
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in [entry for entry in entries if pattern.fullmatch(entry.name) and not entry.is_symlink()]:
            with suppress(OSError):
                _sweep_one(Path(entry.path))


def _sweep_one(temporary: Path) -> None:
    handle = os.open(temporary, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if _lock(handle, wait=False):
            _delete(temporary)
    finally:
        os.close(handle)


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file or folder until it is closed; False where that cannot be had."""
    from filelock import lock_descriptor

    try:
        return lock_descriptor(handle, blocking=wait)
    except OSError:
        # Some file systems know no locks; what cannot be locked is never swept.
        return False


def _delete(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            # A folder that was replaced may have been read-only.
            path.chmod(0o700)
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _copy_permissions(old: Path, new: Path) -> None:
    with suppress(FileNotFoundError):
        new.chmod(stat.S_IMODE(old.stat().st_mode) & _PERMISSIONS)


def _exchange(one: Path, other: Path) -> None:
    """Let two files or folders change places in one step, which only a call of the system itself can do."""
    library = ctypes.CDLL(None, use_errno=True)
    arguments: tuple[object, ...]
    if exchange := getattr(library, "renameat2", None):
        arguments = (_HERE, os.fsencode(one), _HERE, os.fsencode(other), _SWAP)
    elif exchange := getattr(library, "renamex_np", None):
        arguments = (os.fsencode(one), os.fsencode(other), _SWAP)
    else:
        raise OSError(errno.ENOTSUP, "this system cannot replace a folder in one step; remove it first")
    if exchange(*arguments):
        code = ctypes.get_errno()
        raise OSError(code, _ONE_STEP if code in _NO_EXCHANGE else os.strerror(code))


def _require_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise NotADirectoryError(f"{path.parent} must be a folder that exists, to write {path.name} in it.")


@contextmanager
def naming_errors(*paths: Path) -> Iterator[None]:
    """Name the user's file in errors of the system: a full disk names no file, others a temporary one.

    Of several paths it is the one whose temporary file the error names, or the first.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            if any(path.name in str(error) for path in paths):
                raise
            # Arrow's words where a file cannot be closed.
            raise OSError(errno.EIO, str(error), str(paths[0])) from error
        named = f"{error.filename} {error.strerror}"
        path = next((path for path in paths if f".{path.name}." in named), paths[0])
        # Arrow's words for an error of the system name a temporary file, too.
        text = os.strerror(error.errno) if "[errno" in str(error.strerror) else error.strerror
        raise OSError(error.errno, text, str(path)) from error


def _flush_all(folder: Path) -> None:
    """Flush a folder and everything in it: its rename must not reach the disk before what it holds."""
    for path in folder.rglob("*"):
        if not path.is_symlink():
            flush_to_disk(path)
    flush_to_disk(folder)


def flush_to_disk(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def nearest_first(name: str, known: Iterable[str]) -> str:
    """Join names for an error, those most like a name first, in their order otherwise."""
    names = list(known)
    near = get_close_matches(name, names, n=3)
    return ", ".join([*near, *(one for one in names if one not in near)])


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: the nearest of the known ones in any case, or a full stop."""
    folded = {one.casefold(): one for one in islice(known, _MAX_LISTED) if len(one) <= _MAX_COMPARED}
    near = get_close_matches(name.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else "."


def did_you_mean_file(path: Path, names: Iterable[str]) -> str:
    """Return the end of an error about a path that does not exist: one of some names, or a file where it would be."""
    beside = [one.name for one in islice(path.parent.iterdir(), _MAX_LISTED)] if path.parent.is_dir() else []
    return did_you_mean(path.name, [*names, *beside])
