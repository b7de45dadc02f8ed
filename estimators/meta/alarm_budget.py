"""At most so many alarms a day, around any classifier."""

import math
from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array, Classes, Estimator, MaskLike, MatrixLike, RowValues
from estimators.contract.base import Mask
from estimators.contract.durations import parse_duration
from estimators.contract.failed_calls import DivergedError, unchanged_on_error, unchanged_or_marked
from estimators.contract.new_labels import grows
from estimators.contract.parameters import Rule, check_rules
from estimators.contract.row_keys import KeysLike, check_order, read_owners, read_times
from estimators.contract.targets import FEW, as_table
from estimators.contract.validation import Features
from estimators.meta._alarm_meter import AlarmMeter, Limits
from estimators.meta._alarm_weights import check_weights
from estimators.meta._around_any import AroundAnyClassifier
from estimators.replay._meta_base import begin_inner
from metrics.validation import require_integer, shown

# When rows were, in microseconds, and whose they are, as far as limits ask for it.
RowKeys = tuple[Array | None, list[Hashable] | None]


class AlarmBudget(AroundAnyClassifier):
    """Raise `budget` alarms a period at most, in the mean, those that gain most; an alarm is a label of a row.

    An alarm for a label of probability p gains ``w * p - (1 - p)``, where w is the weight of the label: what a hit is
    worth against a false alarm. Probabilities are those of the classifier inside, unchanged. `raise_alarms`,
    `predict_then_fit` and `predict_then_fit_one` spend the budget; nothing else does.

    Parameters
    ----------
    estimator : estimator instance
        One of our classifiers; or any scikit-learn classifier with ``partial_fit`` and ``predict_proba``, of which each
        label learns a copy (`BinaryRelevance`).
    budget : float
        Alarms per period, at least 0.1; infinite by default. A finite budget is spent on the greatest gains, even if
        they are negative. An infinite one raises an alarm where the gain is not negative; if all weights are equal,
        where the classifier predicts a label, so that it is the classifier.
    period : int or str, default=1000
        Number of rows; or a length of time such as "1d" or "30min" (ms, s, min, h, d), and then `keys` hold times.
    weights : float, mapping or array-like of shape (n_labels,), default=1.0
        What a hit is worth against a false alarm, greater than 0: for all labels; by the names of labels, or by their
        positions if they have no names, the others being 1; or for each label of the first call.
    key_budget : int, optional
        Alarms per key in any period, such as those of one host.
    key : str, optional
        The field of `keys` that says whose a row is; by default the only one that holds no times.
    time : str, optional
        The field of `keys` that holds the times of rows; by default the only one that does.
    memory : float, default=10
        Number of periods after which the threshold has mostly forgotten a row.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    estimator_ : StreamClassifier
        The classifier, as it has learnt.
    threshold_ : float
        The least gain of an alarm that `predict` predicts; infinite before enough rows, NaN where the classifier
        decides.
    saved_ : float
        Number of alarms that may be raised at once.

    See Also
    --------
    PrevalenceThreshold : Decisions for balanced accuracy, which cost many alarms where labels are rare.
    metrics.recall_at_budget : The recall of the best-scored labels of each period.

    Notes
    -----
    Alarms are saved at the rate of the budget, up to one period's worth, or one alarm if the budget is less; none is
    saved at the start. So one period may have twice its budget, after one without alarms. Besides, any 10 successive
    periods have at most ``1.05 * 10 * budget`` alarms: those that come last are refused. A log of as many alarms
    ensures it; for budgets beyond 1000, half a period's worth is saved at most, which needs no log. No world,
    stationary or not, can break these limits.

    The threshold is a quantile of the gains of all labels: the one that cells of a row exceed at the rate of the
    budget, times ``0.5 + saved_ / most that can be saved``. Gains fade with rate 1 / `memory` and are counted in 4096
    bins of log-odds between -20 and 20. There is no threshold until an alarm's share of the budget has passed, about
    ``period / budget`` rows. Of the bin below the threshold, in which cells tie, as with a tree, as many are alarms as
    the rate leaves, spread evenly, and those for which a saved alarm would expire. A cell of probability 0 is never
    one. In a row the greatest gain comes first, then the lower column.

    While saved alarms expire, as after a fall of scores, gains fade thirty times as fast, and for each that has expired
    the rate that is wanted doubles; an alarm takes back a fifth of that.

    `predict` applies the threshold of the last row that was spent on, and no limit. Its rows, and those that
    `partial_fit` learns, count nowhere. Parameters are read when learning begins, and again by `fit`. New labels of a
    classifier that grows compete for the same budget at once.

    One class a row is possible where the classifier decides only: with an infinite budget, equal weights, and no
    `key_budget`.

    References
    ----------
    Tokens that are saved at a rate, up to a limit, are known as a token bucket: J. S. Turner, "New directions in
    communications (or which way to the information age?)", IEEE Communications Magazine 24(10), 1986.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import AlarmBudget, OnlineLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 3))
    >>> Y = X[:, :2] + 0.5 * rng.normal(size=(5000, 2)) > 2.5
    >>> learner = AlarmBudget(OnlineLogisticRegression(), budget=10, period=1000)
    >>> alarms, Y_proba = learner.predict_then_fit(X, Y)
    >>> alarms.reshape(5, 1000, 2).sum(axis=(1, 2)).max() <= 20
    np.True_
    >>> bool(Y[alarms == 1].mean() > 0.5)
    True
    """

    def __init__(  # noqa: PLR0913 - parameters of a learner
        self,
        estimator: Estimator,
        budget: float = math.inf,
        *,
        period: int | str = 1000,
        weights: float | Mapping[Hashable, float] | npt.ArrayLike = 1.0,
        key_budget: int | None = None,
        key: str | None = None,
        time: str | None = None,
        memory: float = 10.0,
    ) -> None:
        self.estimator = estimator
        self.budget = budget
        self.period = period
        self.weights = weights
        self.key_budget = key_budget
        self.key = key
        self.time = time
        self.memory = memory

    # ------------------------------------------------------------------ spend
    def raise_alarms(self, X: MatrixLike, keys: KeysLike = None) -> Array:
        """Predict rows that come next, one after the other, and spend the budget on them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        keys : structured array, mapping or data frame, optional
            Named fields with an entry for each row: its time, which may not fall, if the period is one, and whose it
            is, if there is a `key_budget`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            1 for an alarm, 0 elsewhere.

        Raises
        ------
        ValueError
            If anything in the call is wrong, or a probability is NaN; nothing is spent.
        """
        with unchanged_on_error(self):
            X = self._check_features(X)
            rows = self._read_keys(keys, X.shape[0])
            decided, scores = self._infer_each(X)
            decided, proba = self._target.decisions(decided, scores), self._target.probabilities(scores)
            return self._spend(decided, proba, rows, ValueError)

    def predict_then_fit(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        classes: Classes = None,
        *,
        environment: RowValues = None,
        label_mask: MaskLike = None,
        keys: KeysLike = None,
    ) -> tuple[Array, Array]:
        """Raise alarms, then learn: what a loop over rows of `raise_alarms`, `predict_proba` and `partial_fit` does.

        Parameters
        ----------
        X, Y, classes, environment, label_mask
            As in `partial_fit`.
        keys
            As in `raise_alarms`.

        Returns
        -------
        Y_pred : ndarray of shape (n_samples, n_labels) or (n_samples,)
            1 for an alarm, 0 elsewhere.
        Y_proba : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            As `predict_proba` returns row by row.

        Raises
        ------
        ValueError
            As in `raise_alarms`.
        DivergedError
            If a probability is NaN, and the classifier has learnt the rows already.
        """
        with unchanged_or_marked(self) as call:
            rows = self._check_chunk(X, Y, classes, label_mask)
            passed = self._check_metadata({"environment": environment}, len(rows[1]))
            read = self._read_keys(keys, len(rows[1]))
            decided, proba = self._predict_then_learn_checked(call, rows, passed)
            return self._spend(decided, proba, read, _error_of(rows)), proba

    def predict_then_fit_one(
        self,
        x: MatrixLike,
        y: MatrixLike,
        classes: Classes = None,
        *,
        label_mask: MaskLike = None,
        keys: KeysLike = None,
    ) -> tuple[Any, Array]:
        """Raise the alarms of one row, then learn it: `predict_then_fit` for a loop over rows, to the last bit.

        Parameters
        ----------
        x, y, classes, label_mask
            As for every learner of a stream.
        keys : structured array or scalar, mapping or data frame, optional
            As in `raise_alarms`, with the entries of the row.

        Returns
        -------
        y_pred : ndarray of shape (n_labels,), or the class
            1 for an alarm, 0 elsewhere.
        y_proba : ndarray of shape (n_labels,) or (n_classes,)
            The row of `predict_proba`, before it is learnt.
        """
        with unchanged_or_marked(self) as call:
            rows = self._check_row(x, y, classes, label_mask)
            read = self._read_keys(keys, 1)
            decided, proba = self._predict_then_learn_checked(call, rows, {})
            return self._spend(decided, proba, read, _error_of(rows))[0], proba[0]

    # ------------------------------------------------------------------ facts
    @property
    def uses_keys(self) -> bool:
        """Whether methods that spend need `keys`: for a period of time, and for a budget of each key."""
        return isinstance(self.period, str) or self.key_budget is not None

    @property
    def threshold_(self) -> float:
        """Least gain of an alarm that `predict` predicts."""
        check_is_fitted(self)
        if self._is_learner:
            return math.nan
        if self._meter.limits.budget == math.inf:
            return 0.0
        return self._weights.gain(self._meter.threshold)

    @property
    def saved_(self) -> float:
        """Number of alarms that may be raised at once."""
        check_is_fitted(self)
        return self._meter.saved

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        limits = self._check_limits()
        names = getattr(self, "label_names_", None)
        self._weights = check_weights(self.weights, self.n_labels_, names, grows=grows(self))
        self._meter = AlarmMeter(limits)
        self._is_learner = self._decides_itself()
        if not (self._target.multilabel or self._is_learner):
            raise ValueError(
                "y must be a table of labels, one column each, for a finite budget, several weights or a key_budget. "
                "Got one class a row; pass its classes as columns of 0 and 1."
            )
        self.estimator_ = begin_inner(self, None)

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        self._weights = self._weights.widened(self.n_labels_, getattr(self, "label_names_", None))
        self._is_learner = self._decides_itself()

    def _check_inside(self, X: Features) -> None:
        # the classifier learns all rows in one call, and refuses them by itself; inside another, none may be there yet
        self._model._check_inside(X)
        self._check_labels_inside()

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, **metadata: Array) -> None:
        self.estimator_.partial_fit(X, as_table(Y), label_mask=mask, sample_weight=weight, **metadata)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None, **metadata: Array) -> tuple[Array, Array]:
        return self.estimator_.predict_then_fit(X, as_table(Y), label_mask=mask, **metadata)

    def _predict_then_learn_checked(
        self,
        call: unchanged_on_error,
        rows: tuple[Features, Array, Mask | None, Mask | None],
        passed: Mapping[str, Array],
    ) -> tuple[Array, Array]:
        if not self._takes_checked():
            return super()._predict_then_learn_checked(call, rows, passed)
        return self._predict_then_learn_inside(rows, passed)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        decided, proba = self.estimator_.predict_with_proba(X)
        if self._is_learner:
            return decided, proba
        if self._meter.limits.budget == math.inf:
            return self._weights.is_gain(proba), proba
        return self._weights.log_odds(proba) >= self._meter.threshold, proba

    # ------------------------------------------------------------------ parts
    def _decides_itself(self) -> bool:
        """Return whether alarms are what the classifier predicts."""
        limits = self._meter.limits
        return limits.budget == math.inf and limits.key_budget is None and self._weights.are_equal

    def _check_limits(self) -> Limits:
        """Return the limits that the parameters state."""
        if not isinstance(self.budget, Real) or isinstance(self.budget, bool) or not self.budget >= 0.1:
            raise ValueError(
                f"budget must be a number of alarms a period, at least 0.1, or inf. Got {shown(self.budget)} instead; "
                f"for fewer alarms, take a longer period."
            )
        rules: dict[str, Rule] = {"memory": (Real, lambda value: value >= 1, "a number of periods, at least 1")}
        check_rules({"memory": self.memory}, rules)
        for name, field in (("key", self.key), ("time", self.time)):
            if field is not None and not isinstance(field, str):
                raise ValueError(f"{name} must be the name of a field of keys, or None. Got {shown(field)} instead.")
        key_budget = None if self.key_budget is None else require_integer(self.key_budget, "key_budget", 1)
        if isinstance(self.period, str):
            period = parse_duration(self.period, "period")
        else:
            period = require_integer(self.period, "period", 1)
        return Limits(float(self.budget), float(period), key_budget, float(self.memory), isinstance(self.period, str))

    def _read_keys(self, keys: KeysLike, n_rows: int) -> RowKeys:
        """Return what the limits need to know of rows."""
        limits = self._meter.limits
        if keys is None and (limits.is_timed or limits.key_budget is not None):
            raise ValueError("keys must be passed, for a period of time or a key_budget. Got None instead.")
        times = read_times(keys, self.time, n_rows).astype(np.float64) if limits.is_timed else None
        if times is not None:
            check_order(times, self._meter.now)
        return times, None if limits.key_budget is None else read_owners(keys, self.key, n_rows)

    def _spend(self, decided: Array, proba: Array, rows: RowKeys, error: type[ValueError]) -> Array:
        """Return the alarms of rows, and spend them; `error` is raised if a probability is NaN."""
        if self._is_learner:
            return decided
        # far faster for a row
        if np.isnan(proba).any() if proba.size > FEW else math.isnan(sum(proba.ravel().tolist())):
            row, label = np.argwhere(np.isnan(proba))[0]
            raise error(f"estimator must return probabilities. Got NaN in row {row}, label {label}.")
        if self._meter.limits.budget < math.inf:
            return self._meter.spend(proba, self._weights, *rows)
        gains = decided if self._weights.are_equal else self._weights.is_gain(proba)
        return self._meter.cap(gains, proba, self._weights, *rows)


def _error_of(rows: tuple[Features, Array, Mask | None, Mask | None]) -> type[ValueError]:
    """Return the error of a call that learns, if there is something to learn: the classifier has learnt it already."""
    learnt = rows[3]
    return DivergedError if learnt is None or learnt.any() else ValueError
