"""One pass over the rows of a chunk by a network that holds on to what earlier tasks have taught it."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import INLINE, JIT, njit, uint64, unowned_views
from estimators.networks._kernels.adam import adam, tick
from estimators.networks._kernels.network import (
    add_features,
    add_gradient,
    backward,
    err,
    forward,
    load,
    put_features,
    weigh,
)
from estimators.networks._kernels.state import DENSE, LEARN, LEAST_G, LEAST_M, ONE, STEPS, ZERO, Floats, Integers
from estimators.networks._kernels.vectors import clear, copy, size


class Past(NamedTuple):
    """What a network knows of its tasks.

    ``mask`` are the labels that count in the present task, and ``n_rows`` how many of its rows have been learnt. Tasks
    that are over were about the ``known`` labels, and left the weights at ``anchor``. Where weights are held, they are
    of an ``importance`` each, and the present task adds up ``squares`` of its gradients; elsewhere these are empty.
    """

    mask: npt.NDArray[np.bool_]
    known: npt.NDArray[np.bool_]
    n_rows: Integers
    anchor: Floats
    importance: Floats
    squares: Floats


class Forces(NamedTuple):
    """How strongly the past holds: its weights, their importance after one more task, its answers and their heat."""

    penalty: Any
    decay: Any
    distillation: Any
    temperature: Any


@njit(**JIT)
def run(net, batch, rows, past, forces, most_rows, proba):  # type: ignore[no-untyped-def]
    """Put the answers to all rows into proba and, if the options say so, learn the rows.

    Returns -1, or the row at which the network left the range of its numbers; it is half changed then.
    """
    old = np.empty(past.mask.size, net.w.dtype)
    net, batch, rows, past, proba = (
        unowned_views(net),
        unowned_views(batch),
        unowned_views(rows),
        unowned_views(past),
        unowned_views(proba),
    )
    w, m, v, g, sizes, clock, _, _, counts, _, options, rate, limit, constants = net
    values, indices, stops, units, deltas, shares, _, _ = batch
    n_labels, top, dense = sizes[-1], units.size - sizes[-1], options[DENSE] != 0
    for i in range(rows.weight.size):
        learning = options[LEARN] != 0 and rows.weight[i] > 0
        if learning:
            meet(w, past, rows.codes, i, most_rows, constants, forces.decay)
        stops[0] = load(rows.values, rows.indices, rows.starts[i], rows.ends[i] - rows.starts[i], values, indices, 0)
        n_absent = count_absent(past) if learning and forces.distillation > 0 else 0
        if n_absent:
            forward(past.anchor, sizes, values, indices, stops, units, dense, 0, 1)
            copy(old, 0, units, top, n_labels)
        if not forward(w, sizes, values, indices, stops, units, dense, 0, 1):
            return i
        copy(proba, i * n_labels, units, top, n_labels)
        if learning:
            weigh(rows.codes, rows.weight, i, counts, options, shares, 0)
            err(units, deltas, top, shares, 0, n_labels, 1)
            if n_absent:
                distil(units, deltas, top, old, past, forces, rows.weight[i] / n_absent)
            backward(w, sizes, units, deltas, top)
            tick(clock, constants, rate, True)
            put_gradient(g, sizes, dense, batch, int(clock[STEPS]), constants[ONE])
            hold(w, g, past, constants, forces.penalty)
            gradient = size(g, 0, g.size)
            if not (gradient < limit and max(gradient, 1) * rate < limit):
                return i
            adam(w, m, v, g, constants, 0, w.size)
    return -1


@njit(**INLINE)
def meet(w, past, codes, i, most_rows, constants, decay):  # type: ignore[no-untyped-def]
    """End the task if row i is of another one, then count the row and remember which labels count in it."""
    if is_over(past, codes, i, most_rows):
        consolidate(w, past, constants, decay)
    past.n_rows[0] += 1
    for k in range(past.mask.size):
        past.mask[k] = codes[i, k] > 1


@njit(**INLINE)
def is_over(past, codes, i, most_rows):  # type: ignore[no-untyped-def]
    """Tell whether the task is over once row i comes: other labels count, or its rows are used up."""
    over = past.n_rows[0] == most_rows
    for k in range(past.mask.size):
        over = over or past.mask[k] != (codes[i, k] > 1)
    return over and past.n_rows[0] > 0


@njit(**INLINE)
def consolidate(w, past, constants, decay):  # type: ignore[no-untyped-def]
    """End the task: anchor the weights, and add their importance to what is left of that for earlier tasks."""
    least, zero, share = constants[LEAST_M], constants[ZERO], 1 / past.n_rows[0]
    copy(past.anchor, 0, w, 0, w.size)
    for k in range(past.mask.size):
        past.known[k] = past.known[k] or past.mask[k]
    for j in range(uint64(past.squares.size)):
        importance = decay * past.importance[j] + share * past.squares[j]
        past.importance[j] = importance if importance > least else zero
        past.squares[j] = 0
    past.n_rows[0] = 0


@njit(**INLINE)
def put_gradient(g, sizes, dense, batch, step, one):  # type: ignore[no-untyped-def]
    """Put the gradient of all weights from the deltas of the one row of the batch."""
    values, indices, stops, units, deltas, _, stamp, touched = batch
    clear(g, sizes[0] * sizes[1] if dense else 0, g.size)
    add_gradient(g, sizes, units, deltas, 0, one)
    if dense:
        put_features(g, sizes[1], values, stops[0], deltas, units.size, 1)
    else:
        add_features(g, sizes[1], values, indices, 0, stops[0], deltas, 0, stamp, step, touched, 0)


@njit(**INLINE)
def hold(w, g, past, constants, penalty):  # type: ignore[no-untyped-def]
    """Add up the squares of the gradient, then add to it the pull back to the anchor.

    Gradients too small to move a weight are left out: their squares would be denormal, and slow.
    """
    least, zero = constants[LEAST_G], constants[ZERO]
    for j in range(uint64(past.squares.size)):
        slope = g[j] if abs(g[j]) > least else zero
        past.squares[j] += slope * slope
        g[j] = slope + penalty * past.importance[j] * (w[j] - past.anchor[j])


@njit(**INLINE)
def count_absent(past):  # type: ignore[no-untyped-def]
    """Count the labels that earlier tasks were about and the present one is not."""
    n = 0
    for k in range(past.mask.size):
        n += past.known[k] and not past.mask[k]
    return n


@njit(**INLINE)
def distil(units, deltas, top, old, past, forces, share):  # type: ignore[no-untyped-def]
    """Add to the deltas of these labels what draws their answers to the old ones, each of a share."""
    for k in range(past.mask.size):
        if past.known[k] and not past.mask[k]:
            difference = soften(units[top + k], forces.temperature) - soften(old[k], forces.temperature)
            deltas[top + k] += share * forces.distillation * forces.temperature * difference


@njit(**INLINE)
def soften(p, temperature):  # type: ignore[no-untyped-def]
    """Return the probability whose score is that of p, divided by the temperature."""
    yes, no = p ** (1 / temperature), (1 - p) ** (1 / temperature)
    return yes / (yes + no)
