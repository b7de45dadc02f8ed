"""Files and folders that are complete or absent."""

import ctypes
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Errors of file systems that have no hard links.
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
# Of the system calls that let two names change places, on Linux and on macOS.
_HERE, _SWAP = -100, 2


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, replace: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it if the block succeeds and deleted if it fails.

    The temporary file is flushed to disk before the rename, so that a crash leaves the old file or the new one. Unless
    `replace`, a file that is there, even if another process made it meanwhile, stays: FileExistsError.
    """
    path = Path(path)
    _require_parent(path)
    with _named(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            _flush_to_disk(temporary)
            temporary.chmod(0o666 & ~_umask())
            if replace:
                temporary.replace(path)
            else:
                _rename_to_new(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Path]:
    """Yield a temporary folder beside `folder`, renamed to it if the block succeeds and deleted if it fails.

    If `replace`, a folder that is there changes places with the temporary one in one step of the system, and is deleted
    afterwards. A process that is killed may leave the temporary folder (its name starts with a dot and ends in
    ``.part``), but never a part of `folder`, and never none where there was one.
    """
    folder = Path(folder)
    exists = os.path.lexists(folder)
    if exists and not replace:
        raise FileExistsError(f"{folder} must not exist yet: nothing is overwritten.")
    _require_parent(folder)
    with _named(folder):
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part"))
        try:
            yield temporary
            temporary.chmod(0o777 & ~_umask())
            _flush_to_disk(temporary)
            if exists:
                _exchange(temporary, folder)
            else:
                temporary.rename(folder)
            _flush_to_disk(folder.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def write_text_atomically(path: str | os.PathLike[str], text: str, *, replace: bool = True) -> None:
    """Write a UTF-8 text file that is complete or absent; unless `replace`, one that is there stays."""
    with atomic_path(path, replace=replace) as temporary:
        temporary.write_text(text, encoding="utf-8")


def sha256_of(path: str | os.PathLike[str]) -> str:
    """Hash of a file's bytes, as hexadecimal digits."""
    with Path(path).open("rb") as stream:
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


def _exchange(one: Path, other: Path) -> None:
    """Let two folders change places in one step, which only a call of the system itself can do."""
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
        # What file systems answer that do not know how.
        unable = code in {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}
        raise OSError(code, "cannot be replaced in one step here; remove it first" if unable else os.strerror(code))


def _require_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise NotADirectoryError(f"{path.parent} must be a folder that exists, to write {path.name} in it.")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Give errors of the system the name that the user knows: a full disk names no file, others a temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    # The process's mask can only be read by setting it; mkstemp ignores it and makes files private.
    mask = os.umask(0)
    os.umask(mask)
    return mask
