"""The multi-label Hoeffding tree: one tree that grows from a stream and predicts all labels in every leaf."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.batching import blocks, dense
from estimators.contract.categories import CategoricalFeatures, nominal_places
from estimators.contract.explanations import Terms
from estimators.contract.locks import lock_of
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.trees._bins import NO_BINS, Bins
from estimators.trees._explanations import explain_label_trees
from estimators.trees._graphviz import dot_of_labels
from estimators.trees._importances import decreases, importances
from estimators.trees._kernels import multilabel_learning
from estimators.trees._kernels.multilabel_arrays import new_tree, size_bytes
from estimators.trees._tree_bank import NO_WEIGHTS, check_tree_params, codes_of, decide


class MultiLabelHoeffdingTreeClassifier(StreamClassifier):
    """One Hoeffding tree for all labels, which splits by the information gain averaged over the labels.

    A leaf describes each label, present and absent, by a Gaussian for each feature, and predicts each label by majority
    or by naive Bayes, whichever was right more often there for that label. Once in `grace_period` rows it compares the
    features by the gain of their best split, and splits if the best feature beats the next by more than Hoeffding's
    bound, or if the bound is so small that the two count as equally good.

    Parameters
    ----------
    grace_period : int, default=200
        Weight of the rows that a leaf learns between two attempts to split.
    delta : float, default=1e-7
        Probability of choosing another feature than an infinite stream would; smaller values split later.
    tau : float, default=0.05
        Bound under which two features count as equally good, so that the leaf splits.
    max_depth : int, optional
        Largest number of splits above a leaf; None: no limit.
    max_bytes : int, default=104857600
        Bound of the memory of the tree. Once it is reached, the leaves in which labels vary least stop observing: they
        go on counting labels, but do not split until their labels vary more again.
    targeted : bool, default=False
        Whether the learner uses the task: labels outside ``label_mask`` learn nothing from the row. Otherwise they
        learn zeros.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers.

    Attributes
    ----------
    tree_ : MultilabelTree
        The tree, in flat arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of entropy by the splits, summed over the labels.

    See Also
    --------
    BinaryRelevance : one tree for each label.
    ISOUPTreeClassifier : one regression tree for all labels.

    Notes
    -----
    The criterion is the multi-label information gain of Clare and King, the sum over labels of the entropies of their
    two values, as in the multi-label Hoeffding trees of Read et al.; divided by the number of labels, so that `tau` and
    Hoeffding's bound mean the same whatever that number is. Read et al. put a classifier of label sets into each leaf,
    Esteban et al. classifiers chosen as the stream runs; here each label has the leaf of a `HoeffdingTreeClassifier`.
    With one label this is that tree, to the last bit, until `max_bytes` is reached.

    The weight of a leaf is the mean over the labels of the weight learnt for each; they differ where labels are masked
    or unknown (NaN). A split that sends less than one hundredth of the weight to a side is not considered. If a label
    was masked or unknown in every row of a leaf, both children inherit a share of its weights.

    References
    ----------
    Read, Bifet, Holmes and Pfahringer, Scalable and efficient multi-label classification for evolving data streams,
    Machine Learning 88, 2012.
    Clare and King, Knowledge discovery in multi-label phenotype data, PKDD 2001.
    Esteban, Cano, Zafra and Ventura, Hoeffding adaptive trees for multi-label classification on data streams,
    Knowledge-Based Systems 304, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.trees.multilabel import MultiLabelHoeffdingTreeClassifier
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0.5, X[:, 0] > 0.6])
    >>> tree = MultiLabelHoeffdingTreeClassifier(delta=1e-3).fit(X, Y)
    >>> tree.predict([[0.2, 0.9], [0.8, 0.1]])
    array([[0, 0],
           [1, 1]])
    """

    _traits = Traits(fails_late=False, learns_unknown=True)

    def __init__(
        self,
        *,
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        max_depth: int | None = None,
        max_bytes: int = 100 * 2**20,
        targeted: bool = False,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.max_depth = max_depth
        self.max_bytes = max_bytes
        self.targeted = targeted
        self.categorical_features = categorical_features

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of entropy by the splits; zeros before any split."""
        check_is_fitted(self)
        with lock_of(self):
            return importances([decreases(self.tree_, 0, self.n_features_in_, self.tree_.weights.__getitem__)])

    def to_dot(self) -> str:
        """Draw the tree in the language of Graphviz.

        Returns
        -------
        str
            A digraph; branches show their test, leaves the labels that are present in most of their rows.
        """
        with lock_of(self):
            check_is_fitted(self)
            features = getattr(self, "feature_names_in_", [f"x{f}" for f in range(self.n_features_in_)])
            labels = getattr(self._target, "names", None) or [f"y{j}" for j in range(self.n_labels_)]
            return dot_of_labels(self.tree_, list(features), labels)

    _bins = NO_BINS

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return size_bytes(self.tree_)

    def _start(self) -> None:
        check_tree_params(self)
        nominal = nominal_places(self, self.n_features_in_)
        self.tree_, self._bins = new_tree(self.n_features_in_, self.n_labels_, nominal), Bins(nominal)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self._run(X, Y, mask, weight, np.empty((0, self.n_labels_, 2)))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        votes = np.empty((*Y.shape, 2))
        self._run(X, Y, mask, None, votes)
        return decide(votes)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return decide(self._votes(X))

    def _explain(self, X: Features) -> Terms:
        return explain_label_trees([(self.tree_, None)], np.ones(1), self._bins.of(X, learning=False), self._votes(X))

    # ------------------------------------------------------------------ parts
    def _votes(self, X: Features) -> Array:
        votes = np.empty((X.shape[0], self.n_labels_, 2))
        X = self._bins.of(X, learning=False)
        for rows in blocks(X):
            multilabel_learning.predict(self.tree_, dense(X[rows]), votes[rows])
        return votes

    def _run(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, votes: Array) -> None:
        codes, params = codes_of(Y, mask), check_tree_params(self)
        weights = NO_WEIGHTS if weight is None else weight
        X = self._bins.of(X, learning=True)
        self.tree_ = self._bins.known_to(self.tree_)
        for rows in blocks(X):
            chunk = multilabel_learning.MultilabelChunk(dense(X[rows]), codes[rows], weights[rows])
            self.tree_ = multilabel_learning.learn(self.tree_, chunk, params, votes[rows])
