"""Contexts of the kernels, kept between calls with the same options so that a call for one row is short."""

import numpy as np

from estimators.networks._kernels.lazy_adam import make_lazy
from estimators.networks._kernels.state import CodedRows, RunOptions, Workspace, make_context
from estimators.networks._network_state import State, as_network, make_batch


class ReusableContext:
    """A context of the kernels for calls with the same options, on the arrays of a state and of a store.

    Parameters
    ----------
    options : RunOptions
        Options of the calls.
    n_rows : int
        Number of rows in a step.
    state : dict of ndarray
        What the network has learnt; its arrays are shared.
    rows : CodedRows
        Rows of a chunk; later rows may not have more features that are not zero than the longest of these.
    store : CodedRows
        Rows kept for replay; their arrays are shared.
    """

    def __init__(self, options: RunOptions, n_rows: int, state: State, rows: CodedRows, store: CodedRows) -> None:
        net = as_network(state, options)
        batch = make_batch(net, rows, store, n_rows)
        self.options, self.n_rows, self.state, self.store = options, n_rows, state, store
        self.max_length = batch.length
        taken = np.empty(len(store.weight), np.int64)
        lazy = None if options.dense else make_lazy(net.w.dtype)
        self.context = make_context(Workspace(net, lazy, batch, store, taken))

    def fits(self, options: RunOptions, n_rows: int, state: State, rows: CodedRows, store: CodedRows) -> bool:
        """Return whether the context can serve a call."""
        return (
            self.options == options
            and self.n_rows == n_rows
            and self.state is state
            and self.store.starts is store.starts
            and (options.dense or bool((rows.ends - rows.starts).max() <= self.max_length))
        )


class ContextCache:
    """Keep one context for learning and one for predicting between calls.

    A call removes the context that it uses, so that threads that predict at the same time do not share one; after a
    call that failed, it is not put back. Contexts are not saved with the network.
    """

    def __init__(self) -> None:
        self._contexts: dict[bool, ReusableContext] = {}

    def __reduce__(self) -> tuple[type["ContextCache"], tuple[()]]:
        return ContextCache, ()

    def take(
        self, options: RunOptions, n_rows: int, state: State, rows: CodedRows, store: CodedRows
    ) -> ReusableContext:
        """Remove the context that fits a call from the cache, or make one."""
        context = self._contexts.pop(options.learn, None)
        if context is not None and context.fits(options, n_rows, state, rows, store):
            return context
        return ReusableContext(options, n_rows, state, rows, store)

    def put_back(self, context: ReusableContext) -> None:
        """Keep a context for the next call."""
        self._contexts[context.options.learn] = context
