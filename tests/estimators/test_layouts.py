"""Kernels of trees are called without a look at the types of arrays: whatever arrays come, they learn the same."""

from itertools import product

import numpy as np
from sklearn.base import clone

from estimators.meta.binary_relevance import BinaryRelevance
from estimators.meta.classifier_chain import ClassifierChain
from estimators.meta.label_combination import LabelCombination
from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier
from estimators.trees.extremely_fast_tree import ExtremelyFastDecisionTreeClassifier
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from estimators.trees.isoup import ISOUPTreeClassifier
from estimators.trees.multilabel import MultiLabelHoeffdingTreeClassifier
from estimators.trees.multilabel_adaptive_tree import MultiLabelHoeffdingAdaptiveTreeClassifier
from tests.loops import check_all

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}
TREE = HoeffdingTreeClassifier(**EAGER)
LEARNERS = [
    BinaryRelevance(TREE),
    BinaryRelevance(ExtremelyFastDecisionTreeClassifier(**EAGER)),
    BinaryRelevance(TREE, n_jobs=2),
    BinaryRelevance(HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0)),
    ClassifierChain(TREE),
    LabelCombination(TREE),
    ISOUPTreeClassifier(**EAGER),
    MultiLabelHoeffdingTreeClassifier(**EAGER),
    MultiLabelHoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0),
]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS = {
    "column after column": np.asfortranarray,
    "every second row": lambda array: np.repeat(array, 2, axis=0)[::2],
    "read-only": read_only,
    "less precise": lambda array: array.astype(np.float32 if array.dtype.kind == "f" else np.int8),
}


def test_rows_of_any_layout_are_learnt_alike():
    def check(layout, learner):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 256, size=(600, 5)) / 256
        Y = (X[:, :3] + rng.normal(scale=0.1, size=(600, 3)) > 0.5).astype(int)
        weights = rng.integers(0, 3, size=600).astype(float)
        plain, other = clone(learner), clone(learner)
        tested = plain.predict_then_fit(X[:300], Y[:300])[1]
        assert np.array_equal(other.predict_then_fit(layout(X[:300]), layout(Y[:300]))[1], tested)
        plain.partial_fit(X, Y, sample_weight=weights)
        other.partial_fit(layout(X), layout(Y), sample_weight=layout(weights))
        assert np.array_equal(other.predict_proba(layout(X)), plain.predict_proba(X))

    check_all(product(LAYOUTS.values(), LEARNERS), lambda case: check(*case))
