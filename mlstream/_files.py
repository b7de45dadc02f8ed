"""Files that are complete or absent."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it if the block succeeds and deleted if it fails.

    The temporary file is flushed to disk before the rename, so that a crash leaves the old file or the new one.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise NotADirectoryError(f"{path.parent} must be a folder that exists, to write {path.name} in it.")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _flush_to_disk(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        # A write that fails (a full disk, say) does not know the name of its file.
        raise OSError(error.errno, error.strerror, str(path)) if error.errno else error from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text file that is complete or absent."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def sha256_of(path: str | os.PathLike[str]) -> str:
    """Hash of a file's bytes, as hexadecimal digits."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _flush_to_disk(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _umask() -> int:
    # The process's mask can only be read by setting it; mkstemp ignores it and makes files private.
    mask = os.umask(0)
    os.umask(mask)
    return mask
