"""How many tasks to make of a table: many enough to be diverse, few enough that each has several labels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.data.in_memory import TableLike, as_dataset
from mlstream.generators._checks import require_count, require_seed
from mlstream.generators.from_tables.clustering import cluster_label_sets
from mlstream.plotting.matplotlib_parts import write_picture
from mlstream.streams.label_sets import count_label_sets, count_labels, has_label
from mlstream.streams.stream import Indicator


class Suggestion(NamedTuple):
    """The result of `suggest_n_tasks`.

    Parameters
    ----------
    n_tasks : int
        The number suggested.
    candidates : tuple of int
        All numbers tried, from 2 on.
    diversity : tuple of float
        Mean diversity of the clusters, by candidate: the distinct label sets of a cluster divided by the greatest
        possible number, ``min(n_rows, 2 ** n_labels)``, over the labels that it has.
    n_single_label : tuple of int
        Clusters that have one label only, by candidate.
    """

    n_tasks: int
    candidates: tuple[int, ...]
    diversity: tuple[float, ...]
    n_single_label: tuple[int, ...]


def suggest_n_tasks(dataset: TableLike, *, max_tasks: int = 10, seed: int = 0, n_init: int = 10) -> Suggestion:
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

    Returns
    -------
    Suggestion
        Of the numbers with fewest clusters of one label only, the one with the greatest mean diversity; of equals, the
        least.

    Raises
    ------
    ValueError
        If there are fewer than two distinct label sets.

    Examples
    --------
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
    n_sets = count_label_sets(Y)
    if n_sets < 2:
        raise ValueError(f"{source.name} must have at least two distinct label sets. Got {n_sets}.")
    candidates = tuple(range(2, min(max_tasks, n_sets) + 1))
    found = [_measure(Y, n_tasks, require_seed(seed), n_init) for n_tasks in candidates]
    diversity, single = (tuple(values) for values in zip(*found, strict=True))
    best = min(range(len(found)), key=lambda index: (single[index], -diversity[index]))
    return Suggestion(candidates[best], candidates, diversity, single)


def draw_suggestion(suggestion: Suggestion, path: str | os.PathLike[str]) -> None:
    """Draw diversity and clusters of one label against the number of tasks.

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
    axes.plot(suggestion.candidates, suggestion.diversity, "o-", color="#2a5c8a")
    axes.axvline(suggestion.n_tasks, color="#bbbbbb", zorder=0)
    axes.set_xlabel("tasks")
    axes.set_ylabel("mean diversity (line)", color="#2a5c8a")
    axes.set_ylim(0, 1.1 * max(suggestion.diversity))
    axes.set_xticks(suggestion.candidates)
    bars = axes.twinx()
    bars.bar(suggestion.candidates, suggestion.n_single_label, width=0.4, color="#c8602a", alpha=0.5)
    bars.set_ylabel("tasks with one label only (bars)", color="#c8602a")
    bars.set_ylim(0, max(1, *suggestion.n_single_label) * 1.1)
    bars.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"{suggestion.n_tasks} tasks suggested")
    write_picture(figure, Path(path))


def _measure(Y: Indicator, n_tasks: int, seed: int, n_init: int) -> tuple[float, int]:
    assignment = cluster_label_sets(Y, n_tasks, seed=seed, n_init=n_init)
    clusters = [Y[assignment == task] for task in range(n_tasks)]
    n_labels: list[int] = [int((count_labels(cluster) > 0).sum()) for cluster in clusters]
    greatest: npt.NDArray[np.float64] = np.array(
        [min(len(cluster), 2**width) for cluster, width in zip(clusters, n_labels, strict=True)], dtype=np.float64
    )
    shares = np.array([count_label_sets(cluster) for cluster in clusters]) / greatest
    return float(shares.mean()), n_labels.count(1)
