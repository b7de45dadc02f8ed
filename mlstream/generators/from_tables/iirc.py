"""Labels that are refined: superclasses first, their subclasses in later tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from metrics.validation import require_choice
from mlstream.cards.description import describe_stream
from mlstream.data.in_memory import TableLike, as_dataset
from mlstream.generators._parameters import describe_call, require_count
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.from_tables.cleaning import Keep, clean
from mlstream.generators.from_tables.hierarchy import (
    SuperclassShares,
    ancestor_matrix,
    check_hierarchy,
    deal_to_labels,
    discover_hierarchy,
    hierarchy_from_names,
    with_superclasses,
)
from mlstream.generators.from_tables.label_schedule import check_schedule, draw_schedule
from mlstream.generators.schedule.partition import count_rows, split_evenly
from mlstream.generators.schedule.visit_plan import VisitPlan, part_sizes
from mlstream.streams.card_model import DropCard, ScenarioCard
from mlstream.streams.label_sets import label_set_ids
from mlstream.streams.label_values import with_unknown_of
from mlstream.streams.stream import Dataset, EvaluationSet, Experience, Index, Stream, StreamParts, Task

Information = Literal["incomplete", "complete"]

# The schedule drawn from these parameters is on the card.
_DRAWN_FROM = ("labels_per_task", "first_labels")


def iirc_stream(  # noqa: PLR0913 - the options of a generator are what its card holds
    dataset: TableLike,
    *,
    seed: int = 0,
    hierarchy: Mapping[str, str] | Literal["names", "discover"] | None = None,
    introductions: Sequence[Sequence[str]] | None = None,
    labels_per_task: int = 5,
    first_labels: int | None = None,
    plain_first: bool = False,
    superclass_share: float = 0.4,
    subclass_share: float = 0.8,
    superclass_cap: int = 8,
    information: Information = "incomplete",
    evaluation_fraction: float = 0.30,
    min_support: int = 1,
    add_superclasses: bool = False,
    constant_features: Keep = "drop",
    name: str | None = None,
) -> Stream:
    """Make a stream that introduces superclasses first and refines them into subclasses in later tasks.

    Parameters
    ----------
    dataset : Dataset, str, path, Bunch or tuple
        A table, as `mlstream.data.as_dataset` takes it: a Dataset, its name or path, a scikit-learn Bunch, or (X, Y).
    seed : int
        Source of everything random.
    hierarchy : mapping of str to str, or {"names", "discover"}, optional
        Parent of each label that has one. "names" reads the parents from names such as "rec.autos", and adds columns
        for superclasses without one; "discover" puts a label below another one if it never occurs without it. By
        default the hierarchy of the table, or "discover" if it has none.
    introductions : sequence of sequence of str, optional
        Labels that each task introduces: in the first task superclasses only, then each label in a later task than its
        superclass; by default drawn at random.
    labels_per_task : int
        Maximum number of labels that a task introduces, where the schedule is drawn.
    first_labels : int, optional
        Maximum number of labels that the first task introduces; by default twice as many as the others.
    plain_first : bool
        Whether the first task may hold labels without superclass and subclasses.
    superclass_share : float
        Share of the learning rows of a subclass that show the labels of each of its superclasses.
    subclass_share : float
        Share of the learning rows of a subclass that show its own label.
    superclass_cap : int
        Number of subclasses from which on the share of a superclass shrinks, so that its rows do not become more.
    information : {"incomplete", "complete"}
        Whether a learning row shows only the labels that are being introduced, or all its labels introduced so far.
    evaluation_fraction : float
        Share of the rows that is held out, of each set of labels.
    min_support : int
        Least number of rows of a label that may be found to have a parent, with ``hierarchy="discover"``.
    add_superclasses : bool
        Whether superclasses of a given hierarchy that have no label get one; otherwise they are unknown names.
    constant_features : {"drop", "keep"}
        What happens to features with one value only.
    name : str, optional
        Name of the stream; by default that of the table with "-iirc" added.

    Returns
    -------
    Stream
        One experience and one evaluation set per task. Evaluation rows carry all their labels, each row in one place of
        its path only; the signature of a task is the labels that it introduces and their superclasses.

    Raises
    ------
    ValueError
        If the hierarchy has a cycle or unknown names, the first task introduces anything but superclasses, a label does
        not come in a later task than its superclass, a share is outside [0, 1], or a task would have no rows to learn
        or to evaluate.

    Notes
    -----
    A row with several finest labels is dealt under each of them, and may come in several experiences, as may the rows
    that a superclass and its subclass share. No row is both learnt and evaluated.

    References
    ----------
    M. Abdelsalam, M. Faramarzi, S. Sodhani, S. Chandar. IIRC: Incremental implicitly-refined classification.
    CVPR, 2021.

    Examples
    --------
    >>> Y = np.repeat(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], dtype=np.uint8), 20, axis=0)
    >>> X = np.arange(120.0).reshape(60, 2)
    >>> table = Dataset(X, Y, ("a", "b"), ("bear", "polar", "brown", "dog"), name="zoo")
    >>> stream = iirc_stream(table, labels_per_task=3)
    >>> stream.card.label_parents
    {'polar': 'bear', 'brown': 'bear'}
    >>> [task.signature.astype(int).tolist() for task in stream.tasks]
    [[1, 0, 0, 0], [1, 1, 1, 1]]
    """
    given, source = dict(locals()), as_dataset(dataset)
    require_choice(information, "information", ("incomplete", "complete"))
    plan = VisitPlan((1 - evaluation_fraction,), evaluation_fraction, seed=seed)
    table, parents = _resolve_hierarchy(source, hierarchy, min_support, add_superclasses)
    table, rows, drops = clean(table, constant_features=constant_features)
    parents = {child: parent for child, parent in parents.items() if child in table.label_names}
    shares = SuperclassShares(superclass_share, subclass_share, superclass_cap)
    order = _resolve_order(table, parents, introductions, (labels_per_task, first_labels, plain_first), seed)
    parts, unused = _lay_out(table, rows, parents, order, shares, plan, information)
    name = name or f"{source.name}-iirc"
    card = describe_stream(
        table,
        parts,
        name=name,
        description=f"Labels of {source.name} refined from superclasses to subclasses, {information} information.",
        generator=describe_call(
            iirc_stream,
            given | {"introductions": order, "name": name},
            # The option matters again where it let labels into the first task of the schedule on the card.
            replaced=_DRAWN_FROM if plain_first else (*_DRAWN_FROM, "plain_first"),
        ),
        scenario=ScenarioCard(name="iirc", boundary="abrupt", task_identity="training"),
        drops=[*drops, *unused],
    )
    return Stream(parts.with_keys(table.keys), card.model_copy(update={"label_parents": parents}))


def _resolve_hierarchy(
    dataset: Dataset,
    hierarchy: Mapping[str, str] | Literal["names", "discover"] | None,
    min_support: int,
    may_lack_superclasses: bool,
) -> tuple[Dataset, dict[str, str]]:
    """Return the table with complete labels, and the parents."""
    if hierarchy is None:
        hierarchy = dataset.label_parents or "discover"
    if not isinstance(hierarchy, str):
        parents = dict(hierarchy)
        if not may_lack_superclasses:
            check_hierarchy(parents, dataset.label_names)
        return with_superclasses(dataset, parents), parents
    require_choice(hierarchy, "hierarchy", ("names", "discover"))
    if hierarchy == "names":
        parents = hierarchy_from_names(dataset.label_names)
    else:
        parents = discover_hierarchy(dataset.Y, dataset.label_names, min_support=min_support)
    return with_superclasses(dataset, parents), parents


def _resolve_order(
    table: Dataset,
    parents: Mapping[str, str],
    introductions: Sequence[Sequence[str]] | None,
    drawn: tuple[int, int | None, bool],
    seed: int,
) -> list[list[str]]:
    labels_per_task, first_labels, plain_first = drawn
    if introductions is not None:
        return check_schedule(introductions, table.label_names, parents, plain_first=plain_first)
    width = require_count(labels_per_task, "labels_per_task")
    return draw_schedule(
        table.label_names,
        parents,
        labels_per_task=width,
        first_labels=2 * width if first_labels is None else require_count(first_labels, "first_labels"),
        plain_first=plain_first,
        seed=seed,
    )


def _lay_out(
    table: Dataset,
    rows: Index,
    parents: Mapping[str, str],
    order: Sequence[Sequence[str]],
    shares: SuperclassShares,
    plan: VisitPlan,
    information: Information,
) -> tuple[StreamParts, tuple[DropCard, ...]]:
    above = ancestor_matrix(parents, table.label_names)
    rng = generator_for(Purpose.SPLIT, plan.seed)
    halves = split_evenly(rows, label_set_ids(table.Y[rows]), part_sizes(len(rows), plan), rng)
    learning, held_out = (np.sort(half) for half in halves)
    shown = deal_to_labels(table.Y[learning], above, shares, plan.seed)
    tested = deal_to_labels(table.Y[held_out], above, shares, plan.seed, overlap=False)
    introduced = np.array([np.isin(table.label_names, names) for names in order])
    signatures = introduced | (introduced.astype(int) @ above > 0)
    tasks = tuple(Task(f"task-{number}", signature) for number, signature in enumerate(signatures))
    experiences, evaluation_sets = [], []
    seen = np.logical_or.accumulate(introduced)
    for number, new in enumerate(introduced):
        visible = seen[number] if information == "complete" else new
        mine, theirs = (np.flatnonzero(part[:, new].any(axis=1)) for part in (shown, tested))
        if not len(mine) or not len(theirs):
            raise ValueError(
                f"Each task must have rows to learn and to evaluate. "
                f"Got {len(mine)} and {len(theirs)} for task {number}, which introduces {', '.join(order[number])}."
            )
        mine = generator_for(Purpose.ORDER, plan.seed, number).permutation(mine)
        learnt = learning[mine]
        Y = table.Y[learnt] if information == "complete" else with_unknown_of(table.Y[learnt], shown[mine])
        experiences.append(Experience(table.X[learnt], Y * visible, np.full(len(learnt), number), visible, learnt))
        chosen = held_out[theirs]
        evaluation_sets.append(EvaluationSet(table.X[chosen], table.Y[chosen], number, signatures[number], chosen))
    parts = StreamParts(tasks, tuple(experiences), tuple(evaluation_sets))
    return parts, _count_unused(rows, parts)


def _count_unused(rows: Index, parts: StreamParts) -> tuple[DropCard, ...]:
    learnt = [experience.row_ids for experience in parts.experiences]
    evaluated = [held_out.row_ids for held_out in parts.evaluation_sets]
    unused = len(rows) - count_rows(learnt + evaluated)
    return (DropCard(what="rows", reason="outside the shares", count=unused),) if unused else ()
