"""The extremely fast decision tree: it splits as soon as a split helps, and revises its splits ever after."""

from numpy.random import RandomState

from estimators.contract.categories import CategoricalFeatures, nominal_places
from estimators.trees._kernels import revising
from estimators.trees._kernels.revising import RevisionParams
from estimators.trees._tree_bank import TreeBank, check_at_least, check_share, check_tree_params
from estimators.trees._tree_classifier import TreeClassifier


class ExtremelyFastDecisionTreeClassifier(TreeClassifier):
    """Extremely fast decision tree (Hoeffding anytime tree) that learns one class a row, or one such tree a label.

    A leaf is split as soon as its best split gains more than Hoeffding's bound: a Hoeffding tree waits until the best
    feature beats the next one by as much. Branches go on observing all rows that pass. Once another feature beats that
    of a branch by more than the bound, it replaces it, and new leaves take the place of what was below; if no split
    helps any more, the branch becomes a leaf.

    Parameters
    ----------
    grace_period : int, default=200
        Weight of the rows that a leaf learns between two attempts to split.
    delta : float, default=1e-7
        Probability of choosing another feature than an infinite stream would; smaller values split later.
    tau : float, default=0.05
        Bound under which the best split is taken whatever it gains, in leaves and in branches.
    max_depth : int, optional
        Largest number of splits above a leaf; None: no limit.
    max_bytes : int, default=104857600
        Bound of the memory of one tree. Branches need as much as leaves. Once it is reached, the leaves with the
        lightest minorities stop observing: they go on counting classes, but do not split until they are among the
        heavier ones again. A branch that meets a new class then is not revised any more.
    min_samples_reevaluate : int, default=20
        Weight of the rows that a branch learns after its split has changed before it is revised, at every row from
        then on, until its split changes again.
    max_share_to_split : float, default=0.99
        Share of the heaviest class above which a leaf is not split, and stops observing.
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
    HoeffdingTreeClassifier : splits once, and never revises.
    BinaryRelevance : one tree for each label, trained in parallel.

    Notes
    -----
    The decisions are those of ``ExtremelyFastDecisionTreeClassifier`` in River 0.26 with its defaults: features,
    thresholds, class weights and counts of right guesses are the same in every node, to the last bit. That includes
    what River does differently from the paper:

    - The weight since the last revision is counted from the last change of the split, so that a branch is revised at
      every row after the first `min_samples_reevaluate`.
    - Once the bound is under `tau`, the threshold of a branch whose feature is still the best moves to the best one,
      and its children are kept. What becomes of the next node on the way of the row that moved it is lost: a leaf that
      would be split there waits for another grace period.
    - A leaf of which more than `max_share_to_split` are of one class, or without any split, stops observing when it
      tries to split, and goes on when the tree changes elsewhere: never, if it is the root. Labels rarer than one
      percent at that moment are therefore predicted 0 for good, unless `max_share_to_split` is 1, as in River 0.16.

    A branch with a child for each value of a category that would test one value instead, or the other way round, stays
    as it is: River keeps children that do not fit, and may fail.

    River takes standard deviations with ``** 0.5``, which rounds otherwise than a square root for one number in 1,300.
    Where it does, weights of new leaves differ in their last bit, and splits that gain the same may be told apart.
    Memory is counted differently from River, which first checks it after a million rows; a tree that never reaches its
    limit is not affected. Probabilities differ by about 1e-14, as those of `HoeffdingTreeClassifier` do.

    References
    ----------
    Manapragada, Webb and Salehi, Extremely fast decision tree, KDD 2018, algorithms 1 to 3.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.trees.extremely_fast_tree import ExtremelyFastDecisionTreeClassifier
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> y = np.where(X[:, 0] > 0.5, "right", "left")
    >>> tree = ExtremelyFastDecisionTreeClassifier().fit(X, y)
    >>> tree.predict([[0.2, 0.9], [0.8, 0.1]])
    array(['left', 'right'], dtype='<U5')
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        *,
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        max_depth: int | None = None,
        max_bytes: int = 100 * 2**20,
        min_samples_reevaluate: int = 20,
        max_share_to_split: float = 0.99,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.max_depth = max_depth
        self.max_bytes = max_bytes
        self.min_samples_reevaluate = min_samples_reevaluate
        self.max_share_to_split = max_share_to_split
        self.categorical_features = categorical_features

    def _new_bank(
        self,
        n_trees: int,
        n_features: int,
        n_classes: int,
        *,
        n_groups: int = 1,
        rng: RandomState | None = None,  # noqa: ARG002 - these trees draw nothing
    ) -> TreeBank:
        growth = check_tree_params(self)._asdict()
        check_at_least(self.min_samples_reevaluate, "min_samples_reevaluate", 1)
        check_share(self.max_share_to_split, "max_share_to_split")
        params = RevisionParams(
            **growth,
            min_samples_reevaluate=float(self.min_samples_reevaluate),
            max_share_to_split=float(self.max_share_to_split),
        )
        nominal = nominal_places(self, n_features)
        return RevisingTreeBank(n_trees, n_features, n_classes, params, n_groups=n_groups, nominal=nominal)


class RevisingTreeBank(TreeBank):
    """Extremely fast decision trees over the same features, in groups for threads."""

    kind = TreeBank.kind._replace(learn=revising.learn)
