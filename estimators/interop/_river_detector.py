"""Detectors of ours with the interface of River's."""

from collections.abc import Iterator
from typing import Any

from river import base
from sklearn.base import clone

from estimators.drift.adwin import ADWIN
from estimators.drift.base import DriftDetector


class RiverDetector(base.DriftDetector):
    """A drift detector of River; `estimators.interop.river.as_river_detector` makes it."""

    def __init__(self, detector: DriftDetector) -> None:
        super().__init__()
        self.detector = detector
        self._watching: Any = clone(detector)

    def update(self, x: float) -> None:
        """Pass a value; after a drift, the detector has seen none."""
        self._drift_detected = self._watching.update(x)

    def _reset(self) -> None:
        super()._reset()
        self._watching.reset()

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        # what River's own checks make a detector with
        yield {"detector": ADWIN()}


class RiverWarningDetector(RiverDetector, base.DriftAndWarningDetector):
    """A drift detector of River that warns, too."""

    def update(self, x: float) -> None:
        """Pass a value; after a drift, the detector has seen none."""
        super().update(x)
        self._warning_detected = self._watching.warning_
