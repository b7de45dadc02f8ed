"""Memories whose content is balanced by label: partitioning reservoir sampling, and OCDM."""

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from estimators._typing import Array, Attributes, MatrixLike, RandomStateLike
from estimators.contract.locks import lock_of
from estimators.contract.parameters import check_number
from estimators.contract.row_codes import COUNTS, encode_labels
from estimators.contract.targets import as_codes
from estimators.replay._kernels import by_label, partitioning
from estimators.replay._kernels.by_label import LabelState
from estimators.replay.memories import BoundedMemory, Integers, ReplayPlan, ReservoirMemory, chances
from metrics.validation import require_choice


class _LabelMemory(BoundedMemory):
    """A bounded memory that looks at the labels of rows; label 0 of its state is that of rows without any."""

    _role = "reservoir"
    _n_chances: ClassVar[int]
    _place: ClassVar[Any]

    def __init__(
        self, size: int = 1000, draws: int = 5, *, rho: float = 0.0, count_empty: bool = False, ties: str = "first"
    ) -> None:
        super().__init__(size, draws)
        self.rho = rho
        self.count_empty = count_empty
        self.ties = ties

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
        check_number("rho", self.rho, minimum=-10, maximum=10)
        require_choice(self.ties, "ties", ("first", "random"))
        super().begin(random_state)
        self._state = _empty(self.size, 1, 1)
        return self

    def plan(self, Y: MatrixLike) -> ReplayPlan:
        """Choose the slots to draw with each of the next rows, and the slot to store it in.

        The cut of a stream into chunks changes nothing.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_labels)
            0/1 labels of the rows, NaN where one is unknown. Labels that are new are columns to the right of others.

        Returns
        -------
        ReplayPlan
            Slots to draw and slots to store in, row by row.
        """
        with lock_of(self):
            self._check_begun()
            codes = encode_labels(as_codes(Y), None)
            return self._plan_learnt(codes, np.ones(len(codes), dtype=bool))

    @property
    def seen_counts_(self) -> Integers:
        """Rows of the stream with each label."""
        with lock_of(self):
            return self._state.seen[1:].copy()

    @property
    def held_counts_(self) -> Integers:
        """Rows held with each label."""
        with lock_of(self):
            return self._state.inside[1:].copy()

    @property
    def targets_(self) -> npt.NDArray[np.float64]:
        """Share that each label should have among all labels of the rows held."""
        with lock_of(self):
            return self._state.targets[1:].copy()

    def _plan_learnt(self, codes: Array, learnt: npt.NDArray[np.bool_]) -> ReplayPlan:
        labels = np.zeros((int(learnt.sum()), codes.shape[1] + 1), dtype=bool)
        np.equal(codes[learnt], COUNTS + 1, out=labels[:, 1:])
        if self.count_empty:
            labels[:, 0] = ~labels.any(axis=1)
        lengths = labels.sum(axis=1)
        self._state = _with_room(self._state, labels.shape[1], int(lengths.max(initial=1)))
        n_rows = len(labels)
        chance = chances(self.seed_, self.n_seen_ + np.arange(n_rows), self.draws + self._n_chances)
        plan = ReplayPlan(np.empty((n_rows, self.draws), np.int64), np.empty(n_rows, np.int64))
        starts, members = np.zeros(n_rows + 1, np.int64), np.ascontiguousarray(np.nonzero(labels)[1])
        np.cumsum(lengths, out=starts[1:])
        # a plain tuple: the kernels do not know the class
        type(self)._place(self._state, starts, members, chance, (*plan,), float(self.rho), self.ties == "random")
        self.n_seen_ += n_rows
        return plan

    def __copy__(self) -> Self:
        """Return a memory that shares nothing with this one."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if "_state" in vars(self):
            twin._state = _writable(self._state)
        return twin

    def __setstate__(self, state: Attributes) -> None:
        super().__setstate__(state)
        if "_state" in state:
            self._state = _writable(state["_state"])


class PRSMemory(_LabelMemory):
    """A sample of all rows in which labels are as frequent as wanted: partitioning reservoir sampling.

    Parameters
    ----------
    size : int, default=1000
        Number of rows it can hold, more than it draws.
    draws : int, default=5
        Number of rows drawn with replacement to be learnt again with each new row.
    rho : float, default=0.0
        Power of allocation, within [-10, 10]: the share of a label with n rows in the stream is in proportion to
        n**rho. 0: all labels alike; 1: as in the stream.
    count_empty : bool, default=False
        Whether rows in which no label is 1 have a label of their own; otherwise they are never held.
    ties : {"first", "random"}, default="first"
        Which of the rows that are worth least goes: that of the first slot, or a random one.

    Attributes
    ----------
    n_seen_ : int
        Number of rows seen.
    seed_ : int
        Seed of the draws.

    Notes
    -----
    While there is room, every row with a label is kept. After that, with n_c rows of label c seen, l_c held and p_c its
    target:

    - a row enters with the probability min(1, p_c size / n_c), averaged over its labels by the softmax of -n_c;
    - for it, a label is drawn by the softmax of l_c - p_c sum(l). Of the rows with this label, those count that have
      the fewest labels held too rarely, l_c <= p_c sum(l); of these, that one goes without which the sum over labels
      of abs(l_c - p_c sum(l)) is least.

    Targets are those of labels that are held; a label that no row held has any more keeps its last one. The authors'
    code leaves such a label out of the sum as well. It draws without replacement, as many rows as come at once.

    Only a label that counts and is 1 is a label of its row. With ``ties="first"``, as in the authors' code, rows with
    equal labels replace each other in one slot, and those in other slots stay.

    References
    ----------
    Kim, Jeong, Kim, "Imbalanced continual learning with partitioning reservoir sampling", ECCV 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import PRSMemory, ReservoirMemory
    >>> Y = np.random.default_rng(0).random((2000, 3)) < [0.5, 0.1, 0.02]
    >>> memory = PRSMemory(60).begin(random_state=0)
    >>> slots = memory.plan(Y).slots
    >>> memory.held_counts_
    array([26, 27, 28])
    """

    _n_chances = partitioning.N_CHANCES
    _place = staticmethod(partitioning.place_by_partition)


class OCDMMemory(_LabelMemory):
    """A memory whose labels come as close as rows can make them to a wanted distribution (OCDM).

    Parameters
    ----------
    size : int, default=1000
        Number of rows it can hold, more than it draws.
    draws : int, default=5
        Number of rows drawn with replacement to be learnt again with each new row.
    rho : float, default=0.0
        Power of allocation, within [-10, 10]: the share of a label with n rows in the stream is in proportion to
        n**rho. 0: all labels alike; 1: as in the stream.
    count_empty : bool, default=False
        Whether rows in which no label is 1 have a label of their own; otherwise they are never held.
    ties : {"first", "random"}, default="first"
        Which of the rows that are worth least goes: that of the first slot, the new one being last, or a random one.

    Attributes
    ----------
    n_seen_ : int
        Number of rows seen.
    seed_ : int
        Seed of the draws.

    Notes
    -----
    While there is room, every row with a label is kept. After that, of the rows held and the new one, that row goes
    without which the divergence KL(q || p) of the shares q of labels among those held from their targets p is least.

    Liang and Li take a batch of rows at a time, and remove as many one after another. Here rows come one by one, so
    that the cut of a stream into chunks changes nothing. Rows without a label are in no paper's data: they would cost
    no divergence, and take the places of all others.

    References
    ----------
    Liang, Li, "Optimizing class distribution in memory for multi-label online continual learning", arXiv 2209.11469.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OCDMMemory
    >>> Y = np.random.default_rng(0).random((2000, 3)) < [0.5, 0.1, 0.02]
    >>> memory = OCDMMemory(60).begin(random_state=0)
    >>> slots = memory.plan(Y).slots
    >>> memory.held_counts_
    array([27, 27, 27])
    """

    _n_chances = by_label.N_CHANCES
    _place = staticmethod(by_label.place_by_divergence)


Reservoir = ReservoirMemory | PRSMemory | OCDMMemory


def _empty(size: int, n_labels: int, width: int) -> LabelState:
    counts, slots = np.zeros(n_labels, np.int64), np.zeros(size, np.int64)
    members, n_held = np.zeros((size, width), np.int64), np.zeros(1, np.int64)
    return LabelState(members, slots, counts, counts.copy(), np.zeros(n_labels), n_held)


def _writable(state: LabelState) -> LabelState:
    """Copy arrays: those loaded as a read-only map of a file cannot be updated in place."""
    return LabelState._make(np.array(part) for part in state)


def _with_room(state: LabelState, n_labels: int, width: int) -> LabelState:
    """Return a state for at least so many labels, and rows with so many of them."""
    more, wider = n_labels - len(state.seen), width - state.members.shape[1]
    if more > 0:
        longer = {name: np.pad(getattr(state, name), (0, more)) for name in ("seen", "inside", "targets")}
        state = state._replace(**longer)
    return state._replace(members=np.pad(state.members, ((0, 0), (0, wider)))) if wider > 0 else state
