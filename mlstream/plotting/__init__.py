"""Displays in scikit-learn's manner: ``from_*`` computes and draws, and the object keeps the data and the axes.

Names are imported when they are first used: who draws a picture of a stream needs no records.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlstream.plotting.displays.critical_difference import CriticalDifferenceDisplay
    from mlstream.plotting.displays.label_frequency import LabelFrequencyDisplay
    from mlstream.plotting.displays.pareto_front import ParetoFrontDisplay
    from mlstream.plotting.displays.schedule import ScheduleDisplay
    from mlstream.plotting.displays.score_curves import ScoreCurvesDisplay
    from mlstream.plotting.displays.transfer_matrix import TransferMatrixDisplay

_HOMES = {
    "CriticalDifferenceDisplay": "mlstream.plotting.displays.critical_difference",
    "LabelFrequencyDisplay": "mlstream.plotting.displays.label_frequency",
    "ParetoFrontDisplay": "mlstream.plotting.displays.pareto_front",
    "ScheduleDisplay": "mlstream.plotting.displays.schedule",
    "ScoreCurvesDisplay": "mlstream.plotting.displays.score_curves",
    "TransferMatrixDisplay": "mlstream.plotting.displays.transfer_matrix",
}

__all__ = [
    "CriticalDifferenceDisplay",
    "LabelFrequencyDisplay",
    "ParetoFrontDisplay",
    "ScheduleDisplay",
    "ScoreCurvesDisplay",
    "TransferMatrixDisplay",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mlstream.plotting' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
