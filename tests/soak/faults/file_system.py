"""A file system that fails at its n-th write, flush or rename, without privileges: a library before that of the system.

A file system that is full, or that fails, is easily made by root only. Here the functions of libc through which every
writer reaches the system (Python itself, NumPy, zipfile, SQLite, Arrow, matplotlib) are replaced by those of
``shim.c``, with ``LD_PRELOAD``, in a command and all processes that it starts. Nothing in the product knows of it.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
# Of `struct state` in shim.c.
_STATE = struct.Struct("<1024s1024s1024s17q")
_POWER_LOSS = -2
_COMPILERS = ("cc", "gcc", "clang")


class Operation(IntFlag):
    """A kind of call; the numbers are those of shim.c."""

    WRITE = 1
    FLUSH = 2
    RENAME = 4
    CREATE = 8
    FOLDER = 16
    CHMOD = 32
    CLOSE = 64
    CLOCK = 128
    READ = 256
    DELETE = 512


NOTHING = Operation(0)
# Of all calls that count, and of each kind.
_NO_CALLS = [0] * (1 + len(Operation))


@dataclass(frozen=True)
class Fault:
    """One way in which a call of the system fails.

    Parameters
    ----------
    name : str
        What happens, in plain words.
    operations : Operation
        The calls that are counted, of which the n-th fails.
    code : int
        Errno of the failure.
    later : Operation
        Calls that all fail afterwards.
    is_short : bool
        Whether the write that fails writes its first half, as on a disk that gets full.
    jump_s : int
        Seconds by which the clock is set at the n-th time that it is read, instead of a failure.
    """

    name: str
    operations: Operation
    code: int
    later: Operation = NOTHING
    is_short: bool = False
    jump_s: int = 0


_MAKING = Operation.WRITE | Operation.CREATE | Operation.FOLDER
# To try one more fault, add it here.
FAULTS = (
    Fault("disk full from the n-th write on", Operation.WRITE, errno.ENOSPC, later=_MAKING, is_short=True),
    Fault("n-th file cannot be made: disk full", Operation.CREATE, errno.ENOSPC, later=_MAKING),
    Fault("n-th write fails: input/output error", Operation.WRITE, errno.EIO),
    Fault("n-th flush fails: input/output error", Operation.FLUSH, errno.EIO),
    Fault("n-th rename fails: input/output error", Operation.RENAME, errno.EIO),
    Fault("n-th close fails: input/output error", Operation.CLOSE, errno.EIO),
    Fault("n-th file cannot be made: permission denied", Operation.CREATE, errno.EACCES),
    Fault("n-th rename fails: permission denied", Operation.RENAME, errno.EACCES),
    Fault("n-th folder cannot be made: permission denied", Operation.FOLDER, errno.EACCES),
    Fault("n-th change of permissions is denied", Operation.CHMOD, errno.EPERM),
    Fault("n-th read fails: input/output error", Operation.READ, errno.EIO),
    Fault("n-th file cannot be deleted: permission denied", Operation.DELETE, errno.EACCES),
)
_HOUR_S, _YEAR_S = 3600, 365 * 24 * 3600
CLOCKS = tuple(
    Fault(f"clock jumps {words} when it is read for the n-th time", Operation.CLOCK, 0, jump_s=jump_s)
    for words, jump_s in (
        ("an hour forward", _HOUR_S),
        ("an hour back", -_HOUR_S),
        ("ten years forward", 10 * _YEAR_S),
        ("ten years back", -10 * _YEAR_S),
    )
)
POWER_LOSS = Fault(
    "power lost at the n-th write, flush or rename",
    Operation.WRITE | Operation.FLUSH | Operation.RENAME,
    _POWER_LOSS,
    later=Operation(sum(Operation)),
)
# The system itself refuses: RLIMIT_FSIZE. It meets every writer, even one that does not go through libc.
TOO_LARGE = Fault("no file may be larger than n bytes", NOTHING, 0)
COUNTING = Fault("none", NOTHING, 0)


def find_compiler() -> str | None:
    """Return the path of a compiler of C, if there is one."""
    return next((path for name in _COMPILERS if (path := shutil.which(name))), None)


def compile_shim(folder: Path) -> Path:
    """Compile the library that fails.

    Raises
    ------
    RuntimeError
        If there is no compiler of C.
    """
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError(f"Faults need a compiler of C, one of {', '.join(_COMPILERS)}: apt-get install gcc.")
    library = folder / "shim.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    return library


class FailingFiles:
    """Files below a folder, in processes whose environment is that of `environment()`.

    Parameters
    ----------
    folder : Path
        Where the compiled library is kept, and what its processes share.
    """

    def __init__(self, folder: Path) -> None:
        self._library = compile_shim(folder)
        self._path = folder / "state"
        self.log = folder / "log"
        self._path.write_bytes(bytes(_STATE.size))
        with self._path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _STATE.size)

    def environment(self) -> dict[str, str]:
        """Return the variables of the environment that load the library."""
        return {"LD_PRELOAD": str(self._library), "FAULTS_STATE": str(self._path)}

    @contextmanager
    def failing(self, root: Path, fault: Fault, at: int | None) -> Iterator[None]:
        """Let a call fail below `root`, from 0; with None, calls are only counted."""
        is_logged = fault.code == _POWER_LOSS
        self.log.write_bytes(b"")
        self._set(
            os.fsencode(root.resolve()), os.fsencode(self.log) if is_logged else b"", fault.operations, fault.later,
            -1 if at is None else at, fault.code, fault.is_short, fault.jump_s,
        )  # fmt: skip
        try:
            yield
        finally:
            self._memory[:1024] = bytes(1024)

    def counts(self) -> dict[Operation, int]:
        """Return the number of calls of each kind since `failing` began."""
        return dict(zip(Operation, self._state()[-len(Operation) :], strict=True))

    @property
    def failed(self) -> str:
        """The call that failed first: its kind, and the file; empty if none has."""
        text = self._state()[2].split(b"\0")[0].decode(errors="replace")
        number, _, path = text.partition(" ")
        return f"{Operation(int(number)).name} {path}" if text else ""

    def _set(
        self, root: bytes, log: bytes, counted: int, later: int, at: int, code: int, is_short: bool, jump_s: int
    ) -> None:
        self._memory[:] = _STATE.pack(root, log, b"", counted, later, at, code, is_short, jump_s, *_NO_CALLS)

    def _state(self) -> tuple:
        return _STATE.unpack(self._memory[:])
