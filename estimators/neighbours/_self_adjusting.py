"""The base of classifiers by nearest neighbours in a window that adjusts its own size."""

from typing import ClassVar

import numpy as np

from estimators._typing import Array
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.neighbours._kernels.self_adjusting import predict_then_learn_rows
from estimators.neighbours._options import check_options, count_candidates
from estimators.neighbours._state import new_room, new_state, with_more_labels, with_room
from estimators.neighbours._window import blocks, dense_rows


class SelfAdjustingClassifier(StreamClassifier):
    """The window, and the loops over rows, of MLSAMPkNN and MLSAkNN."""

    _traits = Traits(fails_late=False, learns_unknown=True)
    _adaptive: ClassVar[bool]

    @property
    def window_size_(self) -> int:
        """Number of rows in the window."""
        return int(self._state.window.size[0])

    # ------------------------------------------------------------------ hooks
    def _check_k(self) -> tuple[int, int]:
        """Return the number of neighbours at first, and how many rows the choice of others looks back on."""
        raise NotImplementedError

    def _start(self) -> None:
        self._options = check_options(self, adaptive=self._adaptive)
        self._k, n_hits = self._check_k()
        n_candidates = count_candidates(self._options)
        self._state = new_state(
            self.n_features_in_, self.n_labels_, k=self._k, n_hits=n_hits, n_candidates=n_candidates
        )

    def _grow(self, n_before: int) -> None:
        self._state = with_more_labels(self._state, self.n_labels_ - n_before, self._k)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        self._predict_then_learn_weighted(X, Y, np.ones(len(Y)) if weight is None else weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        proba = self._predict_then_learn_weighted(X, Y, np.ones(len(Y)))
        return proba >= 0.5, proba

    def _predict_proba(self, X: Features) -> Array:
        proba, room = np.empty((X.shape[0], self.n_labels_)), new_room(self._state)
        nothing = np.empty((0, self.n_labels_), np.uint8)  # rows of weight 0 are not learnt
        for block in blocks(len(proba)):
            rows = dense_rows(X[block])
            parts = rows, nothing, np.zeros(len(rows)), proba[block]
            predict_then_learn_rows(self._state, self._options, room, *parts)
        return self._without_gaps(proba)

    # ------------------------------------------------------------------ parts
    def _predict_then_learn_weighted(self, X: Features, Y: Array, weight: Array) -> Array:
        proba = np.empty(Y.shape)
        for block in blocks(len(Y)):
            rows = dense_rows(X[block])
            self._state = with_room(self._state, len(rows), self._options.max_window)
            parts = rows, np.array(Y[block], np.uint8, order="C"), weight[block], proba[block]
            predict_then_learn_rows(self._state, self._options, new_room(self._state), *parts)
        return self._without_gaps(proba)

    def _without_gaps(self, proba: Array) -> Array:
        """Return probabilities with a value where too few neighbours voted."""
        proba[np.isnan(proba)] = 0.5 if self._adaptive and self._options.faithful else 0.0
        return proba
