"""Memories of earlier rows, and the plan by which they are replayed."""

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from estimators._kernels.randomness import fill_chances
from estimators._typing import Array, Attributes, RandomStateLike
from estimators.contract.locks import lock_of
from estimators.replay._kernels.tasks import N_TASKS, TaskState, place_by_task
from metrics.validation import require_integer

Integers = npt.NDArray[np.int64]


class ReplayPlan(NamedTuple):
    """The slots that a memory draws from and stores in, for each row of a chunk; -1 stands for no slot."""

    draws: Integers  # (n_samples, draws): replayed with each row, before it is stored
    slots: Integers  # (n_samples,)


class BoundedMemory(BaseEstimator):
    """Base of memories that choose slots to store in and to draw from; their users keep the rows.

    Subclasses name in ``_role`` the parameter of learners that takes them, and plan in `_plan_learnt`, from codes of
    labels: label + 2 * (does it count?).
    """

    _role: ClassVar[str]

    def __init__(self, size: int = 1000, draws: int = 5) -> None:
        self.size = size
        self.draws = draws

    def begin(self, random_state: RandomStateLike = None) -> Self:
        """Empty the memory and seed its draws.

        Parameters
        ----------
        random_state : int, RandomState instance or None
            Seed of the draws.

        Returns
        -------
        self
            The memory, empty.
        """
        with lock_of(self):
            self._check_parameters()
            self.seed_ = int(check_random_state(random_state).randint(2**31 - 1))
            self.n_seen_ = 0
        return self

    def _check_parameters(self) -> None:
        for name in ("size", "draws"):
            require_integer(getattr(self, name), name, 1)
        if self.size <= self.draws:
            raise ValueError(
                f"size must be greater than draws, as a memory replays once it holds more rows than it draws. "
                f"Got size {self.size} and draws {self.draws} instead."
            )

    def _check_begun(self) -> None:
        if not hasattr(self, "seed_"):
            raise NotFittedError(f"This {type(self).__name__} has not begun yet. Call `begin` first.")
        self._check_parameters()

    def _plan_learnt(self, codes: Array, learnt: npt.NDArray[np.bool_]) -> ReplayPlan:
        """Plan for those rows of a chunk that are learnt."""
        raise NotImplementedError


class _BlindMemory(BoundedMemory):
    """A memory that does not look at the rows."""

    def plan(self, n_samples: int) -> ReplayPlan:
        """Choose the slots to draw with each of the next rows, and the slot to store it in.

        The draws depend only on the seed and on the number of rows seen, so that the cut of a stream into chunks
        changes nothing.

        Parameters
        ----------
        n_samples : int
            Number of rows.

        Returns
        -------
        ReplayPlan
            Slots to draw and slots to store in, row by row.
        """
        with lock_of(self):
            self._check_begun()
            return self._plan(require_integer(n_samples, "n_samples", 0))

    def _plan_learnt(self, codes: Array, learnt: npt.NDArray[np.bool_]) -> ReplayPlan:  # noqa: ARG002 - it is blind
        return self._plan(int(np.count_nonzero(learnt)))

    def _plan(self, n_samples: int) -> ReplayPlan:
        if n_samples == 1:
            return self._plan_one()
        seen = self.n_seen_ + np.arange(n_samples)
        chance = chances(self.seed_, seen, self.draws + 1)
        held = np.minimum(seen, self.size)[:, np.newaxis]
        draws = np.where(held > self.draws, (chance[:, :-1] * held).astype(np.int64), -1)
        self.n_seen_ += n_samples
        return ReplayPlan(draws, self._store(seen, chance[:, -1]))

    def _plan_one(self) -> ReplayPlan:
        """Plan for a single row, over which numbers of Python take less time than arrays."""
        seen, held = np.array([self.n_seen_]), min(self.n_seen_, self.size)
        chance = chances(self.seed_, seen, self.draws + 1)
        drawn = [int(one * held) if held > self.draws else -1 for one in chance[0, :-1].tolist()]
        self.n_seen_ += 1
        return ReplayPlan(np.array([drawn]), self._store(seen, chance[:, -1]))

    def _store(self, seen: Integers, chance: npt.NDArray[np.float64]) -> Integers:
        raise NotImplementedError


class ReservoirMemory(_BlindMemory):
    """A uniform sample of all rows so far (Vitter's algorithm R).

    Parameters
    ----------
    size : int, default=1000
        Number of rows it can hold, more than it draws.
    draws : int, default=5
        Number of rows drawn with replacement to be learnt again with each new row.

    Attributes
    ----------
    n_seen_ : int
        Number of rows seen.
    seed_ : int
        Seed of the draws.

    Notes
    -----
    Row n (from 1) takes the next free slot or, in a full memory, slot j drawn from 0..n-1 if j < size; so every row
    is held with probability size / n.

    References
    ----------
    Vitter, "Random sampling with a reservoir", ACM TOMS 11(1), 1985.

    Examples
    --------
    >>> from estimators import ReservoirMemory
    >>> memory = ReservoirMemory(size=3, draws=2).begin(random_state=0)
    >>> memory.plan(5).slots
    array([0, 1, 2, 1, 0])
    """

    _role = "reservoir"

    def _store(self, seen: Integers, chance: npt.NDArray[np.float64]) -> Integers:
        drawn = (chance * (seen + 1)).astype(np.int64)
        return np.where(seen < self.size, seen, np.where(drawn < self.size, drawn, -1))


class FIFOMemory(_BlindMemory):
    """The last rows (a ring buffer).

    Parameters
    ----------
    size : int, default=1000
        Number of rows it can hold, more than it draws.
    draws : int, default=5
        Number of rows drawn with replacement to be learnt again with each new row.

    Attributes
    ----------
    n_seen_ : int
        Number of rows seen.
    seed_ : int
        Seed of the draws.

    Examples
    --------
    >>> from estimators import FIFOMemory
    >>> FIFOMemory(size=3, draws=2).begin(random_state=0).plan(5).slots
    array([0, 1, 2, 0, 1])
    """

    _role = "fifo"

    def _store(self, seen: Integers, chance: npt.NDArray[np.float64]) -> Integers:  # noqa: ARG002 - nothing is drawn
        return seen % self.size


_KINDS = {"reservoir": "a ReservoirMemory, a PRSMemory, an OCDMMemory", "fifo": "a FIFOMemory"}


def begin_memories(
    reservoir: BoundedMemory | None, fifo: BoundedMemory | None, random_state: np.random.RandomState
) -> list[BoundedMemory]:
    """Return the memories there are, the reservoir first, empty and seeded."""
    memories: list[BoundedMemory] = []
    for name, memory in (("reservoir", reservoir), ("fifo", fifo)):
        if memory is not None:
            if not isinstance(memory, BoundedMemory) or memory._role != name:
                raise TypeError(f"{name} must be {_KINDS[name]} or None. Got {memory!r} instead.")
            memories.append(clone(memory).begin(random_state.randint(2**31 - 1)))
    return memories


@lru_cache(maxsize=16)
def no_replay(n_samples: int) -> ReplayPlan:
    """Return the plan of no memory at all."""
    none = np.empty((n_samples, 0), np.int64)
    return ReplayPlan(none, none)


def join_plans(memories: Sequence[BoundedMemory], codes: Array, learnt: npt.NDArray[np.bool_]) -> ReplayPlan:
    """Plan for the rows that are learnt from all memories, whose slots follow each other; codes are those of labels."""
    if len(learnt) == 1 and learnt[0]:
        return _join_plans_of_one(memories, codes, learnt)
    widths = [memory.draws for memory in memories]
    draws, slots = (np.full((len(learnt), width), -1) for width in (sum(widths), len(memories)))
    columns, first = np.cumsum([0, *widths]).tolist(), 0
    for k, memory in enumerate(memories):
        plan = memory._plan_learnt(codes, learnt)
        draws[learnt, columns[k] : columns[k + 1]] = np.where(plan.draws >= 0, plan.draws + first, -1)
        slots[learnt, k] = np.where(plan.slots >= 0, plan.slots + first, -1)
        first += memory.size
    return ReplayPlan(draws, slots)


def _join_plans_of_one(memories: Sequence[BoundedMemory], codes: Array, learnt: npt.NDArray[np.bool_]) -> ReplayPlan:
    """Do the same for a single row, over which numbers of Python take less time than arrays."""
    draws: list[int] = []
    slots: list[int] = []
    first = 0
    for memory in memories:
        plan = memory._plan_learnt(codes, learnt)
        draws += [slot + first if slot >= 0 else -1 for slot in plan.draws[0].tolist()]
        slots += [slot + first if slot >= 0 else -1 for slot in plan.slots.tolist()]
        first += memory.size
    return ReplayPlan(np.array([draws], dtype=np.int64), np.array([slots], dtype=np.int64))


def replay_order(plan: ReplayPlan, learnt: npt.NDArray[np.bool_], n_slots: int) -> tuple[Integers, Integers, Integers]:
    """Put rows in the order they are learnt in: slots of the memories, or n_slots + a row of the chunk.

    Also return where in that order the rows of the chunk are learnt first, and which row each slot holds in the end.
    """
    held = np.arange(n_slots)
    order: list[int] = []
    own: list[int] = []
    for i in np.flatnonzero(learnt).tolist():
        own.append(len(order))
        order += [n_slots + i, *held[plan.draws[i][plan.draws[i] >= 0]].tolist()]
        held[plan.slots[i][plan.slots[i] >= 0]] = n_slots + i
    return np.array(order, dtype=np.int64), np.array(own, dtype=np.int64), held


def chances(seed: int, rows: Integers, n: int) -> npt.NDArray[np.float64]:
    """Return n numbers in [0, 1) for each row: SplitMix64 (Steele, Lea, Flood 2014) at the places of the rows."""
    drawn = np.empty((len(rows), n))
    fill_chances(seed, rows, drawn)
    return drawn


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
