"""Adaptive random forests: bagged Hoeffding trees on random features, which are replaced when the stream drifts."""

import math
from typing import Any, Literal

import joblib
import numpy as np
from scipy.stats import poisson
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.categories import CategoricalFeatures, nominal_places
from estimators.contract.explanations import Terms
from estimators.contract.locks import lock_of
from estimators.contract.new_labels import OnNewLabels, grows
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.trees._explanations import explain_forest
from estimators.trees._forest_bank import ForestBank
from estimators.trees._importances import importances
from estimators.trees._kernels.forest import ForestParams
from estimators.trees._multilabel_forest import MultilabelForest
from estimators.trees._tree_bank import check_tree_params, codes_of
from metrics.validation import require_integer

MAX_BAGGING = 100


class AdaptiveRandomForestClassifier(StreamClassifier):
    """Random forest that adapts to drift and learns one class for each row, or one such forest for each label.

    Every member is a Hoeffding tree that learns each row a random number of times and whose leaves observe random
    subsets of the features. It monitors its own errors: at a warning it starts another tree in the background, and at a
    drift that tree replaces it. The votes of members are weighted by their accuracy.

    Parameters
    ----------
    n_models : int, default=10
        Number of members of each forest.
    max_features : {'sqrt', 'log2'}, int, float or None, default='sqrt'
        Number of features that a leaf draws to observe; a float is a share of them. None: it observes all of them.
    bagging : float or None, default=6.0
        Mean of the Poisson number of times that a member learns a row; None: every member learns every row once.
    warning_delta, drift_delta : float or None, default=0.01, 0.001
        Significance level at which a change of the errors is a warning, or a drift. None: there are no warnings, or no
        drifts.
    grace_period, delta, tau, max_depth
        As in `HoeffdingTreeClassifier`; by default these trees split earlier.
    max_bytes : int, default=104857600
        Bound of the memory of all trees together, those in the background included, divided equally among them; see
        `HoeffdingTreeClassifier`.
    multilabel : {'binary', 'native'}, default='binary'
        'binary': one forest for each label. 'native': one forest of trees that predict all labels in every leaf, as in
        `MultiLabelHoeffdingTreeClassifier`; labels share structure, rows and detectors, and each tree draws its
        `max_features` once, not in every leaf, so that 0.6 suits it better than 'sqrt'. Ignored without labels.
    targeted : bool, default=False
        Whether the learner uses the task: labels outside ``label_mask`` learn nothing from the row. Otherwise they
        learn zeros.
    n_jobs : int, optional
        Number of threads that train the members; -1: one for each processor. The results are the same.
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of the members.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.
        Each new label gets a forest, and `max_bytes` is divided again; forests of all labels ('native') cannot grow.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers.

    Attributes
    ----------
    forest_ : ForestBank or MultilabelForest
        The members, in flat arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of entropy by the splits, mean over the trees that have any.
    n_warnings_, n_drifts_ : ndarray of int of shape (n_labels, n_models) or (1, n_models)
        Number of warnings, and of replacements, of each member; one row if there is one forest.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.

    See Also
    --------
    HoeffdingTreeClassifier : one tree, which does not adapt to drift.

    Notes
    -----
    The algorithm is that of ``ARFClassifier`` in River 0.26 and of MOA: a member predicts each row before it learns it,
    even if it then learns it zero times; its votes are weighted by its accuracy since its tree came to the foreground,
    or by 1 until it is right for the first time; a tree that comes to the foreground starts with empty detectors. The
    random numbers differ, so that members equal River's in distribution only; but one member without bagging on all
    features is `HoeffdingTreeClassifier`, and its detectors decide as ADWIN in River.

    A row costs O(n_labels x n_models x max_features), whatever the number of features, plus the search for splits once
    in `grace_period` rows of a leaf. Sparse rows are made dense in blocks of 256.

    A member for all labels monitors the share of labels that it predicts wrongly in a row, and its votes are weighted
    by the mean share that it predicted right. Its features are drawn once for each tree, as in the streaming random
    patches of Gomes, Read and Bifet (ICDM 2019).

    References
    ----------
    Gomes, Bifet, Read, Barddal, Enembreck, Pfahringer, Holmes and Abdessalem, Adaptive random forests for evolving data
    stream classification, Machine Learning 106, 2017.
    Bifet and Gavaldà, Learning from time-changing data with adaptive windowing, SDM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier
    >>> X = np.random.default_rng(0).random((1000, 3))
    >>> forest = AdaptiveRandomForestClassifier(random_state=0).partial_fit(X, np.where(X[:, 0] > 0.5, "b", "a"))
    >>> forest.predict([[0.1, 0.5, 0.5], [0.9, 0.5, 0.5]])
    array(['a', 'b'], dtype='<U1')
    >>> forest = forest.partial_fit(X, np.where(X[:, 0] > 0.5, "a", "b"))  # the classes change places
    >>> forest.predict([[0.1, 0.5, 0.5], [0.9, 0.5, 0.5]])
    array(['b', 'a'], dtype='<U1')
    >>> bool(forest.n_drifts_.any())
    True
    """

    _traits = Traits(takes_codes=True, fails_late=False, learns_unknown=True)

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        n_models: int = 10,
        *,
        max_features: Literal["sqrt", "log2"] | int | float | None = "sqrt",
        bagging: float | None = 6.0,
        warning_delta: float | None = 0.01,
        drift_delta: float | None = 0.001,
        grace_period: int = 50,
        delta: float = 0.01,
        tau: float = 0.05,
        max_depth: int | None = None,
        max_bytes: int = 100 * 2**20,
        multilabel: Literal["binary", "native"] = "binary",
        targeted: bool = False,
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.n_models = n_models
        self.max_features = max_features
        self.bagging = bagging
        self.warning_delta = warning_delta
        self.drift_delta = drift_delta
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.max_depth = max_depth
        self.max_bytes = max_bytes
        self.multilabel = multilabel
        self.targeted = targeted
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_new_labels = on_new_labels
        self.categorical_features = categorical_features

    @property
    def n_warnings_(self) -> Array:
        """Number of warnings of each member."""
        return self._counters("n_warnings")

    @property
    def n_drifts_(self) -> Array:
        """Number of replacements of each member."""
        return self._counters("n_drifts")

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of entropy by the splits; zeros before any split.

        A tree counts by its shares, which sum to 1, whatever its size. The classes of a branch are those in its leaves.
        """
        check_is_fitted(self)
        with lock_of(self):
            return importances(self.forest_.importances())

    def build_forest(
        self, n_targets: int, n_classes: int, n_features: int, random_state: RandomStateLike, *, of_labels: bool
    ) -> ForestBank | MultilabelForest:
        """Check the parameters, and make an untrained forest for each target, or for all.

        Parameters
        ----------
        n_targets, n_classes, n_features : int
            Numbers of targets, of classes, which all targets share, and of features.
        random_state : int, RandomState instance or None
            Source of the seeds of the members.
        of_labels : bool
            Whether the targets are labels, which one forest may learn together.

        Returns
        -------
        ForestBank or MultilabelForest
            The forests.
        """
        if self.multilabel not in ("binary", "native"):
            raise ValueError(f"multilabel must be 'binary' or 'native'. Got {self.multilabel!r} instead.")
        n_models, width = require_integer(self.n_models, "n_models", 1), _width(self.max_features, n_features)
        rng, n_jobs = check_random_state(random_state), joblib.effective_n_jobs(self.n_jobs)
        nominal = nominal_places(self, n_features)
        if of_labels and self.multilabel == "native":
            if len(nominal):
                raise ValueError("multilabel must be 'binary' with categorical_features. Got 'native' instead.")
            params = self._params(2 * n_models)
            return MultilabelForest((n_targets, n_models, n_features), width, params, rng, n_threads=n_jobs)
        params = self._params(2 * n_targets * n_models)
        shape = (n_targets, n_models, n_features, n_classes)
        return ForestBank(shape, width, params, rng, n_groups=n_jobs, nominal=nominal)

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return self.forest_.size_bytes

    def _splits_categories(self) -> bool:
        return self.multilabel == "binary"

    def _can_grow(self) -> bool:
        return self.multilabel == "binary"

    def _start(self) -> None:
        if grows(self) and not self._can_grow():
            raise ValueError(
                f"on_new_labels must be 'error' with multilabel={self.multilabel!r}. Got 'grow' instead; "
                "multilabel='binary' makes a forest for each new label."
            )
        n_targets, n_classes = (self.n_labels_, 2) if self._target.multilabel else (1, len(self.classes_))
        self.forest_ = self.build_forest(
            n_targets, n_classes, self.n_features_in_, self.random_state, of_labels=self._target.multilabel
        )

    def _grow(self, n_before: int) -> None:  # noqa: ARG002 - seeds are drawn for all members
        params, rng = self._params(2 * self.n_labels_ * self.n_models), check_random_state(self.random_state)
        self.forest_ = self.forest_.grown(self.n_labels_, params, rng)  # type: ignore[union-attr]

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self.forest_.learn(X, codes_of(Y, mask), weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        return self._decide(self.forest_.learn(X, codes_of(Y, mask)))

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self._decide(self.forest_.predict(X))

    def _explain(self, X: Features) -> Terms:
        return explained(self.forest_, X, of_classes=not self._target.multilabel)

    # ------------------------------------------------------------------ parts
    def _counters(self, name: str) -> Array:
        with lock_of(self):
            return self.forest_.members[name]

    def _params(self, n_trees: int) -> ForestParams:
        deltas = [_confidence(getattr(self, name), name) for name in ("warning_delta", "drift_delta")]
        tree = check_tree_params(self)
        return ForestParams(tree._replace(max_bytes=tree.max_bytes / n_trees), _bagging(self.bagging), *deltas)

    def _decide(self, votes: Array) -> tuple[Array, Array]:
        if not self._target.multilabel:
            return votes[:, 0], votes[:, 0]
        total = votes.sum(axis=2)
        share = np.divide(votes[:, :, 1], total, out=np.zeros_like(total), where=total > 0)
        return votes[:, :, 1] > votes[:, :, 0], share


def explained(forest: "ForestBank | MultilabelForest", X: Features, *, of_classes: bool) -> Terms:
    """Return the terms of the probabilities of a forest of either kind."""
    return (
        forest.explain(X) if isinstance(forest, MultilabelForest) else explain_forest(forest, X, of_classes=of_classes)
    )


def _width(max_features: Any, n_features: int) -> int | None:
    """Return the number of features that a leaf draws; None: all."""
    if max_features is None:
        return None
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        number = math.sqrt(n_features) if max_features == "sqrt" else math.log2(n_features)
        return max(1, round(number))
    if isinstance(max_features, int | np.integer) and max_features >= 1:
        return min(int(max_features), n_features)
    if isinstance(max_features, float) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise ValueError(
        "max_features must be 'sqrt', 'log2', an integer of at least 1, a share in (0, 1] or None. "
        f"Got {max_features!r} instead."
    )


def _bagging(mean: float | None) -> Array:
    """Return the cumulative probabilities of learning a row 0, 1, 2, ... times, up to the precision of doubles."""
    if mean is None:
        return np.zeros(0)
    if not 0 < mean <= MAX_BAGGING:
        raise ValueError(f"bagging must be None or in (0, {MAX_BAGGING}]. Got {mean!r} instead.")
    return np.asarray(poisson.cdf(np.arange(poisson.isf(1e-16, mean)), mean))


def _confidence(delta: float | None, name: str) -> float:
    if delta is None:
        return 0.0
    if not 0 < delta < 1:
        raise ValueError(f"{name} must be None or in (0, 1). Got {delta!r} instead.")
    return float(delta)
