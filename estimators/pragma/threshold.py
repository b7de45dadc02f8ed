"""Thresholds for any classifier: its probabilities are weighted so that PRAGMA is low."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from estimators._failed_calls import check_not_diverged, unchanged_on_error
from estimators._targets import ClassTarget, as_table, make_target
from estimators._typing import Array
from estimators._unknown_labels import runs
from estimators._validation import Features, check_features
from estimators.base import check_precision, fails_late
from estimators.pragma._vote_search import Search
from estimators.pragma._vote_weights import FittedWeights, shares
from estimators.pragma._weighted_votes import WeightedVotes, rows_with_a_label, with_a_label
from metrics._validation import require_integer


def _estimator_has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(self.estimator, name)


class PragmaThreshold(MetaEstimatorMixin, WeightedVotes):
    """Weigh the probabilities of a classifier by class, or by label, so that PRAGMA is low.

    A row is assigned to the class with the greatest product of weight and probability; for two classes and for labels,
    that is a threshold. The weights are searched on predictions for rows that had not been learnt: out of fold in
    `fit`, and before the row is learnt in `partial_fit`, over a bounded window of the last rows.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba``; with ``partial_fit`` if this one is to learn from a stream.
    importance : float or mapping, default=1.0
        Weight of every class in PRAGMA, or of each one (of each label, by its index); greater than 0.
    compromise : (float, float) or mapping, default=(0.5, 0.5)
        (x, y): to reach a recall of 1 a precision of x is accepted, to reach a precision of 1 a recall of y. For every
        class, or for each one; both in [0, 1).
    cv : int, cross-validation generator or iterable, default=5
        Folds of `fit`, as in scikit-learn's `cross_val_predict`.
    search, n_restarts, n_moves
        As in `PragmaForestClassifier`.
    window : int, default=1000
        Number of last rows that a search uses in a stream.
    period : int, default=100
        Number of rows of a stream from one search to the next.
    random_state : int, RandomState or None, default=None
        Randomness of the search; that of the estimator is its own parameter.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each, with names in ``label_names_`` if `partial_fit` got them in `classes`; for one
        class a row, the sorted values.
    n_features_in_ : int
        Number of features.
    estimator_ : estimator
        The classifier, which has learnt all rows.
    vote_weights_ : ndarray of shape (n_classes,) or (n_labels,)
        Weights of probabilities: of each class, their product being 1, or of a label against its absence.
    pragma_ : float
        PRAGMA on the predictions that the last search used; NaN before any search.
    search_trace_ : ndarray, or list of ndarray
        PRAGMA after each step of the last search; for labels, one array for each label.

    See Also
    --------
    estimators.pragma.forest.PragmaForestClassifier : The same with the votes of a forest, which needs no folds.

    Notes
    -----
    A row of a stream costs one prediction and one learning step of the estimator, O(window) to keep the window, and its
    share of a search, which costs O(window x classes x log(window)) a pass over the weights, once in `period` rows. A
    probability of exactly 0 stays 0 whatever its weight. What is learnt does not depend on how a stream is cut into
    chunks. Weighted probabilities are shares, not calibrated estimates.

    Unknown labels (NaN) are passed on to the estimator, which must be able to learn from such rows; the weight of a
    label is searched on rows where it is known. A row whose labels are all unknown is only predicted.

    A call that fails changes nothing: before each call the estimator is copied, unless it is one of our trees, forests
    or baselines, which do not fail once rows are checked. Let large models learn in chunks.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from estimators.pragma.threshold import PragmaThreshold
    >>> X, y = make_classification(1000, weights=[0.9], class_sep=0.5, random_state=0)
    >>> wanted = {0: (0.5, 0.5), 1: (0.1, 0.9)}
    >>> model = PragmaThreshold(LogisticRegression(), importance={0: 1, 1: 10}, compromise=wanted, random_state=0)
    >>> model = model.fit(X, y)
    >>> bool(model.predict(X).sum() > model.estimator_.predict(X).sum())
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        estimator: Any,
        *,
        importance: float | Mapping[Any, float] = 1.0,
        compromise: tuple[float, float] | Mapping[Any, tuple[float, float]] = (0.5, 0.5),
        cv: Any = 5,
        search: Search = "exact",
        n_restarts: int = 1,
        n_moves: int = 20_000,
        window: int = 1000,
        period: int = 100,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.importance = importance
        self.compromise = compromise
        self.cv = cv
        self.search = search
        self.n_restarts = n_restarts
        self.n_moves = n_moves
        self.window = window
        self.period = period
        self.random_state = random_state

    # ------------------------------------------------------------------ learn
    def fit(self, X: Any, y: Any) -> Self:
        """Search the weights on out-of-fold predictions, then let the estimator learn all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, finite.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Classes, at least two, or 0/1 labels, NaN where a label is unknown.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.
        """
        with unchanged_on_error(self):
            X, truth = with_a_label(*self._begin(X, y, None))
            proba = self._out_of_fold(X, truth)
            self._search(proba, truth)
            self._append_to_window(proba, truth)
            self.estimator_ = clone(self.estimator).fit(X, self._values(truth))
        return self

    @available_if(_estimator_has("partial_fit"))
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Predict rows, then learn them, in order, and search the weights again every `period` rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, finite.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Classes, or 0/1 labels, NaN where a label is unknown.
        classes : ndarray or int, optional
            Read at the first call: the classes, or the number of labels. None: what the first y holds.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.
        """
        self.predict_then_fit(X, y, classes)
        return self

    @available_if(_estimator_has("partial_fit"))
    def predict_then_fit(self, X: Any, y: Any, classes: Any = None) -> tuple[Array, Array]:
        """Test, then train: predict each row with what was learnt from the rows before it, then learn it.

        Parameters
        ----------
        X, y, classes
            As in `partial_fit`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_labels)
            As `predict` returns row by row; the first class, or no label, before anything is learnt.
        y_proba : ndarray of shape (n_samples, n_classes) or (n_samples, n_labels)
            As `predict_proba` returns row by row; equal shares before anything is learnt.
        """
        with unchanged_on_error(self, in_place=True) as call:
            check_not_diverged(self)
            if hasattr(self, "estimator_"):
                X, truth = check_features(self, X, first=False), self._encode(y)
                _check_lengths(X, truth)
                self._weighting()  # set_params may have changed the preferences: invalid ones are refused first
            else:
                X, truth = self._begin(X, y, classes)
                self.estimator_ = clone(self.estimator)
            check_precision(self.estimator, X)
            call.copy(["estimator_"] if fails_late(self.estimator) else [])
            share = self._test_then_train(X, truth)
            return self._decided(share), self._probabilities(share)

    def _begin(self, X: Any, y: Any, classes: Any) -> tuple[Features, Array]:
        """Forget everything, check the first rows, and start with equal weights and an empty window."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        for name in ("window", "period"):
            require_integer(getattr(self, name), name, 1)
        self._diverged = None
        X = check_features(self, X, first=True)
        self._take_target(make_target(y, classes))
        truth = self._encode(y)
        _check_lengths(X, truth)
        self._weighting()  # invalid preferences are refused before anything is learnt
        n = len(self.classes_)
        shape = (n,) if isinstance(self._target, ClassTarget) else (n, 2)
        self._take_weights(FittedWeights(np.ones(n), float("nan"), np.empty(0)))
        self._window_proba, self._window_truth = np.empty((0, *shape)), truth[:0]
        self._n_since_search = 0
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return X, truth

    def _out_of_fold(self, X: Features, truth: Array) -> Array:
        y, proba = self._values(truth), np.zeros((len(truth), *self._window_proba.shape[1:]))
        target = truth.ravel() if truth.shape[1:] == (1,) else truth
        for train, test in check_cv(self.cv, target, classifier=True).split(X, target):
            model = clone(self.estimator).fit(X[train], y[train])
            proba[test] = self._aligned(model, model.predict_proba(X[test]))
        return proba

    def _test_then_train(self, X: Features, truth: Array) -> Array:
        """Return the shares before each row; a row whose labels are all unknown is only predicted."""
        check_not_diverged(self.estimator_)  # it is not fitted then, but must not begin again in silence
        learnt = rows_with_a_label(truth)
        if _tests_then_trains(self.estimator_) and not _is_fitted(self.estimator_):
            announced = len(self.classes_) if self._target.multilabel else self.classes_
            self.estimator_.begin(X, self._values(truth), announced)
        if learnt is None:
            return self._learn_in_periods(X, truth)
        return np.concatenate(
            [
                self._learn_in_periods(X[rows], truth[rows])
                if learnt[rows.start]
                else shares(self._probabilities_of(X[rows]), self.vote_weights_)
                for rows in runs(learnt)
            ]
        )

    def _learn_in_periods(self, X: Features, truth: Array) -> Array:
        """Learn rows until the next search is due, search, and continue; return the shares before each row."""
        shares_before, begin = [], 0
        while begin < len(truth):
            rows = slice(begin, min(begin + self.period - self._n_since_search, len(truth)))
            proba = self._learn_rows(X[rows], truth[rows])
            shares_before.append(shares(proba, self.vote_weights_))
            self._append_to_window(proba, truth[rows])
            self._n_since_search = (self._n_since_search + len(proba)) % self.period
            if self._n_since_search == 0:
                self._search(self._window_proba, self._window_truth)
            begin = rows.stop
        return np.concatenate(shares_before)

    def _learn_rows(self, X: Features, truth: Array) -> Array:
        """Return the probabilities of each row before it is learnt."""
        model, y = self.estimator_, self._values(truth)
        if _tests_then_trains(model):
            return self._aligned(model, model.predict_then_fit(X, y)[1])
        proba = np.empty((len(truth), *self._window_proba.shape[1:]))
        for i in range(len(truth)):
            row = slice(i, i + 1)
            proba[row] = self._probabilities_of(X[row])
            model.partial_fit(X[row], y[row], **({} if _is_fitted(model) else {"classes": self._announced()}))
        return proba

    def _probabilities_of(self, X: Features) -> Array:
        """Return the probabilities of rows, each as if alone; zeros where the estimator has learnt nothing."""
        if not _is_fitted(self.estimator_):
            return np.zeros((X.shape[0], *self._window_proba.shape[1:]))
        each = [slice(None)] if _tests_then_trains(self.estimator_) else [slice(i, i + 1) for i in range(X.shape[0])]
        return np.concatenate([self._aligned(self.estimator_, self.estimator_.predict_proba(X[rows])) for rows in each])

    # ----------------------------------------------------------------- search
    def _search(self, proba: Array, truth: Array) -> None:
        # the same seed for every search: how a stream is cut must not matter
        self._take_weights(self._weighting().fit(proba, truth, np.random.RandomState(self._seed)))

    def _take_weights(self, fitted: FittedWeights) -> None:
        self.vote_weights_, self.pragma_, self.search_trace_ = fitted.weights, fitted.pragma, fitted.trace

    def _append_to_window(self, proba: Array, truth: Array) -> None:
        self._window_proba = np.concatenate([self._window_proba, proba])[-self.window :].copy()
        self._window_truth = np.concatenate([self._window_truth, truth])[-self.window :].copy()

    def _shares(self, X: Any) -> Array:
        check_not_diverged(self)
        check_is_fitted(self, "estimator_")
        X = check_features(self, X, first=False)
        return shares(self._aligned(self.estimator_, self.estimator_.predict_proba(X)), self.vote_weights_)

    def _announced(self) -> Array:
        """Return the classes, or the numbers of the labels, as other estimators take them at their first call."""
        return np.array([0, 1] if self._is_one_column() else self._keys())

    def _values(self, truth: Array) -> Array:
        if isinstance(self._target, ClassTarget):
            return self.classes_[truth]
        return truth.ravel() if self._is_one_column() else as_table(truth)

    def _is_one_column(self) -> bool:
        """Return whether a single label is learnt by an estimator that takes it for one class a row."""
        return self._target.multilabel and self._target.width == 1 and not _tests_then_trains(self.estimator)

    def _aligned(self, model: Any, proba: Any) -> Array:
        """Return probabilities of an estimator as (n_samples, n_classes), or (n_samples, n_labels, 2)."""
        if not all(np.isfinite(one).all() for one in proba):
            raise ValueError(f"Probabilities must be finite. Got NaN or infinity from {model!r} instead.")
        if isinstance(self._target, ClassTarget):
            aligned = np.zeros((len(proba), len(self.classes_)))
            aligned[:, np.searchsorted(self.classes_, model.classes_)] = proba
            return aligned
        one_column = self._is_one_column()
        if one_column or isinstance(proba, list):  # of each label, the values that occurred
            pairs = [(model.classes_, proba)] if one_column else zip(model.classes_, proba, strict=True)
            proba = np.column_stack([one[:, np.asarray(values) == 1].sum(axis=1) for values, one in pairs])
        return np.stack([1.0 - proba, proba], axis=-1)

    def __sklearn_tags__(self) -> Tags:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.sparse = own.input_tags.sparse
        tags.target_tags.multi_output = own.target_tags.multi_output
        if own.classifier_tags is not None:
            tags.classifier_tags = own.classifier_tags
        return tags


def _tests_then_trains(model: Any) -> bool:
    return hasattr(model, "begin") and hasattr(model, "predict_then_fit")


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _check_lengths(X: Features, truth: Array) -> None:
    if X.shape[0] != len(truth):
        raise ValueError(f"X and y must have the same number of rows. Got {X.shape[0]} and {len(truth)} instead.")
