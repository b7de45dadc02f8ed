"""MLHAT: a Hoeffding tree for all labels that chooses classifiers for its leaves, and replaces branches after drift."""

import math

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.batching import blocks, dense
from estimators.contract.categories import CategoricalFeatures, nominal_places
from estimators.contract.explanations import Terms
from estimators.contract.locks import lock_of
from estimators.contract.parameters import NUMBERS
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.trees._bins import NO_BINS, Bins
from estimators.trees._explanations import explain_path
from estimators.trees._importances import decreases, importances
from estimators.trees._kernels.mlhat.arrays import Shape, new_tree, size_bytes
from estimators.trees._kernels.mlhat.learning import learn, predict
from estimators.trees._kernels.mlhat.scratch import AdaptiveParams, Chunk, LeafParams, Scratch
from estimators.trees._tree_bank import NO_WEIGHTS, check_at_least, check_growth, check_share, decide
from metrics.validation import require_integer

# the rate of the intercepts, which is not a parameter in the code of the authors either
INTERCEPT_RATE = 0.01
# leaves whose votes for the row at hand are kept
N_KEPT = 16


class MultiLabelHoeffdingAdaptiveTreeClassifier(StreamClassifier):
    """MLHAT, one adaptive Hoeffding tree for all labels, with a classifier for few and one for many rows in each leaf.

    A leaf with few rows, or with labels of little entropy, predicts the label sets of the nearest rows of its window,
    weighted by inverse distances. A leaf with many rows predicts each label by bagged logistic regressions. Leaves
    split by the sum of the entropies of the labels. Each branch monitors the Hamming loss of the leaf below it: when it
    rises, an alternate grows in the background, takes part in predictions, and replaces the branch once it is better.

    Parameters
    ----------
    grace_period : int, default=200
        Weight of the rows that a leaf learns between two attempts to split.
    delta : float, default=1.6587784772850855e-07
        Probability of choosing another feature than an infinite stream would; smaller values split later.
    tau : float, default=0.05
        Bound under which two features count as equally good, so that the leaf splits.
    drift_window_threshold : float, default=200
        Weight of rows from which on an alternate votes, and from which on it is compared with its branch.
    switch_significance : float, default=0.05
        Probability of a wrong decision between a branch and its alternate, inside (0, 1].
    cardinality_threshold : float, default=750
        Weight of rows from which on a leaf has many rows, and votes by regressions.
    entropy_threshold : float, default=0.3
        Sum of the entropies of the labels, in bits, under which a leaf of many rows still votes by its nearest rows.
    n_neighbors : int, default=4
        Number of nearest rows that vote.
    window : int, default=170
        Number of rows among which a leaf looks for the nearest.
    n_models : int, default=10
        Number of logistic regressions for each label.
    learning_rate : float, default=0.3
        Step of the gradient descent of the regressions; that of their intercepts is 0.01.
    poisson_rate : float, default=1.0
        Mean of the Poisson distribution of the weights of rows; 0 leaves all weights at 1.
    max_bytes : int, default=524288000
        Bound of the memory of the tree. Once it is reached, leaves do not split and branches get no alternates, until
        others are replaced or pruned.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights of rows, and of the bags.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers.

    Attributes
    ----------
    tree_ : AdaptiveTree
        The tree, in flat arrays.
    n_splits_, n_switched_, n_pruned_ : int
        Number of leaves that were split, of alternates that replaced their branch, and of those that were dropped.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of entropy by the splits, summed over the labels, without alternates.

    See Also
    --------
    MultiLabelHoeffdingTreeClassifier : a tree with one classifier for each label in its leaves, which does not adapt.

    Notes
    -----
    Defaults are those of the code of the authors, which differ from its README (``delta=1e-5``,
    ``drift_window_threshold=50``). The tree does what that code does, also where a text would say otherwise: a draw of
    0 leaves the weight of a row at 1; ADWIN is fed the running mean of the loss; leaves with a parent share its error,
    so that the error of an alternate below the root is that of the branch above; such an alternate takes the place of
    its branch when it first splits, whether it is better or not; and a leaf that no feature can split forgets what it
    has observed. :doc:`/learners/mlhat` lists all this.

    A row of which any label is unknown (NaN) is not learnt, because its label set is unknown; `BinaryRelevance` learns
    from such rows. Masks are not used. A leaf counts up to 65,536 label sets. Numbers out of range do not vote.

    As in that code, the weight of a row multiplies the steps of its regressions, and bags draw the same for each label,
    and the same again in each leaf.

    Memory of a leaf: ``8 d (4 (L + 2) + n_models L + window)`` bytes for d features and L labels. A row costs
    ``d (window + 2 n_models L)`` multiplications for each leaf that it reaches; of zeros, only the first term.

    References
    ----------
    Esteban, Cano, Zafra and Ventura, Hoeffding adaptive trees for multi-label classification on data streams,
    Knowledge-Based Systems 304, 2024, arXiv 2410.20242.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.trees.multilabel_adaptive_tree import MultiLabelHoeffdingAdaptiveTreeClassifier
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0.5, X[:, 1] > 0.5])
    >>> tree = MultiLabelHoeffdingAdaptiveTreeClassifier(random_state=0).fit(X, Y)
    >>> tree.predict([[0.2, 0.9], [0.8, 0.1]])
    array([[0, 1],
           [1, 0]])
    """

    _traits = Traits(fails_late=False, learns_unknown=True)

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        *,
        grace_period: int = 200,
        delta: float = 1.6587784772850855e-7,
        tau: float = 0.05,
        drift_window_threshold: float = 200,
        switch_significance: float = 0.05,
        cardinality_threshold: float = 750,
        entropy_threshold: float = 0.3,
        n_neighbors: int = 4,
        window: int = 170,
        n_models: int = 10,
        learning_rate: float = 0.3,
        poisson_rate: float = 1.0,
        max_bytes: int = 500 * 2**20,
        random_state: RandomStateLike = None,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.drift_window_threshold = drift_window_threshold
        self.switch_significance = switch_significance
        self.cardinality_threshold = cardinality_threshold
        self.entropy_threshold = entropy_threshold
        self.n_neighbors = n_neighbors
        self.window = window
        self.n_models = n_models
        self.learning_rate = learning_rate
        self.poisson_rate = poisson_rate
        self.max_bytes = max_bytes
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def n_splits_(self) -> int:
        """Number of leaves that were split."""
        return self._count("n_splits")

    @property
    def n_switched_(self) -> int:
        """Number of alternates that replaced their branch."""
        return self._count("n_switched")

    @property
    def n_pruned_(self) -> int:
        """Number of alternates that were dropped."""
        return self._count("n_pruned")

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of entropy by the splits; zeros before any split."""
        with lock_of(self):
            check_is_fitted(self)
            tree, n_features = self.tree_, self.n_features_in_
            return importances([decreases(tree, int(tree.state["root"][0]), n_features, self._leaf_weights)])

    def _leaf_weights(self, i: int) -> Array:
        counts = np.maximum(self.tree_.counts[i], 0.0)
        return np.stack([counts[-1] - counts[:-2], counts[:-2]], axis=1)

    _bins = NO_BINS

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return size_bytes(self.tree_)

    def _start(self) -> None:
        self._params()
        for name in ("n_neighbors", "window", "n_models"):
            require_integer(getattr(self, name), name, 1)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        shape = Shape(self.n_features_in_, self.n_labels_, self.window, self.n_models)
        nominal = nominal_places(self, self.n_features_in_)
        self.tree_, self._bins = new_tree(shape, seed, self.max_bytes, nominal), Bins(nominal)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        self._run(X, Y, weight, np.empty((0, self.n_labels_, 2)))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        votes = np.empty((*Y.shape, 2))
        self._run(X, Y, None, votes)
        return decide(votes)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        votes, params, scratch = np.empty((X.shape[0], self.n_labels_, 2)), self._params(), self._scratch()
        X = self._bins.of(X, learning=False)
        for rows in blocks(X):
            predict(self.tree_, dense(X[rows]), params, scratch, votes[rows])
        return decide(votes)

    def _explain(self, X: Features) -> Terms:
        rows, root = self._bins.of(X, learning=False), int(self.tree_.state["root"][0])
        return explain_path(self.tree_, root, self._leaf_weights, rows, self._infer(X)[1])

    # ------------------------------------------------------------------ parts
    def _run(self, X: Features, Y: Array, weight: Array | None, votes: Array) -> None:
        params, scratch, weights = self._params(), self._scratch(), NO_WEIGHTS if weight is None else weight
        if UNKNOWN in Y:
            # without weight a row is only predicted
            weights = (Y != UNKNOWN).all(axis=1) * (1.0 if weight is None else weight)
        X = self._bins.of(X, learning=True)
        self.tree_ = self._bins.known_to(self.tree_)
        for rows in blocks(X):
            chunk = Chunk(dense(X[rows]), Y[rows], weights[rows])
            self.tree_ = learn(self.tree_, chunk, params, scratch, votes[rows])

    def _params(self) -> AdaptiveParams:
        check_growth(self)
        for name in ("drift_window_threshold", "cardinality_threshold", "entropy_threshold", "poisson_rate"):
            check_at_least(getattr(self, name), name, 0)
        check_share(self.switch_significance, "switch_significance")
        if not isinstance(self.learning_rate, NUMBERS) or not self.learning_rate > 0:
            raise ValueError(f"learning_rate must be greater than 0. Got {self.learning_rate!r} instead.")
        return AdaptiveParams(
            float(self.grace_period),
            float(self.delta),
            float(self.tau),
            float(self.drift_window_threshold),
            float(self.switch_significance),
            math.exp(-self.poisson_rate),
            float(self.max_bytes),
            LeafParams(
                float(self.cardinality_threshold),
                float(self.entropy_threshold),
                float(self.learning_rate),
                INTERCEPT_RATE,
            ),
        )

    def _scratch(self) -> Scratch:
        """Make room for the work on a row, as wide as the tree was made."""
        n_labels, n_coefs = self.n_labels_, self.tree_.coefs.shape[2]
        n_near = require_integer(self.n_neighbors, "n_neighbors", 1)
        return Scratch(
            votes=np.empty((N_KEPT, n_labels, 2)),
            owners=np.zeros(N_KEPT + 1, np.int64),
            logits=np.empty(n_coefs),
            filled=np.zeros(self.n_features_in_ + 1, np.int64),
            distances=np.empty(n_near + 1),
            places=np.zeros(n_near + 1, np.int64),
            repeats=np.zeros(n_coefs // n_labels, np.int64),
            sides=np.empty((2, n_labels + 2)),
        )

    def _count(self, name: str) -> int:
        with lock_of(self):
            check_is_fitted(self)
            return int(self.tree_.state[name][0])
