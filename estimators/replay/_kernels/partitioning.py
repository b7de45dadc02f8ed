"""Partitioning reservoir sampling: which rows enter a memory, and which row goes for each."""

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
    holds,
    pick_least,
    set_targets,
    store,
    total,
)

TOLERANCE = 1e-9  # of sums of counts, so that rows with equal labels tie whatever the order of additions
N_CHANCES = 3  # that a row needs besides its draws


@njit(**JIT)
def place_by_partition(
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
    scores = np.empty(state.n_members.size)
    n_draws = draws.shape[1]
    for i in range(slots.size):
        own = labels[starts[i] : starts[i + 1]]
        draw_slots(draws[i], state.n_held[0], chance[i])
        slots[i] = choose_slot(state, own, chance[i, n_draws:], scores, random_ties)
        if slots[i] != NONE:
            store(state, slots[i], own)
        count(state, own)
        set_targets(state, state.inside, rho)


@njit(**BUILD)
def choose_slot(state: LabelState, own: Integers, chance: Doubles, scores: Doubles, random_ties: bool) -> int:
    """Return the slot that a row takes, or `NONE`."""
    n_held, size = state.n_held[0], state.n_members.size
    if own.size == 0:
        return NONE
    if n_held < size:
        return n_held
    if chance[0] >= admission(state, own):
        return NONE
    label = draw_label(state, chance[1])
    mark_candidates(state, label, scores)
    for slot in range(size):
        if scores[slot] < np.inf:
            scores[slot] = imbalance_without(state, slot)
    return pick_least(scores, TOLERANCE, chance[2] if random_ties else 0.0)


@njit(**BUILD)
def admission(state: LabelState, own: Integers) -> float:
    """Return the probability that a row enters a full memory: that of its rarest label, nearly."""
    least, weights, admitted = state.seen[own[0]], 0.0, 0.0
    for q in range(own.size):
        least = state.seen[own[q]] if state.seen[own[q]] < least else least
    for q in range(own.size):
        n_seen, wanted = state.seen[own[q]], state.n_members.size * state.targets[own[q]]
        weight = math.exp(float(least - n_seen))
        weights += weight
        admitted += weight * (wanted / n_seen if n_seen > wanted else 1.0)
    return admitted / weights


@njit(**BUILD)
def excess(state: LabelState, k: int, n_all: int) -> float:
    """Return how many more of the `n_all` labels held are label k than there should be."""
    return state.inside[k] - state.targets[k] * n_all


@njit(**BUILD)
def draw_label(state: LabelState, chance: float) -> int:
    """Draw a label that is held, in proportion to the exponential of its excess."""
    n_all, last, top, weights = total(state.inside), NONE, -np.inf, 0.0
    for k in range(state.inside.size):
        if state.inside[k] > 0:
            most = excess(state, k, n_all)
            top = most if most > top else top
    for k in range(state.inside.size):
        if state.inside[k] > 0:
            weights += math.exp(excess(state, k, n_all) - top)
    rest = chance * weights
    for k in range(state.inside.size):
        if state.inside[k] > 0:
            last = k
            rest -= math.exp(excess(state, k, n_all) - top)
            if rest < 0:
                return last
    return last


@njit(**BUILD)
def mark_candidates(state: LabelState, label: int, scores: Doubles) -> None:
    """Leave finite the scores of the rows with a label that have the fewest labels of which there are too few."""
    n_all, fewest = total(state.inside), np.inf
    for slot in range(scores.size):
        scores[slot] = np.inf
        if holds(state, slot, label):
            n_wanted = 0.0
            for q in range(state.n_members[slot]):
                n_wanted += excess(state, state.members[slot, q], n_all) <= 0
            scores[slot] = n_wanted
            fewest = n_wanted if n_wanted < fewest else fewest
    for slot in range(scores.size):
        if scores[slot] > fewest:
            scores[slot] = np.inf


@njit(**BUILD)
def imbalance_without(state: LabelState, slot: int) -> float:
    """Return the distance of the counts of labels from their targets once the row in a slot is gone."""
    n_own, n_left = state.n_members[slot], total(state.inside) - state.n_members[slot]
    distance = 0.0
    for k in range(state.inside.size):
        distance += abs(excess(state, k, n_left))
    for q in range(n_own):
        k = state.members[slot, q]
        distance += abs(excess(state, k, n_left) - 1) - abs(excess(state, k, n_left))
    return distance
