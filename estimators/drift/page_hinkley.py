"""The test of Page and Hinkley."""

from typing import Literal

from estimators.drift._checks import at_least, between, whole
from estimators.drift._kernels import extremes
from estimators.drift.base import DriftDetector

_MODES = ("up", "down", "both")


class PageHinkley(DriftDetector):
    """Detect that the mean has moved: the faded sum of deviations from it leaves its extreme.

    Parameters
    ----------
    min_instances : int, default=30
        Values after which it may signal.
    delta : float, default=0.005
        Deviation that is tolerated, at least 0.
    threshold : float, default=50.0
        Distance of the sum from its extreme at which it detects a drift.
    alpha : float, default=0.9999
        What each value leaves of the sum, between 0 and 1.
    mode : {'up', 'down', 'both'}, default='both'
        Which changes of the mean are found.

    Attributes
    ----------
    n_values_ : int
        Values passed.
    warning_ : bool
        False: this detector does not warn.

    Notes
    -----
    Any finite numbers; the threshold is in their unit. Decisions are those of River's ``PageHinkley``.

    References
    ----------
    Page, "Continuous inspection schemes", Biometrika 41, 1954.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import PageHinkley
    >>> values = np.r_[np.zeros(500), np.ones(500)]
    >>> bool(PageHinkley().update_many(values)[500:].any())
    True
    """

    _run = staticmethod(extremes.run_page_hinkley)
    _new_states = staticmethod(extremes.new_page_hinkley_states)

    def __init__(
        self,
        *,
        min_instances: int = 30,
        delta: float = 0.005,
        threshold: float = 50.0,
        alpha: float = 1 - 0.0001,
        mode: Literal["up", "down", "both"] = "both",
    ) -> None:
        self.min_instances = min_instances
        self.delta = delta
        self.threshold = threshold
        self.alpha = alpha
        self.mode = mode

    def _settings(self, share: float) -> list[float]:  # noqa: ARG002 - it has no confidence
        if self.mode not in _MODES:
            raise ValueError(f"mode must be one of {', '.join(_MODES)}. Got {self.mode!r} instead.")
        return [
            whole("min_instances", self.min_instances, 1),
            at_least("delta", self.delta, 0),
            between("threshold", self.threshold, 0, float("inf")),
            between("alpha", self.alpha, 0, 1),
            float(self.mode != "down"),
            float(self.mode != "up"),
        ]
