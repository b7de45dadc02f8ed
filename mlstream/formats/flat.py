"""A stream as a few long arrays, the form that files hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mlstream._support.mapped import pieces
from mlstream.streams.card_model import StreamCard
from mlstream.streams.categories import require_codes
from mlstream.streams.keys import Keys, join_keys, key_names, take_keys
from mlstream.streams.label_values import as_indicator
from mlstream.streams.stream import (
    EvaluationSet,
    Experience,
    Features,
    Index,
    Indicator,
    Mask,
    Stream,
    StreamParts,
    Task,
)
from mlstream.streams.tables.arrays import cut_rows, join_rows

# In place of a part's mask where the mask goes by row.
BY_ROW = -1


@dataclass(frozen=True, eq=False)
class FlatParts:
    """The rows of all experiences, or of all evaluation sets, one part after the other."""

    X: Features
    Y: Indicator  # float32 where a label of any part is unknown, else uint8
    task_ids: Index  # (n_rows,)
    row_ids: Index  # (n_rows,): index of each row in the table that the stream was made from
    mask_ids: Index  # (n_rows,): index of each row's label mask among the masks of the stream
    part_mask_ids: Index  # (n_parts,): index of each part's label mask; -1 where the mask goes by row
    offsets: Index  # (n_parts + 1,): part i holds the rows from ``offsets[i]`` to ``offsets[i + 1]``
    keys: Keys | None = None  # (n_rows,): whose each row is


@dataclass(frozen=True, eq=False)
class FlatStream:
    """A whole stream as long arrays."""

    signatures: Mask  # (n_tasks, n_labels)
    masks: Mask  # (n_masks, n_labels): the distinct label masks
    learning: FlatParts
    evaluation: FlatParts
    card: StreamCard


def flatten(stream: Stream, *, join: Callable[[Sequence[Any]], Any] = join_rows) -> FlatStream:
    """Put the parts of a stream one after the other; the card of the result lists no files.

    `join` puts the X of all parts, the Y and each kind of index, one below the other. Raises ValueError if some X are
    dense and others sparse, or their types differ, or the card is of another stream.
    """
    require_writable(stream)
    masks, mask_ids = index_masks((*stream.experiences, *stream.evaluation_sets))
    n_learning = len(stream.experiences)
    learning = [experience.task_ids for experience in stream.experiences]
    evaluation = [np.broadcast_to(np.int64(part.task_id), len(part)) for part in stream.evaluation_sets]
    return FlatStream(
        np.array([task.signature for task in stream.tasks]),
        masks,
        _join(stream.experiences, learning, mask_ids[:n_learning], join),
        _join(stream.evaluation_sets, evaluation, mask_ids[n_learning:], join),
        stream.card.model_copy(update={"files": [], "rows": None}),
    )


def restore(flat: FlatStream, *, check_values: bool = True) -> Stream:
    """Cut the rows of a stream into its parts, whose arrays are views of the long ones.

    Without `check_values`, arrays that are mapped from a file stay unread. Raises ValueError if the arrays do not fit
    each other or the card.
    """
    _require_card_fits(flat)
    for rows in (flat.learning, flat.evaluation):
        _require_rows_fit(rows, flat)
        _require_values(rows, flat, check_all=check_values)
    names = [task.name for task in flat.card.tasks]
    tasks = tuple(Task(name, signature) for name, signature in zip(names, flat.signatures, strict=True))
    experiences = tuple(
        Experience(rows.X, rows.Y, rows.task_ids, _mask(rows, flat.masks), rows.row_ids, rows.keys)
        for rows in _cut(flat.learning)
    )
    evaluation_sets = tuple(
        EvaluationSet(rows.X, rows.Y, task_id, _mask(rows, flat.masks), rows.row_ids, rows.keys)
        for task_id, rows in enumerate(_cut(flat.evaluation))
    )
    return Stream(StreamParts(tasks, experiences, evaluation_sets), flat.card)


def index_masks(parts: Sequence[Experience | EvaluationSet]) -> tuple[Mask, list[Index]]:
    """Find the distinct label masks, (n_masks, n_labels), of parts.

    Also returns, for each part, the number of its mask, or of that of each row where it goes by row.
    """
    stacked = [np.atleast_2d(part.label_mask) for part in parts]
    masks, ids = np.unique(np.concatenate(stacked), axis=0, return_inverse=True)
    return masks, np.split(ids.ravel(), np.cumsum([len(mask) for mask in stacked])[:-1])


def require_writable(stream: Stream) -> None:
    """Refuse a stream whose X are of several kinds, or whose card is that of another stream."""
    parts: tuple[Experience | EvaluationSet, ...] = (*stream.experiences, *stream.evaluation_sets)
    kinds = sorted({f"{type(part.X).__name__} of {part.X.dtype}" for part in parts})
    if len(kinds) > 1:
        raise ValueError(f"All X of a stream must be of one kind to be written. Got {', '.join(kinds)}.")
    # Files take names, signatures and sizes from the card.
    card = stream.card
    expected = [(task.name, task.signature, task.n_evaluation) for task in card.tasks]
    got = [
        (task.name, np.flatnonzero(task.signature).tolist(), len(held_out))
        for task, held_out in zip(stream.tasks, stream.evaluation_sets, strict=True)
    ]
    sizes = [experience.n_samples for experience in card.experiences]
    columns = len(card.feature_names), len(card.label_names), tuple(card.keys)
    found = stream.n_features, stream.n_labels, stream.key_names
    if (expected, sizes, columns) != (got, list(map(len, stream)), found):
        raise ValueError(f"The card of a stream must describe its tasks and experiences. Got that of {card.name!r}.")


def to_masks(indices: Sequence[Sequence[int]], n_labels: int) -> Mask:
    """Turn lists of labels into rows of a boolean array."""
    mask = np.zeros((len(indices), n_labels), dtype=bool)
    for row, labels in zip(mask, indices, strict=True):
        if max(labels, default=0) >= n_labels:
            raise ValueError(f"labels must be numbered below {n_labels}. Got {max(labels)}.")
        row[list(labels)] = True
    return mask


def _join(
    parts: Sequence[Experience | EvaluationSet],
    task_ids: Sequence[Index],
    mask_ids: Sequence[Index],
    join: Callable[[Sequence[Any]], Any],
) -> FlatParts:
    by_row = [part.label_mask.ndim == 2 for part in parts]
    sizes = list(map(len, parts))
    of_rows = [
        ids if each else np.broadcast_to(ids, size) for size, ids, each in zip(sizes, mask_ids, by_row, strict=True)
    ]
    of_parts = [BY_ROW if each else int(ids[0]) for ids, each in zip(mask_ids, by_row, strict=True)]
    return FlatParts(
        join([part.X for part in parts]),
        join(_of_one_type([part.Y for part in parts])),
        join(task_ids),
        join([part.row_ids for part in parts]),
        join(of_rows),
        np.array(of_parts),
        np.cumsum([0, *sizes]),
        join_keys([part.keys for part in parts]),
    )


def _of_one_type(parts: Sequence[Indicator]) -> Sequence[Indicator]:
    return parts if len({part.dtype for part in parts}) < 2 else [part.astype(np.float32, copy=False) for part in parts]


def _cut(rows: FlatParts) -> list[FlatParts]:
    return [
        FlatParts(
            cut_rows(rows.X, start, stop),
            rows.Y[start:stop],
            rows.task_ids[start:stop],
            rows.row_ids[start:stop],
            rows.mask_ids[start:stop],
            rows.part_mask_ids[part : part + 1],
            rows.offsets[part : part + 2],
            take_keys(rows.keys, slice(start, stop)),
        )
        for part, (start, stop) in enumerate(pairwise(rows.offsets.tolist()))
    ]


def _mask(part: FlatParts, masks: Mask) -> Mask:
    number = int(part.part_mask_ids[0])
    mask: Mask = masks[part.mask_ids] if number == BY_ROW else masks[number]
    return mask


def _require_card_fits(flat: FlatStream) -> None:
    card = flat.card
    found = {
        "tasks": (len(card.tasks), len(flat.signatures)),
        "experiences": (len(card.experiences), len(flat.learning.part_mask_ids)),
        "evaluation sets": (len(card.tasks), len(flat.evaluation.part_mask_ids)),
        "features": (len(card.feature_names), flat.learning.X.shape[1]),
        "labels": (len(card.label_names), flat.signatures.shape[1]),
    }
    for what, (expected, got) in found.items():
        if expected != got:
            raise ValueError(f"there must be {expected} {what}, as the card says. Got {got}.")
    for rows in (flat.learning, flat.evaluation):
        if key_names(rows.keys) != tuple(card.keys):
            raise ValueError(f"keys must be {card.keys}, as the card says. Got {list(key_names(rows.keys))}.")


def _require_rows_fit(rows: FlatParts, flat: FlatStream) -> None:
    n_rows, n_labels = rows.X.shape[0], len(flat.card.label_names)
    shapes: dict[str, tuple[Any, tuple[int, ...]]] = {
        "Y": (rows.Y, (n_rows, n_labels)),
        "task_ids": (rows.task_ids, (n_rows,)),
        "row_ids": (rows.row_ids, (n_rows,)),
        "mask_ids": (rows.mask_ids, (n_rows,)),
        "offsets": (rows.offsets, (len(rows.part_mask_ids) + 1,)),
        **({} if rows.keys is None else {"keys": (rows.keys, (n_rows,))}),
    }
    for name, (array, shape) in shapes.items():
        if array.shape != shape:
            raise ValueError(f"{name} must have the shape {shape}. Got {array.shape}.")
    steps = np.diff(rows.offsets)
    if rows.offsets[0] != 0 or rows.offsets[-1] != n_rows or (steps < 0).any():
        raise ValueError(f"offsets must rise from 0 to the number of rows, {n_rows}. Got {rows.offsets.tolist()[:9]}.")


def _require_values(rows: FlatParts, flat: FlatStream, *, check_all: bool) -> None:
    if check_all:
        require_codes(rows.X, flat.card.feature_names, flat.card.feature_values, "X")
        for piece in pieces(rows.Y):
            as_indicator(piece)
        _require_between(rows.task_ids, 0, len(flat.signatures), "task_ids")
    if check_all or (rows.part_mask_ids == BY_ROW).any():
        _require_between(rows.mask_ids, 0, len(flat.masks), "mask_ids")
    _require_between(rows.part_mask_ids, BY_ROW, len(flat.masks), "part_mask_ids")


def _require_between(array: Index, least: int, stop: int, name: str) -> None:
    for piece in pieces(array) if array.size else ():
        if not least <= piece.min() <= piece.max() < stop:
            raise ValueError(f"{name} must be between {least} and {stop - 1}. Got {piece.min()} to {piece.max()}.")
