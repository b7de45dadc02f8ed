"""The Hoeffding adaptive tree: a Hoeffding tree that replaces branches whose errors have grown."""

import math

from numpy.random import RandomState
from sklearn.utils import check_random_state

from estimators._typing import Array, RandomStateLike
from estimators.contract.categories import CategoricalFeatures, nominal_places
from estimators.contract.locks import lock_of
from estimators.contract.parameters import NUMBERS
from estimators.trees._adaptive_bank import AdaptiveTreeBank
from estimators.trees._kernels.adaptive import AdaptiveParams
from estimators.trees._tree_bank import check_at_least, check_share, check_tree_params
from estimators.trees._tree_classifier import TreeClassifier


class HoeffdingAdaptiveTreeClassifier(TreeClassifier):
    """Hoeffding adaptive tree that learns one class for each row, or one such tree for each label.

    Every node monitors the errors of the rows that pass it in an adaptive window (ADWIN). When the errors under a
    branch rise, it gets an alternate leaf, which learns the same rows. The leaf takes the place of the branch as soon
    as it errs less by more than chance, or splits; it is given up if it errs more. A row is predicted by its leaf and
    by the alternate leaves on the way to it, each weighted by the inverse square of its mean error.

    Parameters
    ----------
    grace_period, delta, tau
        As in `HoeffdingTreeClassifier`.
    bootstrap_sampling : bool, default=True
        Whether a leaf learns a row as often as is drawn from a Poisson distribution of mean 1, but at least once.
    drift_window_threshold : int, default=300
        Number of rows since their errors last changed that a branch and its alternate leaf must both exceed before the
        two are compared.
    drift_delta : float, default=0.002
        Confidence of the windows, between 0 and 1; the smaller, the fewer false alarms and the later the true ones.
    switch_significance : float, default=0.05
        Significance level, in (0, 1], of the comparison of a branch with its alternate leaf.
    max_depth, max_bytes
        As in `HoeffdingTreeClassifier`; the windows count as memory.
    random_state : int, RandomState instance or None, default=None
        Seed of the numbers that are drawn. With an integer, each tree draws what River's tree draws with that ``seed``,
        every label the same; inside `BinaryRelevance` with a ``random_state`` of its own, each label has another seed.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers.

    Attributes
    ----------
    bank_ : AdaptiveTreeBank
        The trees, in flat arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of entropy by the splits, mean over the trees that have any.
    n_alternate_, n_pruned_, n_switched_ : ndarray of int of shape (n_labels,) or (1,)
        Number of alternate leaves of each tree that were begun; that were given up because they erred more, or because
        a branch above was replaced; and that replaced their branch because they erred less.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.

    See Also
    --------
    HoeffdingTreeClassifier : the tree that keeps all its branches.
    AdaptiveRandomForestClassifier : several trees, each of which is replaced as a whole.
    BinaryRelevance : one tree for each label, trained in parallel.

    Notes
    -----
    The decisions are those of ``HoeffdingAdaptiveTreeClassifier`` in River 0.26 with numeric features and its default
    splitter, criterion and leaves: features, thresholds, class weights, errors, alternate leaves and random draws are
    the same in every node. Three things that River does, and Bifet and Gavaldà do not, are therefore done here too. An
    alternate leaf that splits replaces its branch at once, whichever of the two errs less, since River puts the new
    branch where the old one was: so an alternate tree is never more than a leaf. An alternate leaf of the root that
    finds nothing to split at an attempt never splits later; once it is the root, the tree stays a leaf. And the row
    after which a branch is replaced is learnt by its alternate leaf only if the branch was the root.

    Memory is bounded as in `HoeffdingTreeClassifier`; a tree that never reaches its limit is not affected. A row costs
    O(n_features) for its leaf and each alternate leaf on the way to it.

    References
    ----------
    Bifet and Gavaldà, Adaptive learning from evolving data streams, IDA 2009.
    Bifet and Gavaldà, Learning from time-changing data with adaptive windowing, SDM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier
    >>> X = np.random.default_rng(0).random((2000, 2))
    >>> y = np.where(X[:, 0] > 0.5, "right", "left")
    >>> y[1000:] = np.where(X[1000:, 1] > 0.5, "right", "left")  # another feature decides from here on
    >>> tree = HoeffdingAdaptiveTreeClassifier(delta=1e-3, random_state=0).fit(X, y)
    >>> tree.predict([[0.9, 0.1], [0.1, 0.9]])
    array(['left', 'right'], dtype='<U5')
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        *,
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        bootstrap_sampling: bool = True,
        drift_window_threshold: int = 300,
        drift_delta: float = 0.002,
        switch_significance: float = 0.05,
        max_depth: int | None = None,
        max_bytes: int = 100 * 2**20,
        random_state: RandomStateLike = None,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.bootstrap_sampling = bootstrap_sampling
        self.drift_window_threshold = drift_window_threshold
        self.drift_delta = drift_delta
        self.switch_significance = switch_significance
        self.max_depth = max_depth
        self.max_bytes = max_bytes
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def n_alternate_(self) -> Array:
        """Number of alternate leaves of each tree that were begun."""
        return self._history("n_alternate")

    @property
    def n_pruned_(self) -> Array:
        """Number of alternate leaves of each tree that were given up."""
        return self._history("n_pruned")

    @property
    def n_switched_(self) -> Array:
        """Number of alternate leaves of each tree that replaced their branch because they erred less."""
        return self._history("n_switched")

    # ------------------------------------------------------------------ hooks
    def _new_bank(
        self, n_trees: int, n_features: int, n_classes: int, *, n_groups: int = 1, rng: RandomState | None = None
    ) -> AdaptiveTreeBank:
        check_at_least(self.drift_window_threshold, "drift_window_threshold", 0)
        check_share(self.switch_significance, "switch_significance")
        if not isinstance(self.drift_delta, NUMBERS) or not 0 < self.drift_delta < 1:
            raise ValueError(f"drift_delta must be in (0, 1). Got {self.drift_delta!r} instead.")
        params = AdaptiveParams(
            check_tree_params(self),
            window=float(self.drift_window_threshold),
            log_significance=math.log(2.0 / self.switch_significance),
            drift_delta=float(self.drift_delta),
        )
        seed, nominal = _seed(self.random_state) if self.bootstrap_sampling else None, nominal_places(self, n_features)
        return AdaptiveTreeBank(
            n_trees, n_features, n_classes, params, n_groups=n_groups, nominal=nominal, seed=seed, rng=rng
        )

    # ------------------------------------------------------------------ parts
    def _history(self, name: str) -> Array:
        with lock_of(self):
            return self.bank_.history(name)


def _seed(random_state: RandomStateLike) -> int:
    """Return an integer as it is, and draw one otherwise."""
    rng = check_random_state(random_state)
    if random_state is None or isinstance(random_state, RandomState):
        return int(rng.randint(2**31 - 1))
    return int(random_state)
