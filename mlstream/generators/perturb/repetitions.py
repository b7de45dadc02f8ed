"""Repetitions of a stream: the same tasks and rows, in another order of tasks or with another split of the rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from mlstream.cards.description import describe_again
from mlstream.generators._parameters import describe_call, require_seed
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.perturb.perturbed import with_base
from mlstream.streams.card_model import GeneratorCard
from mlstream.streams.keys import join_keys, take_keys
from mlstream.streams.stream import Index, Stream, StreamParts
from mlstream.streams.tables.arrays import join_rows


def reordered_tasks(stream: Stream, *, seed: int = 0) -> Stream:
    """Visit the tasks of a stream in another order.

    Parameters
    ----------
    stream : Stream
        A stream whose experiences hold one task each, every task visited equally often.
    seed : int
        Source of the permutation.

    Returns
    -------
    Stream
        The same experiences and evaluation sets. Tasks change places with each other: where the n-th visit of one was,
        there is now the n-th visit of another, so that visits recur in the same pattern.

    Raises
    ------
    ValueError
        If an experience mixes tasks, visits are not equally many, a task is there to pre-train on, labels emerge, or
        are refined (IIRC), from task to task, or drifts are on the card: they belong to the order.

    Examples
    --------
    >>> from mlstream.generators import multiplier_stream
    >>> stream = multiplier_stream("rand", seed=1, n_rows=50)
    >>> [int(part.task_ids[0]) for part in reordered_tasks(stream, seed=2)]
    [0, 3, 1, 2, 0, 3, 1, 2]
    """
    visits = list_visits(stream)
    tasks = sorted(set(visits))
    moved = generator_for(Purpose.ORDER, require_seed(seed)).permutation(tasks).tolist()
    place_of = dict(zip(tasks, moved, strict=True))
    waiting = {task: [part for part, at in zip(stream, visits, strict=True) if at == task] for task in tasks}
    experiences = tuple(waiting[place_of[task]].pop(0) for task in visits)
    parts = StreamParts(stream.tasks, experiences, stream.evaluation_sets)
    return _with_card(stream, parts, describe_call(reordered_tasks, {"seed": seed}), "Tasks come in another order.")


def resplit_rows(stream: Stream, *, seed: int = 0) -> Stream:
    """Split the rows of each task again over its visits and its evaluation set.

    Parameters
    ----------
    stream : Stream
        A stream that holds every row once.
    seed : int
        Source of the split.

    Returns
    -------
    Stream
        Tasks follow each other as before, row by row, and parts keep their sizes; which of a task's rows is where is
        drawn at random.

    Raises
    ------
    ValueError
        If a row is in the stream more than once (it could be learnt and evaluated), a task has several label masks,
        learning rows hide labels that they would show in an evaluation set, or an incremental drift is on the card.
    """
    require_resplittable(stream)
    parts: tuple[Any, ...] = (*stream.experiences, *stream.evaluation_sets)
    row_ids = _row_ids(stream)
    task_ids = np.concatenate(
        [*(part.task_ids for part in stream), *(np.full(len(part), part.task_id) for part in stream.evaluation_sets)]
    )
    rows = np.arange(len(task_ids))
    rng = generator_for(Purpose.SPLIT, require_seed(seed))
    for task in range(stream.n_tasks):
        places = np.flatnonzero(task_ids == task)
        rows[places] = rng.permutation(places)
    X, Y = join_rows([part.X for part in parts]), np.concatenate([part.Y for part in parts])
    keys, bounds = join_keys([part.keys for part in parts]), np.cumsum([0, *map(len, parts)]).tolist()
    taken = [
        replace(part, X=X[own], Y=Y[own], row_ids=row_ids[own], keys=take_keys(keys, own))
        for part, own in zip(parts, (rows[start:stop] for start, stop in pairwise(bounds)), strict=True)
    ]
    n_learning = len(stream)
    again = StreamParts(stream.tasks, tuple(taken[:n_learning]), tuple(taken[n_learning:]))
    return _with_card(stream, again, describe_call(resplit_rows, {"seed": seed}), "Rows of each task are split again.")


def list_visits(stream: Stream) -> list[int]:
    """List the task of each experience; raise a ValueError if tasks cannot change places."""
    present, card = stream.order, stream.card
    if (present.sum(axis=1) != 1).any():
        raise ValueError(f"Every experience must hold one task to be moved. Got a mixture in {card.name!r}.")
    visits: list[int] = present.argmax(axis=1).tolist()
    counts = Counter(visits)
    if len(set(counts.values())) > 1:
        raise ValueError(f"Every task must be visited equally often to change places. Got {dict(counts)}.")
    if "pre-training" in (card.scenario.task_roles or ()):
        raise ValueError(f"A stream must have no task to pre-train on to be reordered. Got one in {card.name!r}.")
    if card.scenario.emergence is not None or card.scenario.name == "iirc":
        raise ValueError(
            f"A stream must have no labels that emerge, or are refined, from task to task to be reordered. "
            f"Got the scenario {card.scenario.name!r} in {card.name!r}."
        )
    if card.drifts:
        raise ValueError(f"A stream must have no drifts on its card to be reordered. Got {len(card.drifts)}.")
    return visits


def require_resplittable(stream: Stream) -> None:
    """Raise a ValueError if the rows of a stream cannot be split again."""
    card, row_ids = stream.card, _row_ids(stream)
    if n_repeated := len(row_ids) - len(np.unique(row_ids)):
        raise ValueError(
            f"Every row must be in a stream once to be split again: a repeated one could be learnt and evaluated. "
            f"Got {n_repeated} repetitions in {card.name!r}."
        )
    if any(drift.pattern == "incremental" for drift in card.drifts):
        raise ValueError(
            f"A stream must have no incremental drift on its card for its rows to be split again: they would leave the "
            f"window of the drift. Got one in {card.name!r}."
        )
    signatures = np.array([task.signature for task in stream.tasks])
    if any((np.broadcast_to(part.label_mask, part.Y.shape) != signatures[part.task_ids]).any() for part in stream):
        raise ValueError(
            f"The label mask of each row must be its task's signature to be split again. Got others in {card.name!r}."
        )
    if card.scenario.shared_rows == "mask" and not signatures.any(axis=0).all():
        raise ValueError(
            f"Every label must be in a task's signature for rows to be split again: learning rows hide the others. "
            f"Got {card.name!r}; make it with shared_rows='drop', or list all labels."
        )


def _row_ids(stream: Stream) -> Index:
    return np.concatenate([part.row_ids for parts in (stream.experiences, stream.evaluation_sets) for part in parts])


def _with_card(stream: Stream, parts: StreamParts, call: GeneratorCard, what: str) -> Stream:
    card = describe_again(
        stream.card,
        parts,
        name=f"{stream.card.name}-{call.name.replace('_', '-')}-{call.seed}",
        description=f"{stream.card.description} {what}",
        generator=with_base(call, stream),
    )
    return Stream(parts, card)
