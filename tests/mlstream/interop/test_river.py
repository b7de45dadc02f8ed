"""Streams in the form of River."""

import numpy as np
import pytest

from mlstream.interop import to_river
from tests.mlstream.small_streams import Shape, make_stream


@pytest.mark.parametrize("is_sparse", [False, True])
def test_rows_come_in_order_with_their_names(is_sparse: bool) -> None:
    stream = make_stream(Shape(sparse=is_sparse))
    rows = list(to_river(stream))
    X = np.vstack([part.X.toarray() if is_sparse else part.X for part in stream])
    Y = np.vstack([part.Y for part in stream])
    np.testing.assert_array_equal([[x.get(name, 0.0) for name in "abcd"] for x, _ in rows], X)
    np.testing.assert_array_equal([[y[name] for name in "klm"] for _, y in rows], Y)
    assert all(type(value) is bool for _, y in rows for value in y.values())
    assert all(0.0 not in x.values() for x, _ in rows) or not is_sparse


def test_a_model_of_river_learns_them() -> None:
    multioutput = pytest.importorskip("river.multioutput", reason="needs River")
    linear_model = pytest.importorskip("river.linear_model", reason="needs River")
    model = multioutput.ClassifierChain(linear_model.LogisticRegression(), order=["k", "l", "m"])
    for x, y in to_river(make_stream()):
        model.learn_one(x, y)
    x, _ = next(to_river(make_stream()))
    assert set(model.predict_one(x)) == {"k", "l", "m"}


def test_unknown_labels_have_no_key() -> None:
    stream = make_stream(Shape(unknown=0.4))
    rows = [y for part in stream for y in part.Y.tolist()]
    for (_, y), row in zip(to_river(stream), rows, strict=True):
        assert y == {name: bool(cell) for name, cell in zip("klm", row, strict=True) if cell in {0, 1}}
