"""Detectors decide as River's do, value by value and in chunks."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import drift as river
from river.drift import binary
from sklearn.base import clone

from estimators.drift import ADWIN, DDM, EDDM, HDDMA, HDDMW, KSWIN, PageHinkley
from tests.loops import check_all

SPEED = {"drift_confidence": 0.05, "warning_confidence": 0.2}
PAIRS = {
    "ADWIN": (ADWIN(), river.ADWIN()),
    "ADWIN, eager": (ADWIN(delta=0.3), river.ADWIN(delta=0.3)),
    "DDM": (DDM(), binary.DDM()),
    "DDM, eager": (
        DDM(warm_start=5, warning_threshold=1.0, drift_threshold=1.5),
        binary.DDM(warm_start=5, warning_threshold=1.0, drift_threshold=1.5),
    ),
    "EDDM": (EDDM(), binary.EDDM()),
    "EDDM, eager": (EDDM(warm_start=5, alpha=1.0, beta=0.98), binary.EDDM(warm_start=5, alpha=1.0, beta=0.98)),
    "HDDMA": (HDDMA(), binary.HDDMA()),
    "HDDMA, two-sided": (HDDMA(two_sided_test=True, **SPEED), binary.HDDMA(two_sided_test=True, **SPEED)),
    "HDDMW": (HDDMW(), binary.HDDMW()),
    "HDDMW, two-sided": (
        HDDMW(lambda_val=0.2, two_sided_test=True, **SPEED),
        binary.HDDMW(lambda_val=0.2, two_sided_test=True, **SPEED),
    ),
    "PageHinkley": (PageHinkley(), river.PageHinkley()),
    "PageHinkley, up": (PageHinkley(mode="up", threshold=5.0), river.PageHinkley(mode="up", threshold=5.0)),
    "PageHinkley, down": (
        PageHinkley(mode="down", threshold=5.0, alpha=0.99, min_instances=3, delta=0.0),
        river.PageHinkley(mode="down", threshold=5.0, alpha=0.99, min_instances=3, delta=0.0),
    ),
}
WINDOWS = {
    "default": {},
    "a sample from a pool": {"window_size": 60, "stat_size": 30, "alpha": 0.05},
    "a sample drawn until it differs": {"window_size": 90, "stat_size": 5, "alpha": 0.2},
    "never": {"window_size": 10, "stat_size": 2, "alpha": 0.0001},
}
WARNS = [name for name in PAIRS if name.startswith(("DDM", "EDDM", "HDDM"))]


def errors(n, seed):
    """Errors whose probability jumps now and then, and creeps in between."""
    rng = np.random.default_rng(seed)
    jumps = np.repeat(rng.random(10), n // 10)
    return (rng.random(n) < 0.8 * jumps + 0.2 * np.linspace(0, 1, n)).astype(float)


def rivers(peer, values):
    peer, drifts, warnings = peer.clone(), [], []
    for value in values:
        peer.update(value)
        drifts.append(bool(peer.drift_detected))
        warnings.append(bool(getattr(peer, "warning_detected", False)))
    return drifts, warnings


def in_chunks(detector, values, size):
    return np.concatenate([detector.update_many(values[i : i + size]) for i in range(0, len(values), size)])


@pytest.mark.slow
def test_every_decision_is_rivers():
    def check(name):
        ours, peer = PAIRS[name]
        for seed in range(3):
            values = errors(4000, seed)
            expected = rivers(peer, values)[0]
            assert clone(ours).update_many(values).tolist() == expected
            assert any(expected)

    check_all(PAIRS, check)


def test_every_warning_is_rivers():
    def check(name):
        ours, peer = PAIRS[name]
        ours, values = clone(ours), errors(3000, 0)
        drifts, warnings = rivers(peer, values)
        # River leaves a warning standing beside a drift of the other side; a drift is no warning here
        expected = [warned and not drifted for drifted, warned in zip(drifts, warnings, strict=True)]
        seen = [ours.warning_ for value in values if [ours.update(value)]]
        assert seen == expected
        assert any(expected)

    check_all(WARNS, check)


@pytest.mark.slow
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_decide_as_rivers_with_the_same_samples(name):
    parameters = WINDOWS[name]
    rng = np.random.default_rng(0)
    values = rng.normal(size=1200) + np.repeat(rng.normal(size=6), 200)
    # ties, within and between both samples
    values = np.r_[values, np.round(values)]
    expected = rivers(river.KSWIN(seed=5, **parameters), values)[0]
    assert KSWIN(random_state=5, **parameters).update_many(values).tolist() == expected
    assert any(expected) == (name != "never")


@pytest.mark.parametrize("name", ["ADWIN", "PageHinkley, up"])
def test_numbers_of_any_range_are_compared_as_river_does(name):
    ours, peer = PAIRS[name]
    rng = np.random.default_rng(1)
    values = rng.normal(size=4000) * 30 + np.repeat(rng.normal(size=10) * 40, 400)
    assert clone(ours).update_many(values).tolist() == rivers(peer, values)[0]


@given(st.lists(st.booleans(), max_size=300), st.sampled_from([1, 7, 1000]), st.sampled_from(sorted(PAIRS)))
@settings(deadline=None, max_examples=60)
def test_chunks_do_not_matter(values, size, name):
    ours, peer = PAIRS[name]
    values = np.array(values, dtype=float)
    detector = clone(ours)
    drifts = in_chunks(detector, values, size) if len(values) else detector.update_many(values)
    assert drifts.tolist() == rivers(peer, values)[0]
    assert detector.n_values_ == len(values)


def test_a_saved_detector_goes_on_where_it_was():
    def check(detector):
        values, whole, half = errors(2000, 2), clone(detector), clone(detector)
        expected = whole.update_many(values)
        half.update_many(values[:999])
        again = pickle.loads(pickle.dumps(half))  # noqa: S301 - our own
        assert again.update_many(values[999:]).tolist() == expected[999:].tolist()
        assert whole.reset().update_many(values).tolist() == expected.tolist()

    check_all([*(ours for ours, _ in PAIRS.values()), KSWIN()], check)


def test_a_refused_value_changes_nothing():
    values, detector, other = errors(2000, 2), DDM(), DDM()
    detector.update_many(values[:1000])
    for wrong in (2, -0.5, np.nan):
        with pytest.raises(ValueError, match=r"values must be from 0 to 1\. Got"):
            detector.update_many([*values[1000:1500], wrong])
        with pytest.raises(ValueError, match=r"value must be from 0 to 1\. Got"):
            detector.update(wrong)
    assert detector.update_many(values[1000:]).tolist() == other.update_many(values)[1000:].tolist()


def test_a_complex_value_is_refused():
    with pytest.raises(ValueError, match=r"value must be a real number\. Got np\.complex128"):
        ADWIN().update(np.complex128(1j))


def test_what_is_wrong_is_refused_in_one_line():
    def check(detector, values, message):
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
            detector.update_many(values)
        assert str(refused.value) == message

    check_all(
        [
            (EDDM(), [0.5], "values must be 0 (right) or 1 (wrong). Got 0.5 instead."),
            (ADWIN(), [np.inf], "values must be finite. Got inf instead."),
            (ADWIN(), [1j], "values must be real numbers. Got complex numbers instead."),
            (ADWIN(), [[1.0]], "values must have shape (n_values,). Got (1, 1) instead."),
            (ADWIN(delta=0), [1.0], "delta must be a finite number above 0 and below 1. Got 0 instead."),
            (DDM(warm_start=1.5), [1.0], "warm_start must be a whole number, at least 0. Got 1.5 instead."),
            (EDDM(alpha=0.5), [1.0], "alpha must be at least beta = 0.9. Got 0.5 instead."),
            (
                HDDMA(drift_confidence=2),
                [1.0],
                "drift_confidence must be a finite number above 0 and below 1. Got 2 instead.",
            ),
            (HDDMW(lambda_val=1), [1.0], "lambda_val must be a finite number above 0 and below 1. Got 1 instead."),
            (KSWIN(window_size=50), [1.0], "window_size must be a whole number, at least 60. Got 50 instead."),
            (PageHinkley(mode="left"), [1.0], "mode must be one of up, down, both. Got 'left' instead."),
            (PageHinkley(delta=-1), [1.0], "delta must be a finite number, at least 0. Got -1 instead."),
        ],
        lambda case: check(*case),
    )
