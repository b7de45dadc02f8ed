"""Optimising class distribution in memory: of the rows held and the new one, that goes which unbalances labels most."""

import math

import numpy as np

from estimators._kernels.compile import BUILD, JIT, njit
from estimators.replay._kernels.by_label import (
    NONE,
    Doubles,
    Integers,
    LabelState,
    count,
    draw_slots,
    pick_least,
    set_targets,
    store,
)

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
