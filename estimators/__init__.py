"""Multi-label classifiers that learn from a stream, with scikit-learn's interface.

Names are imported when first used, so that readers of files can use kernels without loading all learners.
"""

import sys
from typing import TYPE_CHECKING

from estimators.contract.lazy import attach
from estimators.contract.old_names import MOVED as _MOVED
from estimators.contract.old_names import OldNames as _OldNames

# First: another thread may already import a module of this package.
sys.meta_path.append(_OldNames(_MOVED))

if TYPE_CHECKING:
    from estimators._learners import *  # noqa: F403
    from estimators.checks import expected_failed_checks as expected_failed_checks
    from estimators.checks import stream_checks as stream_checks
    from estimators.contract.base import StreamClassifier as StreamClassifier
    from estimators.contract.explanations import Explanation as Explanation
    from estimators.contract.failed_calls import DivergedError as DivergedError
    from estimators.contract.splitters import MultilabelStratifiedKFold as MultilabelStratifiedKFold
    from estimators.contract.splitters import PrequentialSplit as PrequentialSplit
    from estimators.interop.onnx import register_onnx_converters as register_onnx_converters
    from estimators.interop.onnx import to_onnx as to_onnx
    from estimators.interop.river import RiverClassifier as RiverClassifier
    from estimators.interop.river import as_river as as_river
    from estimators.interop.river import as_river_classifier as as_river_classifier
    from estimators.interop.river import as_river_detector as as_river_detector
    from estimators.invariance.hashing import hash_categories as hash_categories
    from estimators.invariance.hashing import one_hot_categories as one_hot_categories
    from estimators.invariance.logistic import InvariantLogisticClassifier as InvariantLogisticClassifier
    from estimators.pipeline import StreamPipeline as StreamPipeline
    from estimators.pipeline import with_categories as with_categories
    from estimators.pragma.forest import PragmaForestClassifier as PragmaForestClassifier
    from estimators.pragma.stream_forest import PragmaStreamForestClassifier as PragmaStreamForestClassifier
    from estimators.pragma.threshold import PragmaThreshold as PragmaThreshold
    from estimators.pragma.tree import PragmaTreeClassifier as PragmaTreeClassifier
    from estimators.replay.replay_classifier import ReplayClassifier as ReplayClassifier
    from estimators.strategies import STRATEGIES as STRATEGIES
    from estimators.strategies import grid as grid
    from estimators.strategies import make_strategy as make_strategy
    from estimators.trees.multilabel import MultiLabelHoeffdingTreeClassifier as MultiLabelHoeffdingTreeClassifier
else:
    __getattr__, __dir__, __all__ = attach(__name__, "estimators._learners")
