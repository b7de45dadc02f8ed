"""Scores from sums are the scores of the rows, of any stretch of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics
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
from tests.mlstream.evaluation.slow import score_slowly
from tests.mlstream.evaluation.streams import Online, make_stream

ALL = tuple(NAMED_METRICS.values())
NAMES = tuple(NAMED_METRICS)


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
