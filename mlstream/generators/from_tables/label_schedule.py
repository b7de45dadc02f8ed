"""The schedule by which the labels of a hierarchy are introduced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mlstream.generators._randomness import Purpose, generator_for


def draw_schedule(
    label_names: Sequence[str],
    parents: Mapping[str, str],
    *,
    labels_per_task: int,
    first_labels: int,
    plain_first: bool,
    seed: int,
) -> list[list[str]]:
    """Draw the labels that each task introduces, each once, and in a later task than its superclass.

    The first task introduces superclasses only; with `plain_first`, also labels without superclass and subclasses.
    Raises ValueError if there is no label for it.

    >>> draw_schedule(["polar", "bear", "dog"], {"polar": "bear"}, labels_per_task=2, first_labels=2,
    ...                    plain_first=False, seed=0)
    [['bear'], ['polar', 'dog']]
    """
    rng = generator_for(Purpose.LABELS, seed)
    roots = [name for name in label_names if name not in parents]
    superclasses = set(parents.values())
    ready = [name for name in roots if plain_first or name in superclasses]
    if not ready:
        raise ValueError("The hierarchy must have a superclass for the first task. Got no superclass.")
    tasks, width = [], first_labels
    left = list(label_names)
    while left:
        tasks.append([ready[place] for place in np.sort(rng.permutation(len(ready))[:width])])
        left = [name for name in left if name not in tasks[-1]]
        ready = [name for name in left if parents.get(name) not in left]
        width = labels_per_task
    return tasks


def check_schedule(
    introductions: Sequence[Sequence[str]],
    label_names: Sequence[str],
    parents: Mapping[str, str],
    *,
    plain_first: bool,
) -> list[list[str]]:
    """Return an order of labels, or raise ValueError if a label is unknown, repeated, or not after its superclass.

    The first task must introduce superclasses only; with `plain_first`, also labels without superclass and subclasses.
    Labels that are left out never come.
    """
    tasks = [list(names) for names in introductions]
    when: dict[str, int] = {}
    for task, names in enumerate(tasks):
        if not names:
            raise ValueError(f"Each task must introduce a label. Got an empty list for task {task}.")
        for name in names:
            if name not in label_names:
                raise ValueError(f"introductions must name labels that occur. Got {name!r} in task {task}.")
            if name in when:
                raise ValueError(f"A label must be introduced once. Got {name!r} in tasks {when[name]} and {task}.")
            when[name] = task
    _require_superclasses(tasks[0] if tasks else [], parents, plain_first)
    for name, task in when.items():
        parent = parents.get(name)
        if parent is not None and when.get(parent, task) >= task:
            raise ValueError(
                f"A label must come in a later task than its superclass. Got {name!r} in task {task} and {parent!r} "
                f"{f'in task {when[parent]}' if parent in when else 'never'}."
            )
    return tasks


def _require_superclasses(first: Sequence[str], parents: Mapping[str, str], plain_first: bool) -> None:
    superclasses = set(parents.values())
    for name in first:
        if name in parents:
            fault = f"a subclass of {parents[name]!r}; move it to a later task"
        elif name not in superclasses and not plain_first:
            fault = "which has no subclass; move it to a later task, or allow it by plain_first"
        else:
            continue
        raise ValueError(f"introductions: the first task must introduce superclasses only. Got {name!r}, {fault}.")
