"""Base of networks that are regularised towards earlier tasks: one row a step, Adam, targeted loss."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from estimators._typing import Array, Attributes, RandomStateLike
from estimators.contract.new_labels import OnNewLabels, growth_state
from estimators.contract.validation import Features
from estimators.networks._kernel_context import ContextCache, Needs
from estimators.networks._kernels.regularised import PastTasks, Regularisation, RegularisedWork, run
from estimators.networks._kernels.state import CodedRows, RunOptions
from estimators.networks._network_classifier import NetworkClassifier, writable
from estimators.networks._network_options import check_learning_rate, check_network, diverged, hidden_widths
from estimators.networks._network_state import (
    State,
    append_outputs,
    as_network,
    draw_state,
    make_batch,
    with_more_outputs,
)
from estimators.networks._row_store import as_rows, empty_store

Targets = tuple[Array, Array | None, Array | None]  # labels, masks, weights


class RegularisedNetwork(NetworkClassifier):
    """Base of networks that learn a task while being regularised towards the network that earlier tasks left.

    A task is over when other labels count than in the row before, or when `task_rows` of its rows have been learnt.
    Subclasses have the parameters `hidden_units`, `learning_rate`, `task_rows`, `dtype`, `random_state`,
    `on_new_labels`, and define in `_begin_past` what is kept of a task, and in `_regularisation` how strongly it
    regularises.
    """

    hidden_units: int | tuple[int, ...] | None
    learning_rate: float
    task_rows: int | None
    random_state: RandomStateLike
    on_new_labels: OnNewLabels

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: always."""
        return True

    # ------------------------------------------------------------------ hooks
    _past: State

    def _begin_past(self, n_weights: int) -> State:
        raise NotImplementedError

    def _regularisation(self) -> Regularisation:
        raise NotImplementedError

    def _start(self) -> None:
        check_network(self)
        if self.task_rows is not None and not (isinstance(self.task_rows, Integral) and self.task_rows > 0):
            raise ValueError(f"task_rows must be a positive integer or None. Got {self.task_rows!r} instead.")
        self._regularisation()
        sizes = (self.n_features_in_, *hidden_widths(self.hidden_units), self.n_labels_)
        self._state = draw_state(sizes, self.dtype, check_random_state(self.random_state), freeze=False)
        self._past = {
            "mask": np.zeros(self.n_labels_, dtype=bool),
            "known": np.zeros(self.n_labels_, dtype=bool),
            "n_rows": np.zeros(1, dtype=np.int64),
            **self._begin_past(len(self._state["w"])),
        }
        self._contexts = ContextCache()

    def _grow(self, n_before: int) -> None:
        n_new, sizes = self.n_labels_ - n_before, self._state["sizes"]
        self._state = with_more_outputs(self._state, n_new, growth_state(self, n_before))
        flags = {name: np.append(self._past[name], np.zeros(n_new, dtype=bool)) for name in ("mask", "known")}
        nothing = np.zeros((int(sizes[-2]) + 1, n_new), dtype=self._dtype)
        kept = {name: self._past[name] for name in ("anchor", "importance", "squares")}
        weights = {name: append_outputs(part, sizes, nothing) if len(part) else part for name, part in kept.items()}
        self._past = {"n_rows": self._past["n_rows"].copy(), **flags, **weights}

    def __setstate__(self, state: Attributes) -> None:
        super().__setstate__(state)
        for name in {"_state", "_past"} & state.keys():
            setattr(self, name, writable(state[name]))
        self._contexts = ContextCache()

    def _predict_proba(self, X: Features) -> Array:
        nothing = np.zeros((X.shape[0], self.n_labels_), np.uint8)
        return self._run(X, (nothing, None, None), learn=False)

    def _pass(self, X: Features, Y: Array, mask: Array | None, weight: Array | None) -> Array:
        """Predict each row, then learn it."""
        check_learning_rate(self.learning_rate, self._state["w"].dtype)
        return self._run(X, (Y, mask, weight), learn=True)

    def _run(self, X: Features, targets: Targets, *, learn: bool) -> Array:
        rows = as_rows(X, *targets, self._dtype)
        options = RunOptions(learn=learn, dense=isinstance(X, np.ndarray), rate=float(self.learning_rate))
        strength, max_rows = self._regularisation(), -1 if self.task_rows is None else self.task_rows
        needs = Needs(options, (strength, max_rows), (self._state, self._past))
        context = self._contexts.take(needs, rows, lambda: self._make_workspace(options, strength, max_rows, rows))
        proba = np.empty(rows.codes.shape, self._dtype)
        failed = run(context.context, proba.reshape(-1), *rows)
        if failed >= 0:
            raise diverged(rows, failed, self.learning_rate)
        self._contexts.put_back(context)
        return proba

    def _make_workspace(
        self, options: RunOptions, strength: Regularisation, max_rows: int, rows: CodedRows
    ) -> RegularisedWork:
        net = as_network(self._state, options)
        batch = make_batch(net, rows, empty_store(self.n_labels_, self._dtype), 1)
        kind, old = net.w.dtype.type, np.empty(self.n_labels_, self._dtype)
        return RegularisedWork(net, batch, PastTasks(**self._past), Regularisation(*map(kind, strength)), max_rows, old)
