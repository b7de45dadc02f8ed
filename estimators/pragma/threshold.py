"""Thresholds for any classifier: its probabilities are weighted so that PRAGMA is low."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array, Classes, Estimator, MatrixLike, RandomStateLike
from estimators.contract.base import check_precision
from estimators.contract.failed_calls import check_not_diverged, unchanged_on_error, unchanged_or_marked
from estimators.contract.new_labels import OnNewLabels, can_grow, grows, place_labels, refuse_classes
from estimators.contract.one_row import as_tables
from estimators.contract.targets import ClassTarget, make_target
from estimators.contract.traits import traits_of
from estimators.contract.validation import Features, check_features
from estimators.pragma._calibration import CALIBRATIONS, Calibration, ClassCalibration
from estimators.pragma._preferences import Floors, Pairs, Weights
from estimators.pragma._prequential_weights import PrequentialWeights
from estimators.pragma._vote_search import Search
from estimators.pragma._vote_weights import FittedWeights, shares, warn_of_floors
from estimators.pragma._weighted_votes import with_a_label
from metrics.validation import require_choice, require_integer


def _estimator_has(name: str) -> Callable[["PragmaThreshold"], bool]:
    return lambda self: hasattr(self.estimator, name)


class PragmaThreshold(MetaEstimatorMixin, PrequentialWeights):
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
    local : callable, optional
        Loss of a class from its (recall, precision), in place of the plane that `compromise` defines, as in
        `metrics.pragma`.
    min_recall, min_precision : float or mapping, optional
        Least recall and precision of every class, or of those that a mapping names (of labels, by their index), in
        [0, 1], on the predictions that the search uses: PRAGMA is lowered among the weights that reach these floors.
        Where none are found, those that lack least are used, with a warning in `fit`.
    cv : int, cross-validation generator or iterable, default=5
        Folds of `fit`, as in scikit-learn's `cross_val_predict`.
    calibration : {'sigmoid', 'isotonic'}, optional
        Calibration of the probabilities of each class against the others, before they are weighted, on the predictions
        out of fold: by a logistic curve of their log-odds (Platt), or by isotonic regression. For `fit` and classes
        only. With two classes, a threshold undoes it.
    search, n_restarts, n_moves
        As in `PragmaForestClassifier`.
    n_bags : int, default=0
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
    shortfall_ : float
        Sum of what recalls and precisions lack to their floors, where PRAGMA is measured; 0 if all are reached.
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

    Labels may appear later if the classifier inside takes them in (``on_new_labels="grow"``). A new label has weight 1
    until the next search. Preferences that are mappings must have a value for it: where one is missing, the call is
    refused, and `set_params` can add it.

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
        estimator: Estimator,
        *,
        importance: Weights = 1.0,
        compromise: Pairs = (0.5, 0.5),
        local: Callable[[float, float], float] | None = None,
        min_recall: Floors = None,
        min_precision: Floors = None,
        cv: Any = 5,
        calibration: Calibration | None = None,
        search: Search = "exact",
        n_restarts: int = 1,
        n_moves: int = 20_000,
        n_bags: int = 0,
        window: int = 1000,
        period: int = 100,
        random_state: RandomStateLike = None,
    ) -> None:
        self.estimator = estimator
        self.importance = importance
        self.compromise = compromise
        self.local = local
        self.min_recall = min_recall
        self.min_precision = min_precision
        self.cv = cv
        self.calibration = calibration
        self.search = search
        self.n_restarts = n_restarts
        self.n_moves = n_moves
        self.n_bags = n_bags
        self.window = window
        self.period = period
        self.random_state = random_state

    _calibration: ClassCalibration | None

    # ------------------------------------------------------------------ learn
    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
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
            if self.calibration is not None and self._target.multilabel:
                raise ValueError(
                    f"calibration must be None for labels: a threshold undoes it. Got {self.calibration!r} instead."
                )
            proba = self._calibrated(self._out_of_fold(X, truth), truth)
            lacking = self._search(proba, truth).lacking
            warn_of_floors(lacking, self._weighting().preferences.floors, self._keys(), "out-of-fold predictions")
            self._append_to_window(proba, truth)
            self.estimator_ = clone(self.estimator).fit(X, self._values(truth))
        return self

    @available_if(_estimator_has("partial_fit"))
    def partial_fit(self, X: MatrixLike, y: MatrixLike, classes: Classes = None) -> Self:
        """Predict rows, then learn them, in order, and search the weights again every `period` rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, finite.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Classes, or 0/1 labels, NaN where a label is unknown.
        classes : int, list of str, or ndarray, optional
            Read at the first call: the classes, or the number of labels, or their names. None: what the first y holds.
            Read at every call if the classifier inside was made with ``on_new_labels="grow"``, as it reads them.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.
        """
        self.predict_then_fit(X, y, classes)
        return self

    @available_if(_estimator_has("partial_fit"))
    def predict_then_fit(self, X: MatrixLike, y: MatrixLike, classes: Classes = None) -> tuple[Array, Array]:
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
        with unchanged_or_marked(self) as call:
            check_not_diverged(self)
            if self.calibration is not None:
                raise ValueError(f"calibration must be None for partial_fit. Got {self.calibration!r} instead.")
            if hasattr(self, "estimator_"):
                X, truth = check_features(self, X, first=False), self._encode(self._placed(y, classes))
                _check_lengths(X, truth)
                self._weighting()  # set_params may have changed the preferences: invalid ones are refused first
            else:
                X, truth = self._begin(X, y, classes)
                self.estimator_ = clone(self.estimator)
            check_precision(self.estimator, X)
            call.copy(["estimator_"] if traits_of(self.estimator).fails_late else [])
            share = self._test_then_train(X, truth)
            return self._decided(share), self._probabilities(share)

    @available_if(_estimator_has("partial_fit"))
    def predict_then_fit_one(self, x: MatrixLike, y: MatrixLike, classes: Classes = None) -> tuple[Any, Array]:
        """Predict one row, then learn it: `predict_then_fit` for a loop over rows, to the last bit.

        Parameters
        ----------
        x : {array-like of shape (n_features,), sparse matrix of shape (1, n_features)}
            Features, finite.
        y : array-like of shape (n_labels,), or the class of the row
            0/1 labels, NaN where a label is unknown.
        classes
            As in `partial_fit`.

        Returns
        -------
        y_pred : ndarray of shape (n_labels,), or the class
            The row of `predict`, before it is learnt.
        y_proba : ndarray of shape (n_labels,) or (n_classes,)
            The row of `predict_proba`, before it is learnt.

        Raises
        ------
        ValueError
            If anything in the call is wrong; the estimator is unchanged.
        """
        y_pred, y_proba = self.predict_then_fit(*as_tables(self, x, y), classes)
        return y_pred[0], y_proba[0]

    @available_if(_estimator_has("partial_fit"))
    def partial_fit_one(self, x: MatrixLike, y: MatrixLike, classes: Classes = None) -> Self:
        """Learn one row: `partial_fit` for a loop over rows, to the last bit.

        Parameters
        ----------
        x, y, classes
            As in `predict_then_fit_one`.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.

        Raises
        ------
        ValueError
            If anything in the call is wrong.
        """
        self.predict_then_fit_one(x, y, classes)
        return self

    def _begin(self, X: MatrixLike, y: MatrixLike, classes: Classes) -> tuple[Features, Array]:
        """Forget everything, check the first rows, and start with equal weights and an empty window."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        for name in ("window", "period"):
            require_integer(getattr(self, name), name, 1)
        if self.calibration is not None:
            require_choice(self.calibration, "calibration", CALIBRATIONS)
        self._diverged, self._calibration = None, None
        X = check_features(self, X, first=True)
        self._take_target(make_target(y, classes))
        truth = self._encode(y)
        _check_lengths(X, truth)
        self._weighting()  # invalid preferences are refused before anything is learnt
        n = len(self.classes_)
        shape = (n,) if isinstance(self._target, ClassTarget) else (n, 2)
        self._take_weights(FittedWeights(np.ones(n), float("nan"), np.empty(0), np.zeros((n, 2))))
        self._window_proba, self._window_truth = np.empty((0, *shape)), truth[:0]
        self._n_since_search = 0
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return X, truth

    @property
    def on_new_labels(self) -> OnNewLabels:
        """Treatment of labels that appear after the first call: the parameter of the classifier inside."""
        inner: Any = self.estimator
        choice: OnNewLabels = inner.on_new_labels
        return choice

    def _can_grow(self) -> bool:
        return can_grow(self.estimator)

    def _placed(self, y: MatrixLike, classes: Classes) -> MatrixLike:
        """Return labels in the columns that there are, with new ones if the classifier inside takes them in."""
        placed = place_labels(self._target, y, classes, None) if grows(self) else None
        if placed is not None:
            if placed.target.width > self._target.width:
                self._grow(placed.target)
            return placed.Y
        if classes is not None and not grows(self) and not self._target.agrees_with(make_target(y, classes)):
            raise refuse_classes(self)
        return y

    def _out_of_fold(self, X: Features, truth: Array) -> Array:
        y, proba = self._values(truth), np.zeros((len(truth), *self._window_proba.shape[1:]))
        target = truth.ravel() if truth.shape[1:] == (1,) else truth
        for train, test in check_cv(self.cv, target, classifier=True).split(X, target):
            model = clone(self.estimator).fit(X[train], y[train])
            proba[test] = self._aligned(model, model.predict_proba(X[test]))
        return proba

    def _calibrated(self, proba: Array, truth: Array) -> Array:
        """Return probabilities out of fold, calibrated on themselves."""
        if self.calibration is None:
            return proba
        self._calibration = ClassCalibration.fit(self.calibration, proba, truth)
        return self._calibration.transform(proba)

    def _shares(self, X: MatrixLike) -> Array:
        check_not_diverged(self)
        check_is_fitted(self, "estimator_")
        X = check_features(self, X, first=False)
        proba = self._aligned(self.estimator_, self.estimator_.predict_proba(X))
        return shares(proba if self._calibration is None else self._calibration.transform(proba), self.vote_weights_)

    def __sklearn_tags__(self) -> Tags:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.sparse = own.input_tags.sparse
        tags.target_tags.multi_output = own.target_tags.multi_output
        if own.classifier_tags is not None:
            tags.classifier_tags = own.classifier_tags
        return tags


def _check_lengths(X: Features, truth: Array) -> None:
    if X.shape[0] != len(truth):
        raise ValueError(f"X and y must have the same number of rows. Got {X.shape[0]} and {len(truth)} instead.")
