"""The learners that strategies are made of, by name. They are imported together, when the first strategy is built.

``import name as name`` exports a name: type checkers read here what the ``__init__`` of the package offers.
"""
# ruff: noqa: PLC0414

from estimators.baselines import LastLabelsClassifier as LastLabelsClassifier
from estimators.baselines import MeanLabelsClassifier as MeanLabelsClassifier
from estimators.baselines import NearestRowClassifier as NearestRowClassifier
from estimators.baselines import PrevalenceClassifier as PrevalenceClassifier
from estimators.baselines import PriorLabelsClassifier as PriorLabelsClassifier
from estimators.ensembles.adwin_ensembles import ADWINBaggingClassifier as ADWINBaggingClassifier
from estimators.ensembles.adwin_ensembles import ADWINBoostingClassifier as ADWINBoostingClassifier
from estimators.ensembles.coordinate_boosting import OnlineCoordinateBoosting as OnlineCoordinateBoosting
from estimators.invariance.logistic import InvariantLogisticClassifier as InvariantLogisticClassifier
from estimators.linear.logistic import OnlineLogisticRegression as OnlineLogisticRegression
from estimators.meta.alarm_budget import AlarmBudget as AlarmBudget
from estimators.meta.binary_relevance import BinaryRelevance as BinaryRelevance
from estimators.meta.classifier_chain import ClassifierChain as ClassifierChain
from estimators.meta.context_window import ContextWindowClassifier as ContextWindowClassifier
from estimators.meta.goowe_ml import GOOWEMLClassifier as GOOWEMLClassifier
from estimators.meta.label_budget import LabelBudget as LabelBudget
from estimators.meta.label_combination import LabelCombination as LabelCombination
from estimators.meta.novel_labels import NovelLabels as NovelLabels
from estimators.meta.prediction_sets import PredictionSets as PredictionSets
from estimators.meta.prequential_calibrator import PrequentialCalibrator as PrequentialCalibrator
from estimators.meta.prequential_stack import PrequentialStack as PrequentialStack
from estimators.meta.prevalence_threshold import PrevalenceThreshold as PrevalenceThreshold
from estimators.neighbours.aesaknns import AESAKNNSClassifier as AESAKNNSClassifier
from estimators.neighbours.mlsaknn import MLSAkNNClassifier as MLSAkNNClassifier
from estimators.neighbours.mlsampknn import MLSAMPkNNClassifier as MLSAMPkNNClassifier
from estimators.networks.dark_experience import DERClassifier as DERClassifier
from estimators.networks.episodic_gradient import AGEMClassifier as AGEMClassifier
from estimators.networks.ewc import EWCClassifier as EWCClassifier
from estimators.networks.lwf import LwFClassifier as LwFClassifier
from estimators.networks.neural import OnlineNeuralClassifier as OnlineNeuralClassifier
from estimators.replay.gdumb import GDumbClassifier as GDumbClassifier
from estimators.replay.label_memories import OCDMMemory as OCDMMemory
from estimators.replay.label_memories import PRSMemory as PRSMemory
from estimators.replay.memories import FIFOMemory as FIFOMemory
from estimators.replay.memories import ReservoirMemory as ReservoirMemory
from estimators.ridge.ridge import StreamRidgeClassifier as StreamRidgeClassifier
from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier as AdaptiveRandomForestClassifier
from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier as HoeffdingAdaptiveTreeClassifier
from estimators.trees.extremely_fast_tree import (
    ExtremelyFastDecisionTreeClassifier as ExtremelyFastDecisionTreeClassifier,
)
from estimators.trees.hoeffding import HoeffdingTreeClassifier as HoeffdingTreeClassifier
from estimators.trees.isoup import ISOUPTreeClassifier as ISOUPTreeClassifier
from estimators.trees.multilabel_adaptive_tree import (
    MultiLabelHoeffdingAdaptiveTreeClassifier as MultiLabelHoeffdingAdaptiveTreeClassifier,
)
from estimators.trees.rolling_forest import RollingForestClassifier as RollingForestClassifier
