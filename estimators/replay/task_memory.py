"""A memory that earlier tasks share evenly."""

from typing import Self

import numpy as np
import numpy.typing as npt

from estimators._typing import Array, Attributes, RandomStateLike
from estimators.replay._kernels.tasks import N_TASKS, TaskState, place_by_task
from estimators.replay.memories import BoundedMemory, ReplayPlan, chances


class TaskMemory(BoundedMemory):
    """A sample of each task, all of one size; only rows of earlier tasks are drawn.

    A task is over when other labels count than in the row before, or when `task_rows` of its rows have come. With each
    new row, once a task is over, `draws` rows are drawn with replacement. Task number t has size // t slots, a
    reservoir of its rows, for which random rows of the largest tasks go when it begins. Where there are more tasks than
    slots, each is held, by one row, with probability size / t.
    """

    _role = "tasks"

    def __init__(self, size: int = 1000, draws: int = 10, *, task_rows: int | None = None) -> None:
        super().__init__(size, draws)
        self.task_rows = task_rows

    def begin(self, random_state: RandomStateLike = None) -> Self:
        """Empty the memory and seed its draws; see `ReservoirMemory`."""
        super().begin(random_state)
        slots, places = (np.zeros(n, np.int64) for n in (self.size, self.size + 1))
        self._state = TaskState(
            np.zeros(0, bool), np.full(self.size, -1), places, slots, slots.copy(), np.zeros(5, np.int64)
        )
        return self

    @property
    def n_tasks_(self) -> int:
        """Number of tasks that have begun."""
        return int(self._state.counters[N_TASKS])

    def _plan_learnt(self, codes: Array, learnt: npt.NDArray[np.bool_]) -> ReplayPlan:
        codes = codes[learnt]
        more = codes.shape[1] - len(self._state.mask)
        if more:
            self._state = self._state._replace(mask=np.pad(self._state.mask, (0, more)))
        chance = chances(self.seed_, self.n_seen_ + np.arange(len(codes)), self.draws + 2)
        plan = ReplayPlan(np.empty((len(codes), self.draws), np.int64), np.empty(len(codes), np.int64))
        place_by_task(self._state, codes, chance, *plan, -1 if self.task_rows is None else self.task_rows)
        self.n_seen_ += len(codes)
        return plan

    def __setstate__(self, state: Attributes) -> None:
        super().__setstate__(state)
        if "_state" in state:  # arrays loaded as a read-only map of a file cannot be updated in place
            self._state = TaskState(*(np.array(part) for part in state["_state"]))
