"""The classifier inside a meta-estimator that teaches it rows of its own."""

from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.base import clone

from estimators.base import StreamClassifier


def begin_inner(outer: Any, random_state: RandomState | None) -> StreamClassifier:
    """Return a copy of ``outer.estimator`` at its start state for the data of `outer`, with new seeds unless None."""
    if not isinstance(outer.estimator, StreamClassifier):
        raise TypeError(f"estimator must be a StreamClassifier. Got {outer.estimator!r} instead.")
    X, labels = np.zeros((1, outer.n_features_in_)), np.zeros((1, outer.n_labels_), dtype=int)
    multilabel = outer._target_.multilabel
    classes = outer.n_labels_ if multilabel else np.arange(len(outer.classes_))
    inner = clone(outer.estimator)
    if random_state is not None:
        names = sorted(name for name in inner.get_params() if name.rpartition("__")[2] == "random_state")
        inner.set_params(**{name: random_state.randint(2**31 - 1) for name in names})
    return inner.begin(X, labels if multilabel else labels[:, 0], classes)
