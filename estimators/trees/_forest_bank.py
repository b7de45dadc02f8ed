"""Compiled adaptive random forests for estimators: rows in blocks, members in groups, one thread for each group."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from copy import copy
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np

from estimators._typing import Array
from estimators.contract.batching import dense
from estimators.contract.validation import Features
from estimators.trees._bins import NO_BINS, Bins
from estimators.trees._importances import importances_in
from estimators.trees._kernels.categories import ALL_NUMBERS
from estimators.trees._kernels.forest import ForestChunk, ForestParams, forest_bytes, learn, new_forest, predict
from estimators.trees._tree_bank import NO_WEIGHTS, split_evenly

# a block of rows stays in the cache of the processor while all members learn it
BLOCK = 256
T = TypeVar("T")
# with fewer steps (rows times members), starting threads takes longer than the work
STEPS_PER_THREAD = 5_000


def run_tasks(tasks: Sequence[Callable[[], T]], pool: ThreadPoolExecutor | None) -> list[T]:
    """Run tasks, in the threads of a pool if there is one, and return their results."""
    if pool is None:
        return [task() for task in tasks]
    return [done.result() for done in [pool.submit(task) for task in tasks]]


class ForestBank:
    """A forest for each target, over the same features; results do not depend on the grouping of the members.

    `shape` is (n_targets, n_members, n_features, n_classes). A leaf draws `width` features; under None it observes all.
    `n_groups` is the largest number of threads, `nominal` the positions of nominal features.
    """

    bins = NO_BINS

    def __init__(
        self,
        shape: tuple[int, int, int, int],
        width: int | None,
        params: ForestParams,
        rng: np.random.RandomState,
        *,
        n_groups: int = 1,
        nominal: Array = ALL_NUMBERS,
    ) -> None:
        self.bins = Bins(nominal)
        self.n_targets, self.n_models, self.n_features, self.n_classes = shape
        self.width, self.params, self.n_threads = width, params, n_groups
        n_members = self.n_targets * self.n_models
        self.groups = split_evenly(n_members, n_groups)
        self.forests = self._make_forests(self.groups, rng)

    def grown(self, n_targets: int, params: ForestParams, rng: np.random.RandomState) -> Self:
        """Return a bank with forests for more targets, in a group of their own; those that there were are shared.

        Seeds are drawn in the order of members, so that new ones get those that they had got in a new bank.
        """
        bank = copy(self)
        new = slice(self.n_targets * self.n_models, n_targets * self.n_models)
        bank.n_targets, bank.params = n_targets, params
        bank.groups = [*self.groups, new]
        bank.forests = [*self.forests, *bank._make_forests([new], rng)]
        return bank

    def learn(self, X: Features, codes: Array, weight: Array | None = None) -> Array:
        """Return the votes (n_rows, n_targets, n_classes) for each row before learning it.

        Codes (n_rows, n_targets) are classes or `SKIP`.
        """
        weights = NO_WEIGHTS if weight is None else weight
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        X = self.bins.of(X, learning=True)
        self.forests = [forest._replace(arrays=self.bins.known_to(forest.arrays)) for forest in self.forests]

        def learn_group(g: int, rows: slice, block: Array, votes: Array) -> None:
            chunk = ForestChunk(block, codes[rows], weights[rows])
            self.forests[g] = learn(self.forests[g], chunk, self.params, votes)

        return self._run(X, learn_group)

    def predict(self, X: Features) -> Array:
        """Return the votes (n_rows, n_targets, n_classes) for each row."""
        X = self.bins.of(X, learning=False)
        return self._run(X, lambda g, _, block, votes: predict(self.forests[g], block, votes))

    @property
    def members(self) -> Array:
        """Counters of each member, of shape (n_targets, n_models)."""
        return np.concatenate([forest.members for forest in self.forests]).reshape(self.n_targets, self.n_models)

    def importances(self) -> Iterator[Array]:
        """Return the decrease of entropy by the splits of each feature, for the tree of each member that votes."""
        for forest in self.forests:
            for member, side in enumerate(forest.members["side"].tolist()):
                yield importances_in(forest.arrays, 2 * member + side, n_classes=self.n_classes)

    @property
    def size_bytes(self) -> int:
        """Size of all arrays."""
        return sum(forest_bytes(forest) for forest in self.forests)

    def _run(self, X: Features, work: Callable[[int, slice, Array, Array], None]) -> Array:
        summed = np.empty((X.shape[0], self.n_targets, self.n_classes))
        n_members = self.n_targets * self.n_models
        most = min(self.n_threads, len(self.groups))
        n_threads = most if X.shape[0] * n_members >= STEPS_PER_THREAD * most else 1
        # a pool of one thread would cost more than a row
        with nullcontext() if n_threads == 1 else ThreadPoolExecutor(n_threads) as pool:
            for start in range(0, X.shape[0], BLOCK):
                rows = slice(start, min(start + BLOCK, X.shape[0]))
                block = dense(X[rows])
                parts = [np.empty((len(block), group.stop - group.start, self.n_classes)) for group in self.groups]
                tasks = [partial(work, g, rows, block, part) for g, part in enumerate(parts)]
                run_tasks(tasks, pool)
                summed[rows] = self._sum(np.concatenate(parts, axis=1))
        return summed

    def _make_forests(self, groups: Sequence[slice], rng: np.random.RandomState) -> list[Any]:
        targets = np.repeat(np.arange(self.n_targets), self.n_models)
        seeds = np.frombuffer(rng.bytes(24 * len(targets)), np.uint64).reshape(-1, 3)
        return [
            new_forest(targets[group], self.n_features, self.width, seeds[group], self.bins.nominal) for group in groups
        ]

    def _sum(self, votes: Array) -> Array:
        """Sum the votes of the members of each target in order, so that the grouping does not change the bits."""
        votes = votes.reshape(len(votes), self.n_targets, self.n_models, self.n_classes)
        total = votes[:, :, 0].copy()
        for m in range(1, self.n_models):
            total += votes[:, :, m]
        return total
