"""A decision tree whose splits follow the preferences of a user for each class."""

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from estimators._typing import Array, MatrixLike, RandomStateLike, RowValues
from estimators.contract.categories import CategoricalFeatures, Nominal, check_nominal, nominal_places, require_codes
from estimators.contract.failed_calls import unchanged_on_error
from estimators.contract.locks import Locked, lock_of
from estimators.contract.targets import ClassTarget
from estimators.contract.validation import as_mixed, check_sample_weight, errors_in_one_line, require_a_weight
from estimators.pragma._kernels.batch_tree import ENTROPY, GINI, PRAGMA, Growth, grow_tree
from estimators.pragma._preferences import Pairs, Preferences, Weights
from estimators.trees._importances import BinaryTree, decreases, entropy, gini, importances
from estimators.trees._kernels.categories import marks
from metrics.validation import require_choice, require_integer, unmasked

CRITERIA = {"gini": GINI, "entropy": ENTROPY, "pragma": PRAGMA}


class PragmaTreeClassifier(Locked, ClassifierMixin, BaseEstimator):
    """Grow a decision tree by splits that make PRAGMA low, or by impurity, to compare.

    Parameters
    ----------
    criterion : {'pragma', 'gini', 'entropy'}, default='pragma'
        Criterion that a split minimises. 'pragma': the expected PRAGMA of the rows of a node if each side predicts
        classes at random, in proportion to their rows there, where a row counts by the importance of its class over the
        number of rows that the class has in the node. 'gini' and 'entropy': as in scikit-learn's
        `DecisionTreeClassifier`.
    max_depth : int, optional
        Number of splits above the deepest leaf; None: no limit.
    min_samples_split : int, default=2
        Rows that a node must have to be split.
    min_samples_leaf : int, default=1
        Rows that each side of a split must have.
    max_features : int, float, {'sqrt', 'log2'} or None, default=None
        Number of features, drawn again for every node, among which its split is searched; all others if those drawn are
        constant there. A float is a share of all features; None: all.
    importance : float or mapping, default=1.0
        Weight of every class in PRAGMA, or of each one; greater than 0.
    compromise : (float, float) or mapping, default=(0.5, 0.5)
        (x, y): to reach a recall of 1 a precision of x is accepted, to reach a precision of 1 a recall of y. For every
        class, or for each one; both in [0, 1).
    local : callable, optional
        Loss of a class from its (recall, precision), in place of the plane that `compromise` defines, as in
        `metrics.pragma`. It is called for every threshold that is tried, which takes about a microsecond each.
    random_state : int, RandomState or None, default=None
        Randomness of the features drawn.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes.
    n_features_in_ : int
        Number of features.
    tree_ : Nodes
        The tree, in flat arrays that are named as scikit-learn's are: feature, threshold, children_left and
        children_right (-1: leaf), value (the shares of the classes) and weighted_n_node_samples. At a categorical
        feature, rows whose code is the threshold go left.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of entropy by the splits for 'entropy', and of Gini impurity otherwise.

    See Also
    --------
    PragmaForestClassifier : A forest, of such trees too, whose votes are weighted for PRAGMA.

    Notes
    -----
    A row is assigned to the most frequent class of its leaf, the first one on a tie. Of equally good splits the first
    is taken, where scikit-learn draws one. Features are compared as float32, as there.

    A categorical feature is split by one value against the rest, in one pass over the rows of the node, whatever the
    order of the codes. Values that were not seen in `fit` go with the rest. Codes must be below 2**24.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from estimators.pragma.tree import PragmaTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = PragmaTreeClassifier(max_depth=2).fit(X, y)
    >>> tree.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    """

    _nominal: Nominal | None = None
    categorical_features: CategoricalFeatures = None  # in older pickles

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        criterion: Literal["pragma", "gini", "entropy"] = "pragma",
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_features: float | str | None = None,
        importance: Weights = 1.0,
        compromise: Pairs = (0.5, 0.5),
        local: Callable[[float, float], float] | None = None,
        random_state: RandomStateLike = None,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.importance = importance
        self.compromise = compromise
        self.local = local
        self.random_state = random_state
        self.categorical_features = categorical_features

    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: RowValues = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, finite.
        y : array-like of shape (n_samples,)
            Classes, at least two.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, at least 0. A row of weight 2 counts like the same row twice, except for
            `min_samples_split` and `min_samples_leaf`, which count rows; of a row of weight 0 only the class is read.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.
        """
        with unchanged_on_error(self):
            self._nominal = None
            X = check_nominal(self, X, first=True)
            with errors_in_one_line():
                features, classes = validate_data(self, as_mixed(X), unmasked(y), dtype=np.float32, order="C")
            require_codes(self, features, first=True)
            check_classification_targets(classes)
            target = ClassTarget(np.unique(classes))
            if len(target.classes) < 2:
                raise ValueError(f"y must hold at least two classes. Got one class, {target.classes[0]!r}, instead.")
            preferences = Preferences.from_options(
                self.importance, self.compromise, target.classes.tolist(), local=self.local
            )
            growth = self._growth(preferences, features.shape[1])
            seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            weights = check_sample_weight(sample_weight, features)
            require_a_weight(weights)
            weights = np.ones(len(features)) if weights is None else weights
            rows = np.flatnonzero(weights)
            self.classes_ = target.classes
            with preferences.surface.raising():
                self.tree_ = grow_tree(
                    features[rows], target.codes(classes)[rows], weights[rows], growth, np.uint64(seed)
                )
        return self

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the shares of the classes among the rows of the leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Shares that sum to 1.
        """
        with lock_of(self):
            leaves = self.apply(X)
            return self.tree_.value[leaves, 0]

    def predict(self, X: MatrixLike) -> Array:
        """Return the most frequent class of the leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of `classes_`.
        """
        with lock_of(self):
            best = self.predict_proba(X).argmax(axis=1)
            return self.classes_[best]

    def apply(self, X: MatrixLike) -> Array:
        """Return the leaf that each row falls into.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positions in the arrays of `tree_`.
        """
        with lock_of(self):
            check_is_fitted(self)
            X = X if self._nominal is None else check_nominal(self, X, first=False, learning=False)
            with errors_in_one_line():
                features = validate_data(self, as_mixed(X), reset=False, dtype=np.float32, order="C")
            require_codes(self, features, first=False)
            return self.tree_.apply(features)

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of impurity by the splits; zeros without a split."""
        with lock_of(self):
            check_is_fitted(self)
            tree, impurity = self.tree_, entropy if self.criterion == "entropy" else gini
            links = tree.feature, tree.children_left, tree.children_right
            nodes = np.rec.fromarrays(links, dtype=[("feature", "i8"), ("left", "i8"), ("right", "i8")])
            weights = tree.value[:, 0] * tree.weighted_n_node_samples[:, np.newaxis]
            return importances([decreases(BinaryTree(nodes), 0, self.n_features_in_, weights.__getitem__, impurity)])

    def _growth(self, preferences: Preferences, n_features: int) -> Growth:
        require_choice(self.criterion, "criterion", tuple(CRITERIA))
        return Growth(
            CRITERIA[self.criterion],
            preferences.importance / preferences.importance.sum(),
            preferences.alpha,
            preferences.beta,
            preferences.surface.address,
            np.iinfo(np.int64).max if self.max_depth is None else require_integer(self.max_depth, "max_depth", 1),
            require_integer(self.min_samples_split, "min_samples_split", 2),
            require_integer(self.min_samples_leaf, "min_samples_leaf", 1),
            _n_drawn(self.max_features, n_features),
            marks(n_features, nominal_places(self, n_features)),
        )


def _n_drawn(max_features: Any, n_features: int) -> int:
    match max_features:
        case None:
            return n_features
        case "sqrt" | "log2":
            return max(1, int(np.sqrt(n_features) if max_features == "sqrt" else np.log2(n_features)))
        case float() | np.floating() if 0 < max_features <= 1:
            return max(1, int(max_features * n_features))
        case int() | np.integer() if max_features >= 1 and not isinstance(max_features, bool):
            return int(max_features)
    raise ValueError(
        "max_features must be None, 'sqrt', 'log2', an integer of at least 1 or a number in (0, 1]. "
        f"Got {max_features!r} instead."
    )
