"""The values of nominal features that trees have met, as the bins by which compiled trees know them."""

from typing import TypeVar, cast

import numpy as np

from estimators._typing import Array
from estimators.contract.batching import dense
from estimators.contract.validation import Features
from estimators.trees._kernels.categories import ALL_NUMBERS, FEW_BINS, Tree, free_values, with_values, write_bins
from estimators.trees._kernels.tree_arrays import TreeArrays

T = TypeVar("T", bound=Tree)


class Bins:
    """A bin for each value, in the order in which they come, and one for all that come after the first 255."""

    def __init__(self, nominal: Array) -> None:
        self.nominal = nominal
        self.values = free_values(len(nominal), FEW_BINS)

    def of(self, X: Features, *, learning: bool) -> Features:
        """Return rows with bins in the place of codes; a value that was not met has -1, unless it is learnt."""
        n_cells = X.shape[0] * len(self.nominal)
        if not n_cells:
            return X
        rows, done = np.array(dense(X)), 0
        while (done := write_bins(rows, self.nominal, self.values, learning, done)) < n_cells:
            wider = free_values(len(self.nominal), 2 * self.values.shape[1])
            wider[:, : self.values.shape[1]] = self.values
            self.values = wider
        return rows

    def known_to(self, tree: T) -> T:
        """Return a tree, or trees that share arrays, with room for all values."""
        if not len(self.nominal) or tree.categories.values is self.values:
            return tree
        arrays = cast("TreeArrays", tree)  # any such named tuple
        return cast("T", arrays._replace(categories=with_values(tree.categories, self.values)))


# of learners in older pickles, too
NO_BINS = Bins(ALL_NUMBERS)
