"""What is counted while the stream runs: how often each label occurs, and the spread of each feature."""

import numpy as np

from estimators._kernels.compile import BUILD, njit
from estimators.networks._kernels.state import CENTRE, ROWS


@njit(**BUILD)
def count_labels(counts, codes, i):  # type: ignore[no-untyped-def]
    """Count the labels of row i that count."""
    for k in range(codes.shape[1]):
        if codes[i, k] > 1:
            counts[codes[i, k] & 1, k] += 1


@njit(**BUILD)
def count_features(scaler, clock, values, indices, start, stop):  # type: ignore[no-untyped-def]
    """Take a row into number, mean and squared deviations of each feature's values other than 0 (Welford)."""
    clock[ROWS] += 1
    for q in range(start, stop):
        j = indices[q] if indices.size else q - start
        x = values[q]
        if x != 0:
            scaler[0, j] += 1
            off = x - scaler[1, j]
            scaler[1, j] += off / scaler[0, j]
            scaler[2, j] += off * (x - scaler[1, j])


@njit(**BUILD)
def standardise(scaler, clock, options, values, indices, start, stop):  # type: ignore[no-untyped-def]
    """Divide features by their deviation, zeros counted, after taking away their mean if the options say so."""
    rows = clock[ROWS]
    if rows == 0:
        return
    for q in range(start, stop):
        number, mean, squares = scaler[0, indices[q]], scaler[1, indices[q]], scaler[2, indices[q]]
        variance = (squares + number * (rows - number) / rows * mean * mean) / rows
        centre = number * mean / rows if options[CENTRE] else 0.0
        values[q] = (values[q] - centre) / (np.sqrt(variance) if variance > 0 else 1.0)
