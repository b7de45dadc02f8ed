"""Compiled trees for estimators: rows in blocks, trees in groups, a thread for each group."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._batching import blocks, dense
from estimators._validation import Features
from estimators.trees._kernels.hoeffding import SKIP, Lesson, Rules, answer, learn
from estimators.trees._kernels.tree_arrays import Grove, plant, size_bytes

__all__ = ["SKIP", "TreeBank", "tree_rules"]

Array = npt.NDArray[Any]

# under so much work, starting threads takes longer; a row costs a tree as much as so many features on top of its own
WORK_PER_THREAD = 400_000
FEATURES_OF_A_ROW = 30
UNLIMITED_DEPTH = 2**31 - 1
NO_ROWS = np.zeros((0, 0))
NO_WEIGHTS = np.zeros(0)


class TreeBank:
    """Hoeffding trees over the same features, in groups that threads share out; what it learns depends on no grouping.

    Parameters
    ----------
    n_trees, n_features, n_classes : int
        Sizes; every tree has the same classes.
    rules : Rules
        How trees grow.
    n_groups : int, default=1
        Into how many groups, that is threads at most, the trees are divided.
    """

    def __init__(self, n_trees: int, n_features: int, n_classes: int, rules: Rules, *, n_groups: int = 1) -> None:
        self.n_classes = n_classes
        self.rules = rules
        edges = np.linspace(0, n_trees, min(n_groups, n_trees) + 1).astype(int).tolist()
        self.groups = [slice(start, stop) for start, stop in pairwise(edges)]
        self.groves = [plant(group.stop - group.start, n_features) for group in self.groups]

    def learn(self, X: Features, codes: Array, *, weight: Array | None = None, asked: Features | None = None) -> None:
        """Learn rows, in order; codes (n_rows, n_trees) are classes, or `SKIP`."""
        self._run(X, codes, weight, asked, np.empty((0, self._n_trees, self.n_classes)))

    def answer_then_learn(
        self, X: Features, codes: Array, *, weight: Array | None = None, asked: Features | None = None
    ) -> Array:
        """Return the votes (n_rows, n_trees, n_classes) for each row, or row of `asked`, before learning it."""
        votes = np.empty((X.shape[0], self._n_trees, self.n_classes))
        self._run(X, codes, weight, asked, votes)
        return votes

    def answer(self, X: Features) -> Array:
        """Return the votes (n_rows, n_trees, n_classes) for each row."""
        votes = np.empty((X.shape[0], self._n_trees, self.n_classes))

        def of_group(g: int) -> None:
            for rows in blocks(X):
                answer(self.groves[g], dense(X[rows]), votes[rows], self.groups[g].start)

        self._in_threads(of_group, X)
        return votes

    def find(self, tree: int) -> tuple[Grove, int]:
        """Return the grove of a tree, and its place there."""
        for group, grove in zip(self.groups, self.groves, strict=True):
            if group.start <= tree < group.stop:
                return grove, tree - group.start
        raise ValueError(f"tree must be in 0..{self._n_trees - 1}. Got {tree} instead.")

    @property
    def size_bytes(self) -> int:
        """Size of all arrays."""
        return sum(size_bytes(grove) for grove in self.groves)

    @property
    def _n_trees(self) -> int:
        return self.groups[-1].stop

    def _run(self, X: Features, codes: Array, weight: Array | None, asked: Features | None, votes: Array) -> None:
        weights = NO_WEIGHTS if weight is None else weight
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        if len(self.groups) == 1 and len(codes) == 1:
            # one call per row should cost little more than the row
            lesson = Lesson(NO_ROWS if asked is None else dense(asked), dense(X), codes, weights, 0)
            self.groves[0] = learn(self.groves[0], lesson, self.rules, votes)
            return

        def of_group(g: int) -> None:
            for rows in blocks(X):
                questions = NO_ROWS if asked is None else dense(asked[rows])
                lesson = Lesson(questions, dense(X[rows]), codes[rows], weights[rows], self.groups[g].start)
                self.groves[g] = learn(self.groves[g], lesson, self.rules, votes[rows])

        self._in_threads(of_group, X)

    def _in_threads(self, work: Callable[[int], None], X: Features) -> None:
        groups = range(len(self.groups))
        work_in_all = X.shape[0] * self._n_trees * (X.shape[1] + FEATURES_OF_A_ROW)
        if len(groups) == 1 or work_in_all < WORK_PER_THREAD * len(groups):
            for g in groups:
                work(g)
            return
        with ThreadPoolExecutor(len(groups)) as pool:
            for done in [pool.submit(work, g) for g in groups]:
                done.result()


def tree_rules(estimator: Any) -> Rules:
    """Check the parameters of an estimator that say how trees grow, and return them as the compiled loops read them."""
    for name, least in (("grace_period", 1), ("tau", 0), ("max_bytes", 0)):
        if not getattr(estimator, name) >= least:
            raise ValueError(f"{name} must be at least {least}. Got {getattr(estimator, name)!r} instead.")
    if not 0 < estimator.delta <= 1:
        raise ValueError(f"delta must be in (0, 1]. Got {estimator.delta!r} instead.")
    if estimator.max_depth is not None and estimator.max_depth < 0:
        raise ValueError(f"max_depth must be None or at least 0. Got {estimator.max_depth!r} instead.")
    depth = UNLIMITED_DEPTH if estimator.max_depth is None else estimator.max_depth
    return Rules(
        float(estimator.grace_period), float(estimator.delta), float(estimator.tau), depth, float(estimator.max_bytes)
    )
