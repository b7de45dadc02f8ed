"""Kernels are compiled once for what is alike: integers of all sizes, and arrays that may be written to or not."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.codegen import JITCodeLibrary
from scipy import sparse

from estimators._kernels.compile import PART, Direct, njit
from estimators._kernels.parts import PartLibrary
from estimators._kernels.sorting import order_descending
from estimators._kernels.watching import count_compiled
from estimators._typing import Array
from estimators.strategies import make_strategy
from tests.estimators.instances import HERE
from tests.loops import check_all, in_two_tiers


class Pair(NamedTuple):
    first: Array
    second: Array


@njit(**PART)
def double(x):
    return 2 * x


@njit()
def double_in_many_ways(x, places):
    return double(x) + double(places[0]) + double(3) + double(-4) + double(len(places))


def test_a_part_is_compiled_once_for_integers_of_all_sizes():
    assert double_in_many_ways(2.5, np.array([2**31 - 1], np.int32)) == 5.0 + 2 * (2**31 - 1 + 3 - 4 + 1)
    # fractions need their own
    assert {str(*signature) for signature in double.signatures} == {"float64", "int64"}


@njit(**PART)
def double_later(x):
    return double(x)


@njit(**PART)
def double_much_later(x):
    return double_later(x)


@njit(**PART)
def double_now(x):
    counted = 0
    for _ in range(2):
        counted += 1
    # LLVM removes the first call, and nothing but the second one needs its callees
    return double_later(x) if counted > 5 else double_much_later(x)


@njit(**PART)
def call_twice(x):
    return double_now(x)


@njit()
def double_by_detours(x):
    return call_twice(x)


def test_a_part_is_linked_where_an_earlier_caller_was_optimized_away():
    assert double_by_detours(2.5) == 5.0


def test_a_part_that_is_not_linked_is_an_error(monkeypatch):
    def note_callees_first(self, library):
        JITCodeLibrary.add_linking_library(self, library)
        self._linking_libraries = [*library._linking_libraries, *self._linking_libraries]

    monkeypatch.setattr(PartLibrary, "add_linking_library", note_callees_first)

    @njit(**PART)
    def calls_double(x):
        return double_later(x)

    @njit()
    def calls_it(x):
        return calls_double(x)

    with pytest.raises(RuntimeError, match=r"calls_double.* must hold all parts that it calls\. It lacks .*double"):
        calls_it(2.5)


@pytest.mark.parametrize("read_only_first", [False, True])
def test_an_array_that_must_not_be_written_makes_no_second_compilation(read_only_first):
    @njit()
    def total(pair, table):
        return pair.first[0] + pair.second[0] + table[0, 0]

    call = Direct(total)
    for read_only in (read_only_first, not read_only_first):
        arrays = np.array([1.0]), np.array([2.0]), np.array([[3.0]])
        arrays[0].flags.writeable = arrays[2].flags.writeable = not read_only
        assert call(Pair(*arrays[:2]), arrays[2]) == 6.0
    assert len(total.signatures) == 1
    assert all(array.mutable for array in total.signatures[0][0])


@njit()
def ordered(keys):
    order = np.empty(len(keys), np.int64)
    order_descending(keys, order)
    return order


@given(st.lists(st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 0.25, 2.0, 1e300, np.inf])))
def test_keys_come_from_the_greatest_to_the_least_and_equal_ones_stay_in_order(keys):
    expected = np.argsort(-np.array(keys, float), kind="stable")
    assert np.array_equal(ordered(np.array(keys, float)), expected)


# they fit trees of scikit-learn, or take hundreds of steps, for seconds
COSTLY = ("ContextWindow", "IRM", "GroupDRO")


def layouts_of(X):
    read_only, wide = X.copy(), sparse.csr_array(X)
    read_only.flags.writeable = False
    yield from (X.astype(np.float32), np.asfortranarray(X), read_only, X[:, ::-1], (9 * X).astype(int), X.tolist())
    yield wide.astype(np.float32)


def layouts_of_labels(Y):
    read_only = Y.copy()
    read_only.flags.writeable = False
    yield from (Y.astype(np.int64), Y.astype(bool), Y.astype(float), np.asfortranarray(Y), Y.tolist(), read_only)


@in_two_tiers([*(name for name in HERE if name not in COSTLY), *COSTLY], n_fast=-len(COSTLY))
def test_rows_of_other_types_and_layouts_compile_nothing(cases):
    def check(name):
        X = np.random.default_rng(0).random((60, 6))
        Y = (X[:, :3] > 0.5).astype(np.uint8)

        def call(X, Y):
            learner = make_strategy(name)
            learner.predict_then_fit(X, Y)
            learner.predict(X)

        call(X, Y)
        call(sparse.csr_array(X), Y)
        with count_compiled() as counted:
            for rows in layouts_of(X):
                call(rows, Y)
            for labels in layouts_of_labels(Y):
                call(X, labels)
        assert counted() == 0

    check_all(cases, check)
