"""GDumb: a balanced memory, and a classifier that learns it from scratch."""

from copy import copy
from numbers import Integral
from typing import Self

import numpy as np
import numpy.typing as npt
from numpy.random import RandomState
from scipy import sparse
from sklearn.utils import check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.parameters import PRECISIONS, check_number
from estimators.contract.row_codes import COUNTS, cast_features, encode_labels
from estimators.contract.targets import as_table
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.replay._kept_rows import KeptRows, blank, replaced, take, widened
from estimators.replay._kernels.balanced import NONE, place
from estimators.replay._meta_base import OuterClassifier, begin_inner, predict_both
from estimators.replay.memories import Integers, chances
from metrics.validation import require_choice

Flags = npt.NDArray[np.bool_]
Prediction = tuple[Array, Array]


class GDumbClassifier(OuterClassifier):
    """Keep a memory in which tasks, and label sets in each, are as frequent as can be; learn it alone, from scratch.

    A baseline that shows how much continual learning adds to a good sample of the past.

    Parameters
    ----------
    estimator : StreamClassifier
        The classifier that learns the memory.
    size : int, default=2000
        Number of rows the memory can hold: 2000 are as many as ``NN_TLH_mini_memories`` holds in its two.
    epochs : int, default=10
        Number of passes over the memory when it is learnt, each in a new order.
    share : float, default=0.2
        Share of the memory, within [0, 1], that new rows must make up before it is learnt again.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the rows kept.
    random_state : int, RandomState instance or None, default=None
        Seed of the memory, of the orders and, unless None, of the classifier.

    Attributes
    ----------
    estimator_ : StreamClassifier
        The classifier, as it has last learnt the memory.
    memory_ : BalancedMemory or None
        The memory, None before the first row. Its ``held_rows()`` have features ``X``, targets ``Y`` (the class; or for
        each label its value, plus 2 if it counts) and ``weight``.
    n_trainings_ : int
        How often the memory has been learnt.

    Notes
    -----
    A task is the rows with the same label mask, a group those of them with the same labels; or a group is a class.
    While there is room, every row is kept. Then a row is kept if its task stays smaller than the largest one, or else
    if its group stays smaller than the largest one of its task; a random row of the largest groups there makes room.
    Where these are of one row each, a row of a group that is not held takes its place with the chance it would have
    in a reservoir: size / number of rows seen. So does a row of a task that is not held where all tasks are of one row
    each.

    Prabhu et al. keep a row while its class has less than its share of the memory. Label sets are so many that such
    shares would leave it half empty, or let the newest sets drive out all others where sets outnumber its rows.

    A label that is unknown in a row is outside its mask, whatever the classifier: rows whose known labels differ are of
    different tasks here. So are the rows before and after a label appears; whether such labels are refused or learnt
    is up to the classifier. Where nearly every row has other known labels, the memory comes close to a reservoir.

    They learn the memory whenever a prediction is needed, in test-then-train at every row. Here it is learnt when
    enough of it is new, so that predictions do not use the rows kept since then, fewer than `share` of the memory, yet.
    Every row written into the memory is worth at most epochs / share rows of learning. A change of the task
    is not waited for: where tasks mix, it may come with every row.

    Rows are learnt one after another, at the classifier's own learning rate; the annealing and the CutMix of Prabhu et
    al. are for images and left out.

    References
    ----------
    Prabhu, Torr, Dokania, "GDumb: a simple approach that questions our progress in continual learning", ECCV 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import GDumbClassifier, OnlineNeuralClassifier
    >>> X = np.random.default_rng(0).random((500, 2))
    >>> Y = X > [0.5, 0.95]
    >>> learner = GDumbClassifier(OnlineNeuralClassifier(16), size=60, random_state=0).fit(X, Y)
    >>> np.unique(learner.memory_.held_rows().Y, axis=0, return_counts=True)[1]
    array([20, 11, 20,  9])
    """

    def __init__(
        self,
        estimator: StreamClassifier,
        *,
        size: int = 2000,
        epochs: int = 10,
        share: float = 0.2,
        dtype: str = "float32",
        random_state: RandomStateLike = None,
    ) -> None:
        self.estimator = estimator
        self.size = size
        self.epochs = epochs
        self.share = share
        self.dtype = dtype
        self.random_state = random_state

    # ------------------------------------------------------------------ hooks
    @property
    def _traits(self) -> Traits:
        return super()._traits._replace(precision=self.dtype)

    def _start(self) -> None:
        self._check_parameters()
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.memory_: BalancedMemory | None = None
        self.n_trainings_ = 0
        self.estimator_ = begin_inner(self, self._chance(0))

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        if self.memory_ is not None:
            self.memory_ = self.memory_.widened(self.n_labels_ - n_before)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self._pass(X, Y, mask, weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        decided, proba = zip(*self._pass(X, Y, mask, None, testing=True), strict=True)
        return np.concatenate(decided), np.concatenate(proba)

    # ------------------------------------------------------------------ parts
    def _pass(
        self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, *, testing: bool = False
    ) -> list[Prediction]:
        """Predict rows and put them into the memory, from one training to the next; keep all if nothing fails."""
        chunk = self._as_rows(X, Y, mask, weight)
        memory = copy(self.memory_) or BalancedMemory(blank(self.size, chunk), self.share, self._seed)
        inner, n_trainings = self.estimator_, self.n_trainings_
        n_rows, learnt = len(chunk.weight), chunk.weight > 0
        slots, due = np.full(n_rows, NONE), np.zeros(n_rows, dtype=bool)
        slots[learnt], due[learnt] = memory.plan(take(chunk, learnt))
        predicted, start = [], 0
        for stop in np.unique([*np.flatnonzero(due) + 1, n_rows]).tolist():
            part = slice(start, stop)
            if testing:
                predicted.append(predict_both(inner, X[part]))
            memory.write(take(chunk, part), slots[part])
            if due[stop - 1]:
                n_trainings += 1
                inner = self._train(memory.held_rows(), self._chance(n_trainings))
            start = stop
        self.memory_, self.estimator_, self.n_trainings_ = memory, inner, n_trainings
        return predicted

    def _as_rows(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> KeptRows:
        if isinstance(X, np.ndarray):
            X = cast_features(X, self.dtype)
        else:
            X = sparse.csr_array((cast_features(X.data, self.dtype), X.indices, X.indptr), shape=X.shape)
        if Y.ndim == 2:
            # a label outside the mask must not decide which group a row is of
            Y = encode_labels(Y if mask is None else Y & mask, mask)
        return KeptRows(X, Y, None, np.ones(len(Y)) if weight is None else weight)

    def _train(self, rows: KeptRows, chance: RandomState) -> StreamClassifier:
        """Return a new classifier that has learnt the rows of the memory."""
        inner = begin_inner(self, None if self.random_state is None else chance)
        Y, mask = self._targets_of(rows)
        for _ in range(self.epochs):
            part = take(KeptRows(rows.X, Y, mask, rows.weight), chance.permutation(len(Y)))
            inner.partial_fit(part.X, part.Y, label_mask=part.mask, sample_weight=part.weight)
        return inner

    def _targets_of(self, rows: KeptRows) -> tuple[Array, Mask | None]:
        """Return the targets of rows as the classifier takes them, and their masks if it uses the task."""
        if rows.Y.ndim == 1:
            return rows.Y, None
        counts = rows.Y >= COUNTS
        return (
            (rows.Y & 1, counts)
            if self.uses_task
            else (as_table(np.where(counts, rows.Y & 1, np.uint8(UNKNOWN))), None)
        )

    def _chance(self, n_trainings: int) -> RandomState:
        return RandomState([self._seed, n_trainings])

    def _check_parameters(self) -> None:
        for name in ("size", "epochs"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be a positive integer. Got {value!r} instead.")
        check_number("share", self.share, maximum=1)
        require_choice(self.dtype, "dtype", PRECISIONS)


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
