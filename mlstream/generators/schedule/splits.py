"""Split the rows of tasks into learning parts and evaluation sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.schedule.partition import Partition
from mlstream.generators.schedule.visit_plan import VisitPlan, part_sizes
from mlstream.streams.label_sets import label_set_ids
from mlstream.streams.label_values import filled
from mlstream.streams.stream import Dataset, Index


def split_tasks(table: Dataset, partition: Partition, visits: VisitPlan, *, shuffle: bool = True) -> list[list[Index]]:
    """Split each task's rows into its learning parts, in order, and its evaluation set, which comes last.

    A row that belongs to several tasks plays the same part in all of them, so that no row is learnt in one task and
    evaluated in another. Without `shuffle`, each task's rows are cut in their order; stratified splits, and those of
    tasks that share rows, are always random. Raises ValueError if a part would be empty.
    """
    if partition.shares_rows:
        parts = _split_shared(table, partition, visits)
    else:
        parts = [_split_alone(table, task, rows, visits, shuffle) for task, rows in enumerate(partition.members)]
    for task, (rows, split) in enumerate(zip(partition.members, parts, strict=True)):
        n_empty = sum(not len(part) for part in split)
        if n_empty:
            raise ValueError(
                f"Every experience and evaluation set must hold rows. Got {n_empty} of {len(split)} without any "
                f"for task {task} with {len(rows)} rows, where the least fraction is {min(visits.fractions):.3g}; ask "
                f"for fewer tasks of more rows, or greater fractions."
            )
    return parts


def _split_alone(table: Dataset, task: int, rows: Index, visits: VisitPlan, shuffle: bool) -> list[Index]:
    sizes = part_sizes(len(rows), visits)
    rng = generator_for(Purpose.SPLIT, visits.seed, task)
    if visits.stratified:
        return split_evenly(rows, label_set_ids(table.Y[rows]), sizes, rng)
    return np.split(rng.permutation(rows) if shuffle else rows, np.cumsum(sizes))[: len(sizes)]


def _split_shared(table: Dataset, partition: Partition, visits: VisitPlan) -> list[list[Index]]:
    rows = np.unique(np.concatenate(partition.members))
    belongs = np.column_stack([np.isin(rows, members) for members in partition.members]).astype(np.uint8)
    strata = label_set_ids(np.hstack([belongs, filled(table.Y[rows])]) if visits.stratified else belongs)
    rng = generator_for(Purpose.SPLIT, visits.seed)
    parts = split_evenly(rows, strata, part_sizes(len(rows), visits), rng)
    return [[part[np.isin(part, members)] for part in parts] for members in partition.members]


def split_evenly(rows: Index, strata: Index, sizes: Sequence[int], rng: np.random.Generator) -> list[Index]:
    """Split rows so that every part has its size, and its proportion of every stratum to within a row or so.

    The rows of each part are shuffled. Sizes add up to at most the number of rows.
    """
    shuffled = rng.permutation(len(rows))
    by_stratum = rows[shuffled[np.argsort(strata[shuffled], kind="stable")]]
    part = _spread(sizes, len(rows))
    return [rng.permutation(by_stratum[part == index]) for index in range(len(sizes))]


def _spread(sizes: Sequence[int], n_rows: int) -> Index:
    """Deal positions to parts so that every run of neighbours is shared out in proportion."""
    # Positions that no part takes are dealt like one more part.
    sizes = [*sizes, n_rows - sum(sizes)]
    place = np.concatenate([(np.arange(size) + 0.5) / max(size, 1) for size in sizes])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner[np.argsort(place, kind="stable")]
