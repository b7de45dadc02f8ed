"""Labels, and label sets, have the decisions of detectors of their own."""

import pickle
from itertools import product

import numpy as np
import pytest

from estimators.drift import ADWIN, DDM, HDDMA, HDDMW, KSWIN, LabelDrift, LabelSetDrift, PageHinkley
from tests.loops import check_all, in_two_tiers

DETECTORS = {
    "ADWIN": (ADWIN(), lambda share: ADWIN(delta=0.002 * share)),
    "HDDMA": (HDDMA(), lambda share: HDDMA(drift_confidence=0.001 * share, warning_confidence=0.005 * share)),
    "HDDMW": (HDDMW(), lambda share: HDDMW(drift_confidence=0.001 * share, warning_confidence=0.005 * share)),
    "KSWIN": (KSWIN(), lambda share: KSWIN(alpha=0.005 * share)),
}


@pytest.fixture(scope="module")
def table():
    """Errors of four labels, one of which gets worse and one better; a tenth is unknown, a tenth outside a mask."""
    rng = np.random.default_rng(0)
    chances = np.tile([0.1, 0.1, 0.6, 0.3], (3000, 1))
    chances[1500:, 1], chances[1500:, 2] = 0.7, 0.05
    values = (rng.random(chances.shape) < chances).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    mask = rng.random(values.shape) < 0.9
    mask[:, 0] |= ~mask.any(axis=1)  # a row without any label is no row
    return values, mask


def by_label(values, mask, make):
    """A loop of single detectors."""
    drifts = np.zeros(values.shape, dtype=bool)
    for label in range(values.shape[1]):
        detector = make(1 / values.shape[1])
        for row in range(len(values)):
            if mask[row, label] and not np.isnan(values[row, label]):
                drifts[row, label] = detector.update(values[row, label])
    return drifts


@pytest.mark.parametrize("name", DETECTORS)
def test_every_label_has_a_detector_of_its_share(name, table):
    values, mask = table
    detector, make = DETECTORS[name]
    expected = by_label(values, mask, make)
    assert expected.any()
    for size in (7, 1000):
        labels = LabelDrift(detector)
        chunks = [slice(start, start + size) for start in range(0, len(values), size)]
        drifts = [labels.update_many(values[rows], label_mask=mask[rows]) for rows in chunks]
        np.testing.assert_array_equal(np.concatenate(drifts), expected)
        np.testing.assert_array_equal(labels.n_drifts_, expected.sum(axis=0))


@pytest.mark.parametrize("detector", [DDM(), PageHinkley(threshold=10)])
def test_without_a_correction_labels_have_the_detector_itself(detector, table):
    values, mask = table
    expected = by_label(values, mask, lambda _: type(detector)(**detector.get_params()))
    assert expected.any()
    np.testing.assert_array_equal(LabelDrift(detector, correction=None).update_many(values, label_mask=mask), expected)


def test_rows_one_by_one_are_rows_together(table):
    values, mask = table
    labels, together = LabelDrift(HDDMA()), LabelDrift(HDDMA())
    drifts = [labels.update(row, label_mask=counted) for row, counted in zip(values, mask, strict=True)]
    np.testing.assert_array_equal(drifts, together.update_many(values, label_mask=mask))
    np.testing.assert_array_equal(labels.warning_, together.warning_)


def test_the_correction_keeps_false_alarms_of_many_labels_as_rare_as_those_of_one():
    values = (np.random.default_rng(0).random((2000, 200)) < 0.2).astype(float)
    alarms = {one: LabelDrift(HDDMA(), correction=one).update_many(values).sum() for one in ("bonferroni", None)}
    assert alarms["bonferroni"] == 0
    assert alarms[None] > 0


def test_saved_detectors_go_on_where_they_were(table):
    values, _ = table
    expected = LabelDrift().update_many(values)
    half = LabelDrift()
    half.update_many(values[:1400])
    again = pickle.loads(pickle.dumps(half))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.update_many(values[1400:]), expected[1400:])
    np.testing.assert_array_equal(half.reset().update_many(values), expected)


@pytest.mark.parametrize(
    ("labels", "values", "message"),
    [
        (
            LabelDrift(DDM()),
            [[0.0]],
            "correction must be None for DDM, which has no confidence to divide. Got 'bonferroni'",
        ),
        (LabelDrift(correction="holm"), [[0.0]], "correction must be 'bonferroni' or None. Got 'holm' instead."),
        (LabelDrift(), [0.0], "values must have shape (n_rows, n_labels). Got (1,) instead."),
        (LabelDrift(), np.zeros((1, 0)), "values must have at least one label. Got 0 instead."),
        (LabelDrift(HDDMA()), [[2.0]], "values must be from 0 to 1. Got 2 instead."),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(labels, values, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared
        labels.update_many(values)
    assert str(refused.value).startswith(message)
    assert not hasattr(labels, "n_labels_")


def test_the_number_of_labels_is_that_of_the_first_rows():
    labels = LabelDrift()
    labels.update_many(np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"values must have 2 labels, as at the first call\. Got 3 instead\."):
        labels.update_many(np.zeros((3, 3)))


def test_something_else_is_no_detector():
    with pytest.raises(TypeError, match=r"ADWIN, DDM, .* or PageHinkley\. Got str instead\."):
        LabelDrift("ADWIN").update([0.0])


@pytest.fixture(scope="module")
def rows():
    """Rows of five label sets; from the middle on, the learner loses one of them."""
    rng = np.random.default_rng(1)
    sets = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    places = rng.integers(0, 4, 4000)
    wrong = rng.random(4000) < np.where((places == 3) & (np.arange(4000) >= 2000), 0.8, 0.1)
    return wrong.astype(float), sets[places]


@in_two_tiers(product(DETECTORS, [1, 300, 4000]), n_fast=4)
def test_every_label_set_has_a_detector_of_its_share(cases, rows):
    def check(name, size):
        values, Y = rows
        detector, make = DETECTORS[name]
        if size == 1:
            values, Y = values[1500:2600], Y[1500:2600]
        detectors, expected = {}, []
        for value, labels in zip(values, map(tuple, Y.tolist()), strict=True):
            place = len(detectors) + 1
            expected.append(detectors.setdefault(labels, make(1 / (place * (place + 1)))).update(value))
        drift = LabelSetDrift(detector)
        chunks = [slice(start, start + size) for start in range(0, len(values), size)]
        found = np.concatenate([drift.update_many(values[rows], Y[rows]) for rows in chunks])
        assert found.tolist() == expected
        assert list(map(tuple, drift.label_sets_.tolist())) == list(detectors)
        assert drift.n_drifts_.sum() == sum(expected)
        assert set(map(tuple, Y[found].tolist())) == {(1, 1)}

    check_all(cases, lambda case: check(*case))


def test_label_sets_beyond_the_limit_are_not_watched(rows):
    values, Y = rows
    drift = LabelSetDrift(max_sets=2)
    found = drift.update_many(values, Y)
    assert drift.label_sets_.shape == (2, 2)
    watched = (Y[:, np.newaxis] == drift.label_sets_).all(axis=2).any(axis=1)
    assert not found[~watched].any()
    np.testing.assert_array_equal(LabelSetDrift().update_many(values, Y)[watched], found[watched])


def test_one_row_of_a_label_set(rows):
    values, Y = rows
    one, many = LabelSetDrift(HDDMA()), LabelSetDrift(HDDMA())
    drifts = [one.update(value, labels) for value, labels in zip(values, Y, strict=True)]
    assert drifts == many.update_many(values, Y).tolist()
    assert one.reset().update(values[0], Y[0]) is drifts[0]


@pytest.mark.parametrize(
    ("values", "Y", "message"),
    [
        ([0.0], [[0, 2]], "Y must hold 0 and 1 only. Got 2 instead."),
        ([0.0, 1.0], [[0, 1]], "Y must have shape (2, n_labels). Got (1, 2) instead."),
        ([np.nan], [[0, 1]], "values must be finite. Got nan instead."),
    ],
)
def test_wrong_rows_of_label_sets_are_refused(values, Y, message):
    drift = LabelSetDrift()
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared
        drift.update_many(values, Y)
    assert str(refused.value) == message
    assert not hasattr(drift, "label_sets_")
