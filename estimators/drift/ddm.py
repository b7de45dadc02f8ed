"""The drift detection method (DDM) and its early variant (EDDM)."""

from typing import ClassVar

from estimators.drift._checks import ValueRange, between, whole
from estimators.drift._kernels import extremes
from estimators.drift.base import DriftDetector


class DDM(DriftDetector):
    """Detect that the error has risen by some standard deviations above its minimum.

    Parameters
    ----------
    warm_start : int, default=30
        Values after which it may signal.
    warning_threshold : float, default=2.0
        Standard deviations at which it warns.
    drift_threshold : float, default=3.0
        Standard deviations at which it detects a drift.

    Attributes
    ----------
    n_values_ : int
        Values passed.
    warning_ : bool
        Whether it warned at the last value.

    Notes
    -----
    Values from 0 to 1: 1 for an error, 0 for none. It finds increases only, with the decisions of River's ``DDM``.

    References
    ----------
    Gama, Medas, Castillo, Rodrigues, "Learning with drift detection", SBIA 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import DDM
    >>> errors = np.r_[np.tile([0, 0, 0, 1], 100), np.ones(100)]
    >>> int(np.flatnonzero(DDM().update_many(errors))[0])
    423
    """

    _range: ClassVar[ValueRange] = "shares"
    _warns: ClassVar[bool] = True
    _run = staticmethod(extremes.run_ddm)
    _new_states = staticmethod(extremes.new_ddm_states)

    def __init__(self, *, warm_start: int = 30, warning_threshold: float = 2.0, drift_threshold: float = 3.0) -> None:
        self.warm_start = warm_start
        self.warning_threshold = warning_threshold
        self.drift_threshold = drift_threshold

    def _settings(self, share: float) -> list[float]:  # noqa: ARG002 - it has no confidence
        return [
            whole("warm_start", self.warm_start, 0),
            between("warning_threshold", self.warning_threshold, 0, float("inf")),
            between("drift_threshold", self.drift_threshold, 0, float("inf")),
        ]


class EDDM(DriftDetector):
    """Detect that errors follow each other at shorter distances than they did at best.

    Parameters
    ----------
    warm_start : int, default=30
        Values, and errors, after which it may signal.
    alpha : float, default=0.95
        Share of the largest distances under which it warns, at least `beta`.
    beta : float, default=0.9
        Share of the largest distances under which it detects a drift.

    Attributes
    ----------
    n_values_ : int
        Values passed.
    warning_ : bool
        Whether it warned at the last value.

    Notes
    -----
    Values 0 or 1, 1 for an error. It finds increases only, with the decisions of River's ``EDDM``.

    References
    ----------
    Baena-García, del Campo-Ávila, Fidalgo, Bifet, Gavaldà, Morales-Bueno, "Early drift detection method", Fourth
    International Workshop on Knowledge Discovery from Data Streams, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import EDDM
    >>> errors = np.r_[np.tile([0, 0, 0, 1], 100), np.tile([0, 1], 300)]
    >>> bool(EDDM().update_many(errors)[400:].any())
    True
    """

    _range: ClassVar[ValueRange] = "errors"
    _warns: ClassVar[bool] = True
    _run = staticmethod(extremes.run_eddm)
    _new_states = staticmethod(extremes.new_eddm_states)

    def __init__(self, *, warm_start: int = 30, alpha: float = 0.95, beta: float = 0.9) -> None:
        self.warm_start = warm_start
        self.alpha = alpha
        self.beta = beta

    def _settings(self, share: float) -> list[float]:  # noqa: ARG002 - it has no confidence
        alpha, beta = (between(name, getattr(self, name), 0, float("inf")) for name in ("alpha", "beta"))
        if alpha < beta:
            raise ValueError(f"alpha must be at least beta = {beta}. Got {alpha} instead.")
        return [whole("warm_start", self.warm_start, 0), alpha, beta]
