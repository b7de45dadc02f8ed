"""Kernels of ridge regression on a stream: features, scores and sums.

Every row is summed by itself and in one order, so that bits do not depend on the rows around it.
"""

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._typing import Array


@Direct
@njit(**LOOP)
def expand(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    X: Array,
    shift: Array,
    scale: Array,
    hinged: Array,
    knots: Array,
    pairs: Array,
    weights: Array,
    biases: Array,
    out: Array,
) -> None:
    """Fill rows with 1, standardised features, their hinges at the knots, products of pairs, and rectified units."""
    n_features, n_knots = len(shift), knots.shape[1]
    first_pair = 1 + n_features + len(hinged) * n_knots
    for row in range(len(X)):
        values = out[row, 1 : 1 + n_features]
        out[row, 0] = 1.0
        for feature in range(n_features):
            values[feature] = (X[row, feature] - shift[feature]) * scale[feature]
        rectify(values, weights, biases, out[row, first_pair + len(pairs) :])
        for place in range(len(hinged)):
            for knot in range(n_knots):
                hinge = 1 + n_features + place * n_knots + knot
                out[row, hinge] = max(0.0, values[hinged[place]] - knots[place, knot])
        for pair in range(len(pairs)):
            out[row, first_pair + pair] = values[pairs[pair, 0]] * values[pairs[pair, 1]]


@njit(**PART)
def rectify(values: Array, weights: Array, biases: Array, units: Array) -> None:
    """Fill in units: weighted sums of values, where they are positive."""
    for unit in range(len(units)):
        units[unit] = biases[unit]
    for feature in range(len(values)):
        for unit in range(len(units)):
            units[unit] += values[feature] * weights[feature, unit]
    for unit in range(len(units)):
        units[unit] = max(0.0, units[unit])


@njit(**LOOP)
def dense_scores(F: Array, coef: Array, out: Array) -> None:
    """Add rows of features times coefficients (n_features, n_labels) to zeros."""
    for row in range(len(F)):
        for feature in range(F.shape[1]):
            value = F[row, feature]
            if value != 0.0:
                for label in range(coef.shape[1]):
                    out[row, label] += value * coef[feature, label]


@njit(**LOOP)
def sparse_scores(indptr: Array, indices: Array, data: Array, coef: Array, out: Array) -> None:
    """Add sparse rows times coefficients (n_features, n_labels) to zeros."""
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            value = data[entry]
            for label in range(coef.shape[1]):
                out[row, label] += value * coef[indices[entry], label]


@njit(**LOOP)
def correlate(products: Array, scale: Array, penalty: Array, system: Array) -> None:
    """Fill the lower triangle with correlations of features, a penalty added to the diagonal.

    Products of features hold the constant 1 first; a scale is the inverse of a deviation, or 0 for a constant.
    """
    n_rows = products[0, 0]
    for i in range(len(scale)):
        for j in range(i + 1):
            covariance = (products[i + 1, j + 1] - products[0, i + 1] * (products[0, j + 1] / n_rows)) / n_rows
            system[i, j] = covariance * scale[i] * scale[j]
        system[i, i] += penalty[i]


@njit(**LOOP)
def count_to_doubling(Y: Array, counted: Array, positives: Array, first: int) -> tuple[int, bool]:
    """Count positive rows of each label up to the row, not before `first`, at which those of one have doubled.

    Positives (2, n_labels) are those so far, and those from which they double; the first positive row doubles none.
    Return how many rows were counted, and whether they end at such a row.
    """
    n_labels, doubled = positives.shape[1], False
    for label in range(n_labels):
        doubled |= positives[0, label] >= max(1, 2 * positives[1, label])
    for row in range(len(Y)):
        for label in range(n_labels):
            if counted[row, label] and Y[row, label] == 1:
                positives[0, label] += 1
                doubled |= positives[0, label] >= max(1, 2 * positives[1, label])
        if doubled and row >= first:
            return row + 1, True
    return len(Y), False
