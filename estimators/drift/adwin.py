"""Adaptive windowing (ADWIN)."""

from typing import ClassVar

from estimators._kernels.adwin import new_windows
from estimators.drift._checks import between
from estimators.drift._kernels.windows import run_adwin
from estimators.drift.base import DriftDetector


class ADWIN(DriftDetector):
    """Detect that the mean has changed, by a window that grows until two of its parts have different means.

    Parameters
    ----------
    delta : float, default=0.002
        Confidence of a test, between 0 and 1; the smaller, the fewer false alarms and the later the true ones.

    Attributes
    ----------
    n_values_ : int
        Values passed.
    warning_ : bool
        False: this detector does not warn.

    Notes
    -----
    Any finite numbers. The window is tested every 32 values. Decisions are those of River's ``ADWIN``. Memory grows
    with the logarithm of the length of the window.

    References
    ----------
    Bifet, Gavaldà, "Learning from time-changing data with adaptive windowing", SDM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import ADWIN
    >>> values = np.r_[np.zeros(500), np.ones(500)]
    >>> np.flatnonzero(ADWIN().update_many(values))
    array([511])
    """

    _confidence: ClassVar[str | None] = "delta"
    _run = staticmethod(run_adwin)
    _new_states = staticmethod(new_windows)

    def __init__(self, *, delta: float = 0.002) -> None:
        self.delta = delta

    def _settings(self, share: float) -> list[float]:
        return [between("delta", self.delta, 0, 1) * share]
