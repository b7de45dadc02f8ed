"""Scores against the repetition of the last labels are those of `metrics`, however a stream is cut."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators import LastLabelsClassifier
from metrics import kappa_temporal, no_change_predictions, subset_accuracy
from mlstream import evaluate
from mlstream.evaluation.no_change import NoChangePredictor, NoChangeSums
from mlstream.evaluation.predictions import Predictions
from mlstream.evaluation.scoring import Scored
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.evaluation.test_scoring import draw


def count(scored, cuts):
    predictor = NoChangePredictor(5)
    return NoChangeSums([predictor.count_mistakes(scored.rows(a, b)) for a, b in pairwise(cuts)])


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
