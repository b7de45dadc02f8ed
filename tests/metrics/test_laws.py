"""Every public metric obeys the laws of its kind."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import metrics
from tests.loops import check_all
from tests.metrics.law_table import LABEL_ROWS, RESULT_TYPES, VALUE_ROWS, LabelRow, covered, scoring_labels
from tests.strategies import ANY, Kinds, LabelCase

TRUTH_ROWS = {name: row for name, row in LABEL_ROWS.items() if row.reads_truth}
DIRECTED_ROWS = {name: row for name, row in LABEL_ROWS.items() if row.better}
SYMMETRIC_ROWS = {name: row for name, row in LABEL_ROWS.items() if not row.by_column}
UNORDERED_ROWS = {name: row for name, row in LABEL_ROWS.items() if not row.in_order}
# These return a value per row, so that laws about the order of rows do not hold; their unknown cells have a test below.
BY_ROW = {name: row for name, row in VALUE_ROWS.items() if name.endswith("_by_row")}


def for_every(rows: Mapping[str, Any], **drawn: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """Make one test of a law: each row of the table draws its own examples, and all rows that break it are reported."""

    def make(law: Callable[..., None]) -> Any:
        def check(name: str) -> None:
            def obey(**examples: Any) -> None:
                law(rows[name], **examples)

            # Hypothesis draws the same examples for the same name.
            obey.__name__ = re.sub(r"\W+", "_", f"{law.__name__}_{name}")
            given(data=st.data(), **drawn)(obey)()

        def test() -> None:
            check_all(rows, check)

        return pytest.mark.hypothesis(test)

    return make


def numbers(result: Any) -> np.ndarray:
    """A result of any kind as an array."""
    if isinstance(result, dict):
        result = [result[key] for key in sorted(result)]
    return np.asarray(result, dtype=np.float64)


def same(first: Any, second: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(numbers(first), numbers(second), rtol=tolerance, atol=tolerance)


@cache  # to build a strategy takes longer than to draw from it
def cases_of(cases: Callable[..., Any], kinds: Kinds) -> Any:
    return cases(kinds)


def draw_case(data: st.DataObject, row: LabelRow, kinds: Kinds = ANY) -> tuple[LabelCase, dict[str, Any]]:
    return data.draw(cases_of(row.cases, kinds)), data.draw(st.sampled_from(row.variants))


def test_every_public_name_stands_in_the_table() -> None:
    assert covered() | RESULT_TYPES == set(metrics.__all__)


def test_every_metric_of_true_labels_obeys_the_laws_of_labels() -> None:
    tables = {name.split(" ")[0] for name in TRUTH_ROWS}
    assert scoring_labels() <= tables | BY_ROW.keys()


@for_every(LABEL_ROWS)
def test_equals_the_loop_oracle(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row)
    same(case.call(row.metric, **variant), case.call(row.oracle, **variant))


@for_every(VALUE_ROWS)
def test_value_equals_the_loop_oracle(row: Any, data: st.DataObject) -> None:
    args, options = data.draw(row.cases)
    same(row.metric(*args, **options), row.oracle(*args, **options), tolerance=1e-9)


@pytest.mark.slow
@for_every(LABEL_ROWS)
def test_stays_in_its_range(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row)
    result = numbers(case.call(row.metric, **variant))
    assert np.all(np.isnan(result) | ((result >= row.low - 1e-12) & (result <= row.high + 1e-12)))


@pytest.mark.slow
@for_every(VALUE_ROWS)
def test_value_stays_in_its_range(row: Any, data: st.DataObject) -> None:
    args, options = data.draw(row.cases)
    result = numbers(row.metric(*args, **options))
    assert np.all(np.isnan(result) | ((result >= row.low - 1e-9) & (result <= row.high + 1e-9)))


@pytest.mark.slow
@for_every(DIRECTED_ROWS)
def test_a_perfect_prediction_is_best(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row)
    truth = replace(case, other=case.y_true.astype(case.other.dtype))
    difference = row.better * (numbers(truth.call(row.metric, **variant)) - numbers(case.call(row.metric, **variant)))
    assert np.all(np.isnan(difference) | (difference >= -1e-12))


def assert_untouched(call: Callable[[], Any], arguments: Any) -> None:
    """Call with every array locked, and see that everything else is as it was."""
    before = repr(arguments)
    for value in arguments:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    call()
    assert repr(arguments) == before


@for_every(LABEL_ROWS)
def test_changes_no_input(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row)
    assert_untouched(
        lambda: case.call(row.metric, **variant), [case.y_true, case.other, case.mask, *case.extra, case.options]
    )


@for_every(VALUE_ROWS)
def test_value_changes_no_input(row: Any, data: st.DataObject) -> None:
    args, options = data.draw(row.cases)
    assert_untouched(lambda: row.metric(*args, **options), [*args, options])


@pytest.mark.slow
@for_every(UNORDERED_ROWS)
def test_order_of_samples_does_not_matter(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row)
    order = data.draw(st.permutations(range(len(case.y_true))))
    same(case.call(row.metric, **variant), case.rows(list(order)).call(row.metric, **variant))


@pytest.mark.slow
@for_every(SYMMETRIC_ROWS)
def test_order_of_labels_does_not_matter(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row)
    order = data.draw(st.permutations(range(case.y_true.shape[1])))
    result = numbers(case.call(row.metric, **variant))
    same(result[..., order] if row.per_label else result, case.columns(order).call(row.metric, **variant))


@pytest.mark.slow
@for_every(LABEL_ROWS, dtype=st.sampled_from([bool, np.int8, np.int64, np.uint16, np.float32, np.float64, ">i4", list]))
def test_types_of_numbers_are_alike(row: LabelRow, data: st.DataObject, dtype: Any) -> None:
    case, variant = draw_case(data, row)
    expected = case.call(row.metric, **variant)

    def convert(table: np.ndarray) -> Any:
        if table.dtype == np.float64:  # scores
            return table.astype(np.float32)
        return table.tolist() if dtype is list else table.astype(dtype)

    changed = replace(case, y_true=convert(case.y_true), other=convert(case.other))
    same(expected, changed.call(row.metric, **variant), tolerance=1e-6)


@for_every(LABEL_ROWS, kind=st.sampled_from([sparse.csr_array, sparse.csr_matrix]))
def test_sparse_labels_score_as_dense_ones(row: LabelRow, data: st.DataObject, kind: Any) -> None:
    case, variant = draw_case(data, row)
    changed = replace(case, y_true=kind(case.y_true))
    if case.other.dtype == np.uint8 and data.draw(st.booleans()):
        changed = replace(changed, other=kind(case.other))
    same(case.call(row.metric, **variant), changed.call(row.metric, **variant))


@pytest.mark.slow
@for_every(LABEL_ROWS)
def test_rows_without_a_label_follow_the_convention(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row)
    case.y_true[:1] = 0
    if case.other.dtype == np.uint8 and data.draw(st.booleans()):
        case.other[:1] = 0
    same(case.call(row.metric, **variant), case.call(row.oracle, **variant))


@pytest.mark.slow
@for_every(LABEL_ROWS)
def test_masked_cells_do_not_matter(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row, ("labels", "rows"))
    outside = ~np.broadcast_to(case.mask, case.y_true.shape)
    expected = case.call(row.metric, **variant)
    case.y_true[outside] = 1 - case.y_true[outside]
    case.other[outside] = 1 - case.other[outside]
    same(expected, case.call(row.metric, **variant))


@pytest.mark.slow
@for_every(LABEL_ROWS)
def test_a_mask_equals_deleting_columns(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row, ("labels",))
    kept = np.flatnonzero(case.mask)
    result = numbers(case.call(row.metric, **variant))
    without_mask = replace(case.columns(kept), mask=None)
    same(result[..., kept] if row.per_label else result, without_mask.call(row.metric, **variant))


@pytest.mark.slow
@for_every(LABEL_ROWS)
def test_a_mask_for_all_rows_equals_one_per_row(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row, ("labels",))
    repeated = replace(case, mask=np.tile(case.mask, (len(case.y_true), 1)))
    same(case.call(row.metric, **variant), repeated.call(row.metric, **variant))


def with_unknown(case: LabelCase, unknown: np.ndarray) -> LabelCase:
    """Hide these cells of the truth behind NaN, and count them again in the mask."""
    return replace(case, y_true=np.where(unknown, np.nan, case.y_true), mask=case.mask | unknown)


@for_every(TRUTH_ROWS, share=st.sampled_from([0.5, 1.0]), dtype=st.sampled_from([np.float16, np.float32, np.float64]))
def test_an_unknown_cell_counts_as_a_masked_one(row: LabelRow, data: st.DataObject, share: float, dtype: Any) -> None:
    case, variant = draw_case(data, row, ("rows",))
    seed = data.draw(st.integers(0, 2**16))
    unknown = ~case.mask & (np.random.default_rng(seed).random(case.mask.shape) < share)
    hidden = with_unknown(case, unknown)
    hidden = replace(hidden, y_true=hidden.y_true.astype(dtype), mask=None if hidden.mask.all() else hidden.mask)
    expected = case.call(row.metric, **variant)
    np.testing.assert_array_equal(numbers(expected), numbers(hidden.call(row.metric, **variant)))


@for_every(BY_ROW)
def test_an_unknown_cell_of_a_row_counts_as_a_masked_one(row: Any, data: st.DataObject) -> None:
    (y_true, *others), options = data.draw(row.cases)
    mask = np.broadcast_to(True if options["label_mask"] is None else options["label_mask"], y_true.shape)
    hidden = np.where(mask, y_true, np.nan)
    expected = numbers(row.metric(y_true, *others, **options))
    np.testing.assert_array_equal(numbers(row.metric(hidden, *others, **options | {"label_mask": None})), expected)


@pytest.mark.slow
@for_every(TRUTH_ROWS)
def test_an_unknown_cell_of_a_sparse_table_counts_as_a_masked_one(row: LabelRow, data: st.DataObject) -> None:
    case, variant = draw_case(data, row, ("rows",))
    hidden = with_unknown(case, ~case.mask)
    hidden = replace(hidden, y_true=sparse.csr_array(hidden.y_true), mask=None)
    expected = case.call(row.metric, **variant)
    np.testing.assert_allclose(numbers(expected), numbers(hidden.call(row.metric, **variant)), rtol=1e-12)
