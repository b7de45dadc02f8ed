"""Sums of products are taken in one order, bit by bit, so that networks are the same on all processors."""

import os
import subprocess
import sys

import llvmlite.binding
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from estimators.networks._kernels.lanes import N_LANES
from estimators.networks._kernels.vectors import dot


@njit
def product(a, at, b, start, n):
    return dot(a, at, b, start, n)


def slow(a, b, number):
    """Add every sixteenth product, then the halves of the sums, then the products that are left, one by one."""
    whole = len(a) // N_LANES * N_LANES
    lanes = [number(0)] * N_LANES
    for k in range(whole):
        lanes[k % N_LANES] += a[k] * b[k]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[k] + lanes[k + half] for k in range(half)]
    for k in range(whole, len(a)):
        lanes[0] += a[k] * b[k]
    return lanes[0]


@pytest.mark.parametrize("number", [np.float32, np.float64])
@given(n=st.integers(0, 5 * N_LANES), at=st.integers(0, 3), start=st.integers(0, 3), seed=st.integers(0, 2**32 - 1))
def test_products_are_added_in_lanes(number, n, at, start, seed):
    # Products of eleven bits each are exact, fused or not; sums of so many magnitudes are rounded.
    rng = np.random.default_rng(seed)
    a, b = np.ldexp(rng.integers(-(2**10), 2**10, (2, n + 3)), rng.integers(-20, 20, (2, n + 3))).astype(number)
    assert product(a, at, b, start, n) == slow(a[at : at + n], b[start : start + n], number)


# a processor that every one since 2013 can stand in for, with narrow vectors
OLDER = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+fma,+lzcnt,+popcnt,+prefer-128-bit,+sse4.2",
}
LEARN = """
import hashlib
import numpy as np
from estimators import make_strategy
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 30))
Y = (X[:, :5] + rng.normal(size=(400, 5)) > 0).astype(int)
learner = make_strategy("NN_TLH_memories", random_state=0).partial_fit(X, Y)
print(hashlib.sha256(learner.predict_proba(X).tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not llvmlite.binding.get_host_cpu_features().get("avx2"), reason="needs a processor that can stand in for another"
)
def test_a_network_is_the_same_compiled_for_an_older_processor(tmp_path):
    found = set()
    for processor in ({}, OLDER | {"NUMBA_CACHE_DIR": str(tmp_path)}):
        run = subprocess.run(
            [sys.executable, "-c", LEARN], env=os.environ | processor, capture_output=True, text=True, check=True
        )
        found.add(run.stdout)
    assert len(found) == 1
