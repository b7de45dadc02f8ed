"""One row into a network, through it and back: answer, deltas, gradient.

`units` holds the outputs of all layers for one row, end to end from `at`, and `deltas` the derivatives of the loss by
them. A row of features is `values` and `indices` from `start` to `stop`.
"""
# ruff: noqa: PLR0913, PLR0917 - compiled functions take arrays one by one

import numpy as np
from numba import njit

from estimators._kernels.state import BALANCE, JIT, PUBLISHED
from estimators._kernels.vectors import add, copy, dot, put


@njit(**JIT)
def load(rows_values, rows_indices, start, n, values, indices, at):  # type: ignore[no-untyped-def]
    """Copy the n features from start to a place; return where they end there."""
    copy(values, at, rows_values, start, n)
    for q in range(min(n, rows_indices.size)):  # dense rows have no indices
        indices[at + q] = rows_indices[start + q]
    return at + n


@njit(**JIT)
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


@njit(**JIT)
def forward(w, sizes, values, indices, start, stop, units, at):  # type: ignore[no-untyped-def]
    """Fill the units, probabilities last; tell whether the scores before them are finite."""
    n_out = sizes[1]
    place = sizes[0] * n_out
    copy(units, at, w, place, n_out)
    for q in range(start, stop):
        add(units, at, w, indices[q] * n_out, n_out, values[q])
    for layer in range(1, sizes.size - 1):
        place, n_in, n_out = place + n_out, n_out, sizes[layer + 1]
        copy(units, at + n_in, w, place + n_in * n_out, n_out)
        for j in range(n_in):
            x = units[at + j]
            if x < 0:  # NaN goes on: it has to be seen
                units[at + j] = 0
            elif x != 0:
                add(units, at + n_in, w, place + j * n_out, n_out, x)
        place, at = place + n_in * n_out, at + n_in
    return _squash(units, at, n_out)


@njit(**JIT)
def _squash(units, at, n):  # type: ignore[no-untyped-def]
    finite = True
    for k in range(at, at + n):
        finite = finite and abs(units[k]) < np.inf
        units[k] = 1 / (1 + np.exp(-float(units[k])))
    return finite


@njit(**JIT)
def err(units, deltas, at, shares, shares_at, n, n_rows):  # type: ignore[no-untyped-def]
    """Fill the deltas of the output layer, for a step on n_rows rows."""
    for k in range(n):
        share = shares[shares_at + k]
        error = units[at + k] - 1 if share < 0 else units[at + k]
        deltas[at + k] = error * abs(share) / n_rows


@njit(**JIT)
def backward(w, sizes, units, deltas, at):  # type: ignore[no-untyped-def]
    """Fill the deltas of the hidden layers from those of the output layer, which lie from `at`."""
    place = w.size
    for layer in range(sizes.size - 2, 0, -1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        place -= (n_in + 1) * n_out
        for j in range(n_in):
            active = units[at - n_in + j] > 0
            deltas[at - n_in + j] = dot(w, place + j * n_out, deltas, at, n_out) if active else 0
        at -= n_in


@njit(**JIT)
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


@njit(**JIT)
def add_gradient(g, sizes, units, deltas, at, one):  # type: ignore[no-untyped-def]
    """Add the gradient of all other weights; one is 1 in their precision."""
    n_out = sizes[1]
    place = sizes[0] * n_out
    add(g, place, deltas, at, n_out, one)
    for layer in range(1, sizes.size - 1):
        place, n_in, n_out = place + n_out, n_out, sizes[layer + 1]
        for j in range(n_in):
            x = units[at + j]
            if x != 0:
                add(g, place + j * n_out, deltas, at + n_in, n_out, x)
        place, at = place + n_in * n_out, at + n_in
        add(g, place, deltas, at, n_out, one)


@njit(**JIT)
def thaws(live, shares, n_rows):  # type: ignore[no-untyped-def]
    """Tell whether `thaw` would change anything."""
    for k in range(live.size):
        counted = False
        for b in range(n_rows):
            counted = counted or shares[b * live.size + k] != 0
        if counted != live[k]:
            return True
    return False


@njit(**JIT)
def thaw(live, shares, n_rows):  # type: ignore[no-untyped-def]
    """Make live the outputs that some row of the step counts, and no others."""
    for k in range(live.size):
        live[k] = False
        for b in range(n_rows):
            live[k] = live[k] or shares[b * live.size + k] != 0
