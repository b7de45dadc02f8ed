"""Arrays of a few values that are as varied in their last cells as in their first."""

from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests import strategies


@cache  # to build a strategy takes longer than to draw from it
def tables(shape: tuple[int, ...], values: tuple[Any, ...], dtype: Any = None) -> st.SearchStrategy[NDArray[Any]]:
    """Draw the digits of one number, or scatter values by a seed.

    Hypothesis prefers small numbers, whose digits are zeros but for a few: simple cases, and what it simplifies others
    to. Scattered cells are as likely to hold one value as another.
    """

    def scatter(seed: int) -> NDArray[Any]:
        digits = np.array(values, dtype)
        return digits[np.random.default_rng(seed).integers(0, len(digits), shape)]

    return strategies.tables(shape, values, dtype) | st.integers(0, 2**32 - 1).map(scatter)
