"""Probabilities that mean something: calibrated on each row before its labels are learnt."""

from collections.abc import Mapping
from numbers import Real

import numpy as np
from scipy.special import expit, logit

from estimators._typing import Array, Estimator
from estimators.contract.explanations import Terms, mapped
from estimators.contract.failed_calls import DivergedError, unchanged_on_error
from estimators.contract.parameters import Rule, check_rules
from estimators.contract.validation import Features
from estimators.meta._around_any import AroundProbabilities, Rows, as_cells, as_floats, refusal_of
from estimators.meta._kernels import calibrating as kernel
from estimators.meta._kernels.calibrating import N_NUMBERS, calibrate, calibrate_then_learn
from estimators.replay._meta_base import begin_inner
from metrics.validation import require_choice

# Weights of log-odds, bend and 1, and their standard deviations, before any row: of the map of all labels, which leaves
# probabilities as they are, and of what each label adds to it.
_FIRST_WEIGHTS = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
_DEVIATIONS = ((0.5, 0.3, 0.5), (0.3, 0.15, 0.5))
_PRIORS = np.stack([np.array(_FIRST_WEIGHTS), 1.0 / np.square(_DEVIATIONS)], axis=1)
_DIAGONAL = [0, 3, 5]
_METHODS = ("beta", "sigmoid")


class PrequentialCalibrator(AroundProbabilities):
    """Calibrate the probabilities of any classifier while it learns, without rows held out.

    The probability of a row, before its labels are learnt, teaches a map from probabilities to how often labels come.
    Labels of at least 1/2 are predicted, or the most probable class, whatever the classifier inside decides: for
    another rule, put `PrevalenceThreshold` or `AlarmBudget` around the calibrator.

    Parameters
    ----------
    estimator : estimator instance
        One of our classifiers; or any scikit-learn classifier with ``partial_fit`` and ``predict_proba``, of which each
        label learns a copy (`BinaryRelevance`).
    method : {"beta", "sigmoid"}, default="beta"
        The form of a map: beta calibration, or Platt's, which has one slope instead of two.
    memory : float, default=1000
        Rows that maps remember, at least 1; old rows fade with rate 1 / `memory`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    estimator_ : StreamClassifier
        The classifier, as it has learnt.
    maps_ : ndarray of shape (n_labels, 3) or (n_classes, 3)
        The map of each label: a, b and c of the notes.

    See Also
    --------
    metrics.expected_calibration_error : How far probabilities are from how often labels come.
    mlstream.plotting.ReliabilityDisplay : A chart of it.

    Notes
    -----
    The calibrated log-odds of a label of probability p are

        a log(p) - b log(1 - p) + c,

    with a = b for "sigmoid". Both slopes stay above 0.02, so that the ranking of rows by a label never changes; only
    log-odds beyond 30 tie. Maps start at a = b = 1, c = 0, which changes nothing.

    A map is the sum of one for all labels and of what the label adds, each with a normal prior: a label with few
    positive rows uses that of all labels. Each row moves both to where its label is most probable, given what the maps
    knew (a step of Laplace's approximation), at a cost that does not grow.

    Probabilities of 0 and 1, as of trees, have no log-odds. So p counts as the mean over min(n + 20, 300) rows and one
    row of the label's share of positive rows, n being the rows learnt.

    Every row that the classifier learns teaches the maps, with its weight; cells that are unknown, or outside the mask
    of a classifier that uses the task, teach nothing. `partial_fit` predicts each row before it learns it, as
    `predict_then_fit` does, which takes longer than to learn. For one class a row, each class is calibrated against
    the others, and probabilities are divided by their sum: the ranking of rows may then change.

    Calibration says nothing about rows unlike those learnt, and cannot be better than the ranking of rows.

    References
    ----------
    Kull, Silva Filho, Flach, "Beta calibration: a well-founded and easily implemented improvement on logistic
    calibration for binary classifiers", AISTATS 2017.
    Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods", 1999.
    Zadrozny, Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import BinaryRelevance, PrequentialCalibrator
    >>> from metrics import expected_calibration_error
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.normal(size=(3000, 2)), 5, axis=1)  # naive Bayes counts each feature five times
    >>> Y = X[:, ::5] + rng.normal(size=(3000, 2)) > 1
    >>> naive = BinaryRelevance(BernoulliNB())
    >>> for learner in (naive, PrequentialCalibrator(naive)):
    ...     _, Y_proba = learner.predict_then_fit(X, Y)
    ...     print(round(expected_calibration_error(Y, Y_proba), 2))
    0.28
    0.01
    """

    def __init__(self, estimator: Estimator, *, method: str = "beta", memory: float = 1000) -> None:
        self.estimator = estimator
        self.method = method
        self.memory = memory

    @property
    def maps_(self) -> Array:
        """Slopes and offset of the map of each label."""
        shared, own, usual = self._state[0, 6:9], self._state[1:, 6:9], self._usual_shares[0]
        logs, rests = np.log(usual), np.log1p(-usual)
        centres = np.stack([logs - rests, logs + rests + kernel._LOG_4], axis=1)
        slopes, bends = (shared + own)[:, :2].T
        slopes = np.maximum(slopes, kernel._LEAST_SLOPE)
        most = slopes - kernel._LEAST_SLOPE
        bends = np.clip(bends, -most, most)
        offsets = shared[2] + own[:, 2] + ((shared[:2] - np.stack([slopes, bends], axis=1)) * centres).sum(axis=1)
        return np.stack([slopes + bends, slopes - bends, offsets + kernel._LOG_4 * bends], axis=1)

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        require_choice(self.method, "method", _METHODS)
        rules: dict[str, Rule] = {"memory": (Real, lambda value: value >= 1, "a number of rows, at least 1")}
        check_rules({"memory": self.memory}, rules)
        self._check_estimator()
        self._state = np.vstack([_first_maps(_PRIORS[0], 1), _first_maps(_PRIORS[1], self._n_columns)])
        self.estimator_ = begin_inner(self, None)

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        self._state = np.vstack([self._state, _first_maps(_PRIORS[1], self.n_labels_ - n_before)])

    def _predict_then_learn_checked(
        self, call: unchanged_on_error, rows: Rows, passed: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        decided, proba = self._decide(self._learn_then_return(call, rows, passed)[0])
        return self._target.decisions(decided, proba), self._target.probabilities(proba)

    def _predict_proba(self, X: Features) -> Array:
        return self._calibrate(self.estimator_.predict_proba(X))

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self._decide(self._predict_proba(X))

    def _infer_each(self, X: Features) -> tuple[Array, Array]:
        scores = self.estimator_._infer_each(X)[1]
        return self._decide(self._calibrate(self.estimator_._target.probabilities(scores)))

    def _explain(self, X: Features) -> Terms | None:
        terms = super()._explain(X) if self._target.multilabel else None
        if terms is None or terms.scale == "vote":
            return None
        if terms.scale == "logit":
            return mapped(terms, lambda scores: logit(self._calibrate(expit(scores))), "logit")
        return mapped(terms, self._calibrate, "probability")

    # ------------------------------------------------------------------ parts
    @property
    def _usual_shares(self) -> tuple[Array, Array]:
        """Shares of positive rows of labels, and how much they count in a probability."""
        positives, rows = self._state[1:, 9:].T
        counted = np.minimum(rows + kernel._FIRST_ROWS, kernel._MOST_ROWS)
        return (positives + 0.5) / (rows + 1.0), 1.0 / (counted + 1.0)

    def _decide(self, proba: Array) -> tuple[Array, Array]:
        return (proba >= 0.5 if self._target.multilabel else proba.argmax(axis=1)), proba

    def _calibrate(self, proba: Array) -> Array:
        calibrated = np.empty(proba.shape)
        if not calibrate(as_floats(proba), self._state, self.method == "beta", np.empty((2, 3)), calibrated):
            raise ValueError(refusal_of(proba))
        return self._shared_out(calibrated)

    def _read_probabilities(self, X: Features, proba: Array) -> Array:  # noqa: ARG002
        return self._calibrate(proba)

    def _learn_probabilities(self, proba: Array, rows: Rows, weight: Array | None) -> Array:
        """Calibrate the probabilities of each row by the rows before it, then learn its labels."""
        calibrated, after = np.empty(proba.shape), self._state.copy()
        labels, counted, weights = as_cells(rows, weight, proba.shape[1])
        room = np.empty((proba.shape[1], 2, 3)), np.empty((3, 3))
        settings = after, _PRIORS, 1.0 / float(self.memory), self.method == "beta", *room
        if not calibrate_then_learn(as_floats(proba), labels, counted, weights, *settings, calibrated):
            raise DivergedError(refusal_of(proba))
        self._state = after
        return self._shared_out(calibrated)

    def _shared_out(self, proba: Array) -> Array:
        """Return probabilities of classes that add up to 1; those of labels as they are."""
        return proba if self._target.multilabel else proba / proba.sum(axis=1, keepdims=True)


def _first_maps(prior: Array, n_maps: int) -> Array:
    """Return the maps before any row."""
    maps = np.zeros((n_maps, N_NUMBERS))
    maps[:, _DIAGONAL], maps[:, 6:9] = prior[1], prior[0]
    return maps
