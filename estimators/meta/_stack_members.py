"""Members of a stack: which may be one, in which order they are called, and a sample of the rows learnt."""

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Estimator, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.seeding import clone_with_seed
from estimators.contract.targets import as_table
from estimators.contract.traits import traits_of
from estimators.contract.validation import Features
from estimators.meta.binary_relevance import BinaryRelevance
from estimators.replay._kept_rows import KeptRows, blank, replaced, take, widened
from estimators.replay.memories import ReservoirMemory

Members = list[tuple[str, StreamClassifier]]


def as_learners(estimators: Any, taken: Sequence[str]) -> Members:
    """Return unfitted members, those of other packages inside binary relevance; raise if any cannot be one.

    Members are (name, estimator) as the user passed them, where "drop" leaves one out; none may have a name in `taken`.
    """
    pairs = _as_pairs(estimators)
    names = [name for name, _ in pairs]
    for name in names:
        if not isinstance(name, str) or "__" in name or name in taken or names.count(name) > 1:
            raise ValueError(
                f"Names in estimators must be distinct words without '__', and no parameters of the stack. "
                f"Got {name!r} among {names} instead."
            )
    members = [(name, _as_learner(name, one)) for name, one in pairs if not (isinstance(one, str) and one == "drop")]
    if not members:
        raise ValueError("estimators must hold at least one learner. Got 'drop' only instead.")
    return members


def _as_pairs(estimators: Any) -> list[tuple[Any, Any]]:
    pairs = list(estimators) if isinstance(estimators, list | tuple) else []
    if not pairs or any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in pairs):
        raise ValueError(f"estimators must be a list of (name, estimator) pairs. Got {estimators!r} instead.")
    return [tuple(pair) for pair in pairs]


def _as_learner(name: str, estimator: Estimator) -> StreamClassifier:
    if isinstance(estimator, StreamClassifier):
        return estimator
    if isinstance(estimator, type) or not hasattr(estimator, "partial_fit"):
        raise ValueError(
            f"{name} must be a classifier instance with partial_fit, or 'drop'. Got {estimator!r} instead."
        )
    return BinaryRelevance(estimator)


def require_alike(members: Members) -> None:
    """Refuse members that cannot leave out a label, beside those that use the task."""
    if any(one.uses_task for _, one in members):
        for name, one in members:
            if not (one.uses_task or one._traits.learns_unknown):
                raise ValueError(
                    f"{name} must learn unknown labels, beside members that use the task: labels outside a mask are "
                    f"unknown to it. Got {type(one).__name__} instead; BinaryRelevance({type(one).__name__}(...)) does."
                )


def begin_all(members: Members, n_features: int, n_labels: int) -> Members:
    """Return copies at their start state."""
    X, Y = np.zeros((1, n_features)), np.zeros((1, n_labels), dtype=int)
    return [(name, clone_with_seed(one, None).begin(X, Y, n_labels)) for name, one in members]


def predict_all(members: Members, X: Features, *, each: bool = False) -> Array:
    """Return probabilities (n_members, n_rows, n_labels), each row as if alone if `each`."""
    proba = [one._target.probabilities(one._infer_each(X)[1]) if each else one.predict_proba(X) for _, one in members]
    return np.stack(proba).astype(np.float64, copy=False)


def test_then_train_all(members: Members, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> Array:
    """Let every member predict each row, then learn it; return probabilities (n_members, n_rows, n_labels).

    Members that may refuse a row are called first: if there is one, the others need no copies.
    """
    proba = np.empty((len(members), *Y.shape))
    own = as_table(Y)
    shown = own if mask is None else as_table(np.where(mask, Y, np.uint8(UNKNOWN)))
    for k in sorted(range(len(members)), key=lambda k: not traits_of(members[k][1]).fails_late):
        one = members[k][1]
        table, seen = (own, mask) if mask is None or one.uses_task else (shown, None)
        proba[k] = _test_then_train(one, X, table, seen, weight)
    return proba


def _test_then_train(one: StreamClassifier, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> Array:
    if weight is None or (weight == 1).all():
        return one.predict_then_fit(X, Y, label_mask=mask)[1]
    # test-then-train takes no weights
    proba = []
    for i in range(len(Y)):
        row = slice(i, i + 1)
        proba.append(one.predict_proba(X[row]))
        one.partial_fit(X[row], Y[row], label_mask=None if mask is None else mask[row], sample_weight=weight[row])
    return np.concatenate(proba)


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
