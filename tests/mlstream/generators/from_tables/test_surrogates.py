"""Stand-ins have exactly the counts of what they stand in for, and say what they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.generators.from_tables.surrogates import SHAPES, TableShape, draw_table, stand_in_stream


def counts_of(table) -> TableShape:
    Y = table.Y.astype(int)
    return TableShape(*table.X.shape, Y.shape[1], len({*map(tuple, Y)}), int((~Y.any(axis=1)).sum()), int(Y.sum()))


@given(st.integers(7, 12), st.integers(0, 2), st.integers(0, 5), st.integers(0, 99))
def test_counts_are_exact(n_labels: int, n_unlabelled: int, more: int, seed: int) -> None:
    shape = TableShape(200, 5, n_labels, n_labels + 20 + more, n_unlabelled, 450)
    table = draw_table(shape, seed, "t")
    assert counts_of(table) == shape
    assert table.X.min() >= 0
    assert table.X.max() <= 1


@pytest.mark.slow
def test_the_shape_of_mediamill_is_that_of_the_published_counts() -> None:
    stream = stand_in_stream(n_init=1)
    # MULAN's table: 43,907 x 120, 101 labels, cardinality 4.376, 6,555 label sets; the protocol uses 42,177 rows.
    shape = SHAPES["mediamill"]
    assert (shape.n_rows, shape.n_features, shape.n_labels, shape.n_label_sets) == (43_907, 120, 101, 6_555)
    assert round(shape.n_positives / shape.n_rows, 3) == 4.376
    assert sum(task.n_learning + task.n_evaluation for task in stream.card.tasks) == 42_177
    assert (stream.n_features, stream.n_labels, stream.n_tasks) == (120, 101, 4)
    assert stream.card.name == "mediamill-stand-in"
    assert stream.card.description.startswith("STAND-IN for mediamill, not its data")
    assert (stream.card.source.origin, stream.card.source.licence) == ("synthetic", "")


def test_features_tell_labels() -> None:
    table = draw_table(TableShape(2000, 40, 6, 20, 0, 4000), 0, "t")
    # A least-squares readout of held-out rows: better than the best constant.
    X = np.column_stack([np.ones(2000), table.X])
    weights = np.linalg.lstsq(X[:1000], table.Y[:1000].astype(float), rcond=None)[0]
    wrong = ((X[1000:] @ weights > 0.5) != table.Y[1000:]).mean()
    shares = table.Y[1000:].mean(axis=0)
    assert wrong < 0.5 * np.minimum(shares, 1 - shares).mean()


def test_another_seed_is_another_table() -> None:
    shape = TableShape(100, 3, 4, 8, 1, 200)
    one, again, other = (draw_table(shape, seed, "t") for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.X, again.X)
    np.testing.assert_array_equal(one.Y, again.Y)
    assert (one.Y != other.Y).any()


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (TableShape(100, 3, 4, 3, 0, 200), "n_label_sets must be at least the number of labels. Got 3"),
        (TableShape(5, 3, 4, 8, 0, 9), "n_rows less n_unlabelled less the label sets must be"),
        (TableShape(100, 3, 4, 8, 0, 900), "n_positives must be reachable with the other counts. Got 900"),
    ],
)
def test_counts_that_no_table_has_are_one_error(shape: TableShape, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_table(shape, 0, "t")


def test_an_unknown_shape_is_one_error() -> None:
    with pytest.raises(ValueError, match=r"shape must be one of mediamill. Got 'x' instead"):
        stand_in_stream("x")
