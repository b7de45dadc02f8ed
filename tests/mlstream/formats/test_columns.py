"""Parting a table: labels as 0/1, nominal features as numbers or one column per value, sparse only if it pays."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from mlstream.formats.columns import SPARSE_BELOW, part
from mlstream.formats.content import FormatError
from mlstream.formats.table import Column, Table, nominal

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
