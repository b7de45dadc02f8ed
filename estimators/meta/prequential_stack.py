"""A stack that adapts: the probabilities of several learners, mixed by weights that follow their losses."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier, check_precision
from estimators.contract.composition import Composition
from estimators.contract.failed_calls import check_not_diverged
from estimators.contract.new_labels import OnNewLabels, grown
from estimators.contract.parameters import check_number
from estimators.contract.traits import Traits, traits_of
from estimators.contract.validation import Features
from estimators.meta._kernels.combining import mix, mix_then_weigh
from estimators.meta._stack_members import (
    Members,
    RowSample,
    as_learners,
    begin_all,
    log_likelihoods,
    predict_all,
    require_alike,
    test_then_train_all,
)
from estimators.meta._wrapped import takes_sparse
from estimators.replay._kept_rows import KeptRows
from metrics.validation import require_integer

# Probabilities are drawn together into [MARGIN, 1 - MARGIN], so that no loss is infinite.
MARGIN = 1e-3
# Members have learnt the rows of the sample: their losses there are too small, and count less than those of new rows.
_SAMPLE_RATE = 0.2


class PrequentialStack(Composition, MetaEstimatorMixin, StreamClassifier):
    """Mix the probabilities of several learners, for each label by weights that follow their losses.

    Every member predicts a row before it learns the row. The mixture of a label is nearly as good as its best member,
    on any stream; if the best member changes, the weights follow.

    Parameters
    ----------
    estimators : list of (str, estimator) tuples
        Names and members, as in scikit-learn's `StackingClassifier`: our classifiers, or any other classifier with
        ``partial_fit``, of which each label learns a copy (`BinaryRelevance`). 'drop' leaves a member out.
    share : float, default=0.01
        Share of the weights, in [0, 1), that is spread over all members after each row. The greater, the faster
        weights follow a change; with 0 they settle on one member.
    reservoir_size : int, default=100
        Rows kept, a uniform sample of all, by which `predict` weighs the members. With 0, `predict` uses the weights of
        late.
    patience : int, optional
        A member is stopped if its mean weight over so many rows was below `negligible` for every label: it neither
        predicts nor learns any more, and its memory is freed. A label that none of these rows counts, but earlier ones
        did, has the weights it had then. None: no member is stopped.
    negligible : float, default=0.02
        Mean weight below which a member counts as no help, if `patience` is not None.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample. Members have seeds of their own.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before. To
        grow, all members must be able to.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    estimators_ : list of (str, estimator) tuples
        Members that have not been stopped, as they have learnt.
    n_rows_ : int
        Rows learnt.
    weights_ : ndarray of shape (n_members, n_labels)
        Weights of late, in the order of `estimators`; 0 for members that were stopped.
    stopped_ : dict of str to int
        Members that were stopped, each with the number of rows that it had learnt.
    rows_learnt_ : dict of str to int
        Number of rows that each member has learnt.

    Notes
    -----
    A label has weights w_k over its N members, 1/N at first. Its mixture is ``p = sum_k w_k p_k``. Once the label y of
    the row is known, weights become proportional to ``w_k P_k(y)``, where P_k(y) is p_k or 1 - p_k; then
    ``w_k = (1 - share) w_k + share / N``: the Bayes mixture, and fixed share. With ``share=0``, the sum of the
    logarithmic losses of a label is at most that of its best member plus ln N, whatever the stream. Otherwise it is at
    most that of any sequence of members that changes k times in n rows, plus

        ln N + k ln(N / share) + (n - 1 - k) ln(1 / (1 - share)).

    For this, probabilities are drawn together into [0.001, 0.999]. Labels outside the mask and unknown labels (NaN) do
    not count. A row of weight w counts as w rows in the weights, for which the bound does not hold.

    `predict` is often asked for rows of other tasks than those learnt last. There, members count that have forgotten
    nothing: weights are proportional to ``exp(0.2 L_k)``, where L_k is the log-likelihood of member k, as it is now, on
    the sample of all rows. `predict_then_fit` always uses the weights of late, and returns what a loop of `predict` and
    `partial_fit` does if `reservoir_size` is 0. The sample is predicted once after learning, when a prediction is asked
    for.

    Members that use the task learn with the mask. To the others, labels outside of it are unknown.

    Members run inside the stack, so that its energy and time are those of all members. Whether they are stopped is
    decided once in `patience` rows, by the rows alone: neither cuts into chunks nor time matter. One member always
    remains. The bounds hold for the members that remain.

    Labels are predicted at a probability of 1/2; `PrevalenceThreshold` around the stack predicts them for balanced
    accuracy. A call that fails changes nothing: members are copied before a call in which more than one may refuse rows
    after others have learnt them. Let large members learn in chunks.

    References
    ----------
    Vovk, "A game of prediction with expert advice", Journal of Computer and System Sciences 56(2), 1998.
    Herbster, Warmuth, "Tracking the best expert", Machine Learning 32(2), 1998 (fixed share).
    Cesa-Bianchi, Lugosi, "Prediction, learning, and games", Cambridge University Press, 2006 (chapters 5 and 9).

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import MeanLabelsClassifier, OnlineNeuralClassifier, PrequentialStack
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> Y = (X > 0).astype(int)
    >>> members = [("mean", MeanLabelsClassifier()), ("network", OnlineNeuralClassifier(random_state=0))]
    >>> stack = PrequentialStack(members, random_state=0).partial_fit(X, Y)
    >>> stack.weights_.round(2)
    array([[0.01, 0.01],
           [0.99, 0.99]])
    """

    _named = "estimators"

    def __init__(
        self,
        estimators: Any,
        *,
        share: float = 0.01,
        reservoir_size: int = 100,
        patience: int | None = None,
        negligible: float = 0.02,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.estimators = estimators
        self.share = share
        self.reservoir_size = reservoir_size
        self.patience = patience
        self.negligible = negligible
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    # ------------------------------------------------------------------- facts
    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: if it does for a member."""
        return any(one.uses_task for _, one in self._members)

    @property
    def weights_(self) -> Array:
        """Weights of late of all members, 0 for those that were stopped."""
        weights = np.zeros((len(self._names), self.n_labels_))
        weights[[self._names.index(name) for name, _ in self.estimators_]] = self._weights
        return weights

    @property
    def rows_learnt_(self) -> dict[str, int]:
        """Number of rows that each member has learnt."""
        return {name: self.stopped_.get(name, self.n_rows_) for name in self._names}

    @property
    def _members(self) -> Members:
        return as_learners(self.estimators, self._get_param_names())

    @property
    def _traits(self) -> Traits:
        inside = [one._traits for _, one in self._members]
        return Traits(
            learns_unknown=all(traits.learns_unknown for traits in inside),
            fails_late=any(traits.fails_late for traits in inside),
        )

    def _can_grow(self) -> bool:
        return all(one._can_grow() for _, one in self._members)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = all(takes_sparse(one) for _, one in self._members)
        return tags

    # ------------------------------------------------------------------- hooks
    def _start(self) -> None:
        members = self._members
        self._check_parameters()
        require_alike(members)
        self.estimators_ = begin_all(members, self.n_features_in_, self.n_labels_)
        self._names = [name for name, _ in members]
        self._weights = np.full((len(members), self.n_labels_), 1.0 / len(members))
        self._used = np.zeros((len(members) + 1, self.n_labels_))
        self._was_counted = np.zeros(self.n_labels_, dtype=np.bool_)
        self._sample = RowSample.start(self.reservoir_size, check_random_state(self.random_state))
        # at most one table: an attribute of its own would be set by `predict`, which must not set any
        self._sample_weights: list[Array] = []
        self.n_rows_ = 0
        self.stopped_: dict[str, int] = {}

    def _grow(self, n_before: int) -> None:
        n_new = self.n_labels_ - n_before
        self.estimators_ = [(name, grown(one, self.n_labels_)) for name, one in self.estimators_]
        new = (0, 0), (0, n_new)
        self._weights = np.pad(self._weights, new, constant_values=1.0 / len(self._weights))
        self._used = np.pad(self._used, new)
        self._was_counted = np.pad(self._was_counted, (0, n_new))
        self._sample = self._sample.widened(n_new, 0 if self.uses_task else UNKNOWN)
        self._sample_weights = []

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:
        n_late = sum(traits_of(one).fails_late for _, one in self.estimators_)
        in_one_call = n_rows == 1 or (testing and len(list(self._blocks(n_rows))) == 1)
        return [] if n_late == 0 or (n_late == 1 and in_one_call) else ["estimators_"]

    def _check_inside(self, X: Features) -> None:
        # a stack inside another estimator is asked before it has learnt anything
        for _, one in getattr(self, "estimators_", self._members):
            check_not_diverged(one)
            check_precision(one, X)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        if weight is not None:
            kept = weight > 0
            X, Y, mask, weight = X[kept], Y[kept], None if mask is None else mask[kept], weight[kept]
        if len(Y):
            self._pass(X, Y, mask, weight)

    def _end_fit(self) -> None:
        for _, one in self.estimators_:
            one._end_fit()

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        mixed = self._pass(X, Y, mask, None)
        return mixed >= 0.5, mixed

    def _infer(self, X: Features) -> tuple[Array, Array]:
        mixed = _mixture(predict_all(self.estimators_, X), self._weights_of_sample())
        return mixed >= 0.5, mixed

    def _infer_each(self, X: Features) -> tuple[Array, Array]:
        # rows of a stream that have nothing to learn stand where the rows around them stand
        mixed = _mixture(predict_all(self.estimators_, X, each=True), self._weights)
        return mixed >= 0.5, mixed

    # ------------------------------------------------------------------- parts
    def _pass(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> Array:
        """Test, then train, up to each occasion to stop members."""
        counted = np.ascontiguousarray(Y != UNKNOWN if mask is None else mask)
        row_weight = np.ones(len(Y)) if weight is None else weight
        mixed, self._weights, self._used = np.empty(Y.shape), self._weights.copy(), self._used.copy()
        for rows in self._blocks(len(Y)):
            inside, weighed = None if mask is None else mask[rows], None if weight is None else weight[rows]
            proba = test_then_train_all(self.estimators_, X[rows], Y[rows], inside, weighed)
            settings = float(self.share), MARGIN, self._weights, self._used
            mix_then_weigh(proba, Y[rows], counted[rows], row_weight[rows], *settings, mixed[rows])
            self.n_rows_ += proba.shape[1]
            if self.patience is not None and self.n_rows_ % self.patience == 0:
                self._stop_members()
        if self.reservoir_size:
            self._sample = self._sample.plus(KeptRows(X, Y, counted if self.uses_task else None, row_weight))
        self._sample_weights = []
        return mixed

    def _blocks(self, n_rows: int) -> Iterator[slice]:
        """Cut rows where it is decided whether members are stopped."""
        length, start = self.patience or n_rows, 0
        stop = length - self.n_rows_ % length
        while start < n_rows:
            yield slice(start, min(stop, n_rows))
            start, stop = stop, stop + length

    def _stop_members(self) -> None:
        """Stop the members that have been of no help since this was last decided."""
        n_counted = self._used[-1]
        self._was_counted = self._was_counted | (n_counted > 0)
        mean = np.divide(self._used[:-1], n_counted, out=self._weights * self._was_counted, where=n_counted > 0)
        helps = mean.max(axis=1) >= self.negligible
        helps[np.argmax(self._used[:-1].sum(axis=1))] = True
        for (name, _), remains in zip(self.estimators_, helps, strict=True):
            if not remains:
                self.stopped_ = {**self.stopped_, name: self.n_rows_}
        self.estimators_ = [member for member, remains in zip(self.estimators_, helps, strict=True) if remains]
        self._weights = _shares(self._weights[helps])
        self._used = np.zeros((len(self._weights) + 1, self.n_labels_))

    def _weights_of_sample(self) -> Array:
        """Return the weights by which `predict` mixes: those of the sample, or of late without one."""
        rows = self._sample.rows
        if rows is None:
            return self._weights
        if not self._sample_weights:
            likelihoods = log_likelihoods(predict_all(self.estimators_, rows.X), rows, MARGIN)
            weights = np.exp(_SAMPLE_RATE * (likelihoods - likelihoods.max(axis=0)))
            self._sample_weights.append(weights / weights.sum(axis=0))
        return self._sample_weights[0]

    def _check_parameters(self) -> None:
        check_number("share", self.share, maximum=1)
        if self.share == 1:
            raise ValueError(f"share must be below 1: weights would never follow a loss. Got {self.share!r} instead.")
        check_number("negligible", self.negligible, maximum=1)
        require_integer(self.reservoir_size, "reservoir_size", 0)
        if self.patience is not None:
            require_integer(self.patience, "patience", 1)
        if self.on_new_labels == "grow" and not self._can_grow():
            unable = [name for name, one in self._members if not one._can_grow()]
            raise ValueError(f"on_new_labels must be 'error' for {', '.join(unable)}, which cannot grow. Got 'grow'.")


def _shares(weights: Array) -> Array:
    """Return weights that add up to 1 for each label; equal ones where none is left, which a share of 0 allows."""
    total, equal = weights.sum(axis=0), np.full_like(weights, 1.0 / len(weights))
    return np.divide(weights, total, out=equal, where=total > 0)


def _mixture(proba: Array, weights: Array) -> Array:
    mixed = np.empty(proba.shape[1:])
    mix(proba, weights, MARGIN, mixed)
    return mixed
