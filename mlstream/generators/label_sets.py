"""Which rows carry the same labels."""

from __future__ import annotations

import numpy as np

from mlstream.stream import Index, Indicator


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
        bits = np.packbits(Y[:, first : first + 64], axis=1)
        words = np.zeros((len(Y), 8), dtype=np.uint8)
        words[:, : bits.shape[1]] = bits
        found, word = np.unique(words.view(">u8").ravel().astype(np.uint64), return_inverse=True)
        # Both numbers are below the number of rows, so their pair fits 64 bits.
        ids = np.unique(ids * len(found) + word, return_inverse=True)[1]
    return ids
