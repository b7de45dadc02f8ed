"""One adaptive random forest for all labels: every tree predicts all labels from random features of its own."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from estimators._kernels.adwin import CLOCK, detect_any_change, new_windows
from estimators._typing import Array
from estimators.contract.batching import dense
from estimators.contract.explanations import Terms
from estimators.contract.validation import Features
from estimators.trees._explanations import explain_label_trees
from estimators.trees._forest_bank import BLOCK, run_tasks
from estimators.trees._importances import decreases
from estimators.trees._kernels.forest import MEMBER, ForestParams
from estimators.trees._kernels.hoeffding import SKIP, TreeParams
from estimators.trees._kernels.multilabel_arrays import MultilabelTree, new_tree, size_bytes
from estimators.trees._kernels.multilabel_learning import MultilabelChunk, learn, predict
from estimators.trees._tree_bank import NO_WEIGHTS

WARNING, DRIFT = 0, 1


class SubspaceTree(NamedTuple):
    """A tree and the features that it uses; None: all."""

    features: Array | None
    tree: MultilabelTree

    def predict(self, X: Array, votes: Array) -> None:
        """Write the votes (n_rows, n_labels, 2) for each row."""
        predict(self.tree, self._select(X), votes)

    def learn(self, chunk: MultilabelChunk, params: TreeParams, votes: Array) -> Self:
        """Write the votes for each row, unless `votes` has no rows, then learn it; return the new tree."""
        return self._replace(tree=learn(self.tree, chunk._replace(X=self._select(chunk.X)), params, votes))

    def _select(self, X: Array) -> Array:
        return X if self.features is None else np.ascontiguousarray(X[:, self.features])


class MultilabelMember:
    """A tree of all labels that bags rows, monitors its errors, and is replaced when these change.

    The two `seeds`, of bagging and of the drawn features, must not depend on each other. Under `width` None, a tree
    observes all features.
    """

    def __init__(self, n_labels: int, n_features: int, width: int | None, params: ForestParams, seeds: Array) -> None:
        self.n_labels, self.n_features, self.width, self.params = n_labels, n_features, width, params
        self.bagging, self.drawing = (np.random.RandomState(seed) for seed in seeds)
        self.windows = new_windows(2)
        self.counters = np.zeros(1, MEMBER)
        self.foreground = self._new_tree()
        self.background: SubspaceTree | None = None

    def predict(self, X: Array) -> Array:
        """Return weighted votes (n_rows, n_labels, 2)."""
        votes = np.empty((len(X), self.n_labels, 2))
        self.foreground.predict(X, votes)
        return votes * self.accuracy

    @property
    def accuracy(self) -> float:
        """Weight of its votes: the share of labels that it predicted right."""
        return float(self._accuracy_weights(np.zeros(0))[0])

    def learn(self, chunk: MultilabelChunk) -> Array:
        """Return weighted votes (n_rows, n_labels, 2) for each row before learning it."""
        weights = chunk.weights if len(chunk.weights) else np.ones(len(chunk.X))
        times = np.zeros(len(weights))
        times[weights > 0] = self._draw_times(int((weights > 0).sum()))
        votes = np.empty((len(weights), self.n_labels, 2))
        for rows in self._pieces(times):
            piece = MultilabelChunk(chunk.X[rows], chunk.codes[rows], weights[rows] * times[rows])
            self._learn_piece(piece, weights[rows] > 0, votes[rows])
        return votes

    @property
    def size_bytes(self) -> int:
        """Size of the arrays."""
        trees = sum(size_bytes(part.tree) for part in (self.foreground, self.background) if part is not None)
        return trees + sum(array.nbytes for array in self.windows) + int(self.counters.nbytes)

    # ------------------------------------------------------------------ parts
    def _new_tree(self) -> SubspaceTree:
        if self.width is None:
            return SubspaceTree(None, new_tree(self.n_features, self.n_labels))
        drawn = np.sort(self.drawing.choice(self.n_features, self.width, replace=False))
        return SubspaceTree(drawn, new_tree(self.width, self.n_labels))

    def _draw_times(self, n: int) -> Array:
        bagging = self.params.bagging
        return np.searchsorted(bagging, self.bagging.random_sample(n), side="right") if len(bagging) else np.ones(n)

    def _pieces(self, times: Array) -> list[slice]:
        """Cut rows where the windows are checked: in between, no tree is started or replaced."""
        ticks = int(self.windows.heads["n_ticks"].max()) + np.cumsum(times > 0)
        ends = np.flatnonzero((ticks % CLOCK == 0) & (times > 0)) + 1
        edges = [0, *ends.tolist(), len(times)]
        return [slice(a, b) for a, b in pairwise(edges) if a < b]

    def _learn_piece(self, piece: MultilabelChunk, learning: Array, votes: Array) -> None:
        self.foreground = self.foreground.learn(piece, self.params.tree, votes)
        if self.background is not None:
            self.background = self.background.learn(piece, self.params.tree, votes[:0])
        known = piece.codes != SKIP
        hits = ((votes[:, :, 1] > votes[:, :, 0]) == piece.codes) & known
        right = hits.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        accuracy_weights = self._accuracy_weights(right[learning])
        # a row of weight 0 is predicted with the accuracy before the next row that counts
        votes *= accuracy_weights[np.cumsum(learning) - learning, np.newaxis, np.newaxis]
        self.counters["n_tried"] += learning.sum()
        self.counters["n_right"] = np.cumsum([self.counters["n_right"][0], *right[learning]])[-1]
        self._monitor(1.0 - right[piece.weights > 0])

    def _accuracy_weights(self, right: Array) -> Array:
        """Return the accuracy of the member before each row and after the last, given how right it was on each."""
        total = np.cumsum([self.counters["n_right"][0], *right])
        tried = self.counters["n_tried"][0] + np.arange(len(total))
        return np.divide(total, tried, out=np.ones(len(total)), where=total > 0)

    def _monitor(self, errors: Array) -> None:
        """Start a background tree at a warning; at a drift, replace the foreground tree by it or by an empty tree."""
        params = self.params
        if params.warning > 0 and detect_any_change(self.windows, WARNING, errors, params.warning):
            self.counters["n_warnings"] += 1
            self.background = self._new_tree()
        if params.drift > 0 and detect_any_change(self.windows, DRIFT, errors, params.drift):
            self.counters["n_drifts"] += 1
            self.foreground, self.background = self._new_tree() if self.background is None else self.background, None
            self.counters["n_right"] = self.counters["n_tried"] = 0
            self.windows = new_windows(2)


class MultilabelForest:
    """One forest for all labels, with the interface of a `ForestBank`.

    `shape` is (n_labels, n_members, n_features). Results do not depend on `n_threads`.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        width: int | None,
        params: ForestParams,
        rng: np.random.RandomState,
        *,
        n_threads: int = 1,
    ) -> None:
        self.n_targets, self.n_models, n_features = shape
        self.n_threads = n_threads
        seeds = rng.randint(np.iinfo(np.int32).max, size=(self.n_models, 2))
        self.trees = [MultilabelMember(self.n_targets, n_features, width, params, own) for own in seeds]

    def learn(self, X: Features, codes: Array, weight: Array | None = None) -> Array:
        """Return the votes (n_rows, n_labels, 2) for each row before learning it; codes are 0, 1 or `SKIP`."""
        weights = NO_WEIGHTS if weight is None else weight
        return self._run(X, lambda m, rows, block: m.learn(MultilabelChunk(block, codes[rows], weights[rows])))

    def predict(self, X: Features) -> Array:
        """Return the votes (n_rows, n_labels, 2) for each row."""
        return self._run(X, lambda m, _, block: m.predict(block))

    def explain(self, X: Features) -> Terms:
        """Return the terms of the probabilities of labels."""
        weights = np.array([member.accuracy for member in self.trees])
        trees = [(member.foreground.tree, member.foreground.features) for member in self.trees]
        return explain_label_trees(trees, weights, X, self.predict(X))

    @property
    def members(self) -> Array:
        """Counters of each member, of shape (1, n_models)."""
        return np.concatenate([member.counters for member in self.trees])[np.newaxis]

    def importances(self) -> Iterator[Array]:
        """Return the decrease of entropy by the splits of each feature, for the tree of each member that votes."""
        for features, tree in (member.foreground for member in self.trees):
            found = np.zeros(self.trees[0].n_features)
            own = slice(None) if features is None else features
            found[own] = decreases(tree, 0, len(found[own]), tree.weights.__getitem__)
            yield found

    @property
    def size_bytes(self) -> int:
        """Size of all arrays."""
        return sum(member.size_bytes for member in self.trees)

    def _run(self, X: Features, work: Callable[[MultilabelMember, slice, Array], Array]) -> Array:
        summed = np.empty((X.shape[0], self.n_targets, 2))
        with nullcontext() if self.n_threads == 1 else ThreadPoolExecutor(self.n_threads) as pool:
            for start in range(0, X.shape[0], BLOCK):
                rows = slice(start, min(start + BLOCK, X.shape[0]))
                block = dense(X[rows])
                # summed in order, so that the number of threads does not change the bits
                summed[rows] = sum(run_tasks([partial(work, member, rows, block) for member in self.trees], pool))
        return summed
