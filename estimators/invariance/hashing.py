"""Categories as columns of a fixed number, however many there are."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils.validation import check_array

from estimators._typing import Array, MatrixLike
from estimators.contract.validation import as_mixed


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
        If `X` is not a table, or holds NaN, or `n_features` is not a positive integer.

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
    table: Array = check_array(as_mixed(X), dtype=None)
    hasher = FeatureHasher(n_features, input_type="string", alternate_sign=False)
    rows = ([_token(number, category) for number, category in enumerate(row)] for row in table.tolist())
    return sparse.csr_array(hasher.transform(rows))


def _token(column: int, category: Any) -> str:
    # 2 and 2.0 are the same category: tables of numbers may be read as either
    is_number = isinstance(category, int | float | np.number | np.bool_)
    return f"{column}={float(category) if is_number else category}"
