"""The meter of an alarm budget: it remembers alarms, and raises no more than may be."""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from estimators._typing import Array
from estimators.meta._alarm_weights import Weights
from estimators.meta._kernels.alarms import METER, N_BINS, REACH, cap, spend

Owners = Sequence[Hashable] | None

_INTEGERS, _FLOATS = np.dtype(np.int64), np.dtype(np.float64)
# what the loop takes where rows are counted, and where there are no keys
_ROW_NUMBERS, _NO_KEYS, _NO_LOG = np.empty(0), np.empty(0, dtype=_INTEGERS), np.empty((1, 0))
# the budget is kept over so many periods, with a tolerance
PERIODS, TOLERANCE = 10, 1.05
# a log of the last alarms is kept for budgets up to this; beyond, fewer alarms can be saved instead
_MOST_LOGGED = 1000


class Limits(NamedTuple):
    """Limits of what may be spent; times are in rows or in microseconds."""

    budget: float  # alarms per period
    period: float
    key_budget: int | None  # alarms per key and period
    memory: float  # in periods
    is_timed: bool


class AlarmMeter:
    """Raise alarms within limits, and remember them, in place."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        # two rows at the two ends of a span of time are both in it; between rows there is nothing
        tick = float(limits.is_timed)
        n_logged = math.floor(PERIODS * TOLERANCE * limits.budget) if limits.budget <= _MOST_LOGGED else 0
        self.meter = np.zeros(1, METER)
        head = self.meter[0]
        head["rate"] = limits.budget / limits.period
        # without a log, what is saved is the tolerance
        head["depth"] = max(limits.budget, 1.0) if n_logged else limits.budget * PERIODS * (TOLERANCE - 1)
        head["memory"] = limits.memory * limits.period
        head["span"], head["key_span"] = PERIODS * limits.period + tick, limits.period + tick
        head["now"] = math.nan if limits.is_timed else 0.0
        head["scale"], head["least"] = 1.0, N_BINS
        self.counts = np.zeros(N_BINS)
        self.log = np.full(n_logged, -np.inf)
        self.of_keys: dict[Hashable, Array] = {}
        self.no_alarms = np.full(limits.key_budget or 0, -np.inf)

    @property
    def now(self) -> float:
        """Time of the last row, or number of rows; NaN before a time is known."""
        return float(self.meter["now"][0])

    @property
    def saved(self) -> float:
        """Number of alarms that may be raised at once."""
        return float(self.meter["saved"][0]) if self.limits.budget < math.inf else math.inf

    @property
    def threshold(self) -> float:
        """Log-odds of the least worth of an alarm; infinite before there is one."""
        least = int(self.meter["least"][0])
        return math.inf if least == N_BINS else least * (2 * REACH / N_BINS) - REACH

    def spend(self, proba: Array, weights: Weights, times: Array | None, owners: Owners) -> Array:
        """Return the alarms (1) of rows under a finite budget."""
        alarms = np.zeros(proba.shape, dtype=_INTEGERS)
        codes, logs, names = self._logs(owners)
        if times is not None and math.isnan(self.now):
            self.meter["now"] = times[0]
        since = self.now
        spend(
            *(np.ascontiguousarray(proba, dtype=_FLOATS), weights.factors, _ROW_NUMBERS if times is None else times),
            *(codes, self.meter, self.counts, self.log, logs),
            *(np.empty(proba.shape[1]), np.empty(proba.shape[1], dtype=_INTEGERS), alarms),
        )
        if owners is not None:
            self._keep(logs, names, since)
        return alarms

    def cap(self, decided: Array, proba: Array, weights: Weights, times: Array | None, owners: Owners) -> Array:
        """Return the alarms (1) that were decided, as far as keys permit."""
        alarms = np.zeros(proba.shape, dtype=_INTEGERS)
        codes, logs, names = self._logs(owners)
        times = self.now + np.arange(1.0, len(proba) + 1) if times is None else times
        worth, decided = proba * weights.factors, np.ascontiguousarray(decided, dtype=_INTEGERS)
        cap(np.ascontiguousarray(worth), decided, times, codes, float(self.meter["key_span"][0]), logs, alarms)
        self.meter["now"] = times[-1]
        if owners is not None:
            self._keep(logs, names, times[0])
        return alarms

    def _logs(self, owners: Owners) -> tuple[Array, Array, dict[Hashable, int]]:
        """Return a code for the key of each row, the log of each code, and the codes by key."""
        if owners is None:
            return _NO_KEYS, _NO_LOG, {}
        names: dict[Hashable, int] = {}
        codes = np.array([names.setdefault(owner, len(names)) for owner in owners], dtype=np.int64)
        return codes, np.array([self.of_keys.get(name, self.no_alarms) for name in names]), names

    def _keep(self, logs: Array, names: dict[Hashable, int], since: float) -> None:
        """Keep the logs of keys that had an alarm within a period, in the order of their last alarms."""
        last = dict(zip(names, logs[:, -1].tolist(), strict=True))
        for name in sorted((name for name in names if last[name] >= since), key=last.__getitem__):
            self.of_keys.pop(name, None)
            self.of_keys[name] = logs[names[name]].copy()
        oldest = self.now - float(self.meter["key_span"][0])
        while self.of_keys and self.of_keys[first := next(iter(self.of_keys))][-1] <= oldest:
            del self.of_keys[first]
