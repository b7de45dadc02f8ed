"""Drawn logs have the hosts, the rhythm and the campaigns that were asked for."""

import numpy as np
import pytest

from mlstream import TextColumn
from mlstream.generators import synthetic_events, windowed


def test_the_same_seed_gives_the_same_log():
    one, same, other = (synthetic_events(seed=seed, n_days=2) for seed in (1, 1, 2))
    for name, column in one.columns.items():
        for first, second in zip(column, same.columns[name], strict=True):
            np.testing.assert_array_equal(first, second)
    assert len(other) != len(one) or (other.times != one.times).any()


def test_ordinary_flows_follow_the_day():
    log = synthetic_events(n_hosts=20, n_days=10, n_campaigns=0, events_per_hour=10)
    hours = (log.times.view(np.int64) // (3600 * 10**6)) % 24
    counts = np.bincount(hours, minlength=24) / (20 * 10)
    expected = 10 * (1 + 0.8 * np.cos(2 * np.pi * (np.arange(24) + 0.5 - 14) / 24))
    # Five standard deviations of a mean of 200 counts.
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected / 200)).all()
    assert set(log.columns["threat"].codes.tolist()) == {-1}


def test_every_threat_comes_in_campaigns_on_a_third_of_the_hosts():
    log = synthetic_events(n_hosts=9, n_days=30, n_threats=6, n_campaigns=1)
    threats, hosts = log.columns["threat"], log.columns["host"].codes
    for threat in range(len(threats.values)):
        mine = threats.codes == threat
        span = np.ptp(log.times[mine].view(np.int64)) / 3.6e9
        assert 0 < span <= 12
        assert len(np.unique(hosts[mine])) == 3


def test_windows_of_a_log_have_label_sets_that_come_back():
    table = windowed(synthetic_events(n_days=28, n_campaigns=12), "1h")
    cardinality = table.Y.sum(axis=1)
    assert table.Y.any(axis=0).all()
    assert set(cardinality.tolist()) >= {0, 1, 2}


@pytest.mark.parametrize(
    "options",
    [{"n_hosts": 0}, {"n_days": 0}, {"n_threats": 7}, {"n_campaigns": -1}, {"events_per_hour": 0}, {"n_hosts": 10**6}],
)
def test_a_number_out_of_range_is_refused(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must"):
        synthetic_events(**options)


def test_numbers_are_finite_and_text_is_text():
    log = synthetic_events(n_days=1)
    assert [name for name, column in log.columns.items() if isinstance(column, TextColumn)] == [
        "host",
        "service",
        "threat",
    ]
    assert np.isfinite(log.columns["bytes"]).all()
