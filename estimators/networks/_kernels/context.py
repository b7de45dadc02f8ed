"""All that a network works on, as one object: to hand over forty arrays takes longer than to learn a row."""

from estimators._kernels.compile import JIT, njit, structref, types


@structref.register  # type: ignore[untyped-decorator, unused-ignore]
class BenchType(types.StructRef):  # type: ignore[misc, unused-ignore]
    """Numba's type of `Bench`."""


class Bench(structref.StructRefProxy):  # type: ignore[misc, unused-ignore]
    """A network, the tables of skipped steps, room for the rows of a step, and the rows kept for replay."""


structref.define_boxing(BenchType, Bench)
structref.define_constructor(Bench, BenchType, ["net", "lazy", "batch", "store", "taken"])


@njit(**JIT)
def bind(net, lazy, batch, store, taken):  # type: ignore[no-untyped-def]
    """Put it all on one bench, which shares the arrays."""
    return Bench(net, lazy, batch, store, taken)
