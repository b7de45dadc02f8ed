"""On every kind of stream, the truth has the best of each score, and a constant half of the balanced accuracy."""

from functools import cache

import numpy as np
import pytest

from metrics import precision_at_k_maximum, subset_accuracy
from mlstream.evaluation.label_space import CountedLabels
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.predictions import Predictions
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import Run, precision_k
from mlstream.evaluation.settings import Settings
from mlstream.generators import (
    SCENARIOS,
    carve_environments,
    delayed_labels,
    drifting_stream,
    environment_stream,
    hat_and_shirt_stream,
    iirc_stream,
    missing_labels,
    multiplier_stream,
    noisy_labels,
    scenario_stream,
    task_stream,
)
from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import Dataset
from tests.loops import check_all
from tests.mlstream.evaluation.test_held_out import PARENTS, zoo
from tests.mlstream.generators.tables import make_table

EPS = 1e-9


@cache
def table():
    """Most rows carry labels of several lists."""
    rng = np.random.default_rng(3)
    return make_table(rng.random((240, 6)) < 0.4, rng.random((240, 3)))


@cache
def partly_unknown():
    rng = np.random.default_rng(4)
    Y = table().Y.astype(np.float32)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return Dataset(table().X, Y, table().feature_names, table().label_names, "partly-unknown")


STREAMS = {
    **{name: lambda name=name: scenario_stream(table(), name, n_tasks=3) for name in SCENARIOS},
    "class-incremental, unknown": lambda: scenario_stream(partly_unknown(), "class-incremental", n_tasks=3),
    "class-incremental, dropped": lambda: scenario_stream(
        table(), "class-incremental", n_tasks=3, shared_rows="drop", label_lists=[["y0"], ["y1"], ["y2"]]
    ),
    "iirc": lambda: iirc_stream(zoo(), hierarchy=PARENTS, introductions=[["bear"], ["polar", "dog"], ["brown"]]),
    "iirc, several paths": lambda: iirc_stream(
        table(),
        hierarchy={"y1": "y0", "y2": "y0", "y4": "y3"},
        introductions=[["y0", "y3"], ["y1", "y4"], ["y2", "y5"]],
    ),
    "environments": lambda: environment_stream(("train", "train", "test", "unseen"), n_rows=80, n_labels=2),
    "carved": lambda: carve_environments(table(), ("train", "train", "unseen")),
    "hat and shirt": hat_and_shirt_stream,
    "tasks": lambda: task_stream(table(), n_tasks=3),
    "multiplier": lambda: multiplier_stream("rand", n_rows=60),
    "drifting": lambda: drifting_stream("rbf", n_rows=200),
    "missing": lambda: missing_labels(task_stream(table(), n_tasks=3), rate=0.3, per="label"),
    "late": lambda: delayed_labels(task_stream(table(), n_tasks=3), delay={"y1": 9}),
    "class-incremental, missing": lambda: missing_labels(
        scenario_stream(table(), "class-incremental", n_tasks=3), rate=0.3
    ),
    "noisy": lambda: noisy_labels(scenario_stream(table(), "class-incremental", n_tasks=3), rate=0.2),
}


@cache
def make(kind):
    return STREAMS[kind]()


class Known(Learner):
    """Predicts what a function makes of the true labels of the rows: of the source online, where there is one."""

    def __init__(self, stream, predict, source=None):
        super().__init__(object(), stream.n_labels, ResourceMeter("none"))
        self._truth = {_place(part.X): part.Y for part in stream.evaluation_sets}
        self._source = None if source is None else {row.tobytes(): y for row, y in zip(source.X, source.Y, strict=True)}
        self._make = predict

    def begin(self, X, Y):
        pass

    def predict(self, X, heads=None):
        return self._predictions(self._truth[_place(X)])

    def test_then_train(self, X, Y, mask, heads=None, task_ids=None, keys=None):
        return self._predictions(Y if self._source is None else np.array([self._source[row.tobytes()] for row in X]))

    def _predictions(self, Y):
        proba = self._make(filled(Y)).astype(float)
        return Predictions((proba >= 0.5).astype(np.uint8), proba)

    def _test_then_train(self, X, Y, mask, heads):
        raise NotImplementedError

    _predict_online = _learn = _learn_together = _test_then_train


def _place(X):
    return X.ctypes.data, len(X)


def run(kind, predict, label_space=None, source=None):
    stream = make(kind)
    settings = Settings(energy="none", label_space=label_space, n_checkpoints=1)
    one = Run(Known(stream, predict, source), stream, settings)
    one.run(None)
    return one, stream


@pytest.mark.slow
@pytest.mark.parametrize(
    "label_space", [None, *(pytest.param(one, marks=pytest.mark.slow) for one in ("task", "seen", "all"))]
)
def test_predicting_the_truth_has_the_best_of_every_score(label_space):
    def check(kind):
        one, stream = run(kind, lambda Y: Y, label_space)
        best = dict.fromkeys(one.R, 1.0) | {"rmse": 0.0, "nce": -1.0}
        counted = CountedLabels(stream, label_space)
        k = precision_k(stream)
        for step in range(len(stream) + 1):
            for task, held_out in enumerate(stream.evaluation_sets):
                mask, cells = counted.held_out(step, task), known(held_out.Y)
                shown = np.broadcast_to(mask, held_out.Y.shape) if cells is None else mask & cells
                ranked = shown.sum(axis=1) >= k
                most = precision_at_k_maximum(filled(held_out.Y)[ranked], k, label_mask=shown[ranked])
                assert one.R["precision_at_k"][step, task] == pytest.approx(most)
                truth = filled(held_out.Y)
                assert subset_accuracy(truth, truth, label_mask=shown) == 1
        for name in one.R.keys() - {"precision_at_k"}:
            defined = one.R[name][~np.isnan(one.R[name])]
            np.testing.assert_allclose(defined, best[name], atol=EPS)
        for name in ("rmse", "precision_at_k"):
            assert not np.isnan(one.R[name]).any()
        online = one.finish()[0]
        assert online["rmse"] == pytest.approx(0, abs=EPS)
        assert online["precision_at_k"] == pytest.approx(online["precision_at_k_maximum"])
        assert np.isnan(online["ba_macro"]) or online["ba_macro"] == 1

    check_all(STREAMS, check)


@pytest.mark.parametrize(
    "kind", ["class-incremental", "task-free", "class-incremental, unknown", "class-incremental, missing"]
)
@pytest.mark.parametrize("label_space", [None, "all"])
def test_labels_that_learning_rows_hide_are_not_taken_for_absent_online(kind, label_space):
    # The oracle knows all labels of a row, of which its experience shows those of one task.
    source = partly_unknown() if kind.endswith("unknown") else table()
    online = run(kind, lambda Y: Y, label_space, source)[0].finish()[0]
    assert online["ba_macro"] == 1
    assert online["rmse"] == pytest.approx(0, abs=EPS)
    assert online["precision_at_k"] == pytest.approx(online["precision_at_k_maximum"])


@pytest.mark.slow
def test_a_constant_prediction_has_half_of_balanced_accuracy():
    def check(kind):
        prior = np.mean(np.concatenate([filled(part.Y) for part in make(kind)]), axis=0)
        for constant, label_space in ((0.0, None), (1.0, None), (prior, None), (1.0, "seen"), (prior, "all")):
            one, _ = run(kind, lambda Y, constant=constant: np.broadcast_to(constant, Y.shape), label_space)
            R = one.R["ba_macro"]
            np.testing.assert_array_equal(R[~np.isnan(R)], 0.5)
            ba_macro = one.finish()[0]["ba_macro"]
            assert np.isnan(ba_macro) or ba_macro == 0.5

    check_all(STREAMS, check)


@pytest.mark.parametrize("kind", ["class-incremental", "task-free", "iirc"])
def test_the_default_counts_false_alarms_on_rows_of_other_tasks(kind):
    stream = make(kind)
    own = {id(part.Y): part.label_mask for part in stream.evaluation_sets}

    def alarm_elsewhere(Y):
        # Right on the labels of the set's own task, and 1 on all others.
        return np.where(own[id(Y)], Y, 1) if id(Y) in own else Y

    by_default, by_task = (run(kind, alarm_elsewhere, space)[0].R["ba_macro"][-1] for space in (None, "task"))
    assert np.nanmin(by_task) == 1
    assert np.nanmean(by_default) < 0.95


def test_accuracy_of_single_paths_and_the_refinement_recall_are_defined_by_default():
    one, stream = run("iirc", lambda Y: Y)
    assert not np.isnan(one.R["ba_macro"][-1]).any()
    assert not np.isnan(one.R["pw_js"]).any()
    assert np.nanmean(one.R["refinement_recall"][-1]) == 1
    assert stream.card.scenario.name == "iirc"
