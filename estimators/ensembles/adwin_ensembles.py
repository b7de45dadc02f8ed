"""Bagged and boosted logistic regressions whose members are watched by ADWIN."""

from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.explanations import Terms, as_mean, linear_terms, mapped
from estimators.contract.locks import lock_of
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.ensembles._kernels import adwin_ensembles as kernels
from estimators.linear._rows import NO_WEIGHTS, as_rows, hide, refuse_great
from estimators.linear.logistic import check_step
from metrics.validation import check_number, require_choice, require_integer

Variant = Literal["river", "paper"]


class ADWINEnsemble(StreamClassifier):
    """Ensembles of logistic regressions, one for each label; subclasses say whether these are bagged or boosted."""

    _traits = Traits(fails_late=False, learns_unknown=True, precision="float32")
    _boosting: ClassVar[bool]

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        n_models: int = 10,
        *,
        learning_rate: float = 0.01,
        intercept_rate: float = 0.01,
        clip_gradient: float = 1e12,
        delta: float = 0.002,
        variant: Variant = "river",
        targeted: bool = False,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.n_models = n_models
        self.learning_rate = learning_rate
        self.intercept_rate = intercept_rate
        self.clip_gradient = clip_gradient
        self.delta = delta
        self.variant = variant
        self.targeted = targeted
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    @property
    def n_replaced_(self) -> Array:
        """How often each member has been replaced."""
        with lock_of(self):
            return self.ensembles_.n_replaced.reshape(self.n_labels_, -1).copy()

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        parts = self.ensembles_
        return sum(array.nbytes for array in (*parts.models, *parts.windows, *parts[2:]))

    def _start(self) -> None:
        n_models = require_integer(self.n_models, "n_models", 1)
        self.ensembles_ = kernels.new_ensembles(self.n_features_in_, self._seeds(n_models))
        self._params()

    def _grow(self, n_before: int) -> None:
        # seeds are drawn for all members
        self.ensembles_ = kernels.grown(self.ensembles_, self._seeds(len(self.ensembles_.n_replaced) // n_before))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self._pass(X, Y, mask, weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        return self._pass(X, Y, mask, None)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        answers, work = self._new_answers(X), kernels.new_work(self.ensembles_.models)
        if not kernels.predict(self.ensembles_, as_rows(X), self._params(), work, answers):
            raise refuse_great(X)
        return answers.decided, answers.proba

    def _explain(self, X: Features) -> Terms:
        """Return the terms of the mean of the members' probabilities, weighted by their votes."""
        models, weights = self.ensembles_.models, kernels.vote_weights(self.ensembles_, self._params())
        members = linear_terms(X, models.weights, models.intercepts, np.asarray(X @ models.weights) + models.intercepts)
        return as_mean(mapped(members, expit, "probability"), weights.reshape(self.n_labels_, -1))

    # ------------------------------------------------------------------ parts
    def _pass(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> tuple[Array, Array]:
        answers, work = self._new_answers(X), kernels.new_work(self.ensembles_.models)
        weights = NO_WEIGHTS if weight is None else weight
        rows, codes = as_rows(X), hide(Y, mask)
        if not kernels.learn(self.ensembles_, rows, codes, weights, self._params(), work, answers):
            raise refuse_great(X)
        return answers.decided, answers.proba

    def _new_answers(self, X: Features) -> kernels.Answers:
        shape = X.shape[0], self.n_labels_
        return kernels.Answers(np.empty(shape, np.bool_), np.empty(shape))

    def _params(self) -> kernels.Params:
        require_choice(self.variant, "variant", ("river", "paper"))
        delta = self.delta if type(self.delta) is float else check_number(self.delta, "delta", low=0.0, high=1.0)
        if not 0 < delta < 1:
            raise ValueError(f"delta must be in (0, 1). Got {self.delta!r} instead.")
        # as many as there are, whatever `n_models` has become since the first call
        n_models = len(self.ensembles_.n_replaced) // self.n_labels_
        return kernels.Params(n_models, check_step(self), float(delta), self._boosting, self.variant == "river")

    def _seeds(self, n_models: int) -> Array:
        """Draw the random states of all members, in the order of the labels, so that new labels come last."""
        rng, size = check_random_state(self.random_state), self.n_labels_ * n_models
        return rng.randint(2**62, size=size, dtype=np.int64).astype(np.uint64)


class ADWINBaggingClassifier(ADWINEnsemble):
    """Online bagging of logistic regressions with ADWIN, one ensemble for each label (ABALR).

    Every member learns each row a Poisson(1) number of times and then predicts it. An adaptive window follows how each
    member does; when one shows a change, one member starts again. The probability of a label is the mean of those of
    the members.

    Parameters
    ----------
    n_models : int, default=10
        Number of members of each ensemble.
    learning_rate, intercept_rate, clip_gradient
        Of the members, as in `OnlineLogisticRegression`.
    delta : float, default=0.002
        Confidence of the windows, in (0, 1).
    variant : {'river', 'paper'}, default='river'
        'river': windows hold 1 for every *right* prediction, so that a window whose mean rises, which is a member that
        gets better, makes the *best* member start again. 'paper': windows hold 1 for every error, and the member with
        the most errors starts again when errors become more frequent, as the authors describe.
    targeted : bool, default=False
        Whether the learner uses the task: labels outside ``label_mask`` learn nothing from the row. Otherwise they
        learn zeros.
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of the members, each of which draws for itself.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    ensembles_ : Ensembles
        Members, windows and random states, in flat arrays.
    n_replaced_ : ndarray of int of shape (n_labels, n_models)
        How often each member has started again.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values. More than two classes are learnt one
        against the others.

    See Also
    --------
    ADWINBoostingClassifier : members whose votes follow their errors.

    Notes
    -----
    With the same draws, predictions and replacements are those of ``ensemble.ADWINBaggingClassifier`` around
    ``linear_model.LogisticRegression`` in River 0.26, up to rounding; the draws themselves are others. The learner is
    ABALR in the tables of Esteban et al.

    A row costs two passes over the weights of its features that are not zero, n_labels x n_models for each, however
    often members learn it: how much a step changes the score of its own row is known in advance, so that the score is
    summed once. Features beyond the range of float32 are refused. A row of weight w takes steps w times as long.

    References
    ----------
    Bifet, Holmes, Pfahringer, Kirkby and Gavaldà, New ensemble methods for evolving data streams, KDD 2009.
    Oza and Russell, Online bagging and boosting, AISTATS 2001.
    Esteban, Cano, Zafra and Ventura, Hoeffding adaptive trees for multi-label classification on data streams,
    Knowledge-Based Systems 304, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import ADWINBaggingClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1]).astype(int)
    >>> ensemble = ADWINBaggingClassifier(variant="paper", random_state=0).partial_fit(X, Y)
    >>> ensemble.predict([[2.0, 2.0], [-2.0, 0.0]])
    array([[1, 1],
           [0, 0]])
    >>> ensemble = ensemble.partial_fit(X, 1 - Y)  # the stream drifts
    >>> bool(ensemble.n_replaced_.any())
    True
    """

    _boosting: ClassVar[bool] = False


class ADWINBoostingClassifier(ADWINEnsemble):
    """Online boosting of logistic regressions with ADWIN, one ensemble for each label (ABOLR).

    Members learn a row one after another. The weight of the row falls after a member that predicts it rightly and rises
    after one that does not, and is counted among the rows that each member has predicted rightly or wrongly. Members
    vote with the logarithm of the odds of their being right. An adaptive window follows how each member does; when one
    shows a change, one member starts again.

    Parameters
    ----------
    n_models : int, default=10
        Number of members of each ensemble.
    learning_rate, intercept_rate, clip_gradient
        Of the members, as in `OnlineLogisticRegression`.
    delta : float, default=0.002
        Confidence of the windows, in (0, 1).
    variant : {'river', 'paper'}, default='river'
        'river': every member learns each row a Poisson(1) number of times, whatever the weight of the row, so that
        boosting changes the votes alone; windows hold 1 for every *right* prediction, and the *best* member starts
        again when one gets better. 'paper': members learn a row a Poisson number of times whose mean is the weight of
        the row; windows hold 1 for every error, and the member with the most errors starts again when errors become
        more frequent, as the authors describe.
    targeted : bool, default=False
        Whether the learner uses the task: labels outside ``label_mask`` learn nothing from the row. Otherwise they
        learn zeros.
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of the members, each of which draws for itself.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    ensembles_ : Ensembles
        Members, windows, counted weights and random states, in flat arrays.
    n_replaced_ : ndarray of int of shape (n_labels, n_models)
        How often each member has started again.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values. More than two classes are learnt one
        against the others.

    See Also
    --------
    ADWINBaggingClassifier : members with equal votes.

    Notes
    -----
    With the same draws, predictions and replacements are those of ``ensemble.ADWINBoostingClassifier`` around
    ``linear_model.LogisticRegression`` in River 0.26, up to rounding; the draws themselves are others. A member that is
    more often wrong than right votes with weight 1, in both variants, as in River. The mean of the Poisson draws is at
    most 100. The learner is ABOLR in the tables of Esteban et al.

    Costs, and what is refused, are those of `ADWINBaggingClassifier`.

    References
    ----------
    Bifet, Holmes, Pfahringer, Kirkby and Gavaldà, New ensemble methods for evolving data streams, KDD 2009.
    Oza and Russell, Online bagging and boosting, AISTATS 2001.
    Esteban, Cano, Zafra and Ventura, Hoeffding adaptive trees for multi-label classification on data streams,
    Knowledge-Based Systems 304, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import ADWINBoostingClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1]).astype(int)
    >>> ensemble = ADWINBoostingClassifier(random_state=0).partial_fit(X, Y)
    >>> ensemble.predict([[2.0, 2.0], [-2.0, 0.0]])
    array([[1, 1],
           [0, 0]])
    """

    _boosting: ClassVar[bool] = True
