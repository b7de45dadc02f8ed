"""Logistic regression by stochastic gradient descent, one step for each row."""

from typing import Any

import numpy as np

from estimators._typing import Array
from estimators.contract.base import Mask
from estimators.contract.explanations import Terms, linear_terms
from estimators.contract.log_odds import LogOddsClassifier
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.linear._kernels import logistic
from estimators.linear._rows import NO_WEIGHTS, as_rows, hide, refuse_great
from metrics.validation import check_number

# with steps no longer than these, and features that fit float32, no number leaves the range of doubles
GREATEST_RATE, GREATEST_CLIP = 1e6, 1e12


class OnlineLogisticRegression(LogOddsClassifier):
    """Logistic regression that learns each row by one step of stochastic gradient descent, one model for each label.

    Parameters
    ----------
    learning_rate : float, default=0.01
        Size of the steps of the weights, in (0, 1e6].
    intercept_rate : float, default=0.01
        Size of the steps of the intercepts, in [0, 1e6]; with 0, these stay 0.
    clip_gradient : float, default=1e12
        Greatest absolute value of the gradient of the loss with respect to the score of a row, in (0, 1e12].
    targeted : bool, default=False
        Whether the learner uses the task: labels outside ``label_mask`` learn nothing from the row. Otherwise they
        learn zeros.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    models_ : Models
        Weights (n_features, n_models) and intercepts (n_models,) of the models, one for each label.
    coef_ : ndarray of shape (n_labels, n_features)
        The weights, one line for each model.
    intercept_ : ndarray of shape (n_labels,)
        The intercepts.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values. More than two classes are learnt one
        against the others.

    See Also
    --------
    OnlineNeuralClassifier : the same model without hidden units, trained by Adam.

    Notes
    -----
    Each model takes the steps of ``linear_model.LogisticRegression`` in River 0.26 with its defaults: weights start at
    zero, there is no penalty, and the features are not scaled. A label is predicted if its probability is greater than
    one half, so that a model that has learnt nothing predicts 0. Scores are sums in the order of the features; River's
    differ by rounding.

    A row costs O(n_labels x features that are not zero). Values of features beyond the range of float32 are refused:
    with them, and steps of at most 1e6, no number can leave the range of doubles. A row of weight w takes a step w
    times as long, as in River.

    References
    ----------
    Bottou, Large-scale machine learning with stochastic gradient descent, COMPSTAT 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OnlineLogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1]).astype(int)
    >>> learner = OnlineLogisticRegression(learning_rate=0.1).fit(X, Y)
    >>> learner.predict([[2.0, 2.0], [-2.0, 0.0]])
    array([[1, 1],
           [0, 0]])
    """

    _traits = Traits(fails_late=False, learns_unknown=True, precision="float32")

    def __init__(
        self,
        learning_rate: float = 0.01,
        *,
        intercept_rate: float = 0.01,
        clip_gradient: float = 1e12,
        targeted: bool = False,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.learning_rate = learning_rate
        self.intercept_rate = intercept_rate
        self.clip_gradient = clip_gradient
        self.targeted = targeted
        self.on_new_labels = on_new_labels

    @property
    def coef_(self) -> Array:
        """Weights of each model."""
        return self.models_.weights.T.copy()

    @property
    def intercept_(self) -> Array:
        """Intercept of each model."""
        return self.models_.intercepts.copy()

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return sum(array.nbytes for array in self.models_)

    def _start(self) -> None:
        check_step(self)
        self.models_ = logistic.new_models(self.n_features_in_, self.n_labels_)

    def _grow(self, n_before: int) -> None:
        self.models_ = logistic.grow(self.models_, self.n_labels_ - n_before)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self._pass(X, Y, mask, weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        proba = self._pass(X, Y, mask, None)
        return proba > 0.5, proba

    def _infer(self, X: Features) -> tuple[Array, Array]:
        proba = self._predict_proba(X)
        return proba > 0.5, proba

    def _predict_proba(self, X: Features) -> Array:
        proba = np.empty((X.shape[0], self.n_labels_))
        if not logistic.predict(self.models_, as_rows(X), logistic.new_work(self.models_), proba):
            raise refuse_great(X)
        return proba

    def _log_odds(self, X: Features, proba: Array) -> Array:  # noqa: ARG002
        return np.asarray(X @ self.models_.weights) + self.models_.intercepts

    def _explain(self, X: Features) -> Terms:
        return linear_terms(
            X, self.models_.weights, self.models_.intercepts, self._log_odds(X, self.models_.intercepts)
        )

    # ------------------------------------------------------------------ parts
    def _pass(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> Array:
        proba, work = np.empty((X.shape[0], self.n_labels_)), logistic.new_work(self.models_)
        weights = NO_WEIGHTS if weight is None else weight
        if not logistic.learn(self.models_, as_rows(X), hide(Y, mask), weights, check_step(self), work, proba):
            raise refuse_great(X)
        return proba


def check_step(estimator: Any) -> logistic.Step:
    """Check the sizes of the steps of an estimator, and return them as the kernels read them."""
    rate, intercept, clip = estimator.learning_rate, estimator.intercept_rate, estimator.clip_gradient
    # one comparison, as this is done for every call with one row
    try:
        allowed = 0 < rate <= GREATEST_RATE and 0 <= intercept <= GREATEST_RATE and 0 < clip <= GREATEST_CLIP
    except (TypeError, ValueError):
        allowed = False
    if not allowed:
        for name, greatest in (("learning_rate", GREATEST_RATE), ("clip_gradient", GREATEST_CLIP)):
            if check_number(getattr(estimator, name), name, low=0.0, high=greatest) == 0:
                raise ValueError(f"{name} must be positive. Got {getattr(estimator, name)!r} instead.")
        check_number(intercept, "intercept_rate", low=0.0, high=GREATEST_RATE)
    return logistic.Step(float(rate), float(intercept), float(clip))
