"""The one folder of all compiled kernels, as Numba's cache of a function."""

from __future__ import annotations

import os
import pickle
import warnings
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import ClassVar

import llvmlite
import numba
import numpy as np
from llvmlite.binding.ffi import lib
from numba.core import event
from numba.core.base import BaseContext
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.typing import Signature

from estimators._kernels.cache import KERNELS, Folder, hash_sources, need_place, open_folder
from estimators._kernels.prebuilt import Needs, Prebuilt, describe, find_prebuilt
from estimators._kernels.watching import CompilationWatcher, InterruptHolder

# settings of Numba that change machine code, and that its own cache does not look at
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "USING_SVML")


def keep(dispatcher: Dispatcher) -> None:
    """Let a function that Numba compiles be kept in the folder, if there is one."""
    if _folder() is not None or _prebuilt() is not None:
        # what `Dispatcher.enable_caching` sets
        setattr(dispatcher, "_cache", _KernelCache(dispatcher.py_func))  # noqa: B010 - mypy knows public names only


@cache
def _folder() -> Folder | None:
    """Open the folder that belongs to the sources, the versions and the settings; None if no place is writable."""
    folder = open_folder(_versions(), _settings(), numba.config.CACHE_DIR)
    if folder is None:
        warnings.warn(
            f"{need_place(numba.config.CACHE_DIR)} Until then, every process compiles them again.",
            RuntimeWarning,
            stacklevel=2,
        )
    packages = tuple({path.partition("/")[0] + "." for path in KERNELS})
    event.register("numba:compile", CompilationWatcher(packages, kept=folder is not None))
    event.register("numba:compiler_lock", holder := InterruptHolder())
    _hold_forks(holder)
    return folder


def _hold_forks(holder: InterruptHolder) -> None:
    """Let a fork wait until no thread compiles: its child would have no thread that could end the compilation."""
    if not hasattr(os, "register_at_fork"):
        return
    os.register_at_fork(after_in_child=holder.start_anew)
    # what is registered last is acquired first, in the order in which Numba acquires the two
    for lock in (lib._lock._lock, global_compiler_lock):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def _versions() -> list[str]:
    return [f"{module.__name__} {module.__version__}" for module in (numba, llvmlite, np)]


def _settings() -> list[str]:
    return [f"{name} {getattr(numba.config, name)}" for name in _SETTINGS]


def needs() -> Needs:
    """Return what must be equal here and where kernels were compiled that are to be loaded here."""
    return describe(hash_sources(), [*_versions(), *_settings()])


@cache
def _prebuilt() -> Prebuilt | None:
    return find_prebuilt(needs)


class _Locator:
    """The place of a kernel on disk, as Numba asks for it."""

    def __init__(self, function: FunctionType, file: str) -> None:
        self._py_file = file
        # Numba's names of files hold the last part of a module's name only
        self._home = f"{function.__module__.rpartition('.')[0]}-{function.__code__.co_firstlineno}"

    @classmethod
    def from_function(cls, function: FunctionType, file: str) -> _Locator:
        return cls(function, file)

    def ensure_cache_path(self) -> None:
        """Do nothing: the folder was made, and is held, since the first kernel was defined, if there is one."""

    def get_cache_path(self) -> str:
        folder = _folder()
        return "" if folder is None else str(folder.path)

    def get_source_stamp(self) -> str:
        folder = _folder()
        return "" if folder is None else folder.key

    def get_disambiguator(self) -> str:
        return self._home


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc, unused-ignore]
    _locator_classes: ClassVar = [_Locator]


class _KernelCache(FunctionCache):  # type: ignore[misc, unused-ignore]
    """Numba's cache of a function, in our folder, written by one process at a time."""

    _impl_class = _Implementation

    def load_overload(self, sig: Signature, target_context: BaseContext) -> CompileResult | None:
        """Load what was compiled, here or elsewhere; None if it was not, or if what is there cannot be read."""
        folder = _folder()
        found = None if folder is None else self._load_own(folder, sig, target_context)
        return self._load_prebuilt(sig, target_context) if found is None else found

    def _load_own(self, folder: Folder, sig: Signature, target_context: BaseContext) -> CompileResult | None:
        with suppress(OSError):
            try:
                return super().load_overload(sig, target_context)
            except (EOFError, pickle.UnpicklingError):
                with folder.writing():
                    self.flush()
        return None

    def _load_prebuilt(self, sig: Signature, target_context: BaseContext) -> CompileResult | None:
        prebuilt = _prebuilt()
        if prebuilt is None:
            return None
        target_context.refresh()
        return prebuilt.load(self, self._index_key(sig, target_context.codegen()), target_context)

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        """Keep what was compiled, unless sources changed since this process began, or the disk is full."""
        folder = _folder()
        if folder is None:
            return
        try:
            with folder.writing():
                if folder.is_current():
                    super().save_overload(sig, data)
        except OSError as error:
            warnings.warn(
                f"A compiled kernel could not be kept in {folder.path}: {error}", RuntimeWarning, stacklevel=2
            )
