"""Drift detection by inequalities of Hoeffding (HDDM-A) and McDiarmid (HDDM-W)."""

from typing import ClassVar

from estimators.drift._checks import ValueRange, between
from estimators.drift._kernels import hddm
from estimators.drift.base import DriftDetector


class HDDMA(DriftDetector):
    """Detect that the mean has changed, by a bound on differences of means.

    Parameters
    ----------
    drift_confidence : float, default=0.001
        Confidence of a drift, between 0 and 1.
    warning_confidence : float, default=0.005
        Confidence of a warning, between 0 and 1.
    two_sided_test : bool, default=False
        Whether decreases are found, too.

    Attributes
    ----------
    n_values_ : int
        Values passed.
    warning_ : bool
        Whether it warned at the last value.

    Notes
    -----
    Values from 0 to 1. Good at abrupt drifts. Decisions are those of River's ``HDDM_A``.

    References
    ----------
    Frías-Blanco, del Campo-Ávila, Ramos-Jiménez, Morales-Bueno, Ortiz-Díaz, Caballero-Mota, "Online and non-parametric
    drift detection methods based on Hoeffding's bounds", IEEE TKDE 27(3), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import HDDMA
    >>> errors = np.r_[np.tile([0, 0, 0, 1], 100), np.ones(100)]
    >>> bool(HDDMA().update_many(errors)[400:].any())
    True
    """

    _range: ClassVar[ValueRange] = "shares"
    _warns: ClassVar[bool] = True
    _confidence: ClassVar[str | None] = "drift_confidence"
    _run = staticmethod(hddm.run_hddm_a)
    _new_states = staticmethod(hddm.new_hddm_a_states)

    def __init__(
        self, *, drift_confidence: float = 0.001, warning_confidence: float = 0.005, two_sided_test: bool = False
    ) -> None:
        self.drift_confidence = drift_confidence
        self.warning_confidence = warning_confidence
        self.two_sided_test = two_sided_test

    def _settings(self, share: float) -> list[float]:
        return [
            *_confidences(self, share),
            float(bool(self.two_sided_test)),
        ]


class HDDMW(DriftDetector):
    """Detect that the mean has changed, by a bound on differences of means in which late values weigh more.

    Parameters
    ----------
    drift_confidence : float, default=0.001
        Confidence of a drift, between 0 and 1.
    warning_confidence : float, default=0.005
        Confidence of a warning, between 0 and 1.
    lambda_val : float, default=0.05
        Weight of the latest value in the mean, between 0 and 1.
    two_sided_test : bool, default=False
        Whether decreases are found, too.

    Attributes
    ----------
    n_values_ : int
        Values passed.
    warning_ : bool
        Whether it warned at the last value.

    Notes
    -----
    Values from 0 to 1. Good at gradual drifts. Decisions are those of River's ``HDDM_W``.

    References
    ----------
    Frías-Blanco et al., as for :class:`HDDMA`.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import HDDMW
    >>> errors = np.r_[np.tile([0, 0, 0, 1], 100), np.ones(100)]
    >>> bool(HDDMW().update_many(errors)[400:].any())
    True
    """

    _range: ClassVar[ValueRange] = "shares"
    _warns: ClassVar[bool] = True
    _confidence: ClassVar[str | None] = "drift_confidence"
    _run = staticmethod(hddm.run_hddm_w)
    _new_states = staticmethod(hddm.new_hddm_w_states)

    def __init__(
        self,
        *,
        drift_confidence: float = 0.001,
        warning_confidence: float = 0.005,
        lambda_val: float = 0.05,
        two_sided_test: bool = False,
    ) -> None:
        self.drift_confidence = drift_confidence
        self.warning_confidence = warning_confidence
        self.lambda_val = lambda_val
        self.two_sided_test = two_sided_test

    def _settings(self, share: float) -> list[float]:
        return [
            *_confidences(self, share),
            between("lambda_val", self.lambda_val, 0, 1),
            float(bool(self.two_sided_test)),
        ]


def _confidences(detector: HDDMA | HDDMW, share: float) -> list[float]:
    """Return shares of the confidences of a drift and of a warning."""
    names = ("drift_confidence", "warning_confidence")
    return [between(name, getattr(detector, name), 0, 1) * share for name in names]
