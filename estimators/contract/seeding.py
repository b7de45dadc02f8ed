"""Clones of estimators with seeds of their own."""

from numpy.random import RandomState
from sklearn.base import clone

from estimators._typing import AnyEstimator


def clone_with_seed(
    estimator: AnyEstimator, seed: int | RandomState | None, *, only_unset: bool = False
) -> AnyEstimator:
    """Clone an estimator and seed it, with all estimators inside.

    `seed` becomes the value of every parameter called ``random_state``; a RandomState draws one for each, in the order
    of their names, and None leaves them as they are. With `only_unset`, seeds that are not None stay.
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
