"""One pass over the rows of a chunk by a network that holds on to what earlier tasks have taught it."""
# ruff: noqa: PLR0913, PLR0917 - compiled functions take arrays one by one

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, uint64

from estimators._kernels.adam import adam, tick
from estimators._kernels.borrow import borrow
from estimators._kernels.network import add_features, add_gradient, backward, err, forward, load, put_features, weigh
from estimators._kernels.state import DENSE, INLINE, JIT, LEARN, LEAST_G, LEAST_M, ONE, STEPS, ZERO, Floats, Integers
from estimators._kernels.vectors import clear, copy, size


class Past(NamedTuple):
    """What a network knows of its tasks.

    ``mask`` are the labels that count in the present task, and ``n_rows`` how many of its rows have been learnt. Tasks
    that are over left the weights at ``anchor``, of an ``importance`` each; the present one adds up ``squares`` of its
    gradients.
    """

    mask: npt.NDArray[np.bool_]
    n_rows: Integers
    anchor: Floats
    importance: Floats
    squares: Floats


@njit(**JIT)
def run(net, batch, rows, past, penalty, decay, most_rows, proba):  # type: ignore[no-untyped-def]
    """Put the answers to all rows into proba and, if the options say so, learn the rows.

    Returns -1, or the row at which the network left the range of its numbers; it is half changed then.
    """
    net, batch, rows, past, proba = borrow(net), borrow(batch), borrow(rows), borrow(past), borrow(proba)
    w, m, v, g, sizes, clock, _, _, counts, _, options, rate, limit, constants = net
    values, indices, stops, units, deltas, shares, stamp, touched = batch
    n_labels, width, dense = sizes[-1], sizes[1], options[DENSE] != 0
    top = units.size - n_labels
    for i in range(rows.weight.size):
        stops[0] = load(rows.values, rows.indices, rows.starts[i], rows.ends[i] - rows.starts[i], values, indices, 0)
        if not forward(w, sizes, values, indices, stops, units, dense, 0, 1):
            return i
        copy(proba, i * n_labels, units, top, n_labels)
        if options[LEARN] == 0 or rows.weight[i] == 0:
            continue
        if is_over(past, rows.codes, i, most_rows):
            consolidate(w, past, constants, decay)
        begin_or_go_on(past, rows.codes, i)
        weigh(rows.codes, rows.weight, i, counts, options, shares, 0)
        err(units, deltas, top, shares, 0, n_labels, 1)
        backward(w, sizes, units, deltas, top)
        tick(clock, constants, rate, True)
        clear(g, sizes[0] * width if dense else 0, g.size)
        add_gradient(g, sizes, units, deltas, 0, constants[ONE])
        if dense:
            put_features(g, width, values, stops[0], deltas, units.size, 1)
        else:
            step = int(clock[STEPS])
            add_features(g, width, values, indices, 0, stops[0], deltas, 0, stamp, step, touched, 0)
        hold(w, g, past, constants, penalty)
        if not size(g, 0, g.size) < limit:
            return i
        adam(w, m, v, g, constants, 0, w.size)
    return -1


@njit(**INLINE)
def is_over(past, codes, i, most_rows):  # type: ignore[no-untyped-def]
    """Tell whether the task is over once row i comes: other labels count, or its rows are used up."""
    over = past.n_rows[0] == most_rows
    for k in range(past.mask.size):
        over = over or past.mask[k] != (codes[i, k] > 1)
    return over and past.n_rows[0] > 0


@njit(**INLINE)
def consolidate(w, past, constants, decay):  # type: ignore[no-untyped-def]
    """Anchor the weights, add the task's importance to what is left of that of earlier ones, and begin anew."""
    least, zero, share = constants[LEAST_M], constants[ZERO], 1 / past.n_rows[0]
    copy(past.anchor, 0, w, 0, w.size)
    for j in range(uint64(w.size)):
        importance = decay * past.importance[j] + share * past.squares[j]
        past.importance[j] = importance if importance > least else zero
        past.squares[j] = 0
    past.n_rows[0] = 0


@njit(**INLINE)
def begin_or_go_on(past, codes, i):  # type: ignore[no-untyped-def]
    """Count row i, and remember which labels count in it."""
    past.n_rows[0] += 1
    for k in range(past.mask.size):
        past.mask[k] = codes[i, k] > 1


@njit(**INLINE)
def hold(w, g, past, constants, penalty):  # type: ignore[no-untyped-def]
    """Add up the squares of the gradient, then add to it the pull back to the anchor.

    Gradients too small to move a weight are left out: their squares would be denormal, and slow.
    """
    least, zero = constants[LEAST_G], constants[ZERO]
    for j in range(uint64(w.size)):
        slope = g[j] if abs(g[j]) > least else zero
        past.squares[j] += slope * slope
        g[j] = slope + penalty * past.importance[j] * (w[j] - past.anchor[j])
