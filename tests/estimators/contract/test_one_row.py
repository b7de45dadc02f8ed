"""One row per call: what the laws of `estimators/checks/_one_row_checks.py` do not reach."""

import threading
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from estimators import (
    BinaryRelevance,
    DivergedError,
    HoeffdingTreeClassifier,
    LastLabelsClassifier,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    make_strategy,
)
from estimators.checks._check_data import Fragile
from estimators.contract.base import StreamClassifier
from estimators.contract.row_codes import cast_features
from estimators.contract.targets import is_binary
from tests.loops import check_all

RNG = np.random.default_rng(0)
X = RNG.random((60, 5))
Y = (X[:, :3] + X[:, 2:] > 1).astype(int)


def test_classes_are_predicted_one_row_at_a_time() -> None:
    names = np.array(["cat", "dog", "emu"])[(3 * X[:, 0]).astype(int)]
    one, chunk = (
        HoeffdingTreeClassifier().partial_fit(X[:20], names[:20], classes=["cat", "dog", "emu"]) for _ in "ab"
    )
    for x, name in zip(X[20:], names[20:], strict=True):
        expected = chunk.predict_then_fit([x], [name])
        got = one.predict_then_fit_one(x, name)
        assert got[0] == expected[0][0]
        assert_array_equal(got[1], expected[1][0])


def test_new_labels_are_named_or_appended() -> None:
    one, chunk = (LastLabelsClassifier(on_new_labels="grow").partial_fit(X[:5], Y[:5]) for _ in "ab")
    wider = np.append(Y[5], 1)
    assert_array_equal(one.predict_then_fit_one(X[5], wider)[0], chunk.predict_then_fit(X[5:6], wider[None])[0][0])
    named = LastLabelsClassifier(on_new_labels="grow").partial_fit(X[:5], Y[:5], classes=["a", "b", "c"])
    named.predict_then_fit_one(X[5], [1, 0], ["d", "a"])
    assert named.label_names_ == ["a", "b", "c", "d"]
    assert named.last_[[3, 0]].tolist() == [1, 0]


def test_rows_with_names_and_unknown_labels_are_chunks_of_one() -> None:
    def check(name: str, columns: list[str], y: list[float]) -> None:
        options: dict[str, Any] = {} if name == "mean" else {"random_state": 0}
        one, chunk = (
            make_strategy(name, on_new_labels="grow", **options).partial_fit(X[:20], Y[:20], classes=["a", "b", "c"])
            for _ in range(2)
        )
        found = one.predict_then_fit_one(X[20], np.array(y), columns)
        expected = chunk.predict_then_fit(X[20:21], [y], columns)
        one.partial_fit_one(X[21], np.array(y), columns)
        chunk.partial_fit(X[21:22], [y], columns)
        assert_array_equal(found[1], expected[1][0])
        assert_array_equal(one.predict_proba(X), chunk.predict_proba(X))

    columns = [
        (["a", "b", "c"], [1, np.nan, 0]),
        (["c", "a"], [1, 0]),
        (["b"], [np.nan]),
        (["c", "new", "a"], [0, 1, 1]),
        (["a", "b", "c"], [np.nan, np.nan, np.nan]),
    ]
    check_all(product(["mean", "StreamRidge", "BR_HT"], columns), lambda case: check(case[0], *case[1]))


def test_wrong_names_are_refused_as_in_chunks_and_change_nothing() -> None:
    def check(columns: list[str], y: list[float]) -> None:
        learner = LastLabelsClassifier(on_new_labels="grow").partial_fit(X, Y, classes=["a", "b", "c"])
        before = learner.predict(X)
        with pytest.raises(ValueError, match=r"must") as chunk:
            learner.partial_fit(X[:1], [y], columns)
        for call in (learner.predict_then_fit_one, learner.partial_fit_one):
            with pytest.raises(ValueError, match=r"must") as one:
                call(X[0], np.array(y), columns)
            assert str(one.value) == str(chunk.value)
        assert_array_equal(learner.predict(X), before)

    check_all(
        [(["a", "a"], [1, 0]), (["a"], [1, 0]), (["a", "b"], [1, 2]), (["a", "d", "d"], [1, 0, 0])], lambda c: check(*c)
    )


def test_first_row_announces_more_labels_than_it_has() -> None:
    learner = make_strategy("BR_HT")
    assert learner.predict_then_fit_one(X[0], Y[0], 5)[0].shape == (5,)
    assert learner.predict_then_fit_one(X[1], Y[1])[0].shape == (5,)


def test_names_of_columns_are_still_checked() -> None:
    learner = make_strategy("BR_HT").partial_fit(pd.DataFrame(X, columns=list("abcde")), Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        learner.predict_then_fit_one(X[0], Y[0])


def test_parameters_that_are_set_between_rows_count() -> None:
    rows = list(zip(X, Y, strict=True))
    one, chunk = (make_strategy("NN", random_state=0) for _ in "ab")
    for i, (x, y) in enumerate(rows):
        if i == 30:
            one.set_params(learning_rate=0.5)
            chunk.set_params(learning_rate=0.5)
        assert_array_equal(one.predict_then_fit_one(x, y)[1], chunk.predict_then_fit([x], [y])[1][0])
    with pytest.raises(ValueError, match="learning_rate must be"):
        one.set_params(learning_rate=-1).predict_then_fit_one(*rows[0])


def test_network_that_diverged_refuses_rows_until_it_starts_again() -> None:
    network = OnlineNeuralClassifier(learning_rate=1e17, optimizer="sgd", random_state=0).partial_fit(X[:1], Y[:1])
    with pytest.raises(DivergedError):
        learn_rows(network, 1e15 * X)
    with pytest.raises(DivergedError, match="has diverged"):
        network.predict_then_fit_one(X[0], Y[0])
    network.begin(X, Y).set_params(learning_rate=0.1).predict_then_fit_one(X[0], Y[0])


@pytest.mark.parametrize("value", [1e39, 1e200, -1e300])
def test_values_beyond_float32_are_refused_in_a_line_and_without_a_warning(value: float) -> None:
    network = make_strategy("NN").partial_fit(X, Y)
    before = network.predict_proba(X)
    with pytest.raises(ValueError, match="X must fit float32"):
        network.predict_then_fit_one(np.where(np.arange(5) == 1, value, X[0]), Y[0])
    assert_array_equal(network.predict_proba(X), before)


def test_great_values_are_no_reason_for_a_warning() -> None:
    def check(n_features: int, value: float) -> None:
        rows = RNG.random((60, n_features))
        learner = LastLabelsClassifier().partial_fit(rows, Y)
        learner.predict_then_fit_one(np.where(np.arange(n_features) % 2, value, rows[0]), Y[0])

    check_all(product([5, 100], [1e200, -1.7e308, 1e-320]), lambda case: check(*case))


def test_member_that_refuses_a_row_leaves_all_as_they_were() -> None:
    learner = BinaryRelevance(Fragile()).partial_fit(X, Y)
    before = learner.predict_proba(X)
    refused = np.where(np.arange(5) == 0, 9.0, X[0])
    with pytest.raises(ValueError, match="X must be small"):
        learner.predict_then_fit_one(refused, [0, 0, 1])
    assert_array_equal(learner.predict_proba(X), before)


def test_row_of_a_wide_table_is_checked_too() -> None:
    wide = RNG.random((3, 5000))
    learner = OnlineLogisticRegression().partial_fit(wide, Y[:3])
    twin = OnlineLogisticRegression().partial_fit(wide, Y[:3])
    assert_array_equal(learner.predict_then_fit_one(wide[0], Y[0])[1], twin.predict_then_fit(wide[:1], Y[:1])[1][0])
    wide[1, 4321] = np.inf
    with pytest.raises(ValueError, match=r"X must be finite. Got infinity \(inf\) at row 0, column 4321"):
        learner.predict_then_fit_one(wide[1], Y[1])


def test_many_labels_are_checked_too() -> None:
    many = np.tile(Y, 30)
    learner = LastLabelsClassifier().partial_fit(X, many)
    assert_array_equal(learner.predict_then_fit_one(X[0], many[0])[0], many[-1])
    many[1, 77] = 2
    with pytest.raises(ValueError, match="Got 2 at row 0, column 77"):
        learner.predict_then_fit_one(X[1], many[1])


# NumPy 2.5 will no longer compare them with numbers.
@pytest.mark.filterwarnings("ignore:The 'generic' unit for NumPy timedelta:DeprecationWarning")
def test_labels_of_other_kinds_are_refused_or_taken_as_in_chunks() -> None:
    def check(n_labels: int, kind: str) -> None:
        many = np.tile(Y, n_labels // 3)
        one, chunk = (LastLabelsClassifier().partial_fit(X, many) for _ in "ab")
        row = many[0].astype(kind)
        messages = []
        for call in (lambda: one.predict_then_fit_one(X[0], row), lambda: chunk.predict_then_fit(X[:1], row[None])):
            try:
                messages.append(str(call()[0].ravel()))
            except (ValueError, TypeError) as error:
                messages.append(str(error))
        assert messages[0] == messages[1]
        assert_array_equal(one.predict(X), chunk.predict(X))

    check_all(product([3, 90], ["complex", "timedelta64[s]", "datetime64[s]", "S1"]), lambda case: check(*case))


def test_several_rows_are_refused() -> None:
    def check(x: Any, y: Any, message: str) -> None:
        learner = LastLabelsClassifier().partial_fit(X, Y)
        with pytest.raises(ValueError, match=message):
            learner.predict_then_fit_one(x, y)

    check_all(
        [
            (X[:2], Y[0], r"x must be one row, without a second dimension. Got shape \(2, 5\) instead"),
            (X[0], Y[:2], r"y must be one row, without a second dimension. Got shape \(2, 3\) instead"),
            (X[0, 0], Y[0], r"x must be one row, an array of features\. Got a single value instead\.$"),
            (None, Y[0], r"x must be one row, an array of features\. Got None instead\.$"),
            ({"f0": 1.0}, Y[0], r"x must be one row, an array of features\. Got a dict instead\.$"),
            (X[0], None, r"y must be the labels of one row\. Got None instead; `predict` learns nothing\.$"),
            (X[0], 1, r"y must be the 3 labels of one row\. Got a single value instead\.$"),
        ],
        lambda case: check(*case),
    )


def test_words_and_complex_numbers_are_refused_in_a_line() -> None:
    def check(x: Any, message: str, n_rows: int) -> None:
        learner, same = LastLabelsClassifier(), LastLabelsClassifier()
        for row in range(n_rows):
            learner.predict_then_fit_one(X[row], Y[row])
            same.predict_then_fit_one(X[row], Y[row])
        for call in (lambda: learner.predict_then_fit_one(x, Y[0]), lambda: learner.partial_fit([x], Y[:1])):
            with pytest.raises(ValueError, match="X must") as caught:
                call()
            assert str(caught.value) == message
        if n_rows:
            assert_array_equal(learner.predict(X[:1]), same.predict(X[:1]))
        else:
            assert not hasattr(learner, "n_features_in_")

    check_all(
        product(
            [
                (np.array(list("abcde")), "X must hold numbers. Got 'a' instead; encode words as numbers first."),
                (
                    np.array([1, "tcp", 2, 3, 4], dtype=object),
                    "X must hold numbers. Got 'tcp' instead; encode words as numbers first.",
                ),
                (X[0] + 1j, "Complex data not supported: X must hold real numbers."),
            ],
            [0, 3],
        ),
        lambda case: check(*case[0], case[1]),
    )


def test_what_is_returned_is_not_changed_by_later_rows() -> None:
    for name in ("BR_HT", "CC_HT", "LC_HT", "NN", "BR_LR", "last_class", "iSOUPtree"):
        learner = make_strategy(name)
        found = [learner.predict_then_fit_one(x, y) for x, y in zip(X, Y, strict=True)]
        kept = [tuple(map(np.copy, one)) for one in found]
        learner.predict_then_fit(X, Y)
        for one, copy in zip(found, kept, strict=True):
            assert_array_equal(one[0], copy[0])
            assert_array_equal(one[1], copy[1])


class Counting(StreamClassifier):
    """Count rows, slowly enough for another thread to come between."""

    def _start(self) -> None:
        self._n = 0

    def _learn(self, X: Any, Y: Any, mask: Any, weight: Any) -> None:
        n = self._n
        sum(range(2000))
        self._n = n + 1

    def _predict_proba(self, X: Any) -> Any:
        return np.zeros((X.shape[0], self.n_labels_))


def test_rows_of_several_threads_come_one_after_another() -> None:
    learner = Counting().partial_fit(X, Y)
    threads = [threading.Thread(target=learn_rows, args=(learner, X)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner._n == 1 + 4 * len(X)


def learn_rows(learner: Any, rows: Any) -> None:
    """Learn rows one by one."""
    for x, y in zip(rows, Y, strict=True):
        learner.predict_then_fit_one(x, y)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_values_fit_float32_or_are_refused(values: list[float]) -> None:
    array = np.array(values)
    with np.errstate(over="ignore"):
        slowly = np.array([np.float32(value) for value in values])
    if np.isfinite(slowly).all():
        assert_array_equal(cast_features(array, np.float32), slowly)
    else:
        with pytest.raises(ValueError, match="X must fit float32"):
            cast_features(array, np.float32)


@given(
    st.lists(st.one_of(st.integers(-3, 300), st.sampled_from([0, 1])), min_size=1, max_size=80),
    st.sampled_from(["int64", "int32", "float32", "float64", "uint16"]),
)
def test_zeros_and_ones_are_told_from_other_values(values: list[int], dtype: str) -> None:
    array = np.array(values).astype(dtype)
    assert is_binary(array) == all(value in {0, 1} for value in array.tolist())
    assert is_binary(np.tile(array, 2)[::2]) == all(value in {0, 1} for value in np.tile(array, 2)[::2].tolist())
