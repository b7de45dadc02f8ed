"""The classes that users draw with."""

from mlstream.plotting.displays.alarm_budget import AlarmBudgetDisplay
from mlstream.plotting.displays.critical_difference import CriticalDifferenceDisplay
from mlstream.plotting.displays.explanation import ExplanationDisplay
from mlstream.plotting.displays.label_frequency import LabelFrequencyDisplay
from mlstream.plotting.displays.pareto_front import ParetoFrontDisplay
from mlstream.plotting.displays.prediction_sets import PredictionSetsDisplay
from mlstream.plotting.displays.reliability import ReliabilityDisplay
from mlstream.plotting.displays.schedule import ScheduleDisplay
from mlstream.plotting.displays.score_curves import ScoreCurvesDisplay
from mlstream.plotting.displays.transfer_matrix import TransferMatrixDisplay

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
