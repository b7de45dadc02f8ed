"""Replay around any of our classifiers."""

from collections.abc import Callable
from copy import copy, deepcopy
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.row_codes import COUNTS, encode_labels
from estimators.contract.targets import as_table
from estimators.contract.validation import Features
from estimators.replay._kept_rows import KeptRows, blank, join, learn, replaced, take, widened
from estimators.replay._meta_base import OuterClassifier, begin_inner
from estimators.replay.label_memories import Reservoir
from estimators.replay.memories import FIFOMemory, begin_memories, join_plans, replay_order

T = TypeVar("T")
Integers = npt.NDArray[np.int64]
BLOCK = 4096  # rows of a chunk that are put in order with those replayed with them, at a time


class ReplayClassifier(OuterClassifier):
    """Learn each row, then rows drawn from memories of earlier ones, with any of our classifiers.

    Parameters
    ----------
    estimator : StreamClassifier
        The classifier that learns.
    reservoir : ReservoirMemory, PRSMemory, OCDMMemory or None, default=None
        Memory with a sample of all rows, even or balanced by label, drawn from first.
    fifo : FIFOMemory or None, default=None
        Memory of the last rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and, unless None, of the classifier.

    Attributes
    ----------
    estimator_ : StreamClassifier
        The classifier, as it has learnt.
    memories_ : list
        The memories, the reservoir first.
    rows_ : tuple or None
        The rows they hold, slot after slot: features, targets, masks and weights.

    Notes
    -----
    Rows drawn are learnt with the masks and weights they came with, and their unknown labels stay unknown. A row whose
    labels are all unknown is neither stored nor a reason to draw. Labels that appear after the first call are refused,
    or learnt, as by the classifier: in the rows held they are unknown. Each row and those replayed with it are put
    one after the other, and the classifier learns them in one call, at its own speed. `OnlineNeuralClassifier` replays
    by itself, without the copies, and can learn a row and what is replayed with it in one step.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import MeanLabelsClassifier, ReplayClassifier, ReservoirMemory
    >>> X = np.zeros((100, 1))
    >>> Y = np.arange(100)[:, np.newaxis] >= 80
    >>> learner = ReplayClassifier(MeanLabelsClassifier(), reservoir=ReservoirMemory(50), random_state=0).fit(X, Y)
    >>> bool(learner.predict_proba(X[:1])[0, 0] < 0.2)
    True
    """

    def __init__(
        self,
        estimator: StreamClassifier,
        *,
        reservoir: Reservoir | None = None,
        fifo: FIFOMemory | None = None,
        random_state: RandomStateLike = None,
    ) -> None:
        self.estimator = estimator
        self.reservoir = reservoir
        self.fifo = fifo
        self.random_state = random_state

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        random_state = check_random_state(self.random_state)
        self.memories_ = begin_memories(self.reservoir, self.fifo, random_state)
        self.rows_: KeptRows | None = None
        self.estimator_ = begin_inner(self, None if self.random_state is None else random_state)

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        if self.rows_ is not None:
            self.rows_ = widened(self.rows_, self.n_labels_ - n_before, 0 if self.uses_task else UNKNOWN)

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:
        in_one_call = n_rows == 1 or not testing or not self._has_weights()
        return [] if in_one_call or not self._traits.fails_late else ["estimator_"]

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        chunk = self._as_rows(X, Y, mask, weight)
        self._replay(chunk, lambda inner, rows, _: learn(inner, rows))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        if self._has_weights():
            return super()._predict_then_learn(X, Y, mask)  # test-then-train takes no weights
        decided, proba = zip(*self._replay(self._as_rows(X, Y, mask, None), _test_then_train), strict=True)
        return np.concatenate(decided), np.concatenate(proba)

    # ------------------------------------------------------------------ parts
    def _has_weights(self) -> bool:
        return self.rows_ is not None and bool((self.rows_.weight != 1).any())

    def _as_rows(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> KeptRows:
        if mask is None and self.uses_task:
            mask = np.ones((len(Y), self.n_labels_), dtype=bool)
        return KeptRows(X, Y, mask, np.ones(len(Y)) if weight is None else weight)

    def _codes(self, block: KeptRows) -> Array:
        """Return label + 2 * (does it count?) for each label; each class is one."""
        if block.Y.ndim == 1:
            return np.eye(len(self.classes_), dtype=np.uint8)[block.Y] + COUNTS
        return encode_labels(block.Y, block.mask)

    def _replay(self, chunk: KeptRows, update: Callable[[StreamClassifier, KeptRows, Integers], T]) -> list[T]:
        """Learn a chunk and the rows replayed with it, block by block."""
        n_rows = len(chunk.weight)
        inner = self.estimator_ if n_rows <= BLOCK or not self._traits.fails_late else deepcopy(self.estimator_)
        memories, kept = [copy(memory) for memory in self.memories_], self.rows_
        if kept is None:
            kept = blank(sum(memory.size for memory in memories), chunk)
        results = []
        for i in range(0, n_rows, BLOCK):
            block = take(chunk, slice(i, i + BLOCK))
            learnt = block.weight > 0
            order, own, held = replay_order(join_plans(memories, self._codes(block), learnt), learnt, len(kept.weight))
            if len(order):
                results.append(update(inner, _gather(kept, block, order), own))
            kept = replaced(kept, block, held)
        self.estimator_, self.memories_, self.rows_ = inner, memories, kept
        return results


def _gather(kept: KeptRows, block: KeptRows, order: Integers) -> KeptRows:
    old = order < len(kept.weight)
    rows = join(take(kept, order[old]), take(block, order[~old] - len(kept.weight)))
    return take(rows, np.where(old, np.cumsum(old) - 1, old.sum() + np.cumsum(~old) - 1))


def _test_then_train(inner: StreamClassifier, rows: KeptRows, own: Integers) -> tuple[Array, Array]:
    """Predict, then learn; return the predictions for the rows of the block, without those for rows replayed."""
    decided, proba = inner.predict_then_fit(rows.X, as_table(rows.Y), label_mask=rows.mask)
    return decided[own], proba[own]
