"""Print which compiled functions a run meets that its warm-up has not: a process each, forked before any is loaded."""

import gc
import json
import os
import sys

import numpy as np
import scipy.sparse as sp
from numba.core.dispatcher import Dispatcher

from estimators import (
    AdaptiveRandomForestClassifier,
    BinaryRelevance,
    HoeffdingAdaptiveTreeClassifier,
    LabelBudget,
    MultiLabelHoeffdingTreeClassifier,
    NovelLabels,
    OnlineCoordinateBoosting,
    OnlineLogisticRegression,
    PragmaStreamForestClassifier,
    PragmaThreshold,
    PredictionSets,
    PrequentialCalibrator,
    PrequentialStack,
    PrevalenceThreshold,
    ReplayClassifier,
    ReservoirMemory,
    StreamRidgeClassifier,
)
from estimators.strategies import STRATEGIES, make_strategy
from mlstream import Dataset, evaluate, task_stream
from mlstream.evaluation.warm_up import warm_up

FEATURES, LABELS = tuple("abcdef"), tuple("klmn")
BEFORE_FORK = []
# Learners of classes that no campaign has by name, and learners inside others.
OTHERS = {
    "pragma forest": PragmaStreamForestClassifier(AdaptiveRandomForestClassifier(2), random_state=0),
    "pragma threshold": PragmaThreshold(make_strategy("NN"), random_state=0),
    "replayed ridge": ReplayClassifier(StreamRidgeClassifier(), reservoir=ReservoirMemory(30, 1), random_state=0),
    "ridges": BinaryRelevance(StreamRidgeClassifier(hidden_units=5)),
    "adaptive tree": HoeffdingAdaptiveTreeClassifier(random_state=0),
    "multi-label tree": MultiLabelHoeffdingTreeClassifier(),
    "label budget": LabelBudget(make_strategy("NN"), 0.5),
    "calibrator": PrequentialCalibrator(make_strategy("NN")),
    "novel labels": NovelLabels(make_strategy("NN")),
    "prediction sets": PredictionSets(make_strategy("NN")),
    "prevalence": PrevalenceThreshold(make_strategy("NN")),
    "stack that stops": PrequentialStack(
        [("network", make_strategy("NN_TL")), ("mean", make_strategy("mean"))], patience=50, random_state=0
    ),
    "boosted models": OnlineCoordinateBoosting(OnlineLogisticRegression()),
}


def make_stream(layout):
    X = np.random.default_rng(0).random((600, len(FEATURES)))
    Y = (X[:, : len(LABELS)] > 0.5).astype(np.uint8)
    return task_stream(Dataset(sp.csr_array(X) if layout == "sparse" else X, Y, FEATURES, LABELS, name="t"), n_tasks=2)


def find_compiled():
    return [one for one in gc.get_objects() if isinstance(one, Dispatcher)]


def loaded():
    """List every compiled function of ours, with the types of arguments that it is ready for."""
    ours = BEFORE_FORK + find_compiled()
    names = {one: f"{one.py_func.__module__}.{one.py_func.__qualname__}" for one in ours}
    return {
        f"{name}({', '.join(map(str, types))})"
        for one, name in names.items()
        if name.startswith(("estimators.", "metrics.", "mlstream."))
        for types in one.overloads
    }


def met_late(name, stream):
    learner = OTHERS[name] if name in OTHERS else make_strategy(name)
    warm_up(learner, stream)
    before = loaded()
    evaluate(learner, stream, energy="none")
    return {"learner": name, "loaded": len(before), "late": sorted(loaded() - before)}


def main(layout):
    stream = make_stream(layout)
    BEFORE_FORK.extend(find_compiled())
    # Objects that are frozen are not found again, and looking at them in a process would copy them all.
    gc.freeze()
    for name in (*(name for name, strategy in STRATEGIES.items() if not strategy.to_install), *OTHERS):
        if (process := os.fork()) == 0:
            status = 1
            try:
                sys.stdout.write(json.dumps(met_late(name, stream)) + "\n")
                sys.stdout.flush()
                status = 0
            finally:
                os._exit(status)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main(sys.argv[1])
