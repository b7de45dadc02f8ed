"""Compiled Hoeffding adaptive trees for estimators."""

from copy import copy
from typing import Self, cast

import numpy as np
from numpy.random import RandomState

from estimators._typing import Array
from estimators.trees._kernels.adaptive import AdaptiveParams, learn, predict
from estimators.trees._kernels.adaptive_arrays import AdaptiveTrees, adaptive_bytes, new_adaptive_trees
from estimators.trees._kernels.categories import ALL_NUMBERS
from estimators.trees._kernels.tree_arrays import TreeArrays
from estimators.trees._tree_bank import TreeBank, TreeKind


class AdaptiveTreeBank(TreeBank):
    """Hoeffding adaptive trees over the same features, in groups for threads; results do not depend on the grouping.

    `n_groups` is the largest number of threads. `rng` draws a seed for each tree; without it, all have `seed`, and if
    that is None, too, every row is learnt once.
    """

    kind = TreeKind(learn, predict, adaptive_bytes)

    def __init__(  # noqa: PLR0913 - what all banks take, and the seeds
        self,
        n_trees: int,
        n_features: int,
        n_classes: int,
        params: AdaptiveParams,
        *,
        n_groups: int = 1,
        nominal: Array = ALL_NUMBERS,
        seed: int | None,
        rng: RandomState | None = None,
    ) -> None:
        self.seed = seed
        self.seeds = self._draw_seeds(n_trees, rng)
        super().__init__(n_trees, n_features, n_classes, params, n_groups=n_groups, nominal=nominal)

    def grown(self, n_new: int, rng: RandomState | None = None) -> Self:
        """Return a bank with more trees, in a group of their own; the trees that there were are shared."""
        bank = copy(self)
        bank.seeds = self._draw_seeds(self.n_trees + n_new, rng)
        return super(AdaptiveTreeBank, bank).grown(n_new)

    def find(self, tree: int) -> tuple[TreeArrays, int]:
        """Return the arrays that hold a tree, and its index there."""
        found, place = super().find(tree)
        trees = cast(AdaptiveTrees, found)
        return trees.arrays, place

    def history(self, name: str) -> Array:
        """Return a number of alternate leaves of each tree."""
        return np.concatenate([trees.histories[name] for trees in self.tree_arrays])

    def _new_trees(self, trees: slice) -> AdaptiveTrees:
        return new_adaptive_trees(trees.stop - trees.start, self.n_features, self.seeds[trees], self.bins.nominal)

    def _with_bins(self, trees: AdaptiveTrees) -> AdaptiveTrees:
        return trees._replace(arrays=self.bins.known_to(trees.arrays))

    def _draw_seeds(self, n_trees: int, rng: RandomState | None) -> list[int]:
        if self.seed is None:
            return []
        return [self.seed if rng is None else int(rng.randint(2**31 - 1)) for _ in range(n_trees)]
