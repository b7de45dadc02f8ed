"""Rows whose labels are late are scored by their first prediction, too, as a loop over rows scores them."""

from collections import deque

import numpy as np
import pytest

from estimators import OnlineLogisticRegression
from metrics import ba_macro, precision_at_k, rmse
from mlstream import evaluate
from mlstream.generators import delayed_labels, missing_labels, multiplier_stream, scenario_stream
from mlstream.service import FeedbackBuffer
from tests.estimators.instances import made
from tests.mlstream.generators.tables import make_table

STREAM = multiplier_stream("rand", n_rows=200)
LEARNER = OnlineLogisticRegression(0.1)


def is_score(result, name, Y, predictions, mask):
    decided, proba = (np.array(part) for part in zip(*predictions, strict=True))
    assert result.scores[f"ba_macro{name}"] == pytest.approx(ba_macro(Y, decided, label_mask=mask))
    rows = mask.any(axis=1)
    assert result.scores[f"rmse{name}"] == pytest.approx(rmse(Y[rows], proba[rows], label_mask=mask[rows]))
    return proba


def test_a_constant_delay_is_a_queue():
    X, Y = (np.concatenate([getattr(part, name) for part in STREAM]) for name in "XY")
    learner = OnlineLogisticRegression(0.1).begin(X[:1], Y[:1])
    first, last, waiting = [], [], deque()

    def predict(x):
        return learner.predict([x])[0], learner.predict_proba([x])[0]

    def learn():
        row = waiting.popleft()
        last.append(predict(X[row]))
        learner.partial_fit(X[[row]], Y[[row]])

    for row, x in enumerate(X):
        first.append(predict(x))
        waiting.append(row)
        if len(waiting) > 30:
            learn()
    while waiting:
        learn()
    result = evaluate(
        LEARNER, delayed_labels(STREAM, delay=30, predict_first=True), label_space="all", energy="none", chunk_size=7
    )
    for name, predictions in (("", last), ("[first]", first)):
        proba = is_score(result, name, Y, predictions, np.ones(Y.shape, bool))
        assert result.scores[f"precision_at_k{name}"] == pytest.approx(precision_at_k(Y, proba, 3))
    assert result.curves["rmse[first]"].cumulative[-1] == pytest.approx(result.scores["rmse[first]"])


def test_the_first_prediction_stands_for_every_label_of_the_row_whenever_it_comes():
    late = delayed_labels(STREAM, delay={"y0": 3, "y2": 20}, jitter=15, predict_first=True, seed=1)
    late = missing_labels(late, rate=0.1)
    learner = OnlineLogisticRegression(0.1).begin(late[0].X[:1], late[0].Y[:1])
    kept, first, last, truth, masks = {}, [], [], [], []
    for part in late:
        for x, y, row, mask in zip(part.X, part.Y, part.row_ids, part.label_mask, strict=True):
            last.append((learner.predict([x])[0], learner.predict_proba([x])[0]))
            first.append(kept.setdefault(row, last[-1]))
            truth.append(np.nan_to_num(y))
            masks.append(mask & ~np.isnan(y))
            if mask.any():
                learner.partial_fit([x], [y])
    result = evaluate(LEARNER, late, label_space="task", energy="none")
    for name, predictions in (("", last), ("[first]", first)):
        is_score(result, name, np.array(truth), predictions, np.array(masks))


@pytest.mark.parametrize("strategy", ["StreamRidge", "prevalence threshold"])
def test_first_predictions_are_those_of_a_buffer(strategy):
    learner = made(strategy).begin(STREAM[0].X[:1], STREAM[0].Y[:1])
    buffer, first = FeedbackBuffer(learner), []
    X, Y = (np.concatenate([getattr(part, name) for part in STREAM]) for name in "XY")
    for row, x in enumerate(X):
        first.append(buffer.predict_one(row, x))
        if row >= 30:
            buffer.learn_one(row - 30, Y[row - 30])
    late = delayed_labels(STREAM, delay=30, predict_first=True)
    result = evaluate(made(strategy), late, label_space="all", energy="none")
    is_score(result, "[first]", Y, first, np.ones(Y.shape, bool))


# not "seen": a task has been seen when its rows come, which is earlier then
@pytest.mark.parametrize("label_space", ["task", "all"])
@pytest.mark.parametrize("scenario", ["task-based", "class-incremental", "task-free"])
def test_scores_of_last_predictions_are_those_without_the_first(scenario, label_space):
    rng = np.random.default_rng(0)
    table = make_table(rng.random((120, 4)) < 0.5, rng.normal(size=(120, 3)))
    stream = scenario_stream(table, scenario, n_tasks=2)
    without, result = (
        evaluate(LEARNER, delayed_labels(stream, delay=9, predict_first=first), label_space=label_space, energy="none")
        for first in (False, True)
    )
    assert result.R == without.R
    in_both = {name: score for name, score in without.scores.items() if not name.endswith("_anytime")}
    assert {name: result.scores[name] for name in in_both} == pytest.approx(in_both, nan_ok=True)
    firsts = {name.removesuffix("[first]") for name in result.scores if name.endswith("[first]")}
    assert {"ba_macro", "rmse", "precision_at_k", "kappa_temporal"} < firsts < set(without.scores)
    assert not any("[first]" in name for name in without.scores)
