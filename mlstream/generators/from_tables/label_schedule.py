"""Schedules by which the labels of a hierarchy are introduced: made, or those of the IIRC benchmarks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from metrics.validation import require_choice
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


class _Benchmark(NamedTuple):
    """The file with the orders of a benchmark, and the shares of its rows."""

    file: str
    key: str
    superclass_share: float
    subclass_share: float


_BENCHMARKS = {
    "iirc-cifar100": _Benchmark("cifar100", "iirc", 0.4, 0.8),
    "iirc-imagenet-full": _Benchmark("imagenet", "full", 0.4, 0.8),
    "iirc-imagenet-lite": _Benchmark("imagenet", "lite", 0.4, 0.8),
    "incremental-cifar100": _Benchmark("cifar100", "incremental", 0.002, 1.0),
}
PUBLISHED_ORDERS = tuple(_BENCHMARKS)
_CAP = 8


def published_order(name: str, configuration: int = 0) -> dict[str, Any]:
    """Return the hierarchy, the order and the shares of a benchmark of IIRC, as options of `iirc_stream`.

    Parameters
    ----------
    name : {"iirc-cifar100", "iirc-imagenet-full", "iirc-imagenet-lite", "incremental-cifar100"}
        The benchmark. The table to use it on has a label per class, called as there: "beaver" (CIFAR-100), or
        "n02110341" (ImageNet).
    configuration : int
        Number of the order, from 0: ten were published for CIFAR-100, five for ImageNet.

    Returns
    -------
    dict
        ``hierarchy``, ``introductions``, ``superclass_share``, ``subclass_share``, ``superclass_cap``,
        ``add_superclasses`` (superclasses get a label if the table has none) and ``plain_first``: whether the first
        task holds labels that have no subclass there.

    Raises
    ------
    ValueError
        If the benchmark or the order is unknown.

    Notes
    -----
    The files come from github.com/chandar-lab/IIRC (MIT licence, which lies beside them). That code holds validation
    rows out as well, of 4 to 10 %; `iirc_stream` leaves this to `evaluation_fraction`.

    References
    ----------
    M. Abdelsalam, M. Faramarzi, S. Sodhani, S. Chandar. IIRC: Incremental implicitly-refined classification.
    CVPR, 2021.

    Examples
    --------
    >>> order = published_order("iirc-cifar100", 3)
    >>> len(order["introductions"]), order["hierarchy"]["beaver"]
    (22, 'aquatic_mammals')
    """
    require_choice(name, "name", PUBLISHED_ORDERS)
    benchmark = _BENCHMARKS[name]
    content = _read(benchmark.file)
    orders = content["orders"][benchmark.key]
    if configuration not in range(len(orders)):
        raise ValueError(
            f"configuration must be from 0 to {len(orders) - 1} for {name}. Got {configuration!r} instead."
        )
    introductions = [list(task) for task in orders[configuration]]
    used = set(chain.from_iterable(introductions))
    pairs = ((child, parent) for parent, children in content["subclasses"].items() for child in children)
    parents = {child: parent for child, parent in pairs if {child, parent} <= used}
    return {
        "hierarchy": parents,
        "introductions": introductions,
        "plain_first": not set(introductions[0]) <= set(parents.values()),
        "superclass_share": benchmark.superclass_share,
        "subclass_share": benchmark.subclass_share,
        "superclass_cap": _CAP,
        "add_superclasses": True,
    }


@cache
def _read(file: str) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(
        (files("mlstream.generators.from_tables") / "published" / f"{file}.json").read_text(encoding="utf-8")
    )
    return content
