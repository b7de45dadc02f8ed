"""Multi-label classifiers that learn from a stream, in scikit-learn's manner.

Names are imported when they are first used, so that readers of files can use kernels without loading all learners.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "estimators.adaptive_random_forest": ("AdaptiveRandomForestClassifier",),
    "estimators.base": ("StreamClassifier",),
    "estimators.baselines": (
        "LastLabelsClassifier",
        "MeanLabelsClassifier",
        "NearestRowClassifier",
        "PriorLabelsClassifier",
    ),
    "estimators.binary_relevance": ("BinaryRelevance",),
    "estimators.checks": ("stream_checks",),
    "estimators.classifier_chain": ("ClassifierChain",),
    "estimators.ewc": ("EWCClassifier",),
    "estimators.gdumb": ("GDumbClassifier",),
    "estimators.isoup": ("ISOUPTreeClassifier",),
    "estimators.label_combination": ("LabelCombination",),
    "estimators.lwf": ("LwFClassifier",),
    "estimators.multilabel_tree": ("MultiLabelHoeffdingTreeClassifier",),
    "estimators.neural": ("OnlineNeuralClassifier",),
    "estimators.pipeline": ("StreamPipeline",),
    "estimators.pragma": ("PragmaForestClassifier",),
    "estimators.pragma_stream_forest": ("PragmaStreamForestClassifier",),
    "estimators.pragma_threshold": ("PragmaThreshold",),
    "estimators.pragma_tree": ("PragmaTreeClassifier",),
    "estimators.replay": (
        "FIFOMemory",
        "ReservoirMemory",
    ),
    "estimators.replay_classifier": ("ReplayClassifier",),
    "estimators.ridge": ("StreamRidgeClassifier",),
    "estimators.river": (
        "RiverClassifier",
        "as_river",
    ),
    "estimators.strategies": (
        "STRATEGIES",
        "grid",
        "make_strategy",
    ),
    "estimators.tree": ("HoeffdingTreeClassifier",),
}

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


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'estimators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
