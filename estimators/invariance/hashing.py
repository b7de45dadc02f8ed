"""Categories as columns of a fixed number, however many there are."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils.validation import check_array

from estimators._typing import Array, MatrixLike
from estimators.contract.categories import find_nominal
from estimators.contract.validation import Features, as_mixed, errors_in_one_line, is_missing
from metrics.validation import require_integer

# rows from which on it is faster to look for the categories of a column first
_MANY = 100


def hash_categories(X: MatrixLike, *, n_features: int = 1024) -> sparse.csr_array:
    """Code each category of each column as a column of its own, found by a hash.

    The hash needs no fitting, so that categories which come later have columns too:
    ``FunctionTransformer(hash_categories)`` is a step of `StreamPipeline`, and of scikit-learn's `Pipeline`. Two
    categories may share a column; with more columns that is rarer.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_columns)
        Categories: numbers or words, also beside each other, in lists, arrays, or a data frame of any package.
    n_features : int, default=1024
        Number of columns of the result.

    Returns
    -------
    csr_array of shape (n_samples, n_features)
        The number of categories of the row that have this column: 0 or 1, unless two share it.

    Raises
    ------
    ValueError
        If `X` is not a table, or holds a missing value, or `n_features` is not a positive integer.

    References
    ----------
    Weinberger, Dasgupta, Langford, Smola, Attenberg, "Feature hashing for large scale multitask learning", ICML 2009.

    Examples
    --------
    >>> from estimators import hash_categories
    >>> hashed = hash_categories([[0, 2], [1, 2]], n_features=16)
    >>> hashed.shape, hashed.sum(axis=1).tolist()
    ((2, 16), [2.0, 2.0])

    Words are learnt by a pipeline that hashes them:

    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from estimators import OnlineLogisticRegression, StreamPipeline
    >>> steps = [("hash", FunctionTransformer(hash_categories)), ("learn", OnlineLogisticRegression(1))]
    >>> hashed = StreamPipeline(steps)
    >>> hashed.fit([["red", 4], ["blue", 2]], [[1, 0], [0, 1]]).predict([["red", 8], ["blue", 8]])
    array([[1, 0],
           [0, 1]])
    """
    require_integer(n_features, "n_features", 1)
    with errors_in_one_line():
        table: Array = check_array(as_mixed(X), dtype=None, ensure_all_finite=False)
    if table.dtype.kind in "mM" and np.isnat(table).any():
        raise _missing("NaT")
    if len(table) < _MANY:
        tokens = (_token(number, category) for row in table.tolist() for number, category in enumerate(row))
        places = _hash(tokens, n_features).reshape(table.shape)
    else:
        places = np.column_stack([_hash_column(number, column, n_features) for number, column in enumerate(table.T)])
    starts = np.arange(0, places.size + 1, table.shape[1])
    hashed = sparse.csr_array((np.ones(places.size), places.ravel(), starts), shape=(len(table), n_features))
    hashed.sum_duplicates()
    return hashed


def one_hot_categories(X: MatrixLike, *, n_values: Mapping[int, int], max_columns: int = 128) -> Array:
    """Code each value of some columns as a 0/1 column of its own, and leave the others as they are.

    Like `hash_categories` it needs no fitting: ``FunctionTransformer(one_hot_categories, kw_args={"n_values": ...})``
    is a step of `StreamPipeline`. `mlstream.evaluate` puts it before learners that have no parameter
    `categorical_features`, where a stream knows its categories.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features; categories are codes, 0, 1, ...
    n_values : mapping of int to int
        Number of values of each feature that holds categories, by its position.
    max_columns : int, default=128
        Columns of one feature at most: more values share as many columns, found by a hash.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        The other features, then the columns of each feature in `n_values`, in the order of positions.

    Raises
    ------
    ValueError
        If a code is not a whole number from 0 to below its number of values.

    Examples
    --------
    >>> from estimators import one_hot_categories
    >>> one_hot_categories([[0.5, 2], [0.25, 0]], n_values={1: 3})
    array([[0.5 , 0.  , 0.  , 1.  ],
           [0.25, 1.  , 0.  , 0.  ]])
    """
    require_integer(max_columns, "max_columns", 1)
    with errors_in_one_line():
        table: Features = check_array(as_mixed(X), accept_sparse="csr", dtype=[np.float64, np.float32])
    table = table if isinstance(table, np.ndarray) else table.toarray()
    nominal = find_nominal(n_values, table.shape[1], None)
    if nominal is None:
        return table
    nominal.require(table, range(table.shape[1]))
    blocks = [np.delete(table, nominal.places, axis=1)]
    for place in nominal.places.tolist():
        codes, n = table[:, place], n_values[place]
        if n <= max_columns:
            blocks.append((codes[:, np.newaxis] == np.arange(n)).astype(table.dtype))
        else:
            blocks.append(hash_categories(codes[:, np.newaxis], n_features=max_columns).toarray().astype(table.dtype))
    return np.hstack(blocks)


def _hash_column(number: int, column: Array, n_features: int) -> Array:
    if column.dtype == object:  # numbers beside words cannot be sorted
        places: dict[object, int] = {}
        codes = np.array([places.setdefault(category, len(places)) for category in column.tolist()])
        categories = list(places)
    else:
        found, codes = np.unique(column, return_inverse=True)
        categories = found.tolist()
    return _hash((_token(number, category) for category in categories), n_features)[codes]


def _hash(tokens: Iterable[str], n_features: int) -> Array:
    hasher = FeatureHasher(n_features, input_type="string", alternate_sign=False)
    places: Array = hasher.transform([token] for token in tokens).indices
    return places


def _token(column: int, category: Any) -> str:
    if is_missing(category):
        raise _missing(repr(category))
    # 2 and 2.0 are the same category: tables of numbers may be read as either
    is_number = isinstance(category, int | float | np.number | np.bool_)
    return f"{column}={float(category) if is_number else category}"


def _missing(got: str) -> ValueError:
    way_out = "fill missing values (SimpleImputer, fillna) or leave their rows out"
    return ValueError(f"X must hold a category in every cell. Got {got} instead; {way_out}.")
