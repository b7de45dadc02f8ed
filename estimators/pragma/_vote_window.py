"""The votes on the last rows of a stream, each cast before its row was learnt."""

from typing import NamedTuple, Self

import numpy as np

from estimators._typing import Array
from estimators.trees._kernels.hoeffding import SKIP


class VoteWindow(NamedTuple):
    """Votes of forests on the last rows, oldest first. A window is a value: `append` returns another one."""

    votes: Array  # (n_rows, n_targets, n_classes)
    codes: Array  # int64, (n_rows, n_targets): true classes, `SKIP` where they are unknown
    drifts: Array  # int64, (n_rows, n_targets): members that had been replaced when the votes were cast

    @classmethod
    def empty(cls, n_targets: int, n_classes: int) -> Self:
        """Return an empty window."""
        no_codes = np.empty((0, n_targets), np.int64)
        return cls(np.empty((0, n_targets, n_classes)), no_codes, no_codes)

    def append(self, votes: Array, codes: Array, drifts: Array, size: int) -> Self:
        """Add rows whose votes were cast after the same number of drifts, and keep the last `size` rows."""
        per_row = np.broadcast_to(drifts, codes.shape)
        pairs = zip(self, (votes, codes, per_row), strict=True)
        return type(self)(*(np.concatenate(pair)[-size:].copy() for pair in pairs))

    def current(self, j: int, drifts: int, max_drifts: int) -> Self:
        """Return the rows of one target whose votes stand for the forest as it is now.

        These rows have a vote and a known truth, and fewer than `max_drifts` members have been replaced since.
        """
        kept = self.votes[:, j].any(axis=1) & (self.codes[:, j] != SKIP) & (drifts - self.drifts[:, j] < max_drifts)
        return type(self)(self.votes[kept, j], self.codes[kept, j], self.drifts[kept, j])
