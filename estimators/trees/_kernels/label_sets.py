"""The label sets that each leaf has seen, in order: one hash table for all leaves, of 64-bit keys.

Two label sets of a leaf are taken for the same with a probability of 2**-64.
"""

import numpy as np

from estimators._kernels.compile import HOT, JIT, njit
from estimators._kernels.randomness import GOLDEN
from estimators._typing import Array, Integer

# key 0 is a free place
ENTRY = np.dtype([("key", "u8"), ("owner", "i8"), ("rank", "i8")], align=True)
# places of a new table, and the number of label sets from which on a leaf counts no more
SMALLEST, MOST_OF_LEAF = 1024, 2**16


@njit(**HOT)
def mixed(value: Integer) -> np.uint64:
    """Mix the bits of a number, as SplitMix64 does."""
    z = np.uint64(value) + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(**HOT)
def key_of(owner: Integer, y: Array) -> np.uint64:
    """Return the key of a label set of a leaf."""
    key = mixed(np.uint64(owner))
    for j in range(len(y)):
        if y[j]:
            key ^= mixed(np.uint64(j) * GOLDEN)
    key = mixed(key)
    return key if key != np.uint64(0) else np.uint64(1)


@njit(**HOT)
def place_of(sets: Array, key: Integer) -> Integer:
    """Return the place of a key, or the free place where it belongs."""
    last = np.uint64(len(sets) - 1)
    place = key & last
    while sets[place].key != np.uint64(0) and sets[place].key != key:
        place = (place + np.uint64(1)) & last
    return place


@njit(**HOT)
def is_crowded(sets: Array, n_sets: int) -> bool:
    """Return whether a table needs more room before more label sets come: it stays at most half full."""
    return 2 * n_sets >= len(sets)


def cleaned(sets: Array, owners: Array) -> tuple[Array, int]:
    """Return a table without the sets of leaves that are gone, at most half full, and how many it holds.

    A table that has room is returned as it is, with its old number.
    """
    n_sets = int(np.count_nonzero(sets["key"]))
    if 2 * n_sets < len(sets):
        return sets, n_sets
    live = sets[(sets["key"] != 0) & np.isin(sets["owner"], owners)]
    size = SMALLEST
    while size < 4 * len(live):
        size *= 2
    table = np.zeros(size, ENTRY)
    _fill(table, live)
    return table, len(live)


@njit(**JIT)
def _fill(table: Array, entries: Array) -> None:
    for e in range(len(entries)):
        place = place_of(table, entries[e].key)
        table[place].key = entries[e].key
        table[place].owner = entries[e].owner
        table[place].rank = entries[e].rank
