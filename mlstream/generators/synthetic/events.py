"""Logs of events that are drawn: flows of hosts by day and night, and threats that come in campaigns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlstream.data.events import TIME_TYPE, EventColumn, Events, Numbers, TextColumn
from mlstream.generators._parameters import require_count
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.streams.stream import Index

_START = np.datetime64("2026-01-05T00:00:00", "us")
_DAY_S = 86400.0
_HOUR_S = 3600.0
_SERVICES = ("http", "dns", "smtp", "ssh", "smb")
# Office hours: the busiest hour, and how much busier it is than the mean.
_NOON_S, _RHYTHM = 14 * _HOUR_S, 0.8
_CAMPAIGN_HOURS = (2.0, 12.0)
# Events of a threat on a target, per hour of its campaign.
_THREAT_RATE = 6.0


class _Profile(NamedTuple):
    """The flows of a threat, or of ordinary work."""

    services: tuple[float, ...]  # share of each service
    bytes_log: float  # mean of the natural logarithm of the number of bytes
    seconds_log: float  # the same of the duration


_WORK = _Profile((0.55, 0.25, 0.08, 0.06, 0.06), 7.5, 0.0)
_THREATS = {
    "scan": _Profile((0.2, 0.1, 0.1, 0.3, 0.3), 4.5, -3.0),
    "bruteforce": _Profile((0.1, 0.0, 0.1, 0.8, 0.0), 6.0, -0.5),
    "exfiltration": _Profile((0.6, 0.3, 0.1, 0.0, 0.0), 11.0, 3.0),
    "worm": _Profile((0.1, 0.0, 0.0, 0.1, 0.8), 8.5, 0.5),
    "flood": _Profile((0.9, 0.1, 0.0, 0.0, 0.0), 5.0, -2.0),
    "beacon": _Profile((0.7, 0.3, 0.0, 0.0, 0.0), 5.5, -1.0),
}


def synthetic_events(
    *,
    seed: int = 0,
    n_hosts: int = 10,
    n_days: int = 14,
    n_threats: int = 4,
    n_campaigns: int = 4,
    events_per_hour: float = 12.0,
) -> Events:
    """Draw a log of network flows, some of which show a threat.

    Ordinary flows of each host follow the hours of an office. Threats come in campaigns: each lasts some hours, hits a
    third of the hosts, and comes back, so that several threats may show in one window, and label sets recur.

    Parameters
    ----------
    seed : int
        Source of everything random.
    n_hosts, n_days : int
        Hosts, and days from Monday, 5 January 2026.
    n_threats : int
        Number of threats, at most six.
    n_campaigns : int
        How often each threat comes, at times drawn at random.
    events_per_hour : float
        Mean number of ordinary flows of a host in an hour.

    Returns
    -------
    Events
        With the columns "host", "service", "bytes", "seconds" and "threat", which is empty for ordinary flows.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> log = synthetic_events(seed=1, n_days=2)
    >>> log.labels, log.by, list(log.columns)
    ('threat', 'host', ['host', 'service', 'bytes', 'seconds', 'threat'])
    """
    n_seconds = require_count(n_days, "n_days", maximum=3660) * _DAY_S
    require_count(n_hosts, "n_hosts", maximum=100_000)
    require_count(n_threats, "n_threats", maximum=len(_THREATS))
    require_count(n_campaigns, "n_campaigns", minimum=0, maximum=10_000)
    if not 0 < events_per_hour <= 1e6:
        raise ValueError(f"events_per_hour must lie in (0, 1,000,000]. Got {events_per_hour!r} instead.")
    rng = generator_for(Purpose.EVENTS, seed)
    threats = tuple(_THREATS)[:n_threats]
    parts = [_draw_work(rng, n_hosts, n_seconds, events_per_hour)]
    for code, threat in enumerate(threats):
        parts += [_draw_campaign(rng, _THREATS[threat], code, n_hosts, n_seconds) for _ in range(n_campaigns)]
    flows = _Flows(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    order = np.argsort(flows.seconds, kind="stable")
    columns: dict[str, EventColumn] = {
        "host": TextColumn(flows.hosts[order], tuple(f"host{host}" for host in range(n_hosts))),
        "service": TextColumn(flows.services[order], _SERVICES),
        "bytes": np.round(flows.n_bytes[order]),
        "seconds": np.round(flows.durations[order], 3),
        "threat": TextColumn(flows.threats[order], threats),
    }
    times = _START + np.round(flows.seconds[order] * 1e6).astype("timedelta64[us]")
    return Events(times.astype(TIME_TYPE), columns, labels="threat", by="host", name="synthetic-events")


class _Flows(NamedTuple):
    """Flows, in any order; the seconds are those since the log began."""

    seconds: Numbers
    hosts: Index
    services: Index
    n_bytes: Numbers
    durations: Numbers
    threats: Index


def _draw_work(rng: np.random.Generator, n_hosts: int, n_seconds: float, events_per_hour: float) -> _Flows:
    """Draw ordinary flows: more candidates than needed, thinned out by the time of day."""
    n_candidates = rng.poisson(events_per_hour * (1 + _RHYTHM) * n_hosts * n_seconds / _HOUR_S)
    seconds = rng.uniform(0, n_seconds, n_candidates)
    rhythm = 1 + _RHYTHM * np.cos(2 * np.pi * (seconds - _NOON_S) / _DAY_S)
    seconds = seconds[rng.random(n_candidates) * (1 + _RHYTHM) < rhythm]
    return _draw_flows(rng, _WORK, seconds, rng.integers(0, n_hosts, len(seconds)), -1)


def _draw_campaign(rng: np.random.Generator, threat: _Profile, code: int, n_hosts: int, n_seconds: float) -> _Flows:
    begin, length = rng.uniform(0, n_seconds), rng.uniform(*_CAMPAIGN_HOURS) * _HOUR_S
    targets = rng.permutation(n_hosts)[: -(-n_hosts // 3)]
    n_events = rng.poisson(_THREAT_RATE * length / _HOUR_S * len(targets))
    seconds = rng.uniform(begin, begin + length, n_events)
    seconds = seconds[seconds < n_seconds]
    return _draw_flows(rng, threat, seconds, rng.choice(targets, len(seconds)), code)


def _draw_flows(rng: np.random.Generator, profile: _Profile, seconds: Numbers, hosts: Index, threat: int) -> _Flows:
    n_events = len(seconds)
    return _Flows(
        seconds,
        hosts,
        rng.choice(len(_SERVICES), n_events, p=profile.services),
        rng.lognormal(profile.bytes_log, 1.0, n_events),
        rng.lognormal(profile.seconds_log, 1.0, n_events),
        np.full(n_events, threat),
    )
