"""iSOUP tree: one tree for all labels, whose leaves give numbers that are read as probabilities."""

from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._batching import blocks, dense
from estimators._validation import Features
from estimators.base import Mask, StreamClassifier
from estimators.trees._kernels import isoup

Array = npt.NDArray[Any]

DIGITS = 1


class ISOUPTreeClassifier(StreamClassifier):
    """Learn all labels with one regression tree, splitting where the variance of all labels falls most.

    Each leaf answers for each label with the mean, or with a linear model, whichever has erred less of late.

    Parameters
    ----------
    grace_period : int, default=200
        Weight of rows a leaf sees between two attempts to split.
    delta : float, default=1e-7
        Probability of choosing another feature than an infinite stream would; smaller waits longer.
    tau : float, default=0.05
        Bound under which two features count as equal, and the leaf splits.
    max_bytes : int, default=524288000
        Memory of the values that leaves observe. A leaf that finds none left stops observing: it goes on learning
        means and models, but does not split.

    Attributes
    ----------
    tree_ : Tree
        The tree, in flat arrays.

    Notes
    -----
    The decisions are those of River 0.26's ``ISOUPTreeRegressor`` with its defaults, fed 0 and 1: features rounded to
    one digit in search trees with pruning, reduction of the mean variance of the labels, linear models trained by
    gradient descent of rate 0.01, errors fading by 0.95. Splits, thresholds and the statistics of leaves are the same;
    outputs differ by about 1e-15 times the size of the sums, since products are added in four strands.

    Outputs are cut to [0, 1], which is what is given as probability, and decided at one half. Models are not scaled: a
    feature of large numbers makes them diverge, as in River; an output that is no number any more is given as 0.

    References
    ----------
    Osojnik, Panov and Dzeroski, Multi-label classification via multi-target regression on data streams, Machine
    Learning 106, 2017; Tree-based methods for online multi-target regression, Journal of Intelligent Information
    Systems 50, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.trees.isoup import ISOUPTreeClassifier
    >>> X = np.random.default_rng(0).random((2000, 1))
    >>> tree = ISOUPTreeClassifier(delta=1e-3).fit(X, np.hstack([X > 0.3, X > 0.7]))
    >>> tree.predict([[0.1], [0.5], [0.9]])
    array([[0, 0],
           [1, 0],
           [1, 1]])
    """

    _fails_late = False

    def __init__(
        self,
        *,
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        max_bytes: int = 500 * 2**20,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.max_bytes = max_bytes

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return isoup.size_bytes(self.tree_)

    def _start(self) -> None:
        for name, least in (("grace_period", 1), ("tau", 0), ("max_bytes", 0)):
            if not getattr(self, name) >= least:
                raise ValueError(f"{name} must be at least {least}. Got {getattr(self, name)!r} instead.")
        if not 0 < self.delta <= 1:
            raise ValueError(f"delta must be in (0, 1]. Got {self.delta!r} instead.")
        self.tree_ = isoup.plant(self.n_features_in_, self.n_labels_)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        self._run(X, Y, weight, np.empty((0, self.n_labels_)))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        outputs = np.empty(Y.shape)
        self._run(X, Y, None, outputs)
        return _decided(outputs)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        outputs = np.empty((X.shape[0], self.n_labels_))
        for rows in blocks(X):
            isoup.answer(self.tree_, dense(X[rows]), outputs[rows])
        return _decided(outputs)

    def _predict_proba(self, X: Features) -> Array:
        return self._infer(X)[1]

    # ------------------------------------------------------------------ parts
    def _run(self, X: Features, Y: Array, weight: Array | None, outputs: Array) -> None:
        rules = isoup.Rules(float(self.grace_period), float(self.delta), float(self.tau), float(self.max_bytes))
        targets = Y.astype(np.float64)
        weights = np.empty(0) if weight is None else weight
        for rows in blocks(X):
            block = dense(X[rows])
            lesson = isoup.Lesson(block, _rounded(block), targets[rows], weights[rows])
            self.tree_ = isoup.learn(self.tree_, lesson, rules, outputs[rows])


def _decided(outputs: Array) -> tuple[Array, Array]:
    proba = np.nan_to_num(outputs, nan=0.0).clip(0, 1)
    return proba >= 0.5, proba


def _rounded(X: Array) -> Array:
    """Round to one digit as Python does: by the exact value, which NumPy only approximates near a tie."""
    scaled = X * 10.0**DIGITS
    rounded = np.rint(scaled) / 10.0**DIGITS
    near_tie = np.abs(np.abs(scaled - np.floor(scaled)) - 0.5) < 1e-6
    rounded[near_tie] = [round(value, DIGITS) for value in X[near_tie].tolist()]
    return rounded
