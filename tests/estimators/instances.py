"""An instance of every public learner, detector and memory, for tests that go through all of them."""

from types import MappingProxyType
from typing import Any

from river.naive_bayes import GaussianNB as RiverGaussianNB
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from estimators import (
    STRATEGIES,
    AdaptiveRandomForestClassifier,
    AlarmBudget,
    BinaryRelevance,
    ExtremelyFastDecisionTreeClassifier,
    FIFOMemory,
    GDumbClassifier,
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
    LabelBudget,
    MultiLabelHoeffdingTreeClassifier,
    NovelLabels,
    OCDMMemory,
    OnlineCoordinateBoosting,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PragmaForestClassifier,
    PragmaStreamForestClassifier,
    PragmaThreshold,
    PragmaTreeClassifier,
    PredictionSets,
    PrequentialCalibrator,
    PrequentialStack,
    PrevalenceThreshold,
    PriorLabelsClassifier,
    PRSMemory,
    ReplayClassifier,
    ReservoirMemory,
    RiverClassifier,
    StreamPipeline,
    make_strategy,
)
from estimators.checks._check_data import fresh
from estimators.detectors import DETECTORS, make_detector

_OTHERS = {
    "logistic regression": OnlineLogisticRegression(0.1),
    "boosted models": OnlineCoordinateBoosting(OnlineLogisticRegression(0.1), 3),
    "Hoeffding tree": HoeffdingTreeClassifier(),
    "Hoeffding adaptive tree": HoeffdingAdaptiveTreeClassifier(),
    "extremely fast tree": ExtremelyFastDecisionTreeClassifier(),
    "multi-label tree": MultiLabelHoeffdingTreeClassifier(),
    "native forest": AdaptiveRandomForestClassifier(3, multilabel="native", n_jobs=2),
    "forest in threads": AdaptiveRandomForestClassifier(3, n_jobs=2),
    "PRAGMA forest of a stream": PragmaStreamForestClassifier(AdaptiveRandomForestClassifier(2)),
    "PRAGMA threshold": PragmaThreshold(OnlineNeuralClassifier()),
    "alarm budget": AlarmBudget(OnlineNeuralClassifier()),
    "label budget": LabelBudget(OnlineNeuralClassifier(), 0.5),
    "calibrator": PrequentialCalibrator(OnlineNeuralClassifier()),
    "novel labels": NovelLabels(OnlineNeuralClassifier(), random_state=0),
    "prediction sets": PredictionSets(OnlineNeuralClassifier()),
    "prevalence threshold": PrevalenceThreshold(OnlineNeuralClassifier()),
    "binary relevance in threads": BinaryRelevance(GaussianNB(), n_jobs=2),
    "pipeline": StreamPipeline([("scale", StandardScaler()), ("learn", OnlineNeuralClassifier())]),
    "replay": ReplayClassifier(PriorLabelsClassifier(), reservoir=ReservoirMemory(50), fifo=FIFOMemory(20)),
    "stack": PrequentialStack([("prior", PriorLabelsClassifier()), ("network", OnlineNeuralClassifier())]),
    "GDumb on another": GDumbClassifier(PriorLabelsClassifier(), size=60),
    "River": RiverClassifier(RiverGaussianNB()),
}
# what strategies would compute for a minute otherwise
_FEWER = MappingProxyType(
    {
        "AESAKNNS": {"n_members": 2, "max_window": 200},
        "window_random_forest": {"estimator__n_estimators": 3},
        "window_gradient_boosting": {"estimator__max_iter": 3},
        "window_LightGBM": {"estimator__n_estimators": 3},
        "River_ARF": {"n_models": 2},
        **{key: {"max_iter": 20} for key in ("IRM", "V-REx", "GroupDRO")},
    }
)
_BATCHES = {
    "PRAGMA forest": PragmaForestClassifier(5, n_bags=0),
    "PRAGMA tree": PragmaTreeClassifier(),
}
_MEMORIES = {type(one).__name__: one for one in (ReservoirMemory(), FIFOMemory(), PRSMemory(), OCDMMemory())}

# names of strategies whose packages are here
HERE = tuple(name for name, strategy in STRATEGIES.items() if not strategy.to_install)
# names of learners: those that learn from streams, and those learnt by `fit` alone
IN_STREAMS = (*HERE, *_OTHERS)
BATCHES = tuple(_BATCHES)
MEMORIES = tuple(_MEMORIES)


def made(name: str) -> Any:
    """Return a new, seeded instance of a learner, a detector or a memory."""
    if name in DETECTORS:
        return make_detector(name)
    others = {**_OTHERS, **_BATCHES, **_MEMORIES}
    return fresh(others[name] if name in others else make_strategy(name, **_FEWER.get(name, {})))
