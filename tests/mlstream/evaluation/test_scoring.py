"""Scores from sums are the scores of the rows, of any stretch of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import ba_macro, precision_at_k, rmse
from mlstream.evaluation.predictions import Predictions
from mlstream.evaluation.scoring import CumulativeSums, Scored, join_scored, score_tallies, tally
from tests.mlstream.evaluation.slow import score_slowly


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
