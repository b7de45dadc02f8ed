"""A bounded context of labelled rows, and the schedule by which it is learnt."""

from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from estimators._typing import Array
from estimators.contract.row_codes import COUNTS
from estimators.meta._kernels.context import NEW, NO_ROW, SEEN, SEEN_WHEN_DUE, label_keys, place, task_keys
from estimators.replay._kept_rows import KeptRows, blank, replaced, take, widened

Integers = npt.NDArray[np.int64]
NEVER = 2**62
POLICIES = ("last", "task", "label")


class Schedule(NamedTuple):
    """Rule of which rows are kept, and of when they are due to be learnt."""

    policy: str  # 'last', 'task' or 'label'
    refit_every: int | None  # due after so many rows
    change: float | None  # due once rows that were not there make up this share


class Context(NamedTuple):
    """The rows held, and all that decides which ones leave; never changed in place."""

    rows: KeptRows | None  # slots; Y holds classes, or for each label its value, plus 2 if it counts
    arrivals: Integers  # (size,): number of the row in each slot
    groups: Integers  # (size,): its group
    group_keys: Integers  # (size + 1,): what the rows of each group have in common
    group_sizes: Integers  # (size + 1,): how many rows of it are held
    counters: Integers  # (3,): numbers of rows: see the kernel
    n_positive: Integers  # (n_labels,)

    @classmethod
    def start(cls, size: int, n_labels: int) -> "Context":
        """Start from no row, with room for `size`."""
        empty, (keys, sizes) = np.full(size, NO_ROW), np.zeros((2, size + 1), dtype=np.int64)
        counters, n_positive = np.zeros(3, dtype=np.int64), np.zeros(n_labels, dtype=np.int64)
        return cls(None, empty, np.zeros_like(empty), keys, sizes, counters, n_positive)

    def planned(self, chunk: KeptRows, schedule: Schedule) -> tuple["Context", Integers, npt.NDArray[np.bool_]]:
        """Decide which slot each row of a chunk takes, and after which of them the context is due.

        The context returned has yet to get the rows, by `holding`.
        """
        after = self._replace(**{name: getattr(self, name).copy() for name in self._fields[1:]})
        keys = after._keys(chunk.Y, schedule.policy)
        slots, due = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.bool_)
        every = NEVER if schedule.refit_every is None else int(schedule.refit_every)
        place(keys, *after[1:6], every, np.inf if schedule.change is None else float(schedule.change), slots, due)
        return after, slots, due

    def numbers(self, n_rows: int) -> Integers:
        """Return the numbers of the next rows."""
        return self.counters[SEEN] + np.arange(n_rows)

    def holding(self, chunk: KeptRows, slots: Integers) -> "Context":
        """Return the context with rows of a chunk in their slots."""
        rows = blank(len(self.arrivals), chunk) if self.rows is None else self.rows
        held = np.arange(len(self.arrivals))
        held[slots] = len(held) + np.arange(len(slots))
        return self._replace(rows=replaced(rows, chunk, held))

    @property
    def n_new(self) -> int:
        """Number of rows held that were not there when the context was last due."""
        return int(self.counters[NEW])

    def learnt(self) -> "Context":
        """Return the context as it is when it was due just now."""
        counters = self.counters.copy()
        counters[SEEN_WHEN_DUE], counters[NEW] = counters[SEEN], 0
        return self._replace(counters=counters)

    def widened(self, n_new: int) -> "Context":
        """Return the context with more labels, which do not count in the rows it holds."""
        rows = None if self.rows is None else widened(self.rows, n_new, 0)
        return self._replace(rows=rows, n_positive=np.pad(self.n_positive, (0, n_new)))

    def in_order(self, arrivals: Integers) -> KeptRows:
        """Return the rows held, in the order in which they arrived, as numbered."""
        order = np.argsort(arrivals, kind="stable")
        return take(cast("KeptRows", self.rows), order[arrivals[order] != NO_ROW])

    def _keys(self, Y: Array, policy: str) -> Integers:
        keys = np.zeros(len(Y), dtype=np.int64)
        if policy == "task" and Y.ndim == 2:
            task_keys(np.ascontiguousarray(Y >= COUNTS), keys)
        elif policy == "label" and Y.ndim == 2:
            label_keys(np.ascontiguousarray(Y == COUNTS + 1), self.n_positive, keys)
        elif policy == "label":
            keys[:] = Y
        return keys
