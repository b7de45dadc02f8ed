"""Categories as columns of a fixed number, however many there are."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils.validation import check_array

from estimators._typing import Array, MatrixLike


def hash_categories(X: MatrixLike, *, n_features: int = 1024) -> sparse.csr_array:
    """Code each category of each column as a column of its own, found by a hash.

    The hash needs no fitting, so that categories which come later have columns too:
    ``FunctionTransformer(hash_categories)`` is a step of `StreamPipeline`. Two categories may share a column; with
    more columns that is rarer.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_columns)
        Categories: numbers or strings.
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
    """
    table: Array = check_array(X, dtype=None)
    hasher = FeatureHasher(n_features, input_type="string", alternate_sign=False)
    out = sparse.csr_array((len(table), n_features))
    for number, column in enumerate(table.T):
        categories, codes = np.unique(column, return_inverse=True)
        out = out + sparse.csr_array(hasher.transform([[_token(number, one)] for one in categories.tolist()]))[codes]
    return sparse.csr_array(out)


def _token(column: int, category: Any) -> str:
    # 2 and 2.0 are the same category: tables of numbers may be read as either
    return f"{column}={float(category) if isinstance(category, int | float) else category}"
