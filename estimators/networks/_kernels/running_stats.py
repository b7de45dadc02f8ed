"""Running statistics of the stream: how often each label occurs, and the spread of each feature."""

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, njit
from estimators.networks._kernels.state import ROWS, Batch, CodedRows, Doubles, Network


@njit(**BUILD)
def count_labels(counts: Doubles | None, codes: npt.NDArray[np.uint8], i: int) -> None:
    """Count zeros and ones of the labels of row i that count."""
    if counts is None:
        return
    for k in range(codes.shape[1]):
        if codes[i, k] > 1:
            counts[codes[i, k] & 1, k] += 1


@njit(**BUILD)
def count_features(scaler: Doubles | None, clock: Doubles, rows: CodedRows, i: int) -> None:
    """Add row i to number, mean and squared deviations of each feature's values other than 0 (Welford)."""
    if scaler is None:
        return
    clock[ROWS] += 1
    start = rows.starts[i]
    for q in range(start, rows.ends[i]):
        j = rows.indices[q] if rows.indices.size else q - start
        x = rows.values[q]
        if x != 0:
            scaler[0, j] += 1
            off = x - scaler[1, j]
            scaler[1, j] += off / scaler[0, j]
            scaler[2, j] += off * (x - scaler[1, j])


@njit(**BUILD)
def standardise(net: Network, scaler: Doubles | None, batch: Batch, start: int, stop: int) -> None:
    """Divide features by their deviation, zeros counted; with `centre`, subtract their mean before that."""
    if scaler is None or net.clock[ROWS] == 0:
        return
    values, indices, rows = batch.values, batch.indices, net.clock[ROWS]
    for q in range(start, stop):
        number, mean, squares = scaler[0, indices[q]], scaler[1, indices[q]], scaler[2, indices[q]]
        variance = (squares + number * (rows - number) / rows * mean * mean) / rows
        centre = number * mean / rows if net.options.centre else 0.0
        values[q] = (values[q] - centre) / (np.sqrt(variance) if variance > 0 else 1.0)
