"""Parts of the search for splits as functions that Python can call: compiled code is their only caller elsewhere."""

from estimators._kernels.compile import njit
from estimators.trees._kernels import revision_search


@njit()
def best_split(arrays, i, current):
    return revision_search.best_split(arrays, i, current)


@njit()
def is_settled(arrays, i, bound):
    return revision_search.is_settled(arrays, i, bound)
