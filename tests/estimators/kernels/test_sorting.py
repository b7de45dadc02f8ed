"""Places of keys are ordered as Python sorts them: greatest first, equal keys as they were."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from estimators._kernels.sorting import order_descending

KEYS = st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 0.25, 2.0, 1e300, math.inf]) | st.floats(allow_nan=False)


@njit
def ordered(keys):
    order = np.empty(len(keys), np.int64)
    order_descending(keys, order)
    return order


@given(st.lists(KEYS, max_size=40))
def test_keys_are_ordered_as_python_orders_them(keys):
    expected = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
    assert ordered(np.array(keys, float)).tolist() == expected
