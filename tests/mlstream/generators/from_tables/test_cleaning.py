"""What carries nothing leaves the table, is named on the card, and nothing else moves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mlstream.generators.from_tables.cleaning import clean
from tests.mlstream.generators.tables import dense, make_table

Y = np.array([[1, 0, 0], [0, 0, 0], [1, 0, 1], [0, 0, 1]])
X = np.array([[5.0, 1, 0], [5, 9, 0], [5, 1, 0], [5, 1, 2]])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_drops_are_named(layout):
    table, rows, drops = clean(make_table(Y, layout(X)))
    assert rows.tolist() == [0, 2, 3]
    assert table.label_names == ("y0", "y2")
    assert table.feature_names == ("x2",)  # x1 varies only in the row without labels
    np.testing.assert_array_equal(dense(table.X), X[:, [2]])
    np.testing.assert_array_equal(table.Y, Y[:, [0, 2]])
    assert [(drop.what, drop.count, drop.names) for drop in drops] == [
        ("labels", 1, ["y1"]),
        ("features", 2, ["x0", "x1"]),
        ("rows", 1, []),
    ]


def test_everything_can_be_kept_but_labels_that_never_occur():
    source = make_table(Y, X)
    table, rows, drops = clean(source, unlabelled="keep", constant_features="keep")
    assert rows.tolist() == [0, 1, 2, 3]
    assert table.X is source.X
    assert [drop.what for drop in drops] == ["labels"]


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(["drop", "keep"]))
def test_columns_go_exactly_when_a_loop_finds_one_value(seed, as_sparse, unlabelled):
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 2, (4, 5)).astype(float)
    labels = rng.integers(0, 2, (4, 3))
    features[:, 0], labels[:, 0] = [0, 1, 0, 1], 1
    table, rows, _ = clean(
        make_table(labels, sparse.csr_array(features) if as_sparse else features), unlabelled=unlabelled
    )
    expected = [f"x{j}" for j in range(5) if len({features[i, j] for i in rows}) > 1]
    assert list(table.feature_names) == expected
    assert list(table.label_names) == [f"y{j}" for j in range(3) if any(labels[i, j] for i in range(4))]


def test_a_table_without_labels_or_without_features_is_refused():
    with pytest.raises(ValueError, match=r"table: Y must hold a label that occurs. Got 0 ones in 3 columns"):
        clean(make_table(np.zeros((4, 3)), X))
    with pytest.raises(ValueError, match=r"table: X must hold a feature that varies. Got 2 constant columns"):
        clean(make_table(Y, np.ones((4, 2))))


@pytest.mark.parametrize("option", ["unlabelled", "constant_features"])
def test_unknown_choices_are_refused(option):
    with pytest.raises(ValueError, match=f"{option} must be one of 'drop', 'keep'. Got 'maybe' instead"):
        clean(make_table(Y, X), **{option: "maybe"})


def test_what_is_unknown_is_no_label_that_occurs_and_no_row_without_labels():
    hidden = [[1, np.nan, 0], [0, 0, 0], [0, np.nan, np.nan], [0, np.nan, 0], [1, 0, 1]]
    table, rows, drops = clean(make_table(hidden, np.eye(5)), constant_features="keep")
    # What row 3 may carry is no label of the stream.
    assert rows.tolist() == [0, 2, 4]
    assert table.label_names == ("y0", "y2")
    np.testing.assert_array_equal(table.Y[rows], [[1, 0], [0, np.nan], [1, 1]])
    assert [(drop.what, drop.count) for drop in drops] == [("labels", 1), ("rows", 2)]
