"""Bad input is refused in one sentence that says what must be what, and what was got."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import metrics
from metrics.validation import check_number, require_choice, require_integer
from tests.loops import check_all

Y = np.array([[1, 0, 1], [0, 1, 1]])
S = np.array([[0.9, 0.2, 0.8], [0.1, 0.7, 0.6]])

DECISIONS: dict[str, Callable[..., Any]] = {
    name: getattr(metrics, name)
    for name in (
        *("ba_macro", "f1", "hamming_loss", "jaccard", "kappa_temporal", "label_counts", "pragma"),
        *("mcc", "precision", "pw_js", "recall", "subset_accuracy"),
    )
}
DECISIONS["refinement_recall"] = lambda y_true, y_pred, **kw: metrics.refinement_recall(y_true, y_pred, {0: 1}, **kw)
DECISIONS["refinement_jaccard"] = lambda y_true, y_pred, **kw: metrics.refinement_jaccard(y_true, y_pred, {0: 1}, **kw)
DECISIONS["fbeta"] = lambda y_true, y_pred, **kw: metrics.fbeta(y_true, y_pred, 2, **kw)
SCORES: dict[str, Callable[..., Any]] = {
    name: getattr(metrics, name)
    for name in (
        *("average_precision", "brier_score", "coverage", "expected_calibration_error", "lrap", "nce", "one_error"),
        *("ranking_loss", "rmse", "roc_auc"),
    )
}
AT_K = {
    name: getattr(metrics, name) for name in ("confident_accuracy_at_k", "ndcg_at_k", "precision_at_k", "recall_at_k")
}
SCORES |= {name: lambda y, s, metric=metric, **kw: metric(y, s, 1, **kw) for name, metric in AT_K.items()}

# A metric, and predictions or scores that fit Y.
LABEL_METRICS = {name: (metric, Y) for name, metric in DECISIONS.items()} | {
    name: (metric, S) for name, metric in SCORES.items()
}


def test_shapes_must_not_differ() -> None:
    def check(name: str) -> None:
        metric, other = LABEL_METRICS[name]
        with pytest.raises(ValueError, match=r"^y_\w+ must have the shape of y_true, \(2, 3\). Got \(1, 3\) instead"):
            metric(Y, other[:1])
        with pytest.raises(ValueError, match=r"must have the shape of y_true, \(2, 3\). Got \(2, 2\) instead"):
            metric(Y, other[:, :2])

    check_all(LABEL_METRICS, check)


def test_arrays_must_not_be_empty() -> None:
    def check(case: tuple[str, tuple[int, int]]) -> None:
        name, shape = case
        metric, _ = LABEL_METRICS[name]
        with pytest.raises(ValueError, match=r"^y_true must hold at least one sample and one label. Got shape"):
            metric(np.zeros(shape), np.zeros(shape))

    check_all(product(LABEL_METRICS, [(0, 3), (2, 0)]), check)


def test_true_labels_must_be_0_or_1() -> None:
    def check(case: tuple[str, float]) -> None:
        name, value = case
        metric, other = LABEL_METRICS[name]
        y_true = Y.astype(float if isinstance(value, float) else int)
        y_true[1, 2] = value
        with pytest.raises(ValueError, match=rf"^y_true must hold only 0 and 1. Got {value} in row 1, label 2 instead"):
            metric(y_true, other)

    check_all(product(LABEL_METRICS, [2, -1, 0.5, math.inf]), check)


def test_a_wrong_label_is_named_among_unknown_ones() -> None:
    y_true = Y.astype(float)
    y_true[0, 0], y_true[1, 2] = math.nan, 3

    def check(name: str) -> None:
        metric, other = LABEL_METRICS[name]
        with pytest.raises(ValueError, match=r"^y_true must hold only 0 and 1. Got 3.0 in row 1, label 2 instead"):
            metric(y_true, other)

    check_all(LABEL_METRICS, check)


def test_a_label_that_counts_must_be_known() -> None:
    def check(case: tuple[str, Any]) -> None:
        name, mask = case
        metric, other = LABEL_METRICS[name]
        with pytest.raises(
            ValueError, match=r"^y_true must hold a known label where label_mask is True. Got NaN everywhere"
        ):
            metric(np.full(Y.shape, np.nan), other, label_mask=mask)

    check_all(product(LABEL_METRICS, [None, [True, False, True]]), check)


HIDDEN = [[1, None, 1], [0, 1, 1]]
# Tables whose second cell is missing: pandas comes with River, Arrow is what Polars and others are read as.
MISSING: dict[str, Any] = {
    "None": HIDDEN,
    "masked": np.ma.masked_array(Y, mask=[[0, 1, 0], [0, 0, 0]]),
    "object": pd.DataFrame(HIDDEN, dtype=object),
    "arrow table": pa.table(dict(zip("abc", zip(*HIDDEN, strict=True), strict=True))),
    "one nullable column": pd.DataFrame(HIDDEN).astype({1: "Int64"}),
    "one category": pd.DataFrame(HIDDEN, dtype="Int64").astype({0: "int64", 1: "category", 2: "int64"}),
    **{str(name): pd.DataFrame(HIDDEN, dtype=name) for name in ("Int64", "UInt8", "Float64", "int64[pyarrow]")},
    **{name: pd.DataFrame(HIDDEN, dtype="boolean").astype(name) for name in ("boolean", "bool[pyarrow]")},
}


def test_missing_values_of_any_kind_are_unknown_labels() -> None:
    known = np.where(np.equal(HIDDEN, None), np.nan, Y)

    def check(case: tuple[str, str]) -> None:
        table, name = case
        metric, other = LABEL_METRICS[name]
        np.testing.assert_array_equal(metric(MISSING[table], other), metric(known, other))

    check_all(product(MISSING, ("hamming_loss", "kappa_temporal", "lrap", "roc_auc")), check)


def test_missing_predictions_and_scores_are_errors() -> None:
    def check(name: str) -> None:
        with pytest.raises(ValueError, match=r"y_pred must hold only 0 and 1. Got nan in row 0, label 1 instead"):
            metrics.f1(Y, MISSING[name])
        with pytest.raises(ValueError, match=r"y_score must hold finite numbers. Got nan in row 0, label 1 instead"):
            metrics.lrap(Y, MISSING[name])

    check_all(MISSING, check)


def test_nullable_frames_without_a_missing_value_are_tables_and_masks() -> None:
    def check(dtype: str) -> None:
        mask = pd.DataFrame(Y.astype(bool)).astype("boolean" if "pyarrow" not in dtype else "bool[pyarrow]")
        expected = metrics.hamming_loss(Y, 1 - Y, label_mask=Y.astype(bool))
        tables = [pd.DataFrame(table, dtype=dtype) for table in (Y, 1 - Y)]
        assert metrics.hamming_loss(*tables, label_mask=mask) == expected

    check_all(("Int64", "boolean", "Float64", "int64[pyarrow]"), check)


def test_words_and_masks_with_missing_cells_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^y_true must hold numbers or booleans. Got dtype object instead"):
        metrics.f1(pd.DataFrame([["1", "0", None]] * 2, dtype=object), Y)
    for mask in (pd.DataFrame([[True, None, True]] * 2, dtype="boolean"), [[True, None, True]] * 2):
        with pytest.raises(ValueError, match=r"^label_mask must be .* Got a missing value in row 0, label 1 instead"):
            metrics.f1(Y, Y, label_mask=mask)
    with pytest.raises(ValueError, match=r"^label_mask must be True or False. Got a missing value in label 1 instead"):
        metrics.f1(Y, Y, label_mask=np.ma.masked_array([True] * 3, mask=[False, True, False]))
    with pytest.raises(ValueError, match=r"^label_mask must be boolean. Got dtype object instead"):
        metrics.f1(Y, Y, label_mask=np.array([["no"] * 3] * 2, dtype=object))


def test_a_masked_score_of_R_is_not_measured() -> None:
    R = np.ma.masked_array([[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]], mask=[[1, 1], [0, 0], [0, 0]])
    assert metrics.acc(R) == 0.75
    with pytest.raises(ValueError, match=r"R must be finite in every cell that is used. Got nan in R\[0, 1\]"):
        metrics.fwt(R)


GAP = np.ma.masked_array([1, 2, 3, 4], mask=[False, True, False, False])
MATRIX = np.ma.masked_array([[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]])


@pytest.mark.parametrize("hidden", [GAP, [1, None, 3, 4], pd.Series([1, None, 3, 4], dtype="Int64")])
def test_missing_readings_are_not_defined(hidden: Any) -> None:
    seen = [10, 20, 30, 40]
    assert metrics.anytime_score(hidden) == pytest.approx(8 / 3)
    np.testing.assert_allclose(metrics.running_mean(hidden), [1, 1, 2, 8 / 3])
    assert metrics.area_under_curve(seen, hidden) == metrics.area_under_curve(seen, [1, 2, 3, 4])
    assert metrics.learning_speed(seen, hidden, 2).instances == 30
    assert metrics.transition_time(seen, hidden, 20) == 10


@pytest.mark.parametrize("hidden", [np.ma.masked_array([0.7, 0.9], mask=[True, False]), [None, 0.9]])
def test_missing_reference_scores_are_needed_or_left_out(hidden: Any) -> None:
    assert metrics.fwt(MATRIX, reference_scores=hidden) == pytest.approx(-0.1)
    with pytest.raises(ValueError, match=r"reference_scores must be finite .* Got nan for task 0"):
        metrics.intransigence(MATRIX, reference_scores=hidden, when="mean")
    assert metrics.intransigence(MATRIX, reference_scores=hidden, when="mean", undefined="skip") == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.acc(MATRIX, np.ma.masked_array([0, 1], [True, False])), "^order must be .* Got dtype float64"),
        (lambda: metrics.learning_speed(GAP, [1, 2, 3, 4], 2), "^instances must be 1-D, not empty and increasing"),
        (lambda: metrics.bayesian_signed_rank(GAP, [0.5] * 4), "^first and second must be finite"),
        (lambda: metrics.detection_scores(GAP, [], n_samples=9, max_delay=1), "^drifts must be whole numbers"),
        (lambda: metrics.detection_scores([], GAP, n_samples=9, max_delay=1), "^alarms must be whole numbers"),
        (lambda: metrics.frug(np.ma.masked, 1), "^acc must be a finite number"),
        (lambda: metrics.pragma(GAP, [1, 2, 3, 4]), "^y_true must be known in every row. Got missing values"),
        (lambda: metrics.pragma(["a", "b"], ["a", None]), "^y_pred must be known in every row. Got missing values"),
        (
            lambda: metrics.nce_by_environment([1, 0] * 2, [0.5] * 4, np.ma.masked_array([*"aabb"], [1, 0, 0, 0])),
            "^environment must be known in every row. Got missing values",
        ),
        (lambda: metrics.nce([1, 0], np.ma.masked_array([0.5, 0.5], [1, 0])), "^y_prob must hold finite numbers"),
    ],
)
def test_missing_values_are_errors_elsewhere(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("value", [None, {}, pd.NA, (row for row in [[1]])])
def test_what_is_no_table_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^y_true must hold numbers or booleans. Got dtype object instead"):
        metrics.f1(value, Y)
    with pytest.raises(ValueError, match=r"^y_score must hold numbers or booleans. Got dtype object instead"):
        metrics.lrap(Y, value)
    with pytest.raises(ValueError, match=r"^R must be .* Got dtype object and shape \(\)"):
        metrics.acc(value)


def test_predicted_labels_must_be_0_or_1() -> None:
    def check(case: tuple[str, float]) -> None:
        name, value = case
        y_pred = Y.astype(float if isinstance(value, float) else int)
        y_pred[0, 1] = value
        with pytest.raises(ValueError, match=rf"^y_pred must hold only 0 and 1. Got {value} in row 0, label 1 instead"):
            DECISIONS[name](Y, y_pred)

    check_all(product(DECISIONS, [2, -1, 0.5, math.nan]), check)


def test_scores_must_be_finite() -> None:
    def check(case: tuple[str, float, Any]) -> None:
        name, value, dtype = case
        y_score = S.astype(dtype)
        y_score[1, 0] = value
        with pytest.raises(
            ValueError, match=rf"^y_\w+ must hold finite numbers. Got {value} in row 1, label 0 instead"
        ):
            SCORES[name](Y, y_score)

    check_all(product(SCORES, [math.nan, math.inf, -math.inf], [np.float32, np.float64]), check)


@pytest.mark.parametrize("targets", [([1.0, math.nan], [1.0, 2.0]), ([1.0, 2.0], [1.0, math.nan])])
def test_a_class_must_be_known(targets: Any) -> None:
    with pytest.raises(ValueError, match=r"^y_\w+ must hold finite numbers. Got nan in row 1, label 0 instead"):
        metrics.pragma(*targets)


def test_k_must_be_a_number_of_labels() -> None:
    def check(case: tuple[str, Any]) -> None:
        name, k = case
        with pytest.raises(ValueError, match=rf"k must be an integer from 1 to n_labels = 3. Got {k!r} instead"):
            AT_K[name](Y, S, k)

    check_all(product(AT_K, [0, -1, 4, 1.5, True, "1", None]), check)


def test_numpy_integers_are_numbers_of_labels() -> None:
    assert metrics.precision_at_k(Y, S, np.int64(2)) == metrics.precision_at_k(Y, S, 2)


def test_a_mask_must_fit() -> None:
    wrong = [
        ([True, False], r"label_mask must have shape \(3,\) or \(2, 3\). Got \(2,\)"),
        ([[True, False, True]], r"label_mask must have shape \(3,\) or \(2, 3\). Got \(1, 3\)"),
        ([1, 0, 1], "label_mask must be boolean. Got dtype int64"),
        ([False, False, False], "label_mask must keep at least one label. Got a mask that is False everywhere"),
    ]

    def check(case: tuple[str, tuple[Any, str]]) -> None:
        name, (mask, message) = case
        metric, other = LABEL_METRICS[name]
        with pytest.raises(ValueError, match=message):
            metric(Y, other, label_mask=mask)

    check_all(product(LABEL_METRICS, wrong), check)


def test_a_table_must_be_a_table() -> None:
    wrong = [
        ([1, 0, 1], r"y_true must be 2-D, of shape \(n_samples, n_labels\). Got shape \(3,\)"),
        ([["1", "0"]], "y_true must hold numbers or booleans. Got dtype <U1"),
        (np.array([["1", 1]], dtype=object), "y_true must hold numbers or booleans. Got dtype object"),
        (sparse.csr_array((0, 3)), r"y_true must hold at least one sample and one label. Got shape \(0, 3\)"),
        (sparse.csr_array([[2, 0, 1], [0, 0, 1]]), "y_true must hold only 0 and 1. Got 2"),
    ]

    def check(case: tuple[str, tuple[Any, str]]) -> None:
        name, (y_true, message) = case
        metric, other = LABEL_METRICS[name]
        with pytest.raises(ValueError, match=message):
            metric(y_true, other)

    check_all(product(("ba_macro", "rmse"), wrong), check)


def test_scores_must_be_dense() -> None:
    with pytest.raises(ValueError, match=r"^y_score must be a dense array. Got a sparse csr_array"):
        metrics.rmse(Y, sparse.csr_array(S))


def test_probabilities_must_be_probabilities() -> None:
    with pytest.raises(ValueError, match=r"^y_prob must hold probabilities in \[0, 1\]. Got 1.5 in row 0, label 1"):
        metrics.confident_accuracy_at_k([[1, 0]], [[0.5, 1.5]], 1)


def test_a_bad_cell_far_down_is_named() -> None:
    y_true = np.zeros((200_000, 3))
    y_true[190_001, 2] = 7
    with pytest.raises(ValueError, match=r"^y_pred must hold only 0 and 1. Got 7.0 in row 190001, label 2"):
        metrics.hamming_loss(np.zeros((200_000, 3)), y_true)


@pytest.mark.parametrize("value", [0.5, 2, "warn", None])
def test_zero_division_must_be_one_of_three(value: Any) -> None:
    with pytest.raises(ValueError, match=r"zero_division must be 0, 1 or NaN. Got"):
        metrics.f1(Y, Y, zero_division=value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.ba_macro(Y, Y, one_class="drop"), "one_class must be one of 'skip', 'recall', 'river'"),
        (lambda: metrics.f1(Y, Y, average="weighted"), "average must be one of 'samples', 'micro', 'macro', None"),
        (lambda: metrics.acc([[0.5], [0.5]], [0], when="last"), "when must be one of 'final', 'mean', 'triangular'"),
        (
            lambda: metrics.intransigence([[0.5], [0.5]], [0], [0.5], when="last"),
            "^when must be one of 'final', 'mean'. Got 'last'",
        ),
        (lambda: metrics.fbeta(Y, Y, -1), r"beta must be a finite number in \[0, 1e\+100\]. Got -1 instead"),
        (lambda: metrics.one_error(Y, S, ties="first"), "ties must be one of 'expected', 'order'. Got 'first'"),
        (lambda: metrics.precision_at_k(Y, S, 2, ties="first"), "ties must be one of 'expected', 'order'. Got 'first'"),
        (lambda: metrics.bwt([[0.5], [0.5]], [0], reference=1), "reference must be one of 'last', 'first'. Got 1"),
        (
            lambda: metrics.fm([[0.5], [0.5]], [0], best_since="first"),
            "best_since must be one of 'first_visit', 'start'. Got 'first'",
        ),
    ],
)
def test_an_option_must_be_known(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_sparse_tables_with_explicit_zeros_and_duplicates_are_read_as_they_mean() -> None:
    explicit = sparse.csr_matrix((np.array([1, 0]), np.array([0, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert metrics.hamming_loss(explicit, [[1, 0], [0, 0]]) == 0.0
    twice = sparse.csr_matrix((np.array([1, 1]), np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 2))
    with pytest.raises(ValueError, match=r"^y_pred must hold only 0 and 1. Got 2"):
        metrics.hamming_loss([[1, 0], [0, 0]], twice)
    assert explicit.nnz == twice.nnz == 2


CONTINUAL = {name: getattr(metrics, name) for name in ("acc", "aia", "bwt", "fm", "fwt", "stepwise_transfer")}
CONTINUAL["intransigence"] = lambda R, order: metrics.intransigence(R, order, [0.5, 0.5])


def test_a_history_must_be_whole() -> None:
    wrong = [
        ([[0.5, 0.5]] * 4, [0, 1], r"R must have n_experiences \+ 1 = 3 rows, row 0 measured .* Got 4 rows"),
        ([[0.5, 0.5]] * 3, [0, 2], "order must name tasks 0 to 1, the columns of R. Got 2"),
        ([[0.5, 0.5]] * 3, [0, -1], "order must name tasks 0 to 1, the columns of R. Got -1"),
        ([[0.5, 0.5]] * 2, [[True, False]] * 2 + [[False, True]], r"R must have n_experiences \+ 1 = 4 rows"),
        ([[0.5, 0.5]] * 3, [[True], [True]], "order must have one column per task of R, 2. Got 1"),
        ([[0.5, 0.5]] * 3, [[True, False], [False, False]], "one task per experience. Got no task for experience 2"),
        ([[0.5, 0.5]] * 3, [], r"order must be .* Got dtype float64 and shape \(0,\)"),
        ([[0.5, 0.5]] * 3, [0.0, 1.0], "order must be .* Got dtype float64"),
        ([[0.5, 0.5]] * 3, [[0, 1], [1, 0]], r"order must be .* Got dtype int64 and shape \(2, 2\)"),
        ([0.5, 0.5, 0.5], [0, 1], r"R must be .* Got dtype float64 and shape \(3,\)"),
        ([], [0], r"R must be .* Got dtype float64 and shape \(0,\)"),
        ([["a", "b"]] * 3, [0, 1], "R must be .* Got dtype <U1"),
        ([[math.inf, math.nan]] * 3, [0, 1], "R must be finite in every cell that is used. Got"),
    ]

    def check(case: tuple[str, tuple[Any, Any, str]]) -> None:
        name, (R, order, message) = case
        with pytest.raises(ValueError, match=message):
            CONTINUAL[name](R, order)

    check_all(product(CONTINUAL, wrong), check)


@pytest.mark.parametrize("scores", [[0.5], [[0.5, 0.5]], ["a", "b"]])
def test_reference_scores_must_be_one_per_task(scores: Any) -> None:
    with pytest.raises(ValueError, match=r"reference_scores must be 2 numbers, one per task. Got dtype .* and shape"):
        metrics.fwt([[0.5, 0.5]] * 3, [0, 1], reference_scores=scores)


def test_a_missing_reference_score_is_named() -> None:
    with pytest.raises(ValueError, match=r"reference_scores must be finite .* Got nan for task 1"):
        metrics.fwt([[0.5, 0.5]] * 3, [0, 1], reference_scores=[0.5, math.nan])


def test_scores_may_be_unsigned_or_booleans() -> None:
    y_true, decided = np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0, 1, 1], [1, 0, 0]])

    def check(case: tuple[str, Any]) -> None:
        name, dtype = case
        assert SCORES[name](y_true, decided.astype(dtype)) == SCORES[name](y_true, decided.astype(np.float64))

    check_all(product(SCORES, [np.bool_, np.uint8]), check)


def test_a_bad_score_is_named() -> None:
    def check(name: str) -> None:
        with pytest.raises(ValueError, match=r"^y_\w+ must hold numbers or booleans. Got dtype <U1"):
            SCORES[name](Y, np.full(Y.shape, "a"))

    check_all(SCORES, check)


def test_a_bad_score_far_down_is_named() -> None:
    y_true, y_prob = np.zeros((2**19 + 5, 1)), np.zeros((2**19 + 5, 1))
    y_prob[-2] = 1.5
    with pytest.raises(ValueError, match=rf"^y_prob must hold probabilities .* Got 1.5 in row {2**19 + 3}, label 0"):
        metrics.confident_accuracy_at_k(y_true, y_prob, 1)
    y_prob[-2] = math.nan
    with pytest.raises(ValueError, match=rf"^y_score must hold finite numbers. Got nan in row {2**19 + 3}, label 0"):
        metrics.rmse(y_true, y_prob)


def test_the_smallest_number_is_not_0() -> None:
    with pytest.raises(ValueError, match=r"^y_true must hold only 0 and 1. Got 5e-324 in row 0, label 0"):
        metrics.hamming_loss([[5e-324]], [[0]])


def test_predictions_of_counts_by_row_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^y_pred must be 2-D"):
        metrics.counts_by_row(Y, Y[0])
    with pytest.raises(ValueError, match=r"^y_pred must hold only 0 and 1. Got 2 in row 0, label 0"):
        metrics.counts_by_row(Y, Y * 2)
    with pytest.raises(ValueError, match=r"^y_pred must hold only 0 and 1. Got 2"):
        metrics.counts_by_row(Y, sparse.csr_array(Y * 2))


@pytest.mark.parametrize("metric", [metrics.pragma, metrics.nce])
def test_sparse_targets_must_be_tables(metric: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"^y_true must hold at least one sample and one label. Got shape \(2,\)"):
        metric(sparse.csr_array([1, 0]), [0.5, 0.5])


def test_an_option_may_be_put_together() -> None:
    require_choice("".join(["fi", "nal"]), "when", ("final", "mean"))


@pytest.mark.parametrize("value", [1.5, True, "1"])
def test_an_integer_must_be_one(value: Any) -> None:
    with pytest.raises(ValueError, match=f"^n must be an integer of at least 1. Got {value!r} instead"):
        require_integer(value, "n", 1)


def test_what_takes_several_lines_is_shown_in_one() -> None:
    table = np.zeros((2, 2))
    calls: list[Callable[[], Any]] = [
        lambda: require_integer(table, "n", 1),
        lambda: require_choice(table, "when", ("final",)),
        lambda: check_number(table, "share"),  # type: ignore[arg-type]
        lambda: metrics.precision_at_k(Y, S, table),  # type: ignore[arg-type]
        lambda: metrics.f1(Y, Y, zero_division=table),  # type: ignore[arg-type]
        lambda: metrics.area_under_curve(table, [0.5, 0.5]),
        lambda: metrics.learning_speed([1, 2], [0.5, 0.5], 0.5, warm_up=table),  # type: ignore[arg-type]
        lambda: metrics.bayesian_signed_rank([1], [2], n_draws=table),  # type: ignore[arg-type]
        lambda: metrics.windowed_counts(metrics.label_counts(Y, Y), table),  # type: ignore[arg-type]
        lambda: metrics.nce([1, 0], [0.5, 0.5], eps=table),  # type: ignore[arg-type]
        lambda: metrics.pragma(Y, Y, importance=table),  # type: ignore[arg-type]
        lambda: metrics.pragma(Y, Y, compromise=table),  # type: ignore[arg-type]
        lambda: metrics.pragma_plane(table, 0.5),  # type: ignore[arg-type]
    ]

    def check(call: Callable[[], Any]) -> None:
        with pytest.raises(ValueError, match=r"^[^\n]* Got ndarray of shape \(2, 2\) instead\.$"):
            call()

    check_all(calls, check)
    with pytest.raises(ValueError, match=r"Got \[0, 0, .*\.\.\. instead"):
        require_integer([0] * 100, "n", 1)


BEYOND = 2**53 + 1


@pytest.mark.parametrize(
    "far",
    [
        *(np.full(Y.shape, BEYOND, dtype) for dtype in (np.int64, np.uint64, np.longdouble, object)),
        np.full(Y.shape, -BEYOND),
        [[2**70] * 3] * 2,
        pd.DataFrame(np.full(Y.shape, BEYOND)).astype("Int64"),
        pd.DataFrame(np.full(Y.shape, BEYOND)).astype({0: "Int64"}),
    ],
)
def test_scores_that_would_be_rounded_are_refused(far: Any) -> None:
    with pytest.raises(ValueError, match=r"^whole numbers must be at most 2\*\*53 .* Got -?\d+(\.0)? instead"):
        metrics.lrap(Y, far)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.longdouble, object, "Int64"])
def test_the_greatest_exact_score_is_read(dtype: Any) -> None:
    scores = pd.DataFrame(2**53 - Y).astype(dtype)
    assert metrics.lrap(Y, scores) == metrics.lrap(Y, -Y)


def test_numbers_of_single_precision_are_numbers() -> None:
    assert metrics.fbeta(Y, Y, np.float32(0.5)) == 1


def test_the_ends_of_an_interval_are_in_it() -> None:
    assert [check_number(value, "share", low=0.0, high=1.0) for value in (0, 1)] == [0, 1]


@pytest.mark.parametrize(
    ("R", "order", "message"),
    [
        ([[0.5]] * 3, [0], r"^R must have n_experiences \+ 1 = 2 rows"),
        (np.zeros((0, 2)), [0], r"^R must be a non-empty numeric array .* and shape \(0, 2\)"),
        ([[0.5, 0.5]] * 3, [[False, False], [True, False]], "^order must .* Got no task for experience 1 instead"),
    ],
)
def test_a_history_begins_with_its_first_row(R: Any, order: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.acc(R, order)
