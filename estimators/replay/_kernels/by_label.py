"""Slots of rows in memories whose content is balanced by label: counts, draws, and the choice of the row that goes."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, njit
from estimators._typing import Integer

Integers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

NONE = -1


class LabelState(NamedTuple):
    """The rows of a memory, by their labels.

    Slot s holds a row with the labels ``members[s, : n_members[s]]``; ``n_held[0]`` slots are filled, the first ones.
    For each label, ``seen`` counts the rows of the stream that have it, ``inside`` those held, and ``targets`` is the
    share that it should have among all labels of the rows held.
    """

    members: Integers
    n_members: Integers
    seen: Integers
    inside: Integers
    targets: Doubles
    n_held: Integers


@njit(**BUILD)
def draw_slots(draws: Integers, n_held: int, chance: Doubles) -> None:
    """Draw filled slots, with replacement, if there are more of them than are drawn."""
    for k in range(draws.size):
        draws[k] = np.int64(chance[k] * n_held) if n_held > draws.size else NONE


@njit(**BUILD)
def store(state: LabelState, slot: int, labels: Integers) -> None:
    """Put a row into a slot, the next free one or one whose row then goes."""
    for q in range(state.n_members[slot] if slot < state.n_held[0] else 0):
        state.inside[state.members[slot, q]] -= 1
    if slot == state.n_held[0]:
        state.n_held[0] += 1
    state.n_members[slot] = labels.size
    for q in range(labels.size):
        state.members[slot, q] = labels[q]
        state.inside[labels[q]] += 1


@njit(**BUILD)
def count(state: LabelState, labels: Integers) -> None:
    """Count a row of the stream."""
    for q in range(labels.size):
        state.seen[labels[q]] += 1


@njit(**BUILD)
def set_targets(state: LabelState, counts: Integers, rho: float) -> None:
    """Set the targets of labels whose counts are positive, seen**rho, to sum to 1; others keep theirs."""
    total = 0.0
    for k in range(counts.size):
        if counts[k] > 0:
            total += state.seen[k] ** rho
    for k in range(counts.size):
        if counts[k] > 0:
            state.targets[k] = state.seen[k] ** rho / total


@njit(**BUILD)
def pick_least(scores: Doubles, tolerance: float, chance: float) -> int:
    """Return the place of the least score: of those equal to it up to rounding, the one that the chance names."""
    least, n_ties = scores[0], 0
    for s in range(scores.size):
        least = scores[s] if scores[s] < least else least
    for s in range(scores.size):
        n_ties += scores[s] <= least + tolerance
    nth = np.int64(chance * n_ties)
    for s in range(scores.size):
        if scores[s] <= least + tolerance:
            if nth == 0:
                return s
            nth -= 1
    return NONE


@njit(**BUILD)
def total(counts: Integers) -> int:
    """Return the sum of counts."""
    n = 0
    for k in range(counts.size):
        n += counts[k]
    return n


@njit(**BUILD)
def holds(state: LabelState, slot: int, label: Integer) -> bool:
    """Return whether the row in a slot has a label."""
    found = False
    for q in range(state.n_members[slot]):
        found = found or state.members[slot, q] == label
    return found
