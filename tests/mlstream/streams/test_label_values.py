"""Labels are held in the type that their values need, and what is no label is refused by its cell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from mlstream.streams.label_values import as_indicator, filled, known, unknown_share

SHAPES = st.tuples(st.integers(0, 5), st.integers(0, 5))
CELLS = arrays.arrays(np.float64, SHAPES, elements=st.sampled_from([0.0, 1.0, -0.0, math.nan, -math.nan]))


@given(CELLS, st.sampled_from([np.float16, np.float32, np.float64, object]))
def test_labels_keep_their_values_whatever_numbers_hold_them(cells, kind):
    held = as_indicator(cells.astype(kind))
    assert held.dtype == (np.float32 if np.isnan(cells).any() else np.uint8)
    np.testing.assert_array_equal(held, cells)


@given(CELLS)
def test_equal_labels_have_equal_bytes(cells):
    """A hash of the arrays must not tell -0.0 from 0.0, nor one NaN from another."""
    plain = np.where(np.isnan(cells), np.nan, np.abs(cells))
    for kind in (np.float32, np.float64):
        assert as_indicator(cells.astype(kind)).tobytes() == as_indicator(plain).tobytes()


@given(CELLS)
def test_the_known_cells_are_those_that_are_not_nan(cells):
    expected = [[not math.isnan(cell) for cell in row] for row in cells.tolist()]
    found = known(as_indicator(cells))
    if all(all(row) for row in expected):
        assert found is None
    else:
        assert found.tolist() == expected
    flat = [cell for row in expected for cell in row]
    assert unknown_share(as_indicator(cells)) == pytest.approx(flat.count(False) / max(1, len(flat)))


@given(CELLS, st.integers(0, 255))
def test_unknown_cells_are_filled_and_no_other(cells, value):
    found = filled(as_indicator(cells), value)
    assert found.dtype == np.uint8
    assert found.tolist() == [[value if math.isnan(cell) else int(cell) for cell in row] for row in cells.tolist()]


def test_labels_that_are_held_already_are_not_copied():
    for Y in (np.eye(2, dtype=np.uint8), np.array([[1, np.nan]], dtype=np.float32)):
        assert np.shares_memory(as_indicator(Y), Y)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64, np.float32, np.float64, object])
def test_the_first_wrong_cell_is_named(kind):
    Y = np.eye(3, dtype=kind)
    Y[1, 2], Y[2, 0] = 2, 3
    with pytest.raises(ValueError, match=r"^Y must hold 0, 1 and NaN \(unknown\) only. Got 2.* in row 1, column 2.$"):
        as_indicator(Y)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([1, 0], r"2-D, one column for each label. Got the shape \(2,\)"),
        ([["a", "b"]], "Got text; Y == 'TRUE', say, makes labels of words"),
        (sparse.csr_array([[1, 0]]), "dense array of 0, 1 and NaN .unknown.. Got csr_array instead"),
        (np.array([["a", 1]], dtype=object), "Got objects: could not convert string to float: 'a'"),
        ([[1, math.inf]], "Got inf in row 0, column 1"),
        ([[1, -1]], "Got -1 in row 0, column 1"),
    ],
)
def test_what_is_no_label_is_refused_in_one_line(Y, message):
    with pytest.raises(ValueError, match=message):
        as_indicator(Y, "labels")


def test_none_is_an_unknown_label():
    np.testing.assert_array_equal(as_indicator([[1, None]]), [[1, np.nan]])


@pytest.mark.parametrize("kind", ["Int64", "boolean", "Float64"])
def test_na_of_pandas_is_an_unknown_label(kind):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    table = pandas.DataFrame({"fog": [1, 0], "rain": [None, 1]}).astype(kind)
    np.testing.assert_array_equal(as_indicator(table), [[1, np.nan], [0, 1]])
