"""Arrays without an owner, so that nobody counts references to them."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def borrow(typingctx: Any, owned: Any) -> Any:  # noqa: ARG001 - Numba's signature
    """Return the same array, or tuple with the same arrays, to be used only while its owner lives.

    Numba counts a reference to each array at every call of a compiled function, atomically; where calls take
    nanoseconds, that is a third of the time.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _disowned(context, builder, signature.args[0], args[0])

    return owned(owned), codegen


def _disowned(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        parts = zip(kind.types, cgutils.unpack_tuple(builder, value), strict=True)
        return context.make_tuple(builder, kind, [_disowned(context, builder, *part) for part in parts])
    if not isinstance(kind, types.Array):
        return value
    view = context.make_array(kind)(context, builder, value=value)
    view.meminfo = cgutils.get_null_value(view.meminfo.type)
    view.parent = cgutils.get_null_value(view.parent.type)
    return view._getvalue()
