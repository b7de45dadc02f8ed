"""The schedule by which labels emerge, and the rows that a label needs to emerge in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from mlstream.generators._checks import require_count
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.streams.label_sets import label_set_ids
from mlstream.streams.stream import Dataset, Index, Indicator, Mask


def draw_emergence(Y: Indicator, *, first_labels: int, labels_per_task: int, seed: int) -> Index:
    """Draw the task in which each label emerges, so that rows exist that carry it and no label of a later task.

    Tasks are numbered without gaps. Every label must be known to be present somewhere.

    A task takes label sets of the table, common ones with a greater probability, until it has its number of new labels.
    Where no label set that is left has as few new labels as there is room for, it ends early; a task without any takes
    one of the label sets with the fewest new labels, and then has more labels than asked.
    """
    rng = generator_for(Purpose.LABELS, seed)
    _, first, count = np.unique(label_set_ids(Y), return_index=True, return_counts=True)
    sets: Mask = Y[first] == 1
    task = np.full(Y.shape[1], -1)
    room, width = require_count(first_labels, "first_labels"), require_count(labels_per_task, "labels_per_task")
    number = 0
    while (task < 0).any():
        chosen = _choose(sets & (task < 0), count, room, rng, may_exceed=number not in task)
        task[chosen] = number
        room -= int(chosen.sum())
        if room <= 0 or not chosen.any():
            number, room = number + 1, width
    return task


def _choose(new: Mask, count: Index, room: int, rng: np.random.Generator, *, may_exceed: bool) -> Mask:
    """Choose one label set's new labels; none where all have too many."""
    n_new = new.sum(axis=1)
    fits = (n_new > 0) & (n_new <= room)
    if may_exceed and not fits.any() and n_new.any():
        fits = n_new == n_new[n_new > 0].min()
    if not fits.any():
        return np.zeros(new.shape[1], dtype=bool)
    return np.asarray(new[rng.choice(len(new), p=count * fits / (count * fits).sum())])


def read_emergence(table: Dataset, label_lists: Sequence[Sequence[str]]) -> Index:
    """Return the task in which each label emerges from lists of labels.

    Raises ValueError if a list is empty, or a label is unknown, missing or listed twice.
    """
    lists = [list(names) for names in label_lists]
    if not lists or not all(lists):
        raise ValueError(f"label_lists must hold at least one list, none of them empty. Got {lists}.")
    counts = Counter(chain.from_iterable(lists))
    for name in {*counts, *table.label_names}:
        if counts[name] != 1 or name not in table.label_names:
            where = "once" if name in table.label_names else "only if it occurs in the table"
            raise ValueError(f"label_lists must list each label {where}. Got {name!r} {counts[name]} times.")
    return np.array([next(task for task, names in enumerate(lists) if name in names) for name in table.label_names])


def first_tasks(Y: Indicator, emergence: Index) -> Index:
    """Return the first task in which each row can be: that in which the last of its labels emerges.

    It is 0 for rows without labels known to be present.
    """
    return np.asarray(((Y == 1) * emergence).max(axis=1))
