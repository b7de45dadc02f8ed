"""Checkpoints are spread over the stream, and curves do not depend on how rows come."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators import LastLabelsClassifier
from metrics import ba_macro, kappa_temporal, no_change_predictions, subset_accuracy
from mlstream import evaluate
from mlstream.evaluation.predictions import Predictions
from mlstream.evaluation.prequential import (
    AnytimeScores,
    NoChangePredictor,
    NoChangeSums,
    PrequentialScorer,
    count_mistakes,
    plan_curves,
)
from mlstream.evaluation.scoring import CORE_METRICS, Scored
from tests.mlstream.evaluation.slow import score_slowly
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.evaluation.test_scoring import draw

ANYTIME = ("ba_macro_anytime", "rmse_anytime", "precision_at_k_anytime")


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any), st.integers(1, 30), st.integers(1, 80))
def test_checkpoints_rise_in_equal_steps_to_the_last_row(sizes, n_checkpoints, window):
    plan = plan_curves(sizes, n_checkpoints, window)
    n_rows = sum(sizes)
    steps = np.diff([0, *plan.checkpoints])
    assert plan.checkpoints[-1] == n_rows
    assert len(plan.checkpoints) <= n_checkpoints
    assert len(set(steps[:-1].tolist())) <= 1
    assert 0 < steps[-1] <= steps[0]
    wanted = {*plan.checkpoints, *np.cumsum(sizes).tolist(), *(c - window for c in plan.checkpoints)}
    assert set(plan.cuts) == {cut for cut in wanted if cut > 0}
    assert list(plan.cuts) == sorted(plan.cuts)


def test_a_window_reaches_back_five_checkpoints_by_default():
    plan = plan_curves([1000], 100, None)
    assert (plan.window, plan.checkpoints[:2], len(plan.cuts)) == (50, (10, 20), 100)


def feed(scored, plan, sizes):
    scorer, start = PrequentialScorer(plan, 2, "skip"), 0
    for size in sizes:
        scorer.add(scored.rows(start, start + size))
        start += size
    return scorer


@given(st.sets(st.integers(0, 40)))
def test_curves_are_equal_to_the_last_bit_however_rows_come(cuts):
    scored, plan = draw(3), plan_curves([15, 25], 6, 9)
    sizes = np.diff([0, *sorted(cuts), 40]).tolist()
    assert feed(scored, plan, sizes).finish() == feed(scored, plan, [15, 25]).finish()


def test_a_curve_is_the_score_of_the_rows_so_far_and_of_the_last_ones():
    scored = draw(4)
    rows = list(zip(scored.Y, scored.predictions.decided, scored.predictions.proba, scored.mask, strict=True))
    final, curves = feed(scored, plan_curves([40], 8, 7), [40]).finish()
    for place, name in enumerate(CORE_METRICS):
        curve = curves[name]
        assert curve.cumulative == pytest.approx([score_slowly(rows[:n], 2)[place] for n in range(5, 41, 5)])
        windows = [score_slowly(rows[max(0, n - 7) : n], 2)[place] for n in range(5, 41, 5)]
        assert np.array(curve.windowed, float) == pytest.approx(windows, nan_ok=True)
        assert final[name] == pytest.approx(score_slowly(rows, 2)[place])


def test_a_stream_cut_short_has_the_score_of_all_rows_met_and_the_checkpoints_reached():
    scored, plan = draw(5), plan_curves([40], 4, 5)
    rows = list(zip(scored.Y, scored.predictions.decided, scored.predictions.proba, scored.mask, strict=True))
    final, curves = feed(scored, plan, [10, 13]).finish()
    assert final["ba_macro"] == pytest.approx(score_slowly(rows[:23], 2)[0])
    assert curves["ba_macro"].n_rows == [10, 20]
    assert feed(scored, plan, [4]).finish()[1] == {}
    assert PrequentialScorer(plan, 2, "skip").finish() == ({}, {})


def test_a_score_that_is_not_defined_yet_is_null():
    scored = draw(6)
    scored = scored._replace(Y=np.where(np.arange(40)[:, None] < 10, 0, scored.Y).astype(np.uint8))
    curve = feed(scored, plan_curves([40], 4, 10), [40]).finish()[1]["ba_macro"]
    assert curve.cumulative[0] is curve.windowed[0] is None
    assert None not in curve.cumulative[1:]


def of_prefixes(scored, k):
    """Score every prefix from nothing, by the slow protocol; average what is defined."""
    rows = list(zip(scored.Y, scored.predictions.decided, scored.predictions.proba, scored.mask, strict=True))
    scores = np.array([score_slowly(rows[:n], k) for n in range(1, len(rows) + 1)])
    return dict(zip(ANYTIME, np.nanmean(scores, axis=0), strict=True))


@pytest.mark.slow
@given(st.integers(0, 200))
def test_the_scores_are_means_over_all_prefixes(seed):
    scored = draw(seed, n_rows=15)
    anytime = AnytimeScores(2, "skip")
    anytime.add(scored)
    assert anytime.finish() == pytest.approx(of_prefixes(scored, 2))


@pytest.mark.slow
@given(st.sets(st.integers(1, 39)), st.integers(1, 60), st.integers(1, 50))
def test_neither_chunks_nor_checkpoints_nor_windows_change_a_bit(cuts, n_checkpoints, window):
    scored, plans = draw(3), [plan_curves([15, 25], n_checkpoints, window), plan_curves([40], 1, None)]
    found = []
    for plan, edges in zip(plans, ([0, *sorted(cuts), 40], [0, 40]), strict=True):
        scorer = PrequentialScorer(plan, 2, "skip")
        for start, stop in pairwise(edges):
            scorer.add(scored.rows(start, stop))
        found.append({name: scorer.finish()[0][name] for name in ANYTIME})
    assert found[0] == found[1]


def test_long_streams_are_read_in_blocks(monkeypatch):
    whole, blocks = AnytimeScores(2, "recall"), AnytimeScores(2, "recall")
    whole.add(draw(5))
    monkeypatch.setattr("mlstream.evaluation.prequential._CELLS_PER_BLOCK", 35)
    blocks.add(draw(5))
    assert blocks.finish() == whole.finish()


def test_rows_in_which_nothing_counts_leave_the_scores_as_they_are():
    scored = draw(6, n_rows=10)
    nothing = scored._replace(mask=np.zeros((10, 5), bool))
    anytime = AnytimeScores(2, "recall")
    anytime.add(nothing)
    assert all(np.isnan(value) for value in anytime.finish().values())
    anytime.add(scored)
    before = anytime.finish()
    anytime.add(nothing)
    rows = list(zip(scored.Y, *scored.predictions[:2], scored.mask, strict=True))
    last = dict(zip(ANYTIME, score_slowly(rows, 2), strict=True))
    last["ba_macro_anytime"] = ba_macro(scored.Y, scored.predictions[0], label_mask=scored.mask, one_class="recall")
    for name, score in anytime.finish().items():
        assert score == pytest.approx((before[name] + last[name]) / 2)


def test_rows_with_too_few_labels_for_a_ranking_leave_its_score_as_it_is():
    scored = draw(6, n_rows=10)
    anytime = AnytimeScores(2, "recall")
    anytime.add(scored)
    before = anytime.finish()
    anytime.add(scored._replace(mask=np.tile(np.arange(5) == 4, (10, 1))))
    precision = score_slowly(list(zip(scored.Y, *scored.predictions[:2], scored.mask, strict=True)), 2)[2]
    found = anytime.finish()
    assert found["precision_at_k_anytime"] == pytest.approx((before["precision_at_k_anytime"] + precision) / 2)
    assert found["rmse_anytime"] != before["rmse_anytime"]


def count(scored, cuts):
    predictor = NoChangePredictor(5)
    pieces = [scored.rows(a, b) for a, b in pairwise(cuts)]
    return NoChangeSums([count_mistakes(piece, predictor.repeat(piece)) for piece in pieces])


def sticky(seed):
    """Draw rows whose labels persist."""
    scored = draw(seed)
    kept = np.maximum.accumulate(np.where(np.random.default_rng(seed).random(40) < 0.3, np.arange(40), 0))
    return scored._replace(Y=scored.Y[kept])


@given(st.integers(0, 500), st.sets(st.integers(1, 39)))
def test_scores_of_a_stream_are_those_of_the_metrics(seed, inner):
    scored = sticky(seed)
    found = count(scored, [0, *sorted(inner), 40]).between([0], [40])
    rows, mask = (scored.Y, scored.predictions.decided), scored.mask
    assert found["kappa_temporal"][0] == pytest.approx(kappa_temporal(*rows, label_mask=mask))
    macro = kappa_temporal(*rows, label_mask=mask, average="macro")
    assert found["kappa_temporal_macro"][0] == pytest.approx(macro, nan_ok=True)
    repeated = subset_accuracy(scored.Y, no_change_predictions(scored.Y, label_mask=mask), label_mask=mask)
    assert found["no_change_subset_accuracy"][0] == pytest.approx(repeated)


@given(st.integers(0, 500), st.sets(st.integers(1, 39), min_size=2, max_size=2))
def test_a_stretch_repeats_the_labels_of_the_rows_before_it(seed, inner):
    scored, (a, b) = sticky(seed), sorted(inner)
    found = count(scored, [0, a, b, 40]).between([a], [b])
    last, mistakes, of_no_change, n = [0] * 5, 0, 0, 0
    for i in range(b):
        cells = [j for j in range(5) if scored.mask[i, j]]
        if i >= a and cells:
            n += 1
            mistakes += any(scored.predictions.decided[i, j] != scored.Y[i, j] for j in cells)
            of_no_change += any(last[j] != scored.Y[i, j] for j in cells)
        for j in cells:
            last[j] = scored.Y[i, j]
    expected = 1 - mistakes / of_no_change if of_no_change else math.nan
    assert found["kappa_temporal"][0] == pytest.approx(expected, nan_ok=True)
    assert found["no_change_subset_accuracy"][0] == pytest.approx(1 - of_no_change / n)


def test_repeating_gains_nothing_and_the_truth_gains_everything():
    scored = sticky(1)._replace(mask=np.ones(5, bool))
    repeated = no_change_predictions(scored.Y)
    for decided, gain in ((repeated, 0), (scored.Y, 1)):
        found = count(scored._replace(predictions=Predictions(decided, decided.astype(float))), [0, 7, 40])
        assert found.between([0, 7], [40, 40])["kappa_temporal"].tolist() == [gain, gain]


def test_where_nothing_changes_nothing_can_be_gained():
    wrong = Predictions(np.ones((4, 5), np.uint8), np.ones((4, 5)))
    still = Scored(np.zeros((4, 5), np.uint8), wrong, np.ones(5, bool))
    found = count(still, [0, 4]).between([0], [4])
    assert np.isnan(found["kappa_temporal"][0])
    assert np.isnan(found["kappa_temporal_macro"][0])
    assert found["no_change_subset_accuracy"][0] == 1


def test_a_record_holds_the_gain_over_the_last_labels():
    stream = make_stream()
    result = evaluate(Online(), stream, label_space="all", energy="none")
    Y = np.concatenate([experience.Y for experience in stream])
    repeated = no_change_predictions(Y)
    assert result.scores["no_change_subset_accuracy"] == pytest.approx(subset_accuracy(Y, repeated))
    assert result.curves["kappa_temporal"].cumulative[-1] == result.scores["kappa_temporal"]
    last = evaluate(LastLabelsClassifier(), stream, label_space="all", energy="none")
    assert (last.scores["kappa_temporal"], last.scores["kappa_temporal_macro"]) == (0, 0)
