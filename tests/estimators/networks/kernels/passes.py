"""Small chunks of rows, networks to learn them, and their comparison, for the kernels of the networks."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from estimators.networks._network_state import draw_state, layers_of
from estimators.networks._row_store import RowStore, as_rows
from tests.estimators.networks.kernels.slow_network import Row, weights_of
from tests.scattered import tables

VALUES = (0.0, -1.5, 0.25, 1.0, 0.0, 3.0)


FEW = st.integers(1, 5)


@st.composite
def chunks(draw, n_features, n_labels, sizes=FEW):
    """Rows with zeros, labels that do not count, rows of no weight."""
    n = draw(sizes)
    X, Y = draw(tables((n, n_features), VALUES)), draw(tables((n, n_labels), (0, 1)))
    mask, weight = draw(tables((n, n_labels), (True, False, True))), draw(tables((n,), (1.0, 0.5, 0.0, 2.0)))
    return [Row(*row) for row in zip(X.tolist(), Y.tolist(), mask.tolist(), weight.tolist(), strict=True)]


@st.composite
def draws_of(draw, n_rows, n_slots, parts=1):
    """Slots drawn for each row, in parts of equal length; -1 in all places of a row with which nothing is learnt."""
    n_draws = parts * draw(st.integers(1, 3))
    draws = draw(tables((n_rows, n_draws), tuple(range(n_slots)), np.int64))
    draws[draw(tables((n_rows,), (False, False, True)))] = -1
    return draws


def coded(rows, *, dense):
    """Return rows in the form of the kernels, in double precision."""
    X, Y, mask, weight = (np.array(part) for part in zip(*rows, strict=True))
    X = X if dense else sparse.csr_array(X)
    return as_rows(X, Y.astype(np.uint8), mask, weight, np.float64)


def stored(rows, *, dense):
    """Return a store with one slot a row."""
    store = RowStore(len(rows), len(rows[0].x) if dense else 0, len(rows[0].y), np.float64)
    if not dense:
        store.make_sparse()
    store.keep(coded(rows, dense=dense), np.arange(len(rows))[:, np.newaxis])
    return store.as_rows()


def drawn_state(sizes, seed, *, freeze=False):
    """Draw the state of a network."""
    return draw_state(sizes, np.float64, np.random.RandomState(seed), freeze=freeze)


def assert_same(state, slow, proba, expected):
    """Compare probabilities and weights: sums in another order, over and over, in steps that divide by them."""
    np.testing.assert_allclose(proba, expected, rtol=1e-9, atol=1e-12)
    for ours, theirs in zip(layers_of(state), weights_of(slow), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
