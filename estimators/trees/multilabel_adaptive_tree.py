"""MLHAT: a Hoeffding tree for all labels that chooses classifiers for its leaves, and replaces branches after drift."""

import math
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from estimators._batching import blocks, dense
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators._validation import Features
from estimators.base import Mask, StreamClassifier
from estimators.trees._kernels import mlhat_learning
from estimators.trees._kernels.mlhat_arrays import Shape, new_tree, size_bytes
from estimators.trees._kernels.mlhat_leaves import LeafParams, Scratch
from estimators.trees._tree_bank import NO_WEIGHTS, check_growth
from metrics._validation import require_integer

# leaves whose votes for the row at hand are kept
N_KEPT = 16


class MultilabelHoeffdingAdaptiveTree(StreamClassifier):
    def __init__(
        self,
        *,
        grace_period: int = 200,
        delta: float = 1.6587784772850855e-7,
        tau: float = 0.05,
        drift_window_threshold: int = 200,
        switch_significance: float = 0.05,
        cardinality_threshold: int = 750,
        entropy_threshold: float = 0.3,
        n_neighbors: int = 4,
        window: int = 170,
        n_models: int = 10,
        learning_rate: float = 0.3,
        poisson_rate: float = 1.0,
        max_bytes: int = 500 * 2**20,
        random_state: Any = 0,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.drift_window_threshold = drift_window_threshold
        self.switch_significance = switch_significance
        self.cardinality_threshold = cardinality_threshold
        self.entropy_threshold = entropy_threshold
        self.n_neighbors = n_neighbors
        self.window = window
        self.n_models = n_models
        self.learning_rate = learning_rate
        self.poisson_rate = poisson_rate
        self.max_bytes = max_bytes
        self.random_state = random_state

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return size_bytes(self.tree_)

    def _start(self) -> None:
        self._params()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.tree_ = new_tree(Shape(self.n_features_in_, self.n_labels_, self.window, self.n_models), seed)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        complete = (Y != UNKNOWN).all(axis=1)
        if not complete.all():
            X, Y, weight = X[complete], Y[complete], None if weight is None else weight[complete]
        self._run(X, Y, NO_WEIGHTS if weight is None else weight, np.empty((0, self.n_labels_, 2)))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        votes, complete = np.empty((*Y.shape, 2)), (Y != UNKNOWN).all(axis=1)
        self._run(X, Y, NO_WEIGHTS if complete.all() else complete.astype(np.float64), votes)
        return _decided(votes)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        votes, params, scratch = np.empty((X.shape[0], self.n_labels_, 2)), self._params(), self._scratch()
        for rows in blocks(X):
            mlhat_learning.predict(self.tree_, dense(X[rows]), params, scratch, votes[rows])
        return _decided(votes)

    def _predict_proba(self, X: Features) -> Array:
        return self._infer(X)[1]

    # ------------------------------------------------------------------ parts
    def _run(self, X: Features, Y: Array, weights: Array, votes: Array) -> None:
        params, scratch = self._params(), self._scratch()
        for rows in blocks(X):
            chunk = mlhat_learning.Chunk(dense(X[rows]), Y[rows], weights[rows])
            self.tree_ = mlhat_learning.learn(self.tree_, chunk, params, scratch, votes[rows])

    def _params(self) -> mlhat_learning.AdaptiveParams:
        check_growth(self)
        return mlhat_learning.AdaptiveParams(
            float(self.grace_period),
            float(self.delta),
            float(self.tau),
            float(self.drift_window_threshold),
            float(self.switch_significance),
            math.exp(-self.poisson_rate),
            float(self.max_bytes),
            LeafParams(
                float(self.cardinality_threshold), float(self.entropy_threshold), float(self.learning_rate), 0.01
            ),
        )

    def _scratch(self) -> Scratch:
        width, d = self.n_labels_, self.n_features_in_
        return Scratch(
            np.empty((N_KEPT, width, 2)),
            np.zeros(N_KEPT + 1, np.int64),
            np.empty(self.n_models * width),
            np.zeros(d + 1, np.int64),
            np.empty(self.n_neighbors + 1),
            np.zeros(self.n_neighbors + 1, np.int64),
            np.zeros(self.n_models, np.int64),
            np.empty((2, width + 2)),
        )


def _decided(votes: Array) -> tuple[Array, Array]:
    return votes[:, :, 1] > votes[:, :, 0], votes[:, :, 1]
