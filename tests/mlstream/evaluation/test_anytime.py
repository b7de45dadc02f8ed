"""Any-time scores are means over all prefixes of a stream, however it is cut."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import ba_macro
from mlstream.evaluation.anytime import AnytimeScores
from mlstream.evaluation.prequential import PrequentialScorer, plan_curves
from tests.mlstream.evaluation.slow import score_slowly
from tests.mlstream.evaluation.test_scoring import draw

NAMES = ("ba_macro_anytime", "rmse_anytime", "precision_at_k_anytime")


def of_prefixes(scored, k):
    """Score every prefix from nothing, by the slow protocol; average what is defined."""
    rows = list(zip(scored.Y, scored.predictions.decided, scored.predictions.proba, scored.mask, strict=True))
    scores = np.array([score_slowly(rows[:n], k) for n in range(1, len(rows) + 1)])
    return dict(zip(NAMES, np.nanmean(scores, axis=0), strict=True))


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
        found.append({name: scorer.finish()[0][name] for name in NAMES})
    assert found[0] == found[1]


def test_long_streams_are_read_in_blocks(monkeypatch):
    whole, blocks = AnytimeScores(2, "recall"), AnytimeScores(2, "recall")
    whole.add(draw(5))
    monkeypatch.setattr("mlstream.evaluation.anytime._CELLS_PER_BLOCK", 35)
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
    rows = list(zip(scored.Y, *scored.predictions, scored.mask, strict=True))
    last = dict(zip(NAMES, score_slowly(rows, 2), strict=True))
    last["ba_macro_anytime"] = ba_macro(scored.Y, scored.predictions[0], label_mask=scored.mask, one_class="recall")
    for name, score in anytime.finish().items():
        assert score == pytest.approx((before[name] + last[name]) / 2)


def test_rows_with_too_few_labels_for_a_ranking_leave_its_score_as_it_is():
    scored = draw(6, n_rows=10)
    anytime = AnytimeScores(2, "recall")
    anytime.add(scored)
    before = anytime.finish()
    anytime.add(scored._replace(mask=np.tile(np.arange(5) == 4, (10, 1))))
    precision = score_slowly(list(zip(scored.Y, *scored.predictions, scored.mask, strict=True)), 2)[2]
    found = anytime.finish()
    assert found["precision_at_k_anytime"] == pytest.approx((before["precision_at_k_anytime"] + precision) / 2)
    assert found["rmse_anytime"] != before["rmse_anytime"]
