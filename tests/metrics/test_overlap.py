"""Counts of cells are 64-bit integers and those of a slow loop, however tables and masks are stored."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from metrics import counts_by_row, label_counts
from metrics._overlap import Overlap, label_overlap, row_overlaps
from tests.loops import check_all

RNG = np.random.default_rng(5)
TRUE, PRED = RNG.integers(0, 2, (2, 7, 4))
MASKS = {"none": None, "labels": np.array([True, False, True, True]), "cells": RNG.random((7, 4)) < 0.7}


def loop(mask: Any, axis: int) -> list[list[int]]:
    counted = np.broadcast_to(True if mask is None else mask, TRUE.shape)
    totals = [[0] * TRUE.shape[1 - axis] for _ in range(4)]
    for row, label in np.argwhere(counted).tolist():
        t, p = int(TRUE[row, label]), int(PRED[row, label])
        for total, one in zip(totals, (t * p, t, p, 1), strict=True):
            total[row if axis == 1 else label] += one
    return totals


def count(axis: int, *arguments: Any) -> Overlap:
    return label_overlap(*arguments) if axis == 0 else next(row_overlaps(*arguments))


def test_counts_of_cells() -> None:
    def check(case: tuple[int, str, Callable[[Any], Any]]) -> None:
        axis, mask, store = case
        found = count(axis, store(TRUE), store(PRED), MASKS[mask])
        assert [numbers.tolist() for numbers in found] == loop(MASKS[mask], axis)
        assert {numbers.dtype for numbers in found} == {np.dtype(np.int64)}

    check_all(product([0, 1], MASKS, [np.asarray, sparse.csr_array]), check)


@pytest.mark.parametrize("metric", [label_counts, counts_by_row])
def test_counts_of_sparse_tables_are_those_of_dense_ones(metric: Callable[..., Any]) -> None:
    dense, csr = metric(TRUE, PRED), metric(sparse.csr_array(TRUE), sparse.csr_array(PRED))
    for name in ("tp", "fp", "fn", "tn"):
        np.testing.assert_array_equal(getattr(csr, name), getattr(dense, name))
        assert getattr(csr, name).dtype == getattr(dense, name).dtype == np.int64
