"""A random forest whose votes are weighted so that PRAGMA, the preferences of a user, is as low as possible."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, MatrixLike, RandomStateLike
from estimators.contract.categories import CategoricalFeatures, Nominal, check_coded, rule_of
from estimators.contract.failed_calls import unchanged_on_error
from estimators.contract.targets import make_target
from estimators.contract.validation import Features, is_sparse
from estimators.pragma._forest_votes import ForestVotes, LabelForestsVotes
from estimators.pragma._preferences import Floors, Pairs, Weights
from estimators.pragma._vote_search import Search
from estimators.pragma._vote_weights import shares, unvoted_classes, usable_votes, warn_of_floors, warn_of_unvoted
from estimators.pragma._weighted_votes import WeightedVotes, with_a_label
from estimators.pragma.tree import CRITERIA, PragmaTreeClassifier
from estimators.trees._importances import importances
from metrics.validation import require_choice


class PragmaForestClassifier(WeightedVotes):
    """Random forest whose votes are weighted by class, or by label, so that PRAGMA is low.

    A forest is grown once, and its trees vote. A row is assigned to the class with the greatest product of weight and
    votes. The weights are set by the user, or searched for the lowest PRAGMA on the training rows: the user states what
    recall and precision of each class are worth, and the search adapts the forest to that.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {'entropy', 'gini', 'pragma'}, default='entropy'
        Criterion that a split minimises. 'entropy' and 'gini': trees are scikit-learn's; entropy separates rows of a
        rare class a little better. 'pragma': trees are those of `PragmaTreeClassifier`, which take importance and
        compromise into account; for classes and dense X only.
    max_features, max_depth, min_samples_leaf
        As in scikit-learn's `RandomForestClassifier`; with 'pragma' or `categorical_features`, `min_samples_leaf` is a
        number of rows.
    importance : float or mapping, default=1.0
        Weight of every class in PRAGMA, or of each one (of each label, by its index); greater than 0.
    compromise : (float, float) or mapping, default=(0.5, 0.5)
        (x, y): to reach a recall of 1 a precision of x is accepted, to reach a precision of 1 a recall of y. For every
        class, or for each one; both in [0, 1).
    local : callable, optional
        Loss of a class from its (recall, precision), in place of the plane that `compromise` defines, as in
        `metrics.pragma`.
    min_recall, min_precision : float or mapping, optional
        Least recall and precision of every class, or of those that a mapping names (of labels, by their index), in
        [0, 1], on the votes that the search uses: PRAGMA is lowered among the weights that reach these floors. Where
        none are found, those that lack least are used, with a warning.
    vote_weights : array-like or mapping, optional
        Weights to use instead of searching: one a class, in the order of `classes_` or by name; for labels, the weight
        of a vote for the label relative to one for its absence. Only ratios of the weights of classes matter.
    votes : {'out_of_bag', 'in_bag'}, default='out_of_bag'
        Votes that the search uses: of the trees that were grown without the row, or of all trees. Trees of full depth
        memorise the rows they were grown from.
    shrinkage : float or None, default=30.0
        How a tree votes. A number: half by the shares of classes in the leaf, half by shares to which each step down
        the tree contributes N / (N + shrinkage) of its change, N being the number of rows above it. Leaves of one row
        then reflect their surroundings, and rows that all trees assign to one class can be distinguished. None: for one
        class, as published.
    search : {'exact', 'annealing', 'both'}, default='exact'
        'exact': along one weight after another to the best of its breakpoints, until no single weight lowers PRAGMA;
        'annealing': simulated annealing, as published; 'both': exact from where annealing ends.
    n_restarts : int, default=0
        Number of times the exact search starts again, from a random jump away from the best weights so far. For two
        classes, and for labels, the first search finds the optimum.
    n_moves : int, default=20000
        Length of the annealing.
    n_bags : int, default=10
        Number of further searches, on rows resampled class by class; the result is the geometric mean of their weights.
        With many rows, fewer searches are made, or none, to save time. 0: the weights of a single search.
    n_jobs : int, optional
        Trees grown at the same time.
    random_state : int, RandomState or None, default=None
        Randomness of forest and search. With an integer, and unless trees are those of `PragmaTreeClassifier`, the
        forest equals that of `RandomForestClassifier` with the same seed and criterion.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers. Otherwise trees are those of `PragmaTreeClassifier`, whatever the criterion, and X must be dense.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    n_features_in_ : int
        Number of features.
    forest_ : RandomForestClassifier, or BaggingClassifier of PragmaTreeClassifier, or list of these
        The forest, grown from positions in `classes_`. If labels of some rows are unknown, or features categorical,
        there is one forest for each label; None for a label that is never known.
    vote_weights_ : ndarray of shape (n_classes,) or (n_labels,)
        Weights of votes. Those searched for classes have product 1.
    pragma_ : float
        PRAGMA on the votes that the search used; NaN if there were none.
    shortfall_ : float
        Sum of what recalls and precisions lack to their floors, where PRAGMA is measured; 0 if all are reached.
    search_trace_ : ndarray, or list of ndarray
        PRAGMA after each move of the chain, then after each line search, and finally with the weights that are used;
        for labels, one array for each label.

    See Also
    --------
    estimators.pragma.threshold.PragmaThreshold : The same search over any estimator with ``predict_proba``.
    metrics.pragma : The measure.

    Notes
    -----
    The method of the paper is ``criterion="gini", votes="in_bag", shrinkage=None, search="annealing", n_bags=0``.

    One forest for all labels needs them all. Where a label of some row is unknown (NaN), each label therefore gets a
    forest of its own, grown from the rows where it is known, and its weight is searched on these rows. So does each
    label where features are categorical: the trees that split them are of one target.

    With more than three classes, the search uses the three greatest votes of a row, to save time.

    There is no ``sample_weight``: votes are counted, and a forest's bootstrap does not make a row of weight two equal
    to the same row twice, which scikit-learn requires of ``fit``.

    References
    ----------
    A. Agarwal, Y. S. Tan, O. Ronen, C. Singh, B. Yu, "Hierarchical Shrinkage: improving the accuracy and
    interpretability of tree-based methods", ICML 2022.

    J. Thomas, P.-E. Jouve, N. Nicoloyannis, "Mesure non symétrique pour l'évaluation de modèles, utilisation pour les
    jeux de données déséquilibrés", EGC 2007.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import recall_score
    >>> from estimators.pragma.forest import PragmaForestClassifier
    >>> X, y = make_classification(2000, weights=[0.95], class_sep=0.5, random_state=0)
    >>> wanted = {0: (0.5, 0.5), 1: (0.1, 0.9)}
    >>> forest = PragmaForestClassifier(20, importance={0: 1, 1: 10}, compromise=wanted, random_state=0)
    >>> forest = forest.fit(X[:1000], y[:1000])
    >>> plain = forest.forest_.predict(X[1000:])
    >>> bool(recall_score(y[1000:], forest.predict(X[1000:])) > recall_score(y[1000:], plain))
    True
    """

    _nominal: Nominal | None = None
    categorical_features: CategoricalFeatures = None  # in older pickles

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["entropy", "gini", "pragma"] = "entropy",
        max_features: float | str | None = "sqrt",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        importance: Weights = 1.0,
        compromise: Pairs = (0.5, 0.5),
        local: Callable[[float, float], float] | None = None,
        min_recall: Floors = None,
        min_precision: Floors = None,
        vote_weights: npt.ArrayLike | Mapping[Any, float] | None = None,
        votes: Literal["out_of_bag", "in_bag"] = "out_of_bag",
        shrinkage: float | None = 30.0,
        search: Search = "exact",
        n_restarts: int = 0,
        n_moves: int = 20_000,
        n_bags: int = 10,
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.importance = importance
        self.compromise = compromise
        self.local = local
        self.min_recall = min_recall
        self.min_precision = min_precision
        self.vote_weights = vote_weights
        self.votes = votes
        self.shrinkage = shrinkage
        self.search = search
        self.n_restarts = n_restarts
        self.n_moves = n_moves
        self.n_bags = n_bags
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.categorical_features = categorical_features

    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Grow the forest, then find the weights of its votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, finite.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Classes, at least two, or 0/1 labels, NaN where a label is unknown.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.
        """
        with unchanged_on_error(self):
            X, truth = with_a_label(*self._check(X, y))
            weighting = self._weighting(self.vote_weights)
            rng = check_random_state(self.random_state)
            self.forest_ = self._grow(X, truth, rng)
            forest_votes = self._forest_votes()
            votes = forest_votes.of_all_trees(X) if self.votes == "in_bag" else forest_votes.out_of_bag(X, truth)
            unvoted = unvoted_classes(votes, truth)
            warn_of_unvoted(unvoted, self._keys(), self.votes.replace("_", "-"))
            fitted = weighting.fit(usable_votes(votes, unvoted), truth, rng)
            self._take_weights(fitted)
            kind = f"{self.votes.replace('_', '-')} votes"
            warn_of_floors(fitted.lacking, weighting.preferences.floors, self._keys(), kind)
        return self

    @property
    def feature_importances_(self) -> Array:
        """Importance of each feature in the trees, as scikit-learn computes it; weights of votes play no part.

        Of one forest for each label, it is the mean.
        """
        check_is_fitted(self)
        if isinstance(self.forest_, list):
            return np.mean([_importances(forest) for forest in self.forest_ if forest is not None], axis=0)
        return _importances(self.forest_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.criterion == "pragma":
            tags.target_tags.multi_output = tags.classifier_tags.multi_label = False
        tags.input_tags.sparse = self.criterion != "pragma" and rule_of(self) is None
        return tags

    def _check(self, X: MatrixLike, y: MatrixLike) -> tuple[Features, Array]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        require_choice(self.criterion, "criterion", tuple(CRITERIA))
        require_choice(self.votes, "votes", ("out_of_bag", "in_bag"))
        if self.shrinkage is not None:
            _check_shrinkage(self.shrinkage)
        self._nominal = None
        X = self._check_features(X, first=True)
        self._take_target(make_target(y))
        truth = self._encode(y)
        if X.shape[0] != len(truth):
            raise ValueError(f"X and y must have the same number of rows. Got {X.shape[0]} and {len(truth)} instead.")
        return X, truth

    def _check_features(self, X: MatrixLike, *, first: bool) -> Features:
        X = check_coded(self, X, first=first, learning=first)
        if is_sparse(X) and (self.criterion == "pragma" or self._nominal is not None):
            option = "criterion='pragma'" if self.criterion == "pragma" else "categorical_features"
            raise ValueError(f"X must be dense for {option}. Got a sparse matrix instead.")
        return X

    def _grow(self, X: Features, truth: Array, rng: np.random.RandomState) -> Any:
        if truth.ndim == 1 or (self._nominal is None and (truth != UNKNOWN).all()):
            return self._grow_one(X, truth, rng)
        known = (truth != UNKNOWN).T
        return [self._grow_one(X[rows], truth[rows, j], rng) if rows.any() else None for j, rows in enumerate(known)]

    def _grow_one(
        self, X: Features, truth: Array, rng: np.random.RandomState
    ) -> RandomForestClassifier | BaggingClassifier:
        how: dict[str, Any] = {
            "criterion": self.criterion,
            "max_features": self.max_features,
            "max_depth": self.max_depth,
            "min_samples_leaf": self.min_samples_leaf,
        }
        common: dict[str, Any] = {"n_jobs": self.n_jobs, "random_state": rng}
        # our trees need two classes; nothing is split for the one of a label that never occurs, or always does
        if self.criterion != "pragma" and (self._nominal is None or (truth == truth[0]).all()):
            forest = RandomForestClassifier(self.n_estimators, **how, **common)
            return forest.fit(X, truth.ravel() if truth.shape[1:] == (1,) else truth)
        if self.criterion == "pragma":
            if self._target.multilabel:
                raise ValueError(
                    "criterion must be 'gini' or 'entropy' for labels. Got 'pragma', for classes only, instead."
                )
            how |= {name: self._by_position(name) for name in ("importance", "compromise")} | {"local": self.local}
        places = None if self._nominal is None else self._nominal.places.tolist()
        tree = PragmaTreeClassifier(**how, categorical_features=places)
        return BaggingClassifier(tree, self.n_estimators, **common).fit(X, truth)

    def _by_position(self, option: str) -> Any:
        """Return a preference for trees, which are grown from positions of classes."""
        given = getattr(self, option)
        return dict(enumerate(given[c] for c in self._keys())) if isinstance(given, Mapping) else given

    def _shares(self, X: MatrixLike) -> Array:
        check_is_fitted(self)
        X = self._check_features(X, first=False)
        return shares(self._forest_votes().of_all_trees(X), self.vote_weights_)

    def _forest_votes(self) -> ForestVotes | LabelForestsVotes:
        if isinstance(self.forest_, list):
            return LabelForestsVotes(self.forest_, self.shrinkage)
        return ForestVotes(self.forest_, self._target.multilabel, self.shrinkage)


def _importances(forest: RandomForestClassifier | BaggingClassifier) -> Array:
    if isinstance(forest, BaggingClassifier):
        return importances(tree.feature_importances_ for tree in forest.estimators_)
    return forest.feature_importances_


def _check_shrinkage(value: object) -> None:
    if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not 0 <= value < np.inf:
        raise ValueError(f"shrinkage must be None or a finite number of at least 0. Got {value!r} instead.")
