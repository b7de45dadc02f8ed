"""Checkpoints are spread over the stream, and curves do not depend on how rows come."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.evaluation.prequential import PrequentialScorer, plan_curves
from mlstream.evaluation.scoring import CORE_METRICS
from tests.mlstream.evaluation.slow import score_slowly
from tests.mlstream.evaluation.test_scoring import draw


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
