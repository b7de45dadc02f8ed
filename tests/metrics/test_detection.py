"""Scores of drift detection, against the published example and CapyMOA; the table of laws has a loop."""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from metrics import detection_scores
from metrics.detection import match_alarms
from tests.strategies import detections

PEER = Path(sys.prefix) / "peers" / "capymoa" / "drift" / "eval_detector.py"


@pytest.mark.skipif(not PEER.exists(), reason="CapyMOA is not installed: `make test-full` installs it")
@given(detections())
@settings(deadline=None)
def test_scores_are_those_of_capymoa(case):
    (drifts, alarms), options = case
    n, delay, early = options.values()
    # its first episode starts after row 0, and episodes must not overlap
    drifts, alarms = drifts + 1, alarms[alarms > 0]
    for one in range(1, len(drifts)):
        drifts[one] = np.maximum(drifts[one], drifts[one - 1, 1] + delay + early + 1)
    drifts = np.maximum.accumulate(drifts.ravel()).reshape(-1, 2)
    n = int(max(n, drifts.max()))
    spec = importlib.util.spec_from_file_location("peer", PEER)
    module = sys.modules["peer"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    peer = module.EvaluateDriftDetector(max_delay=delay, max_early_detection=early)
    expected = peer.calc_performance(trues=drifts, preds=alarms, tot_n_instances=n)
    ours = detection_scores(drifts, alarms, n_samples=n, max_delay=delay, max_early=early)
    names = {"episode_recall": "detection_rate", "precision": "precision", "f1": "f1", "mdt": "mean_delay"}
    names |= {"ndt": "normalised_delay", "far": "false_alarms_per_1000", "tp": "n_hits", "fp": "n_false_alarms"}
    names |= {"recall": "recall", "ar": "alarms_per_1000"}
    for theirs, name in names.items():
        np.testing.assert_allclose(getattr(ours, name), getattr(expected, theirs), err_msg=name)


def test_the_published_example():
    scores = detection_scores([1000, 2000], [500, 1200, 1250, 2100], n_samples=200_000, max_delay=200)
    assert (scores.n_hits, scores.n_false_alarms, scores.n_missed) == (2, 2, 0)
    assert (scores.mean_delay, scores.normalised_delay, round(scores.f1, 3)) == (150, 0.75, 0.667)


def test_an_oracle_is_perfect():
    drifts = [[100, 150], [300, 300]]
    scores = detection_scores(drifts, [100, 300], n_samples=500, max_delay=10)
    assert scores[:6] == (1, 1, 1, 0, 0, 0)


def test_an_oracle_is_perfect_where_one_drift_follows_the_other():
    drifts = [[10, 30], [30, 30], [31, 60]]
    scores = detection_scores(drifts, [10, 30, 31], n_samples=100, max_delay=50)
    assert scores[:6] == (1, 1, 1, 0, 0, 0)


def test_without_drifts_only_rates_of_alarms_are_defined():
    scores = detection_scores([], [10, 400], n_samples=500, max_delay=50)
    assert np.isnan([scores.detection_rate, scores.recall, scores.precision, scores.f1, scores.mean_delay]).all()
    assert (scores.n_false_alarms, scores.n_missed, scores.false_alarms_per_1000) == (2, 0, 4)
    assert scores.normalised_time_between == 5


def test_silence_is_no_false_alarm():
    scores = detection_scores([100], [], n_samples=500, max_delay=50)
    assert (scores.recall, scores.f1, scores.false_alarms_per_1000, scores.alarms_per_1000) == (0, 0, 0, 0)
    assert np.isnan([scores.mean_delay, scores.normalised_time_between]).all()


@pytest.mark.parametrize(
    ("drifts", "alarms", "options", "message"),
    [
        ([[1, 2, 3]], [1], {}, "drifts must have shape (n_drifts,) or (n_drifts, 2). Got (1, 3) instead."),
        ([5, 3], [1], {}, "drifts must be in order. Got 3 after 5 instead."),
        ([5], [9, 8], {}, "alarms must be in order. Got 8 after 9 instead."),
        ([5], [11], {}, "alarms must be from 0 to n_samples = 10. Got 11 instead."),
        ([5], [0.5], {}, "alarms must be whole numbers, in one dimension. Got float64 of (1,) instead."),
        ([5], [1], {"max_delay": 0}, "max_delay must be"),
    ],
)
def test_what_is_wrong_is_refused(drifts, alarms, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        detection_scores(drifts, alarms, **{"n_samples": 10, "max_delay": 3, **options})


def test_alarms_without_a_drift_are_false() -> None:
    assert match_alarms([], [3, 4], n_samples=10, max_delay=5).tolist() == [-1, -1]
    assert match_alarms([10], [9, 16], n_samples=20, max_delay=5).tolist() == [-1, -1]
    assert detection_scores([10], [9, 16], n_samples=20, max_delay=5).n_hits == 0
    assert match_alarms([0], [1], n_samples=1, max_delay=1).tolist() == [0]


def test_unsigned_rows_do_not_wrap_around() -> None:
    drifts = np.array([1], np.uint8)
    assert match_alarms(drifts, [0], n_samples=10, max_delay=5, max_early=2).tolist() == [0]
    with pytest.raises(ValueError, match=r"^alarms must be in order. Got 3 after 5 instead"):
        match_alarms(drifts, np.array([5, 3], np.uint8), n_samples=10, max_delay=5)


@pytest.mark.parametrize(("name", "least"), [("n_samples", 1), ("max_delay", 1), ("max_early", 0)])
def test_numbers_that_are_too_small_are_named(name: str, least: int) -> None:
    numbers = {"n_samples": 10, "max_delay": 5, "max_early": 0} | {name: least - 1}
    with pytest.raises(ValueError, match=f"^{name} must be an integer of at least {least}. Got {least - 1} instead"):
        match_alarms([1], [2], **numbers)
