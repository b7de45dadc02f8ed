"""KSWIN and ADWIN: the latest values of a window differ from others of it by more than chance."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.adwin import Windows, detect_change
from estimators._kernels.compile import HOT, JIT, PART, njit, uint64
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE

# settings of KSWIN: how many values are the latest, the distance of a drift in ranks, and how to draw (1 or 0)
N_LATEST, DISTANCE, BY_POOL = 0, 1, 2
# the random numbers of Python (Matsumoto, Nishimura 1998), so that samples are those of River
_WORDS, _SHIFT = 624, 397


class States(NamedTuple):
    """Windows and random numbers of KSWIN for all streams."""

    windows: Array  # (n_streams, window): the latest values, a ring at the number of values modulo its length
    counts: Array  # int64, (n_streams,): values since the last drift
    words: Array  # uint64, (n_streams, 625): random state, and the place of its next number
    first_words: Array  # uint64, (n_streams, 625): the same before any number was drawn


@njit(**JIT)
def run_kswin(states: States, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams."""
    n_latest = int(settings[0, N_LATEST])
    sample, latest = np.zeros(n_latest), np.zeros(n_latest)
    places, pool = np.zeros(n_latest, np.int64), np.zeros(states.windows.shape[1] - n_latest, np.int64)
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                signals[row, stream] = NONE
                _append(states, stream, values[row, stream])
                if states.counts[stream] >= states.windows.shape[1]:
                    _draw(states.words[stream], places, pool, settings[stream, BY_POOL] > 0.0)
                    _take(states, stream, places, sample, latest)
                    if _largest_distance(sample, latest) >= settings[stream, DISTANCE]:
                        signals[row, stream] = DRIFT
                        states.counts[stream] = 0
                        states.words[stream] = states.first_words[stream]


@njit(**HOT)
def _append(states: States, stream: int, value: float) -> None:
    states.windows[stream, states.counts[stream] % states.windows.shape[1]] = value
    states.counts[stream] += 1


@njit(**PART)
def _draw(words: Array, places: Array, pool: Array, by_pool: bool) -> None:
    """Draw places without replacement, by either of the two ways that Python has for few and for many of them."""
    n = len(pool)
    for place in range(n):
        pool[place] = place if by_pool else 0
    for i in range(len(places)):
        if by_pool:
            drawn = _below(words, n - i)
            places[i], pool[drawn] = pool[drawn], pool[n - i - 1]
        else:
            places[i] = _below(words, n)
            while pool[places[i]]:
                places[i] = _below(words, n)
            pool[places[i]] = 1


@njit(**PART)
def _take(states: States, stream: int, places: Array, sample: Array, latest: Array) -> None:
    """Copy the older values at the places, and the latest ones; sort both."""
    window, oldest = states.windows[stream], states.counts[stream]
    n_older = len(window) - len(latest)
    for i in range(len(sample)):
        sample[i] = window[(oldest + places[i]) % len(window)]
        latest[i] = window[(oldest + n_older + i) % len(window)]
    _sort(sample)
    _sort(latest)


@njit(**PART)
def _sort(values: Array) -> None:
    """Sort a few values by insertion, which takes a tenth of the time to compile that NumPy's sort takes."""
    for i in range(1, len(values)):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@njit(**PART)
def _largest_distance(first: Array, second: Array) -> int:
    """Return the largest difference of the counts of values up to any value; both are sorted and equally long."""
    i = j = largest = 0
    while i < len(first) and j < len(second):
        value = min(first[i], second[j])
        while i < len(first) and first[i] <= value:
            i += 1
        while j < len(second) and second[j] <= value:
            j += 1
        largest = max(largest, abs(i - j))
    return largest


@njit(**PART)
def _below(words: Array, n: int) -> int:
    """Return a random number below n, drawn as Python draws it."""
    n_bits = 0
    while n >> n_bits:
        n_bits += 1
    while True:
        drawn = int(_word(words) >> uint64(32 - n_bits))
        if drawn < n:
            return drawn


@njit(**PART)
def _word(words: Array) -> int:
    """Return the next 32 bits of the Mersenne twister."""
    if words[_WORDS] >= uint64(_WORDS):
        _twist(words)
    word = words[int(words[_WORDS])]
    words[_WORDS] += uint64(1)
    word ^= word >> uint64(11)
    word ^= (word << uint64(7)) & uint64(0x9D2C5680)
    word ^= (word << uint64(15)) & uint64(0xEFC60000)
    return word ^ (word >> uint64(18))


@njit(**PART)
def _twist(words: Array) -> None:
    for i in range(_WORDS):
        mixed = (words[i] & uint64(0x80000000)) | (words[(i + 1) % _WORDS] & uint64(0x7FFFFFFF))
        odd = uint64(0x9908B0DF) if mixed & uint64(1) else uint64(0)
        words[i] = words[(i + _SHIFT) % _WORDS] ^ (mixed >> uint64(1)) ^ odd
    words[_WORDS] = uint64(0)


@njit(**JIT)
def run_adwin(states: Windows, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams; the setting is the confidence."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                changed = detect_change(states, stream, values[row, stream], settings[stream, 0])
                signals[row, stream] = DRIFT if changed else NONE
