"""Base of networks that learn rows of a memory in their own way: one step a row, targeted loss."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from estimators._typing import Array, Attributes, RandomStateLike
from estimators.contract.new_labels import OnNewLabels, growth_state
from estimators.contract.validation import Features
from estimators.networks._kernel_context import ContextCache, Needs, ReusableContext
from estimators.networks._kernels.state import Batch, CodedRows, Floats, Integers, Network, RunOptions
from estimators.networks._network_classifier import NetworkClassifier, writable
from estimators.networks._network_options import check_learning_rate, check_network, diverged, hidden_widths
from estimators.networks._network_state import as_network, draw_state, make_batch, with_more_outputs
from estimators.networks._row_store import RowStore, as_rows, empty_store, is_dense, match_store
from estimators.replay.memories import BoundedMemory, ReplayPlan, join_plans, no_replay
from metrics.validation import require_integer


class ReplayingNetwork(NetworkClassifier):
    """Base of networks that keep rows of the stream, and learn them as a subclass has it.

    Subclasses have the parameters `hidden_units`, `learning_rate`, `optimizer`, `size`, `draws`, `dtype`,
    `random_state`, `on_new_labels`, and define in `_make_memory` which rows are kept and drawn, and in `_call` how a
    chunk is learnt.
    """

    hidden_units: int | tuple[int, ...] | None
    learning_rate: float
    optimizer: str
    size: int
    draws: int
    random_state: RandomStateLike
    on_new_labels: OnNewLabels

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: always."""
        return True

    # ------------------------------------------------------------------ hooks
    _memory: BoundedMemory
    _store: RowStore | None
    _contexts: ContextCache

    def _make_memory(self) -> BoundedMemory:
        raise NotImplementedError

    def _settings(self) -> tuple[Any, ...]:
        """Return parameters that are part of what the kernel works on."""
        return ()

    def _owners(self) -> tuple[Any, ...]:
        """Return arrays that are part of what the kernel works on."""
        return ()

    def _make_work(self, net: Network, batch: Batch, store: CodedRows, taken: Integers) -> Any:
        """Return what the kernel works on, with the names of these arguments; see `Replayed`."""
        raise NotImplementedError

    def _call(self, context: ReusableContext, plan: ReplayPlan, rows: CodedRows, proba: Floats) -> int:
        """Call the kernel on a chunk; return -1, or the row at which the network diverged."""
        raise NotImplementedError

    def _start(self) -> None:
        check_network(self)
        require_integer(self.draws, "draws", 1)
        require_integer(self.size, "size", 1)
        random_state = check_random_state(self.random_state)
        sizes = (self.n_features_in_, *hidden_widths(self.hidden_units), self.n_labels_)
        self._state = draw_state(sizes, self.dtype, random_state, freeze=False)
        self._memory = self._make_memory().begin(random_state.randint(2**31 - 1))
        self._store = None
        self._contexts = ContextCache()

    def _grow(self, n_before: int) -> None:
        n_new = self.n_labels_ - n_before
        self._state = with_more_outputs(self._state, n_new, growth_state(self, n_before))
        self._store = None if self._store is None else self._store.with_more_labels(n_new)

    def __setstate__(self, state: Attributes) -> None:
        super().__setstate__(state)
        if "_state" in state:
            self._state = writable(state["_state"])
        if state.get("_store") is not None:
            self._store = state["_store"].copy()
        self._contexts = ContextCache()

    def _predict_proba(self, X: Features) -> Array:
        rows = as_rows(X, np.zeros((X.shape[0], self.n_labels_), np.uint8), None, None, self._dtype)
        nothing = empty_store(self.n_labels_, self._dtype), no_replay(len(rows.weight))
        return self._run(rows, *nothing, learn=False)

    def _pass(self, X: Features, Y: Array, mask: Array | None, weight: Array | None) -> Array:
        """Predict each row, then learn it. All that can be refused is refused before anything changes."""
        check_learning_rate(self.learning_rate, self._state["w"].dtype)
        X, store = match_store(X, self._store, self._memory.size, self.n_labels_, self._dtype)
        rows = as_rows(X, Y, mask, weight, self._dtype)
        plan = join_plans([self._memory], rows.codes, rows.weight > 0)
        proba = self._run(rows, store.as_rows(), plan, learn=True)
        store.keep(rows, plan.slots)
        self._store = store
        return proba

    def _run(self, rows: CodedRows, store: CodedRows, plan: ReplayPlan, *, learn: bool) -> Array:
        """Return the probabilities of rows and, if so wanted, learn them."""
        options = RunOptions(learn, is_dense(rows), float(self.learning_rate), self.optimizer == "adam")
        n_rows = (4 + plan.draws.shape[1]) // 4 * 4  # rows learnt together are processed by fours
        needs = Needs(options, (n_rows, *self._settings()), (self._state, store.starts, *self._owners()))

        def make_work() -> Any:
            net = as_network(self._state, options)
            return self._make_work(
                net, make_batch(net, rows, store, n_rows), store, np.empty(len(store.weight), np.int64)
            )

        context = self._contexts.take(needs, rows, make_work)
        proba = np.empty(rows.codes.shape, self._dtype)
        failed = self._call(context, plan, rows, proba.reshape(-1))
        if failed >= 0:
            raise diverged(rows, failed, self.learning_rate)
        self._contexts.put_back(context)
        return proba
