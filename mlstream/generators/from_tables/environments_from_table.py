"""Environments carved out of a real table, and the roles of environments: to learn from, or to evaluate on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np

from mlstream.cards.description import describe_stream
from mlstream.data.in_memory import TableLike
from mlstream.generators._parameters import describe_call
from mlstream.generators.from_tables.cleaning import Keep, clean
from mlstream.generators.from_tables.task_rules import TaskRule, find_tasks, read_timed
from mlstream.generators.schedule.experiences import chain_parts, lay_out
from mlstream.generators.schedule.partition import make_partition
from mlstream.generators.schedule.visit_plan import VisitPlan
from mlstream.streams.card_model import GeneratorCard, ScenarioCard, StreamCard, TaskRole
from mlstream.streams.stream import Dataset, EvaluationSet, Index, Stream, StreamParts, Task

Role = Literal["train", "validation", "test", "unseen"]

ROLES: tuple[Role, ...] = ("train", "validation", "test", "unseen")


def carve_environments(
    dataset: TableLike,
    roles: Sequence[str] = ("train", "train", "train", "validation", "test", "unseen"),
    *,
    seed: int = 0,
    by: Literal["features", "column", "time"] = "features",
    column: str | None = None,
    evaluation_fraction: float = 0.30,
    unlabelled: Keep = "keep",
) -> Stream:
    """Carve environments out of a table: clusters of its features, values of a column, or slices of time.

    Parameters
    ----------
    dataset : Dataset, str, path, Bunch or tuple
        A table, as `mlstream.data.as_dataset` takes it: a Dataset, its name or path, a scikit-learn Bunch, or (X, Y).
    roles : sequence of {"train", "validation", "test", "unseen"}
        Role of each environment, in the order in which the rule finds them.
    seed : int
        Source of everything random.
    by : {"features", "column", "time"}
        Rule that finds as many environments as there are roles. Clusters of the features have at least a tenth of an
        equal share of the rows each; where outliers prevent that, rows are scaled to unit length first.
    column : str, optional
        Feature whose values are the environments ("column"), or column by which rows are sorted ("time"), as for
        `scenario_stream`.
    evaluation_fraction : float
        Share of the rows of a training environment that is held out; of the others, all rows are.
    unlabelled : {"keep", "drop"}
        What happens to rows without any label.

    Returns
    -------
    Stream
        One experience per training environment, one evaluation set per environment; all have the same labels.

    Raises
    ------
    ValueError
        If a role is unknown, or the rule finds another number of environments than there are roles, or no label of an
        environment's evaluation set has both classes.

    Examples
    --------
    >>> import numpy as np
    >>> from mlstream import Dataset
    >>> X = np.arange(80.0).reshape(40, 2)
    >>> table = Dataset(X, np.tile(np.eye(2, dtype=np.uint8), (20, 1)), ("a", "b"), ("k", "l"), name="toy")
    >>> stream = carve_environments(table, ("train", "unseen"), by="time")
    >>> [task.name for task in stream.tasks]
    ['train-0', 'unseen-0']
    """
    given, source = dict(locals()), read_timed(dataset, by, column)
    if by not in ("features", "column", "time"):
        raise ValueError(f"by must be one of 'features', 'column', 'time'. Got {by!r} instead.")
    table, rows, drops = clean(source, unlabelled=unlabelled)
    rule = TaskRule(by, len(roles), column=column, seed=seed, evaluation_fraction=evaluation_fraction)
    partition, _, remark = find_tasks(table, rows, rule)
    roles = check_roles(roles, len(partition))
    parts = lay_out_roles(table, partition.members, roles, evaluation_fraction=evaluation_fraction, seed=seed)
    _require_both_classes(parts)
    call = describe_call(carve_environments, given | {"roles": roles})
    name = f"{source.name}-environments"
    description = f"Environments of {source.name} by {by}{remark}."
    card = describe_environments(table, parts, roles, call, name=name, description=description)
    return Stream(parts.with_keys(table.keys), card.model_copy(update={"drops": list(drops)}))


def _require_both_classes(parts: StreamParts) -> None:
    """Refuse environments in which no cross-entropy can be normalised."""
    constant = [
        f"{task.name} with {len(held_out)} rows"
        for task, held_out in zip(parts.tasks, parts.evaluation_sets, strict=True)
        if not ((held_out.Y == 0).any(axis=0) & (held_out.Y == 1).any(axis=0)).any()
    ]
    if constant:
        raise ValueError(
            f"The evaluation set of each environment must hold a label with both classes. Got {', '.join(constant)} "
            f"without one; carve fewer environments (roles), or by another rule (by)."
        )


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
