"""Label sets and their codes: frequent sets, rows that wait, and subsets that stand for rare sets."""

from collections import Counter, deque
from copy import copy
from itertools import compress
from typing import NamedTuple, Self

import numpy as np

from estimators._typing import Array
from estimators.contract.validation import Features

LabelSet = frozenset[int]


class LearningStep(NamedTuple):
    """Rows (1, n_features) to learn because of one row of the stream, with codes and weights.

    `is_own` is True if these are the row itself and no other; `n_known` is the number of sets with a code after it.
    """

    rows: list[Features]
    codes: list[int]
    weights: list[float]
    is_own: bool
    n_known: int


class WaitingRow(NamedTuple):
    """A row that waits because its label set is rare."""

    row: Features
    labels: LabelSet
    weight: float


class PrunedSets:
    """Codes of frequent sets, counts of rare ones, and the rows that wait; parameters as in `LabelCombination`."""

    def __init__(self, n_labels: int, pruning: int, buffer_size: int, max_sets: int) -> None:
        self.n_labels = n_labels
        self.pruning = pruning
        self.buffer_size = buffer_size
        self.max_sets = max_sets
        self.codes: dict[LabelSet, int] = {}
        self._codes_of_rows: dict[bytes, int] = {}
        self._table: Array = np.zeros((0, n_labels), np.uint8)
        self.counts: Counter[LabelSet] = Counter()
        self.waiting: deque[WaitingRow] = deque()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        # rows that wait are never written to, and copying each takes longer than learning it
        twin = copy(self)
        vars(twin).update({name: copy(part) for name, part in vars(self).items()})
        return twin

    @property
    def n_known(self) -> int:
        """Number of sets that have a code."""
        return len(self.codes)

    def table(self) -> Array:
        """Return the sets as 0/1 rows, in the order of their codes."""
        if len(self._table) < self.n_known:
            self._table = np.frombuffer(bytearray().join(self._codes_of_rows), np.uint8).reshape(-1, self.n_labels)
        return self._table

    def codes_of_known_sets(self, Y: Array) -> tuple[Array, Array] | None:
        """Process rows that can all be learnt at once with their own set, since no set is pruned.

        Returns the codes of the rows, and the number of sets with a code before each; or None, with nothing changed, if
        a row must wait.
        """
        if len(Y) == 1 and (code := self._codes_of_rows.get(Y.tobytes())) is not None:
            return np.array([code]), np.array([self.n_known])
        keys = np.ascontiguousarray(Y, dtype=np.uint8).view(f"V{self.n_labels}").ravel().tolist()
        known, new = self.n_known, [key for key in dict.fromkeys(keys) if key not in self._codes_of_rows]
        if new and (self.pruning or self.waiting or known + len(new) > self.max_sets):
            return None
        for key in new:
            self._add_code(frozenset(compress(range(self.n_labels), key)))
        codes = np.fromiter(map(self._codes_of_rows.__getitem__, keys), np.int64, len(keys))
        return codes, np.maximum.accumulate(np.concatenate([[known], codes[:-1] + 1]))

    def process(self, X: Features, Y: Array, weight: Array | None) -> list[LearningStep]:
        """Process rows in order, and return the learning step of each."""
        weights = np.ones(len(Y)) if weight is None else weight
        return [
            self._process_row(X[i : i + 1], frozenset(np.flatnonzero(Y[i]).tolist()), float(weights[i]))
            for i in range(len(Y))
        ]

    def _process_row(self, row: Features, labels: LabelSet, weight: float) -> LearningStep:
        if weight == 0:
            return LearningStep([], [], [], False, self.n_known)
        if labels in self.codes:
            return LearningStep([row], [self.codes[labels]], [weight], True, self.n_known)
        self.counts[labels] += 1
        if len(self.counts) > self.max_sets + self.buffer_size:
            self.counts = Counter({one: n // 2 for one, n in self.counts.items() if n > 1})
        if self.counts[labels] > self.pruning and self.n_known < self.max_sets:
            return self._promote(row, labels, weight)
        # rows that wait outlive the call, whose array may be reused
        self.waiting.append(WaitingRow(row.copy(), labels, weight))
        if len(self.waiting) <= self.buffer_size:
            return LearningStep([], [], [], False, self.n_known)
        return self._learn_subset(self.waiting.popleft())

    def _promote(self, row: Features, labels: LabelSet, weight: float) -> LearningStep:
        """Assign a code to the set; its rows that wait are learnt before the new one."""
        code = self._add_code(labels)
        del self.counts[labels]
        same_set = [one for one in self.waiting if one.labels == labels]
        self.waiting = deque(one for one in self.waiting if one.labels != labels)
        rows, weights = [*(one.row for one in same_set), row], [*(one.weight for one in same_set), weight]
        return LearningStep(rows, [code] * len(rows), weights, not same_set, self.n_known)

    def _add_code(self, labels: LabelSet) -> int:
        self.codes[labels] = code = len(self.codes)
        self._codes_of_rows[bytes(j in labels for j in range(self.n_labels))] = code
        return code

    def _learn_subset(self, one: WaitingRow) -> LearningStep:
        """Learn a row with the largest frequent subset of its labels, the oldest one on a tie."""
        subsets = [labels for labels in self.codes if labels and labels < one.labels]
        if not subsets:
            return LearningStep([], [], [], False, self.n_known)
        code = self.codes[max(subsets, key=len)]
        return LearningStep([one.row], [code], [one.weight], False, self.n_known)
