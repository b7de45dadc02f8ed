"""One pass over the rows of a chunk: answer each, then learn it together with what is replayed."""

from typing import Any

import numpy as np
from numba import njit

from estimators._kernels.adam import move, tick
from estimators._kernels.lazy_adam import make_lazy, refresh, refresh_all
from estimators._kernels.network import add_features, add_gradient, backward, err, forward, load, thaw, thaws, weigh
from estimators._kernels.running import count_features, count_labels, standardise
from estimators._kernels.state import ADAM, BALANCE, DENSE, JIT, LAZY, LEARN, MINI_BATCH, ONE, RATE, SCALE, STEPS
from estimators._kernels.vectors import clear, copy, size


@njit(**JIT)
def run(net, tables, rows, store, draws, slots, proba):  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912, PLR0915 - see below
    """Put the answers to all rows into proba and, if the options say so, learn the rows.

    Draws are, for each row, slots of the store whose rows are replayed with it, and slots those that the row is then
    put into; -1 is none. The store itself is not changed: ``origin`` knows the slots that the chunk has taken over.
    Returns -1, or the row at which the network left the range of its numbers; it is half changed then.
    """
    # Numba counts a reference to an array whenever it is taken from a tuple: taken once, and seen by functions within
    # this one, the small networks of a stream learn twice as fast
    w, m, v, g, sizes, last, live = net.w, net.m, net.v, net.g, net.sizes, net.last, net.live
    clock, counts, scaler, options, constants = net.clock, net.counts, net.scaler, net.options, net.constants
    rate, limit, lazy = net.rate, net.limit, make_lazy(tables, net.w)
    batch = _make_batch(net, rows, store, draws.shape[1])
    values, indices, stops, units, deltas, shares, stamp, touched = batch
    x_rows, j_rows, starts, ends = rows.values, rows.indices, rows.starts, rows.ends
    codes, weight = rows.codes, rows.weight
    x_store, j_store, starts_store, ends_store = store.values, store.indices, store.starts, store.ends
    codes_store, weight_store = store.codes, store.weight
    n_labels, width = sizes[-1], sizes[1]
    n_units, length = units.size // stops.size, values.size // stops.size
    output = w.size - (sizes[-2] + 1) * n_labels
    none = live[:0]
    live_features = live if output == 0 else none
    dense, together = options[DENSE] != 0, options[MINI_BATCH] != 0
    counting = options[BALANCE] != 0 or options[SCALE] != 0
    origin = np.full(weight_store.size, -1, np.int64)
    if options[LEARN] and clock[LAZY] and dense:
        refresh_all(w, m, v, constants, rate, tables, live_features, width, last, int(clock[STEPS]))
    elif options[LEARN] and not clock[LAZY] and not dense:
        last[:] = int(clock[STEPS])
    if options[LEARN]:
        clock[LAZY] = not dense and options[ADAM]
        clock[RATE] = rate

    def answer(b: Any, row: Any, own: Any) -> Any:
        """Take a row of the chunk, or of the store, into place b and put it through; tell whether scores are finite."""
        start = b * length
        if own:
            stops[b] = load(x_rows, j_rows, starts[row], ends[row] - starts[row], values, indices, start)
            weigh(codes, weight, row, counts, options, shares, b * n_labels)
        else:
            n = ends_store[row] - starts_store[row]
            stops[b] = load(x_store, j_store, starts_store[row], n, values, indices, start)
            weigh(codes_store, weight_store, row, counts, options, shares, b * n_labels)
        if options[SCALE]:
            standardise(scaler, clock, options, values, indices, start, stops[b])
        if options[LEARN] and clock[LAZY]:
            for q in range(start, stops[b]):
                refresh(w, m, v, constants, rate, lazy, live_features, width, last, indices[q], int(clock[STEPS]))
        return forward(w, sizes, values, indices, start, stops[b], units, b * n_units)

    def derive(b: Any, n_rows: Any) -> Any:
        """Fill the deltas of row b; tell whether squares of its gradient fit the numbers of the network."""
        at, top = b * n_units, (b + 1) * n_units - n_labels
        err(units, deltas, top, shares, b * n_labels, n_labels, n_rows)
        backward(w, sizes, units, deltas, top)
        inputs = size(values, b * length, stops[b] - b * length) + size(units, at, n_units)
        return size(deltas, at, n_units) * (inputs + 1) < limit

    def learn(n_rows: Any) -> None:
        """Take one step on the rows answered and derived."""
        if live.size and thaws(live, shares, n_rows):
            if clock[LAZY] and output == 0:
                refresh_all(w, m, v, constants, rate, tables, live, width, last, int(clock[STEPS]))
            thaw(live, shares, n_rows)
        tick(clock, constants, rate, options[ADAM])
        step, n_touched, rest = int(clock[STEPS]), np.int64(0), sizes[0] * width
        clear(g, rest, g.size)
        for b in range(n_rows):
            n_touched = add_features(
                g, width, values, indices, b * length, stops[b], deltas, b * n_units, stamp, step, touched, n_touched
            )
            add_gradient(g, sizes, units, deltas, b * n_units, constants[ONE])
        for q in range(0 if dense else n_touched):
            move(w, m, v, g, constants, options, live_features, touched[q] * width, (touched[q] + 1) * width)
            last[touched[q]] = step
        start = 0 if dense else rest
        middle = max(start, output)
        move(w, m, v, g, constants, options, none, start, middle)
        move(w, m, v, g, constants, options, live, middle, w.size)

    for i in range(weight.size):
        learning = options[LEARN] != 0 and weight[i] > 0
        first_turn = -1 if learning and counting else 0
        last_turn = draws.shape[1] if learning else 0
        n_rows = np.int64(0)
        for turn in range(first_turn, last_turn + 1):
            slot = draws[i, turn - 1] if turn > 0 else -1
            if turn <= 0 or slot >= 0:
                own = turn <= 0 or origin[slot] >= 0
                row = i if turn <= 0 else origin[slot] if own else slot
                if not answer(n_rows, row, own):
                    return i
                n_rows += np.int64(turn >= 0)
            if turn == first_turn:
                copy(proba, i * n_labels, units, n_units - n_labels, n_labels)
            if turn < 0:
                count_labels(counts, codes, i)
                count_features(scaler, clock, x_rows, j_rows, starts[i], ends[i])
            if learning and n_rows > 0 and (not together or turn == last_turn):
                for b in range(n_rows):
                    if not derive(b, n_rows):
                        return i
                learn(n_rows)
                n_rows = np.int64(0)
        for q in range(slots.shape[1]):
            if learning and slots[i, q] >= 0:
                origin[slots[i, q]] = i
    return -1


@njit(**JIT)
def _make_batch(net, rows, store, n_draws):  # type: ignore[no-untyped-def]
    """Make room for the rows of one step: see the names it is given in `run`.

    Row b has its features in an equal part of values and indices, up to ``stops[b]``; the outputs of all layers and the
    derivatives of the loss by them in an equal part of units and deltas; and the share of each label in the loss,
    negative where the label is 1, in shares. ``stamp`` is the last step that met a feature, ``touched`` are those met.
    """
    longest = 1
    for i in range(rows.starts.size):
        longest = max(longest, rows.ends[i] - rows.starts[i])
    for i in range(store.starts.size):
        longest = max(longest, store.ends[i] - store.starts[i])
    n_rows = 1 + n_draws if net.options[MINI_BATCH] else 1
    n_units = 0
    for layer in range(1, net.sizes.size):
        n_units += net.sizes[layer]
    indices = np.empty(n_rows * longest, np.int32)
    for q in range(indices.size):
        indices[q] = q % longest
    kind = net.w.dtype
    return (
        np.empty(n_rows * longest, kind),
        indices,
        np.empty(n_rows, np.int64),
        np.empty(n_rows * n_units, kind),
        np.empty(n_rows * n_units, kind),
        np.empty(n_rows * net.sizes[-1], kind),
        np.zeros(net.sizes[0], np.int64),
        np.empty(net.sizes[0], np.int32),
    )
