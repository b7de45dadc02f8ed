"""How many tasks to make of a table: tasks that are diverse, of which none is merged into another or too large."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from mlstream.data.in_memory import TableLike, as_dataset
from mlstream.generators._parameters import require_count
from mlstream.generators.from_tables.clustering import cluster_into_tasks, greatest_n_tasks
from mlstream.generators.from_tables.doubtful_tasks import LARGE_SHARE
from mlstream.generators.schedule.visit_plan import VisitPlan
from mlstream.plotting.matplotlib_parts import write_picture
from mlstream.streams.label_sets import count_label_sets, count_labels, has_label
from mlstream.streams.stream import Indicator


class Suggestion(NamedTuple):
    """The result of `suggest_n_tasks`.

    Parameters
    ----------
    n_tasks : int
        The number suggested; 1 if of every number fewer tasks are made.
    candidates : tuple of int
        All numbers tried, from 2 on.
    n_made : tuple of int
        Tasks that `task_stream` makes, by candidate: it merges clusters with one label, or nearly one label set.
    diversity : tuple of float
        Mean diversity of these tasks, by candidate: the distinct label sets of a task divided by the greatest possible
        number, ``min(n_rows, 2 ** n_labels)``, over the labels that it has.
    largest : tuple of float
        Share of the rows that is in the largest of these tasks, by candidate.
    """

    n_tasks: int
    candidates: tuple[int, ...]
    n_made: tuple[int, ...]
    diversity: tuple[float, ...]
    largest: tuple[float, ...]

    @property
    def doubt(self) -> str:
        """Describe what is wrong with the tasks of every number from 2 on; empty if nothing is."""
        if self.n_tasks == 1:
            return "Of every other number, clusters with one label, or nearly one label set, are merged"
        if (largest := self.largest[self.candidates.index(self.n_tasks)]) > LARGE_SHARE:
            return f"Of every number of which as many tasks are made, one has {largest:.0%} of the rows or more"
        return ""


def suggest_n_tasks(
    dataset: TableLike,
    *,
    max_tasks: int = 10,
    seed: int = 0,
    n_init: int = 10,
    evaluation_fraction: float = 0.30,
) -> Suggestion:
    """Suggest the number of tasks for `task_stream`.

    Parameters
    ----------
    dataset : Dataset, str, path, Bunch or tuple
        A table, as `mlstream.data.as_dataset` takes it: a Dataset, its name or path, a scikit-learn Bunch, or (X, Y).
        Rows without labels are left out. The label set of a row with unknown labels is that of the labels known to be
        present.
    max_tasks : int
        Greatest number to try, at least 2; no more than there are distinct label sets.
    seed : int
        Source of everything random.
    n_init : int
        Random starts of each clustering.
    evaluation_fraction : float
        Share of each task's rows that `task_stream` will hold out: the smaller it is, the more clusters are merged.

    Returns
    -------
    Suggestion
        Of the numbers of which as many tasks are made, the one with the greatest mean diversity; of equals, the least.
        Numbers with a task of more than 60 % of the rows come after all others. If of every number fewer tasks are
        made, 1 is suggested: other rules of `scenario_stream` may find more.

    Raises
    ------
    ValueError
        If there are fewer than two distinct label sets.

    Examples
    --------
    >>> import numpy as np
    >>> from mlstream import Dataset
    >>> Y = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]] * 9, dtype=np.uint8)
    >>> table = Dataset(np.zeros((36, 1)), Y, ("x",), ("k", "l", "m", "n"), name="toy")
    >>> suggest_n_tasks(table, max_tasks=4).n_tasks
    2
    """
    source = as_dataset(dataset)
    require_count(max_tasks, "max_tasks", minimum=2)
    occurring = source.Y[:, count_labels(source.Y) > 0]
    Y = occurring[has_label(occurring)]
    n_sets = min(count_label_sets(Y), greatest_n_tasks(Y))
    if n_sets < 2:
        raise ValueError(f"{source.name} must have at least two distinct label sets. Got {n_sets}.")
    candidates = tuple(range(2, min(max_tasks, n_sets) + 1))
    plan = VisitPlan((1 - evaluation_fraction,), evaluation_fraction, seed=seed)
    found = [_measure(Y, n_tasks, plan, n_init) for n_tasks in candidates]
    made = {n_tasks: one for n_tasks, one in zip(candidates, found, strict=True) if one.n_made == n_tasks}
    best = min(made, key=lambda n_tasks: (max(made[n_tasks].largest, LARGE_SHARE), -made[n_tasks].diversity), default=1)
    return Suggestion(best, candidates, *(tuple(values) for values in zip(*found, strict=True)))


def draw_suggestion(suggestion: Suggestion, path: str | os.PathLike[str]) -> None:
    """Draw the diversity of tasks, and how many are made, against the number of tasks asked for.

    Parameters
    ----------
    suggestion : Suggestion
        What `suggest_n_tasks` found.
    path : path
        File to write, replaced if it is there; its suffix is the format: .png, .svg, ...
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    bars = axes.twinx()
    bars.bar(suggestion.candidates, suggestion.n_made, width=0.4, color="#c8602a", alpha=0.5)
    bars.set_ylabel("tasks made (bars)", color="#c8602a")
    bars.yaxis.set_major_locator(MaxNLocator(integer=True))
    # The line is drawn after the bars.
    axes.set_zorder(bars.get_zorder() + 1)
    axes.patch.set_visible(False)
    axes.plot(suggestion.candidates, suggestion.diversity, "o-", color="#2a5c8a")
    axes.axvline(suggestion.n_tasks, color="#bbbbbb", zorder=0)
    axes.set_xlabel("tasks asked for")
    axes.set_ylabel("mean diversity (line)", color="#2a5c8a")
    axes.set_ylim(0, 1.1 * max(suggestion.diversity))
    axes.set_xticks(suggestion.candidates)
    axes.set_title(f"{suggestion.n_tasks} task{'s' * (suggestion.n_tasks > 1)} suggested")
    write_picture(figure, Path(path))


class _Measures(NamedTuple):
    """Measures of the tasks that are made of one number of clusters."""

    n_made: int
    diversity: float
    largest: float


def _measure(Y: Indicator, n_tasks: int, plan: VisitPlan, n_init: int) -> _Measures:
    assignment = cluster_into_tasks(Y, n_tasks, plan.evaluation_fraction, seed=plan.seed, n_init=n_init)
    tasks = [Y[assignment == task] for task in range(int(assignment.max()) + 1)]
    greatest = [min(len(task), 2 ** int((count_labels(task) > 0).sum())) for task in tasks]
    shares = [count_label_sets(task) / most for task, most in zip(tasks, greatest, strict=True)]
    return _Measures(len(tasks), mean(shares), max(map(len, tasks)) / len(Y))
