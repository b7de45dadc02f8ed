"""Colours, dashes, symbols and short names: a strategy or task looks the same in every figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count

# On white paper; the report's style sheet holds the same colours for a light page, and others for a dark one.
PAPER_COLOURS = ("#2148c7", "#ea6430", "#55855f", "#a2258f", "#5a3c12", "#1f97e8", "#33363b")
N_COLOURS = len(PAPER_COLOURS)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star")


@dataclass(frozen=True)
class Key:
    """An entry of a legend: it switches all traces whose ``legendgroup`` is `group`.

    The first 42 lines and the first 56 points all look different.
    """

    name: str
    group: str
    style: int

    @property
    def colour(self) -> int:
        """Number of its colour."""
        return self.style % N_COLOURS

    @property
    def dash(self) -> str:
        """Dash of its line."""
        return DASHES[self.style % len(DASHES)]

    @property
    def symbol(self) -> str:
        """Symbol of its points."""
        return SYMBOLS[self.style % len(SYMBOLS)]


def strategy_key(name: str, style: int) -> Key:
    """Make the entry of a strategy, by its name in legends and its place in the campaign."""
    return Key(name, f"strategy-{style}", style)


def task_keys(names: Iterable[str]) -> list[Key]:
    """Make the legend of tasks."""
    return [Key(name, f"task-{place}", place) for place, name in enumerate(names)]


def distinct(names: Sequence[str], length: int = 24) -> list[str]:
    """Shorten names and keep them apart: an axis draws equal names at one place."""
    labels: list[str] = []
    for name in names:
        # What sets long names apart is as often at their end as at their start.
        tail = len(name) - length // 2 + 1
        short = name if len(name) <= length else f"{name[: length - length // 2]}…{name[tail:]}"
        numbered = (f"{short} ({number})" for number in count(2))
        labels.append(next(label for label in chain([short], numbered) if label not in labels))
    return labels
