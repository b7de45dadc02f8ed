"""Environments with roles: some to learn from, the others to evaluate on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np

from mlstream.cards.description import describe_stream
from mlstream.generators.schedule.experiences import chain_parts, lay_out
from mlstream.generators.schedule.partition import make_partition
from mlstream.generators.schedule.visit_plan import VisitPlan
from mlstream.streams.card_model import GeneratorCard, ScenarioCard, StreamCard, TaskRole
from mlstream.streams.stream import Dataset, EvaluationSet, Index, StreamParts, Task

Role = Literal["train", "validation", "test", "unseen"]

ROLES: tuple[Role, ...] = ("train", "validation", "test", "unseen")


def check_roles(roles: Sequence[str], n_environments: int) -> list[Role]:
    """Refuse roles that are unknown, or leave nothing to learn from.

    Parameters
    ----------
    roles : sequence of str
        Role of each environment.
    n_environments : int
        Number of environments.

    Returns
    -------
    list of str
        The roles.

    Raises
    ------
    ValueError
        If there is not one role per environment, a role is unknown, or none is "train".

    Examples
    --------
    >>> check_roles(("train", "unseen"), 2)
    ['train', 'unseen']
    """
    for role in roles:
        if role not in ROLES:
            raise ValueError(f"roles must be of {', '.join(ROLES)}. Got {role!r} instead.")
    if len(roles) != n_environments:
        raise ValueError(f"There must be one role per environment. Got {len(roles)} for {n_environments} environments.")
    if "train" not in roles:
        raise ValueError(f"One environment at least must have the role 'train'. Got {list(roles)}.")
    return cast(list[Role], list(roles))


def lay_out_roles(
    table: Dataset,
    members: Sequence[Index],
    roles: Sequence[str],
    *,
    evaluation_fraction: float,
    seed: int,
    shuffle: bool = True,
) -> StreamParts:
    """Make an experience of each training environment, and an evaluation set of every environment.

    Parameters
    ----------
    table : Dataset
        Features and labels.
    members : sequence of ndarray of int64
        Rows of each environment.
    roles : sequence of str
        Role of each environment.
    evaluation_fraction : float
        Share of the rows of a training environment that is held out; of the others, all rows are.
    seed : int
        Source of everything random.
    shuffle : bool
        Split training environments at random. Without it, the last of their rows are held out.

    Returns
    -------
    StreamParts
        Training environments first, in order, then the others by role. A task is called by its role and its number
        there; all labels of the table are in every signature.
    """
    everything = np.ones(table.Y.shape[1], dtype=bool)
    training = [rows for rows, role in zip(members, roles, strict=True) if role == "train"]
    names = [f"train-{number}" for number in range(len(training))]
    partition = make_partition(table, training, names=names, signatures=[everything] * len(training))
    order = list(range(len(training)))
    plan = VisitPlan((1 - evaluation_fraction,), evaluation_fraction, order, seed=seed)
    learnt, _ = lay_out(table, partition, plan, shuffle=shuffle)
    tasks: list[Task] = []
    held_out: list[EvaluationSet] = []
    for role in ROLES[1:]:
        chosen = [rows for rows, other in zip(members, roles, strict=True) if other == role]
        for number, rows in enumerate(chosen):
            held_out.append(EvaluationSet(table.X[rows], table.Y[rows], len(tasks), everything, rows))
            tasks.append(Task(f"{role}-{number}", everything))
    return chain_parts(learnt, StreamParts(tuple(tasks), (), tuple(held_out)))


def describe_environments(
    table: Dataset,
    parts: StreamParts,
    roles: Sequence[Role],
    generator: GeneratorCard,
    *,
    name: str,
    description: str,
) -> StreamCard:
    """Build the card of a stream of environments.

    Parameters
    ----------
    table : Dataset
        The table that the rows come from.
    parts : StreamParts
        Environments.
    roles : sequence of str
        Role of each, in any order.
    generator : GeneratorCard
        What makes the stream again.
    name, description : str
        What to call it, and one sentence on what it is.

    Returns
    -------
    StreamCard
        The environment of a row is never told; the role of each environment is on the card.
    """
    # Environments are laid out by role.
    task_roles: list[TaskRole] = sorted(roles, key=ROLES.index)
    scenario = ScenarioCard(name="environments", boundary="abrupt", task_identity="never", task_roles=task_roles)
    return describe_stream(table, parts, name=name, description=description, generator=generator, scenario=scenario)
