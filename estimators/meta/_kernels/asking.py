"""Decide for which labels of a row to ask: a ledger of queries, and strategies whose thresholds vary."""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, Direct, njit
from estimators._typing import Array

RANDOM, UNCERTAINTY, CARDINALITY, RARITY = range(4)
# a threshold rises by this share each time that it asks
STEP = 0.01
# sums of shares of rows are rounded
_ROUNDING = 1e-9

LEDGER = np.dtype(
    [
        ("budget", "f8"),  # what may be asked per row, in rows' worth of labels
        ("spent", "f8"),  # what was asked so far
        ("now", "i8"),  # rows so far
        ("strategy", "i8"),
        ("of_classes", "?"),  # whether a row has one class
    ],
    align=True,
)


@njit(**HOT)
def has_room(ledger: Array, recent: Array, passed: int, cost: float) -> bool:
    """Return whether a cost is within the budget in the row after `passed` more, in which nothing is asked.

    It must be since the start, and in the window that ends with the row. `recent` holds what was spent before each row
    of the last window, by the row's number modulo its length.
    """
    head = ledger[0]
    row, window = head.now + passed, len(recent)
    spent = head.spent + cost - _ROUNDING
    if spent > head.budget * (row + 1):
        return False
    first = row + 1 - window
    if first < 0:
        return True
    before = recent[first % window] if first < head.now else head.spent
    return spent - before <= head.budget * window


@Direct
@njit(**LOOP)
def rows_to_wait(ledger: Array, recent: Array, cost: float, n_rows: int) -> int:
    """Return the number of rows before the first that has room for a cost, `n_rows` at most."""
    passed = 0
    while passed < n_rows and not has_room(ledger, recent, passed, cost):
        passed += 1
    return passed


@Direct
@njit(**LOOP)
def enter_rows(ledger: Array, recent: Array, n_rows: int, cost: float) -> None:
    """Enter rows, and what was asked in the last of them."""
    head = ledger[0]
    for _ in range(n_rows):
        recent[head.now % len(recent)] = head.spent
        head.now += 1
    head.spent += cost


@njit(**HOT)
def wants(value: float, threshold: Array, label: int, chance: float, ledger: Array) -> bool:
    """Return whether to ask, and move the threshold.

    `chance` is standard normal, or in [0, 1) for random queries. The first value that is not 0 is the first threshold.
    """
    # what is asked must make up for the rows without room
    head = ledger[0]
    share = 0.5 * (1.0 + head.budget)
    if head.strategy == RANDOM:
        return chance < share
    if threshold[label] == 0.0:
        threshold[label] = value
    asks = value >= threshold[label] * (1.0 + chance)
    threshold[label] *= 1.0 + STEP if asks else 1.0 / (1.0 + STEP * share / (1.0 - share))
    return asks


@njit(**HOT)
def value_of(p: float, counts: Array, strategy: int) -> float:
    """Return what an answer is worth for a label of probability p."""
    if strategy == RARITY:
        return p / math.sqrt(counts[1] + 1.0) + (1.0 - p) / math.sqrt(counts[0] + 1.0)
    return 2.0 * min(p, 1.0 - p)


@njit(**HOT)
def inconsistency(proba: Array, counted: Array, counts: Array) -> float:
    """Return how far the number of labels that are predicted is from the usual one, by the answers so far."""
    predicted, usual = 0.0, 0.0
    for label in range(len(proba)):
        if counted[label]:
            predicted += proba[label] >= 0.5
            usual += (counts[label, 1] + 0.5) / (counts[label, 0] + counts[label, 1] + 1.0)
    return abs(predicted - usual)


@Direct
@njit(**LOOP)
def ask_row(proba: Array, counted: Array, chance: float, ledger: Array, threshold: Array, counts: Array) -> bool:
    """Return whether to ask for all labels of a row that count."""
    head = ledger[0]
    total, n_counted, most = 0.0, 0, 0.0
    for label in range(len(proba)):
        if counted[label]:
            total += value_of(proba[label], counts[label], head.strategy)
            n_counted += 1
            most = max(most, proba[label])
    value = 2.0 * (1.0 - most) if head.of_classes and head.strategy == UNCERTAINTY else total / n_counted
    if head.strategy == CARDINALITY:
        value = math.sqrt(value * inconsistency(proba, counted, counts))
    return wants(value, threshold, 0, chance, ledger)


@Direct
@njit(**LOOP)
def ask_labels(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    proba: Array,
    counted: Array,
    chances: Array,
    order: Array,
    ledger: Array,
    recent: Array,
    threshold: Array,
    counts: Array,
    asked: Array,
) -> float:
    """Write which labels of a row to ask for (True), looked at in an order, and return what they cost."""
    head, n_counted, cost = ledger[0], 0, 0.0
    for label in range(len(counted)):
        n_counted += counted[label]
    factor = inconsistency(proba, counted, counts) if head.strategy == CARDINALITY else 1.0
    for place in range(len(order)):
        label = order[place]
        if not counted[label]:
            continue
        if not has_room(ledger, recent, 0, cost + 1.0 / n_counted):
            break
        value = value_of(proba[label], counts[label], head.strategy)
        if head.strategy == CARDINALITY:
            value = math.sqrt(value * factor)
        if wants(value, threshold, label, chances[label], ledger):
            asked[label] = True
            cost += 1.0 / n_counted
    return cost


@Direct
@njit(**LOOP)
def count_answers(answers: Array, counts: Array) -> None:
    """Count the known labels of rows, 0 and 1."""
    for row in range(len(answers)):
        for label in range(answers.shape[1]):
            if answers[row, label] < 2:
                counts[label, answers[row, label]] += 1.0
