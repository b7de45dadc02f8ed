"""Tasks from label sets: cluster the label vectors of a table and visit the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metrics.validation import require_choice
from mlstream.cards.description import describe_stream
from mlstream.data.in_memory import TableLike, as_dataset
from mlstream.generators._parameters import describe_call, require_count
from mlstream.generators.from_tables.cleaning import Keep, clean
from mlstream.generators.from_tables.doubtful_tasks import warn_of_doubtful_tasks
from mlstream.generators.from_tables.spherical_kmeans import published_spherical_kmeans, spherical_kmeans
from mlstream.generators.schedule.experiences import lay_out
from mlstream.generators.schedule.partition import Partition, deal_rows, make_partition
from mlstream.generators.schedule.visit_plan import OrderName, Shape, VisitPlan
from mlstream.streams.card_model import ScenarioCard
from mlstream.streams.label_sets import expected_labels, has_label, label_set_ids
from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import Dataset, Index, Indicator, Mask, Stream

Variant = Literal["standard", "published"]

# 1 / 0.1 is not below 10: quotients this near to a whole number are that number.
_ROUNDING = 1e-9
# Digits to which the directions of label vectors are compared.
_DIGITS = 7


def task_stream(  # noqa: PLR0913 - the options of a generator are what its card holds
    dataset: TableLike,
    *,
    n_tasks: int = 4,
    seed: int = 0,
    n_init: int = 10,
    variant: Variant = "standard",
    unlabelled: Keep = "drop",
    constant_features: Keep = "drop",
    merge_single_label: bool = True,
    name: str | None = None,
    learning_fractions: Sequence[float] = (0.35, 0.35),
    evaluation_fraction: float = 0.30,
    order: Sequence[int] | OrderName | None = None,
    stratified: bool = False,
    window: int = 0,
    shape: Shape = "linear",
) -> Stream:
    """Make a stream of tasks from a multi-label table: clusters of label sets, visited one after the other.

    Parameters
    ----------
    dataset : Dataset, str, path, Bunch or tuple
        A table, as `mlstream.data.as_dataset` takes it: a Dataset, its name or path, a scikit-learn Bunch, or (X, Y).
    n_tasks : int
        Number of clusters of label vectors, before merging.
    seed : int
        Source of everything random.
    n_init : int
        Random starts of the clustering.
    variant : {"standard", "published"}
        The clustering: the best of `n_init` starts, or the procedure that gives the tasks of the literature, whatever
        the seed.
    unlabelled : {"drop", "keep"}
        What happens to rows without any label. Kept, they are dealt to the tasks at random, in proportion to the sizes
        of the tasks.
    constant_features : {"drop", "keep"}
        What happens to features with one value only.
    merge_single_label : bool
        Merge a cluster with one label into the nearest cluster by cosine of the means of their label vectors. Unless
        the variant is "published", so is a cluster of one label set, or nearly one: where no label is both present and
        absent in a row that is held out, in expectation, scores would not be defined.
    name : str, optional
        Name of the stream; by default that of the table with "-tasks" added.
    learning_fractions : sequence of float
        Share of each task's rows that each of its visits gets; two numbers are two visits.
    evaluation_fraction : float
        Share of each task's rows that is held out.
    order : sequence of int or {"random", "similarity", "dissimilarity", "interleaved"}, optional
        Task of each experience, each task as often as there are learning fractions; or the rule that gives it. By
        default, and by "random", a seeded permutation of the tasks, repeated once per learning fraction.
    stratified : bool
        Spread every label set of a task evenly over its parts.
    window : int
        Rows around each boundary in which a task gives way to the next one; 0 is an abrupt boundary. More rows than an
        experience has blend several tasks at a time.
    shape : {"linear", "sigmoid"}
        How the share of the next task rises in the window.

    Returns
    -------
    Stream
        Each row that is kept is in exactly one experience or evaluation set; the card lists the other rows.

    Raises
    ------
    ValueError
        If an option is not one of its values, the table has fewer label sets than tasks, or a part would be empty.

    Warns
    -----
    DoubtfulTasksWarning
        If there are fewer tasks than `n_tasks`, one of several has more than 60 % of the rows, or half of the rows of
        the table were dropped without a label.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.repeat(np.eye(4, dtype=np.uint8) + np.eye(4, k=1, dtype=np.uint8), 20, axis=0)
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> table = Dataset(X, Y, ("a", "b", "c"), ("k", "l", "m", "n"), name="toy")
    >>> task_stream(table, n_tasks=2, seed=0)
    Stream('toy-tasks': 4 experiences of 2 tasks, 56 rows, 3 features, 4 labels)
    """
    given, source = dict(locals()), as_dataset(dataset)
    require_choice(variant, "variant", ("standard", "published"))
    visits = VisitPlan(tuple(learning_fractions), evaluation_fraction, order, stratified, window, shape, seed)
    table, rows, drops = clean(source, unlabelled=unlabelled, constant_features=constant_features)
    labelled = rows[has_label(table.Y[rows])]
    Y = table.Y[labelled]
    if merge_single_label:
        assignment = cluster_into_tasks(Y, n_tasks, evaluation_fraction, seed=seed, n_init=n_init, variant=variant)
    else:
        assignment = cluster_label_sets(Y, n_tasks, seed=seed, n_init=n_init, variant=variant)
    partition = group_label_sets(table, rows, assignment, seed)
    parts, unused = lay_out(table, partition, visits)
    name = name or f"{source.name}-tasks"
    n_merged = n_tasks - len(partition)
    merges = f"; clusters with one label, or nearly one label set, that were merged into others: {n_merged}"
    card = describe_stream(
        table,
        parts,
        name=name,
        description=f"Tasks from the label sets of {source.name}, visited {len(learning_fractions)} times each"
        f"{merges if n_merged else ''}.",
        generator=describe_call(task_stream, given | visits.describe() | {"name": name}),
        scenario=ScenarioCard(name="task-based", boundary=visits.boundary, task_identity="training"),
        drops=[*drops, *unused],
    )
    warn_of_doubtful_tasks(card, n_tasks)
    return Stream(parts.with_keys(table.keys), card)


def cluster_into_tasks(
    Y: Indicator,
    n_tasks: int,
    evaluation_fraction: float,
    *,
    seed: int,
    n_init: int = 10,
    variant: Variant = "standard",
) -> Index:
    """Cluster rows as `cluster_label_sets` does, then merge clusters whose labels would hardly vary in a held-out part.

    Clusters of the published variant are merged only if they have one label.
    """
    assignment = cluster_label_sets(Y, n_tasks, seed=seed, n_init=n_init, variant=variant)
    least = 0 if variant == "published" else least_rows(evaluation_fraction)
    return merge_single_label_clusters(Y, assignment, least_rows=least)


def cluster_label_sets(
    Y: Indicator, n_tasks: int, *, seed: int = 0, n_init: int = 10, variant: Variant = "standard"
) -> Index:
    """Cluster the label vectors of rows by their directions; rows with the same labels are together.

    Every row has a label. An unknown label is replaced by the label's frequency where it is known. "published" gives
    the tasks of the literature, with a seed of its own; "standard" keeps the best of all starts. Raises ValueError if
    there are fewer distinct label sets than clusters.
    """
    require_count(n_tasks, "n_tasks")
    label_sets = _distinct_vectors(Y)
    if (n_sets := _count_directions(label_sets.vectors)) < n_tasks:
        known_by = "" if known(Y) is None else ", unknown labels taken for their frequencies,"
        raise ValueError(
            f"n_tasks must be at most the number of distinct label sets. "
            f"Got {n_tasks} tasks for {n_sets} label set{'s' * (n_sets > 1)}{known_by} in {len(Y)} labelled rows."
        )
    if variant == "published":
        return published_spherical_kmeans(expected_labels(Y), n_tasks, n_init=n_init).assignment
    # Rows with the same labels never part, so each label set is clustered once, weighted by its rows.
    found = spherical_kmeans(
        sparse.csr_array(label_sets.vectors), n_tasks, seed=seed, n_init=n_init, sample_weight=label_sets.counts
    )
    return found.assignment[label_sets.ids]


def greatest_n_tasks(Y: Indicator) -> int:
    """Return the number of clusters above which `cluster_label_sets` refuses rows."""
    return _count_directions(_distinct_vectors(Y).vectors)


def group_label_sets(table: Dataset, rows: Index, assignment: Index, seed: int) -> Partition:
    """Make a task of each cluster of labelled rows, and deal the rows without labels to them.

    `rows` are in ascending order; `assignment` holds the cluster of each of them that carries a label.
    """
    may_carry = has_label(table.Y[rows])
    labelled = rows[may_carry]
    members = [labelled[assignment == task] for task in range(int(assignment.max()) + 1)]
    return make_partition(table, deal_rows(members, rows[~may_carry], seed))


def least_rows(evaluation_fraction: float) -> int:
    """Return the number of rows of which one is held out, in expectation.

    A task needs so many rows with, and without, one of its labels.
    """
    return ceil(1 / evaluation_fraction - _ROUNDING)


def merge_single_label_clusters(Y: Indicator, assignment: npt.NDArray[np.integer], *, least_rows: int = 0) -> Index:
    """Merge clusters that have one label only, or nearly one label set, into their nearest neighbours.

    A cluster is also merged if none of its labels, known to be present, is in `least_rows` of its rows, and absent in
    as many: 0 merges clusters with one label only, 1 also those with one label set, more those with nearly one.
    Clusters are merged one at a time, the one of least number first, into the one whose mean label vector has the
    greatest cosine with its own (of equals, the smallest, then that of least number), until none is left to merge, or
    one cluster is left. They are then numbered without gaps.
    """
    cluster: Index = np.unique(assignment, return_inverse=True)[1]
    counts = _label_counts(Y, cluster)
    while len(counts) > 1 and (single := np.flatnonzero(_hardly_vary(counts, _absences(Y, cluster), least_rows))).size:
        source = int(single[0])
        # A cluster in which no label is known to be present points nowhere.
        unit = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1)
        # Rounded, so that equal cosines tie: all are 0 where no other cluster has one of the labels.
        cosine = (unit @ unit[source]).round(12)
        cosine[source] = -1
        size = np.where(cosine == cosine.max(), np.bincount(cluster), len(cluster) + 1)
        cluster = np.where(cluster == source, np.argmin(size), cluster)
        cluster = np.unique(cluster, return_inverse=True)[1]
        counts = _label_counts(Y, cluster)
    return cluster


class _LabelSets(NamedTuple):
    """The distinct label vectors of rows."""

    vectors: npt.NDArray[np.generic]
    ids: Index  # Vector of each row.
    counts: Index  # Rows of each vector.


def _distinct_vectors(Y: Indicator) -> _LabelSets:
    cells = known(Y)
    # Rows that differ in what is unknown have different vectors.
    ids = label_set_ids(Y if cells is None else np.hstack([filled(Y), ~cells]).view(np.uint8))
    _, first, counts = np.unique(ids, return_index=True, return_counts=True)
    return _LabelSets(expected_labels(Y)[first], ids, counts)


def _count_directions(vectors: npt.NDArray[np.generic]) -> int:
    """Count the directions of label vectors, which differ unless some hold frequencies for unknown labels."""
    if not np.issubdtype(vectors.dtype, np.floating):
        return len(vectors)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return len(np.unique(unit.round(_DIGITS), axis=0))


def _hardly_vary(present: npt.NDArray[np.float64], absent: npt.NDArray[np.float64], least_rows: int) -> Mask:
    """Return the clusters with one label, or without a label that is known to be there and not there so often."""
    return np.asarray(((present > 0).sum(axis=1) <= 1) | (np.minimum(present, absent).max(axis=1) < least_rows))


def _absences(Y: Indicator, cluster: Index) -> npt.NDArray[np.float64]:
    """Count the rows of each cluster that are known to be without each label."""
    return _label_counts(1 - filled(Y, 1), cluster)


def _label_counts(Y: Indicator, cluster: Index) -> npt.NDArray[np.float64]:
    """Count each cluster's labels: the direction of its mean label vector."""
    members = sparse.csr_array((np.ones(len(cluster)), (cluster, np.arange(len(cluster)))))
    return np.asarray(members @ filled(Y))
