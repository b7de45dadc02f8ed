"""A uniform sample of all rows learnt so far, of bounded size."""

from copy import copy
from typing import NamedTuple

import numpy as np

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, RandomStateLike
from estimators.replay._kept_rows import KeptRows, blank, replaced, take, widened
from estimators.replay.memories import ReservoirMemory


class RowSample(NamedTuple):
    """A reservoir of rows, never changed in place: `memory` chooses the slots, `kept` is None before any row."""

    memory: ReservoirMemory
    kept: KeptRows | None

    @classmethod
    def start(cls, size: int, random_state: RandomStateLike) -> "RowSample":
        """Start from no row, with room for `size`."""
        # a memory must hold more than it draws; nothing is drawn here
        return cls(ReservoirMemory(max(size, 2), 1).begin(random_state), None)

    def plus(self, chunk: KeptRows) -> "RowSample":
        """Return the sample after more rows."""
        memory = copy(self.memory)
        held = np.arange(memory.size)
        for row, slot in enumerate(memory.plan(len(chunk.weight)).slots.tolist()):
            if slot >= 0:
                held[slot] = memory.size + row
        kept = blank(memory.size, chunk) if self.kept is None else self.kept
        return RowSample(memory, replaced(kept, chunk, held))

    def widened(self, n_new: int, code: int) -> "RowSample":
        """Return the sample with more labels, unknown in all of its rows."""
        return self if self.kept is None else self._replace(kept=widened(self.kept, n_new, code))

    @property
    def rows(self) -> KeptRows | None:
        """The rows; None before any."""
        if self.kept is None:
            return None
        return take(self.kept, slice(0, min(self.memory.n_seen_, self.memory.size)))


def log_likelihoods(proba: Array, rows: KeptRows, margin: float) -> Array:
    """Return the logarithm of the probability that each member gives the known labels: (n_members, n_labels)."""
    counted = rows.Y != UNKNOWN if rows.mask is None else rows.mask
    given = margin + (1.0 - 2.0 * margin) * np.where(rows.Y == 1, proba, 1.0 - proba)
    return np.asarray((np.log(given) * counted).sum(axis=1))
