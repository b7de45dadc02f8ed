"""One pass over the rows of a chunk: answer each, then learn it together with what is replayed."""

from typing import Any

import numpy as np

from estimators._kernels.compile import JIT, njit, unowned_views
from estimators.networks._kernels.adam import move, move_live, tick
from estimators.networks._kernels.lazy_adam import refresh, refresh_all
from estimators.networks._kernels.network import (
    add_features,
    add_gradient,
    backward,
    err,
    forward,
    load,
    put_features,
    thaw,
    thaws,
    weigh,
)
from estimators.networks._kernels.running_stats import count_features, count_labels, standardise
from estimators.networks._kernels.state import (
    ADAM,
    BALANCE,
    DENSE,
    LAZY,
    LEARN,
    MINI_BATCH,
    ONE,
    RATE,
    SCALE,
    STEPS,
    Rows,
)
from estimators.networks._kernels.vectors import clear, copy, size


@njit(**JIT)
def run(bench, draws, slots, proba, *parts):  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912, PLR0915 - its parts see its arrays
    """Put the answers to all rows into proba and, if the options say so, learn the rows.

    The parts of the rows come one by one, as Numba takes longer over a tuple than to learn a small row.

    Draws are, for each row, slots of the store whose rows are replayed with it, and slots those that the row is then
    put into; -1 is none. The store itself is not changed: ``taken`` knows the slots that rows of the chunk have taken.
    Returns -1, or the row at which the network left the range of its numbers; it is half changed then.
    """
    net, lazy, batch, store = (
        unowned_views(bench.net),
        unowned_views(bench.lazy),
        unowned_views(bench.batch),
        unowned_views(bench.store),
    )
    taken = unowned_views(bench.taken)
    for slot in range(taken.size):
        taken[slot] = -1
    rows, draws, slots, proba = (
        unowned_views(Rows(*parts)),
        unowned_views(draws),
        unowned_views(slots),
        unowned_views(proba),
    )
    w, m, v, g, sizes, clock, last, live, counts, scaler, options, rate, limit, constants = net
    values, indices, stops, units, deltas, shares, stamp, touched = batch
    n_labels, width = sizes[-1], sizes[1]
    n_units, length = units.size // stops.size, values.size // stops.size
    output = w.size - (sizes[-2] + 1) * n_labels
    live_features = live if output == 0 else live[:0]
    dense, together, adaptive = options[DENSE] != 0, options[MINI_BATCH] != 0, options[ADAM] != 0
    counting = options[BALANCE] != 0 or options[SCALE] != 0
    if options[LEARN] and not dense and adaptive and not clock[LAZY]:
        for j in range(last.size):
            last[j] = int(clock[STEPS])
        clock[LAZY] = True
        clock[RATE] = rate

    def take(b: Any, row: Any, own: Any) -> None:
        """Take a row of the chunk, or of the store, into place b of the batch."""
        of, start = rows if own else store, b * length
        stops[b] = load(of.values, of.indices, of.starts[row], of.ends[row] - of.starts[row], values, indices, start)
        weigh(of.codes, of.weight, row, counts, options, shares, b * n_labels)
        if options[SCALE]:
            standardise(scaler, clock, options, values, indices, start, stops[b])
        if options[LEARN] and clock[LAZY]:
            now = int(clock[STEPS])
            for q in range(start, stops[b]):
                refresh(w, m, v, constants, rate, lazy, live_features, width, last, np.int64(indices[q]), now)

    def derive(b: Any, n_rows: Any) -> Any:
        """Fill the deltas of row b; tell whether squares of its gradient, and the step, fit the network's numbers."""
        at, top = b * n_units, (b + 1) * n_units - n_labels
        err(units, deltas, top, shares, b * n_labels, n_labels, n_rows)
        backward(w, sizes, units, deltas, top)
        n = stops[b] - b * length
        inputs = (size(values, b * length, n) if n else 0) + size(units, at, n_units)
        gradient = size(deltas, at, n_units) * (inputs + 1)
        return gradient < limit and max(gradient, 1) * rate < limit

    def add_up(n_rows: Any) -> Any:
        """Add up the gradient of the rows; list the features it is about, and return their number."""
        n_touched, step = np.int64(0), int(clock[STEPS])
        clear(g, sizes[0] * width, g.size)
        for b in range(n_rows):
            at = b * n_units
            add_gradient(g, sizes, units, deltas, at, constants[ONE])
            if not dense:
                start = b * length
                n_touched = add_features(
                    g, width, values, indices, start, stops[b], deltas, at, stamp, step, touched, n_touched
                )
        if dense:
            for b in range(n_rows, (n_rows + 3) // 4 * 4 if n_rows > 1 else n_rows):
                clear(deltas, b * n_units, (b + 1) * n_units)
                clear(values, b * length, (b + 1) * length)
            put_features(g, width, values, length, deltas, n_units, n_rows)
        return n_touched

    def go(n_touched: Any) -> None:
        """Move all weights, or, if rows are sparse, those of the features touched and of what is above them."""
        frozen = live.size > 0 and adaptive
        for q in range(n_touched + 1):
            if q < n_touched:
                last[touched[q]] = int(clock[STEPS])
                start = touched[q] * width
                stop = start + width
            else:
                start = 0 if dense else sizes[0] * width
                stop = output if frozen and output > 0 else w.size
            if frozen and output == 0:
                move_live(w, m, v, g, constants, live, start, stop, np.int64(1))
            else:
                move(w, m, v, g, constants, adaptive, start, stop)
        if frozen and output > 0:
            biases = w.size - n_labels
            move_live(w, m, v, g, constants, live, output, biases, sizes[-2])
            move_live(w, m, v, g, constants, live, biases, w.size, np.int64(1))

    for i in range(rows.weight.size):
        learning = options[LEARN] != 0 and rows.weight[i] > 0
        first_turn = -1 if learning and counting else 0
        last_turn = draws.shape[1] if learning else 0
        n_rows = np.int64(0)
        # turn -1, where something is counted, answers the row as it came; turn 0 the row, and later ones those drawn
        for turn in range(first_turn, last_turn + 1):
            slot = draws[i, turn - 1] if turn > 0 else -1
            if turn <= 0 or slot >= 0:
                own = turn <= 0 or taken[slot] >= 0
                take(n_rows, i if turn <= 0 else taken[slot] if own else slot, own)
                n_rows += np.int64(1)
            # what is learnt together is answered together, but for the row itself
            first = 1 if together and turn > 0 else 0
            asked = turn <= 0 or not together or turn == last_turn
            if asked and not forward(w, sizes, values, indices, stops, units, dense, first, n_rows):
                return i
            if turn == first_turn:
                copy(proba, i * n_labels, units, n_units - n_labels, n_labels)
            if turn < 0:
                count_labels(counts, rows.codes, i)
                count_features(scaler, clock, rows.values, rows.indices, rows.starts[i], rows.ends[i])
                n_rows = np.int64(0)
            if learning and n_rows > 0 and (not together or turn == last_turn):
                for b in range(n_rows):
                    if not derive(b, n_rows):
                        return i
                if live.size and thaws(live, shares, n_rows):
                    if clock[LAZY] and output == 0:
                        refresh_all(w, m, v, constants, rate, lazy, live, width, last, int(clock[STEPS]))
                    thaw(live, shares, n_rows)
                tick(clock, constants, rate, adaptive)
                go(add_up(n_rows))
                n_rows = np.int64(0)
        for q in range(slots.shape[1]):
            if learning and slots[i, q] >= 0:
                taken[slots[i, q]] = i
    return -1
