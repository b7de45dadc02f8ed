"""Pictures of streams and runs, and displays in scikit-learn's manner, which keep the data and the axes.

Displays are imported when they are first used: who draws a picture of a stream needs no records.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlstream.plotting.displays import (
        AlarmBudgetDisplay,
        CriticalDifferenceDisplay,
        ExplanationDisplay,
        LabelFrequencyDisplay,
        ParetoFrontDisplay,
        PredictionSetsDisplay,
        ReliabilityDisplay,
        ScheduleDisplay,
        ScoreCurvesDisplay,
        TransferMatrixDisplay,
    )

__all__ = [
    "AlarmBudgetDisplay",
    "CriticalDifferenceDisplay",
    "ExplanationDisplay",
    "LabelFrequencyDisplay",
    "ParetoFrontDisplay",
    "PredictionSetsDisplay",
    "ReliabilityDisplay",
    "ScheduleDisplay",
    "ScoreCurvesDisplay",
    "TransferMatrixDisplay",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        from mlstream.plotting import displays

        return getattr(displays, name)
    raise AttributeError(f"module 'mlstream.plotting' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
