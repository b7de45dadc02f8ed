"""Displays in scikit-learn's manner: ``from_*`` computes and draws, and the object keeps the data and the axes."""

from mlstream.plotting.critical_difference import CriticalDifferenceDisplay
from mlstream.plotting.label_frequency import LabelFrequencyDisplay
from mlstream.plotting.pareto_front import ParetoFrontDisplay
from mlstream.plotting.schedule import ScheduleDisplay
from mlstream.plotting.score_curves import ScoreCurvesDisplay
from mlstream.plotting.transfer_matrix import TransferMatrixDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "LabelFrequencyDisplay",
    "ParetoFrontDisplay",
    "ScheduleDisplay",
    "ScoreCurvesDisplay",
    "TransferMatrixDisplay",
]
