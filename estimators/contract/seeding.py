"""Clones of estimators with seeds of their own."""

from typing import Any

from numpy.random import RandomState
from sklearn.base import clone


def clone_with_seed(estimator: Any, seed: int | RandomState | None, *, only_unset: bool = False) -> Any:
    """Clone an estimator and seed it, with all estimators inside.

    Parameters
    ----------
    estimator : estimator instance
        A scikit-learn estimator; never changed.
    seed : int, RandomState or None
        Value of every parameter called ``random_state``, also of estimators inside; a RandomState draws one for each,
        in the order of their names. None leaves the seeds as they are.
    only_unset : bool, default=False
        Whether seeds that are not None stay as they are.

    Returns
    -------
    estimator
        The clone.
    """
    copy = clone(estimator)
    if seed is None:
        return copy
    names = sorted(
        name
        for name, value in copy.get_params().items()
        if name.rpartition("__")[2] == "random_state" and not (only_unset and value is not None)
    )
    return copy.set_params(
        **{name: int(seed.randint(2**31 - 1)) if isinstance(seed, RandomState) else seed for name in names}
    )
