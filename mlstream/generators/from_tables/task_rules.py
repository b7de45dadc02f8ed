"""Rules that find tasks in a table: by its labels, by a column, by the features, or by time."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metrics.validation import require_choice
from mlstream.data.in_memory import TableLike, as_dataset
from mlstream.generators._parameters import require_count
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.from_tables.clustering import cluster_into_tasks, group_label_sets, least_rows
from mlstream.generators.schedule.partition import Partition, deal_rows, make_partition
from mlstream.streams.card_model import DropCard
from mlstream.streams.label_sets import has_label
from mlstream.streams.label_values import filled
from mlstream.streams.stream import Dataset, Index, Mask

By = Literal["all", "label-sets", "label-lists", "column", "features", "time"]


@dataclass(frozen=True)
class TaskRule:
    """A rule that finds tasks in a table.

    Tasks are all rows, clusters of label sets, lists of labels, values of a feature, clusters of the features, or
    slices of time. `n_tasks` is not always met: a column with fewer values has fewer tasks, clusters of (nearly) one
    label set are merged, and lists of labels that are given have their own number.

    By default, all labels are dealt to the lists at random, as evenly as can be. If these are `overlapping`, they share
    one part of all labels, and have another part each. With "mask", a row with labels of two tasks belongs to both and,
    where it is learnt, shows in each the labels of that task only; with "drop", it is left out.

    The values of `column` are tasks (cut at quantiles if it has more values than there are tasks), or it tells the
    time, which is otherwise that of the table or the order of the rows. `evaluation_fraction` of each task's rows is to
    be held out: clusters of label sets in which no label varies so much that both its classes are held out, in
    expectation, are merged; and clusters of the features have rows enough for one to be held out (see
    `cluster_features`).
    """

    by: By
    n_tasks: int = 4
    label_lists: Sequence[Sequence[str]] | None = None
    shared_rows: Literal["mask", "drop"] = "mask"
    column: str | None = None
    seed: int = 0
    overlapping: bool = False
    evaluation_fraction: float = 0.30

    def __post_init__(self) -> None:
        require_choice(self.by, "by", tuple(_FINDERS))
        require_choice(self.shared_rows, "shared_rows", ("mask", "drop"))
        require_count(self.n_tasks, "n_tasks")


class Found(NamedTuple):
    """The tasks that a rule found."""

    partition: Partition
    drops: tuple[DropCard, ...] = ()  # rows that belong to no task
    remark: str = ""  # how they were found, for the card's description; often empty


def read_timed(table: TableLike, by: str | None, column: str | None) -> Dataset:
    """Return the table that a user means; the times of a file are read from the column by which rows are sorted."""
    if by == "time" and column is not None and isinstance(table, str | os.PathLike):
        return as_dataset(table, time=column)
    found = as_dataset(table)
    if by == "time" and column is None and found.times is None and found.reading and found.reading.dates:
        warnings.warn(
            f"{found.name}: rows are in the order of the table; --column, or time= of load_dataset, names the "
            f"column of dates that sorts them.",
            stacklevel=3,
        )
    return found


def find_tasks(table: Dataset, rows: Index, rule: TaskRule) -> Found:
    """Find tasks among rows of a table, every label of which occurs.

    Raises ValueError if the table has fewer rows, labels or label sets than tasks, or lacks what the rule names.
    """
    if len(rows) < rule.n_tasks:
        raise ValueError(
            f"{table.name}: there must be at least {rule.n_tasks} rows for the tasks. Got {len(rows)}; ask for fewer "
            f"tasks (n_tasks; of environments, fewer roles)."
        )
    return _FINDERS[rule.by](table, rows, rule)


def _find_one(table: Dataset, rows: Index, _: TaskRule) -> Found:
    return Found(make_partition(table, [rows]))


def _find_by_label_sets(table: Dataset, rows: Index, rule: TaskRule) -> Found:
    labelled = rows[has_label(table.Y[rows])]
    assignment = cluster_into_tasks(table.Y[labelled], rule.n_tasks, rule.evaluation_fraction, seed=rule.seed)
    return Found(group_label_sets(table, rows, assignment, rule.seed))


def _find_by_label_lists(table: Dataset, rows: Index, rule: TaskRule) -> Found:
    signatures = _read_label_lists(table, rule) if rule.label_lists is not None else _deal_labels(table, rule)
    Y = filled(table.Y[rows])
    # Tasks whose labels each row carries.
    carries = (Y.astype(np.int64) @ signatures.T) > 0
    n_carried, labelled = carries.sum(axis=1), Y.any(axis=1)
    if rule.shared_rows == "drop":
        carries &= (n_carried == 1)[:, np.newaxis]
    members = deal_rows([rows[column] for column in carries.T], rows[~labelled], rule.seed)
    drops = [DropCard(what="rows", reason="labels of no task", count=int((labelled & (n_carried == 0)).sum()))]
    if rule.shared_rows == "drop":
        drops.append(DropCard(what="rows", reason="labels of two tasks", count=int((n_carried > 1).sum())))
    partition = make_partition(table, members, signatures=list(signatures), hides_labels=True)
    return Found(partition, tuple(drop for drop in drops if drop.count))


def _deal_labels(table: Dataset, rule: TaskRule) -> Mask:
    n_labels = len(table.label_names)
    n_parts = rule.n_tasks + rule.overlapping
    if n_labels < n_parts:
        raise ValueError(
            f"{table.name}: there must be at least {n_parts} labels for the tasks. Got {n_labels}; ask "
            f"for fewer tasks (n_tasks), or list the labels of each (label_lists)."
        )
    signatures = np.zeros((rule.n_tasks, n_labels), dtype=bool)
    labels = generator_for(Purpose.LABELS, rule.seed).permutation(n_labels)
    n_common = n_labels // n_parts if rule.overlapping else 0
    signatures[:, labels[:n_common]], labels = True, labels[n_common:]
    for signature, part in zip(signatures, np.array_split(labels, rule.n_tasks), strict=True):
        signature[part] = True
    return signatures


def _read_label_lists(table: Dataset, rule: TaskRule) -> Mask:
    lists = [list(names) for names in rule.label_lists or ()]
    if not lists or not all(lists):
        raise ValueError(f"label_lists must hold at least one list, none of them empty. Got {lists}.")
    unknown = set(chain.from_iterable(lists)) - set(table.label_names)
    if unknown:
        raise ValueError(f"label_lists must name labels of {table.name} that occur. Got {min(unknown)!r}.")
    return np.array([np.isin(table.label_names, names) for names in lists])


def _find_by_column(table: Dataset, rows: Index, rule: TaskRule) -> Found:
    values = _read_column(table, rows, rule)
    found, group = np.unique(values, return_inverse=True)
    names = [f"{rule.column}={value:.15g}" for value in found]
    if len(found) > rule.n_tasks:
        # A value never lies in two tasks, so a frequent one can make neighbours fall together.
        cuts = np.unique(np.quantile(values, np.arange(1, rule.n_tasks) / rule.n_tasks))
        group = np.unique(np.searchsorted(cuts, values, side="right"), return_inverse=True)[1]
        names = [f"{rule.column}:{part}" for part in range(int(group.max()) + 1)]
    return _group_by_features(table, [rows[group == part] for part in range(len(names))], names)


def _find_by_features(table: Dataset, rows: Index, rule: TaskRule) -> Found:
    # scikit-learn takes a second to import, and no other rule needs it
    from mlstream.generators.from_tables.feature_clusters import cluster_features

    least = least_rows(rule.evaluation_fraction)
    found = cluster_features(table.X[rows], _spread_of(table), rule.n_tasks, least_rows=least, seed=rule.seed)
    members = [rows[found.assignment == part] for part in range(rule.n_tasks)]
    return _group_by_features(table, members)._replace(remark=found.remark)


def _find_by_time(table: Dataset, rows: Index, rule: TaskRule) -> Found:
    if table.times is not None and rule.column in {None, table.reading and table.reading.time}:
        rows = rows[np.argsort(table.times[rows], kind="stable")]
    elif rule.column is not None:
        rows = rows[np.argsort(_read_column(table, rows, rule), kind="stable")]
    return _group_by_features(table, np.array_split(rows, rule.n_tasks))


def _read_column(table: Dataset, rows: Index, rule: TaskRule) -> npt.NDArray[np.floating]:
    if rule.column not in table.feature_names:
        # Features of a column of words, or of dates.
        made = [name for name in table.feature_names if name.startswith((f"{rule.column}=", f"{rule.column}."))]
        way_out = made and (
            f"; {', '.join(map(repr, made[:3]))}{' and others' * (len(made) > 3)} can be taken, and one feature is "
            f"made of a column with categories='ordinal' or dates='epoch' (--categories ordinal, --dates epoch)"
        )
        rule_of_names = f"column must be a feature of {table.name} that varies"
        raise ValueError(f"{rule_of_names}. Got {rule.column!r} instead{way_out or ''}.")
    values = table.X[:, [table.feature_names.index(rule.column)]]
    return np.asarray(values.toarray() if sparse.issparse(values) else values).ravel()[rows]


def _group_by_features(table: Dataset, members: Sequence[Index], names: Sequence[str] | None = None) -> Found:
    """Compare tasks by the means of their features, on one scale, measured from the mean of all."""
    means = np.array([np.asarray(table.X[rows].mean(axis=0)).ravel() for rows in members])
    profiles = (means - np.asarray(table.X.mean(axis=0)).ravel()) / _spread_of(table)
    return Found(make_partition(table, members, names=names, profiles=profiles))


def _spread_of(table: Dataset) -> npt.NDArray[np.floating]:
    """Return the standard deviation of each feature; 1 for a constant one."""
    if sparse.issparse(table.X):
        mean, square = table.X.mean(axis=0), (table.X * table.X).mean(axis=0)
        spread = np.sqrt(np.maximum(square - mean**2, 0))
    else:
        spread = np.std(table.X, axis=0)
    return np.where(spread > 0, spread, 1)


_FINDERS: dict[By, Callable[[Dataset, Index, TaskRule], Found]] = {
    "all": _find_one,
    "label-sets": _find_by_label_sets,
    "label-lists": _find_by_label_lists,
    "column": _find_by_column,
    "features": _find_by_features,
    "time": _find_by_time,
}
