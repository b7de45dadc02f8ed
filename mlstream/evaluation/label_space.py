"""Labels that count when a row is scored, and labels that a learner is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from mlstream.evaluation.settings import LabelSpace
from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Experience, Index, Mask, Stream, StreamParts

# These scenarios are about telling the labels of all tasks apart; in the others a row is scored in its own task.
_DEFAULTS: Mapping[str, LabelSpace] = MappingProxyType(
    {"class-incremental": "seen", "task-free": "seen", "label-emerging": "seen", "iirc": "seen"}
)


def resolve_label_space(label_space: LabelSpace | None, card: StreamCard) -> LabelSpace:
    """Return the label space of an evaluation: the one asked for, or that of the scenario.

    By default it is "seen" for the scenarios class-incremental, task-free, label-emerging and iirc, and "task" for the
    others.
    """
    return label_space or _DEFAULTS.get(card.scenario.name, "task")


def mask_rows(mask: Mask, rows: slice | Index | Mask) -> Mask:
    """Return the mask of some rows; one that is the same for all rows stays so."""
    return mask[rows] if mask.ndim == 2 else mask


def learning_view(stream: Stream) -> Stream:
    """Return the stream with the label masks that learners are given.

    This is the stream itself if its scenario shows the task in training. Where it never does, each mask holds all
    labels but those of the row's task that are unknown, so that it does not give the task away; a row of which no label
    of its task is known has none at all, for it is not learnt.
    """
    if stream.card.scenario.task_identity != "never":
        return stream
    signatures = np.stack([task.signature for task in stream.tasks])
    experiences = tuple(replace(part, label_mask=_without_task(part, signatures)) for part in stream)
    return Stream(StreamParts(stream.tasks, experiences, stream.evaluation_sets), stream.card)


def shows_task_at_prediction(stream: Stream) -> bool:
    """Return whether learners may see the task of a row that they predict."""
    return stream.card.scenario.task_identity == "always"


def labels_at_prediction(stream: Stream, task_ids: Index) -> Mask | None:
    """Return the labels of the tasks of rows, for learners that choose a head by them.

    None unless the scenario shows the task at prediction too; (n_labels,), or (n_samples, n_labels) where the rows are
    of several tasks.
    """
    if not shows_task_at_prediction(stream):
        return None
    return _own_labels(np.stack([task.signature for task in stream.tasks]), task_ids)


class CountedLabels:
    """The labels that count in each row of a stream, and on each evaluation set after each experience.

    The label space is the labels of the row's own task ("task"), of all tasks that occurred so far ("seen"), or all
    labels ("all"); by default the space of the scenario.

    A label of a row's task that is absent from the label mask of its experience (missing, late, or not revealed yet) is
    unknown, and does not count while the row is learnt. Labels of other tasks are 0 where they are not shown, with two
    exceptions. Where learning rows with labels of several tasks show those of one at a time, a label that the same row
    shows in another experience, or that is unknown there, does not count here. In the scenario iirc, rows show the
    labels that are introduced, and no other counts.
    """

    def __init__(self, stream: Stream, label_space: LabelSpace | None) -> None:
        self._stream = stream
        self._label_space = resolve_label_space(label_space, stream.card)
        self._signatures = np.stack([task.signature for task in stream.tasks])
        self._all = np.ones(stream.n_labels, dtype=bool)

    def online(self) -> Iterator[Mask]:
        """Yield the labels that count in the rows of each experience; under "seen", a row's own task has occurred.

        The mask is (n_labels,), or (n_samples, n_labels) where the rows of an experience differ.
        """
        only_shown = self._label_space == "task" or self._stream.card.scenario.name == "iirc"
        for seen, experience in zip(self._seen, self._stream, strict=False):
            if only_shown:
                yield experience.label_mask
            else:
                wanted = self._all if self._label_space == "all" else self._seen_by_row(experience, seen)
                yield self._without_unknown(wanted, experience)

    def held_out(self, step: int, task: int) -> Mask:
        """Return the labels, (n_labels,), that count in the rows of an evaluation set after a number of experiences.

        Under "seen", they are those of all tasks seen by then and of the task itself.
        """
        own = self._stream.evaluation_sets[task].label_mask
        if self._label_space == "task":
            return own
        return self._all if self._label_space == "all" else self._seen[step] | own

    def pools(self, step: int) -> Mask:
        """Return the evaluation sets that the labels of each task are scored on after a number of experiences.

        Row j of (n_tasks, n_tasks) has the sets for the labels of task j: under "task" its own; under "seen" also those
        of all tasks seen by then; under "all" those of all tasks.
        """
        n_tasks = self._stream.n_tasks
        own = np.eye(n_tasks, dtype=bool)
        if self._label_space == "task":
            return own
        return np.ones_like(own) if self._label_space == "all" else own | self._seen_tasks[step]

    @cached_property
    def _seen_tasks(self) -> Mask:
        """Tasks seen after each number of experiences: (n_experiences + 1, n_tasks)."""
        order = self._stream.order
        return np.vstack([np.zeros_like(order[:1]), np.logical_or.accumulate(order, axis=0)])

    @cached_property
    def _seen(self) -> Mask:
        """Labels of all tasks seen after each number of experiences: (n_experiences + 1, n_labels)."""
        return np.asarray(self._seen_tasks @ self._signatures)

    def _without_unknown(self, wanted: Mask, experience: Experience) -> Mask:
        own = _own_labels(self._signatures, experience.task_ids)
        unknown = own & ~experience.label_mask
        if self._rows_of_several_tasks is not None:
            unknown = unknown | (self._rows_of_several_tasks.shown(experience) & ~own)
        return wanted & ~unknown if unknown.any() else wanted

    @cached_property
    def _rows_of_several_tasks(self) -> _RepeatedRows | None:
        return _RepeatedRows(self._stream) if self._stream.card.scenario.shared_rows == "mask" else None

    def _seen_by_row(self, experience: Experience, seen: Mask) -> Mask:
        tasks, first_rows = np.unique(experience.task_ids, return_index=True)
        if len(tasks) < 2:
            return np.asarray(seen | self._signatures[tasks].any(axis=0))
        mask = np.tile(seen, (len(experience), 1))
        for task, first_row in zip(tasks, first_rows, strict=True):
            mask[first_row:] |= self._signatures[task]
        return mask


class _RepeatedRows:
    """The labels, present or unknown, of rows that are learnt more than once, anywhere in a stream."""

    def __init__(self, stream: Stream) -> None:
        ids, counts = np.unique(np.concatenate([part.row_ids for part in stream]), return_counts=True)
        # The last entry stands for all rows that come once.
        self._ids = np.append(ids[counts > 1], np.iinfo(np.int64).max)
        self._shown = np.zeros((len(self._ids), stream.n_labels), dtype=bool)
        for part in stream:
            # NaN counts: where the experience of its task lost a label, the 0 in another one hides it. Rows of which
            # no label counts, since all come later, show nothing yet.
            shows = np.broadcast_to(part.label_mask, part.Y.shape).any(axis=1, keepdims=True)
            np.logical_or.at(self._shown, self._places(part), (part.Y != 0) & shows)
        self._shown[-1] = False

    def shown(self, experience: Experience) -> Mask:
        """Return the labels that are present or unknown in the rows of an experience, here or in another one."""
        return np.asarray(self._shown[self._places(experience)])

    def _places(self, experience: Experience) -> Index:
        places = np.searchsorted(self._ids[:-1], experience.row_ids)
        return np.where(self._ids[places] == experience.row_ids, places, len(self._ids) - 1)


def _own_labels(signatures: Mask, task_ids: Index) -> Mask:
    alone = bool((task_ids == task_ids[0]).all())
    return np.asarray(signatures[task_ids[0] if alone else task_ids])


def _without_task(experience: Experience, signatures: Mask) -> Mask:
    unknown = _own_labels(signatures, experience.task_ids) & ~experience.label_mask
    is_learnt = experience.label_mask.any(axis=-1, keepdims=True)
    return ~unknown & is_learnt if unknown.any() else np.ones_like(signatures[0])
