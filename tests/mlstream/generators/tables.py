"""Tables to make streams from: drawn by Hypothesis, or the labels of the shared files."""

import gzip

import arff
import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from mlstream.streams.label_values import as_indicator
from mlstream.streams.stream import Dataset


def make_table(Y, X=None, name="table"):
    Y = as_indicator(Y)
    if X is None:
        X = np.arange(2.0 * len(Y)).reshape(len(Y), 2)
    features = tuple(f"x{column}" for column in range(X.shape[1]))
    return Dataset(X, Y, features, tuple(f"y{column}" for column in range(Y.shape[1])), name)


@st.composite
def tables(draw, n_tasks=3):
    """Draw a table with rows enough that each cluster of label sets can be split in three."""
    n_labels = draw(st.integers(3, 6))
    label_sets = draw(
        st.lists(st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels), min_size=3, max_size=8)
    )
    label_sets = np.unique(np.array([*label_sets, *np.eye(n_labels, dtype=int)[:n_tasks]]), axis=0)
    repeats = draw(st.lists(st.integers(4, 12), min_size=len(label_sets), max_size=len(label_sets)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    Y = rng.permutation(np.repeat(label_sets, repeats, axis=0))
    X = rng.integers(0, 3, size=(len(Y), 4)).astype(draw(st.sampled_from([np.float32, np.float64])))
    X[0], X[1] = 0, 1
    return make_table(Y, sparse.csr_array(X) if draw(st.booleans()) else X)


def read_labels(path, n_labels):
    """Read the first columns of a sparse ARFF file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        rows = arff.load(file, return_type=arff.LOD)["data"]
    Y = np.zeros((len(rows), n_labels), dtype=np.uint8)
    for row, values in enumerate(rows):
        for column, value in values.items():
            if column < n_labels:
                Y[row, column] = int(value)
    return Y


def dense(X):
    return X.toarray() if sparse.issparse(X) else X
