"""The rows that a learner keeps: a sample of each environment, the same however a stream is cut."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._typing import Array
from estimators.contract.validation import Features, stack_rows


class KeptRows(NamedTuple):
    """Rows in the order in which they came."""

    X: Features
    Y: Array  # uint8, (n_samples, n_labels)
    weight: Array  # (n_samples, n_labels): weight of the row where the label counts, else 0
    environment: Array  # int64, (n_samples,)
    priority: Array  # uint64, (n_samples,): random; rows with the greatest numbers stay

    def take(self, rows: Array | slice) -> "KeptRows":
        """Return some of the rows."""
        others = self[1:]
        return KeptRows(self.X[rows], *(part[rows] for part in others))


def join(blocks: Sequence[KeptRows]) -> KeptRows:
    """Return the rows of all blocks; they are sparse if those of any block are."""
    others = (np.concatenate(parts) for parts in zip(*(block[1:] for block in blocks), strict=True))
    return KeptRows(stack_rows([block.X for block in blocks]), *others)


def sample(rows: KeptRows, n_kept: int) -> KeptRows:
    """Keep, of each environment, the rows with the greatest random numbers."""
    by_priority = np.argsort(rows.priority, kind="stable")[::-1]
    order = by_priority[np.argsort(rows.environment[by_priority], kind="stable")]
    environment = rows.environment[order]
    rank = np.arange(len(order)) - np.searchsorted(environment, environment)
    kept = np.sort(order[rank < n_kept])
    return rows if len(kept) == len(order) else rows.take(kept)


def random_priority(seed: int, first: int, n_rows: int) -> npt.NDArray[np.uint64]:
    """Return a random number for each row from its place in the stream: SplitMix64."""
    # unsigned arrays wrap around, as the generator asks for
    state = np.arange(first + 1, first + 1 + n_rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = state + np.full(n_rows, seed, dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return state ^ (state >> np.uint64(31))
