"""One adaptive random forest for all labels: its trees know all labels in every leaf, and see random features each."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._batching import dense
from estimators._validation import Features
from estimators.trees._forest_bank import BLOCK, NO_WEIGHTS, run
from estimators.trees._kernels.adwin import CLOCK, any_changes, open_windows
from estimators.trees._kernels.forest import MEMBER, Habits
from estimators.trees._kernels.hoeffding import SKIP
from estimators.trees._kernels.multilabel_arrays import SharedTree, plant, size_bytes
from estimators.trees._kernels.multilabel_learning import Lesson, answer, learn

Array = npt.NDArray[Any]

WARNING, DRIFT = 0, 1


class Patch(NamedTuple):
    """A tree, and the features that it sees; None: all."""

    features: Array | None
    tree: SharedTree

    def see(self, X: Array) -> Array:
        """Return the features of rows that the tree sees."""
        return X if self.features is None else np.ascontiguousarray(X[:, self.features])


class SharedMember:
    """A tree of all labels that bags rows, watches its errors, and makes way for another one when these change.

    Parameters
    ----------
    n_labels, n_features : int
        Sizes.
    width : int or None
        Number of features that a tree draws.
    habits : Habits
        How it learns.
    seeds : sequence of two int
        Randomness of bagging, and of features: what is drawn for the one must not depend on the other.
    """

    def __init__(self, n_labels: int, n_features: int, width: int | None, habits: Habits, seeds: Array) -> None:
        self.n_labels, self.n_features, self.width, self.habits = n_labels, n_features, width, habits
        self.bagging, self.drawing = (np.random.RandomState(seed) for seed in seeds)
        self.windows = open_windows(2)
        self.facts = np.zeros(1, MEMBER)
        self.front = self._plant()
        self.behind: Patch | None = None

    def answer(self, X: Array) -> Array:
        """Return weighted votes (n_rows, n_labels, 2)."""
        votes = np.empty((len(X), self.n_labels, 2))
        answer(self.front.tree, self.front.see(X), votes)
        return votes * self._trust(np.zeros(0))[0]

    def learn(self, lesson: Lesson) -> Array:
        """Return weighted votes (n_rows, n_labels, 2) for each row before learning it."""
        weights = lesson.weights if len(lesson.weights) else np.ones(len(lesson.X))
        times = np.zeros(len(weights))
        times[weights > 0] = self._draw_times(int((weights > 0).sum()))
        votes = np.empty((len(weights), self.n_labels, 2))
        for rows in self._pieces(times):
            piece = Lesson(lesson.X[rows], lesson.codes[rows], weights[rows] * times[rows])
            self._learn_piece(piece, weights[rows] > 0, votes[rows])
        return votes

    @property
    def size_bytes(self) -> int:
        """Size of the arrays."""
        trees = sum(size_bytes(patch.tree) for patch in (self.front, self.behind) if patch is not None)
        return trees + sum(array.nbytes for array in self.windows) + int(self.facts.nbytes)

    # ------------------------------------------------------------------ parts
    def _plant(self) -> Patch:
        if self.width is None:
            return Patch(None, plant(self.n_features, self.n_labels))
        drawn = np.sort(self.drawing.choice(self.n_features, self.width, replace=False))
        return Patch(drawn, plant(self.width, self.n_labels))

    def _draw_times(self, n: int) -> Array:
        bagging = self.habits.bagging
        return np.searchsorted(bagging, self.bagging.random_sample(n), side="right") if len(bagging) else np.ones(n)

    def _pieces(self, times: Array) -> list[slice]:
        """Cut rows where the windows are looked at: in between, nothing can change but what the trees know."""
        ticks = int(self.windows.heads["n_ticks"].max()) + np.cumsum(times > 0)
        ends = np.flatnonzero((ticks % CLOCK == 0) & (times > 0)) + 1
        edges = [0, *ends.tolist(), len(times)]
        return [slice(a, b) for a, b in pairwise(edges) if a < b]

    def _learn_piece(self, piece: Lesson, learning: Array, votes: Array) -> None:
        rules = self.habits.rules
        front = learn(self.front.tree, piece._replace(X=self.front.see(piece.X)), rules, votes)
        self.front = self.front._replace(tree=front)
        if self.behind is not None:
            behind = learn(self.behind.tree, piece._replace(X=self.behind.see(piece.X)), rules, votes[:0])
            self.behind = self.behind._replace(tree=behind)
        known = piece.codes != SKIP
        hits = ((votes[:, :, 1] > votes[:, :, 0]) == piece.codes) & known
        right = hits.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        trust = self._trust(right[learning])
        # a row of weight 0 is answered as the next one that counts
        votes *= trust[np.cumsum(learning) - learning, np.newaxis, np.newaxis]
        self.facts["n_tried"] += learning.sum()
        self.facts["n_right"] = np.cumsum([self.facts["n_right"][0], *right[learning]])[-1]
        self._watch(1.0 - right[piece.weights > 0])

    def _trust(self, right: Array) -> Array:
        """Return what the member is trusted before each of some rows, and after them, given how right it was."""
        total = np.cumsum([self.facts["n_right"][0], *right])
        tried = self.facts["n_tried"][0] + np.arange(len(total))
        return np.divide(total, tried, out=np.ones(len(total)), where=total > 0)

    def _watch(self, errors: Array) -> None:
        """Plant a tree in the background at a warning; at a drift, let it, or an empty one, take over."""
        habits = self.habits
        if habits.warning > 0 and any_changes(self.windows, WARNING, errors, habits.warning):
            self.facts["n_warnings"] += 1
            self.behind = self._plant()
        if habits.drift > 0 and any_changes(self.windows, DRIFT, errors, habits.drift):
            self.facts["n_drifts"] += 1
            self.front, self.behind = self._plant() if self.behind is None else self.behind, None
            self.facts["n_right"] = self.facts["n_tried"] = 0
            self.windows = open_windows(2)


class SharedForest:
    """A forest for all labels together, which answers like a `ForestBank`.

    Parameters
    ----------
    shape : (int, int, int)
        Numbers of labels, members and features.
    width : int or None
        Number of features that a tree draws; None: all.
    habits : Habits
        How members learn.
    rng : RandomState
        Gives each member its seeds.
    n_threads : int, default=1
        Number of threads that members are learnt in; the results are the same.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        width: int | None,
        habits: Habits,
        rng: np.random.RandomState,
        *,
        n_threads: int = 1,
    ) -> None:
        self.n_targets, self.n_models, n_features = shape
        self.n_threads = n_threads
        seeds = rng.randint(np.iinfo(np.int32).max, size=(self.n_models, 2))
        self.trees = [SharedMember(self.n_targets, n_features, width, habits, own) for own in seeds]

    def learn(self, X: Features, codes: Array, weight: Array | None = None) -> Array:
        """Return the votes (n_rows, n_labels, 2) for each row before learning it; codes are 0, 1 or `SKIP`."""
        weights = NO_WEIGHTS if weight is None else weight
        return self._run(X, lambda m, rows, block: m.learn(Lesson(block, codes[rows], weights[rows])))

    def answer(self, X: Features) -> Array:
        """Return the votes (n_rows, n_labels, 2) for each row."""
        return self._run(X, lambda m, _, block: m.answer(block))

    @property
    def members(self) -> Array:
        """What is known of each member, (1, n_models)."""
        return np.concatenate([member.facts for member in self.trees])[np.newaxis]

    @property
    def size_bytes(self) -> int:
        """Size of all arrays."""
        return sum(member.size_bytes for member in self.trees)

    def _run(self, X: Features, work: Callable[[SharedMember, slice, Array], Array]) -> Array:
        summed = np.empty((X.shape[0], self.n_targets, 2))
        with nullcontext() if self.n_threads == 1 else ThreadPoolExecutor(self.n_threads) as pool:
            for start in range(0, X.shape[0], BLOCK):
                rows = slice(start, min(start + BLOCK, X.shape[0]))
                block = dense(X[rows])
                # added up one after another, so that no number of threads changes the bits
                summed[rows] = sum(run([partial(work, member, rows, block) for member in self.trees], pool))
        return summed
