"""Unknown labels for learners of other packages, which have no way to leave a label of a row out."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.multioutput import MultiOutputClassifier

from estimators.contract.unknown_labels import refuse_unknown
from mlstream.streams.label_values import filled, known

Mask = npt.NDArray[np.bool_]


def known_part(estimator: Any, Y: npt.NDArray[Any], mask: Mask, *, uses_task: bool) -> tuple[Any, Mask, Mask]:
    """Return labels and mask without unknown labels, and which rows have a label to learn.

    Unknown labels in `Y` are NaN; `mask` is (n_labels,) or (n_samples, n_labels). Both are returned themselves where
    every label is known. If the learner takes the mask (`uses_task`), unknown labels are outside it; otherwise a row of
    which only some labels are known raises a ValueError.
    """
    cells = known(Y)
    if cells is None:
        return Y, mask, np.ones(len(Y), dtype=bool)
    if uses_task:
        mask = mask & cells
        return filled(Y), mask, np.asarray(mask.any(axis=1))
    learnt: Mask = np.asarray(cells.any(axis=1))
    # Binary relevance takes the place of a multi-output estimator.
    inner = estimator.estimator if isinstance(estimator, MultiOutputClassifier) else estimator
    refuse_unknown(~cells & learnt[:, np.newaxis], type(estimator).__name__, type(inner).__name__)
    return Y, mask, learnt
