"""The hash table of the label sets of leaves does what a dictionary of frozen sets does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.compile import JIT, njit
from estimators.trees._kernels.label_sets import ENTRY, SMALLEST, cleaned, is_crowded, key_of, mixed, place_of
from tests.estimators.ensembles.draws import BITS

GOLDEN = 0x9E3779B97F4A7C15


# parts of kernels are called by compiled functions only
@njit(**JIT)
def mix(values, found):
    for k in range(len(values)):
        found[k] = mixed(values[k])


@njit(**JIT)
def keys_of(owners, Y, keys):
    for r in range(len(Y)):
        keys[r] = key_of(owners[r], Y[r])


@njit(**JIT)
def insert(sets, keys, owners, ranks, places):
    """Write the place of each key, and what is found there before a free place is taken."""
    n_sets = 0
    for r in range(len(keys)):
        places[r, 0] = place_of(sets, keys[r])
        entry = sets[places[r, 0]]
        places[r, 1] = -1 if entry.key == np.uint64(0) else entry.rank
        if entry.key == np.uint64(0):
            entry.key, entry.owner, entry.rank = keys[r], owners[r], ranks[r]
            n_sets += 1
    return n_sets


@njit(**JIT)
def crowded(sets, n_sets):
    return is_crowded(sets, n_sets)


def slow_mix(value):
    """SplitMix64 in integers of any length."""
    z = (value + GOLDEN) & BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def slow_key(owner, labels):
    key = slow_mix(owner)
    for j in labels:
        key ^= slow_mix(j * GOLDEN & BITS)
    return slow_mix(key) or 1


@given(st.lists(st.integers(0, BITS) | st.sampled_from([0, BITS, BITS - GOLDEN + 1]), max_size=20))
def test_bits_are_mixed_as_by_splitmix(values):
    found = np.empty(len(values), np.uint64)
    mix(np.array(values, np.uint64), found)
    assert found.tolist() == [slow_mix(value) for value in values]


LEAVES = st.integers(0, 3)
SETS = st.frozensets(st.integers(0, 5))


def as_rows(pairs):
    owners = np.array([owner for owner, _ in pairs], np.int64)
    Y = np.array([[j in labels for j in range(6)] for _, labels in pairs], np.uint8).reshape(-1, 6)
    keys = np.empty(len(pairs), np.uint64)
    keys_of(owners, Y, keys)
    return owners, keys


@given(st.lists(st.tuples(LEAVES | st.integers(0, 2**40), SETS), max_size=30))
def test_a_key_names_a_leaf_and_a_label_set(pairs):
    _, keys = as_rows(pairs)
    assert keys.tolist() == [slow_key(owner, labels) for owner, labels in pairs]
    assert len(set(keys.tolist())) == len(set(pairs))


def table_of(keys, owners, ranks, size):
    """Place keys one by one, each in the first free place from its own on."""
    rows = [(0, 0, 0)] * size
    for key, owner, rank in zip(keys, owners, ranks, strict=True):
        place = key % size
        while rows[place][0]:
            place = (place + 1) % size
        rows[place] = (key, owner, rank)
    return np.array(rows, ENTRY)


@given(st.lists(st.tuples(LEAVES, SETS), max_size=40), st.sampled_from([64, 128, 1024]))
def test_a_table_finds_what_a_dictionary_does(pairs, size):
    owners, keys = as_rows(pairs)
    sets, places, known = np.zeros(size, ENTRY), np.empty((len(pairs), 2), np.int64), {}
    n_sets = insert(sets, keys, owners, np.arange(len(pairs)), places)
    for rank, (pair, (place, found)) in enumerate(zip(pairs, places.tolist(), strict=True)):
        assert found == (known[pair][1] if pair in known else -1)
        assert place == known.setdefault(pair, (place, rank))[0]
    assert n_sets == len(known) == len({place for place, _ in known.values()})
    first = [rank for _, rank in known.values()]
    assert np.array_equal(sets, table_of(keys[first].tolist(), owners[first], first, size))


# keys that meet at the same places, at the end of a table too
KEYS = st.lists(st.integers(1, BITS) | st.sampled_from([SMALLEST - 1, 2 * SMALLEST - 1, BITS]), unique=True)


@settings(max_examples=40)
@given(KEYS, st.integers(0, SMALLEST), st.sampled_from([2, 64, 256, SMALLEST]), st.sets(LEAVES))
def test_a_crowded_table_loses_the_sets_of_leaves_that_are_gone_and_no_other(few, n_more, size, live):
    rng = np.random.default_rng(n_more)
    keys = list(dict.fromkeys([*few, *rng.integers(1, 2**63, n_more).tolist()]))[:size]
    owners, ranks = rng.integers(0, 4, len(keys)).tolist(), list(range(len(keys)))
    sets = table_of(keys, owners, ranks, size)
    table, n_sets = cleaned(sets, np.array(sorted(live), np.int64))
    assert crowded(sets, len(keys)) == (2 * len(keys) >= size)
    if 2 * len(keys) < size:
        assert table is sets
        assert n_sets == len(keys)
        return
    kept = {key: (owner, rank) for key, owner, rank in zip(keys, owners, ranks, strict=True) if owner in live}
    held = table[table["key"] != 0].tolist()
    assert {key: (owner, rank) for key, owner, rank in held} == kept
    assert n_sets == len(kept)
    # the smallest power of two, from the smallest table on, that is at most a quarter full
    assert len(table) == max(SMALLEST, *(2**k for k in range(20) if 2 ** (k - 1) < 4 * len(kept) <= 2**k), 0)
    places, again = np.empty((len(kept), 2), np.int64), np.array(list(kept), np.uint64)
    insert(table, again, np.zeros(len(kept), np.int64), np.zeros(len(kept), np.int64), places)
    assert places[:, 1].tolist() == [rank for _, rank in kept.values()]
