"""Labels that emerge one group after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from mlstream.cards.description import describe_stream
from mlstream.data.in_memory import TableLike, as_dataset
from mlstream.generators._parameters import describe_call, require_count
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.from_tables.cleaning import Keep, clean
from mlstream.generators.from_tables.doubtful_tasks import warn_of_doubtful_tasks
from mlstream.generators.schedule.partition import split_evenly
from mlstream.generators.schedule.visit_plan import VisitPlan, part_sizes
from mlstream.streams.card_model import ScenarioCard
from mlstream.streams.label_sets import label_set_ids
from mlstream.streams.stream import (
    Dataset,
    EvaluationSet,
    Experience,
    Index,
    Indicator,
    Mask,
    Stream,
    StreamParts,
    Task,
)

# The lists drawn from these parameters are on the card.
_DRAWN_FROM = ("first_labels", "labels_per_task")


def emerging_labels_stream(  # noqa: PLR0913 - the options of a generator are what its card holds
    dataset: TableLike,
    *,
    seed: int = 0,
    first_labels: int = 3,
    labels_per_task: int = 3,
    label_lists: Sequence[Sequence[str]] | None = None,
    evaluation_fraction: float = 0.30,
    unlabelled: Keep = "drop",
    constant_features: Keep = "drop",
    name: str | None = None,
) -> Stream:
    """Make a stream in which labels emerge one group after another, and stay.

    Parameters
    ----------
    dataset : Dataset, str, path, Bunch or tuple
        A table, as `mlstream.data.as_dataset` takes it: a Dataset, its name or path, a scikit-learn Bunch, or (X, Y).
    seed : int
        Source of everything random.
    first_labels : int
        Number of labels of the first task, where the schedule is drawn.
    labels_per_task : int
        Number of labels that emerge in each later task, where the schedule is drawn. It can be less in some tasks and
        more in others, where rows carry several labels that have not emerged.
    label_lists : sequence of sequence of str, optional
        Labels that emerge in each task, every label once; by default drawn at random, label sets of many rows sooner.
    evaluation_fraction : float
        Share of each task's rows that is held out.
    unlabelled : {"drop", "keep"}
        What happens to rows without any label. Kept, they come in any task.
    constant_features : {"drop", "keep"}
        What happens to features with one value only.
    name : str, optional
        Name of the stream; by default that of the table with "-label-emerging" added.

    Returns
    -------
    Stream
        One experience and one evaluation set per task; the signature of a task, and the label mask of its experience,
        is all labels that have emerged so far. The card states when each label emerges
        (``card.scenario.emergence``).

    Raises
    ------
    ValueError
        If a label does not occur without labels that emerge later, label_lists does not list each label once, or a
        task would have no rows to learn or to evaluate.

    Warns
    -----
    DoubtfulTasksWarning
        If half of the rows of the table were dropped without a label.

    Notes
    -----
    A row comes once, in one of the tasks from that on in which the last of its labels emerges: no label occurs before
    it emerges, so that its absence until then is the truth and hides nothing. Rows are dealt at random so that tasks
    are as equal in size as that allows. Every label that emerges in a task is present in at least one of its learning
    rows. A label that is unknown in a row does not keep the row waiting, and stays unknown in it. Evaluation rows of a
    task are drawn evenly from its label sets.

    Examples
    --------
    >>> Y = np.tile(np.eye(6, dtype=np.uint8), (20, 1))
    >>> table = Dataset(np.arange(240.0).reshape(120, 2), Y, ("a", "b"), tuple("klmnop"), name="toy")
    >>> stream = emerging_labels_stream(table, first_labels=2, labels_per_task=2)
    >>> [int(experience.label_mask.sum()) for experience in stream]
    [2, 4, 6]
    """
    given, source = dict(locals()), as_dataset(dataset)
    plan = VisitPlan((1 - evaluation_fraction,), evaluation_fraction, seed=seed)
    table, rows, drops = clean(source, unlabelled=unlabelled, constant_features=constant_features)
    if label_lists is None:
        Y = table.Y[rows]
        emergence = draw_emergence(Y, first_labels=first_labels, labels_per_task=labels_per_task, seed=seed)
    else:
        emergence = read_emergence(table, label_lists)
    parts = _lay_out(table, rows, emergence, plan)
    name = name or f"{source.name}-label-emerging"
    n_tasks = len(parts.tasks)
    lists = [[table.label_names[label] for label in np.flatnonzero(emergence == task)] for task in range(n_tasks)]
    card = describe_stream(
        table,
        parts,
        name=name,
        description=f"Labels of {source.name} that emerge in {n_tasks} tasks, one group after another.",
        generator=describe_call(
            emerging_labels_stream, given | {"label_lists": lists, "name": name}, replaced=_DRAWN_FROM
        ),
        scenario=ScenarioCard(
            name="label-emerging", boundary="abrupt", task_identity="training", emergence=emergence.tolist()
        ),
        drops=drops,
    )
    warn_of_doubtful_tasks(card)
    return Stream(parts.with_keys(table.keys), card)


def _lay_out(table: Dataset, rows: Index, emergence: Index, plan: VisitPlan) -> StreamParts:
    heralds = _choose_heralds(table, rows, emergence, plan.seed)
    others = rows[~np.isin(rows, heralds)]
    n_tasks = int(emergence.max()) + 1
    announced = first_tasks(table.Y[heralds], emergence)
    n_heralds = np.bincount(announced, minlength=n_tasks)
    dealt = _deal_evenly(
        first_tasks(table.Y[others], emergence), n_heralds, generator_for(Purpose.SAMPLING, plan.seed, 1)
    )
    tasks, experiences, evaluation_sets = [], [], []
    for number in range(n_tasks):
        signature = emergence <= number
        learnt, held_out = _split(table, heralds[announced == number], others[dealt == number], number, plan)
        ids = np.full(len(learnt), number)
        tasks.append(Task(f"task-{number}", signature))
        experiences.append(Experience(table.X[learnt], table.Y[learnt], ids, signature, learnt))
        evaluation_sets.append(EvaluationSet(table.X[held_out], table.Y[held_out], number, signature, held_out))
    return StreamParts(tuple(tasks), tuple(experiences), tuple(evaluation_sets))


def _deal_evenly(first: Index, n_heralds: Index, rng: np.random.Generator) -> Index:
    """Deal rows to tasks, none before its first, so that with their heralds tasks are as equal in size as can be."""
    n_tasks = len(n_heralds)
    available = np.cumsum(np.bincount(first, minlength=n_tasks) + n_heralds)
    dealt, done = np.full(len(first), -1), 0
    for task, herald_count in enumerate(n_heralds.tolist()):
        # An equal share of what this and the following tasks have, of any number of them.
        size = max(herald_count, int(((available[task:] - done) // np.arange(1, n_tasks - task + 1)).min()))
        pool = rng.permutation(np.flatnonzero((dealt < 0) & (first <= task)))
        dealt[pool[: size - herald_count]] = task
        done += size
    return dealt


def _choose_heralds(table: Dataset, rows: Index, emergence: Index, seed: int) -> Index:
    """Choose, for each label, a row that is learnt in the task in which the label emerges."""
    rng = generator_for(Purpose.SAMPLING, seed)
    Y = table.Y[rows]
    first = first_tasks(Y, emergence)
    chosen = []
    for label, task in enumerate(emergence):
        able = np.flatnonzero((Y[:, label] == 1) & (first == task))
        if not len(able):
            raise ValueError(
                f"label_lists must let each label emerge with a row that carries no later one. Got label "
                f"{table.label_names[label]!r} in task {task}; move it to a later list, or its companions to this one."
            )
        chosen.append(rows[rng.choice(able)])
    return np.unique(chosen)


def _split(table: Dataset, heralds: Index, others: Index, task: int, plan: VisitPlan) -> tuple[Index, Index]:
    """Split the rows of a task into those to learn, in random order, and those held out."""
    n_held_out = part_sizes(len(heralds) + len(others), plan)[-1]
    if not 0 < n_held_out <= len(others):
        raise ValueError(
            f"Every task must hold rows to learn and to evaluate. Got {len(heralds)} and {len(others)} in task {task}; "
            f"let more labels emerge at a time."
        )
    sizes = [len(others) - n_held_out, n_held_out]
    strata = label_set_ids(table.Y[others])
    learnt, held_out = split_evenly(others, strata, sizes, generator_for(Purpose.SPLIT, plan.seed, task))
    learnt = generator_for(Purpose.ORDER, plan.seed, task).permutation(np.concatenate([heralds, learnt]))
    return learnt, np.sort(held_out)


def draw_emergence(Y: Indicator, *, first_labels: int, labels_per_task: int, seed: int) -> Index:
    """Draw the task in which each label emerges, so that rows exist that carry it and no label of a later task.

    Tasks are numbered without gaps. Every label must be known to be present somewhere.

    A task takes label sets of the table, common ones with a greater probability, until it has its number of new labels.
    Where no label set that is left has as few new labels as there is room for, it ends early; a task without any takes
    one of the label sets with the fewest new labels, and then has more labels than asked.
    """
    rng = generator_for(Purpose.LABELS, seed)
    _, first, count = np.unique(label_set_ids(Y), return_index=True, return_counts=True)
    sets: Mask = Y[first] == 1
    task = np.full(Y.shape[1], -1)
    room, width = require_count(first_labels, "first_labels"), require_count(labels_per_task, "labels_per_task")
    number = 0
    while (task < 0).any():
        chosen = _choose(sets & (task < 0), count, room, rng, may_exceed=number not in task)
        task[chosen] = number
        room -= int(chosen.sum())
        if room <= 0 or not chosen.any():
            number, room = number + 1, width
    return task


def _choose(new: Mask, count: Index, room: int, rng: np.random.Generator, *, may_exceed: bool) -> Mask:
    """Choose one label set's new labels; none where all have too many."""
    n_new = new.sum(axis=1)
    fits = (n_new > 0) & (n_new <= room)
    if may_exceed and not fits.any() and n_new.any():
        fits = n_new == n_new[n_new > 0].min()
    if not fits.any():
        return np.zeros(new.shape[1], dtype=bool)
    return np.asarray(new[rng.choice(len(new), p=count * fits / (count * fits).sum())])


def read_emergence(table: Dataset, label_lists: Sequence[Sequence[str]]) -> Index:
    """Return the task in which each label emerges from lists of labels.

    Raises ValueError if a list is empty, or a label is unknown, missing or listed twice.
    """
    lists = [list(names) for names in label_lists]
    if not lists or not all(lists):
        raise ValueError(f"label_lists must hold at least one list, none of them empty. Got {lists}.")
    counts = Counter(chain.from_iterable(lists))
    for name in {*counts, *table.label_names}:
        if counts[name] != 1 or name not in table.label_names:
            where = "once" if name in table.label_names else "only if it occurs in the table"
            raise ValueError(f"label_lists must list each label {where}. Got {name!r} {counts[name]} times.")
    return np.array([next(task for task, names in enumerate(lists) if name in names) for name in table.label_names])


def first_tasks(Y: Indicator, emergence: Index) -> Index:
    """Return the first task in which each row can be: that in which the last of its labels emerges.

    It is 0 for rows without labels known to be present.
    """
    return np.asarray(((Y == 1) * emergence).max(axis=1))
