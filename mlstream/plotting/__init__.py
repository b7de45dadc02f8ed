"""Pictures of streams and runs, and displays in scikit-learn's manner, which keep the data and the axes.

Displays are imported when they are first used.
"""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.plotting.alarm_budget import AlarmBudgetDisplay as AlarmBudgetDisplay
    from mlstream.plotting.critical_difference import CriticalDifferenceDisplay as CriticalDifferenceDisplay
    from mlstream.plotting.explanation import ExplanationDisplay as ExplanationDisplay
    from mlstream.plotting.label_frequency import LabelFrequencyDisplay as LabelFrequencyDisplay
    from mlstream.plotting.pareto_front import ParetoFrontDisplay as ParetoFrontDisplay
    from mlstream.plotting.prediction_sets import PredictionSetsDisplay as PredictionSetsDisplay
    from mlstream.plotting.reliability import ReliabilityDisplay as ReliabilityDisplay
    from mlstream.plotting.schedule import ScheduleDisplay as ScheduleDisplay
    from mlstream.plotting.score_curves import ScoreCurvesDisplay as ScoreCurvesDisplay
    from mlstream.plotting.transfer_matrix import TransferMatrixDisplay as TransferMatrixDisplay
else:
    __getattr__, __dir__, __all__ = attach(__name__)
