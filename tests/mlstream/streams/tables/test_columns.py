"""Parting a table: labels as 0/1, nominal features as numbers or one column per value, sparse only if it pays."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.impute import SimpleImputer

from mlstream._support.content import FormatError
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.tables.columns import SPARSE_BELOW, make_reading, part
from mlstream.streams.tables.table import Column, Table, nominal

COLUMNS = (Column("a"), nominal("c", ["red", "blue", "x y"]), nominal("n", ["3", "4.5"]), nominal("y", ["0", "1"]))
CELLS = np.array([[0.5, 1, 4.5, 1], [0, 0, 3, 0], [2, 2, 3, 1]])


def make_table(cells: np.ndarray, columns: tuple[Column, ...] = COLUMNS, *, as_sparse: bool = False) -> Table:
    lines = np.arange(10, 10 + len(cells))
    return Table(Path("x.arff"), columns, sparse.csr_array(cells) if as_sparse else cells, lines)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_nominal_features_become_numbers_or_one_column_per_value(as_sparse: bool) -> None:
    parted = part(make_table(CELLS, as_sparse=as_sparse), [3])
    assert parted.feature_names == ("a", "c=red", "c=blue", "c=x y", "n")
    expected = [[0.5, 0, 1, 0, 4.5], [0, 1, 0, 0, 3], [2, 0, 0, 1, 3]]
    np.testing.assert_array_equal(parted.X, expected)
    np.testing.assert_array_equal(parted.Y, [[1], [0], [1]])
    assert parted.Y.dtype == np.uint8


def test_labels_come_in_the_order_asked_for() -> None:
    columns = (Column("y"), Column("a"), Column("z"))
    parted = part(make_table(np.array([[1.0, 7, 0], [0, 8, 0]]), columns), [2, 0])
    np.testing.assert_array_equal(parted.Y, [[0, 1], [0, 0]])
    np.testing.assert_array_equal(parted.X, [[7], [8]])


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_label_that_is_not_0_or_1_is_an_error_with_its_line(as_sparse: bool) -> None:
    with pytest.raises(FormatError, match=r"x.arff, line 10: label 'n' must be 0 or 1. Got 4.5"):
        part(make_table(CELLS, as_sparse=as_sparse), [3, 2])


def test_a_label_of_words_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"x.arff: label 'c' must be 0 or 1. Got the values 'red, blue, x y'"):
        part(make_table(CELLS), [1])


def test_a_table_is_sparse_only_if_little_of_it_is_stored() -> None:
    n_features = 100
    columns = (*(Column(f"a{index}") for index in range(n_features)), Column("y"))
    cells = np.zeros((1, n_features + 1))
    cells[0, : int(SPARSE_BELOW * n_features)] = 1
    assert isinstance(part(make_table(cells, columns, as_sparse=True), [n_features]).X, np.ndarray)
    cells[0, 0] = 0
    sparse_X = part(make_table(cells, columns, as_sparse=True), [n_features]).X
    assert isinstance(sparse_X, sparse.csr_array)
    np.testing.assert_array_equal(sparse_X.toarray(), cells[:, :-1])


def test_zeros_that_a_file_spells_out_are_not_stored() -> None:
    cells = sparse.csr_array((np.array([0.0, 1]), np.array([0, 5]), np.array([0, 2])), shape=(1, 9))
    table = Table(Path("x.arff"), tuple(Column(f"a{index}") for index in range(9)), cells, np.array([1]))
    assert part(table, [8]).X.nnz == 1


MISSING = np.array([[1, np.nan, 3, 1], [np.nan, 0, 4.5, 0], [4, 2, np.nan, 1], [1, 0, 3, np.nan]])


@pytest.mark.parametrize("as_sparse", [False, True])
def test_missing_features_are_left_out_filled_marked_or_kept(as_sparse: bool) -> None:
    table = make_table(MISSING, as_sparse=as_sparse)
    names = ("a", "c=red", "c=blue", "c=x y", "n")

    dropped = part(table, [3], make_reading(missing="drop"))
    np.testing.assert_array_equal(dropped.X, [[1, 1, 0, 0, 3]])
    np.testing.assert_array_equal(dropped.Y, [[np.nan]])
    assert dropped.reading is not None
    assert (dropped.reading.missing, dropped.reading.n_dropped) == ("drop", 3)

    kept = part(table, [3], make_reading(missing="keep"))
    nan = np.nan
    expected = np.array([[1, nan, nan, nan, 3], [nan, 1, 0, 0, 4.5], [4, 0, 0, 1, nan], [1, 1, 0, 0, 3]])
    np.testing.assert_array_equal(kept.X, expected)

    # The mean of what is known, of 0/1 features their frequency.
    filled = np.where(np.isnan(expected), np.nanmean(expected, axis=0), expected)
    mean = part(table, [3], make_reading(missing="mean"))
    np.testing.assert_allclose(mean.X, filled, rtol=1e-15)
    assert (kept.feature_names, mean.feature_names) == (names, names)

    marked = part(table, [3], make_reading(missing="indicator"))
    assert marked.feature_names == (*names, "a is missing", "c is missing", "n is missing")
    np.testing.assert_allclose(marked.X, np.hstack([filled, np.isnan(MISSING[:, :3])]), rtol=1e-15)


def test_the_mean_of_a_sparse_column_counts_its_zeros() -> None:
    cells = np.zeros((4, 12))
    cells[:, 11] = [1, 0, 1, 0]
    cells[0, 2], cells[1, 2] = np.nan, 6
    columns = (*(Column(f"a{index}") for index in range(11)), Column("y"))
    X = part(make_table(cells, columns, as_sparse=True), [11], make_reading(missing="indicator")).X
    assert isinstance(X, sparse.csr_array)
    np.testing.assert_array_equal(X[:, [2, 11]].toarray(), [[2, 1], [6, 0], [0, 0], [0, 0]])


def test_scikit_learn_fills_and_marks_alike() -> None:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(50, 6))
    cells[rng.random(cells.shape) < 0.2] = np.nan
    cells[:, 2] = rng.normal(size=50)
    table = make_table(np.hstack([cells, np.ones((50, 1))]), (*(Column(f"a{i}") for i in range(6)), Column("y")))
    expected = SimpleImputer(add_indicator=True).fit_transform(cells)
    np.testing.assert_allclose(part(table, [6], make_reading(missing="indicator")).X, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        (
            make_reading(),
            r"x.arff, line 10: column 'a' must have a value in every row; labels only may be unknown. Got a missing "
            r"value; missing= or --missing \(drop, mean, indicator or keep\) reads it",
        ),
        (
            make_reading(missing="mean"),
            "x.arff: column 'a' must have a value in some row for missing= or --missing mean",
        ),
        (
            make_reading(missing="drop"),
            "x.arff: missing= or --missing drop must leave at least one row. Got a missing value",
        ),
    ],
)
def test_columns_that_cannot_be_read_so_are_one_error(reading: ReadingCard, message: str) -> None:
    table = make_table(np.array([[np.nan, 0, 3, 1], [np.nan, 0, 3, 1]]))
    with pytest.raises(FormatError, match=message):
        part(table, [3], reading)


def test_ordinal_categories_are_the_numbers_of_their_values() -> None:
    parted = part(make_table(CELLS), [3], make_reading(categories="ordinal"))
    assert parted.feature_names == ("a", "c", "n")
    np.testing.assert_array_equal(parted.X, [[0.5, 1, 1], [0, 0, 0], [2, 2, 0]])
    assert parted.feature_values == {"c": ("red", "blue", "x y"), "n": ("3", "4.5")}
    assert parted.reading == make_reading(categories="ordinal")
    assert part(make_table(CELLS), [3]).reading is None


def test_words_without_a_declaration_need_an_option() -> None:
    columns = (Column("c", ("blue", "red"), first_word=("red", 2)), Column("y"))
    table = make_table(np.array([[1.0, 0], [0, 1]]), columns)
    with pytest.raises(FormatError, match=r"x.arff, line 2: column 'c' must be a finite .* 'red'.* --categories"):
        part(table, [1])
    np.testing.assert_array_equal(part(table, [1], make_reading(categories="one-hot")).X, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "zero"}, "missing must be 'error', 'drop', 'mean', 'indicator' or 'keep'. Got 'zero'"),
        ({"categories": "hash"}, "categories must be 'one-hot' or 'ordinal'. Got 'hash'"),
        (
            {"separator": "::"},
            "separator= or --separator must be one ASCII character, such as ';', and no quote. Got '::'",
        ),
        ({"separator": '"'}, "separator= or --separator must be one ASCII character"),
        ({"tag_separator": ""}, "tag_separator must have at least 1 character. Got ''"),
        ({"n_features": -1}, "n_features must be at least 0. Got -1"),
    ],
)
def test_other_options_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_reading(**options)
