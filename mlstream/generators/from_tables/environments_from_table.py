"""Environments carved out of a real table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mlstream.data.in_memory import TableLike
from mlstream.generators._parameters import describe_call
from mlstream.generators.from_tables.cleaning import Keep, clean
from mlstream.generators.from_tables.environment_roles import check_roles, describe_environments, lay_out_roles
from mlstream.generators.from_tables.task_rules import TaskRule, find_tasks, read_timed
from mlstream.streams.stream import Stream, StreamParts


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
