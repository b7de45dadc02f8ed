"""Balanced accuracy on pools of evaluation sets, so that false alarms on the rows of other tasks count."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add

import numpy as np

from metrics import LabelCounts, ba_macro_from_counts, label_counts
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.settings import OneClass
from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import Indicator, Mask


def count_known(Y: Indicator, decided: Indicator) -> LabelCounts:
    """Count right and wrong decisions of every label on an evaluation set; unknown cells (NaN) do not count.

    The counts are (n_labels,); zeros for a label without a known cell.
    """
    cells = known(Y)
    if not len(Y) or (cells is not None and not cells.any()):
        nothing = np.zeros(Y.shape[1], dtype=np.int64)
        return LabelCounts(nothing, nothing, nothing, nothing)
    return label_counts(filled(Y), decided, label_mask=cells)


def add_counts(counts: Iterable[LabelCounts], n_labels: int) -> LabelCounts:
    """Return the sum of counts of the same labels; of no counts, zeros."""
    nothing = np.zeros(n_labels, dtype=np.int64)
    return reduce(add, counts, LabelCounts(nothing, nothing, nothing, nothing))


def pooled_ba_macro(counts: LabelCounts, pools: Mask, signatures: Mask, one_class: OneClass) -> Floats:
    """Return for each task the balanced accuracy of its labels on a pool of evaluation sets, mean over labels.

    `counts` are (n_sets, n_labels), `pools` the sets of each task's pool, (n_tasks, n_sets), `signatures` the labels of
    each task, (n_tasks, n_labels). NaN where no label can be scored. Counts of disjoint sets of rows add up: a set is
    predicted once, whatever pools it is in. A row that is in two sets of a pool counts twice, as it does where each set
    is scored on its own.
    """
    parts = (counts.tp, counts.fp, counts.fn, counts.tn)
    pooled = LabelCounts(*((pools.astype(np.int64) @ part) * signatures for part in parts))
    return np.asarray(ba_macro_from_counts(pooled, one_class=one_class))
