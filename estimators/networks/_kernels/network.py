"""One row through a network and back: probabilities, deltas, gradient.

`units` holds the outputs of all layers for one row, one layer after another from `at`, and `deltas` the derivatives of
the loss with respect to them.
"""
# ruff: noqa: PLR0913, PLR0917 - compiled functions take arrays one by one

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, INLINE, njit
from estimators._typing import Number
from estimators.networks._kernels.state import Batch, CodedRows, Doubles, Flags, Floats, Integers, RunOptions
from estimators.networks._kernels.vectors import add, add4, clear, clear_inactive, copy, dot, put, put4, relu


@njit(**INLINE)
def load_features(source: CodedRows, row: int, batch: Batch, b: int) -> None:
    """Copy the features of a row into place b of the batch."""
    first, at = source.starts[row], b * batch.length
    n = source.ends[row] - first
    copy(batch.values, at, source.values, first, n)
    for q in range(min(n, source.indices.size)):  # dense rows have no indices
        batch.indices[at + q] = source.indices[first + q]
    batch.stops[b] = at + n


@njit(**INLINE)
def share_loss(
    source: CodedRows, row: int, counts: Doubles | None, options: RunOptions, shares: Floats, at: int
) -> None:
    """Put the share of each label in the loss of a row into shares from `at`, negative where the label is 1."""
    codes = source.codes
    n_labels, n_counted = codes.shape[1], 0
    for k in range(n_labels):
        n_counted += codes[row, k] >> 1
    if options.published:
        n_counted = n_labels
    for k in range(n_labels):
        code = codes[row, k]
        share = source.weight[row] / n_counted if code > 1 else 0.0
        if counts is not None and options.balance:
            share *= (counts[0, k] + counts[1, k] + 2) / (2 * counts[code & 1, k] + 2)
        shares[at + k] = -share if code & 1 else share


@njit(**INLINE)
def forward(w: Floats, sizes: Integers, batch: Batch, dense: bool, first: int, last: int) -> bool:
    """Fill the units of rows first to last, probabilities at the end; return whether their logits are finite."""
    forward_to_logits(w, sizes, batch, dense, first, last)
    return sigmoids(batch, sizes[-1], first, last)


@njit(**INLINE)
def sigmoids(batch: Batch, n_labels: int, first: int, last: int) -> bool:
    """Replace the logits of rows first to last by probabilities; return whether the logits are finite."""
    finite = True
    for b in range(first, last):
        finite = sigmoid(batch.units, (b + 1) * batch.n_units - n_labels, n_labels) and finite
    return finite


@njit(**INLINE)
def forward_to_logits(w: Floats, sizes: Integers, batch: Batch, dense: bool, first: int, last: int) -> None:
    """Fill the units of rows first to last, logits at the end."""
    width, length, units = sizes[1], batch.length, batch.units
    for b in range(first, last):
        copy(units, b * batch.n_units, w, sizes[0] * width, width)
    # the weights of four features at a time are read for all dense rows, as all rows have the same features
    block = 4 if dense and last - first > 1 else length
    for q in range(0, length, block):
        for b in range(first, last):
            start = b * length + q
            stop = min(start + block, batch.stops[b])
            add_inputs(w, width, batch.values, batch.indices, start, stop, units, b * batch.n_units)
    _propagate(w, sizes, batch, first, last)


@njit(**INLINE)
def add_inputs(
    w: Floats,
    width: int,
    values: Floats,
    indices: npt.NDArray[np.int32],
    start: int,
    stop: int,
    units: Floats,
    at: int,
) -> None:
    """Add the inputs of the first layer that come from features start to stop."""
    fours = start + ((stop - start) & ~3)
    for q in range(start, fours, 4):
        rows = indices[q] * width, indices[q + 1] * width, indices[q + 2] * width, indices[q + 3] * width
        add4(units, at, w, rows, (values[q], values[q + 1], values[q + 2], values[q + 3]), width)
    for q in range(fours, stop):
        add(units, at, w, indices[q] * width, width, values[q])


@njit(**INLINE)
def _propagate(w: Floats, sizes: Integers, batch: Batch, first: int, last: int) -> None:
    """Compute the layers above the first one, up to the logits: the weights of an output are read once for all rows."""
    units, n_units, lower, n_out = batch.units, batch.n_units, 0, sizes[1]
    place = (sizes[0] + 1) * n_out
    for layer in range(1, sizes.size - 1):
        n_in, n_out = n_out, sizes[layer + 1]
        for b in range(first, last):
            relu(units, b * n_units + lower, n_in)
        for k in range(n_out):
            for b in range(first, last):
                at = b * n_units + lower
                units[at + n_in + k] = w[place + n_out * n_in + k] + dot(w, place + k * n_in, units, at, n_in)
        place, lower = place + n_out * (n_in + 1), lower + n_in


@njit(**INLINE)
def sigmoid(units: Floats, at: int, n: int) -> bool:
    """Replace n logits by probabilities; return whether the logits are finite."""
    finite = True
    for k in range(at, at + n):
        finite = finite and abs(units[k]) < np.inf
        units[k] = 1 / (1 + np.exp(-float(units[k])))
    return finite


@njit(**INLINE)
def output_deltas(units: Floats, deltas: Floats, at: int, shares: Floats, shares_at: int, n: int, n_rows: int) -> None:
    """Fill the deltas of the n outputs, for a step on n_rows rows."""
    for k in range(n):
        share = shares[shares_at + k]
        error = units[at + k] - 1 if share < 0 else units[at + k]
        deltas[at + k] = error * abs(share) / n_rows


@njit(**INLINE)
def backward(w: Floats, sizes: Integers, units: Floats, deltas: Floats, at: int) -> None:
    """Fill the deltas of the hidden layers from those of the output layer, which begin at `at`."""
    place = w.size
    for layer in range(sizes.size - 2, 0, -1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        place, lower = place - n_out * (n_in + 1), at - n_in
        clear(deltas, lower, at)
        for k in range(n_out):
            if deltas[at + k] != 0:
                add(deltas, lower, w, place + k * n_in, n_in, deltas[at + k])
        clear_inactive(deltas, lower, units, n_in)
        at = lower


@njit(**INLINE)
def add_sparse_gradient(g: Floats, width: int, batch: Batch, stamp: Integers | None, b: int, step: int, n: int) -> int:
    """Add the gradient of row b by its features' weights; list features new in this step, and return their number."""
    if stamp is None:
        return 0
    values, indices, deltas, at = batch.values, batch.indices, batch.deltas, b * batch.n_units
    for q in range(b * batch.length, batch.stops[b]):
        j = indices[q]
        if stamp[j] == step:
            add(g, j * width, deltas, at, width, values[q])
        else:
            put(g, j * width, deltas, at, width, values[q])
            stamp[j] = step
            batch.touched[n] = j  # type: ignore[index]
            n += 1
    return n


@njit(**INLINE)
def put_dense_gradient(g: Floats, width: int, batch: Batch, stamp: Integers | None, n_rows: int) -> None:
    """Put the gradient by the weights of all features, of one dense row or of several; see `clear_places`."""
    if stamp is not None:
        return
    for j in range(batch.length):
        put_feature_gradient(g, j * width, width, batch, j, 0, n_rows)


@njit(**INLINE)
def put_feature_gradient(g: Floats, at: int, width: int, batch: Batch, j: int, first: int, last: int) -> None:
    """Put the gradient by the weights of a feature into g from `at`, of the dense rows first to last of the batch.

    Several rows are taken by fours: places up to the next multiple of four must have been cleared.
    """
    values, deltas, length, n_units = batch.values, batch.deltas, batch.length, batch.n_units
    if last - first == 1:
        put(g, at, deltas, first * n_units, width, values[first * length + j])
    for b in range(first, last if last - first > 1 else first, 4):
        rows = b * n_units, (b + 1) * n_units, (b + 2) * n_units, (b + 3) * n_units
        q = b * length + j
        x = values[q], values[q + length], values[q + 2 * length], values[q + 3 * length]
        if b == first:
            put4(g, at, deltas, rows, x, width)
        else:
            add4(g, at, deltas, rows, x, width)


@njit(**INLINE)
def clear_places(batch: Batch, n_rows: int) -> None:
    """Clear the places of dense rows after the n_rows of a step, up to a multiple of four, unless it is one row."""
    for b in range(n_rows, (n_rows + 3) // 4 * 4 if n_rows > 1 else n_rows):
        clear(batch.deltas, b * batch.n_units, (b + 1) * batch.n_units)
        clear(batch.values, b * batch.length, (b + 1) * batch.length)


@njit(**INLINE)
def add_upper_gradient(g: Floats, sizes: Integers, units: Floats, deltas: Floats, at: int, one: Number) -> None:
    """Add the gradient by all other weights; `one` is 1 in their precision."""
    n_out = sizes[1]
    place = sizes[0] * n_out
    add(g, place, deltas, at, n_out, one)
    place += n_out
    for layer in range(1, sizes.size - 1):
        n_in, n_out = n_out, sizes[layer + 1]
        upper = at + n_in
        for k in range(n_out):
            if deltas[upper + k] != 0:
                add(g, place + k * n_in, units, at, n_in, deltas[upper + k])
        add(g, place + n_out * n_in, deltas, upper, n_out, one)
        place, at = place + n_out * (n_in + 1), upper


@njit(**BUILD)
def live_changes(live: Flags, shares: Floats, first: int, last: int) -> bool:
    """Return whether `set_live` would change anything."""
    for k in range(live.size):
        counted = False
        for b in range(first, last):
            counted = counted or shares[b * live.size + k] != 0
        if counted != live[k]:
            return True
    return False


@njit(**BUILD)
def set_live(live: Flags, shares: Floats, first: int, last: int) -> None:
    """Mark the outputs that count in some of the rows first to last, and no others, as live."""
    for k in range(live.size):
        live[k] = False
        for b in range(first, last):
            live[k] = live[k] or shares[b * live.size + k] != 0
