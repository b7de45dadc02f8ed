"""The environments of a stream, by role: what contestants learn from, and what is hidden from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mlstream.challenge.manifest import Role
from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import EvaluationSet, Experience, Features, Index, Indicator, Mask, Stream
from mlstream.streams.tables.arrays import join_rows

# A row of several environments stays in the first of these: one that is hidden is nowhere in the training rows, and no
# answer about the validation environment is one about rows that count at the end.
_PRECEDENCE: tuple[Role, ...] = ("unseen", "test", "validation", "in-distribution", "train")


@dataclass(frozen=True, eq=False)
class Environment:
    """All rows of one environment."""

    name: str  # Of the task in the stream.
    role: Role
    X: Features
    Y: Indicator  # Labels, (n_samples, n_labels); 0 where `mask` is False.
    mask: Mask  # Cells that count: the label is known, and belongs to the task.
    row_ids: Index  # Index of each row in the table that the stream was made from.

    def __len__(self) -> int:
        return len(self.row_ids)

    @property
    def is_hidden(self) -> bool:
        """Whether contestants see the rows without their labels."""
        return self.role != "train"

    def take(self, rows: Index | Mask) -> Environment:
        """Return some rows of the environment."""
        return replace(self, X=self.X[rows], Y=self.Y[rows], mask=self.mask[rows], row_ids=self.row_ids[rows])


def gather_environments(
    stream: Stream, roles: Mapping[str, Role], *, in_distribution: bool = False
) -> list[Environment]:
    """Collect the rows of each environment, a task with a role; tasks without one are left out.

    The evaluation rows of training environments are training rows, or with `in_distribution` hidden, as environments of
    the role "in-distribution". Environments are in the order of the tasks, with learning rows first. A row is in one
    only: one that several tasks share stays in the one whose role comes first in "unseen", "test", "validation",
    "in-distribution", "train". A ValueError is raised if a name is not a task, or an environment is left without a row.
    """
    names = [task.name for task in stream.tasks]
    for name in roles:
        if name not in names:
            raise ValueError(f"roles must name tasks of the stream ({', '.join(names)}). Got {name!r} instead.")
    found = [
        environment
        for task_id, name in enumerate(names)
        if name in roles
        for environment in _of_task(stream, task_id, roles[name], in_distribution)
    ]
    return _without_shared_rows(found)


def _of_task(stream: Stream, task_id: int, role: Role, in_distribution: bool) -> Iterator[Environment]:
    name, held_out = stream.tasks[task_id].name, stream.evaluation_sets[task_id]
    learning = [_rows_of(experience, task_id) for experience in stream]
    if role == "train" and in_distribution:
        yield _join(name, role, learning)
        yield _join(name, "in-distribution", [held_out])
    else:
        yield _join(name, role, [*learning, held_out])


def _rows_of(experience: Experience, task_id: int) -> EvaluationSet:
    rows = np.flatnonzero(experience.task_ids == task_id)
    mask = experience.label_mask[rows] if experience.label_mask.ndim == 2 else experience.label_mask
    return EvaluationSet(experience.X[rows], experience.Y[rows], task_id, mask, experience.row_ids[rows])


def _join(name: str, role: Role, parts: Sequence[EvaluationSet]) -> Environment:
    X = [part.X for part in parts]
    return Environment(
        name,
        role,
        join_rows(X),
        np.concatenate([filled(part.Y) for part in parts]),
        np.concatenate([_counted(part) for part in parts]),
        np.concatenate([part.row_ids for part in parts]),
    )


def _counted(part: EvaluationSet) -> Mask:
    cells = known(part.Y)
    mask = np.broadcast_to(part.label_mask, part.Y.shape)
    return mask.copy() if cells is None else mask & cells


def _without_shared_rows(environments: Sequence[Environment]) -> list[Environment]:
    """Leave each row of the table in one environment only."""
    kept = list(environments)
    taken = np.zeros(0, dtype=np.int64)
    for place in sorted(range(len(kept)), key=lambda one: _PRECEDENCE.index(kept[one].role)):
        first = np.zeros(len(kept[place]), dtype=bool)
        first[np.unique(kept[place].row_ids, return_index=True)[1]] = True
        kept[place] = kept[place].take(first & ~np.isin(kept[place].row_ids, taken))
        if not len(kept[place]):
            raise ValueError(
                f"Environment {kept[place].name!r} must hold a row that no other environment holds. Got 0: leave the "
                "tasks that share its rows out of the roles."
            )
        taken = np.union1d(taken, kept[place].row_ids)
    return kept
