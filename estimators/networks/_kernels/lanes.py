"""Sums of products in lanes: one order for all processors.

Left to itself, LLVM orders a sum as suits the vectors of the processor, and the last bits differ between two kinds of
them. Networks with memories would end with other scores, by up to .05 of balanced accuracy. The order here is fixed,
and lanes are as many as the widest vectors hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from llvmlite import ir
from numba import types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

if TYPE_CHECKING:
    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.typing import BaseContext as TypingContext
    from numba.core.typing import Signature

    Typed: TypeAlias = tuple[Signature, Callable[..., Value]]

N_LANES = 16
INT32 = ir.IntType(32)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def lane_products(
    typingctx: TypingContext,  # noqa: ARG001 - Numba's signature
    a: types.Type,
    at: types.Type,  # noqa: ARG001
    b: types.Type,
    start: types.Type,  # noqa: ARG001
    length: types.Type,  # noqa: ARG001
) -> Typed:
    """Return the sum of the products of numbers of a, from an offset, and of b, as many as a multiple of `N_LANES`.

    Lane l sums the products l, l + N_LANES, ...; then the upper half of the lanes is added to the lower one until one
    lane is left.
    """

    def codegen(context: BaseContext, builder: IRBuilder, _signature: Signature, args: Sequence[Value]) -> Value:
        lanes = ir.VectorType(context.get_value_type(a.dtype), N_LANES)
        data = [context.make_array(kind)(context, builder, args[k]).data for k, kind in ((0, a), (2, b))]

        def load(array: int, place: Value) -> Value:
            pointer = builder.gep(data[array], [builder.add(args[2 * array + 1], place)])
            return builder.load(builder.bitcast(pointer, lanes.as_pointer()), align=a.dtype.bitwidth // 8)

        n = args[4]
        sums = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * N_LANES))
        with cgutils.for_range_slice(builder, n.type(0), n, n.type(N_LANES)) as (place, _):
            product = builder.fmul(load(0, place), load(1, place), flags=("contract",))
            builder.store(builder.fadd(builder.load(sums), product, flags=("contract",)), sums)
        total, width = builder.load(sums), N_LANES
        while width > 1:
            width //= 2
            halves = (range(first, first + width) for first in (0, width))
            masks = (ir.Constant(ir.VectorType(INT32, width), [*half]) for half in halves)
            total = builder.fadd(*(builder.shuffle_vector(total, total, mask) for mask in masks))
        return builder.extract_element(total, INT32(0))

    return a.dtype(a, uint64, b, uint64, uint64), codegen
