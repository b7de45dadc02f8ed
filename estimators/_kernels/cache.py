"""The folder in which compiled kernels are kept: one for all, named by a hash of everything that they are made of.

Its name is ``mlstream-kernels-OWNER-KEY``. OWNER stands for a user, an installation, its environment and settings of
Numba; of the folders of one OWNER only that is current whose KEY is the hash of the sources and versions. A process
holds the lock of a file of its own in its folder for as long as it lives. Whoever opens a folder removes those that no
process holds and that are either of the same OWNER or unused for `UNUSED_DAYS`.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryFile

from filelock import lock_descriptor

ROOT = Path(__file__).parents[2]
KERNELS = (
    "estimators/_kernels",
    "estimators/drift/_kernels",
    "estimators/ensembles/_kernels",
    "estimators/linear/_kernels",
    "estimators/meta/_kernels",
    "estimators/neighbours/_kernels",
    "estimators/networks/_kernels",
    "estimators/pragma/_kernels",
    "estimators/replay/_kernels",
    "estimators/ridge/_kernels",
    "estimators/trees/_kernels",
    "estimators/trees/_kernels/mlhat",
    "mlstream/formats/_kernels",
)
PREFIX = "mlstream-kernels-"
UNUSED_DAYS = 90

_IN_USE = "in-use-*.lock"
_WRITING = "writing.lock"
# what Numba writes, and what a process that died left half written
_CONTENT = ("*.nbi", "*.nbc", "*.tmp.*", _WRITING)
_ATTEMPTS = 100


@dataclass(frozen=True)
class Folder:
    """The folder of this process, which exists and is held."""

    path: Path
    key: str  # hash of what its content was made of
    versions: tuple[str, ...]  # the packages that compile

    def is_current(self) -> bool:
        """Return whether the sources are still those that the folder was named by."""
        return self.key == hash_kernels(self.versions)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other processes from writing, for as long as the block goes on.

        Numba numbers the compilations of a function in an index, which two processes would overwrite in turn: one would
        then load what the other compiled for other types.
        """
        descriptor = os.open(self.path / _WRITING, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
            yield
        finally:
            os.close(descriptor)


def open_folder(versions: Sequence[str], settings: Sequence[str], chosen: str) -> Folder | None:
    """Create the folder, or find it, hold it, and remove older ones.

    `settings` are those of the user that change machine code. `chosen` is the folder that the user wants caches in, or
    empty. Returns None if no place is writable, or if there are no sources that could be compared.
    """
    key, owner = hash_kernels(versions), _hash([str(_user()), str(ROOT), sys.prefix, *settings])[:12]
    for place in _places(chosen) if key else ():
        path = place / f"{PREFIX}{owner}-{key[:24]}"
        with suppress(OSError):
            if _hold(path):
                _sweep(place, path.name, f"{PREFIX}{owner}-")
            return Folder(path, key, tuple(versions))
    return None


def require_place(chosen: str) -> None:
    """Raise OSError if kernels could be kept nowhere: neither beside the package nor in the user's cache."""
    for place in _places(chosen):
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=place):
                return
    raise PermissionError(need_place(chosen))


def need_place(chosen: str) -> str:
    """Return the error that kernels could be kept nowhere."""
    tried = " and ".join(map(str, _places(chosen)))
    return (
        f"A folder for compiled kernels must be writable. Got {tried} instead; "
        "set NUMBA_CACHE_DIR to a folder of yours."
    )


def hash_kernels(versions: Sequence[str]) -> str:
    """Return the hash of the sources, of this Python and of other versions; empty if there are no sources."""
    sources = hash_sources()
    return _hash([sources, sys.version, *versions]) if sources else ""


def hash_sources() -> str:
    """Return the hash of the sources of all kernels, and of our version; empty if there are no sources."""
    files = sorted(file for folder in KERNELS for file in (ROOT / folder).glob("*.py"))
    parts = [part for file in files for part in (str(file.relative_to(ROOT)).encode(), file.read_bytes())]
    return _hash([_our_version()], *parts) if files else ""


def _our_version() -> str:
    try:
        return metadata.version("mlstream-toolkit")
    except metadata.PackageNotFoundError:
        return "a checkout"


def _hash(words: Sequence[str], *parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in (*(word.encode() for word in words), *parts):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _places(chosen: str) -> list[Path]:
    if chosen:
        return [Path(chosen)]
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    return [Path(__file__).parent / "__pycache__", user / "mlstream"]


def _user() -> int:
    # Windows knows users by other means, and all files there are of user 0.
    return os.getuid() if hasattr(os, "getuid") else 0


def _hold(folder: Path) -> bool:
    """Create a folder if need be, and hold it until this process ends; False where files cannot be locked."""
    for _ in range(_ATTEMPTS):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != _user():
            # what is read from there is executed
            raise PermissionError(f"{folder} must belong to the user.")
        own = folder / _IN_USE.replace("*", secrets.token_hex(8))
        with suppress(FileNotFoundError):
            descriptor = os.open(own, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            is_held = _lock(descriptor)
            # a sweep may have come between
            if is_held and own.exists():
                return True
            os.close(descriptor)
            if not is_held:
                own.unlink()
                return False
    raise OSError(f"{folder} is removed as often as it is made.")


def _lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; False on file systems without locks, as some networks have."""
    try:
        return lock_descriptor(descriptor)
    except OSError:
        return False


def _sweep(place: Path, current: str, owned: str) -> None:
    oldest = time.time() - UNUSED_DAYS * 86_400
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if not folder.is_symlink() and (folder.name.startswith(owned) or folder.stat().st_mtime < oldest):
                _tidy(folder, is_current=folder.name == current)


def _tidy(folder: Path, *, is_current: bool) -> None:
    """Remove what ended processes held a folder by, and the folder if none is left; only what belongs there."""
    with ExitStack() as stack:
        holding = list(folder.glob(_IN_USE))
        ended = [file for file in holding if _take(file, stack)]
        is_over = len(ended) == len(holding) and not is_current
        content = [file for pattern in _CONTENT for file in folder.glob(pattern)] if is_over else []
        for file in content + ended:
            file.unlink()
        if is_over:
            folder.rmdir()


def _take(file: Path, stack: ExitStack) -> bool:
    """Lock a file while `stack` lasts; False if its process lives."""
    descriptor = os.open(file, os.O_RDWR)
    stack.callback(os.close, descriptor)
    return lock_descriptor(descriptor, blocking=False)
