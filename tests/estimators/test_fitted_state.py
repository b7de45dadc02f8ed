"""What a learner has learnt is listed, and only what is documented bears scikit-learn's mark of public attributes."""

import re
from inspect import cleandoc

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from estimators import (
    AdaptiveRandomForestClassifier,
    ADWINBaggingClassifier,
    ADWINBoostingClassifier,
    AESAKNNSClassifier,
    AGEMClassifier,
    BinaryRelevance,
    ClassifierChain,
    ContextWindowClassifier,
    DERClassifier,
    EWCClassifier,
    ExtremelyFastDecisionTreeClassifier,
    GDumbClassifier,
    GOOWEMLClassifier,
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
    InvariantLogisticClassifier,
    ISOUPTreeClassifier,
    LabelCombination,
    LastLabelsClassifier,
    LwFClassifier,
    MeanLabelsClassifier,
    MLSAkNNClassifier,
    MLSAMPkNNClassifier,
    MultiLabelHoeffdingAdaptiveTreeClassifier,
    MultiLabelHoeffdingTreeClassifier,
    NearestRowClassifier,
    OnlineCoordinateBoosting,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PragmaStreamForestClassifier,
    PragmaThreshold,
    PrequentialStack,
    PrevalenceClassifier,
    PrevalenceThreshold,
    PriorLabelsClassifier,
    ReplayClassifier,
    RiverClassifier,
    StreamClassifier,
    StreamPipeline,
    StreamRidgeClassifier,
)
from estimators._check_data import fresh, learn, stream
from tests.estimators.learners import Logistic

A, B, TEST = stream().parts(40, 40)
OF_THE_BASE = {"classes_", "n_labels_", "n_features_in_", "memory_bytes_"}


def _learners():
    from river.naive_bayes import GaussianNB as RiverGaussianNB

    return [
        ADWINBaggingClassifier(2),
        ADWINBoostingClassifier(2),
        AdaptiveRandomForestClassifier(n_models=2),
        AESAKNNSClassifier(2),
        AGEMClassifier(),
        BinaryRelevance(GaussianNB()),
        ClassifierChain(GaussianNB()),
        ContextWindowClassifier(GaussianNB()),
        GOOWEMLClassifier(chunk_size=20),
        DERClassifier(),
        EWCClassifier(),
        GDumbClassifier(LastLabelsClassifier()),
        HoeffdingAdaptiveTreeClassifier(),
        ExtremelyFastDecisionTreeClassifier(),
        HoeffdingTreeClassifier(),
        InvariantLogisticClassifier(),
        ISOUPTreeClassifier(),
        LabelCombination(GaussianNB()),
        LastLabelsClassifier(),
        LwFClassifier(),
        MeanLabelsClassifier(),
        MLSAkNNClassifier(),
        MLSAMPkNNClassifier(),
        MultiLabelHoeffdingAdaptiveTreeClassifier(),
        MultiLabelHoeffdingTreeClassifier(),
        NearestRowClassifier(),
        OnlineCoordinateBoosting(),
        OnlineLogisticRegression(),
        OnlineNeuralClassifier(),
        PragmaStreamForestClassifier(period=20),
        PragmaThreshold(LastLabelsClassifier(), period=20),
        PrevalenceClassifier(),
        PrequentialStack([("last", LastLabelsClassifier()), ("mean", MeanLabelsClassifier())], patience=30),
        PrevalenceThreshold(LastLabelsClassifier()),
        PriorLabelsClassifier(),
        ReplayClassifier(LastLabelsClassifier()),
        RiverClassifier(RiverGaussianNB()),
        StreamPipeline([("scale", StandardScaler()), ("learn", LastLabelsClassifier())]),
        StreamRidgeClassifier(),
    ]


def _of_name(value):
    return type(value).__name__


@pytest.mark.parametrize("learner", _learners(), ids=_of_name)
def test_public_attributes_are_documented(learner):
    learnt = learn(fresh(learner), A)
    public = {name for name in vars(learnt) if name.endswith("_") and not name.startswith("_")}
    documented = set(re.findall(r"^(\w+_) : ", cleandoc(type(learner).__doc__), flags=re.MULTILINE))
    assert public - OF_THE_BASE <= documented
    assert all(hasattr(learnt, name) for name in documented)


@pytest.mark.parametrize("learner", [one for one in _learners() if isinstance(one, StreamClassifier)], ids=_of_name)
def test_all_that_learning_sets_is_listed(learner):
    learnt = learn(learn(fresh(learner), A), B)
    assert set(vars(learnt)) - set(fresh(learner).get_params(deep=False)) <= set(learnt._learnt_names)


class Noted(Logistic):
    """Keeps state under a private name, and has an attribute that is not learnt."""

    def _start(self):
        super()._start()
        self._n_rows = 0

    def _learn(self, X, Y, mask, weight):
        self._n_rows += len(Y)
        super()._learn(X, Y, mask, weight)


def test_fit_forgets_state_of_any_name_and_nothing_else():
    learner = Noted().partial_fit(*A)
    learner.comment_ = "mine"
    assert learner.fit(*B)._n_rows == len(B.Y)
    assert learner.comment_ == "mine"
