"""Measure the parts of a stream, and write its card."""

from __future__ import annotations

import hashlib
import logging
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.mapped import pieces
from mlstream._support.version import __version__
from mlstream.cards.terms import change_terms
from mlstream.streams.card_model import (
    DropCard,
    ExperienceCard,
    GeneratorCard,
    PersistenceCard,
    ScenarioCard,
    SharedRows,
    SourceCard,
    StreamCard,
    TaskCard,
)
from mlstream.streams.keys import key_names
from mlstream.streams.label_sets import (
    count_label_sets,
    count_repeated,
    expected_counts,
    label_frequencies,
    label_statistics,
    labels_that_count,
    signature_overlap,
)
from mlstream.streams.label_values import unknown_share
from mlstream.streams.stream import Dataset, Experience, Features, Indicator, Stream, StreamParts

_LOG = logging.getLogger("mlstream")

# What can change the bits of a generated stream.
_VERSIONED = ("numpy", "scipy", "scikit-learn")


class Measures(NamedTuple):
    """The fields of a card that follow from the arrays."""

    tasks: list[TaskCard]
    experiences: list[ExperienceCard]
    persistence: PersistenceCard | None
    data_sha256: str


def describe_stream(
    dataset: Dataset,
    parts: StreamParts,
    *,
    name: str,
    description: str,
    generator: GeneratorCard,
    scenario: ScenarioCard,
    drops: Sequence[DropCard] = (),
) -> StreamCard:
    """Build the card of a stream from its parts, with every task, experience and evaluation set measured.

    The dropped columns are left out of the table; `drops` describes them.
    """
    # A dropped label is on the card among the drops only; it is nobody's parent any more.
    kept = set(dataset.label_names)
    card = StreamCard(
        name=name,
        description=description,
        source=_describe_source(dataset),
        generator=generator,
        scenario=scenario,
        versions=dict(_versions()),
        feature_names=list(dataset.feature_names),
        feature_values=dict(dataset.feature_values),
        label_names=list(dataset.label_names),
        label_parents={child: parent for child, parent in dataset.label_parents.items() if {child, parent} <= kept},
        drops=list(drops),
        keys=list(key_names(dataset.keys)),
        **measure(parts, shared_rows=scenario.shared_rows)._asdict(),
    )
    for drop in drops:
        _LOG.info("Left out of %r: %d %s, %s", name, drop.count, drop.what, drop.reason)
    return _log_made(card)


def _log_made(card: StreamCard) -> StreamCard:
    n_rows, made_by = sum(visit.n_samples for visit in card.experiences), card.generator
    counts = len(card.experiences), len(card.tasks), n_rows
    _LOG.info(
        "Made %r by %s, seed %s: %d experiences of %d tasks, %d rows", card.name, made_by.name, made_by.seed, *counts
    )
    return card


@cache
def _versions() -> Mapping[str, str]:
    # Reading them takes longer than describing a small stream.
    others = {package: metadata.version(package) for package in _VERSIONED}
    return {"mlstream": __version__, **others, "python": platform.python_version()}


def measure(parts: StreamParts | Stream, *, shared_rows: SharedRows | None) -> Measures:
    """Measure the fields of a card that follow from the arrays of a stream.

    With `shared_rows` "mask", the statistics of a task are those of its own labels, since its learning rows hide the
    others.
    """
    return Measures(
        tasks=[
            _describe_task(index, parts, overlap, shared_rows) for index, overlap in enumerate(_mean_overlaps(parts))
        ],
        experiences=[
            ExperienceCard(tasks=np.flatnonzero(np.bincount(experience.task_ids)).tolist(), n_samples=len(experience))
            for experience in parts.experiences
        ],
        persistence=_describe_persistence(map(labels_that_count, parts.experiences)),
        data_sha256=hash_data(parts),
    )


def describe_again(
    card: StreamCard, parts: StreamParts, *, name: str, description: str, generator: GeneratorCard
) -> StreamCard:
    """Build the card of a stream, to be measured again, that was made from the one with another card.

    Source, scenario, columns, drops and terms stay, but for the title and the date of publication. The files of the
    other stream are left out.
    """
    changes: dict[str, Any] = {"name": name, "description": description, "generator": generator, "files": []}
    changes["terms"] = change_terms(card.terms, {"title": "", "published": ""})
    measures = measure(parts, shared_rows=card.scenario.shared_rows)
    return _log_made(card.model_copy(update=changes | measures._asdict()))


def hash_data(parts: StreamParts | Stream) -> str:
    """Hash every array of a stream but its keys, whatever file or layout holds them, with SHA-256.

    Hashes are equal for streams with equal tasks, rows, order and values. A hash of keys would let anybody who guesses
    them make sure.
    """
    digest = hashlib.sha256()
    for task in parts.tasks:
        _update(digest, np.frombuffer(task.name.encode(), np.uint8), task.signature)
    for experience in parts.experiences:
        _update(digest, *_arrays(experience.X), experience.Y, experience.label_mask, experience.row_ids)
        _update(digest, experience.task_ids)
    for held_out in parts.evaluation_sets:
        _update(digest, *_arrays(held_out.X), held_out.Y, held_out.label_mask, held_out.row_ids)
    return digest.hexdigest()


def _arrays(X: Features) -> tuple[npt.NDArray[np.generic], ...]:
    if sparse.issparse(X):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        # Index widths depend on how the matrix was made, not on what it holds.
        return X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return (np.asarray(X),)


def _update(digest: hashlib._Hash, *arrays: npt.NDArray[np.generic]) -> None:
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        for piece in pieces(array):
            digest.update(np.ascontiguousarray(piece).data)


def _describe_source(dataset: Dataset) -> SourceCard:
    is_named = isinstance(dataset.label_rule, tuple)
    return SourceCard(
        name=dataset.name,
        # Folders are those of the author's disk; the hash tells files of one name apart.
        origin=(Path(dataset.source).name if dataset.sha256 else dataset.source) or "memory",
        licence=dataset.licence,
        citation=dataset.citation,
        sha256=dataset.sha256 or None,
        labels=list(dataset.label_rule) if isinstance(dataset.label_rule, tuple) else dataset.label_rule,
        label_parents=(dict(dataset.label_parents) or None) if is_named else None,
        reading=dataset.reading,
        n_samples=dataset.n_samples,
        persistence=_describe_persistence([dataset.Y]),
    )


def _describe_persistence(segments: Iterable[Indicator]) -> PersistenceCard | None:
    """Measure how often rows repeat the label set before them, in segments that each begin afresh."""
    counts = [count_repeated(Y) for Y in segments]
    n_rows = sum(one.n_rows for one in counts)
    if not n_rows:
        return None
    return PersistenceCard(
        repeated=sum(one.n_repeated for one in counts) / n_rows,
        by_chance=math.fsum(one.n_by_chance for one in counts) / n_rows,
    )


def _mean_overlaps(parts: StreamParts | Stream) -> list[float | None]:
    """Return the mean overlap of each signature with the others; None where there is no other task."""
    overlap = signature_overlap(np.array([task.signature for task in parts.tasks]))
    n_others = len(overlap) - 1
    return [float((row.sum() - 1) / n_others) if n_others else None for row in overlap]


def _describe_task(
    index: int, parts: StreamParts | Stream, overlap: float | None, shared_rows: SharedRows | None
) -> TaskCard:
    task, held_out = parts.tasks[index], parts.evaluation_sets[index].Y
    if shared_rows == "mask":
        held_out = held_out * task.signature
    learning = [_labels_of_task(experience, index) for experience in parts.experiences]
    Y = np.concatenate([*learning, held_out])
    statistics = label_statistics(Y, task.signature)
    return TaskCard(
        name=task.name,
        signature=np.flatnonzero(task.signature).tolist(),
        label_frequencies=label_frequencies(Y).tolist(),
        cardinality=float(expected_counts(Y).sum() / max(1, len(Y))),
        n_label_sets=count_label_sets(Y),
        unknown_share=unknown_share(Y[:, task.signature]) or None,
        density=statistics.density,
        diversity=statistics.diversity,
        imbalance=None if math.isnan(statistics.imbalance) else statistics.imbalance,
        overlap=overlap,
        n_learning=sum(len(part) for part in learning),
        n_evaluation=len(held_out),
    )


def _labels_of_task(experience: Experience, index: int) -> Indicator:
    mine = experience.task_ids == index
    return experience.Y if mine.all() else experience.Y[mine]
