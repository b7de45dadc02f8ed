"""Windows compared by the test of Kolmogorov and Smirnov (KSWIN)."""

import math
import random
from bisect import bisect_left
from typing import Any, ClassVar

import numpy as np

from estimators.drift._checks import between, whole
from estimators.drift._kernels.windows import States, run_kswin
from estimators.drift.base import DriftDetector

# as in River: smaller distances are never a drift
_LEAST_DISTANCE = 0.1


class KSWIN(DriftDetector):
    """Detect that the distribution has changed: the latest values are unlike a sample of those before them.

    Parameters
    ----------
    alpha : float, default=0.005
        Significance of the test, between 0 and 1.
    window_size : int, default=100
        Values in the window, at least twice `stat_size`.
    stat_size : int, default=30
        Latest values, compared with as many of the others.
    random_state : int, default=0
        Seed of the samples.

    Attributes
    ----------
    n_values_ : int
        Values passed.
    warning_ : bool
        False: this detector does not warn.

    Notes
    -----
    Any finite numbers. Decisions are those of River's ``KSWIN`` of the same seed. Both samples are of one size,
    so that the exact test is a bound on a count, which is computed once.

    References
    ----------
    Raab, Heusinger, Schleif, "Reactive soft prototype computing for concept drift streams", Neurocomputing 416, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import KSWIN
    >>> values = np.random.default_rng(0).normal(np.r_[np.zeros(500), np.full(500, 3.0)])
    >>> bool(KSWIN().update_many(values)[500:530].any())
    True
    """

    _confidence: ClassVar[str | None] = "alpha"
    _run = staticmethod(run_kswin)

    def __init__(
        self, *, alpha: float = 0.005, window_size: int = 100, stat_size: int = 30, random_state: int = 0
    ) -> None:
        self.alpha = alpha
        self.window_size = window_size
        self.stat_size = stat_size
        self.random_state = random_state

    def _new_states(self, n_streams: int) -> Any:
        words = np.array(random.Random(self.random_state).getstate()[1], dtype=np.uint64)  # noqa: S311 - no secret
        tiled = np.tile(words, (n_streams, 1))
        windows = np.zeros((n_streams, self.window_size))
        return States(windows, np.zeros(n_streams, dtype=np.int64), tiled, tiled.copy())

    def _settings(self, share: float) -> list[float]:
        alpha = between("alpha", self.alpha, 0, 1) * share
        n_latest = int(whole("stat_size", self.stat_size, 1))
        whole("window_size", self.window_size, 2 * n_latest)
        whole("random_state", self.random_state, 0)
        return [n_latest, _least_count(n_latest, alpha), float(_draws_by_pool(self.window_size - n_latest, n_latest))]


def _least_count(n: int, alpha: float) -> int:
    """Return the least distance, times n, at which two samples of n values differ; n + 1 if none is enough."""
    first = math.floor(_LEAST_DISTANCE * n) + 1
    return first + bisect_left(range(first, n + 1), True, key=lambda count: _p_value(n, count) <= alpha)


def _p_value(n: int, count: int) -> float:
    """Return the p-value of two samples of n values whose distribution functions are at most count / n apart."""
    # SciPy's statistics take a second to import
    from scipy import stats

    sample = np.arange(n)
    return float(stats.ks_2samp(sample, sample + count - 0.5).pvalue)


def _draws_by_pool(n: int, k: int) -> bool:
    """Return whether `random.sample` takes k of n numbers from a pool, rather than draws until they differ."""
    set_size = 21 + (4 ** math.ceil(math.log(k * 3, 4)) if k > 5 else 0)
    return n <= set_size
