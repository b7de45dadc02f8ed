"""A forest on a window of rows, of which a tree at a time is grown again."""

from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.batching import blocks, dense
from estimators.contract.categories import CategoricalFeatures, nominal_places
from estimators.contract.explanations import Terms
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.trees._explanations import with_rest
from estimators.trees._kernels import rolling
from estimators.trees._kernels.categories import marks
from estimators.trees._kernels.rolling import Growth, RollingForest
from metrics.validation import require_integer

# Room of a new forest, in rows; it grows as rows come.
_FIRST_ROOM = 64
# Most values of the window, and of the trees.
_MOST_VALUES = 2**24
# Nodes of a tree, at least, however many labels there are.
_FEWEST_NODES = 15
# Features that a split is chosen from, at least.
_FEWEST_FEATURES = 10


class RollingForestClassifier(StreamClassifier):
    """A random forest that forgets: trees of all labels are grown on the latest rows, one after the other.

    A forest that is fitted to the latest rows again and again follows any drift, and spends most of its time on trees
    that differ little from those before. Here each tree is grown once, at a time of its own, and replaces the oldest.

    Parameters
    ----------
    n_trees : int, default=50
        Number of trees.
    window : int, default=2000
        Rows that a tree is grown on, the latest ones, and until another replaces it.
    max_features : int, optional
        Features that a split is chosen from. None: the square root of their number, and at least 10.
    min_samples_leaf : int, default=2
        Rows in a leaf, at least.
    random_state : int, RandomState instance or None, default=None
        Seed of the features, thresholds and values that are tried.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.
    categorical_features : list of int or str, mask, mapping or 'from_dtype', optional
        Features that hold categories, as codes 0, 1, ...: their positions, their names in a data frame, a value for
        each feature, or a mapping of positions or names to numbers of values, which codes must then be below.
        'from_dtype': the categories of a data frame. Words of a data frame get their codes here. None: all features
        are numbers.

    Attributes
    ----------
    n_rows_ : int
        Rows learnt.

    Notes
    -----
    A tree is grown on all rows of the window, level by level. A node is split where the sum, over its labels, of
    squared deviations from their mean falls most. For each feature that is tried, thresholds are up to seven equally
    far apart, whose start is drawn, as in extremely randomised trees: no feature is sorted. Of more than 16 labels that
    vary in a node, 16 are drawn. A node starts with the shares of labels in its parent, which count as three rows, and
    the root with 1/2.

    A categorical feature is split by one value against the rest. Seven values are tried, or all that the rows of the
    node have: rows are drawn one after the other, so that frequent values come first. New values go with the rest.

    The probability of a label is the mean over the trees of its share in the row's leaf. A tree weighs exp(-loss), its
    loss being the sum of the mean recent squared errors, which fade by 2 % a row: after a drift, trees grown since
    count. A new tree starts with the least loss.

    Labels outside the mask and unknown labels (NaN) do not count. All is computed row by row, so that cuts into chunks
    do not matter. In all rows of a window, each tree is grown once. Before the window is full, trees are grown more
    often, on fewer rows, which costs as much.

    The window holds at most 16.8 million values: with more than 8,000 features it is shorter. So do the trees: with
    more than 160 labels, they have fewer leaves.

    References
    ----------
    Geurts, Ernst, Wehenkel, "Extremely randomized trees", Machine Learning 63(1), 2006.
    Kocev, Vens, Struyf, Džeroski, "Tree ensembles for predicting structured outputs", Pattern Recognition 46(3), 2013
    (trees of all labels).
    Wang, Fan, Yu, Han, "Mining concept-drifting data streams using ensemble classifiers", KDD 2003 (weights by recent
    errors).

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import RollingForestClassifier
    >>> X = np.random.default_rng(0).random((2000, 3))
    >>> Y = X > [[0.3, 0.6, 0.9]]
    >>> Y[1000:, 0] ^= True
    >>> Y_pred, _ = RollingForestClassifier(window=500, random_state=0).predict_then_fit(X, Y)
    >>> [float((Y_pred[i : i + 100] == Y[i : i + 100]).mean().round(2)) for i in (900, 1000, 1900)]
    [1.0, 0.67, 1.0]
    """

    _traits = Traits(fails_late=False)

    def __init__(
        self,
        n_trees: int = 50,
        *,
        window: int = 2000,
        max_features: int | None = None,
        min_samples_leaf: int = 2,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.n_trees = n_trees
        self.window = window
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.on_new_labels = on_new_labels
        self.categorical_features = categorical_features

    def __setstate__(self, state: dict[str, object]) -> None:
        """Copy arrays: those loaded as a read-only map of a file cannot be updated in place."""
        if isinstance(forest := state.get("_forest"), RollingForest):
            state = state | {"_forest": RollingForest(*(np.array(part) for part in forest))}
        super().__setstate__(state)

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: yes."""
        return True

    @property
    def n_rows_(self) -> int:
        """Rows learnt."""
        return int(self._forest.counts[0])

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return sum(part.nbytes for part in self._forest)

    def _start(self) -> None:
        for name in ("n_trees", "window", "min_samples_leaf"):
            require_integer(getattr(self, name), name, minimum=1)
        if self.max_features is not None:
            require_integer(self.max_features, "max_features", minimum=1)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        n_trees, room = int(self.n_trees), min(_FIRST_ROOM, self._rows_in_window())
        labels = np.zeros((room, self.n_labels_), dtype=np.uint8)
        nodes, trees = np.zeros((n_trees, 1, 2), dtype=np.int32), np.zeros((n_trees, 1))
        self._forest = RollingForest(
            np.zeros((self.n_features_in_, room)),
            labels,
            np.zeros(room),
            nodes,
            trees,
            np.zeros((n_trees, 1, self.n_labels_)),
            np.zeros(n_trees, dtype=np.int64),
            np.zeros(n_trees),
            np.zeros(2, dtype=np.int64),
            np.array([seed], dtype=np.uint64),
            marks(self.n_features_in_, nominal_places(self, self.n_features_in_)),
        )

    def _grow(self, n_before: int) -> None:
        new = (0, self.n_labels_ - n_before)
        forest = self._forest
        self._forest = forest._replace(
            codes=np.pad(forest.codes, [(0, 0), new], constant_values=UNKNOWN),
            shares=np.pad(forest.shares, [(0, 0), (0, 0), new], constant_values=0.5),
        )

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        if weight is not None:
            kept = weight > 0
            X, Y, mask, weight = X[kept], Y[kept], None if mask is None else mask[kept], weight[kept]
        self._run(X, Y, mask, weight, np.empty((0, self.n_labels_)))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        proba = np.empty(Y.shape)
        self._run(X, Y, mask, None, proba)
        return proba >= 0.5, proba

    def _predict_proba(self, X: Features) -> Array:
        proba, votes = np.empty((X.shape[0], self.n_labels_)), np.empty(int(self.n_trees))
        for rows in blocks(X):
            rolling.predict(self._forest, dense(X[rows]), votes, proba[rows])
        return proba

    def _explain(self, X: Features) -> Terms:
        base, votes = np.zeros(self.n_labels_), np.empty(int(self.n_trees))
        added = np.zeros((X.shape[0], self.n_labels_, self.n_features_in_))
        for rows in blocks(X):
            rolling.explain(self._forest, dense(X[rows]), votes, base, added[rows])
        return with_rest(base, added, self._predict_proba(X))

    # ------------------------------------------------------------------ parts
    def _trees(self) -> Iterator[tuple[float, Array, Array, Array, Array]]:
        """Return the weight of each tree, and of its nodes: feature or -1, left child, threshold, and shares."""
        forest, votes = self._forest, np.empty(int(self.n_trees))
        rolling.predict(forest, np.empty((0, self.n_features_in_)), votes, np.empty((0, self.n_labels_)))
        for vote, nodes, *others in zip(votes.tolist(), forest.nodes, forest.thresholds, forest.shares, strict=True):
            feature, left = nodes[:, rolling.FEATURE], nodes[:, rolling.LEFT]
            # nodes behind the last one are those of a larger tree before
            n_nodes, node = 1, 0
            while node < n_nodes:
                n_nodes += 0 if feature[node] == rolling.LEAF else 2
                node += 1
            yield vote, *(part[:n_nodes] for part in (feature, left, *others))

    def _run(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, proba: Array) -> None:
        codes = np.where(True if mask is None else mask, Y, UNKNOWN).astype(np.uint8)
        weights = np.ones(len(Y)) if weight is None else weight
        window, n_features = self._rows_in_window(), self.n_features_in_
        candidates = self.max_features or max(_FEWEST_FEATURES, int(np.sqrt(n_features)))
        growth = Growth(window, min(int(candidates), n_features), int(self.min_samples_leaf))
        for rows in blocks(X):
            self._forest = self._with_room(self.n_rows_ + rows.stop - rows.start)
            block = dense(X[rows]), codes[rows], weights[rows]
            rolling.learn(self._forest, *block, growth, rolling.new_scratch(self._forest), proba[rows])

    def _with_room(self, n_rows: int) -> RollingForest:
        """Return the forest with room for so many rows, or for a window."""
        forest, window = self._forest, self._rows_in_window()
        room, n_trees = len(forest.codes), len(forest.born)
        if min(n_rows, window) > room:
            room = min(window, max(n_rows, 2 * room))
        # a tree has at most as many leaves as rows, and one node less than two for each
        n_nodes = min(2 * room, max(_FEWEST_NODES, _MOST_VALUES // (n_trees * self.n_labels_)))
        more_rows, more_nodes = room - len(forest.codes), n_nodes - forest.nodes.shape[1]
        if more_rows <= 0 and more_nodes <= 0:
            return forest
        rows, nodes = (0, more_rows), [(0, 0), (0, max(more_nodes, 0))]
        return forest._replace(
            X=np.pad(forest.X, [(0, 0), rows]),
            codes=np.pad(forest.codes, [rows, (0, 0)]),
            weights=np.pad(forest.weights, [rows]),
            nodes=np.pad(forest.nodes, [*nodes, (0, 0)]),
            thresholds=np.pad(forest.thresholds, nodes),
            shares=np.pad(forest.shares, [*nodes, (0, 0)]),
        )

    def _rows_in_window(self) -> int:
        return min(int(self.window), max(_FIRST_ROOM, _MOST_VALUES // self.n_features_in_))
