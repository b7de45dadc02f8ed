"""How kernels are compiled: the options and the cache.

With `parts`, `prebuilt` and `watching`, this holds all that is not public in Numba. Kernels import Numba from here
only, so that a new version of it is tried against four modules.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import Any, ClassVar, Generic, TypeAlias, TypeVarTuple

import llvmlite
import llvmlite.ir
import numba
import numpy as np
from llvmlite.ir import IRBuilder, Value
from numba import int64, types, uint64
from numba.core import cgutils, event
from numba.core.base import BaseContext
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler import CompileResult
from numba.core.typing import BaseContext as TypingContext
from numba.core.typing import Signature
from numba.experimental import structref
from numba.extending import intrinsic

from estimators._kernels.cache import KERNELS, Folder, hash_sources, need_place, open_folder
from estimators._kernels.parts import PartCompiler, share_among_integers
from estimators._kernels.prebuilt import Needs, Prebuilt, describe, find_prebuilt
from estimators._kernels.watching import CompilationWatcher, InterruptHolder, hold_forks
from estimators._typing import Kernel, Parameters, Result

__all__ = [
    "BUILD",
    "FUSED",
    "HOT",
    "INLINE",
    "JIT",
    "LOOP",
    "OWNING",
    "PART",
    "SPLICED",
    "SUM",
    "Direct",
    "call_at",
    "int64",
    "leading_zeros",
    "multiply",
    "needs",
    "njit",
    "structref",
    "types",
    "uint64",
    "unowned_views",
]

Options: TypeAlias = dict[str, Any]
Arguments = TypeVarTuple("Arguments")

# what an intrinsic returns: its signature, and a function that writes its code
Typed: TypeAlias = tuple[Signature, Callable[..., Value]]

_COMMON: Options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

# what Python calls
JIT: Options = {**_COMMON, "cache": True}
# the same, in place: without a runtime that owns arrays, nobody counts references, which takes longer than the work
LOOP: Options = {**JIT, "_nrt": False}
# the same, with that runtime, whoever calls: what is not set is taken over from the caller
OWNING: Options = {**JIT, "_nrt": True}
# the same, copied into its callers before types are known
SPLICED: Options = {**JIT, "inline": "always"}
# what only compiled functions call: neither kept on disk nor made to run by itself; a call from Python would crash
BUILD: Options = {
    **_COMMON,
    "no_cpython_wrapper": True,
    "_nrt": True,
    # what is not set is taken over from the caller: rare code would be copied into all that is called often
    "forceinline": False,
    "pipeline_class": PartCompiler,
}
# the same, in place
PART: Options = {**BUILD, "_nrt": False}
# what runs once a row or more often: to hand an array to a function costs as much as to work on a small one
INLINE: Options = {**BUILD, "forceinline": True}
HOT: Options = {**PART, "forceinline": True}
# sums may be taken in the order, and with the fused products, that vectors like best; the same every time
SUM: Options = {"fastmath": {"reassoc", "nsz", "contract"}}
FUSED: Options = {"fastmath": {"contract"}}

# settings of Numba that change machine code, and that its own cache does not look at
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "USING_SVML")


def njit(
    *, cache: bool = False, **options: object
) -> Callable[[Callable[Parameters, Result]], Kernel[Parameters, Result]]:
    """Compile a kernel as `numba.njit` does, and keep what was compiled in the one folder of all kernels.

    Numba's own cache looks at the file of the function only: it would keep machine code that holds an older version of
    a kernel from another file. And it would compile a function again for each constant that compiled code passes to it.
    """

    def compiled(function: Callable[Parameters, Result]) -> Kernel[Parameters, Result]:
        dispatcher = numba.njit(**options)(function)
        if numba.config.DISABLE_JIT:
            return dispatcher
        if cache and (_folder() is not None or _prebuilt() is not None):
            dispatcher._cache = _KernelCache(function)
        return share_among_integers(dispatcher)

    return compiled


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
    hold_forks(holder)
    return folder


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


class Direct(Generic[*Arguments, Result]):
    """A compiled function that is given arguments of the same types, arrays contiguous, at every call.

    Numba looks at all arguments to choose among the compilations of a function, which takes several times as long as
    to learn a row with a tree. Here the first call decides. What is only read may be read-only or not: that makes no
    second compilation.

    Parameters
    ----------
    function : callable
        What `njit` returned.
    """

    def __init__(self, function: Callable[[*Arguments], Result]) -> None:
        self._function: Any = function
        self._compiled: Callable[[*Arguments], Result] | None = None

    def __call__(self, *arguments: *Arguments) -> Result:
        """Call the function."""
        if self._compiled is None:
            self._compiled = self._function.compile(tuple(_writable(numba.typeof(one)) for one in arguments))
        return self._compiled(*arguments)


def _writable(kind: types.Type) -> types.Type:
    """Return the type of an array, or of a tuple with arrays, that may be written to."""
    if isinstance(kind, types.BaseTuple):
        return types.BaseTuple.from_types(
            [_writable(part) for part in kind.types], getattr(kind, "instance_class", None)
        )
    return kind.copy(readonly=False) if isinstance(kind, types.Array) else kind


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def unowned_views(typingctx: TypingContext, owned: types.Type) -> Typed:  # noqa: ARG001 - Numba's signature
    """Return the same array, or tuple with the same arrays, without an owner, to be used only while its owner lives.

    Numba counts a reference to each array at every call of a compiled function, atomically; where calls take
    nanoseconds, that is a third of the time.
    """

    def codegen(context: BaseContext, builder: IRBuilder, signature: Signature, args: Sequence[Value]) -> Value:
        return _disowned(context, builder, signature.args[0], args[0])

    return owned(owned), codegen


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def call_at(typingctx: TypingContext, address: types.Type, x: types.Type, y: types.Type) -> Typed:  # noqa: ARG001 - Numba's signature
    """Call the function at an address that takes two doubles and returns one, as `ctypes` makes of a Python function.

    The address is an argument: one compilation, kept on disk, does for all functions.
    """

    def codegen(context: BaseContext, builder: IRBuilder, _signature: Signature, args: Sequence[Value]) -> Value:
        double = context.get_value_type(types.float64)
        function = llvmlite.ir.FunctionType(double, [double, double])
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), args[1:])

    return types.float64(types.int64, types.float64, types.float64), codegen


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def multiply(typingctx: TypingContext, a: types.Type, b: types.Type) -> Typed:  # noqa: ARG001 - Numba's signature
    """Multiply two unsigned 64-bit integers into the high and the low half of 128 bits."""

    def codegen(context: BaseContext, builder: IRBuilder, signature: Signature, args: Sequence[Value]) -> Value:
        half, whole = (llvmlite.ir.IntType(n_bits) for n_bits in (64, 128))
        product = builder.mul(*(builder.zext(factor, whole) for factor in args))
        parts = [builder.trunc(word, half) for word in (builder.lshr(product, whole(64)), product)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(uint64, 2)(uint64, uint64), codegen


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def leading_zeros(typingctx: TypingContext, value: types.Type) -> Typed:  # noqa: ARG001 - Numba's signature
    """Count the zeros before the first bit of an unsigned 64-bit integer that is set."""

    def codegen(context: BaseContext, builder: IRBuilder, _signature: Signature, args: Sequence[Value]) -> Value:  # noqa: ARG001 - Numba's signature
        return builder.ctlz(args[0], llvmlite.ir.IntType(1)(0))

    return uint64(uint64), codegen


def _disowned(context: BaseContext, builder: IRBuilder, kind: types.Type, value: Value) -> Value:
    if isinstance(kind, types.BaseTuple):
        parts = zip(kind.types, cgutils.unpack_tuple(builder, value), strict=True)
        return context.make_tuple(builder, kind, [_disowned(context, builder, *part) for part in parts])
    if not isinstance(kind, types.Array):
        return value
    view = context.make_array(kind)(context, builder, value=value)
    view.meminfo = cgutils.get_null_value(view.meminfo.type)
    view.parent = cgutils.get_null_value(view.parent.type)
    return view._getvalue()
