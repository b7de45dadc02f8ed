"""The contract of learning from a stream: first call, checks of input, masks, test-then-train."""

import pickle
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from estimators._typing import Array, Classes, Estimator, MaskLike, MatrixLike, RandomStateLike, RowValues
from estimators.contract.categories import CategoricalFeatures, Nominal, check_coded
from estimators.contract.explanations import Explanation, Terms, as_explanation, permuted, terms_of
from estimators.contract.failed_calls import check_not_diverged, unchanged_on_error, unchanged_or_marked
from estimators.contract.known_labels import KnownLabelScore
from estimators.contract.locks import Locked, lock_of
from estimators.contract.new_labels import (
    PlacedLabels,
    advise_growth,
    check_choice,
    grows,
    place_labels,
    refuse_classes,
)
from estimators.contract.one_row import as_tables, plain_row
from estimators.contract.row_codes import cast_features, fits_surely
from estimators.contract.targets import (
    ClassTarget,
    LabelTarget,
    Target,
    has_unknown,
    holds_unknown,
    is_all_unknown,
    make_target,
)
from estimators.contract.traits import Traits
from estimators.contract.unknown_labels import check_all_known, fold_into_mask, rows_to_learn, runs, take_rows
from estimators.contract.validation import (
    Features,
    check_label_mask,
    check_row_values,
    check_sample_weight,
    require_a_weight,
)
from metrics.validation import require_integer

Mask = npt.NDArray[np.bool_]

# attributes that this base sets itself, before `_start`, or at the end of it
_FACTS = (
    "_target",
    "classes_",
    "n_labels_",
    "label_names_",
    "n_features_in_",
    "feature_names_in_",
    "_diverged",
    "_learnt_names",
    "_nominal",
)


# of one row: it is only predicted
_NOT_LEARNT = np.zeros(1, dtype=bool)


class StreamClassifier(Locked, KnownLabelScore, BaseEstimator):
    """Base of classifiers that learn from a stream, row after row.

    A learner writes three short hooks on checked input, states its traits, and inherits the whole contract:

    - ``_start()``: build the state before anything is learnt; ``n_features_in_`` and ``n_labels_`` are known;
    - ``_learn(X, Y, mask, weight)``: learn rows in order;
    - ``_predict_proba(X)``: float (n_samples, n_labels), P(column is 1), changing nothing;
    - ``_traits = Traits(...)``: what `estimators.contract.traits` lists.

    X is a float32 or float64 array or canonical ``csr_array``; Y is uint8 (n_samples, n_labels); mask is None or
    boolean (n_samples, n_labels), and always None for a learner that does not use the task; weight is None or float64
    (n_samples,). Unknown labels, NaN in the Y of a user, are 0 outside the mask for a learner that uses the task, and 2
    in Y for others. Rows without a label to learn never reach a hook of learning. A one-dimensional target of two
    classes is one column, 1 for the second class; with more classes, each has a column.

    All other hooks have defaults:

    - ``_infer(X)``: predictions and probabilities; override it, instead of ``_predict_proba``, where predictions are
      not P >= 0.5;
    - ``_infer_each(X)``: the same, where the bits of a row depend on the rows around it: of each row alone;
    - ``_predict_then_learn(X, Y, mask)``: test-then-train; override it with a compiled loop;
    - ``_explain(X)``: the terms whose sums scores are, or None;
    - ``_grow(n_before)``: take in new labels, for a learner with the parameter `on_new_labels`; ``_can_grow()`` says
      whether it does;
    - ``_check_inside(X)``: refuse rows that a classifier inside would refuse later;
    - ``_end_fit()``: use rows that wait for later ones;
    - ``_at_risk(n_rows, testing=)``: names of attributes that are copied before the rows are learnt, for rows that
      others may refuse halfway; copies cost as much for one row as for many;
    - ``_rows_to_compile``: number of rows by which a learner has called every compiled function that it may need: as
      many are learnt before the cost of a run is measured. By default two, the first of which begins.

    The state of a learner is what ``_start`` sets: these attributes are listed, and `fit` removes them. Only those that
    are documented end in an underscore. A call with invalid input leaves the estimator as it was, since every attribute
    gets back the value it had. A learner that changes values in place names those in ``_at_risk``; or, if numbers leave
    their range inside a step, it raises ``DivergedError(...)``, which marks the estimator: it refuses to predict or to
    learn until `fit` or `begin` starts it again. This needs no copy, and no check in advance.

    Every public method holds the lock of the estimator: calls from several threads run one after another.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each, the form that scikit-learn's scorers, cross-validation and stacking take for a
        table of labels; their names are in ``label_names_``. For one class a row, the sorted values.
    n_labels_ : int
        Number of labels (for one class a row: number of 0/1 columns that stand for it).
    label_names_ : list
        Names of the labels, in the order of the columns of predictions; only if `classes` named them.
    n_features_in_ : int
        Number of features.
    """

    # ------------------------------------------------------------------ learn
    def partial_fit(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        classes: Classes = None,
        *,
        label_mask: MaskLike = None,
        sample_weight: RowValues = None,
    ) -> Self:
        """Learn the rows of a chunk, in order, in addition to all rows before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, finite; CSR stays CSR.
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 indicator of labels, NaN where a label is unknown; or one class a row. An unknown label is not learnt,
            and a row whose labels are all unknown changes nothing.
        classes : int, list of str, list of ndarray, or ndarray, optional
            Read at the first call, which fixes the width. For labels: their number, their names, or scikit-learn's list
            of arrays; the values of cells, 0 and 1, announce nothing. For one class a row: the values. None: those of
            the first Y. A learner made with ``on_new_labels="grow"`` reads it at every call: the names of the columns
            of this Y, in any order; a name that it has not seen before is a new label, and labels without a column are
            unknown. Without names, columns to the right of those of earlier calls are new labels.
        label_mask : bool ndarray of shape (n_labels,) or (n_samples, n_labels), optional
            Labels that count, for learners with ``uses_task``; other learners learn the zeros outside it.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights of the rows; a row of weight 0 is not learnt.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.

        Raises
        ------
        ValueError
            If anything in the call is wrong.
        DivergedError
            If numbers leave their range while rows are learnt, now or in an earlier call: `fit` must start again.
        """
        return self._learn_chunk(X, Y, classes, label_mask, sample_weight, {})

    def fit(
        self, X: MatrixLike, y: MatrixLike, *, label_mask: MaskLike = None, sample_weight: RowValues = None
    ) -> Self:
        """Forget everything, then learn the rows in one pass.

        Parameters
        ----------
        X, y, label_mask, sample_weight
            As in `partial_fit`, `y` as its `Y`; at least one weight must be positive. A row of weight two need not be
            equal to the same row twice: a learner that takes a step for each row takes one, twice as long.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.
        """
        return self._learn_once(X, y, label_mask, sample_weight, {})

    def begin(self, X: MatrixLike, Y: MatrixLike, classes: Classes = None) -> Self:
        """Take the start state for data of this form without learning, so that `predict` works before any row.

        Parameters
        ----------
        X, Y, classes
            As in `partial_fit`; only widths and kinds are read.

        Returns
        -------
        self
            The estimator, which can predict but has learnt nothing.
        """
        with unchanged_on_error(self):
            self._forget()
            self._check_chunk(X, Y, classes, None)
        return self

    # ---------------------------------------------------------------- predict
    def predict(self, X: MatrixLike) -> Array:
        """Predict the labels, or the class, of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,)
            0/1 integers, or values of ``classes_``.
        """
        with lock_of(self):
            X = self._check_features(X)
            return self._target.decisions(*self._infer(X))

    def predict_proba(self, X: MatrixLike) -> Array:
        """Estimate probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            P(label = 1) of each label, inside (0, 1); for one class a row, P(class), rows summing to 1.
        """
        with lock_of(self):
            X = self._check_features(X)
            return self._target.probabilities(self._predict_proba(X))

    def predict_with_proba(self, X: MatrixLike) -> tuple[Array, Array]:
        """Predict labels and estimate their probabilities in one pass over the rows, where two calls would take two.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        Y_pred : ndarray of shape (n_samples, n_labels) or (n_samples,)
            As `predict` returns.
        Y_proba : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            As `predict_proba` returns.
        """
        with lock_of(self):
            X = self._check_features(X)
            decided, scores = self._infer(X)
            return self._target.decisions(decided, scores), self._target.probabilities(scores)

    def explain(
        self,
        X: MatrixLike,
        *,
        background: "MatrixLike | None" = None,
        n_repeats: int = 10,
        random_state: RandomStateLike = 0,
    ) -> Explanation:
        """Say what each feature of each row adds to the score of each label, beyond what it usually adds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features of the rows to explain.
        background : {array-like, sparse matrix} of shape (n_background, n_features), optional
            Recent rows, whose values features take where a learner is explained by permutation, which needs them. Other
            learners do not read them.
        n_repeats : int, default=10
            Values that each feature takes under permutation, at least 2.
        random_state : int, RandomState instance or None, default=0
            Seed of the rows that the values are of.

        Returns
        -------
        Explanation
            Contributions, named; nothing about the learner changes.

        Raises
        ------
        ValueError
            If X is refused by `predict`, or if the learner needs a background and it is missing.

        Notes
        -----
        Learners that are linear, and trees, are explained exactly: base, contributions and interactions add up to the
        score; :doc:`/learners/explanations` lists them. All others are explained by permutation: a contribution is the
        mean change of the probability when the feature takes values of the background instead of its own. It is an
        estimate with a standard error. Features that add something only together
        count for it each, so that these contributions do not add up.
        """
        require_integer(n_repeats, "n_repeats", minimum=2)
        with lock_of(self):
            X = self._check_features(X)
            terms = terms_of(self, X)
            if terms is None:
                rows = None if background is None else self._check_features(background)
                terms = permuted(self, X, rows, n_repeats, random_state)
            return as_explanation(self, terms)

    def predict_then_fit(
        self, X: MatrixLike, Y: MatrixLike, classes: Classes = None, *, label_mask: MaskLike = None
    ) -> tuple[Array, Array]:
        """Test, then train: predict each row with what was learnt from the rows before it, then learn it.

        Parameters
        ----------
        X, Y, classes, label_mask
            As in `partial_fit`; an estimator that has learnt nothing predicts from its start state. New labels of a
            learner that grows are predicted from the first row of the chunk on.

        Returns
        -------
        Y_pred : ndarray of shape (n_samples, n_labels) or (n_samples,)
            As `predict` returns row by row.
        Y_proba : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            As `predict_proba` returns row by row.
        """
        return self._predict_then_learn_chunk(X, Y, classes, label_mask, {})

    def predict_then_fit_one(
        self, x: MatrixLike, y: MatrixLike, classes: Classes = None, *, label_mask: MaskLike = None
    ) -> tuple[Any, Array]:
        """Predict one row, then learn it: `predict_then_fit` for a loop over rows, to the last bit.

        From the second row on, little is done besides predicting and learning if `x` and `y` are arrays: of float32
        or float64, and of integers, booleans or floats.

        Parameters
        ----------
        x : {array-like of shape (n_features,), sparse matrix or data frame of shape (1, n_features)}
            Features, finite.
        y : array-like of shape (n_labels,), data frame of shape (1, n_labels), or the class of the row
            0/1 labels, NaN where a label is unknown.
        classes
            As in `partial_fit`.
        label_mask : bool ndarray of shape (n_labels,), optional
            Labels that count, as in `partial_fit`.

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
        DivergedError
            As in `partial_fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from estimators import make_strategy
        >>> rng = np.random.default_rng(0)
        >>> learner = make_strategy("BR_HT")
        >>> n_right = 0
        >>> for x in rng.random((500, 3)):
        ...     y_pred, y_proba = learner.predict_then_fit_one(x, x > 0.5)
        ...     n_right += np.array_equal(y_pred, x > 0.5)
        >>> n_right > 400
        True
        """
        with unchanged_or_marked(self) as call:
            rows = self._check_row(x, y, classes, label_mask)
            decided, proba = self._predict_then_learn_checked(call, rows, {})
        return decided[0], proba[0]

    def partial_fit_one(
        self, x: MatrixLike, y: MatrixLike, classes: Classes = None, *, label_mask: MaskLike = None
    ) -> Self:
        """Learn one row: `partial_fit` for a loop over rows, to the last bit, with as little besides.

        Parameters
        ----------
        x, y, classes, label_mask
            As in `predict_then_fit_one`.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.

        Raises
        ------
        ValueError
            If anything in the call is wrong.
        DivergedError
            As in `partial_fit`.

        Examples
        --------
        A row is predicted when it comes, and learnt when somebody has said what it is:

        >>> import numpy as np
        >>> from estimators import OnlineLogisticRegression
        >>> learner = OnlineLogisticRegression(on_new_labels="grow")
        >>> learner = learner.partial_fit_one(np.array([0.5, 1.0]), [1, 0], classes=["scan", "worm"])
        >>> y_pred, y_proba = learner.predict_then_fit_one(np.array([0.5, 1.0]), [np.nan, np.nan])
        >>> bool(y_proba[0] > y_proba[1])
        True
        """
        with unchanged_or_marked(self) as call:
            X, Y, mask, learnt = self._check_row(x, y, classes, label_mask)
            if learnt is None or learnt[0]:
                if names := self._at_risk(1, testing=False):
                    call.copy(names)
                self._learn(X, Y, mask, None)
        return self

    # ------------------------------------------------------------------ facts
    def set_params(self, **params: object) -> Self:
        """Set parameters while no other thread is inside a call.

        Parameters
        ----------
        **params
            Values by parameter, also ``part__parameter`` of an estimator inside.

        Returns
        -------
        self
            The estimator.
        """
        with lock_of(self):
            super().set_params(**params)
        return self

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: by default, if a parameter `targeted` is true."""
        return bool(getattr(self, "targeted", False))

    @property
    def uses_environment(self) -> bool:
        """Whether the environment of a row changes what is learnt."""
        return False

    @property
    def memory_bytes_(self) -> int:
        """Size of what has been learnt, as saved."""
        with lock_of(self):
            return self._size_bytes()

    def _size_bytes(self) -> int:
        return len(pickle.dumps(vars(self), protocol=pickle.HIGHEST_PROTOCOL))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_target") and self._diverged is None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------ public calls
    # with values of rows, such as their environments, that some learners take besides labels and weights
    def _learn_chunk(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        classes: Classes,
        label_mask: MaskLike,
        sample_weight: RowValues,
        metadata: Mapping[str, RowValues],
    ) -> Self:
        with unchanged_or_marked(self) as call:
            rows, passed = self._check_to_learn(X, Y, classes, label_mask, sample_weight, metadata)
            if names := self._at_risk(len(rows[1]), testing=False):
                call.copy(names)
            if len(rows[1]):
                self._learn(*rows, **passed)
        return self

    def _learn_once(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        label_mask: MaskLike,
        sample_weight: RowValues,
        metadata: Mapping[str, RowValues],
    ) -> Self:
        with unchanged_on_error(self):
            self._forget()
            rows, passed = self._check_to_learn(X, Y, None, label_mask, sample_weight, metadata)
            require_a_weight(rows[3])
            if len(rows[1]):
                self._learn(*rows, **passed)
                self._end_fit()
        return self

    def _predict_then_learn_chunk(
        self, X: MatrixLike, Y: MatrixLike, classes: Classes, label_mask: MaskLike, metadata: Mapping[str, RowValues]
    ) -> tuple[Array, Array]:
        with unchanged_or_marked(self) as call:
            rows = self._check_chunk(X, Y, classes, label_mask)
            return self._predict_then_learn_checked(call, rows, self._check_metadata(metadata, len(rows[1])))

    def _predict_then_learn_checked(
        self,
        call: unchanged_on_error,
        rows: tuple[Features, Array, Mask | None, Mask | None],
        passed: Mapping[str, Array],
    ) -> tuple[Array, Array]:
        """Predict, then learn, rows that have been checked."""
        X, Y, mask, learnt = rows
        if learnt is None:
            if names := self._at_risk(len(Y), testing=True):
                call.copy(names)
            decided, scores = self._predict_then_learn(X, Y, mask, **passed)
        elif learnt.any():
            call.copy(self._at_risk_in_runs(X))
            decided, scores = self._predict_then_learn_runs(X, Y, mask, learnt, passed)
        else:
            decided, scores = self._infer_each(X)
        return self._target.decisions(decided, scores), self._target.probabilities(scores)

    # ------------------------------------------------------------------ hooks
    _target: Target
    _diverged: str | None = None
    _learnt_names: tuple[str, ...] = ()
    _nominal: Nominal | None = None
    # of learners without the parameter, and of older pickles
    categorical_features: CategoricalFeatures = None

    @property
    def _traits(self) -> Traits:
        # learners of users may state this trait alone, by its old name
        return Traits(learns_unknown=getattr(self, "_learns_unknown", False))

    @property
    def _rows_to_compile(self) -> int:
        return 2

    def _splits_categories(self) -> bool:
        """Return whether the learner, which has the parameter `categorical_features`, can use it."""
        return True

    def _start(self) -> None:
        raise NotImplementedError

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        raise NotImplementedError

    def _predict_proba(self, X: Features) -> Array:
        if type(self)._infer is StreamClassifier._infer:
            raise NotImplementedError(f"{type(self).__name__} must define _predict_proba, or _infer.")
        return self._infer(X)[1]

    def _can_grow(self) -> bool:
        """Return whether the learner takes in new labels, if it is made with ``on_new_labels="grow"``."""
        return hasattr(self, "on_new_labels")

    def _grow(self, n_before: int) -> None:
        """Take in new labels, of which nothing is known yet, after the `n_before` labels that there were.

        ``n_labels_`` is the new number. New values replace attributes, and none is changed in place: what was learnt
        must be there again if the call fails.
        """
        raise NotImplementedError

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:
        """Return the attributes that learning, or test-then-train, can leave half changed.

        Here this is the loop over rows only: a row may be refused after others have been learnt.
        """
        if not testing or n_rows == 1 or type(self)._predict_then_learn is not StreamClassifier._predict_then_learn:
            return []
        return list(self._learnt_names)

    def _check_rows(self, X: MatrixLike, *, first: bool) -> Features:
        """Return X checked; the first call fixes the width, and which features are nominal."""
        return check_coded(self, X, first=first)

    def _check_inside(self, X: Features) -> None:
        """Refuse rows that an inner classifier would refuse after learning others; the base has no inner classifier."""

    def _infer(self, X: Features) -> tuple[Array, Array]:
        proba = self._predict_proba(X)
        return proba >= 0.5, proba

    def _explain(self, X: Features) -> Terms | None:  # noqa: ARG002
        """Return what the scores of rows are the sums of; None if that is not known, so that features are permuted."""
        return None

    def _infer_each(self, X: Features) -> tuple[Array, Array]:
        """Predict rows as `_infer` predicts each alone; override it where the bits of a row depend on other rows."""
        return self._infer(X)

    def _end_fit(self) -> None:
        """Use rows that wait for later ones: `fit` has learnt all that there are. The base has no such rows."""

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        return self._predict_then_learn_rows(X, Y, mask, {})

    def _predict_then_learn_rows(
        self, X: Features, Y: Array, mask: Mask | None, metadata: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        if X.shape[0] == 1:
            predicted = self._infer(X)
            self._learn(X, Y, mask, None, **metadata)
            return predicted
        predictions = []
        for i in range(X.shape[0]):
            row = slice(i, i + 1)
            predictions.append(self._infer(X[row]))
            passed = _take_metadata(metadata, row)
            self._learn(X[row], Y[row], None if mask is None else mask[row], None, **passed)
        decided, scores = zip(*predictions, strict=True)
        return np.concatenate(decided), np.concatenate(scores)

    # --------------------------------------------------------- unknown labels
    def _at_risk_in_runs(self, X: Features) -> list[str]:
        """Return the attributes to copy where learning is called several times; refuse what a later call would."""
        check_precision(self, X)
        return list(self._learnt_names) if self._traits.fails_late else []

    def _predict_then_learn_runs(
        self, X: Features, Y: Array, mask: Mask | None, learnt: Mask, metadata: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """Test-then-train where rows without a label to learn are only predicted."""
        predictions = [
            self._predict_then_learn(
                X[run], Y[run], None if mask is None else mask[run], **_take_metadata(metadata, run)
            )
            if learnt[run.start]
            else self._infer_each(X[run])
            for run in runs(learnt)
        ]
        decided, scores = zip(*predictions, strict=True)
        return np.concatenate(decided), np.concatenate(scores)

    # ------------------------------------------------------------------- gate
    def _check_chunk(
        self, X: MatrixLike, Y: MatrixLike, classes: Classes, label_mask: MaskLike
    ) -> tuple[Features, Array, Mask | None, Mask | None]:
        """Return features, labels, mask, and which rows have a label to learn, None being all."""
        check_not_diverged(self)
        first = not self.__sklearn_is_fitted__()
        if Y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X = self._check_rows(X, first=first)
        if first:
            self._take_target(make_target(Y, classes))
        elif grows(self):
            placed = place_labels(self._target, Y, classes, label_mask)
            if placed is not None:
                Y, label_mask = self._take_placed(placed)
        elif classes is not None and not self._target.agrees_with(make_target(Y, classes)):
            raise refuse_classes(self)
        codes = self._encode(Y)
        if X.shape[0] != len(codes):
            raise ValueError(f"X and Y must have the same number of rows. Got {X.shape[0]} and {len(codes)} instead.")
        mask = check_label_mask(label_mask, len(codes), self.n_labels_)
        self._check_inside(X)
        mask = mask if self.uses_task else None
        return X, *(self._check_unknown(codes, mask) if holds_unknown(Y, codes) else (codes, mask, None))

    def _check_to_learn(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        classes: Classes,
        label_mask: MaskLike,
        sample_weight: RowValues,
        metadata: Mapping[str, RowValues],
    ) -> tuple[tuple[Features, Array, Mask | None, Array | None], dict[str, Array]]:
        """Return features, labels, mask and weights of the rows that have a label to learn, and their metadata."""
        features, codes, mask, learnt = self._check_chunk(X, Y, classes, label_mask)
        weight, passed = check_sample_weight(sample_weight, features), self._check_metadata(metadata, len(codes))
        if learnt is not None:
            features, codes, mask, weight = take_rows(learnt, features, codes, mask, weight)
            passed = _take_metadata(passed, learnt)
        return (features, codes, mask, weight), passed

    def _check_row(
        self, x: MatrixLike, y: MatrixLike, classes: Classes, label_mask: MaskLike
    ) -> tuple[Features, Array, Mask | None, Mask | None]:
        """Return what `_check_chunk` returns for one row, with only the checks that it needs if it is as most are."""
        is_plain = self._diverged is None and (classes is None or label_mask is None)
        row = plain_row(self, x, y, classes) if is_plain else None
        if row is None:
            return self._check_chunk(*as_tables(self, x, y), classes, label_mask)
        X, Y = row
        mask = None if label_mask is None else check_label_mask(label_mask, 1, self.n_labels_)
        self._check_inside(X)
        mask = mask if self.uses_task else None
        if not has_unknown(Y):
            return X, Y, mask, None
        return X, *((Y, mask, _NOT_LEARNT) if is_all_unknown(Y) else self._check_unknown(Y, mask))

    def _check_unknown(self, codes: Array, mask: Mask | None) -> tuple[Array, Mask | None, Mask | None]:
        if self.uses_task:
            codes, mask = fold_into_mask(codes, mask)
        learnt = rows_to_learn(codes, mask)
        if not (self.uses_task or self._traits.learns_unknown):
            check_all_known(self, codes, learnt)
        return codes, mask, learnt

    def _check_metadata(self, metadata: Mapping[str, RowValues], n_rows: int) -> dict[str, Array]:
        """Return the values of rows that were passed, checked."""
        passed = {name: value for name, value in metadata.items() if value is not None}
        for name in passed:
            if name not in self._traits.row_metadata:
                raise ValueError(f"{name} must be None: {type(self).__name__} does not learn from it.")
        return {name: check_row_values(name, value, n_rows) for name, value in passed.items()}

    def _take_target(self, target: Target) -> None:
        check_choice(self)
        self._announce(target)
        before = set(vars(self))
        self._start()
        self._learnt_names = (*_FACTS, *(name for name in vars(self) if name not in before))

    def _take_placed(self, placed: PlacedLabels) -> tuple[MatrixLike, MaskLike]:
        n_before = self.n_labels_
        if placed.target.width > n_before:
            self._announce(placed.target)
            self._grow(n_before)
        return placed.Y, placed.label_mask

    def _announce(self, target: Target) -> None:
        self._target = target
        self.classes_ = target.classes
        self.n_labels_ = target.width
        if isinstance(target, LabelTarget) and target.names is not None:
            self.label_names_ = list(target.names)

    def _encode(self, Y: MatrixLike) -> Array:
        # in this order: traits may be worked out, and most targets are of labels
        if isinstance(self._target, ClassTarget) and self._traits.takes_codes:
            return self._target.codes(Y)
        if isinstance(self._target, LabelTarget):
            return self._target.encode(Y, advise=partial(advise_growth, self))
        return self._target.encode(Y)

    def _check_features(self, X: MatrixLike) -> Features:
        check_not_diverged(self)
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} has not learnt anything yet. Call `fit` or `partial_fit` first."
            )
        if self._nominal is not None:
            # words that are only predicted are not remembered
            return check_coded(self, X, first=False, learning=False)
        return self._check_rows(X, first=False)

    def _forget(self) -> None:
        for name in self._learnt_names:
            if name in vars(self):
                delattr(self, name)


def _take_metadata(metadata: Mapping[str, Array], rows: slice | Mask) -> dict[str, Array]:
    return {name: values[rows] for name, values in metadata.items()}


def check_precision(estimator: Estimator, X: Features) -> None:
    """Refuse features that do not fit the precision of a classifier, or of one inside it, before any row is learnt."""
    if isinstance(estimator, StreamClassifier):
        values, precision = X if isinstance(X, np.ndarray) else X.data, estimator._traits.precision
        if precision is not None and not fits_surely(values, precision):
            cast_features(values, precision)
        estimator._check_inside(X)
