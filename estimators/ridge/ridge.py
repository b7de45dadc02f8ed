"""Ridge regression on running sums: nothing is forgotten, and decisions follow the labels of late."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Tags, check_random_state

from estimators._new_labels import OnNewLabels
from estimators._typing import Array
from estimators._validation import Features
from estimators.base import Mask, StreamClassifier
from estimators.ridge._basis import Basis, score, with_constant
from estimators.ridge._kernels.ridge import decide, decide_then_follow
from estimators.ridge._sums import Block, Model, Sums, solve, stack, widened

# From this number of features on, the basis is the features: sums of products grow with the square of the basis.
_MANY_FEATURES = 500
_LARGEST_BASIS = 500
# Rows that place the basis, and most rows kept before they are added to the sums.
_FIRST_ROWS, _BLOCK_ROWS = 50, 1024
# Random units are penalised more: effects of single features are preferred.
_UNIT_PENALTY = 3.0
# The prevalence of late starts from so many rows of the usual one.
_PRIOR_ROWS = 5.0


class StreamRidgeClassifier(StreamClassifier):
    """Predict labels by ridge regression on sums over all rows, and decide where balanced accuracy is best.

    The sums do not depend on the order of the rows: tasks that come and go leave the same regression as rows well
    mixed, so nothing is forgotten and every task learns from the others. One factorisation serves all labels.

    Parameters
    ----------
    l2 : float, default=1.0
        Penalty of squared coefficients of standardised features, times the number of features over the number of rows.
    knots : int, default=4
        Hinges of each feature, at quantiles of the first rows.
    hidden_units : int, default=200
        Rectified units with random weights over all features, for interactions of features.
    follow : float, default=0.5
        How far decisions follow the prevalence of late, from 0 (not at all) to 1 (as if it would last).
    memory : float, default=20
        Rows that "of late" means, at least 1.
    refresh : float, default=0.2
        Coefficients are computed again when the number of rows has grown by this share.
    random_state : int, RandomState instance or None, default=None
        Seed of the random units.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    n_labels_ : int
        Number of labels.
    n_features_in_ : int
        Number of features.
    model_ : tuple or None
        Coefficients (n_basis, n_labels), the constant first, and prevalence (n_labels,); None before any row.
    n_rows_ : int
        Rows learnt.

    Notes
    -----
    Balanced accuracy is greatest where a label is decided as soon as its probability exceeds its prevalence, not 1/2.
    If labels have been frequent of late, chances are that they still are: the threshold moves, in log-odds, by
    `follow` times the difference between the prevalence of late and the usual one, the other way.

    With 500 features or more, dense or sparse, neither hinges nor units are made, and a sparse row costs the square of
    its non-zeros. Otherwise the basis holds at most 500 features; there are fewer hinges, or none, if more would not
    fit. Memory grows with the square of the basis, time per row too, and each new computation of the coefficients
    takes its third power; no two are fewer than a fiftieth of the basis apart. Rows wait, at most 1,024, until they are
    added; cuts into chunks do not matter.

    A label that is unknown in a row (NaN) is outside its mask. Its mean, its products with the features and its
    prevalence of late come from the rows that count it. All labels share the covariance of all rows, so unknown labels
    take neither memory nor time.

    For one class a row the most probable class is predicted.

    References
    ----------
    Hoerl, Kennard, "Ridge regression: biased estimation for nonorthogonal problems", Technometrics 12(1), 1970.
    Huang, Zhu, Siew, "Extreme learning machine: theory and applications", Neurocomputing 70, 2006 (random units).
    Saerens, Latinne, Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities", Neural
    Computation 14(1), 2002 (the prevalence of late).

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import StreamRidgeClassifier
    >>> X = np.random.default_rng(0).random((500, 3))
    >>> Y = (X > [0.5, 0.8, 0.9]).astype(int)
    >>> ridge = StreamRidgeClassifier(random_state=0)
    >>> Y_pred, Y_proba = ridge.predict_then_fit(X, Y)
    >>> bool((Y_pred[-100:] == Y[-100:]).mean() > 0.9)
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        *,
        l2: float = 1.0,
        knots: int = 4,
        hidden_units: int = 200,
        follow: float = 0.5,
        memory: float = 20.0,
        refresh: float = 0.2,
        random_state: Any = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.l2 = l2
        self.knots = knots
        self.hidden_units = hidden_units
        self.follow = follow
        self.memory = memory
        self.refresh = refresh
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: yes."""
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks of scores ask that labels be decided at a probability of 1/2, for accuracy
        tags.classifier_tags.poor_score = True
        return tags

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        _check_parameters(self)
        n_features, n_units = self.n_features_in_, self._n_units()
        random_state = check_random_state(self.random_state)
        self._weights_ = random_state.normal(size=(n_features, n_units)) / np.sqrt(n_features)
        self._biases_ = random_state.normal(size=n_units)
        self._basis_: Basis | None = None
        self._sums_ = Sums.zeros(1 + n_features, self.n_labels_)
        self._waiting_: list[Block] = []
        self._late_ = np.zeros((2, self.n_labels_))
        self.model_: Model | None = None
        self.n_rows_ = 0
        self._due_ = self._next_model_ = 1

    def _grow(self, n_before: int) -> None:
        n_new = self.n_labels_ - n_before
        self._sums_ = self._sums_.widened(n_new)
        self._waiting_ = [block.widened(n_new) for block in self._waiting_]
        self._late_ = widened(self._late_, n_new)
        if self.model_ is not None:
            self.model_ = Model(*(widened(part, n_new) for part in self.model_))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self._pass(X, Y, mask, weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        return self._pass(X, Y, mask, None)

    def _predict_proba(self, X: Features) -> Array:
        return self._infer(X)[1]

    def _infer(self, X: Features) -> tuple[Array, Array]:
        scores = self._score(self._features(X))
        decided = np.zeros(scores.shape, dtype=np.bool_)
        decide(scores, self._prevalence(), self._late_, float(self.follow), _PRIOR_ROWS, decided)
        return decided, np.clip(scores, 0.0, 1.0)

    # ---------------------------------------------------------------- one pass
    def _pass(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> tuple[Array, Array]:
        """Predict and learn rows, up to each occasion to add them to the sums."""
        self._late_, self._waiting_ = self._late_.copy(), list(self._waiting_)
        counted = np.ones(Y.shape, dtype=np.bool_) if mask is None else mask
        weight = np.ones(len(Y)) if weight is None else weight
        learnt = np.flatnonzero(weight > 0)
        decided, scores = np.zeros(Y.shape, dtype=np.bool_), np.zeros(Y.shape)
        start = 0
        while start < len(learnt):
            rows = learnt[start : start + self._due_ - self.n_rows_]
            decided[rows], scores[rows] = self._process(X[rows], Y[rows], counted[rows], weight[rows])
            start += len(rows)
        return decided, np.clip(scores, 0.0, 1.0)

    def _process(self, X: Features, Y: Array, counted: Mask, weight: Array) -> tuple[Array, Array]:
        """Predict rows by the coefficients there are, and learn them."""
        F = self._features(X)
        scores, decided = self._score(F), np.zeros(Y.shape, dtype=np.bool_)
        settings = self._prevalence(), self._late_, float(self.memory), float(self.follow), _PRIOR_ROWS
        decide_then_follow(scores, Y, counted, *settings, decided)
        inside = counted * weight[:, np.newaxis]
        self._waiting_.append(Block(F, Y * inside, inside, weight))
        self.n_rows_ += len(Y)
        if self.n_rows_ == self._due_:
            self._add_up()
        return decided, scores

    def _add_up(self) -> None:
        """Add the rows that wait to the sums; compute the coefficients again if there are enough of them."""
        if self._is_placing() and self.n_rows_ == _FIRST_ROWS:
            self._place_basis()
        sums = self._sums_.plus(self._waiting_)
        if self.n_rows_ == self._next_model_:
            self.model_ = solve(sums, self._penalty(sums))
            self._next_model_ += max(1, int(self.refresh * self.n_rows_), len(sums.products) // 50)
        self._due_ = min(self._next_model_, self.n_rows_ + _BLOCK_ROWS)
        if self._is_placing():
            self._due_ = self._next_model_ = min(self._due_, _FIRST_ROWS)
        else:
            self._sums_, self._waiting_ = sums, []

    # -------------------------------------------------------------- the basis
    def _is_placing(self) -> bool:
        """Whether the first rows are still awaited that will place hinges and units."""
        return self._basis_ is None and self.n_features_in_ < _MANY_FEATURES

    def _place_basis(self) -> None:
        block = stack(self._waiting_)
        X = np.ascontiguousarray(block.F[:, 1:])
        room = (_LARGEST_BASIS - self._n_units()) // self.n_features_in_ - 1
        self._basis_ = Basis.fit(X, min(self.knots, room), self._weights_, self._biases_)
        self._waiting_ = [block._replace(F=self._basis_.expand(X))]
        self._sums_ = Sums.zeros(self._waiting_[0].F.shape[1], self.n_labels_)

    def _n_units(self) -> int:
        narrow = self.n_features_in_ < _MANY_FEATURES
        return min(self.hidden_units, _LARGEST_BASIS - self.n_features_in_) if narrow else 0

    def _penalty(self, sums: Sums) -> Array:
        n_basis = len(sums.products) - 1
        penalty = np.full(n_basis, self.l2 * n_basis / sums.products[0, 0])
        if self._basis_ is not None:
            penalty[n_basis - len(self._biases_) :] *= _UNIT_PENALTY
        return penalty

    def _features(self, X: Features) -> Features:
        if self._basis_ is not None:
            return self._basis_.expand(_as_dense(X))
        return with_constant(_as_dense(X) if self._is_placing() else X)

    def _score(self, F: Features) -> Array:
        if self.model_ is None:
            return np.full((F.shape[0], self.n_labels_), 0.5)
        return score(F, self.model_.coef)

    def _prevalence(self) -> Array:
        return np.zeros(self.n_labels_) if self.model_ is None else self.model_.prevalence


def _as_dense(X: Features) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _check_parameters(ridge: StreamRidgeClassifier) -> None:
    rules: dict[str, tuple[type, Callable[[Any], bool], str]] = {
        "l2": (Real, lambda value: value > 0, "a positive number"),
        "knots": (Integral, lambda value: value >= 0, "a whole number, at least 0"),
        "hidden_units": (Integral, lambda value: value >= 0, "a whole number, at least 0"),
        "follow": (Real, lambda value: 0 <= value <= 1, "a number from 0 to 1"),
        "memory": (Real, lambda value: value >= 1, "a number, at least 1"),
        "refresh": (Real, lambda value: 0 < value <= 1, "a number above 0, at most 1"),
    }
    for name, (kind, fits, rule) in rules.items():
        value = getattr(ridge, name)
        if isinstance(value, bool) or not isinstance(value, kind) or not fits(value) or value == np.inf:
            raise ValueError(f"{name} must be {rule}. Got {value!r} instead.")
