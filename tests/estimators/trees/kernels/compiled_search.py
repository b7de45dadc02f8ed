"""Parts of the search for splits as functions that Python can call: compiled code is their only caller elsewhere."""

from estimators._kernels.compile import njit
from estimators.trees._kernels import revising


@njit()
def best_split(arrays, i, current):
    return revising.best_split(arrays, i, current)


@njit()
def is_settled(arrays, i, bound):
    return revising.is_settled(arrays, i, bound)
