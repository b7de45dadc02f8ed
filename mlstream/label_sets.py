"""Which rows carry the same labels, and how many label sets there are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mlstream.stream import Index, Indicator

_BLOCK = 256


def label_set_ids(Y: Indicator) -> Index:
    """Give rows with the same labels the same number.

    Parameters
    ----------
    Y : ndarray of uint8, shape (n_samples, n_labels)
        Label indicator.

    Returns
    -------
    ndarray of int64, shape (n_samples,)
        Equal for rows with equal labels; the numbers are 0, 1, ... without gaps.

    Examples
    --------
    >>> label_set_ids(np.array([[1, 0], [0, 1], [1, 0]], dtype=np.uint8)).tolist()
    [1, 0, 1]
    """
    ids = np.zeros(len(Y), dtype=np.int64)
    for first in range(0, Y.shape[1], 64):
        found, word = np.unique(_pack(Y[:, first : first + 64]), return_inverse=True)
        # Both numbers are below the number of rows, so their pair fits 64 bits.
        ids = np.unique(ids * len(found) + word, return_inverse=True)[1]
    return ids


def count_label_sets(Y: Indicator) -> int:
    """Count the distinct label sets of rows.

    Parameters
    ----------
    Y : ndarray of uint8, shape (n_samples, n_labels)
        Label indicator.

    Returns
    -------
    int
        Number of distinct rows.

    Examples
    --------
    >>> count_label_sets(np.array([[1, 0], [0, 1], [1, 0]], dtype=np.uint8))
    2
    """
    if Y.shape[1] <= 16:
        return int(np.count_nonzero(np.bincount(_pack(Y).view(np.uint16)[::4])))
    return int(label_set_ids(Y).max(initial=-1)) + 1


def count_labels(Y: Indicator) -> Index:
    """Count the rows that carry each label.

    Parameters
    ----------
    Y : ndarray of uint8, shape (n_samples, n_labels)
        Label indicator.

    Returns
    -------
    ndarray of int64, shape (n_labels,)
        Counts.

    Examples
    --------
    >>> count_labels(np.array([[1, 0], [1, 1]], dtype=np.uint8)).tolist()
    [2, 1]
    """
    # Rows are narrow: NumPy adds long vectors of many rows several times faster than row after row.
    whole = len(Y) - len(Y) % _BLOCK
    blocks = np.ascontiguousarray(Y[:whole]).reshape(whole // _BLOCK, _BLOCK * Y.shape[1])
    counts = blocks.sum(axis=0, dtype=np.int64).reshape(_BLOCK, Y.shape[1]).sum(axis=0)
    return np.asarray(counts + Y[whole:].sum(axis=0, dtype=np.int64))


def _pack(Y: Indicator) -> npt.NDArray[np.uint64]:
    """Write up to 64 labels as the bits of one whole number."""
    bits = np.packbits(Y, axis=1)
    words = np.zeros((len(Y), 8), dtype=np.uint8)
    words[:, : bits.shape[1]] = bits
    return words.view(np.uint64).ravel()
