"""Sets of labels that hold the truth as often as they promise, around any classifier."""

import math
from numbers import Real

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array, Classes, Estimator, MaskLike, MatrixLike, RowValues
from estimators.contract.failed_calls import DivergedError, unchanged_or_marked
from estimators.contract.locks import lock_of
from estimators.contract.validation import Features
from estimators.meta._around_any import AroundProbabilities, Rows, as_cells, as_floats, refusal_of
from estimators.meta._kernels import covering as kernel
from estimators.meta._kernels.covering import cover, cover_then_learn
from estimators.replay._meta_base import begin_inner
from metrics.validation import require_choice, shown

_PROMISES = ("value", "label", "row")


class PredictionSets(AroundProbabilities):
    """Say of each label whether it is there, is not, or may be either, and miss the truth in a share `alpha` of rows.

    `predict_set` returns a set of values for each label of a row: 1 is {1}, the label is there; 0 is {0}, it is
    excluded; -1 is {0, 1}, it is open; -2 is the empty set, see the notes. The share of sets that miss the truth is
    held at `alpha` along the stream, through drifts, whatever the classifier is worth: a bad one leaves more open.
    Predictions and probabilities are those of the classifier inside, unchanged.

    Parameters
    ----------
    estimator : estimator instance
        One of our classifiers; or any scikit-learn classifier with ``partial_fit`` and ``predict_proba``, of which each
        label learns a copy (`BinaryRelevance`).
    alpha : float or (float, float), default=0.1
        Share of sets that may miss the truth, inside (0, 1). For ``of="value"`` it may be two: of rows without the
        label, and of rows with it. Like `of`, it is read when learning begins.
    of : {"value", "label", "row"}, default="value"
        What the promise is made of: each label among the rows that have it, and among those that do not; each label
        among all rows; or each row, which is missed if the set of any of its labels misses the truth.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    estimator_ : StreamClassifier
        The classifier, as it has learnt.
    thresholds_ : ndarray of shape (n_labels, 2) or (n_classes, 2)
        The greatest probability with which 0 is in the set of a label, and the least with which 1 is; infinite where
        none is.
    counted_scores_ : dict
        For records of evaluations, of the rows learnt, each before it was: ``set_coverage``, the share of labels (of
        rows, where the promise is theirs) whose sets held the truth; ``set_size``, the mean number of values in a set;
        and ``set_size_late``, the same over about the last 1,000 rows, which shows whether sets grow.

    See Also
    --------
    PrequentialCalibrator : Probabilities that come as often as they say.
    metrics.set_coverage : The share of sets that hold the truth.
    metrics.set_size : The mean number of values in a set.

    Notes
    -----
    The score of a value of a label is the log-odds against it, log((1 - p) / p) for 1 and its opposite for 0, with p
    kept in [1e-7, 1 - 1e-7]. A value is in the set if its score is at most the threshold of its tracker. There is a
    tracker for each value of each label, or for each label, or one for all; that of rows learns the greatest score
    among the true values of a row.

    A tracker starts at infinity: the first ceil(1 / alpha) - 1 rows miss nothing. Then five thresholds q start at the
    greatest score of these rows, as in split conformal prediction, with rates r = 0.01, 0.03, 0.1, 0.3 and 1, weights
    w = 1/5 each. The next row is compared with

        threshold = sum of w q + s,    s = 0.05 * sum of (miss - alpha) over all rows so far, the first ones too,

    where miss is 1 if the score exceeds the threshold, else 0. Its score then moves each

        w to w exp(-loss),    q to q + r ((score > q) - alpha),

    with loss = (1 - alpha) u if u > 0, else -alpha u, for u = score - q before it moves; weights are then divided by
    their sum, and 0.999 of them and 0.0002 are kept. The weighted thresholds follow drifts at the rate that fits; the
    sum s keeps the promise: the share of misses differs from `alpha` by exactly 20 s / n after n rows, and s stays
    between bounds, whatever the stream does. In worlds of 4,000 rows it was below 0.004 for each label.

    A set can be empty (-2) where a classifier is right more often than 1 - `alpha`: its most doubtful rows are then
    what is missed. Set a smaller `alpha`, or read such a set as what `predict` says; fewer rows than promised are
    missed then.

    With ``of="value"`` a label that is there, such as a threat, is excluded in a share `alpha` of its rows, however
    rare they are. Sets that say 1 wrongly are a share of the many rows without it: ``alpha=(0.001, 0.05)`` allows one
    in a thousand. A value that came too seldom to have a threshold is in every set. With ``of="label"`` fewer labels
    are open, but one that is in 2 % of rows may be excluded always, since that misses 2 %.

    Every row that the classifier learns teaches the sets, if its weight is not 0, and weights are not counted; cells
    that are unknown, or outside the mask of a classifier that uses the task, teach nothing, and the others of a row
    count. The promise holds for rows in their order: it says nothing about each kind of rows, nor about a row that is
    predicted long after the last was learnt. For one class a row, each class is a label.

    References
    ----------
    Gibbs, Candes, "Adaptive conformal inference under distribution shift", NeurIPS 2021.
    Gibbs, Candes, "Conformal inference for online prediction with arbitrary distribution shifts", JMLR 25(162), 2024:
    several rates, and their weights.
    Angelopoulos, Candes, Tibshirani, "Conformal PID control for time series prediction", NeurIPS 2023: trackers of
    scores, and a sum of misses that keeps the promise of any forecast.
    Vovk, Gammerman, Shafer, "Algorithmic learning in a random world", 2005: sets for each value.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OnlineLogisticRegression, PredictionSets
    >>> from metrics import set_coverage
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 3))
    >>> Y = X[:, :2] + 0.5 * rng.normal(size=(3000, 2)) > 0.5
    >>> learner = PredictionSets(OnlineLogisticRegression(), alpha=0.05)
    >>> sets, Y_proba = learner.predict_set_then_fit(X, Y)
    >>> round(set_coverage(Y, sets), 2)
    0.95
    >>> learner.predict_set([[3, -3, 0], [0.4, 0.6, 0]])
    array([[ 1,  0],
           [-1, -1]], dtype=int8)
    """

    def __init__(self, estimator: Estimator, *, alpha: float | tuple[float, float] = 0.1, of: str = "value") -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.of = of

    # ------------------------------------------------------------------- sets
    def predict_set(self, X: MatrixLike) -> Array:
        """Predict the set of values of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of int8, shape (n_samples, n_labels) or (n_samples, n_classes)
            1 is {1}, 0 is {0}, -1 is {0, 1}, and -2 the empty set.

        Raises
        ------
        ValueError
            If X is wrong, or the classifier returns what is not a probability.
        """
        with lock_of(self):
            X = self._check_features(X)
            return self._read_probabilities(X, self._target.probabilities(self._infer_each(X)[1]))

    def predict_set_then_fit(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        classes: Classes = None,
        *,
        environment: RowValues = None,
        label_mask: MaskLike = None,
    ) -> tuple[Array, Array]:
        """Test, then train: what a loop over rows of `predict_set`, `predict_proba` and `partial_fit` does.

        Parameters
        ----------
        X, Y, classes, environment, label_mask
            As in `partial_fit`.

        Returns
        -------
        sets : ndarray of int8, shape (n_samples, n_labels) or (n_samples, n_classes)
            As `predict_set` returns row by row.
        Y_proba : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            As `predict_proba` returns row by row.

        Raises
        ------
        ValueError
            If anything in the call is wrong; nothing is learnt.
        DivergedError
            If the classifier, which has learnt the rows already, returned what is not a probability.
        """
        with unchanged_or_marked(self) as call:
            rows = self._check_chunk(X, Y, classes, label_mask)
            passed = self._check_metadata({"environment": environment}, len(rows[1]))
            sets, _, proba = self._learn_then_return(call, rows, passed)
            return sets, proba

    @property
    def thresholds_(self) -> Array:
        """Greatest probability with which 0 is in the set of a label, and least with which 1 is."""
        check_is_fitted(self)
        absent, present = self._state[self._places, kernel.THRESHOLD].T
        greatest = np.where(absent >= kernel.REACH, 1.0, np.where(absent < -kernel.REACH, -np.inf, expit(absent)))
        least = np.where(present >= kernel.REACH, 0.0, np.where(present < -kernel.REACH, np.inf, expit(-present)))
        return np.stack([greatest, least], axis=1)

    @property
    def counted_scores_(self) -> dict[str, float]:
        """Scores for records of evaluations."""
        check_is_fitted(self)
        parts = {
            "set_coverage": (kernel.HELD, kernel.UNITS),
            "set_size": (kernel.VALUES, kernel.CELLS),
            "set_size_late": (kernel.LATE_VALUES, kernel.LATE_CELLS),
        }
        n, tally = self._tally[kernel.UNITS], self._tally.tolist()
        return {name: tally[part] / tally[whole] if n else math.nan for name, (part, whole) in parts.items()}

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        require_choice(self.of, "of", _PROMISES)
        self._promise = self.of
        self._alphas = _check_alpha(self.alpha, self._promise)
        self._firsts = np.ceil([1.0 / share for share in self._alphas.tolist()]) - 1.0
        self._check_estimator()
        self._places = _places(self._promise, self._n_columns)
        self._state = _first_trackers(int(self._places.max()) + 1)
        self._tally = np.zeros(kernel.N_COUNTS)
        self.estimator_ = begin_inner(self, None)

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        self._places = _places(self._promise, self.n_labels_)
        n_new = int(self._places.max()) + 1 - len(self._state)
        self._state = np.vstack([self._state, _first_trackers(n_new)])

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self.estimator_.predict_with_proba(X)

    def _read_probabilities(self, X: Features, proba: Array) -> Array:  # noqa: ARG002
        """Return the sets of rows by the thresholds as they are."""
        sets = np.empty(proba.shape, dtype=np.int8)
        if not cover(as_floats(proba), self._state, self._places, sets):
            raise ValueError(refusal_of(proba))
        return sets

    def _learn_probabilities(self, proba: Array, rows: Rows, weight: Array | None) -> Array:
        """Return the sets of each row by the rows before it, then learn its labels."""
        sets, after, tally = np.empty(proba.shape, dtype=np.int8), self._state.copy(), self._tally.copy()
        labels, counted, weights = as_cells(rows, weight, proba.shape[1])
        settings = after, self._places, self._alphas, self._firsts, self._promise == "row"
        if not cover_then_learn(as_floats(proba), labels, counted, weights, *settings, sets, tally):
            raise DivergedError(refusal_of(proba))
        self._state, self._tally = after, tally
        return sets


def _check_alpha(alpha: object, of: str) -> Array:
    """Return the shares of rows without a label, and with it, that may be missed."""
    both = [*alpha] if isinstance(alpha, tuple | list | np.ndarray) else [alpha, alpha]
    shares = [float(part) if isinstance(part, Real) and not isinstance(part, bool) else math.nan for part in both]
    if len(shares) != 2 or not all(0 < share < 1 for share in shares):
        raise ValueError(f"alpha must be a share inside (0, 1), or two for of='value'. Got {shown(alpha)} instead.")
    if shares[0] != shares[1] and of != "value":
        raise ValueError(f"alpha must be one share for of={of!r}; two are for of='value'. Got {shown(alpha)} instead.")
    return np.array(shares)


def _places(of: str, n_labels: int) -> Array:
    """Return the trackers of the values 0 and 1 of each label."""
    if of == "row":
        return np.zeros((n_labels, 2), dtype=np.intp)
    labels = np.arange(n_labels, dtype=np.intp)[:, np.newaxis]
    return np.hstack([labels, labels]) if of == "label" else np.hstack([2 * labels, 2 * labels + 1])


def _first_trackers(n_trackers: int) -> Array:
    """Return trackers before any row."""
    trackers = np.zeros((n_trackers, kernel.N_NUMBERS))
    trackers[:, : kernel.N_RATES] = -kernel.REACH
    trackers[:, kernel.N_RATES : 2 * kernel.N_RATES] = 1.0 / kernel.N_RATES
    trackers[:, kernel.THRESHOLD] = np.inf
    return trackers
