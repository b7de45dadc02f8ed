"""NaN in Y is an unknown label: the contract of the base, on learners of a few lines."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from estimators import (
    DivergedError,
    MultilabelStratifiedKFold,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PragmaTreeClassifier,
)
from estimators._kernels.label_codes import UNKNOWN
from estimators.contract.base import StreamClassifier
from estimators.contract.targets import as_table, make_target
from tests.estimators.learners import Logistic, Refusing
from tests.loops import check_all


class Strict(Logistic):
    """Checks what reaches the hook."""

    def _learn(self, X, Y, mask, weight):
        assert Y.dtype == np.uint8
        assert mask is None or self.uses_task
        assert (Y != UNKNOWN).all() if self.uses_task else (Y != UNKNOWN).any(axis=1).all()
        super()._learn(X, Y, mask, weight)


class LateRefusal(Strict):
    """Refuses, after learning the others, a chunk with a row whose first feature is large."""

    def _learn(self, X, Y, mask, weight):
        super()._learn(X, Y, mask, weight)
        if (X[:, 0] > 5).any():
            raise ValueError("X must be small")


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    Y = (X > 0.2).astype(float)
    Y[rng.random(Y.shape) < 0.4] = np.nan
    Y[[0, 7, 8, 59]] = np.nan
    return X, Y


def logistic_by_hand(X, Y, counts, rate=0.5):
    """One model per label, which learns the rows that count for it, in plain loops; the probabilities of each row."""
    coef, proba = np.zeros((4, Y.shape[1])), np.zeros(Y.shape)
    for i, row in enumerate(X):
        for k in range(Y.shape[1]):
            proba[i, k] = 1 / (1 + np.exp(-(row @ coef[:3, k] + coef[3, k])))
        for k in range(Y.shape[1]):
            if counts[i, k]:
                coef[:3, k] -= rate * (proba[i, k] - Y[i, k]) * row
                coef[3, k] -= rate * (proba[i, k] - Y[i, k])
    return coef, proba


@pytest.mark.parametrize("given", [np.asarray, lambda Y: Y.astype(np.float32), sparse.csr_array, list])
def test_only_known_cells_are_learnt(data, given):
    X, Y = data
    expected, predicted = logistic_by_hand(X, Y, ~np.isnan(Y))
    assert Strict().partial_fit(X, given(Y)).coef_ == pytest.approx(expected, abs=1e-12)
    assert Strict().fit(X, given(Y)).coef_ == pytest.approx(expected, abs=1e-12)
    _, proba = Strict().predict_then_fit(X, given(Y))
    assert proba == pytest.approx(predicted, abs=1e-12)


def test_of_a_learner_that_uses_the_task_unknown_cells_are_outside_the_mask(data):
    X, Y = data
    mask = np.random.default_rng(5).random(Y.shape) < 0.7
    mask[~mask.any(axis=1)] = True
    expected, predicted = logistic_by_hand(X, Y, mask & ~np.isnan(Y))
    learner = Strict(targeted=True)
    _, proba = learner.predict_then_fit(X, Y, label_mask=mask)
    assert learner.coef_ == pytest.approx(expected, abs=1e-12)
    assert proba == pytest.approx(predicted, abs=1e-12)
    assert np.array_equal(Logistic(targeted=True).partial_fit(X, Y, label_mask=mask).coef_, learner.coef_)


def test_unknown_cells_equal_masked_cells_to_the_last_bit(data):
    X, Y = data
    rows = ~np.isnan(Y).all(axis=1)
    X, Y = X[rows], Y[rows]
    masked = Strict(targeted=True).partial_fit(X, np.nan_to_num(Y), label_mask=~np.isnan(Y))
    assert np.array_equal(masked.coef_, Strict(targeted=True).partial_fit(X, Y).coef_)


def test_the_mask_has_no_effect_on_a_learner_that_does_not_use_it(data):
    X, Y = data
    one = Strict().partial_fit(X, Y)
    two = Strict().partial_fit(X, Y, label_mask=[True, False, False])
    assert np.array_equal(one.coef_, two.coef_)


def test_test_then_train_is_the_loop_however_it_is_cut(data):
    def check(size, learner):
        X, Y = data
        looped, rows = learner().begin(X, Y), []
        for i in range(60):
            rows.append(looped.predict_proba(X[i : i + 1]))
            looped.partial_fit(X[i : i + 1], Y[i : i + 1])
        cut = learner()
        proba = [cut.predict_then_fit(X[i : i + size], Y[i : i + size])[1] for i in range(0, 60, size)]
        assert np.array_equal(np.concatenate(rows), np.concatenate(proba))
        assert np.array_equal(looped.coef_, cut.coef_)

    check_all(product([1, 7, 60], [Strict, lambda: Strict(targeted=True)]), lambda case: check(*case))


def test_weights_stay_with_their_rows(data):
    X, Y = data
    weight = np.arange(60.0)
    kept = ~np.isnan(Y).all(axis=1)
    one = Strict().partial_fit(X, Y, sample_weight=weight)
    two = Strict().partial_fit(X[kept], Y[kept], sample_weight=weight[kept])
    assert np.array_equal(one.coef_, two.coef_)


def test_a_stream_may_begin_with_rows_of_which_nothing_is_known(data):
    X, Y = data
    learner = Strict().partial_fit(X[:5], np.full((5, 3), np.nan))
    assert (learner.predict_proba(X) == 0.5).all()
    assert np.array_equal(learner.partial_fit(X, Y).coef_, Strict().partial_fit(X, Y).coef_)


def test_a_learner_that_cannot_learn_unknown_labels_refuses_and_names_the_way_out(data):
    X, Y = data
    row, column = np.argwhere(np.isnan(Y) & ~np.isnan(Y).all(axis=1, keepdims=True))[0]
    learner = Refusing().partial_fit(X, np.nan_to_num(Y))
    before = learner.coef_.copy()
    message = rf"that Refusing learns. Got NaN at row {row}, column {column} instead; BinaryRelevance\(Refusing"
    for call in (learner.partial_fit, learner.predict_then_fit, learner.fit):
        with pytest.raises(ValueError, match=message):
            call(X, Y)
    assert np.array_equal(before, learner.coef_)


def test_it_learns_the_rows_between_those_of_which_nothing_is_known(data):
    X, Y = data
    Y = np.nan_to_num(Y)
    holes = Y.copy()
    holes[[0, 5, 6, 59]] = np.nan
    kept = ~np.isnan(holes).any(axis=1)
    assert np.array_equal(Refusing().partial_fit(X, holes).coef_, Refusing().partial_fit(X[kept], Y[kept]).coef_)


def test_a_call_that_fails_between_unknown_rows_changes_nothing(data):
    X, Y = data
    learner = LateRefusal().partial_fit(X, Y)
    before = learner.coef_.copy()
    bad = X.copy()
    bad[50, 0] = 9
    with pytest.raises(ValueError, match="X must be small"):
        learner.predict_then_fit(bad, Y)
    assert np.array_equal(before, learner.coef_)


def test_a_network_refuses_features_before_it_learns_any_row_between_unknown_ones(data):
    X, Y = data
    learner = OnlineNeuralClassifier(targeted_loss="signature", random_state=0).partial_fit(X, Y)
    before = learner.predict_proba(X)
    bad = X.copy()
    bad[50, 0] = 1e300
    with pytest.raises(ValueError, match="X must fit float32") as failure:
        learner.predict_then_fit(bad, Y)
    assert not isinstance(failure.value, DivergedError)
    assert np.array_equal(before, learner.predict_proba(X))


@pytest.mark.parametrize(
    ("value", "message"),
    [(0.5, "with NaN where a label is unknown"), (np.inf, "infin|Got inf"), (2, "Got 2.0 at row 3, column 1")],
)
def test_other_numbers_are_refused_beside_nan(data, value, message):
    X, Y = data
    Y[3, 1] = value
    with pytest.raises(ValueError, match=message):
        Strict().partial_fit(X, Y)


def test_the_code_of_unknown_cells_is_no_public_value(data):
    X, _ = data
    with pytest.raises(ValueError, match="Got 2 at row 0"):
        Strict().partial_fit(X, np.full((60, 3), UNKNOWN, dtype=np.uint8))


def test_nan_among_classes_is_an_error(data):
    X, _ = data
    y = np.zeros(60)
    y[3] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        Strict().partial_fit(X, y)


def test_one_column_with_nan_is_a_table_of_one_label():
    assert make_target(np.array([[0.0], [np.nan], [1.0]])).multilabel
    assert make_target([[np.nan]]).width == 1


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_one_column_of_classes_with_nan_is_an_error():
    with pytest.raises(ValueError, match="Input y contains NaN"):
        make_target(np.array([[3.0], [np.nan], [1.0]]))


def test_announced_labels_that_come_later_are_absent_until_then():
    X, Y = np.ones((2, 1)), np.array([[1.0, np.nan], [np.nan, 1.0]])
    coef = Strict().partial_fit(X, Y, classes=3).coef_
    expected, _ = logistic_by_hand(
        np.hstack([X, np.zeros((2, 2))]), np.array([[1, 0, 0], [0, 1, 0]]), np.array([[1, 0, 1], [0, 1, 1]])
    )
    assert coef == pytest.approx(expected[[0, 3]])


def test_tables_and_codes_are_two_forms_of_one_thing(data):
    codes = make_target(data[1]).encode(data[1])
    assert codes.dtype == np.uint8
    table = as_table(codes)
    assert table.dtype == np.float32
    np.testing.assert_array_equal(table, data[1])
    assert as_table(codes[:0]) is not None
    known = np.where(codes == UNKNOWN, np.uint8(0), codes)
    assert as_table(known) is known


def test_the_default_is_to_refuse():
    assert StreamClassifier()._traits.learns_unknown is False


HOLES = [[1, None], [0, 1], [None, 0]]
FRAME = pd.DataFrame(HOLES, columns=["a", "b"], dtype="float64")
OBJECTS = FRAME.astype("Int64").astype(object)
FORMS = {
    **{dtype: FRAME.astype(dtype) for dtype in ("Int8", "boolean", "Float32", "float64", "category", object)},
    "one category": FRAME[:2].fillna({"a": 1}).astype("Int64").astype({"b": "category", "a": "int64"}),
    "None in lists": HOLES,
    "NA in a frame": OBJECTS,
    "NA in lists": OBJECTS.to_numpy().tolist(),
    "polars": pl.DataFrame(HOLES, schema=["a", "b"], orient="row"),
    "booleans of polars": pl.DataFrame(HOLES, schema=["a", "b"], orient="row").cast(pl.Boolean),
    **{
        f"masked {kind}": np.ma.array(FRAME.fillna(1).astype(kind), mask=FRAME.isna())
        for kind in ("bool", "int8", "float")
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_missing_values_are_unknown_labels_whatever_holds_them(form):
    Y = np.array(HOLES, dtype=float)[: len(FORMS[form])]
    X = np.eye(3)[: len(Y)]
    one, two = Strict().fit(X, FORMS[form]), Strict().fit(X, Y)
    assert np.array_equal(one.coef_, two.coef_)
    assert one.score(X, FORMS[form]) == two.score(X, Y)
    assert [test.tolist() for _, test in MultilabelStratifiedKFold(2).split(X, FORMS[form])] == [
        test.tolist() for _, test in MultilabelStratifiedKFold(2).split(X, Y)
    ]


def test_a_masked_label_of_one_row_is_unknown():
    x, hidden = np.ones(1), np.ma.array([1, 0], mask=[1, 0])
    one, two = (OnlineLogisticRegression().begin([[1.0]], [[0, 0]]) for _ in range(2))
    one.predict_then_fit_one(x, hidden)
    two.predict_then_fit_one(x, [np.nan, 0])
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("learner", [OnlineLogisticRegression(), PragmaTreeClassifier()])
def test_masked_features_and_classes_are_refused(learner):
    X, y, mask = np.eye(4), np.arange(4) % 2, np.arange(4) == 1
    with pytest.raises(ValueError, match=r"X must be finite|X contains NaN"):
        learner.fit(np.ma.array(X.astype(int), mask=np.eye(4)), y)
    with pytest.raises(ValueError, match="contains NaN"):
        learner.fit(X, np.ma.array(y, mask=mask))


@pytest.mark.parametrize("y", [["a", None], ["a", pd.NA], [0, None], pd.Series(["a", None]), pl.Series(["a", None])])
def test_a_row_without_a_class_is_an_error(y):
    with pytest.raises(ValueError, match="y must be finite, and have a class in every row"):
        OnlineLogisticRegression().fit(np.eye(2), y)
