"""Compiled adaptive random forests for estimators: rows in blocks, members in groups, a thread for each group."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._batching import dense
from estimators._validation import Features
from estimators.trees._kernels.forest import Habits, Lesson, answer, forest_bytes, learn, sow
from estimators.trees._kernels.hoeffding import SKIP

Array = npt.NDArray[Any]

# a block of rows stays in the cache while all members learn it
BLOCK = 256
# under so many steps, rows times members, starting threads takes longer than the work
STEPS_PER_THREAD = 5_000
NO_WEIGHTS = np.zeros(0)


def codes_of(Y: Array, mask: npt.NDArray[np.bool_] | None) -> Array:
    """Return what each target learns from each row: 0 or 1 of labels, `SKIP` where masked; or the code of a class."""
    codes = Y.astype(np.int64).reshape(len(Y), -1)
    if mask is not None:
        codes[~mask] = SKIP
    return codes


def run(tasks: Sequence[Callable[[], Any]], pool: ThreadPoolExecutor | None) -> list[Any]:
    """Run tasks, in the threads of a pool if there is one, and return what they return."""
    if pool is None:
        return [task() for task in tasks]
    return [done.result() for done in [pool.submit(task) for task in tasks]]


class ForestBank:
    """A forest of as many members for each target, over the same features; what it learns depends on no grouping.

    Parameters
    ----------
    n_targets, n_models, n_features, n_classes : int
        Sizes; every target has the same classes.
    width : int, optional
        Number of features that a leaf draws; None: all, nothing is drawn.
    habits : Habits
        How members learn.
    rng : RandomState
        Gives each member its seeds.
    n_groups : int, default=1
        Into how many groups, that is threads at most, the members are divided.
    """

    def __init__(
        self,
        shape: tuple[int, int, int, int],
        width: int | None,
        habits: Habits,
        rng: np.random.RandomState,
        *,
        n_groups: int = 1,
    ) -> None:
        self.n_targets, self.n_models, n_features, self.n_classes = shape
        self.habits = habits
        targets = np.repeat(np.arange(self.n_targets), self.n_models)
        seeds = np.frombuffer(rng.bytes(24 * len(targets)), np.uint64).reshape(-1, 3)
        edges = np.linspace(0, len(targets), min(n_groups, len(targets)) + 1).astype(int).tolist()
        self.groups = [slice(start, stop) for start, stop in pairwise(edges)]
        self.forests = [sow(targets[group], n_features, width, seeds[group]) for group in self.groups]

    def learn(self, X: Features, codes: Array, weight: Array | None = None) -> Array:
        """Return the votes (n_rows, n_targets, n_classes) for each row before learning it.

        Codes (n_rows, n_targets) are classes, or `SKIP`.
        """
        weights = NO_WEIGHTS if weight is None else weight
        codes = np.ascontiguousarray(codes, dtype=np.int64)

        def of_group(g: int, rows: slice, block: Array, votes: Array) -> None:
            lesson = Lesson(block, codes[rows], weights[rows])
            self.forests[g] = learn(self.forests[g], lesson, self.habits, votes)

        return self._run(X, of_group)

    def answer(self, X: Features) -> Array:
        """Return the votes (n_rows, n_targets, n_classes) for each row."""
        return self._run(X, lambda g, _, block, votes: answer(self.forests[g], block, votes))

    @property
    def members(self) -> Array:
        """What is known of each member, (n_targets, n_models)."""
        return np.concatenate([forest.members for forest in self.forests]).reshape(self.n_targets, self.n_models)

    @property
    def size_bytes(self) -> int:
        """Size of all arrays."""
        return sum(forest_bytes(forest) for forest in self.forests)

    def _run(self, X: Features, work: Callable[[int, slice, Array, Array], None]) -> Array:
        summed = np.empty((X.shape[0], self.n_targets, self.n_classes))
        n_members = self.n_targets * self.n_models
        n_threads = len(self.groups) if X.shape[0] * n_members >= STEPS_PER_THREAD * len(self.groups) else 1
        # with one thread, a pool would cost more than a row
        with nullcontext() if n_threads == 1 else ThreadPoolExecutor(n_threads) as pool:
            for start in range(0, X.shape[0], BLOCK):
                rows = slice(start, min(start + BLOCK, X.shape[0]))
                block = dense(X[rows])
                parts = [np.empty((len(block), group.stop - group.start, self.n_classes)) for group in self.groups]
                tasks = [partial(work, g, rows, block, part) for g, part in enumerate(parts)]
                run(tasks, pool)
                summed[rows] = self._sum(np.concatenate(parts, axis=1))
        return summed

    def _sum(self, votes: Array) -> Array:
        """Add up what the members of each target vote, one after another, so that no grouping changes the bits."""
        votes = votes.reshape(len(votes), self.n_targets, self.n_models, self.n_classes)
        total = votes[:, :, 0].copy()
        for m in range(1, self.n_models):
            total += votes[:, :, m]
        return total
