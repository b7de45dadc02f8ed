"""The mean of a window after a change is the estimate of ADWIN in River."""

import numpy as np
import pytest
from numba import njit
from river.drift import ADWIN

from estimators._kernels.adwin import new_windows, reset, shows_change
from estimators._kernels.adwin_shares import drop_old_part, mean


@njit
def watch(windows, d, values, delta, means):
    n_changes = 0
    for i in range(len(values)):
        changed = shows_change(windows, d, values[i], delta)
        if changed:
            n_changes += 1
            drop_old_part(windows, d, delta)
        means[i] = mean(windows, d)
        if changed:
            reset(windows, d)
    return n_changes


@pytest.mark.parametrize("delta", [0.3, 0.002])
def test_every_estimate_is_rivers(delta):
    n_changes = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        jumps = np.repeat(rng.random(10), 500)
        values = (rng.random(5000) < 0.8 * jumps + 0.2 * np.linspace(0, 1, 5000)).astype(float)
        windows, means = new_windows(2), np.empty(5000)
        n_changes += watch(windows, 1, values, delta, means)
        peer, expected = ADWIN(delta=delta), []
        for value in values:
            peer.update(value)
            expected.append(peer.estimation)
        np.testing.assert_allclose(means, expected, atol=1e-12)
    assert n_changes > 20
