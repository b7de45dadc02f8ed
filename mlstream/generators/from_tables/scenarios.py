"""The scenarios of continual learning, from any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metrics.validation import require_choice
from mlstream.cards.description import describe_stream
from mlstream.data.in_memory import TableLike
from mlstream.generators._parameters import describe_call
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.from_tables.cleaning import Keep, clean
from mlstream.generators.from_tables.doubtful_tasks import warn_of_doubtful_tasks
from mlstream.generators.from_tables.task_rules import By, TaskRule, find_tasks, read_timed
from mlstream.generators.schedule.experiences import chain_parts, lay_out
from mlstream.generators.schedule.partition import Partition, as_slice, make_partition
from mlstream.generators.schedule.visit_plan import OrderName, Shape, VisitPlan, part_sizes
from mlstream.streams.card_model import ScenarioCard, TaskRole
from mlstream.streams.stream import Dataset, Index, Stream, StreamParts, Task

TaskIdentity = Literal["always", "training", "never"]
LabelSpaces = Literal["any", "same", "disjoint", "overlapping"]
Values = npt.NDArray[np.floating]

_LEVEL = 0.05
_FEW = 50
# Rows of a task that are compared, evenly spaced: more would find differences that matter to no learner.
_MAX_ROWS = 2000


class Scenario(NamedTuple):
    """The requirements of a scenario on tasks, and the task identities that it shows to learners."""

    by: tuple[By, ...]  # rules that find such tasks, the default first
    learning_fractions: tuple[float, ...]  # share of each task's rows in each of its visits, unless given
    task_identity: tuple[TaskIdentity, ...]  # when a learner may see the task, the default first
    labels: LabelSpaces = "any"  # what the labels of tasks must be to each other (see `fit_labels`)
    blurred: bool = False  # tasks give way to each other gradually, unless a window is given
    shifts: bool = False  # the inputs of tasks must differ in distribution


_ONCE, _TWICE, _BATCHES = (0.7,), (0.35, 0.35), (0.14,) * 5
_ANY: tuple[TaskIdentity, ...] = ("training", "never", "always")

SCENARIOS: dict[str, Scenario] = {
    "instance-incremental": Scenario(("all",), _BATCHES, ("never",)),
    "domain-incremental": Scenario(
        ("features", "column", "time"), _ONCE, ("never", "training", "always"), "same", shifts=True
    ),
    "task-incremental": Scenario(("label-lists",), _ONCE, ("always",), "disjoint"),
    "class-incremental": Scenario(("label-lists",), _ONCE, ("training",), "disjoint"),
    "task-free": Scenario(("label-lists",), _ONCE, ("never",), "disjoint"),
    "online": Scenario(("label-lists", "label-sets", "column", "features", "time"), _ONCE, _ANY, "disjoint"),
    "blurred-boundary": Scenario(
        ("label-lists", "label-sets"), _ONCE, ("training", "never"), "overlapping", blurred=True
    ),
    "pre-training": Scenario(("label-lists", "label-sets", "column", "features", "time"), _ONCE, _ANY, "disjoint"),
    "task-based": Scenario(("label-sets", "label-lists", "column", "features", "time"), _TWICE, _ANY),
}


def scenario_stream(  # noqa: PLR0913 - the options of a generator are what its card holds
    dataset: TableLike,
    scenario: str,
    *,
    seed: int = 0,
    by: By | None = None,
    n_tasks: int = 4,
    label_lists: Sequence[Sequence[str]] | None = None,
    shared_rows: Literal["mask", "drop"] = "mask",
    column: str | None = None,
    task_identity: TaskIdentity | None = None,
    pretraining_fraction: float = 0.5,
    unlabelled: Keep = "drop",
    constant_features: Keep = "drop",
    name: str | None = None,
    learning_fractions: Sequence[float] | None = None,
    evaluation_fraction: float = 0.30,
    order: Sequence[int] | OrderName | None = None,
    stratified: bool = False,
    window: int | None = None,
    shape: Shape = "linear",
) -> Stream:
    """Make a stream of one of the scenarios of continual learning from a multi-label table.

    Parameters
    ----------
    dataset : Dataset, str, path, Bunch or tuple
        A table, as `mlstream.data.as_dataset` takes it: a Dataset, its name or path, a scikit-learn Bunch, or (X, Y).
    scenario : str
        Name of a scenario, such as "class-incremental"; an error lists all of them.
    seed : int
        Source of everything random.
    by : {"all", "label-sets", "label-lists", "column", "features", "time"}, optional
        Rule that finds the tasks; by default the first that the scenario allows.
    n_tasks : int
        Number of tasks.
    label_lists : sequence of sequence of str, optional
        Labels of each task, with "label-lists"; by default the labels are dealt to the tasks at random, in
        "blurred-boundary" after some that all tasks have in common.
    shared_rows : {"mask", "drop"}
        Learning rows with labels of several lists: in each task they show the labels of its list only, or they are left
        out.
    column : str, optional
        Feature whose values are the tasks ("column"), or column by which rows are sorted ("time"): numbers or dates.
        The dates of a file are read for that alone, and are a feature only where `dates` says what they become.
    task_identity : {"always", "training", "never"}, optional
        When a learner sees the task; by default the first choice that the scenario allows.
    pretraining_fraction : float
        Share of the rows that "pre-training" takes before the downstream tasks.
    unlabelled : {"drop", "keep"}
        What happens to rows without any label. Where labels make the tasks, such rows are dealt to the tasks in
        proportion to their sizes.
    constant_features : {"drop", "keep"}
        What happens to features with one value only.
    name : str, optional
        Name of the stream; by default that of the table and the scenario.
    learning_fractions : sequence of float, optional
        Share of each task's rows that each of its visits gets; by default those of the scenario.
    evaluation_fraction : float
        Share of each task's rows that is held out.
    order : sequence of int or {"random", "similarity", "dissimilarity", "interleaved"}, optional
        Task of each experience, each task as often as there are learning fractions; or the rule that gives it. By
        default "random", and the order of time with ``by="time"``.
    stratified : bool
        Spread every label set of a task evenly over its parts.
    window : int, optional
        Rows around each boundary in which a task gives way to the next one; more rows than an experience has blend
        several tasks at a time. By default 0, an abrupt boundary; in "blurred-boundary" half of the least experience.
    shape : {"linear", "sigmoid"}
        How the share of the next task rises in the window.

    Returns
    -------
    Stream
        Its card states when learners see the task.

    Raises
    ------
    ValueError
        If the scenario is unknown, does not allow the rule or the task identity, or the table does not hold such tasks.

    Warns
    -----
    DoubtfulTasksWarning
        If half of the rows of the table were dropped without a label; and, where tasks are clusters of label sets, if
        there are fewer than `n_tasks`, or one of several has more than 60 % of the rows.

    Notes
    -----
    ====================  ===========================  ==============================  ===================
    scenario              tasks                        labels of tasks                 task identity
    ====================  ===========================  ==============================  ===================
    instance-incremental  one, in five batches         all                             never
    domain-incremental    by features, column or time  the same; p(X) must differ      never, or any other
    task-incremental      by lists of labels           disjoint                        always
    class-incremental     by lists of labels           disjoint                        training
    task-free             by lists of labels           disjoint                        never
    online                any, one pass                disjoint, unless asked          training, or any
    blurred-boundary      by lists or label sets       overlapping, not equal,         training, or never
                                                       boundaries gradual
    pre-training          all rows in batches, then    all, then disjoint, unless      training, or any
                          downstream tasks             asked
    task-based            any, visited twice           those that occur                training, or any
    ====================  ===========================  ==============================  ===================

    In "blurred-boundary" every two tasks have labels in common without having the same ones. Lists that are drawn for
    it have ``n_labels // (n_tasks + 1)`` labels in common, at least one. In "domain-incremental" some feature must
    differ in distribution between every two tasks: the two-sample test of Kolmogorov and Smirnov, with Holm's
    correction for all features and pairs of tasks, at the level 0.05. Clusters of the features have at least a tenth of
    an equal share of the rows each; where outliers prevent that, rows are scaled to unit length first. Pre-training
    is a task of its own on the card, where its role tells it from downstream tasks.

    Disjoint label spaces and rows with several labels: with ``shared_rows="mask"`` a row with labels of two tasks
    belongs to both, on the same side of the split in each. A learning row shows in each the labels of that task only;
    an evaluation row always shows all its labels, and what counts of them is decided when it is scored. With "drop",
    rows with labels of two tasks are left out. The protocol lets learners learn row after row in every scenario;
    "online" is one visit per task.

    References
    ----------
    L. Wang, X. Zhang, H. Su, J. Zhu. A comprehensive survey of continual learning. TPAMI, 2024.

    Examples
    --------
    >>> table = Dataset(np.arange(120.0).reshape(60, 2), np.tile(np.eye(4, dtype=np.uint8), (15, 1)),
    ...                 ("a", "b"), ("k", "l", "m", "n"), name="toy")
    >>> scenario_stream(table, "class-incremental", n_tasks=2)
    Stream('toy-class-incremental': 2 experiences of 2 tasks, 42 rows, 2 features, 4 labels)
    """
    given, source = dict(locals()), read_timed(dataset, by, column)
    rules, by, task_identity = _choose(scenario, by, task_identity)
    table, rows, drops = clean(source, unlabelled=unlabelled, constant_features=constant_features)
    fractions = tuple(rules.learning_fractions if learning_fractions is None else learning_fractions)
    plan = VisitPlan(fractions, evaluation_fraction, order, stratified, window or 0, shape, seed)
    before, rows = _pretrain(table, rows, plan, pretraining_fraction if scenario == "pre-training" else None)
    overlapping = rules.labels == "overlapping"
    rule = TaskRule(by, n_tasks, label_lists, shared_rows, column, seed, overlapping, evaluation_fraction)
    partition, homeless, remark = find_tasks(table, rows, rule)
    partition = fit_labels(table, partition, rules.labels, scenario)
    if rules.shifts:
        require_domain_shift(table, partition, scenario)
    plan = _fit_plan(plan, partition, in_time=by == "time", blurred=rules.blurred and window is None)
    parts, unused = lay_out(table, partition, plan, shuffle=by != "time")
    name = name or f"{source.name}-{scenario}"
    chosen = {"by": by, "task_identity": task_identity, "name": name}
    parts = chain_parts(before, parts)
    downstream: list[TaskRole] = ["downstream"] * len(partition)
    card = describe_stream(
        table,
        parts,
        name=name,
        description=f"The {scenario} scenario from {source.name}, tasks by {by}{remark}.",
        generator=describe_call(scenario_stream, given | plan.describe() | chosen),
        scenario=ScenarioCard(
            name=scenario,
            boundary=plan.boundary,
            task_identity=task_identity,
            shared_rows=shared_rows if by == "label-lists" else None,
            task_roles=["pre-training", *downstream] if before.tasks else None,
        ),
        drops=[*drops, *homeless, *unused],
    )
    warn_of_doubtful_tasks(card, n_tasks if by == "label-sets" else None)
    return Stream(parts.with_keys(table.keys), card)


def _choose(name: str, by: By | None, task_identity: TaskIdentity | None) -> tuple[Scenario, By, TaskIdentity]:
    require_choice(name, "scenario", tuple(SCENARIOS))
    scenario = SCENARIOS[name]
    for what, value in {"by": by, "task_identity": task_identity}.items():
        if value is not None:
            others = ", ".join(other for other, one in SCENARIOS.items() if value in getattr(one, what))
            way_out = f"; scenarios that take it: {others}" if others else ""
            require_choice(value, f"{name}: {what}", getattr(scenario, what), way_out)
    return scenario, by or scenario.by[0], task_identity or scenario.task_identity[0]


def _pretrain(table: Dataset, rows: Index, plan: VisitPlan, share: float | None) -> tuple[StreamParts, Index]:
    """Lay out a share of the rows as batches of one task with all labels; give the rows that are left."""
    if share is None:
        return StreamParts((), (), ()), rows
    if not 0 < share < 1:
        raise ValueError(f"pretraining_fraction must lie between 0 and 1. Got {share!r} instead.")
    shuffled = generator_for(Purpose.PRETRAINING, plan.seed).permutation(rows)
    taken = round(share * len(rows))
    fractions = [(1 - plan.evaluation_fraction) / len(_BATCHES)] * len(_BATCHES)
    partition = make_partition(table, [np.sort(shuffled[:taken])], names=["pre-training"])
    batches = replace(plan, learning_fractions=fractions, order=None, window=0)
    return lay_out(table, partition, batches)[0], np.sort(shuffled[taken:])


def _fit_plan(plan: VisitPlan, partition: Partition, *, in_time: bool, blurred: bool) -> VisitPlan:
    """Resolve what depends on the tasks: time has an order, and a blurred boundary a window."""
    if in_time and plan.order is None:
        plan = replace(plan, order=list(range(len(partition))) * len(plan.learning_fractions))
    if blurred:
        shortest = min(min(part_sizes(len(rows), plan)[:-1]) for rows in partition.members)
        plan = replace(plan, window=shortest // 2)
    return plan


def fit_labels(table: Dataset, partition: Partition, spaces: LabelSpaces, scenario: str) -> Partition:
    """Give tasks the label spaces that a scenario requires, or raise ValueError if theirs do not fit.

    "same" is all labels of the table; every two "overlapping" spaces have labels in common without being equal. The
    rows stay.
    """
    if spaces == "same":
        everything = np.ones_like(partition.tasks[0].signature)
        return replace(partition, tasks=tuple(Task(task.name, everything) for task in partition.tasks))
    if spaces == "disjoint" and partition.hides_labels:
        twice = partition.signatures.sum(axis=0) > 1
        if twice.any():
            raise ValueError(
                f"{scenario}: no label must be in two lists. Got label {int(np.argmax(twice))} in more than one."
            )
    if spaces == "overlapping":
        _require_overlap(table, partition, scenario)
    return partition


def _require_overlap(table: Dataset, partition: Partition, scenario: str) -> None:
    spaces = [
        (table.Y[as_slice(rows)] == 1).any(axis=0) & labels
        for rows, labels in zip(partition.members, partition.signatures, strict=True)
    ]
    for (one, mine), (other, theirs) in combinations(enumerate(spaces), 2):
        fault = "the same labels" if (mine == theirs).all() else "no label in common"
        if (mine == theirs).all() or not (mine & theirs).any():
            raise ValueError(
                f"{scenario}: labels of tasks must overlap without being equal. Got {fault} in "
                f"{partition.tasks[one].name} and {partition.tasks[other].name}; use by='label-lists', which draws "
                f"such lists unless label_lists holds others."
            )


def require_domain_shift(table: Dataset, partition: Partition, scenario: str) -> None:
    """Raise ValueError if two tasks have inputs of the same distribution, as far as a test can see.

    Every feature of every two tasks is compared by the two-sample test of Kolmogorov and Smirnov, on 2,000 rows of each
    task at most. Inputs differ if the least p-value of the two tasks is significant at the level 0.05 after Holm's
    correction for all these tests, the first step of which divides the level by their number.
    """
    X = table.X.tocsc() if sparse.issparse(table.X) else table.X
    members = partition.members
    rows = [own[np.linspace(0, len(own) - 1, min(len(own), _MAX_ROWS)).astype(np.int64)] for own in members]
    level = _LEVEL / max(1, comb(len(rows), 2) * X.shape[1])
    for one, other in combinations(range(len(rows)), 2):
        # Where means differ most, a difference is found first.
        features = np.argsort(-np.abs(partition.profiles[one] - partition.profiles[other]), kind="stable")
        least = 1.0
        for feature in features.tolist():
            column = X[:, [feature]]
            column = np.asarray(column.toarray() if sparse.issparse(column) else column).ravel()
            least = min(least, _compare(column[rows[one]], column[rows[other]]))
            if least <= level:
                break
        else:
            raise ValueError(
                f"{scenario}: features must differ in distribution between tasks. Got {partition.tasks[one].name} and "
                f"{partition.tasks[other].name} with a least p-value of {least:.2g} (Kolmogorov-Smirnov; {level:.2g} "
                f"after Holm's correction); use another rule (by) or column, or the scenario 'online', which takes the "
                f"same rules whatever the features."
            )


def _compare(one: Values, other: Values) -> float:
    """Return the p-value; the exact one, which takes longer for many rows, where the limit does not hold yet."""
    # An import of half a second, which no other scenario needs.
    from scipy.stats import ks_2samp

    method: Literal["exact", "asymp"] = "exact" if min(len(one), len(other)) < _FEW else "asymp"
    return float(ks_2samp(one, other, method=method).pvalue)
