"""Detectors by name: every one is listed, and what is wrong is refused."""

import re

import numpy as np
import pytest

import estimators.drift
from estimators.detectors import DETECTORS, make_detector
from estimators.drift import HDDMA, DriftDetector, LabelDrift


def test_every_detector_has_its_name():
    classes = {one for one in estimators.drift.__all__ if isinstance(getattr(estimators.drift, one), type)}
    assert set(DETECTORS) == classes - {DriftDetector.__name__}
    assert {name: type(make_detector(name)).__name__ for name in DETECTORS} == {name: name for name in DETECTORS}


def test_parameters_are_passed_and_those_of_a_detector_inside_named():
    assert make_detector("ADWIN", delta=0.1).delta == 0.1
    named = make_detector("LabelDrift", detector="HDDMA", correction=None)
    assert (type(named.detector), named.correction) == (HDDMA, None)
    errors = (np.random.default_rng(0).random((900, 3)) < np.repeat([0.1, 0.6], 450)[:, np.newaxis]).astype(float)
    expected = LabelDrift(HDDMA(), correction=None).update_many(errors)
    np.testing.assert_array_equal(named.update_many(errors), expected)
    assert expected.any()


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        (
            "ADWN",
            {},
            "one of ADWIN, DDM, EDDM, HDDMA, HDDMW, KSWIN, PageHinkley, LabelDrift, LabelSetDrift. Got 'ADWN'",
        ),
        ("ADWN", {}, "did you mean 'ADWIN'?"),
        (
            "DDM",
            {"delta": 1},
            "DDM must have parameters among drift_threshold, warm_start, warning_threshold. Got 'delta'",
        ),
        ("LabelDrift", {"detector": "DMM"}, "Got 'DMM' instead; did you mean 'DDM'?"),
    ],
)
def test_what_is_unknown_is_refused(name, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_detector(name, **parameters)
