"""Diagnosis of a stream: labels of each task, and how tasks and their parts differ or overlap."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metrics import label_persistence
from mlstream.diagnosis.task_distances import TaskDistances, task_distances
from mlstream.streams.label_sets import (
    count_labels,
    count_repeated,
    label_statistics,
    labels_that_count,
    signature_overlap,
)
from mlstream.streams.label_values import filled, unknown_share
from mlstream.streams.stream import Experience, Features, Indicator, Mask, Stream

Counts = sparse.csr_array


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelDiagnosis:
    """Statistics of the labels of some rows; see also `mlstream.streams.label_sets.LabelStatistics`."""

    n_rows: int
    n_labels: int  # labels that can occur
    unknown_share: float  # of the cells of the labels that can occur
    cardinality: float
    density: float
    diversity: float
    imbalance: float
    co_occurrence: Counts  # over all labels of the stream; the diagonal counts each label


@dataclass(frozen=True, eq=False, kw_only=True)
class TaskDiagnosis:
    """Statistics of one task."""

    name: str
    labels: LabelDiagnosis  # of learning and evaluation rows together, labels of the signature only
    n_duplicates: int  # evaluation rows whose features all equal those of a learning row of any task
    n_new_label_sets: int  # evaluation rows whose label set, in the signature, no learning row of the task has
    unlearnt_labels: tuple[str, ...]  # labels of the signature that no learning row of the task carries


@dataclass(frozen=True, eq=False, kw_only=True)
class ExperienceDiagnosis:
    """Persistence of the labels that count in one experience."""

    n_rows: int  # rows to learn from
    repeated: float  # share of rows with the label set of the row before; NaN without rows
    by_chance: float  # mean of that share over all orders of the same rows; NaN without rows
    kappa: float  # of a label with its last value (Cohen), mean over labels: 0 independent, 1 persistent; NaN: constant


@dataclass(frozen=True, eq=False, kw_only=True)
class Diagnosis:
    """Statistics of a stream.

    Parameters
    ----------
    overall : LabelDiagnosis
        Of all rows together, all labels.
    tasks : tuple of TaskDiagnosis
        One for each task.
    experiences : tuple of ExperienceDiagnosis
        One for each experience.
    signature_overlap : ndarray of shape (n_tasks, n_tasks)
        Jaccard index of the signatures: labels in both divided by labels in either; 1 for two empty ones.
    distances : TaskDistances
        Distances between tasks in P(X), P(Y) and P(Y|X).
    unlearnt_labels : tuple of str
        Labels that no learning row carries.
    n_reused_rows : int
        Rows of the source that are both learnt and evaluated.
    n_unlearnt_rows : int
        Rows of the source that are never learnt: held out, or not in the stream at all.
    n_unused_rows : int
        Those of them that are not in the stream at all.
    """

    overall: LabelDiagnosis
    tasks: tuple[TaskDiagnosis, ...]
    experiences: tuple[ExperienceDiagnosis, ...]
    signature_overlap: npt.NDArray[np.float64]
    distances: TaskDistances
    unlearnt_labels: tuple[str, ...]
    n_reused_rows: int
    n_unlearnt_rows: int
    n_unused_rows: int


def diagnose(stream: Stream, *, max_rows: int = 3000, seed: int = 0) -> Diagnosis:
    """Measure a stream, beyond the statistics on its card.

    Parameters
    ----------
    stream : Stream
        A stream of any kind; X is never made dense.
    max_rows : int
        Rows to draw in order to measure distances between tasks; everything else counts all rows.
    seed : int
        Source of that draw.

    Returns
    -------
    Diagnosis
        Labels by task and overall, distances between tasks, overlaps and duplicates.

    Notes
    -----
    Labels are taken as they are stored, whatever the masks say. The label set of a row with unknown labels is that of
    the labels known to be present.

    Examples
    --------
    >>> from mlstream.generators import multiplier_stream
    >>> found = diagnose(multiplier_stream("monolab", n_rows=500))
    >>> [task.labels.n_labels for task in found.tasks], found.signature_overlap[0].tolist()
    ([1, 1, 1, 1], [1.0, 0.0, 0.0, 0.0])
    """
    names = stream.card.label_names
    learning = np.concatenate([experience.Y for experience in stream])
    every = np.concatenate([learning, *(held_out.Y for held_out in stream.evaluation_sets)])
    duplicated = duplicated_evaluation_rows(stream)
    signatures = np.array([task.signature for task in stream.tasks])
    all_labels = np.ones(stream.n_labels, dtype=bool)
    learnt = np.unique(np.concatenate([experience.row_ids for experience in stream]))
    evaluated = np.unique(np.concatenate([held_out.row_ids for held_out in stream.evaluation_sets]))
    n_source = stream.card.source.n_samples
    return Diagnosis(
        overall=describe_labels(every, all_labels),
        tasks=tuple(_diagnose_task(stream, task, duplicated[task]) for task in range(stream.n_tasks)),
        experiences=tuple(_diagnose_experience(experience) for experience in stream),
        signature_overlap=signature_overlap(signatures),
        distances=task_distances(stream, max_rows=max_rows, seed=seed),
        unlearnt_labels=_absent(learning, all_labels, names),
        n_reused_rows=len(np.intersect1d(learnt, evaluated, assume_unique=True)),
        n_unlearnt_rows=n_source - len(learnt),
        n_unused_rows=n_source - len(np.union1d(learnt, evaluated)),
    )


def describe_labels(Y: Indicator, signature: Mask) -> LabelDiagnosis:
    """Measure the labels of rows that can occur by a signature, (n_labels,); co-occurrences are those of all labels.

    >>> found = describe_labels(np.array([[1, 1, 0], [1, 0, 0]], dtype=np.uint8), np.array([True, True, False]))
    >>> found.cardinality, found.density, found.diversity, found.imbalance
    (1.5, 0.75, 1.0, 1.5)
    """
    table = sparse.csr_array((filled(Y) * signature).astype(np.int64))
    return LabelDiagnosis(
        n_rows=len(Y),
        n_labels=int(signature.sum()),
        unknown_share=unknown_share(Y[:, signature]),
        **label_statistics(Y, signature)._asdict(),
        co_occurrence=sparse.csr_array(table.T @ table),
    )


def _diagnose_task(stream: Stream, index: int, duplicated: Mask) -> TaskDiagnosis:
    task, held_out = stream.tasks[index], stream.evaluation_sets[index].Y
    learning = np.concatenate([part.Y[part.task_ids == index] for part in stream])
    learnt = {row.tobytes() for row in _known_label_sets(learning, task.signature)}
    return TaskDiagnosis(
        name=task.name,
        labels=describe_labels(np.concatenate([learning, held_out]), task.signature),
        n_duplicates=int(duplicated.sum()),
        n_new_label_sets=sum(row.tobytes() not in learnt for row in _known_label_sets(held_out, task.signature)),
        unlearnt_labels=_absent(learning, task.signature, stream.card.label_names),
    )


def _diagnose_experience(experience: Experience) -> ExperienceDiagnosis:
    counts = count_repeated(labels_that_count(experience))
    n_rows = counts.n_rows or np.nan
    has_cells = (experience.label_mask & np.isfinite(experience.Y)).any()
    kappa = label_persistence(experience.Y, label_mask=experience.label_mask).mean_kappa if has_cells else np.nan
    return ExperienceDiagnosis(
        n_rows=counts.n_rows,
        repeated=counts.n_repeated / n_rows,
        by_chance=counts.n_by_chance / n_rows,
        kappa=kappa,
    )


def _known_label_sets(Y: Indicator, signature: Mask) -> npt.NDArray[np.uint8]:
    """Pack the labels known to be present of each row."""
    return np.packbits(filled(Y)[:, signature], axis=1)


def _absent(Y: Indicator, signature: Mask, names: list[str]) -> tuple[str, ...]:
    return tuple(names[label] for label in np.flatnonzero(signature & (count_labels(Y) == 0)))


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
