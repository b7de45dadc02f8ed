"""The Hoeffding tree: a decision tree that grows from a stream and splits a leaf once it has learnt enough rows."""

from typing import Literal

from numpy.random import RandomState

from estimators.contract.categories import CategoricalFeatures, nominal_places
from estimators.trees._sparse_bank import SparseTreeBank
from estimators.trees._tree_bank import TreeBank, check_tree_params
from estimators.trees._tree_classifier import TreeClassifier
from metrics.validation import require_choice

BANKS = {"one-by-one": TreeBank, "together": SparseTreeBank}


class HoeffdingTreeClassifier(TreeClassifier):
    """Hoeffding tree that learns one class for each row, or one such tree for each label.

    A leaf describes each class by a Gaussian for each feature. Once in `grace_period` rows it compares the features by
    the information gain of their best split, and splits if the best feature beats the next by more than Hoeffding's
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
        Bound of the memory of one tree. Once it is reached, the leaves with the lightest minorities stop observing:
        they go on counting classes, but do not split until they are among the heavier ones again.
    zeros : {'one-by-one', 'together'}, default='one-by-one'
        How a leaf learns the features that are 0 in a row, dense or CSR. 'one-by-one': like other values, so that a row
        costs all features. 'together': when the moments of a feature are needed, so that a row costs its values that
        are not 0, which pays for wide tables with few of them.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers.

    Attributes
    ----------
    bank_ : TreeBank
        The trees, in flat arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of entropy by the splits, mean over the trees that have any.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.

    See Also
    --------
    BinaryRelevance : one tree for each label, trained in parallel.

    Notes
    -----
    The decisions are those of ``HoeffdingTreeClassifier`` in River 0.26 with its defaults (Gaussian observers with ten
    thresholds, information gain, leaves that predict by majority or by naive Bayes, whichever was right more often
    there): features, thresholds, class weights and counts of right guesses are the same in every node, to the last bit.
    Probabilities differ from River's by about 1e-14, because the logarithms of variances are taken of products, those
    of weights separately, and squares are summed in four running sums. Memory is counted differently from River, which
    first checks it after a million rows; a tree that never reaches its limit is not affected.

    With `categorical_features` they are those of River on words in these features, with three exceptions. A feature
    that has one value only in a leaf is not split; River makes a branch with one child where nothing else can be split.
    A leaf that a new value gets is looked at like others, for depth and for a split. Where several tests of one feature
    gain the same, River takes one of its own. The first 255 values of a feature are kept apart, later ones together.
    Room for values grows as they come: close to `max_bytes`, which leaves observe depends on how a stream is cut.

    With ``zeros="together"`` moments, and so votes, are the same up to rounding; only where the two sides of a decision
    are equal but for rounding may a leaf split a row earlier or later, or guess another class. What is used never
    depends on whether rows are dense or CSR.

    As in River, naive Bayes gives a class whose weight in a leaf is zero a prior probability of one.

    References
    ----------
    Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001.
    Domingos and Hulten, Mining high-speed data streams, KDD 2000 (memory).

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.trees.hoeffding import HoeffdingTreeClassifier
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> y = np.where(X[:, 0] > 0.5, "right", "left")
    >>> tree = HoeffdingTreeClassifier(delta=1e-3).fit(X, y)
    >>> tree.predict([[0.2, 0.9], [0.8, 0.1]])
    array(['left', 'right'], dtype='<U5')
    """

    def __init__(
        self,
        *,
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        max_depth: int | None = None,
        max_bytes: int = 100 * 2**20,
        zeros: Literal["one-by-one", "together"] = "one-by-one",
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.max_depth = max_depth
        self.max_bytes = max_bytes
        self.zeros = zeros
        self.categorical_features = categorical_features

    def _splits_categories(self) -> bool:
        return self.zeros == "one-by-one"

    def _new_bank(
        self,
        n_trees: int,
        n_features: int,
        n_classes: int,
        *,
        n_groups: int = 1,
        rng: RandomState | None = None,  # noqa: ARG002
    ) -> TreeBank:
        require_choice(self.zeros, "zeros", tuple(BANKS))
        nominal = nominal_places(self, n_features)
        if self.zeros == "together" and len(nominal):
            raise ValueError("zeros must be 'one-by-one' with categorical_features. Got 'together' instead.")
        bank = BANKS[self.zeros]
        return bank(n_trees, n_features, n_classes, check_tree_params(self), n_groups=n_groups, nominal=nominal)
