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
    """Return the roles, or raise ValueError if one is unknown, none is "train", or there is not one per environment."""
    for role in roles:
        if role not in ROLES:
            raise ValueError(f"roles must be of {', '.join(ROLES)}. Got {role!r} instead.")
    if len(roles) != n_environments:
        raise ValueError(
            f"There must be one role per environment. Got {len(roles)} for {n_environments} environments; state "
            f"{n_environments} roles (--roles), each of {', '.join(ROLES)}."
        )
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

    Training environments come first, in order, then the others by role. A task is called by its role and its number
    there; all labels of the table are in every signature. `evaluation_fraction` of the rows of a training environment
    are held out; of the others, all rows are. Without `shuffle`, the last rows are held out.
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
    """Build the card of a stream of environments, with the role of each; the environment of a row is never told."""
    # Environments are laid out by role.
    task_roles: list[TaskRole] = sorted(roles, key=ROLES.index)
    scenario = ScenarioCard(name="environments", boundary="abrupt", task_identity="never", task_roles=task_roles)
    return describe_stream(table, parts, name=name, description=description, generator=generator, scenario=scenario)
