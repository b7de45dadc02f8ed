"""Multi-label classifiers that learn from a stream, with scikit-learn's interface.

Names are imported when first used, so that readers of files can use kernels without loading all learners.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from estimators.contract.old_names import MOVED as _MOVED
from estimators.contract.old_names import OldNames as _OldNames

# First: another thread may already import a module of this package.
sys.meta_path.append(_OldNames(_MOVED))

if TYPE_CHECKING:
    from estimators.baselines import (
        LastLabelsClassifier,
        MeanLabelsClassifier,
        NearestRowClassifier,
        PrevalenceClassifier,
        PriorLabelsClassifier,
    )
    from estimators.checks import stream_checks
    from estimators.contract.base import StreamClassifier
    from estimators.contract.failed_calls import DivergedError
    from estimators.ensembles.adwin_bagging import ADWINBaggingClassifier
    from estimators.ensembles.adwin_boosting import ADWINBoostingClassifier
    from estimators.ensembles.coordinate_boosting import OnlineCoordinateBoosting
    from estimators.interop.river import RiverClassifier, as_river, as_river_classifier
    from estimators.invariance.hashing import hash_categories
    from estimators.invariance.logistic import InvariantLogisticClassifier
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
    from estimators.pipeline import StreamPipeline
    from estimators.pragma.forest import PragmaForestClassifier
    from estimators.pragma.stream_forest import PragmaStreamForestClassifier
    from estimators.pragma.threshold import PragmaThreshold
    from estimators.pragma.tree import PragmaTreeClassifier
    from estimators.replay.gdumb import GDumbClassifier
    from estimators.replay.label_memories import OCDMMemory, PRSMemory
    from estimators.replay.memories import FIFOMemory, ReservoirMemory
    from estimators.replay.replay_classifier import ReplayClassifier
    from estimators.ridge.ridge import StreamRidgeClassifier
    from estimators.strategies import STRATEGIES, grid, make_strategy
    from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier
    from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier
    from estimators.trees.extremely_fast_tree import ExtremelyFastDecisionTreeClassifier
    from estimators.trees.hoeffding import HoeffdingTreeClassifier
    from estimators.trees.isoup import ISOUPTreeClassifier
    from estimators.trees.multilabel import MultiLabelHoeffdingTreeClassifier
    from estimators.trees.multilabel_adaptive_tree import MultiLabelHoeffdingAdaptiveTreeClassifier

_HOMES = {
    "estimators.contract.failed_calls": ("DivergedError",),
    "estimators.trees.adaptive_random_forest": ("AdaptiveRandomForestClassifier",),
    "estimators.trees.adaptive_tree": ("HoeffdingAdaptiveTreeClassifier",),
    "estimators.contract.base": ("StreamClassifier",),
    "estimators.baselines": (
        "LastLabelsClassifier",
        "MeanLabelsClassifier",
        "NearestRowClassifier",
        "PrevalenceClassifier",
        "PriorLabelsClassifier",
    ),
    "estimators.invariance.hashing": ("hash_categories",),
    "estimators.invariance.logistic": ("InvariantLogisticClassifier",),
    "estimators.ensembles.adwin_bagging": ("ADWINBaggingClassifier",),
    "estimators.ensembles.adwin_boosting": ("ADWINBoostingClassifier",),
    "estimators.ensembles.coordinate_boosting": ("OnlineCoordinateBoosting",),
    "estimators.linear.logistic": ("OnlineLogisticRegression",),
    "estimators.meta.binary_relevance": ("BinaryRelevance",),
    "estimators.checks": ("stream_checks",),
    "estimators.meta.classifier_chain": ("ClassifierChain",),
    "estimators.neighbours.aesaknns": ("AESAKNNSClassifier",),
    "estimators.neighbours.mlsaknn": ("MLSAkNNClassifier",),
    "estimators.neighbours.mlsampknn": ("MLSAMPkNNClassifier",),
    "estimators.meta.context_window": ("ContextWindowClassifier",),
    "estimators.networks.dark_experience": ("DERClassifier",),
    "estimators.networks.episodic_gradient": ("AGEMClassifier",),
    "estimators.networks.ewc": ("EWCClassifier",),
    "estimators.replay.gdumb": ("GDumbClassifier",),
    "estimators.trees.isoup": ("ISOUPTreeClassifier",),
    "estimators.meta.goowe_ml": ("GOOWEMLClassifier",),
    "estimators.meta.label_combination": ("LabelCombination",),
    "estimators.meta.prequential_stack": ("PrequentialStack",),
    "estimators.meta.prevalence_threshold": ("PrevalenceThreshold",),
    "estimators.networks.lwf": ("LwFClassifier",),
    "estimators.trees.multilabel": ("MultiLabelHoeffdingTreeClassifier",),
    "estimators.trees.multilabel_adaptive_tree": ("MultiLabelHoeffdingAdaptiveTreeClassifier",),
    "estimators.networks.neural": ("OnlineNeuralClassifier",),
    "estimators.pipeline": ("StreamPipeline",),
    "estimators.pragma.forest": ("PragmaForestClassifier",),
    "estimators.pragma.stream_forest": ("PragmaStreamForestClassifier",),
    "estimators.pragma.threshold": ("PragmaThreshold",),
    "estimators.pragma.tree": ("PragmaTreeClassifier",),
    "estimators.replay.label_memories": (
        "OCDMMemory",
        "PRSMemory",
    ),
    "estimators.replay.memories": (
        "FIFOMemory",
        "ReservoirMemory",
    ),
    "estimators.replay.replay_classifier": ("ReplayClassifier",),
    "estimators.ridge.ridge": ("StreamRidgeClassifier",),
    "estimators.interop.river": (
        "RiverClassifier",
        "as_river",
        "as_river_classifier",
    ),
    "estimators.strategies": (
        "STRATEGIES",
        "grid",
        "make_strategy",
    ),
    "estimators.trees.extremely_fast_tree": ("ExtremelyFastDecisionTreeClassifier",),
    "estimators.trees.hoeffding": ("HoeffdingTreeClassifier",),
}

__all__ = [
    "STRATEGIES",
    "ADWINBaggingClassifier",
    "ADWINBoostingClassifier",
    "AESAKNNSClassifier",
    "AGEMClassifier",
    "AdaptiveRandomForestClassifier",
    "BinaryRelevance",
    "ClassifierChain",
    "ContextWindowClassifier",
    "DERClassifier",
    "DivergedError",
    "EWCClassifier",
    "ExtremelyFastDecisionTreeClassifier",
    "FIFOMemory",
    "GDumbClassifier",
    "GOOWEMLClassifier",
    "HoeffdingAdaptiveTreeClassifier",
    "HoeffdingTreeClassifier",
    "ISOUPTreeClassifier",
    "InvariantLogisticClassifier",
    "LabelCombination",
    "LastLabelsClassifier",
    "LwFClassifier",
    "MLSAMPkNNClassifier",
    "MLSAkNNClassifier",
    "MeanLabelsClassifier",
    "MultiLabelHoeffdingAdaptiveTreeClassifier",
    "MultiLabelHoeffdingTreeClassifier",
    "NearestRowClassifier",
    "OCDMMemory",
    "OnlineCoordinateBoosting",
    "OnlineLogisticRegression",
    "OnlineNeuralClassifier",
    "PRSMemory",
    "PragmaForestClassifier",
    "PragmaStreamForestClassifier",
    "PragmaThreshold",
    "PragmaTreeClassifier",
    "PrequentialStack",
    "PrevalenceClassifier",
    "PrevalenceThreshold",
    "PriorLabelsClassifier",
    "ReplayClassifier",
    "ReservoirMemory",
    "RiverClassifier",
    "StreamClassifier",
    "StreamPipeline",
    "StreamRidgeClassifier",
    "as_river",
    "as_river_classifier",
    "grid",
    "hash_categories",
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
