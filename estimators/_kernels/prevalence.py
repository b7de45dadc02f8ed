"""Decisions about labels at their prevalence, moved against that of late."""

import math

from estimators._kernels.compile import HOT, LOOP, Direct, njit
from estimators._typing import Array


@njit(**HOT)
def share(positives: float, rows: float) -> float:
    """Return the share of positive rows; 0 before any row."""
    return positives / rows if rows > 0.0 else 0.0


@njit(**HOT)
def late_share(prevalence: float, positives: float, rows: float, prior_rows: float) -> float:
    """Return the prevalence of late, which starts from some rows of the usual one."""
    return (positives + prior_rows * prevalence) / (rows + prior_rows)


@njit(**HOT)
def held_late_share(prevalence: float, positives: float, rows: float, prior_rows: float) -> float:
    """Return the prevalence of late, held where its log-odds are finite."""
    return min(max(late_share(prevalence, positives, rows, prior_rows), 1e-4), 1.0 - 1e-4)


@njit(**HOT)
def threshold(prevalence: float, positives: float, rows: float, follow: float, prior_rows: float) -> float:
    """Move the prevalence, on the scale of log-odds, against the prevalence of late; one of 0 or 1 stays."""
    if not 0.0 < prevalence < 1.0:
        return 2.0 - 3.0 * prevalence
    if follow == 0.0 or rows == 0.0:
        # nothing moves it, not even rounding: a probability that equals the prevalence is positive on any machine
        return prevalence
    late = held_late_share(prevalence, positives, rows, prior_rows)
    usual = math.log(prevalence / (1.0 - prevalence))
    moved = usual - follow * (math.log(late / (1.0 - late)) - usual)
    return 1.0 / (1.0 + math.exp(-moved))


@njit(**HOT)
def reaches(score: float, prevalence: float, positives: float, rows: float, follow: float, prior_rows: float) -> bool:
    """Return whether a score reaches the threshold, without its logarithms where the prevalence tells."""
    if 0.0 < prevalence < 1.0:
        # the threshold moves from the prevalence away from that of late: only scores in its way need it
        late = held_late_share(prevalence, positives, rows, prior_rows)
        if late >= prevalence and score >= prevalence:
            return True
        if late <= prevalence and score < prevalence:
            return False
    return score >= threshold(prevalence, positives, rows, follow, prior_rows)


@Direct
@njit(**LOOP)
def decide(scores: Array, prevalence: Array, late: Array, follow: float, prior_rows: float, decided: Array) -> None:
    """Decide rows, all by the same thresholds."""
    for label in range(scores.shape[1]):
        least = threshold(prevalence[label], late[0, label], late[1, label], follow, prior_rows)
        for row in range(len(scores)):
            decided[row, label] = scores[row, label] >= least


@njit(**HOT)
def count_row(Y: Array, counted: Array, weight: float, usual: Array, late: Array, memory: float) -> None:
    """Count the labels of a row, in place: positives and rows, of all time and of late."""
    kept = 1.0 - 1.0 / memory
    for label in range(len(Y)):
        if counted[label]:
            usual[0, label] += weight * Y[label]
            usual[1, label] += weight
            late[0, label] = late[0, label] * kept + weight * Y[label]
            late[1, label] = late[1, label] * kept + weight


@Direct
@njit(**LOOP)
def count_rows(Y: Array, counted: Array, weight: Array, usual: Array, late: Array, memory: float) -> None:
    """Count the labels of rows of positive weight, in place."""
    for row in range(len(Y)):
        if weight[row] > 0.0:
            count_row(Y[row], counted[row], weight[row], usual, late, memory)


@Direct
@njit(**LOOP)
def decide_then_count(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    scores: Array,
    Y: Array,
    counted: Array,
    usual: Array,
    late: Array,
    memory: float,
    follow: float,
    prior_rows: float,
    decided: Array,
) -> None:
    """Decide each row at the prevalence of the rows before it, then count its labels, in place."""
    for row in range(len(scores)):
        for label in range(scores.shape[1]):
            prevalence = share(usual[0, label], usual[1, label])
            positives, rows = late[0, label], late[1, label]
            decided[row, label] = reaches(scores[row, label], prevalence, positives, rows, follow, prior_rows)
        count_row(Y[row], counted[row], 1.0, usual, late, memory)


@njit(**HOT)
def choose(scores: Array, usual: Array, late: Array, follow: float, prior_rows: float) -> int:
    """Return the class with the greatest probability over its prevalence, among those seen; the first before any."""
    best, chosen = -math.inf, 0
    for label in range(len(scores)):
        prevalence = share(usual[0, label], usual[1, label])
        if prevalence == 0.0:
            continue
        worth = -math.inf if scores[label] <= 0.0 else math.log(scores[label] / prevalence)
        recent = held_late_share(prevalence, late[0, label], late[1, label], prior_rows)
        worth += follow * math.log(recent / prevalence)
        if worth > best:
            best, chosen = worth, label
    return chosen


@Direct
@njit(**LOOP)
def choose_then_count(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    scores: Array,
    Y: Array,
    counted: Array,
    usual: Array,
    late: Array,
    memory: float,
    follow: float,
    prior_rows: float,
    chosen: Array,
) -> None:
    """Choose the class of each row by the rows before it, then count its class, in place."""
    for row in range(len(scores)):
        chosen[row] = choose(scores[row], usual, late, follow, prior_rows)
        count_row(Y[row], counted[row], 1.0, usual, late, memory)


@Direct
@njit(**LOOP)
def choose_rows(scores: Array, usual: Array, late: Array, follow: float, prior_rows: float, chosen: Array) -> None:
    """Choose the classes of rows, all by the same prevalence."""
    for row in range(len(scores)):
        chosen[row] = choose(scores[row], usual, late, follow, prior_rows)


@Direct
@njit(**LOOP)
def late_shares_then_count(
    Y: Array, counted: Array, usual: Array, late: Array, memory: float, prior_rows: float, shares: Array
) -> None:
    """Fill in the prevalence of late before each row, then count its labels, in place."""
    for row in range(len(Y)):
        for label in range(Y.shape[1]):
            prevalence = share(usual[0, label], usual[1, label])
            shares[row, label] = late_share(prevalence, late[0, label], late[1, label], prior_rows)
        count_row(Y[row], counted[row], 1.0, usual, late, memory)
