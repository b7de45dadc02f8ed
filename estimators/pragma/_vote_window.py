"""The votes on the last rows of a stream, each cast before its row was learnt, and what they count for."""

from typing import NamedTuple, Self

import numpy as np

from estimators._typing import Array
from estimators.trees._kernels.hoeffding import SKIP


class VoteWindow(NamedTuple):
    """Votes of forests on the last rows, oldest first. A window is a value: `append` returns another one.

    Attributes
    ----------
    votes : ndarray of shape (n_rows, n_targets, n_classes)
        Votes.
    codes : int64 ndarray of shape (n_rows, n_targets)
        What was true; `SKIP` where that is not known.
    drifts : int64 ndarray of shape (n_rows, n_targets)
        How many members had been replaced when the votes were cast.
    """

    votes: Array
    codes: Array
    drifts: Array

    @classmethod
    def of(cls, n_targets: int, n_classes: int) -> Self:
        """Make an empty window."""
        empty = np.empty((0, n_targets), np.int64)
        return cls(np.empty((0, n_targets, n_classes)), empty, empty)

    def append(self, votes: Array, codes: Array, drifts: Array, size: int) -> Self:
        """Add rows, all cast after as many drifts, and keep the last `size`."""
        told = np.broadcast_to(drifts, codes.shape)
        pairs = zip(self, (votes, codes, told), strict=True)
        return type(self)(*(np.concatenate(pair)[-size:].copy() for pair in pairs))

    def counted(self, j: int, drifts: int, most: int) -> Self:
        """Return the rows of one target that say something of the forest as it is.

        Rows count on which something was voted, whose truth is known, and since which fewer than `most` members have
        been replaced.
        """
        counts = self.votes[:, j].any(axis=1) & (self.codes[:, j] != SKIP) & (drifts - self.drifts[:, j] < most)
        return type(self)(self.votes[counts, j], self.codes[counts, j], self.drifts[counts, j])
