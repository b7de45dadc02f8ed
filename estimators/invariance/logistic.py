"""Logistic regression whose risks are alike in every environment: IRM, V-REx and group DRO."""

from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask
from estimators.contract.batching import blocks, dense
from estimators.contract.blas_threads import one_thread
from estimators.contract.environments import EnvironmentClassifier
from estimators.contract.explanations import Terms, linear_terms
from estimators.contract.log_odds import LogOddsClassifier
from estimators.contract.parameters import Rule, check_rules
from estimators.contract.traits import Traits
from estimators.contract.validation import Features, is_sparse
from estimators.invariance._kept_rows import KeptRows, join, random_priority, sample
from estimators.invariance._objectives import Problem, fit_label
from metrics.validation import require_choice

Penalty = Literal["none", "irm", "vrex", "group-dro"]

# More different values are rather the numbers of rows than environments.
_MAX_ENVIRONMENTS = 1000
# Coefficients for fewer further rows are not worth their time.
_LEAST_NEW_ROWS = 10
# Rows that wait, at most, before they are joined to those that are kept.
_BLOCK_ROWS = 1024


class InvariantLogisticClassifier(EnvironmentClassifier, LogOddsClassifier):
    """Logistic regression of each label, with a penalty for risks that differ between environments.

    The learner keeps a sample of the rows of every environment. Whenever the stream has grown by a share, it computes
    the coefficients again from all of them, so that environments may come one after the other or mixed. The environment
    of a row is needed for learning only, never for predictions.

    Parameters
    ----------
    penalty : {'none', 'irm', 'vrex', 'group-dro'}, default='none'
        'none' pools all rows and ignores the environments. The others learn from the risks R_e of the environments, the
        mean log loss of their rows; see Notes.
    strength : float, default=1000.0
        Factor of the penalty of 'irm' and 'vrex', at least 0.
    group_step : float, default=0.1
        Step of the weights of the environments under 'group-dro', at least 0: greater ones turn faster to the worst.
    l2 : float, default=1.0
        Penalty of half the squared coefficients over the number of rows, as ``1 / C`` of scikit-learn's
        `LogisticRegression`.
    max_iter : int, default=500
        Largest number of iterations of L-BFGS; number of steps of 'group-dro'.
    memory : int or None, default=1000
        Rows that are kept of each environment, drawn at random without replacement; None for all.
    refresh : float, default=0.2
        Coefficients are computed again when the number of rows has grown by this share, and by ten rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the rows that are kept.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    n_labels_ : int
        Number of labels.
    n_features_in_ : int
        Number of features.
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_labels,)
        Constants.
    environments_ : list
        Environments in the order in which they came; [None] where none were passed.
    group_weights_ : ndarray of shape (n_labels, n_environments) or None
        The weights of the environments that 'group-dro' has learnt, 0 where nothing is known of the label; None for
        other penalties.
    n_iter_ : ndarray of shape (n_labels,)
        Iterations that the present coefficients took; 0 where nothing is known of the label.
    n_rows_ : int
        Rows learnt.

    Notes
    -----
    Each label is a problem of its own. With z the log-odds, the objectives are

    - 'irm': sum_e R_e + strength * sum_e (dR_e(w z) / dw at w = 1)^2, that is IRMv1 (Arjovsky et al., section 3.1): the
      same factor of the log-odds, 1, should be the best in every environment;
    - 'vrex': sum_e R_e + strength * Var_e(R_e) (Krueger et al., section 3, equation 8);
    - 'group-dro': max over weights q of sum_e q_e R_e, by algorithm 1 of Sagawa et al.: q_e is multiplied by
      exp(group_step * R_e) and normalised, then coefficients take a step down sum_e q_e R_e. Every step sees all rows
      that are kept, instead of one drawn at random, and the length of a step follows from the features.

    'irm' and 'vrex' start from the coefficients without a penalty, and end in a local minimum. Environments in which a
    label is unknown do not count for it. Without environments, all rows are of one: then 'irm' makes the log-odds as
    large as they should be, and the others do nothing.

    The features are taken as they are: categories should be columns of their own (`hash_categories`), and numbers of
    one scale (`sklearn.preprocessing.StandardScaler` in a `StreamPipeline`).

    References
    ----------
    Arjovsky, Bottou, Gulrajani, Lopez-Paz, "Invariant risk minimization", arXiv:1907.02893, 2019.
    Krueger et al., "Out-of-distribution generalization via risk extrapolation (REx)", ICML 2021.
    Sagawa, Koh, Hashimoto, Liang, "Distributionally robust neural networks for group shifts", ICLR 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import InvariantLogisticClassifier
    >>> rng = np.random.default_rng(0)
    >>> environment = np.repeat(["A", "B"], 500)
    >>> stable, Y = rng.integers(0, 2, 1000), rng.integers(0, 2, (1000, 1))
    >>> stable = np.where(rng.random(1000) < 0.25, 1 - Y[:, 0], Y[:, 0])
    >>> spurious = np.where(rng.random(1000) < np.where(environment == "A", 0.1, 0.3), 1 - Y[:, 0], Y[:, 0])
    >>> X = np.column_stack([stable, spurious])
    >>> pooled = InvariantLogisticClassifier().fit(X, Y)
    >>> invariant = InvariantLogisticClassifier("vrex", strength=1000).fit(X, Y, environment=environment)
    >>> bool(pooled.coef_[0, 0] < pooled.coef_[0, 1]), bool(invariant.coef_[0, 0] > invariant.coef_[0, 1])
    (True, True)
    """

    _traits = Traits(row_metadata=("environment",))

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        penalty: Penalty = "none",
        *,
        strength: float = 1000.0,
        group_step: float = 0.1,
        l2: float = 1.0,
        max_iter: int = 500,
        memory: int | None = 1000,
        refresh: float = 0.2,
        random_state: RandomStateLike = None,
    ) -> None:
        self.penalty = penalty
        self.strength = strength
        self.group_step = group_step
        self.l2 = l2
        self.max_iter = max_iter
        self.memory = memory
        self.refresh = refresh
        self.random_state = random_state

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: yes."""
        return True

    @property
    def uses_environment(self) -> bool:
        """Whether `environment` changes what is learnt: under every penalty but 'none'."""
        return self.penalty != "none"

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        _check_parameters(self)
        self.coef_ = np.zeros((self.n_labels_, self.n_features_in_))
        self.intercept_ = np.zeros(self.n_labels_)
        self.environments_: list[Any] = []
        self.group_weights_: Array | None = None
        self.n_iter_ = np.zeros(self.n_labels_, dtype=np.int64)
        self.n_rows_ = 0
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._kept: KeptRows | None = None
        self._waiting: list[KeptRows] = []
        self._n_waiting = 0
        self._next_model = 1

    def _learn(
        self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, environment: Array | None = None
    ) -> None:
        self._pass(X, Y, mask, weight, environment, testing=False)

    def _predict_then_learn(
        self, X: Features, Y: Array, mask: Mask | None, environment: Array | None = None
    ) -> tuple[Array, Array]:
        return self._pass(X, Y, mask, None, environment, testing=True)

    def _end_fit(self) -> None:
        if self._waiting:
            self._join_waiting()
            self._solve()

    def _infer(self, X: Features) -> tuple[Array, Array]:
        z = self._scores(X)
        return z > 0, expit(z)

    def _explain(self, X: Features) -> Terms:
        return linear_terms(X, self.coef_.T, self.intercept_, self._scores(X))

    # ---------------------------------------------------------------- one pass
    def _pass(
        self,
        X: Features,
        Y: Array,
        mask: Mask | None,
        weight: Array | None,
        environment: Array | None,
        *,
        testing: bool,
    ) -> tuple[Array, Array]:
        """Predict rows, if that is asked for, and learn them, up to each occasion to compute the coefficients."""
        rows = self._as_kept(X, Y, mask, weight, environment)
        z, start, n_rows = np.zeros(Y.shape), 0, len(rows.Y)
        while start < n_rows:
            stretch = slice(start, min(n_rows, start + self._next_model - self.n_rows_))
            if testing:
                z[stretch] = self._scores(X[stretch])
            self._keep(rows.take(stretch))
            start = stretch.stop
            if self.n_rows_ == self._next_model:
                self._next_model += max(_LEAST_NEW_ROWS, int(self.refresh * self.n_rows_))
                self._join_waiting()
                # of a chunk that is not predicted, only the last coefficients matter
                if testing or n_rows - start < self._next_model - self.n_rows_:
                    self._solve()
        return z > 0, expit(z)

    def _as_kept(
        self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, environment: Array | None
    ) -> KeptRows:
        """Return the rows that change something, with weights, environments and random numbers."""
        counted = np.ones(Y.shape) if mask is None else mask.astype(np.float64)
        if weight is not None:
            learnt = np.flatnonzero(weight > 0)
            X, Y, counted = X[learnt], Y[learnt], counted[learnt] * weight[learnt, np.newaxis]
            environment = None if environment is None else environment[learnt]
        codes = self._encode_environment(environment, len(Y))
        return KeptRows(X.astype(np.float64), Y, counted, codes, random_priority(self._seed, self.n_rows_, len(Y)))

    def _encode_environment(self, environment: Array | None, n_rows: int) -> Array:
        names, codes = ([None], np.zeros(n_rows, dtype=np.int64)) if environment is None else _in_order(environment)
        if not self.uses_environment or not n_rows:
            return np.zeros(n_rows, dtype=np.int64)
        if self.environments_ and (None in self.environments_) != (environment is None):
            raise ValueError("environment must be passed in every call, or in none. Got both instead.")
        self.environments_ = list(dict.fromkeys([*self.environments_, *names]))
        if len(self.environments_) > _MAX_ENVIRONMENTS:
            raise ValueError(
                f"environment must have at most {_MAX_ENVIRONMENTS} different values. "
                f"Got {len(self.environments_)} instead."
            )
        place = {name: number for number, name in enumerate(self.environments_)}
        return np.array([place[name] for name in names], dtype=np.int64)[codes]

    def _keep(self, rows: KeptRows) -> None:
        self._waiting = [*self._waiting, rows]
        self._n_waiting += len(rows.Y)
        self.n_rows_ += len(rows.Y)
        if self._n_waiting >= _BLOCK_ROWS:
            self._join_waiting()

    def _join_waiting(self) -> None:
        rows = join([*([] if self._kept is None else [self._kept]), *self._waiting])
        self._kept = rows if self.memory is None else sample(rows, self.memory)
        self._waiting, self._n_waiting = [], 0

    # ------------------------------------------------------------ coefficients
    def _solve(self) -> None:
        """Compute the coefficients of every label from the rows that are kept."""
        rows = self._kept
        if rows is None:
            return
        coef, intercept = np.zeros_like(self.coef_), np.zeros_like(self.intercept_)
        penalty = self.penalty, self.group_step if self.penalty == "group-dro" else self.strength
        n_iter, group_weights = np.zeros_like(self.n_iter_), np.zeros((self.n_labels_, len(self.environments_)))
        # threads that wake up for products of small matrices cost nine tenths of the time
        with np.errstate(all="ignore"), one_thread():
            for label in range(self.n_labels_):
                known = np.flatnonzero(rows.weight[:, label])
                if len(known):
                    problem, environments, l2 = self._problem(rows.take(known), label)
                    found = fit_label(problem, penalty, l2, self.max_iter)
                    coef[label], intercept[label], n_iter[label] = found.theta[:-1], found.theta[-1], found.n_iter
                    if found.group_weights is not None:
                        group_weights[label, environments] = found.group_weights
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            largest = max(float(rows.X.max()), -float(rows.X.min()))
            raise ValueError(f"X must be small enough for finite log-odds: scale it. Got features up to {largest:.3g}.")
        self.coef_, self.intercept_, self.n_iter_ = coef, intercept, n_iter
        self.group_weights_ = group_weights if self.penalty == "group-dro" else None

    def _problem(self, rows: KeptRows, label: int) -> tuple[Problem, Array, float]:
        """Return the problem of a label, the environments that it knows, and the penalty of its coefficients."""
        weight = rows.weight[:, label]
        environments, codes = np.unique(rows.environment, return_inverse=True)
        share = weight / np.bincount(codes, weight)[codes]
        y = rows.Y[:, label].astype(np.float64)
        l2 = self.l2 * len(environments) / float(weight.sum())
        return Problem(rows.X, y, share, codes, len(environments)), environments, l2

    def _log_odds(self, X: Features, proba: Array) -> Array:  # noqa: ARG002
        return self._scores(X)

    def _scores(self, X: Features) -> Array:
        """Return the log-odds of rows, each in one order of additions, however many there are."""
        z = np.empty((X.shape[0], self.n_labels_))
        for rows in blocks(X):
            if is_sparse(X):
                z[rows] = X[rows] @ self.coef_.T
            else:
                block = dense(X[rows])
                for label, coef in enumerate(self.coef_):
                    z[rows, label] = np.add.reduce(block * coef, axis=1)
        return z + self.intercept_


def _in_order(environment: Array) -> tuple[list[Any], Array]:
    """Return the environments in the order in which they come, and the place of each row's environment there."""
    try:
        names, first, codes = np.unique(environment, return_index=True, return_inverse=True)
    except TypeError:
        raise ValueError("environment must hold numbers only, or names only. Got other values instead.") from None
    if names.dtype.kind == "f" and np.isnan(names).any():
        raise ValueError("environment must be known in every row. Got NaN instead.")
    order = np.argsort(first)
    return names[order].tolist(), np.argsort(order)[codes]


def _check_parameters(learner: InvariantLogisticClassifier) -> None:
    require_choice(learner.penalty, "penalty", get_args(Penalty))
    rules: dict[str, Rule] = {
        "strength": (Real, lambda value: value >= 0, "a number, at least 0"),
        "group_step": (Real, lambda value: value >= 0, "a number, at least 0"),
        "l2": (Real, lambda value: value > 0, "a positive number"),
        "max_iter": (Integral, lambda value: value >= 1, "a whole number, at least 1"),
        "memory": (Integral, lambda value: value >= 1, "a whole number, at least 1, or None for all rows"),
        "refresh": (Real, lambda value: 0 < value <= 1, "a number above 0, at most 1"),
    }
    if learner.memory is None:
        del rules["memory"]
    check_rules(vars(learner), rules)
