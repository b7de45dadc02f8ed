"""Scores from sums are the scores of the rows, of any stretch of them."""

from collections import deque
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics
from estimators import OnlineLogisticRegression
from metrics import ba_macro, precision_at_k, rmse
from metrics.named import NAMED_METRICS
from mlstream import evaluate
from mlstream.evaluation.predictions import Predictions
from mlstream.evaluation.scoring import (
    CumulativeSums,
    NamedSums,
    Scored,
    count_known_only,
    join_scored,
    score_sums,
    score_tallies,
    sum_rows,
    tally,
)
from mlstream.generators import delayed_labels, missing_labels, multiplier_stream, scenario_stream
from mlstream.service import FeedbackBuffer
from tests.estimators.instances import made
from tests.mlstream.evaluation.slow import score_slowly
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.generators.tables import make_table

ALL = tuple(NAMED_METRICS.values())
NAMES = tuple(NAMED_METRICS)
STREAM = multiplier_stream("rand", n_rows=200)
LEARNER = OnlineLogisticRegression(0.1)


def draw(seed, n_rows=40):
    rng = np.random.default_rng(seed)
    mask = rng.random((n_rows, 5)) < 0.7
    mask[:, :2] = True
    proba = rng.random((n_rows, 5)).round(1)
    decided = (proba > 0.5).astype(np.uint8)
    return Scored((rng.random((n_rows, 5)) < proba).astype(np.uint8), Predictions(decided, proba), mask)


@given(st.integers(0, 1000), st.lists(st.integers(1, 39), min_size=1, max_size=6, unique=True))
def test_any_stretch_between_cuts_scores_as_its_rows_do(seed, inner):
    scored, cuts = draw(seed), [0, *sorted(inner), 40]
    pieces = [tally(scored.rows(a, b), 2) for a, b in pairwise(cuts)]
    sums = CumulativeSums(pieces, 2, "skip")
    stretches = [(a, b) for a in cuts for b in cuts if a < b]
    found = sums.between(*zip(*stretches, strict=True))
    for place, (a, b) in enumerate(stretches):
        rows = scored.rows(a, b)
        assert found["ba_macro"][place] == pytest.approx(
            ba_macro(rows.Y, rows.predictions.decided, label_mask=rows.mask), nan_ok=True
        )
        assert found["rmse"][place] == pytest.approx(rmse(rows.Y, rows.predictions.proba, label_mask=rows.mask))
        precision = precision_at_k(rows.Y, rows.predictions.proba, 2, label_mask=rows.mask)
        assert found["precision_at_k"][place] == pytest.approx(precision)


def test_scores_are_those_of_a_loop_and_of_scikit_learn():
    scored = draw(0)
    rows = list(zip(scored.Y, scored.predictions.decided, scored.predictions.proba, scored.mask, strict=True))
    found = score_tallies([tally(scored, 2)], 2, "skip")
    assert [found["ba_macro"], found["rmse"], found["precision_at_k"]] == pytest.approx(score_slowly(rows, 2))


@given(st.integers(0, 200), st.integers(1, 3))
def test_rows_with_too_few_labels_that_count_are_left_out(seed, k):
    scored = draw(seed)
    kept = np.random.default_rng(seed).random((40, 5)) < 0.3
    scored = scored._replace(mask=kept)
    rows = list(zip(scored.Y, scored.predictions.decided, scored.predictions.proba, kept, strict=True))
    found = score_tallies([tally(scored, k)], k, "skip")
    errors = [score_slowly([row], 1)[1] for row in rows if row[3].any()]
    precisions = [score_slowly([row], k)[2] for row in rows if row[3].sum() >= k]
    assert found["rmse"] == pytest.approx(np.mean(errors))
    assert found["precision_at_k"] == pytest.approx(np.mean(precisions) if precisions else np.nan, nan_ok=True)
    pieces = [tally(scored.rows(row, row + 1), k) for row in range(40)]
    sums = CumulativeSums(pieces, k, "skip").between([0], [40])
    for name, value in found.items():
        assert sums[name][0] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("one_class", ["skip", "recall", "river"])
def test_the_convention_for_one_class_labels_is_passed_on(one_class):
    scored = draw(1)._replace(Y=np.ones((40, 5), np.uint8))
    expected = ba_macro(scored.Y, scored.predictions.decided, label_mask=scored.mask, one_class=one_class)
    assert score_tallies([tally(scored, 2)], 2, one_class)["ba_macro"] == pytest.approx(expected, nan_ok=True)


def test_nothing_to_score_is_not_defined():
    scored = draw(0)
    nothing = tally(scored._replace(mask=np.zeros(5, bool)), 2)
    assert all(np.isnan(value) for value in score_tallies([nothing], 2, "skip").values())


def test_rows_are_cut_and_put_together_again():
    scored = draw(0)
    for mask in (scored.mask, scored.mask[0]):
        whole = scored._replace(mask=mask)
        again = join_scored([whole.rows(0, 3), whole.rows(3, 40)])
        np.testing.assert_array_equal(again.Y, whole.Y)
        np.testing.assert_array_equal(again.predictions.proba, whole.predictions.proba)
        np.testing.assert_array_equal(again.mask, whole.mask)


def directly(name, rows, k):
    """Call the function of `metrics` on the rows."""
    Y, (decided, proba, _), mask = rows.Y, rows.predictions, rows.mask
    if name.endswith("_at_k"):
        kept = mask.sum(axis=1) >= k
        options = {} if name.startswith("confident") else {"zero_division": 1.0}
        return getattr(metrics, name)(Y[kept], proba[kept], k, label_mask=mask[kept], **options)
    if name in ("one_error", "coverage", "ranking_loss", "lrap"):
        return getattr(metrics, name)(Y, proba, label_mask=mask)
    if name in ("hamming_loss", "subset_accuracy"):
        return getattr(metrics, name)(Y, decided, label_mask=mask)
    if name == "hamming_loss_samples":
        return metrics.hamming_loss(Y, decided, label_mask=mask, average="samples")
    function, average = name.split("_")
    if function in ("brier", "ece"):
        metric = {"brier": metrics.brier_score, "ece": metrics.expected_calibration_error}[function]
        return metric(Y, proba, label_mask=mask, average=average)
    options = {} if function == "mcc" else {"zero_division": 1.0 if average == "samples" else np.nan}
    options |= {"average": average}
    return getattr(metrics, function)(Y, decided, label_mask=mask, **options)


@pytest.mark.slow
@given(st.integers(0, 1000), st.lists(st.integers(1, 39), min_size=1, max_size=6, unique=True))
def test_named_metrics_of_any_stretch_are_those_of_its_rows(seed, inner):
    scored, cuts = draw(seed), [0, *sorted(inner), 40]
    scored.mask[3] = False
    scored.mask[5, 1:] = False
    pieces = [scored.rows(a, b) for a, b in pairwise(cuts)]
    sums = NamedSums([tally(piece, 2) for piece in pieces], [sum_rows(piece, 2, ALL) for piece in pieces], ALL)
    stretches = [(a, b) for a in cuts for b in cuts if a < b and (scored.mask[a:b].sum(axis=1) >= 2).any()]
    found = sums.between(*zip(*stretches, strict=True))
    for place, (a, b) in enumerate(stretches):
        for name in NAMES:
            assert found[name][place] == pytest.approx(directly(name, scored.rows(a, b), 2), nan_ok=True)


def test_named_metrics_of_nothing_are_not_defined():
    scored = draw(0)
    few = scored._replace(mask=np.eye(5, dtype=bool)[0])
    found = score_sums([tally(few, 2)], [sum_rows(few, 2, ALL)], ALL)
    assert [name for name in NAMES if np.isnan(found[name])] == ["recall_at_k", "ndcg_at_k", "confident_accuracy_at_k"]


@given(st.integers(0, 100))
def test_unknown_labels_count_in_no_score(seed):
    scored = draw(seed)
    unknown = np.random.default_rng(seed).random(scored.Y.shape) < 0.2
    unknown[:, 4] = False
    Y = np.where(unknown, np.nan, scored.Y).astype(np.float32)
    rows = count_known_only(Y, scored.predictions, np.ones(5, bool))
    found = score_sums([tally(rows, 1)], [sum_rows(rows, 1, ALL)], ALL)
    for name in NAMES:
        expected = directly(name, scored._replace(Y=Y, mask=np.ones((40, 5), bool)), 1)
        assert found[name] == pytest.approx(expected, nan_ok=True)


def test_a_record_holds_scores_curves_and_a_matrix_for_each_name():
    stream, names = make_stream(), ("hamming_loss", "f1_macro", "lrap")
    plain = evaluate(Online(), stream, energy="none")
    result = evaluate(Online(), stream, energy="none", metrics=names)
    assert result.settings == plain.settings | {"metrics": list(names)}
    assert plain.scores.items() <= result.scores.items()
    added = {f"{name}{ending}" for name in names for ending in ("", "_held_out")}
    assert set(result.scores) - set(plain.scores) == added
    assert set(result.curves) - set(plain.curves) == set(names) == set(result.R) - set(plain.R)
    for name in names:
        assert result.curves[name].cumulative[-1] == pytest.approx(result.scores[name])
        seen = np.array(result.R[name][-1])[stream.order.any(axis=0)]
        assert result.scores[f"{name}_held_out"] == pytest.approx(seen.mean())


@pytest.mark.slow
@pytest.mark.parametrize("label_space", ["task", "seen", "all"])
def test_scores_by_name_are_those_of_the_learner_run_by_hand(label_space):
    stream = make_stream()
    result = evaluate(Online(), stream, label_space=label_space, energy="none", metrics=NAMES)
    learner, seen, wrong, right = Online(random_state=0), np.zeros(5, bool), [], []
    signatures = np.stack([task.signature for task in stream.tasks])
    for experience in stream:
        for x, y, task in zip(experience.X, experience.Y, experience.task_ids, strict=True):
            decided = learner.predict(x[None])[0] if hasattr(learner, "coef_") else np.zeros(5, int)
            learner.partial_fit(x[None], y[None])
            seen |= signatures[task]
            counted = {"task": signatures[task], "seen": seen, "all": np.ones(5, bool)}[label_space]
            wrong.append((decided != y)[counted])
            right.append((decided == y)[counted].all())
    assert result.scores["hamming_loss"] == pytest.approx(np.concatenate(wrong).mean())
    assert result.scores["subset_accuracy"] == pytest.approx(np.mean(right))
    task = 1
    counted = {"task": signatures[task], "seen": seen, "all": np.ones(5, bool)}[label_space]
    held_out = stream.evaluation_sets[task]
    expected = metrics.lrap(held_out.Y[:, counted], learner.predict_proba(held_out.X)[:, counted])
    assert result.R["lrap"][-1][task] == pytest.approx(expected)


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
