"""Slots of rows in memories balanced by label, and the memory that gives up what unbalances labels most."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, JIT, njit
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


TOLERANCE = 1e-12  # of divergences, so that rows with equal labels tie whatever the order of additions
N_CHANCES = 1  # that a row needs besides its draws


@njit(**JIT)
def place_by_divergence(
    state: LabelState,
    starts: Integers,
    labels: Integers,
    chance: Doubles,
    plan: tuple[Integers, Integers],
    rho: float,
    random_ties: bool,
) -> None:
    """Plan draws and slots, the two parts of the plan, for rows whose labels follow each other from their starts on."""
    draws, slots = plan
    n_draws, n_scores = draws.shape[1], state.n_members.size + 1
    scores, terms, changes = np.empty(n_scores), np.empty(state.seen.size), np.empty(state.seen.size)
    for i in range(slots.size):
        own = labels[starts[i] : starts[i + 1]]
        draw_slots(draws[i], state.n_held[0], chance[i])
        count(state, own)
        set_targets(state, state.seen, rho)
        tie = chance[i, n_draws] if random_ties else 0.0
        slots[i] = choose_slot(state, own, terms, changes, scores, tie)
        if slots[i] != NONE:
            store(state, slots[i], own)


@njit(**BUILD)
def choose_slot(
    state: LabelState, own: Integers, terms: Doubles, changes: Doubles, scores: Doubles, chance: float
) -> int:
    """Return the slot that a row takes, or `NONE`."""
    n_held, size = state.n_held[0], state.n_members.size
    if own.size == 0:
        return NONE
    if n_held < size:
        return n_held
    score_removals(state, own, terms, changes, scores)
    slot = pick_least(scores, TOLERANCE, chance)
    return NONE if slot == size else slot


@njit(**BUILD)
def score_removals(state: LabelState, own: Integers, terms: Doubles, changes: Doubles, scores: Doubles) -> None:
    """Score each row held, and the new one last, by the divergence from the targets of what is left without it.

    With n_c of a label and n of all, the divergence is sum_c n_c (log n_c - log p_c) / n - log n. Each row has a label.
    """
    for k in range(terms.size):
        terms[k] = state.inside[k]
    for q in range(own.size):
        terms[own[q]] += 1
    n_all, whole = 0.0, 0.0
    for k in range(terms.size):
        n_all += terms[k]
        n, target = terms[k], state.targets[k]
        terms[k], changes[k] = term(n, target), term(n - 1, target) - term(n, target)
        whole += terms[k]
    for slot in range(state.n_members.size):
        change = 0.0
        for q in range(state.n_members[slot]):
            change += changes[state.members[slot, q]]
        scores[slot] = divergence(whole + change, n_all - state.n_members[slot])
    change = 0.0
    for q in range(own.size):
        change += changes[own[q]]
    scores[-1] = divergence(whole + change, n_all - own.size)


@njit(**BUILD)
def term(n: float, target: float) -> float:
    """Return n (log n - log p), 0 where there is no such label."""
    return n * (math.log(n) - math.log(target)) if n > 0 else 0.0


@njit(**BUILD)
def divergence(whole: float, total: float) -> float:
    """Return the divergence from the sum of the terms."""
    return whole / total - math.log(total)
