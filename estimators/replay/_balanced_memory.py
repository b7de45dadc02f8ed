"""A memory of rows in which no task, and no label set of a task, is larger than it need be."""

from copy import copy
from typing import Self

import numpy as np
import numpy.typing as npt

from estimators._typing import Array
from estimators.contract.row_codes import COUNTS
from estimators.replay._kept_rows import KeptRows, replaced, take, widened
from estimators.replay._kernels.balanced import NONE, place
from estimators.replay.memories import Integers, chances

Flags = npt.NDArray[np.bool_]


class BalancedMemory:
    """A bounded memory that keeps every row while there is room, and then becomes more even.

    Targets are classes; or, for each label, its value, plus 2 if it counts: rows whose same labels count are a task.
    The cut of a stream into chunks changes nothing. `blank` holds rows of nothing, as many as the memory can hold, of
    the kind and width of those it will hold. The memory is due again once the rows written since are the share `share`
    of what it holds.
    """

    def __init__(self, blank: KeptRows, share: float, seed: int) -> None:
        self.rows = blank
        self.share = share
        self.seed = seed
        self.n_held = self.n_changed = self.n_seen = 0

    def plan(self, rows: KeptRows) -> tuple[Integers, Flags]:
        """Decide for the next rows, one after another, which slot each takes, -1 being none, and when it is due.

        The rows then have to be written.
        """
        n_rows, size = len(rows.weight), len(self.rows.weight)
        held, n_changed = np.full(size, NONE), np.array([self.n_changed])
        targets = np.concatenate([self.rows.Y[: self.n_held], rows.Y])
        kinds, groups = np.unique(targets, axis=0, return_inverse=True)
        groups, tasks = groups.reshape(-1), _tasks(kinds)
        held[: self.n_held] = groups[: self.n_held]
        seen = self.n_seen + np.arange(n_rows)
        chance, entry = np.ascontiguousarray(chances(self.seed, seen, 2).T)
        admitted = entry * (seen + 1) < size  # as by algorithm R
        slots, due = np.full(n_rows, NONE), np.zeros(n_rows, dtype=bool)
        counts, sizes = np.zeros((2, len(tasks)), dtype=np.int64)
        inputs = chance, admitted, float(self.share), n_changed
        place(groups[self.n_held :], tasks, held, counts, sizes, *inputs, slots, due)
        self.n_seen += n_rows
        self.n_changed = int(n_changed[0])
        return slots, due

    def write(self, rows: KeptRows, slots: Integers) -> None:
        """Put rows where they were planned to go."""
        held, written = np.arange(len(self.rows.weight)), slots != NONE
        held[slots[written]] = len(held) + np.flatnonzero(written)
        self.rows = replaced(self.rows, rows, held)
        self.n_held = max(self.n_held, int(slots.max(initial=NONE)) + 1)

    def widened(self, n_new: int) -> Self:
        """Return a copy with more labels, which do not count in the rows it holds."""
        twin = copy(self)
        twin.rows = widened(self.rows, n_new, 0)
        return twin

    def held_rows(self) -> KeptRows:
        """Return the rows it holds."""
        return take(self.rows, slice(0, self.n_held))


def _tasks(targets: Array) -> Integers:
    """Return the number of the task that each target is of; classes are of one."""
    if targets.ndim == 1:
        return np.zeros(len(targets), dtype=np.int64)
    return np.unique(targets >= COUNTS, axis=0, return_inverse=True)[1].reshape(-1)
