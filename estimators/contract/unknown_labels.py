"""Unknown labels in a chunk: cells that nobody learns, and rows that have nothing to learn."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Estimator

Mask = npt.NDArray[np.bool_]


def fold_into_mask(codes: Array, mask: Mask | None) -> tuple[Array, Mask]:
    """Return labels and a mask without the unknown cells: a cell counts if it is known and the mask counts it."""
    known = codes != UNKNOWN
    return np.where(known, codes, np.uint8(0)), known if mask is None else mask & known


def rows_to_learn(codes: Array, mask: Mask | None) -> Mask | None:
    """Return which rows have a label to learn, inside the mask if there is one; None if all have."""
    counts = codes != UNKNOWN if mask is None else mask
    has_label = np.asarray(counts.any(axis=1))
    return None if has_label.all() else has_label


def check_all_known(estimator: Estimator, codes: Array, learnt: Mask | None) -> None:
    """Refuse a row that is known in part, for a learner that cannot learn it."""
    unknown = codes == UNKNOWN
    if learnt is not None:
        unknown &= learnt[:, np.newaxis]
    refuse_unknown(unknown, type(estimator).__name__, type(estimator).__name__)


def refuse_unknown(unknown: Mask, name: str, inner: str) -> None:
    """Raise if a cell is unknown in rows that a learner would learn; `inner` is what binary relevance can wrap."""
    if unknown.any():
        row, column = np.argwhere(unknown)[0].tolist()
        raise ValueError(
            f"Y must be known for every label of a row that {name} learns. Got NaN at row {row}, column {column} "
            f"instead; BinaryRelevance({inner}(...)) learns each label from the rows where it is known."
        )


def take_rows(learnt: Mask, *parts: Any) -> tuple[Any, ...]:
    """Return the rows to learn of each part; None stays None."""
    return tuple(None if part is None else part[learnt] for part in parts)


def runs(learnt: Mask) -> Iterator[slice]:
    """Cut rows where learning begins or ends."""
    cuts = [0, *(np.flatnonzero(learnt[1:] != learnt[:-1]) + 1).tolist(), len(learnt)]
    return (slice(start, stop) for start, stop in pairwise(cuts))
