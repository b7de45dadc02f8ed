"""Rows that memories hold: features, targets, masks and weights, slot after slot."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from estimators._typing import Array
from estimators.contract.base import StreamClassifier
from estimators.contract.targets import as_table
from estimators.contract.validation import Features, is_sparse, stack_rows


class KeptRows(NamedTuple):
    """Rows to learn, with all that is needed to learn them; mask is None for learners that do not use the task."""

    X: Features
    Y: Array
    mask: npt.NDArray[np.bool_] | None
    weight: Array


def blank(n_rows: int, like: KeptRows) -> KeptRows:
    """Return so many rows of nothing, of the kind and width of others."""
    shape = n_rows, like.X.shape[1]
    X = sparse.csr_array(shape, dtype=like.X.dtype) if is_sparse(like.X) else np.zeros(shape, like.X.dtype)
    mask = None if like.mask is None else np.ones((n_rows, like.mask.shape[1]), dtype=bool)
    return KeptRows(X, np.zeros((n_rows, *like.Y.shape[1:]), like.Y.dtype), mask, np.ones(n_rows))


def widened(rows: KeptRows, n_new: int, code: int) -> KeptRows:
    """Return rows with more labels, all with a code that stands for an unknown one, and outside the mask."""
    new = (0, 0), (0, n_new)
    mask = None if rows.mask is None else np.pad(rows.mask, new)
    return KeptRows(rows.X, np.pad(rows.Y, new, constant_values=code), mask, rows.weight)


def take(rows: KeptRows, index: Any) -> KeptRows:
    """Take some rows."""
    mask = None if rows.mask is None else rows.mask[index]
    return KeptRows(rows.X[index], rows.Y[index], mask, rows.weight[index])


def join(above: KeptRows, below: KeptRows) -> KeptRows:
    """Put rows under others; sparse, if any are."""
    X = stack_rows([above.X, below.X])
    mask = None if above.mask is None or below.mask is None else np.vstack([above.mask, below.mask])
    return KeptRows(X, np.concatenate([above.Y, below.Y]), mask, np.concatenate([above.weight, below.weight]))


def learn(learner: StreamClassifier, rows: KeptRows) -> StreamClassifier:
    """Let a learner learn rows, and return it."""
    return learner.partial_fit(rows.X, as_table(rows.Y), label_mask=rows.mask, sample_weight=rows.weight)


def replaced(kept: KeptRows, block: KeptRows, held: Array) -> KeptRows:
    """Return what is kept once each slot holds the row it names: a slot, or number of slots + a row of the block."""
    new = held >= len(held)
    if not new.any():
        return kept
    rows = join(kept, take(block, held[new] - len(held)))
    return take(rows, np.where(new, len(held) + np.cumsum(new) - 1, held))
