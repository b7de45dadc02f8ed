"""Alarms under a budget: a threshold that follows what cells are worth, saved alarms, and logs of the last alarms."""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, Direct, njit
from estimators._typing import Array

# log-odds from -REACH to REACH, beyond which cells tie
N_BINS, REACH = 4096, 20.0
# weights of counts grow instead of old counts fading; beyond this they are scaled down
_HEAVY = 1e100
# while alarms expire, counts fade so many times as fast
HASTE = 30.0
# an alarm makes up for a fifth of the saved alarms that have expired
RELIEF = 0.8
# less than an alarm, for shares that are summed up
NEARLY_ONE = 1.0 - 1e-6

# Times are in rows or in microseconds.
METER = np.dtype(
    [
        ("rate", "f8"),  # alarms per unit of time
        ("depth", "f8"),  # how many alarms can be saved
        ("memory", "f8"),  # time in which counts fade by e
        ("span", "f8"),  # time in which the log may hold alarms
        ("key_span", "f8"),  # the same for the logs of keys
        ("now", "f8"),
        ("saved", "f8"),  # alarms that may be raised at once
        ("lost", "f8"),  # saved alarms that have expired, less what later alarms made up for
        ("share", "f8"),  # share of the cells in the bin below the threshold that are alarms
        ("credit", "f8"),  # sum of these shares since the last such alarm
        ("scale", "f8"),  # weight of what is counted now
        ("elapsed", "f8"),  # weight of the time that has passed
        ("n_rows", "f8"),  # weight of the rows that are counted
        ("above", "f8"),  # weight of the cells from the bin `least` on
        ("least", "i8"),  # the lowest bin of which cells are alarms
        ("oldest", "i8"),  # place in the log of the oldest alarm
    ],
    align=True,
)


@njit(**HOT)
def place_of(worth: float) -> int:
    """Return the bin of a worth from 0 to 1."""
    if worth <= 0.0:
        return 0
    if worth >= 1.0:
        return N_BINS - 1
    place = (math.log(worth / (1.0 - worth)) + REACH) * (N_BINS / (2.0 * REACH))
    return int(min(max(place, 0.0), N_BINS - 1.0))


@njit(**HOT)
def pass_time(meter: Array, counts: Array, now: float) -> None:
    """Save alarms for the time that has passed, and let what was counted before fade.

    Of a time without rows, only that counts in which all that can be saved is saved.
    """
    head = meter[0]
    length = min(now - head.now, head.depth / head.rate)
    head.now = now
    head.saved += head.rate * length
    head.lost += max(head.saved - head.depth, 0.0)
    head.saved = min(head.saved, head.depth)
    fade(meter, counts, length / head.memory)
    if head.saved == head.depth and head.n_rows > 0.0:
        # alarms expire, as after a fall of scores: by row, since nothing can be learnt from a time without rows
        fade(meter, counts, HASTE * head.elapsed / (head.n_rows * head.memory))
    head.elapsed += head.scale * length


@njit(**HOT)
def fade(meter: Array, counts: Array, length: float) -> None:
    """Let what was counted fade by exp(length), or a little less if that is a lot, by more weight for what follows."""
    head = meter[0]
    head.scale *= math.exp(min(length, 3.0))
    if head.scale > _HEAVY:
        for place in range(N_BINS):
            counts[place] /= head.scale
        head.elapsed /= head.scale
        head.n_rows /= head.scale
        head.above /= head.scale
        head.scale = 1.0


@njit(**HOT)
def follow(meter: Array, counts: Array) -> None:
    """Move the threshold to where cells above it come at the rate of the budget.

    Half as often if nothing is saved, and twice as often for each saved alarm that has expired. The lowest bin, of
    cells that are worth nothing, has no alarms.
    """
    head = meter[0]
    wanted = head.rate * head.elapsed * (0.5 + head.saved / head.depth) * 2.0 ** min(head.lost, 60.0)
    while head.least < N_BINS and head.above > wanted:
        head.above -= counts[head.least]
        head.least += 1
    while head.least > 1 and head.above + counts[head.least - 1] <= wanted:
        head.least -= 1
        head.above += counts[head.least]
    tied = counts[head.least - 1] if head.least > 1 else 0.0
    head.share = (wanted - head.above) / tied if tied > 0.0 else 0.0


@njit(**HOT)
def best_cell(worth: Array, places: Array, least: int, alarms: Array) -> int:
    """Return the label of greatest worth, from a bin on, that is not an alarm yet; the first of ties; or -1."""
    best = -1
    for label in range(len(worth)):
        if places[label] >= least and alarms[label] == 0 and (best < 0 or worth[label] > worth[best]):
            best = label
    return best


@njit(**HOT)
def is_full(log: Array, oldest: int, now: float, span: float) -> bool:
    """Return whether one more alarm would be too many within a span of time; an empty log has no limit."""
    return len(log) > 0 and now - log[oldest] < span


@njit(**HOT)
def enter_of_key(log: Array, now: float) -> None:
    """Enter an alarm into the log of a key, which is sorted."""
    if len(log) > 0:
        for i in range(len(log) - 1):
            log[i] = log[i + 1]
        log[-1] = now


@njit(**HOT)
def next_alarm(worth: Array, places: Array, meter: Array, alarms: Array) -> int:
    """Return the next label of a row to raise an alarm for, or -1.

    Of the bin below the threshold, in which many cells may tie, so many are alarms as the budget leaves, spread evenly,
    and those for which a saved alarm would soon expire.
    """
    head = meter[0]
    if head.saved < 1.0:
        return -1
    label = best_cell(worth, places, head.least, alarms)
    if label >= 0 or head.least == 1:
        return label
    label = best_cell(worth, places, head.least - 1, alarms)
    if label >= 0:
        head.credit += head.share
        if head.credit < NEARLY_ONE and head.saved <= head.depth - 1.0:
            return -1
        head.credit = max(head.credit - 1.0, 0.0)
    return label


@njit(**HOT)
def spend_row(worth: Array, places: Array, meter: Array, log: Array, of_key: Array, alarms: Array) -> None:
    """Raise the alarms of a row, in place, as far as nothing refuses them."""
    head = meter[0]
    label = next_alarm(worth, places, meter, alarms)
    while label >= 0:
        if is_full(log, head.oldest, head.now, head.span) or is_full(of_key, 0, head.now, head.key_span):
            return
        alarms[label] = 1
        head.saved -= 1.0
        head.lost *= RELIEF
        enter_of_key(of_key, head.now)
        if len(log) > 0:
            log[head.oldest] = head.now
            head.oldest = (head.oldest + 1) % len(log)
        label = next_alarm(worth, places, meter, alarms)


@njit(**HOT)
def count_row(places: Array, meter: Array, counts: Array) -> None:
    """Count the cells of a row."""
    head = meter[0]
    head.n_rows += head.scale
    for label in range(len(places)):
        counts[places[label]] += head.scale
        if places[label] >= head.least:
            head.above += head.scale


@njit(**HOT)
def weigh_row(proba: Array, factors: Array, worth: Array, places: Array) -> None:
    """Write what the cells of a row are worth, and their bins."""
    for label in range(len(proba)):
        worth[label] = proba[label] * factors[label]
        places[label] = place_of(worth[label])


@Direct
@njit(**LOOP)
def spend(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    proba: Array,
    factors: Array,
    times: Array,
    keys: Array,
    meter: Array,
    counts: Array,
    log: Array,
    of_keys: Array,
    worth: Array,
    places: Array,
    alarms: Array,
) -> None:
    """Raise alarms (1) in rows, one after the other, for the cells of greatest worth, probability times factor.

    `times` may be empty if they are numbers of rows. `keys` holds the row of `of_keys`, a log for each key, that is
    meant; it is empty if all rows mean the first. `worth` and `places` are room for a row.
    """
    for row in range(len(proba)):
        pass_time(meter, counts, times[row] if len(times) > 0 else meter[0].now + 1.0)
        follow(meter, counts)
        weigh_row(proba[row], factors, worth, places)
        spend_row(worth, places, meter, log, of_keys[keys[row] if len(keys) > 0 else 0], alarms[row])
        count_row(places, meter, counts)


@Direct
@njit(**LOOP)
def cap(worth: Array, decided: Array, times: Array, keys: Array, span: float, of_keys: Array, alarms: Array) -> None:
    """Raise the alarms that were decided (1), those of greatest worth first, as far as keys permit."""
    for row in range(len(worth)):
        log = of_keys[keys[row]]
        label = best_cell(worth[row], decided[row], 1, alarms[row])
        while label >= 0 and not is_full(log, 0, times[row], span):
            alarms[row, label] = 1
            enter_of_key(log, times[row])
            label = best_cell(worth[row], decided[row], 1, alarms[row])
