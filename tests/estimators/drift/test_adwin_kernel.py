"""Compiled windows decide as ADWIN in River."""

from itertools import product

import numpy as np
import pytest
from numba import njit
from river.drift import ADWIN

from estimators._kernels.adwin import detect_change, new_windows
from tests.loops import check_all


@njit
def watch(windows, d, values, delta):
    changed = np.zeros(len(values), np.bool_)
    for i in range(len(values)):
        changed[i] = detect_change(windows, d, values[i], delta)
    return changed


def errors(n, rng):
    """Errors whose probability jumps now and then, and creeps in between."""
    jumps = np.repeat(rng.random(10), n // 10)
    return (rng.random(n) < 0.8 * jumps + 0.2 * np.linspace(0, 1, n)).astype(float)


STREAMS = {
    "errors": errors,
    "numbers": lambda n, rng: rng.normal(size=n) * 3 + np.repeat(rng.normal(size=10), n // 10),
    "no change": lambda n, rng: (rng.random(n) < 0.3).astype(float),
    "always right": lambda n, rng: np.zeros(n),
}


@pytest.mark.slow
def test_every_decision_is_rivers():
    def check(delta, name):
        values = STREAMS[name](10_000, np.random.default_rng(0))
        peer, expected = ADWIN(delta=delta), []
        for value in values:
            peer.update(value)
            expected.append(peer.drift_detected)
        assert watch(new_windows(1), 0, values, delta).tolist() == expected
        assert any(expected) == (name in ("errors", "numbers") or (name, delta) == ("no change", 0.5))

    check_all(product([0.5, 0.01, 0.001], STREAMS), lambda case: check(*case))


@pytest.mark.slow
def test_windows_are_independent():
    one, two = (errors(2000, np.random.default_rng(seed)) for seed in (0, 1))
    windows = new_windows(2)
    alone = [watch(new_windows(1), 0, values, 0.01) for values in (one, two)]
    together = [[], []]
    for i in range(0, 2000, 7):
        for d, values in enumerate((one, two)):
            together[d].extend(watch(windows, d, values[i : i + 7], 0.01))
    assert np.array_equal(alone, together)


def test_a_window_holds_what_came_since_the_last_change():
    windows = new_windows(1)
    values = np.repeat([0.0, 1.0], 1000)
    changed = np.flatnonzero(watch(windows, 0, values, 0.01))
    head = windows.heads[0]
    assert head["width"] == head["total"] == 2000 - 1 - changed[-1]
    assert head["squares"] == pytest.approx(0)


def test_a_window_that_outgrows_its_levels_starts_again():
    windows = new_windows(1)
    windows.heads[0]["n_levels"] = windows.counts.shape[1]
    windows.counts[0] = windows.totals.shape[2] - 1
    windows.heads[0]["width"] = windows.heads[0]["total"] = 1e8
    assert not watch(windows, 0, np.ones(1), 0.01).any()
    assert windows.heads[0]["width"] == 0
    assert not windows.counts.any()
