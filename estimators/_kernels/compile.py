"""How kernels are compiled: the options, and what is written in LLVM's words.

A kernel takes one of six sets of options, by who calls it and by what it does with arrays:

======================  ========================  ===================  ==================================
..                      Python, kept on disk      kernels              kernels, copied into each of them
======================  ========================  ===================  ==================================
may make or keep them   ``JIT``                   ``BUILD``            ``INLINE``
works on them in place  ``LOOP``                  ``PART``             ``HOT``
======================  ========================  ===================  ==================================

Without a runtime that owns arrays nobody counts references to them, which takes longer than the work on a row. What
runs once a row or more often is copied, as to hand an array to a function costs as much as to work on a small one; rare
code is not. Python must not call what only kernels call: that would crash.

``FUSED`` beside them rounds a product and the sum it goes into once: the same bits on all x86-64 that can do so, since
2013. With ``fastmath={"reassoc", "nsz"}``, sums are taken in the order that vectors of this processor like best, and
their bits depend on it: for distances, and for what is only compared with a limit.

Kernels import Numba from here only, but for the lanes of networks. `keeping`, `parts`, `prebuilt` and `watching` use
parts of it that are not public, and serve the releases that were tried with them. A newer one compiles kernels as it
compiles anybody's functions: the results are the same, and the first call takes longer.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVarTuple

import llvmlite.ir
import numba
from numba import int64, types, uint64
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.experimental import structref
from numba.extending import intrinsic

from estimators._typing import Kernel, Parameters, Result

if TYPE_CHECKING:
    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.typing import BaseContext as TypingContext
    from numba.core.typing import Signature

    # what an intrinsic returns: its signature, and a function that writes its code
    Typed: TypeAlias = tuple[Signature, Callable[..., Value]]

__all__ = [
    "BUILD",
    "FUSED",
    "HOT",
    "INLINE",
    "JIT",
    "LOOP",
    "PART",
    "Direct",
    "call_at",
    "int64",
    "leading_zeros",
    "multiply",
    "njit",
    "structref",
    "types",
    "uint64",
    "unowned_views",
]

Options: TypeAlias = dict[str, Any]
Arguments = TypeVarTuple("Arguments")

# the newest release with which what is not public was tried
NEWEST = (0, 68)
IS_KNOWN = tuple(map(int, re.findall(r"\d+", numba.__version__)[:2])) <= NEWEST

_COMMON: Options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# what is not set is taken over from the caller, with which the same function would differ
_OWNING: Options = {"_nrt": True}
_IN_PLACE: Options = {"_nrt": False}
_ENTRY: Options = {**_COMMON, "cache": True}
_PART: Options = {**_COMMON, "no_cpython_wrapper": True, "is_part": True}

JIT: Options = {**_ENTRY, **_OWNING}
LOOP: Options = {**_ENTRY, **_IN_PLACE}
BUILD: Options = {**_PART, **_OWNING, "forceinline": False}
PART: Options = {**_PART, **_IN_PLACE, "forceinline": False}
INLINE: Options = {**_PART, **_OWNING, "forceinline": True}
HOT: Options = {**_PART, **_IN_PLACE, "forceinline": True}
FUSED: Options = {"fastmath": {"contract"}}

# the options above that anybody may use
_PUBLIC = {"nogil", "error_model", "inline", "forceinline", "fastmath"}

if IS_KNOWN:
    from estimators._kernels.keeping import keep
    from estimators._kernels.parts import PartCompiler, share_among_integers
else:
    logging.getLogger("estimators").warning(
        "Numba %s is newer than %s, the last that was tried: kernels are compiled without our shortcuts, which takes "
        "several times as long. pip install 'numba<%s' brings them back.",
        numba.__version__,
        ".".join(map(str, NEWEST)),
        f"{NEWEST[0]}.{NEWEST[1] + 1}",
    )


def njit(
    *, cache: bool = False, is_part: bool = False, **options: object
) -> Callable[[Callable[Parameters, Result]], Kernel[Parameters, Result]]:
    """Compile a kernel as `numba.njit` does, and keep what was compiled in the one folder of all kernels.

    Numba's own cache looks at the file of the function only: it would keep machine code that holds an older version of
    a kernel from another file. And it would compile a function again for each constant that compiled code passes to it.
    """
    if numba.config.DISABLE_JIT:
        return numba.njit(**options)
    if not IS_KNOWN:
        # Files of another release of this package have other times. Only who edits kernels must delete `__pycache__`.
        return numba.njit(cache=cache, **{name: value for name, value in options.items() if name in _PUBLIC})
    if is_part:
        options["pipeline_class"] = PartCompiler

    def compiled(function: Callable[Parameters, Result]) -> Kernel[Parameters, Result]:
        dispatcher = numba.njit(**options)(function)
        if cache:
            keep(dispatcher)
        return share_among_integers(dispatcher)

    return compiled


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
        if not IS_KNOWN:
            return self._function(*arguments)
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
        if not IS_KNOWN:
            return impl_ret_borrowed(context, builder, signature.return_type, args[0])
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
