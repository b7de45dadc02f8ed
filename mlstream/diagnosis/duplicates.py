"""Rows that occur twice: the same numbers in learning rows and in evaluation rows."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from scipy import sparse

from mlstream.streams.stream import Features, Mask, Stream


def duplicated_evaluation_rows(stream: Stream) -> tuple[Mask, ...]:
    """Find the rows of each evaluation set whose features all equal those of a learning row of any task."""
    learnt = {digest for experience in stream for digest in row_digests(experience.X)}
    return tuple(
        np.fromiter((digest in learnt for digest in row_digests(held_out.X)), dtype=bool, count=len(held_out))
        for held_out in stream.evaluation_sets
    )


def row_digests(X: Features) -> list[bytes]:
    """Digest rows, 128 bits each, so that rows of equal numbers have equal digests.

    The time is linear in the numbers that are stored. A sparse matrix and a dense one have different digests.

    >>> first, second, third = row_digests(np.array([[1.0, 0.0], [1.0, -0.0], [0.0, 1.0]]))
    >>> first == second, first == third
    (True, False)
    """
    if not sparse.issparse(X):
        # Adding zero makes -0.0 and 0.0 the same bits.
        return [_digest(row) for row in np.ascontiguousarray(X + X.dtype.type(0))]
    table = X.copy()
    table.sum_duplicates()
    table.eliminate_zeros()
    columns = table.indices.astype(np.int64)
    return [
        _digest(columns[start:stop], table.data[start:stop])
        for start, stop in zip(table.indptr[:-1], table.indptr[1:], strict=True)
    ]


def _digest(*arrays: np.typing.NDArray[np.generic]) -> bytes:
    return blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).digest()
