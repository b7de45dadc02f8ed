"""Label sets: groups of rows with the same labels, and statistics of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import Experience, Index, Indicator, Mask

Floats = npt.NDArray[np.float64]

_BLOCK = 256


def label_set_ids(Y: Indicator) -> Index:
    """Assign a number to each label set, 0, 1, ... without gaps: rows with the same labels share it.

    The label set of a row with unknown labels is that of the labels known to be present.
    """
    ids = np.zeros(len(Y), dtype=np.int64)
    for first in range(0, Y.shape[1], 64):
        found, word = np.unique(_pack(Y[:, first : first + 64]), return_inverse=True)
        # Both numbers are below the number of rows, so their pair fits 64 bits.
        ids = np.unique(ids * len(found) + word, return_inverse=True)[1]
    return ids


def count_label_sets(Y: Indicator) -> int:
    """Count the distinct label sets of rows; unknown labels count as absent."""
    if Y.shape[1] <= 16:
        return int(np.count_nonzero(np.bincount(_pack(Y).view(np.uint16)[::4])))
    return int(label_set_ids(Y).max(initial=-1)) + 1


def count_labels(Y: Indicator) -> Index:
    """Count the rows that carry each label; an unknown label is not counted."""
    cells = filled(Y)
    # Rows are narrow: NumPy adds long vectors of many rows several times faster than row after row.
    whole = len(cells) - len(cells) % _BLOCK
    blocks = np.ascontiguousarray(cells[:whole]).reshape(whole // _BLOCK, _BLOCK * cells.shape[1])
    counts = blocks.sum(axis=0, dtype=np.int64).reshape(_BLOCK, cells.shape[1]).sum(axis=0)
    return np.asarray(counts + cells[whole:].sum(axis=0, dtype=np.int64))


def has_label(Y: Indicator) -> Mask:
    """Find the rows that carry a label, or may: those with a label that is present or unknown."""
    return np.asarray(filled(Y, 1).any(axis=1))


def label_frequencies(Y: Indicator) -> Floats:
    """Return how often each label is present where it is known; 0 where it is never known."""
    cells = known(Y)
    n_known = np.full(Y.shape[1], len(Y)) if cells is None else cells.sum(axis=0)
    return np.asarray(count_labels(Y) / np.maximum(n_known, 1))


def expected_labels(Y: Indicator) -> npt.NDArray[np.uint8] | Floats:
    """Replace every unknown label by the label's frequency where it is known: its expected value.

    Returns `Y` itself where every label is known.
    """
    cells = known(Y)
    return filled(Y) if cells is None else np.where(cells, Y, label_frequencies(Y))


def expected_counts(Y: Indicator) -> Index | Floats:
    """Count the rows that carry each label, an unknown label as the label's frequency where it is known.

    Counts are whole numbers where every label is known.
    """
    return count_labels(Y) if known(Y) is None else label_frequencies(Y) * len(Y)


class LabelStatistics(NamedTuple):
    """Statistics of the labels of some rows.

    Where labels are unknown, frequencies where they are known take the place of values and counts.
    """

    cardinality: float  # mean number of labels of a row; 0 without rows
    density: float  # cardinality divided by the number of labels that can occur
    diversity: float  # distinct label sets divided by the greatest possible number, ``min(n_rows, 2 ** n_labels)``
    # mean, over labels that occur, of the commonest's count divided by the label's; NaN if none occurs
    imbalance: float


def label_statistics(Y: Indicator, signature: Mask) -> LabelStatistics:
    """Measure the labels of rows that can occur by a signature, (n_labels,).

    >>> Y = np.array([[1, 1, 0], [1, 0, 0]], dtype=np.uint8)
    >>> label_statistics(Y, np.array([True, True, False]))
    LabelStatistics(cardinality=1.5, density=0.75, diversity=1.0, imbalance=1.5)
    """
    rows = Y if signature.all() else Y[:, signature]
    n_rows, n_labels = rows.shape
    counts = expected_counts(rows)
    occurring = counts[counts > 0]
    cardinality = float(counts.sum() / n_rows) if n_rows else 0.0
    return LabelStatistics(
        cardinality,
        density=cardinality / n_labels if n_labels else 0.0,
        diversity=count_label_sets(rows) / min(n_rows, 2**n_labels) if n_rows and n_labels else 0.0,
        imbalance=float((occurring.max() / occurring).mean()) if occurring.size else float("nan"),
    )


def signature_overlap(signatures: Mask) -> npt.NDArray[np.float64]:
    """Return the Jaccard index of every two signatures, (n_tasks, n_tasks): labels in both divided by labels in either.

    It is 1 for two empty ones.
    """
    shared = signatures.astype(np.int64) @ signatures.T.astype(np.int64)
    sizes = signatures.sum(axis=1)
    either = sizes[:, np.newaxis] + sizes - shared
    return np.asarray(np.divide(shared, either, out=np.ones(shared.shape), where=either > 0))


def _pack(Y: Indicator) -> npt.NDArray[np.uint64]:
    """Write up to 64 labels as the bits of one whole number."""
    bits = np.packbits(filled(Y), axis=1)
    words = np.zeros((len(Y), 8), dtype=np.uint8)
    words[:, : bits.shape[1]] = bits
    return words.view(np.uint64).ravel()


def labels_that_count(experience: Experience) -> Indicator:
    """Return the labels of an experience, those outside its mask absent."""
    mask = experience.label_mask
    return experience.Y if mask.all() else np.where(mask, experience.Y, experience.Y.dtype.type(0))


class Repetition(NamedTuple):
    """Rows that repeat the label set of the row before."""

    n_rows: int
    n_repeated: int  # the first row repeats the empty set
    n_by_chance: float  # mean of `n_repeated` over all orders of the same rows


def count_repeated(Y: Indicator) -> Repetition:
    """Count the rows that repeat the label set of the row before, and how many do so by chance.

    The count is how often a learner that predicts the last label set is right. The label set of a row with unknown
    labels is that of the labels known to be present.

    In a random order, two neighbours are any two of the n rows: of the c rows of a label set, c - 1 in n - 1 are
    followed by another one. Over all label sets that is the sum of c (c - 1) / n, about the sum of squared frequencies.
    """
    if not len(Y):
        return Repetition(0, 0, 0.0)
    ids = label_set_ids(Y) if Y.shape[1] > 16 else _small_codes(Y)
    counts = np.bincount(ids)
    is_empty = ~(Y == 1).any(axis=1)
    n_pairs = int((counts * (counts - 1)).sum())
    n_empty = int(np.count_nonzero(is_empty))
    n_repeated = int(np.count_nonzero(ids[1:] == ids[:-1])) + int(is_empty[0])
    return Repetition(len(Y), n_repeated, (n_pairs + n_empty) / len(Y))


def _small_codes(Y: Indicator) -> Index:
    """Write up to 16 labels as the bits of one whole number."""
    bits = np.packbits(Y == 1, axis=1).astype(np.int64)
    return np.asarray(bits @ 256 ** np.arange(bits.shape[1]))
