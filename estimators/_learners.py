"""The learners that strategies are made of, by name. They are imported together, when the first strategy is built."""
# ruff: noqa: F401 - `estimators.strategies` takes them from here

from estimators.baselines import (
    LastLabelsClassifier,
    MeanLabelsClassifier,
    NearestRowClassifier,
    PrevalenceClassifier,
    PriorLabelsClassifier,
)
from estimators.ensembles.adwin_bagging import ADWINBaggingClassifier
from estimators.ensembles.adwin_boosting import ADWINBoostingClassifier
from estimators.ensembles.coordinate_boosting import OnlineCoordinateBoosting
from estimators.linear.logistic import OnlineLogisticRegression
from estimators.meta.binary_relevance import BinaryRelevance
from estimators.meta.classifier_chain import ClassifierChain
from estimators.meta.context_window import ContextWindowClassifier
from estimators.meta.goowe_ml import GOOWEMLClassifier
from estimators.meta.label_combination import LabelCombination
from estimators.meta.prequential_stack import PrequentialStack
from estimators.meta.prevalence_threshold import PrevalenceThreshold
from estimators.neighbours.aesaknns import AESAKNNSClassifier
from estimators.neighbours.mlsaknn import MLSAkNNClassifier
from estimators.neighbours.mlsampknn import MLSAMPkNNClassifier
from estimators.networks.dark_experience import DERClassifier
from estimators.networks.episodic_gradient import AGEMClassifier
from estimators.networks.ewc import EWCClassifier
from estimators.networks.lwf import LwFClassifier
from estimators.networks.neural import OnlineNeuralClassifier
from estimators.replay.gdumb import GDumbClassifier
from estimators.replay.label_memories import OCDMMemory, PRSMemory
from estimators.replay.memories import FIFOMemory, ReservoirMemory
from estimators.ridge.ridge import StreamRidgeClassifier
from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier
from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier
from estimators.trees.extremely_fast_tree import ExtremelyFastDecisionTreeClassifier
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from estimators.trees.isoup import ISOUPTreeClassifier
from estimators.trees.multilabel_adaptive_tree import MultiLabelHoeffdingAdaptiveTreeClassifier
