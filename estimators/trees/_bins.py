"""The values of nominal features that trees have met, as the bins by which compiled trees know them."""

import numpy as np

from estimators._typing import Array
from estimators.contract.batching import dense
from estimators.contract.validation import Features
from estimators.trees._kernels.categories import FEW_BINS, Categories, free_values, with_values, write_bins


class Bins:
    """A bin for each value, in the order in which they come, and one for all that come after the first 255."""

    def __init__(self, nominal: Array) -> None:
        self.nominal = nominal
        self.values = free_values(len(nominal), FEW_BINS)

    def of(self, X: Features, *, learning: bool) -> Array:
        """Return rows with bins in the place of codes; a value that was not met has -1, unless it is learnt."""
        rows = np.array(dense(X))
        done, n_cells = 0, len(rows) * len(self.nominal)
        while (done := write_bins(rows, self.nominal, self.values, learning, done)) < n_cells:
            wider = free_values(len(self.nominal), 2 * self.values.shape[1])
            wider[:, : self.values.shape[1]] = self.values
            self.values = wider
        return rows

    def known_to(self, categories: Categories) -> Categories:
        """Return what trees keep of nominal features, with room for all values."""
        return categories if categories.values is self.values else with_values(categories, self.values)


def make_bins(nominal: Array) -> Bins | None:
    """Return bins for nominal features, or None without any."""
    return Bins(nominal) if len(nominal) else None
