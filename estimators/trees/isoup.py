"""iSOUP tree: one regression tree for all labels, whose outputs are used as probabilities."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.batching import DOUBLES, blocks, dense
from estimators.contract.categories import CategoricalFeatures, nominal_places
from estimators.contract.explanations import Terms
from estimators.contract.locks import lock_of
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.trees._bins import NO_BINS, Bins
from estimators.trees._explanations import explain_path
from estimators.trees._importances import decreases, gini, importances
from estimators.trees._kernels import isoup
from estimators.trees._kernels.regression_arrays import new_tree, size_bytes
from estimators.trees._tree_bank import NO_WEIGHTS, check_growth


class ISOUPTreeClassifier(StreamClassifier):
    """One regression tree for all labels, which splits where the mean variance of the labels falls most.

    Each leaf predicts each label by its mean or by a linear model, whichever has had smaller errors recently.

    Parameters
    ----------
    grace_period : int, default=200
        Weight of the rows that a leaf learns between two attempts to split.
    delta : float, default=1e-7
        Probability of choosing another feature than an infinite stream would; smaller values split later.
    tau : float, default=0.05
        Bound under which two features count as equally good, so that the leaf splits.
    max_bytes : int, default=524288000
        Bound of the memory of the values that leaves observe. A leaf that would exceed it stops observing: it goes on
        learning means and models, but does not split.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers.

    Attributes
    ----------
    tree_ : RegressionTree
        The tree, in flat arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of variance by the splits, summed over the labels.

    Notes
    -----
    The decisions are those of ``ISOUPTreeRegressor`` in River 0.26 with its defaults and targets 0 and 1: features
    rounded to one digit in search trees with pruning, reduction of the mean variance of the labels, linear models
    trained by gradient descent with a learning rate of 0.01, errors that fade by 0.95. Splits, thresholds and the
    statistics of leaves are the same; outputs differ by about 1e-15 times the size of the sums, because products are
    added in four running sums.

    Where labels are unknown (NaN), which River refuses, everything is computed from the known rows of each label:
    weights, means, variances, errors and linear models. The weight of a leaf is then their mean over the labels, and a
    label counts in the merit of a split if at least five known rows are on either side.

    Outputs are clipped to [0, 1] and returned as probabilities; a label is predicted if its output is at least 0.5.
    Features are not scaled: large values make the linear models diverge, as in River; NaN is returned as 0.

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

    _traits = Traits(fails_late=False, learns_unknown=True)

    def __init__(
        self,
        *,
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        max_bytes: int = 500 * 2**20,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.max_bytes = max_bytes
        self.categorical_features = categorical_features

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of variance by the splits; zeros before any split."""
        with lock_of(self):
            check_is_fitted(self)
            return importances([decreases(self.tree_, 0, self.n_features_in_, self._leaf_weights, gini)])

    def _leaf_weights(self, i: int) -> Array:
        mean = self.tree_.mean[i]
        return self.tree_.weights[i][:, np.newaxis] * np.stack([1 - mean, mean], axis=1)

    _bins = NO_BINS

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return size_bytes(self.tree_)

    def _start(self) -> None:
        check_growth(self)
        nominal = nominal_places(self, self.n_features_in_)
        self.tree_, self._bins = new_tree(self.n_features_in_, self.n_labels_, nominal), Bins(nominal)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        self._run(X, Y, weight, np.empty((0, self.n_labels_)))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        proba = np.empty(Y.shape)
        self._run(X, Y, None, proba)
        return proba >= 0.5, proba

    def _predict_proba(self, X: Features) -> Array:
        proba = np.empty((X.shape[0], self.n_labels_))
        X = self._bins.of(X, learning=False)
        for rows in blocks(X):
            isoup.predict(self.tree_, dense(X[rows]), proba[rows])
        return proba

    def _explain(self, X: Features) -> Terms:
        rows = self._bins.of(X, learning=False)
        return explain_path(self.tree_, 0, self._leaf_weights, rows, self._predict_proba(X))

    # ------------------------------------------------------------------ parts
    def _run(self, X: Features, Y: Array, weight: Array | None, proba: Array) -> None:
        params = isoup.RegressionTreeParams(
            float(self.grace_period), float(self.delta), float(self.tau), float(self.max_bytes)
        )
        targets = Y.astype(DOUBLES)
        weights = NO_WEIGHTS if weight is None else weight
        X = self._bins.of(X, learning=True)
        self.tree_ = self._bins.known_to(self.tree_)
        if len(Y) == 1:
            # a call with one row should cost little more than the row
            self.tree_ = isoup.learn(self.tree_, isoup.RegressionChunk(dense(X), targets, weights), params, proba)
            return
        for rows in blocks(X):
            chunk = isoup.RegressionChunk(dense(X[rows]), targets[rows], weights[rows])
            self.tree_ = isoup.learn(self.tree_, chunk, params, proba[rows])
