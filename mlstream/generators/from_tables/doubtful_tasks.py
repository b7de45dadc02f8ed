"""Warnings about streams whose tasks are not what their maker asked for, each with a way out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from mlstream.streams.card_model import StreamCard

# A task with a larger share of all rows decides scores over the stream.
LARGE_SHARE = 0.6
_MANY_UNLABELLED = 0.5
_OTHER_RULES = "`mlstream scenario` (scenario_stream) finds tasks by other rules."


class DoubtfulTasksWarning(UserWarning):
    """A stream has fewer tasks than asked for, one that is too large, or half of the table's rows only."""


def warn_of_doubtful_tasks(card: StreamCard, n_tasks: int | None = None) -> None:
    """Warn whoever called the generator, once for each reason.

    `n_tasks` tasks of label sets were asked for; None if tasks are found in another way.
    """
    for doubt in (*_doubt_labels(card), *(() if n_tasks is None else _doubt_sizes(card, n_tasks))):
        warnings.warn(f"{card.name}: {doubt}", DoubtfulTasksWarning, stacklevel=3)


def _doubt_labels(card: StreamCard) -> Iterator[str]:
    unlabelled = sum(drop.count for drop in card.drops if drop.what == "rows" and drop.reason == "no label")
    if unlabelled >= _MANY_UNLABELLED * card.source.n_samples:
        yield (
            f"{unlabelled:,} of {card.source.n_samples:,} rows carry no label and were left out; --unlabelled keep "
            f"(unlabelled='keep') keeps them."
        )


def _doubt_sizes(card: StreamCard, n_tasks: int) -> Iterator[str]:
    roles = card.scenario.task_roles or ["downstream"] * len(card.tasks)
    tasks = [task for task, role in zip(card.tasks, roles, strict=True) if role != "pre-training"]
    sizes = [task.n_learning + task.n_evaluation for task in tasks]
    share = max(sizes) / sum(sizes)
    if len(tasks) < n_tasks:
        found = "there is one task only" if len(tasks) == 1 else f"there are {len(tasks)} tasks"
        yield (
            f"{found} instead of {n_tasks}, since clusters with one label, or nearly one label set, were merged into "
            f"others. `mlstream suggest-tasks` (suggest_n_tasks), with the same --seed and --evaluation, compares "
            f"numbers of tasks, and {_OTHER_RULES}"
        )
    if len(tasks) > 1 and share > LARGE_SHARE:
        rows = "all rows" if len(tasks) == len(roles) else "the rows after pre-training"
        yield (
            f"{tasks[sizes.index(max(sizes))].name} has {share:.0%} of {rows}, and decides scores over the stream. "
            f"`mlstream suggest-tasks` (suggest_n_tasks) shows the largest task for each number of tasks, and "
            f"{_OTHER_RULES}"
        )
