"""Multi-label classifiers that learn from a stream, in scikit-learn's manner."""

from estimators.adaptive_random_forest import AdaptiveRandomForestClassifier
from estimators.base import StreamClassifier
from estimators.baselines import (
    LastLabelsClassifier,
    MeanLabelsClassifier,
    NearestRowClassifier,
    PriorLabelsClassifier,
)
from estimators.binary_relevance import BinaryRelevance
from estimators.checks import stream_checks
from estimators.classifier_chain import ClassifierChain
from estimators.ewc import EWCClassifier
from estimators.gdumb import GDumbClassifier
from estimators.isoup import ISOUPTreeClassifier
from estimators.label_combination import LabelCombination
from estimators.lwf import LwFClassifier
from estimators.multilabel_tree import MultiLabelHoeffdingTreeClassifier
from estimators.neural import OnlineNeuralClassifier
from estimators.pipeline import StreamPipeline
from estimators.pragma import PragmaForestClassifier
from estimators.pragma_stream_forest import PragmaStreamForestClassifier
from estimators.pragma_threshold import PragmaThreshold
from estimators.pragma_tree import PragmaTreeClassifier
from estimators.replay import FIFOMemory, ReservoirMemory
from estimators.replay_classifier import ReplayClassifier
from estimators.ridge import StreamRidgeClassifier
from estimators.river import RiverClassifier, as_river
from estimators.strategies import STRATEGIES, grid, make_strategy
from estimators.tree import HoeffdingTreeClassifier

__all__ = [
    "STRATEGIES",
    "AdaptiveRandomForestClassifier",
    "BinaryRelevance",
    "ClassifierChain",
    "EWCClassifier",
    "FIFOMemory",
    "GDumbClassifier",
    "HoeffdingTreeClassifier",
    "ISOUPTreeClassifier",
    "LabelCombination",
    "LastLabelsClassifier",
    "LwFClassifier",
    "MeanLabelsClassifier",
    "MultiLabelHoeffdingTreeClassifier",
    "NearestRowClassifier",
    "OnlineNeuralClassifier",
    "PragmaForestClassifier",
    "PragmaStreamForestClassifier",
    "PragmaThreshold",
    "PragmaTreeClassifier",
    "PriorLabelsClassifier",
    "ReplayClassifier",
    "ReservoirMemory",
    "RiverClassifier",
    "StreamClassifier",
    "StreamPipeline",
    "StreamRidgeClassifier",
    "as_river",
    "grid",
    "make_strategy",
    "stream_checks",
]
