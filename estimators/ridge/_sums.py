"""Sums over all rows, in any order, and the coefficients of ridge regression that follow from them."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack

from estimators._typing import Array
from estimators.contract.blas_threads import one_thread
from estimators.contract.validation import Features
from estimators.ridge._kernels.ridge import correlate

# A variance under this share of the mean square is rounding, and the feature a constant.
_NO_VARIANCE = 1e-10
# Rows that are left where all are taken away, as a share of all; squared deviations, as a share of all squares.
_ROUNDING = 1e-9
# Degrees of freedom that count as left at least, as a share of the rows, in the loss of generalised cross-validation.
_LEAST_FREEDOM = 0.02


class Block(NamedTuple):
    """Rows to add: features with a constant 1 first, targets and masks as floats times the weights, weights."""

    F: Features
    Y: Array
    mask: Array
    weight: Array

    def widened(self, n_new: int) -> "Block":
        """Return the same rows with more labels, which no mask counts."""
        return self._replace(Y=widened(self.Y, n_new), mask=widened(self.mask, n_new))


class Sums(NamedTuple):
    """Sums over rows, never changed in place; the first feature is the constant 1."""

    products: Array  # (n_features, n_features)
    in_mask: Array  # (n_features, n_labels): features of the rows whose mask counts the label
    positive: Array  # (n_features, n_labels): features of those among them that have the label
    nonzero: Array  # (n_features,): rows in which the feature is not 0

    @classmethod
    def zeros(cls, n_features: int, n_labels: int) -> Self:
        """Start from no row."""
        labels = np.zeros((n_features, n_labels))
        return cls(np.zeros((n_features, n_features)), labels, labels, np.zeros(n_features))

    def widened(self, n_new: int) -> "Sums":
        """Return the same sums with more labels, which no mask has counted."""
        return self._replace(in_mask=widened(self.in_mask, n_new), positive=widened(self.positive, n_new))

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Self:
        """Add up rows, as one table whatever the blocks it comes in."""
        block = stack(blocks)
        with one_thread():
            weighted = _scaled(block.F, block.weight)
            products, in_mask, positive = (_dense(block.F.T @ part) for part in (weighted, block.mask, block.Y))
        occurs = block.F.astype(np.bool_)
        return cls(products, in_mask, positive, np.asarray(occurs.T @ block.weight))

    def plus(self, other: "Sums") -> "Sums":
        """Add the sums over other rows."""
        return Sums(*(mine + its for mine, its in zip(self, other, strict=True)))

    def minus(self, other: "Sums") -> "Sums":
        """Take away the sums over some of the rows.

        What is left may be rounding: a label that no other row counts has sums of 0, and a feature that varied in the
        rows taken away only is a constant.
        """
        left = Sums(*(mine - its for mine, its in zip(self, other, strict=True)))
        squares = np.diag(left.products) - left.products[0] ** 2 / left.products[0, 0]
        flat = np.flatnonzero(squares[1:] <= _ROUNDING * np.diag(self.products)[1:]) + 1
        counted = left.in_mask[0] > _ROUNDING * self.in_mask[0]
        steady = left.with_constants(flat) if len(flat) else left
        return steady._replace(in_mask=steady.in_mask * counted, positive=steady.positive * counted)

    def with_constants(self, features: Array) -> "Sums":
        """Return the sums of rows in which some features have their mean everywhere."""
        means = (self.products[0, features] / self.products[0, 0])[:, np.newaxis]
        products, in_mask, positive, nonzero = (part.copy() for part in self)
        products[features] = means * products[0]
        products[:, features] = products[features].T
        products[np.ix_(features, features)] = means * means.T * products[0, 0]
        in_mask[features], positive[features] = means * in_mask[0], means * positive[0]
        return Sums(products, in_mask, positive, nonzero)

    def times(self, share: float) -> "Sums":
        """Return the sums of rows whose weights are a share of what they were."""
        return Sums(*(share * mine for mine in self))


def widened(table: Array, n_new: int) -> Array:
    """Add columns of zeros for labels of which nothing is known."""
    return np.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, n_new)])


class Model(NamedTuple):
    """Coefficients of shape (n_features, n_labels), the constant first; prevalence of each label inside its masks."""

    coef: Array
    prevalence: Array


class Factor(NamedTuple):
    """The system that all labels share, factorised: what the coefficients of a label follow from."""

    triangle: Array  # (n_features, n_features)
    scale: Array  # (n_features,): inverse deviations of features, 0 for a constant

    def solve(self, in_mask: Array, positive: Array) -> Model:
        """Return the coefficients of labels from their sums, which may be over more rows than the factor's."""
        target, label_mean, prevalence = _standardise_labels(in_mask, positive, self.scale)
        with one_thread():
            solution, _ = lapack.dpotrs(self.triangle.T, target, lower=False)
        coef = solution * self.scale[:, np.newaxis]
        constant = prevalence - (label_mean * coef).sum(axis=0)
        return Model(np.ascontiguousarray(np.vstack([constant, coef])), np.clip(prevalence, 0.0, 1.0))


def factorise(sums: Sums, penalty: Array) -> Factor:
    """Return the factor of standardised features, with a positive penalty for the coefficient of each.

    The sums hold at least one row. Raises ValueError if they are not finite, or have no solution.
    """
    system, scale = _standardise(sums, np.ones(len(penalty)), penalty)
    with one_thread():
        # the lower triangle of an array in the order of C is the upper one in that of Fortran, which LAPACK reads
        triangle, info = lapack.dpotrf(system.T, lower=False, overwrite_a=True, clean=False)
    if info:
        raise ValueError(
            "l2 must be large enough beside the weights of rows for features that repeat each other. "
            "Got sums that have no solution instead; raise l2, or divide all weights by one number."
        )
    return Factor(triangle.T, scale)


def solve(sums: Sums, penalty: Array) -> Model:
    """Return the coefficients of all labels from one factorisation; a label that no mask counts has prevalence 0.

    Features are standardised, and all labels share the covariance of all rows; means, and the covariance with a label,
    are those of the rows whose mask counts it. The errors are those of `factorise`.
    """
    return factorise(sums, penalty).solve(sums.in_mask, sums.positive)


def choose_penalty(sums: Sums, penalty: Array, levels: Sequence[float]) -> float | None:
    """Return the level that is best for all labels together by generalised cross-validation.

    A level multiplies the penalties that `solve` takes. One factorisation serves all of them. The squared residuals of
    a label that a mask leaves out in some rows do not follow from the sums; None if that is so for all labels.
    """
    n_rows = sums.products[0, 0]
    complete = sums.in_mask[0] >= (1.0 - _ROUNDING) * n_rows
    if not complete.any():
        return None
    # coefficients in units in which all penalties are the same
    system, scale = _standardise(sums, np.sqrt(1.0 / penalty), np.zeros(len(penalty)))
    target, _, prevalence = _standardise_labels(sums.in_mask, sums.positive, scale)
    with one_thread():
        values, axes = linalg.eigh(system, overwrite_a=True, check_finite=False)
        along = ((axes.T @ target[:, complete]) ** 2).sum(axis=1)
    values, total = np.maximum(values, 0.0), float((prevalence * (1.0 - prevalence))[complete].sum())
    losses = []
    for level in levels:
        shrunk = 1.0 / (values + level)
        squares = total - float(along @ (shrunk * (2.0 - values * shrunk)))
        freedom = 1.0 - (1.0 + float((values * shrunk).sum())) / n_rows
        losses.append(squares / max(freedom, _LEAST_FREEDOM) ** 2)
    return levels[int(np.argmin(losses))]


def _standardise(sums: Sums, unit: Array, penalty: Array) -> tuple[Array, Array]:
    """Return the covariances of features with the deviation `unit`, of which the lower triangle is filled, and scales.

    Penalties are added to the diagonal.
    """
    n_rows = sums.products[0, 0]
    mean_square = np.diag(sums.products)[1:] / n_rows
    _require_finite(mean_square)
    variance = mean_square - (sums.products[0, 1:] / n_rows) ** 2
    varies = variance > _NO_VARIANCE * mean_square
    scale = np.divide(unit, np.sqrt(np.where(varies, variance, 1.0)), out=np.zeros_like(variance), where=varies)
    system = np.zeros((len(scale), len(scale)), order="C")
    correlate(sums.products, scale, penalty, system)
    return system, scale


def _standardise_labels(in_mask: Array, positive: Array, scale: Array) -> tuple[Array, Array, Array]:
    """Return the covariances of scaled features with labels, means of features, and prevalence, where they count."""
    rows = np.maximum(in_mask[0], np.finfo(float).tiny)
    prevalence, label_mean = positive[0] / rows, in_mask[1:] / rows
    target = (positive[1:] / rows - label_mean * prevalence) * scale[:, np.newaxis]
    _require_finite(target)
    return target, label_mean, prevalence


def _require_finite(values: Array) -> None:
    if not np.isfinite(values).all():
        raise ValueError("X must be small enough to be squared and summed. Got sums that are not finite instead.")


def stack(blocks: Sequence[Block]) -> Block:
    """Put rows that came in blocks under each other."""
    if len(blocks) == 1:
        return blocks[0]
    F, *rest = zip(*blocks, strict=True)
    stacked = sparse.vstack(F, format="csr") if sparse.issparse(F[0]) else np.vstack(F)
    return Block(stacked, *(np.concatenate(parts) for parts in rest))


def _scaled(F: Features, weight: Array) -> Any:
    if (weight == 1).all():
        return F
    return sparse.diags_array(weight) @ F if sparse.issparse(F) else F * weight[:, np.newaxis]


def _dense(product: Any) -> Array:
    return np.asarray(product.toarray() if isinstance(product, sparse.csr_array | sparse.csc_array) else product)
