"""What the kernels of a network work on, kept between calls that are alike: one call per row is then short."""

from typing import NamedTuple

import numpy as np

from estimators.networks._kernels.context import bind
from estimators.networks._kernels.lazy_adam import make_lazy
from estimators.networks._kernels.state import DENSE, LEARN, Rows
from estimators.networks._network_state import State, as_network, make_batch


class Manner(NamedTuple):
    """How a network works in a call: the options of the kernels, the learning rate, and the rows of a step."""

    options: tuple[int, ...]
    rate: float
    n_rows: int


class Workbench:
    """A bench laid out for one manner of working, on the arrays of a state and of a store.

    Parameters
    ----------
    manner : Manner
        How the network works.
    state : dict of ndarray
        What it has learnt; its arrays are shared.
    rows, store : Rows
        Rows of a chunk, no longer than which later ones may be, and rows kept for replay; the arrays of these are
        shared.
    """

    def __init__(self, manner: Manner, state: State, rows: Rows, store: Rows) -> None:
        net = as_network(state, np.array(manner.options, dtype=np.int64), manner.rate)
        batch = make_batch(net, rows, store, manner.n_rows)
        self.manner, self.state, self.store = manner, state, store
        self.longest = batch.values.size // manner.n_rows
        self.bench = bind(net, make_lazy(net.w.dtype), batch, store, np.empty(len(store.weight), np.int64))

    def suits(self, manner: Manner, state: State, rows: Rows, store: Rows) -> bool:
        """Tell whether a call would get the same bench, but for its room, from a new one."""
        return (
            self.manner == manner
            and self.state is state
            and self.store.starts is store.starts
            and (manner.options[DENSE] != 0 or bool((rows.ends - rows.starts).max() <= self.longest))
        )


class Shelf:
    """Where a bench for learning and one for answering lie between calls.

    Whoever works has taken the bench off, so that threads that ask at once do not share one; after a call that failed
    it is not put back. Nothing on the shelf is saved.
    """

    def __init__(self) -> None:
        self._benches: dict[int, Workbench] = {}

    def __reduce__(self) -> tuple[type["Shelf"], tuple[()]]:
        return Shelf, ()

    def take(self, manner: Manner, state: State, rows: Rows, store: Rows) -> Workbench:
        """Take off the bench that suits a call, or lay out another."""
        bench = self._benches.pop(manner.options[LEARN], None)
        if bench is not None and bench.suits(manner, state, rows, store):
            return bench
        return Workbench(manner, state, rows, store)

    def put_back(self, bench: Workbench) -> None:
        """Keep a bench for the next call."""
        self._benches[bench.manner.options[LEARN]] = bench
