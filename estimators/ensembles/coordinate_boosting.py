"""Online coordinate boosting: weak learners whose coefficients keep to AdaBoost's, row after row."""

from typing import Any, Literal

import numpy as np

from estimators._typing import Array
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.categories import nominal_places
from estimators.contract.locks import lock_of
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.ensembles._boosted import BoostedModels, BoostedTrees
from estimators.ensembles._kernels.coordinate_boosting import Answers
from estimators.linear._rows import hide
from estimators.linear.logistic import OnlineLogisticRegression, check_step
from estimators.trees._tree_bank import check_tree_params
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from metrics.validation import check_number, require_choice, require_integer


class OnlineCoordinateBoosting(StreamClassifier):
    """Online coordinate boosting (OCB) of Hoeffding trees or logistic regressions, one ensemble for each label.

    The coefficients of the weak learners are those that AdaBoost would compute from all rows so far, as nearly as sums
    can tell that are updated by each row: for each pair of weak learners, the weight of the rows on which both are
    right, or both wrong. A row has weight 1 for the first weak learner; the weight falls after each one that is right
    and rises after each one that is wrong, the more so the greater its coefficient.

    Parameters
    ----------
    estimator : HoeffdingTreeClassifier or OnlineLogisticRegression, optional
        Kind and parameters of the weak learners; never changed. None: Hoeffding trees, as in MOA.
    n_models : int, default=10
        Number of weak learners of each label.
    smoothing : float, default=0.5
        Weight at which all sums start, in (0, 1e6].
    variant : {'moa', 'derived'}, default='moa'
        How the sums of rows on which two weak learners are wrong change with the coefficients of the learners before.
        'derived': as the weights exp(-coefficient * sign) do, of which the sums are made: a row on which a learner is
        wrong weighs more as its coefficient grows. 'moa': like the rows on which the learner is right.
    targeted : bool, default=False
        Whether the learner uses the task: labels outside ``label_mask`` learn nothing from the row. Otherwise they
        learn zeros.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    boosted_ : BoostedTrees or BoostedModels
        The weak learners and their sums, in flat arrays.
    alphas_ : ndarray of shape (n_labels, n_models)
        Coefficient of each weak learner.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values. More than two classes are learnt one
        against the others.

    See Also
    --------
    ADWINBoostingClassifier : boosting that replaces members when the stream drifts.

    Notes
    -----
    A label is predicted if the sum of the weak learners' votes, -1 or 1, times their coefficients is positive. Its
    probability is that which the exponential loss gives to the sum, 1 / (1 + exp(-2 sum)). A learner that has learnt
    nothing predicts no label, at one half.

    The steps are those of ``meta.OCBoost`` in MOA: every weak learner learns a row after its own coefficient has been
    updated, with the weight that the next one starts from. The weight of a row that a user gives multiplies that
    weight, and does not enter the sums. Sums and weights are held between 1e-100 and 1e100, and below 1e50, which MOA's
    are not. OCB in the tables of Alberghini et al. is probably this learner around Hoeffding trees.

    `max_bytes` of a tree counts for each of the n_labels x n_models trees.

    A row costs a prediction and an update of n_labels x n_models weak learners, and O(n_labels x n_models ** 2).

    References
    ----------
    Pelossof, Jones, Vovsha and Rudin, Online coordinate boosting, arXiv 0810.4553, 2008.
    Alberghini, Barbon and Cano, Adaptive ensemble of self-adjusting nearest neighbor subspaces for multi-label drifting
    data streams, Neurocomputing 481, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OnlineCoordinateBoosting, OnlineLogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1]).astype(int)
    >>> boosting = OnlineCoordinateBoosting(OnlineLogisticRegression(0.1), n_models=3).fit(X, Y)
    >>> boosting.predict([[2.0, 2.0], [-2.0, 0.0]])
    array([[1, 1],
           [0, 0]])
    >>> boosting.alphas_.shape
    (2, 3)
    """

    def __init__(
        self,
        estimator: HoeffdingTreeClassifier | OnlineLogisticRegression | None = None,
        n_models: int = 10,
        *,
        smoothing: float = 0.5,
        variant: Literal["moa", "derived"] = "moa",
        targeted: bool = False,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.estimator = estimator
        self.n_models = n_models
        self.smoothing = smoothing
        self.variant = variant
        self.targeted = targeted
        self.on_new_labels = on_new_labels

    @property
    def alphas_(self) -> Array:
        """Coefficient of each weak learner."""
        with lock_of(self):
            parts = self.boosted_.boostings if isinstance(self.boosted_, BoostedTrees) else [self.boosted_.boosting]
            return np.concatenate([part.alphas for part in parts])

    @property
    def _traits(self) -> Traits:
        precision = "float32" if isinstance(self.estimator, OnlineLogisticRegression) else None
        return Traits(learns_unknown=True, fails_late=False, precision=precision)

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return self.boosted_.size_bytes

    def _start(self) -> None:
        kind = self._check()
        shape = self.n_labels_, require_integer(self.n_models, "n_models", 1), self.n_features_in_
        if not check_number(self.smoothing, "smoothing", low=0.0, high=1e6) > 0:
            raise ValueError(f"smoothing must be positive. Got {self.smoothing!r} instead.")
        self.boosted_: BoostedTrees | BoostedModels
        if kind is BoostedTrees:
            self.boosted_ = BoostedTrees(shape, float(self.smoothing), nominal_places(self, self.n_features_in_))
        else:
            self.boosted_ = BoostedModels(shape, float(self.smoothing))

    def _grow(self, n_before: int) -> None:
        self.boosted_ = self.boosted_.grown(self.n_labels_ - n_before)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self._pass(X, Y, mask, weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        answers = self._pass(X, Y, mask, None)
        return answers.decided, answers.proba

    def _infer(self, X: Features) -> tuple[Array, Array]:
        answers = self.boosted_.predict(X)
        return answers.decided, answers.proba

    # ------------------------------------------------------------------ parts
    def _pass(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> Answers:
        if not isinstance(self.boosted_, self._check()):
            own = "HoeffdingTreeClassifier" if isinstance(self.boosted_, BoostedTrees) else "OnlineLogisticRegression"
            raise TypeError(
                f"estimator must remain of type {own}, which has learnt. Got {self._weak()!r} instead; call `fit` to "
                "start again with it."
            )
        return self.boosted_.learn(X, hide(Y, mask), weight, self._weak(), derived=self.variant == "derived")

    def _weak(self) -> Any:
        return HoeffdingTreeClassifier() if self.estimator is None else self.estimator

    def _check(self) -> type[BoostedTrees | BoostedModels]:
        """Check the parameters that may change between calls, and return the kind of weak learners."""
        require_choice(self.variant, "variant", ("moa", "derived"))
        weak = self._weak()
        if isinstance(weak, HoeffdingTreeClassifier):
            check_tree_params(weak)
            if weak.zeros != "one-by-one":
                raise ValueError(f"zeros of boosted trees must be 'one-by-one'. Got {weak.zeros!r} instead.")
            return BoostedTrees
        if isinstance(weak, OnlineLogisticRegression):
            check_step(weak)
            return BoostedModels
        raise TypeError(
            f"estimator must be a HoeffdingTreeClassifier, an OnlineLogisticRegression or None. Got {weak!r} instead."
        )
