"""Labels that count when a row is scored."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from mlstream.evaluation.settings import LabelSpace
from mlstream.stream import Experience, Mask, Stream


class CountedLabels:
    """The labels that count in each row of a stream, and on each evaluation set after each experience.

    Parameters
    ----------
    stream : Stream
        The stream.
    label_space : {"task", "seen", "all"}
        The labels of the row's own task; of all tasks that occurred so far; or all labels.

    Notes
    -----
    A label of a row's task that is absent from the label mask of its experience (missing, late, or not revealed yet) is
    unknown, and does not count while the row is learnt. Labels of other tasks are known to be 0.
    """

    def __init__(self, stream: Stream, label_space: LabelSpace) -> None:
        self._stream = stream
        self._label_space = label_space
        self._signatures = np.stack([task.signature for task in stream.tasks])
        self._all = np.ones(stream.n_labels, dtype=bool)

    def online(self) -> Iterator[Mask]:
        """Yield the labels that count in the rows of each experience; under "seen", a row's own task has occurred.

        Yields
        ------
        ndarray of bool, shape (n_labels,) or (n_samples, n_labels)
            By row where the rows of an experience differ.
        """
        for seen, experience in zip(self._seen, self._stream, strict=False):
            if self._label_space == "task":
                yield experience.label_mask
            else:
                wanted = self._all if self._label_space == "all" else self._seen_by_row(experience, seen)
                yield self._without_unknown(wanted, experience)

    def held_out(self, step: int, task: int) -> Mask:
        """Return the labels that count on the evaluation set of a task after a number of experiences.

        Returns
        -------
        ndarray of bool, shape (n_labels,)
            Under "seen", False everywhere before the first experience: nothing can be scored then.
        """
        if self._label_space == "task":
            return self._stream.evaluation_sets[task].label_mask
        return self._all if self._label_space == "all" else self._seen[step]

    @cached_property
    def _seen(self) -> Mask:
        """Labels of all tasks seen after each number of experiences: (n_experiences + 1, n_labels)."""
        seen_tasks = np.logical_or.accumulate(self._stream.order, axis=0)
        return np.vstack([np.zeros_like(self._all), seen_tasks @ self._signatures])

    def _without_unknown(self, wanted: Mask, experience: Experience) -> Mask:
        tasks = experience.task_ids
        own = self._signatures[tasks[0] if (tasks == tasks[0]).all() else tasks]
        unknown = own & ~experience.label_mask
        return wanted & ~unknown if unknown.any() else wanted

    def _seen_by_row(self, experience: Experience, seen: Mask) -> Mask:
        tasks, first_rows = np.unique(experience.task_ids, return_index=True)
        if len(tasks) < 2:
            return np.asarray(seen | self._signatures[tasks].any(axis=0))
        mask = np.tile(seen, (len(experience), 1))
        for task, first_row in zip(tasks, first_rows, strict=True):
            mask[first_row:] |= self._signatures[task]
        return mask
