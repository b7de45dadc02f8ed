"""One row into a network, through it and back: answer, deltas, gradient.

`units` holds the outputs of all layers for one row, end to end from `at`, and `deltas` the derivatives of the loss by
them. A row of features is `values` and `indices` from `start` to `stop`.
"""
# ruff: noqa: PLR0913, PLR0917 - compiled functions take arrays one by one

import numpy as np

from estimators._kernels.compile import BUILD, INLINE, njit
from estimators.networks._kernels.state import BALANCE, PUBLISHED
from estimators.networks._kernels.vectors import add, add4, clear, copy, dot, keep_active, put, put4, rectify


@njit(**INLINE)
def load(rows_values, rows_indices, start, n, values, indices, at):  # type: ignore[no-untyped-def]
    """Copy the n features from start to a place; return where they end there."""
    copy(values, at, rows_values, start, n)
    for q in range(min(n, rows_indices.size)):  # dense rows have no indices
        indices[at + q] = rows_indices[start + q]
    return at + n


@njit(**INLINE)
def weigh(codes, weight, i, counts, options, shares, at):  # type: ignore[no-untyped-def]
    """Put the share of each label in the loss of row i into a place, negative where the label is 1."""
    n_labels, counted = codes.shape[1], 0
    for k in range(n_labels):
        counted += codes[i, k] >> 1
    if options[PUBLISHED]:
        counted = n_labels
    for k in range(n_labels):
        code = codes[i, k]
        share = weight[i] / counted if code > 1 else 0.0
        if options[BALANCE]:
            share *= (counts[0, k] + counts[1, k] + 2) / (2 * counts[code & 1, k] + 2)
        shares[at + k] = -share if code & 1 else share


@njit(**INLINE)
def forward(w, sizes, values, indices, stops, units, dense, first, last):  # type: ignore[no-untyped-def]
    """Fill the units of rows first to last, probabilities last; tell whether the scores before them are finite."""
    width, length, n_units = sizes[1], values.size // stops.size, units.size // stops.size
    for b in range(first, last):
        copy(units, b * n_units, w, sizes[0] * width, width)
    # the weights of four features at a time are read for all dense rows, as all rows are about the same features
    block = 4 if dense and last - first > 1 else length
    for q in range(0, length, block):
        for b in range(first, last):
            start = b * length + q
            _enter(w, width, values, indices, start, min(start + block, stops[b]), units, b * n_units)
    finite = True
    for b in range(first, last):
        finite = _rise(w, sizes, units, b * n_units) and finite
    return finite


@njit(**INLINE)
def _enter(w, width, values, indices, start, stop, units, at):  # type: ignore[no-untyped-def]
    """Add what features from start to stop give to the first layer."""
    fours = start + ((stop - start) & ~3)
    for q in range(start, fours, 4):
        rows = indices[q] * width, indices[q + 1] * width, indices[q + 2] * width, indices[q + 3] * width
        add4(units, at, w, rows, (values[q], values[q + 1], values[q + 2], values[q + 3]), width)
    for q in range(fours, stop):
        add(units, at, w, indices[q] * width, width, values[q])


@njit(**INLINE)
def _rise(w, sizes, units, at):  # type: ignore[no-untyped-def]
    """Go on from the first layer to the probabilities."""
    n_out = sizes[1]
    place = (sizes[0] + 1) * n_out
    for layer in range(1, sizes.size - 1):
        n_in, n_out = n_out, sizes[layer + 1]
        rectify(units, at, n_in)
        for k in range(n_out):
            units[at + n_in + k] = w[place + n_out * n_in + k] + dot(w, place + k * n_in, units, at, n_in)
        place, at = place + n_out * (n_in + 1), at + n_in
    return _squash(units, at, n_out)


@njit(**INLINE)
def _squash(units, at, n):  # type: ignore[no-untyped-def]
    finite = True
    for k in range(at, at + n):
        finite = finite and abs(units[k]) < np.inf
        units[k] = 1 / (1 + np.exp(-float(units[k])))
    return finite


@njit(**INLINE)
def err(units, deltas, at, shares, shares_at, n, n_rows):  # type: ignore[no-untyped-def]
    """Fill the deltas of the output layer, for a step on n_rows rows."""
    for k in range(n):
        share = shares[shares_at + k]
        error = units[at + k] - 1 if share < 0 else units[at + k]
        deltas[at + k] = error * abs(share) / n_rows


@njit(**INLINE)
def backward(w, sizes, units, deltas, at):  # type: ignore[no-untyped-def]
    """Fill the deltas of the hidden layers from those of the output layer, which lie from `at`."""
    place = w.size
    for layer in range(sizes.size - 2, 0, -1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        place, lower = place - n_out * (n_in + 1), at - n_in
        clear(deltas, lower, at)
        for k in range(n_out):
            if deltas[at + k] != 0:
                add(deltas, lower, w, place + k * n_in, n_in, deltas[at + k])
        keep_active(deltas, lower, units, n_in)
        at = lower


@njit(**INLINE)
def add_features(g, width, values, indices, start, stop, deltas, at, stamp, step, touched, n):  # type: ignore[no-untyped-def]
    """Add the gradient of the weights of features; list features met first in this step, return their number so far."""
    for q in range(start, stop):
        j = indices[q]
        if stamp[j] == step:
            add(g, j * width, deltas, at, width, values[q])
        else:
            put(g, j * width, deltas, at, width, values[q])
            stamp[j] = step
            touched[n] = j
            n += 1
    return n


@njit(**INLINE)
def put_features(g, width, values, length, deltas, n_units, n_rows):  # type: ignore[no-untyped-def]
    """Put the gradient of the weights of all features, from one dense row or rows by fours, the last ones all zero."""
    for j in range(length):
        if n_rows == 1:
            put(g, j * width, deltas, 0, width, values[j])
        for b in range(0, n_rows if n_rows > 1 else 0, 4):
            rows = b * n_units, (b + 1) * n_units, (b + 2) * n_units, (b + 3) * n_units
            q = b * length + j
            x = values[q], values[q + length], values[q + 2 * length], values[q + 3 * length]
            if b == 0:
                put4(g, j * width, deltas, rows, x, width)
            else:
                add4(g, j * width, deltas, rows, x, width)


@njit(**INLINE)
def add_gradient(g, sizes, units, deltas, at, one):  # type: ignore[no-untyped-def]
    """Add the gradient of all other weights; one is 1 in their precision."""
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
def thaws(live, shares, n_rows):  # type: ignore[no-untyped-def]
    """Tell whether `thaw` would change anything."""
    for k in range(live.size):
        counted = False
        for b in range(n_rows):
            counted = counted or shares[b * live.size + k] != 0
        if counted != live[k]:
            return True
    return False


@njit(**BUILD)
def thaw(live, shares, n_rows):  # type: ignore[no-untyped-def]
    """Make live the outputs that some row of the step counts, and no others."""
    for k in range(live.size):
        live[k] = False
        for b in range(n_rows):
            live[k] = live[k] or shares[b * live.size + k] != 0
