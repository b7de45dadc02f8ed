"""One pass over the rows of a chunk: predict each, then learn it together with the rows replayed."""

from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import HOT, JIT, njit, unowned_views
from estimators.networks._kernels.adam import count_step, update, update_live
from estimators.networks._kernels.lazy_adam import refresh, refresh_all
from estimators.networks._kernels.network import (
    add_sparse_gradient,
    add_upper_gradient,
    backward,
    forward,
    live_changes,
    load_features,
    output_deltas,
    put_dense_gradient,
    put_feature_gradient,
    set_live,
    share_loss,
)
from estimators.networks._kernels.running_stats import count_features, count_labels, standardise
from estimators.networks._kernels.state import (
    LAZY,
    ONE,
    RATE,
    STEPS,
    Batch,
    CodedRows,
    Flags,
    Floats,
    Integers,
    Lazy,
    Network,
    Workspace,
)
from estimators.networks._kernels.vectors import clear, copy, l1_norm


@njit(**JIT)
def run(context: Any, draws: Integers, slots: Integers, proba: Floats, *parts: npt.NDArray[Any]) -> int:
    """Put the probabilities of all rows into proba and, with the option `learn`, learn the rows.

    The parts of the rows come one by one, as Numba takes longer over a tuple than to learn a small row.

    Draws are, for each row, slots of the store whose rows are replayed with it, and slots those that the row is then
    put into; -1 stands for no slot. The store itself is not changed: ``taken`` says which row of the chunk a slot holds
    by now. Returns -1, or the row at which the network left the range of its numbers; it is half changed then.
    """
    work, rows = unowned_views(context.workspace), unowned_views(CodedRows(*parts))
    return process_rows(work, rows, unowned_views(draws), unowned_views(slots), unowned_views(proba))


@njit(**HOT)
def process_rows(work: Workspace, rows: CodedRows, draws: Integers, slots: Integers, proba: Floats) -> int:
    """Predict and learn row after row; return -1, or the row at which the network diverged."""
    for slot in range(work.taken.size):
        work.taken[slot] = -1
    if work.net.options.learn:
        start_lazy_steps(work.net, work.lazy)
    for i in range(rows.weight.size):
        learning = work.net.options.learn and rows.weight[i] > 0
        if not process_row(work, rows, draws, proba, i, learning):
            return i
        for q in range(slots.shape[1] if learning else 0):
            if slots[i, q] >= 0:
                work.taken[slots[i, q]] = i
    return -1


@njit(**HOT)
def start_lazy_steps(net: Network, lazy: Lazy | None) -> None:
    """From now on, let Adam skip the weights of features that are zero in a row, if rows are sparse."""
    if lazy is not None and net.options.adam and not net.clock[LAZY]:
        for j in range(net.last.size):
            net.last[j] = int(net.clock[STEPS])
        net.clock[LAZY] = True
        net.clock[RATE] = net.options.rate


@njit(**HOT)
def process_row(work: Workspace, rows: CodedRows, draws: Integers, proba: Floats, i: int, learning: bool) -> bool:
    """Predict row i, then learn it and the rows drawn for it; return False if the network diverged.

    Where statistics are updated, turn -1 predicts the row with those before it. Turn 0 is the row itself, and each
    later turn a row drawn. Each part of a step is called at one place only, as compiled code is copied to each.
    """
    net, batch, n_labels = work.net, work.batch, work.net.sizes[-1]
    together = net.options.mini_batch
    first_turn = -1 if learning and (net.options.balance or net.options.scale) else 0
    last_turn = draws.shape[1] if learning else 0
    n_rows = np.int64(0)
    for turn in range(first_turn, last_turn + 1):
        n_rows += load_turn(work, rows, draws, i, turn, n_rows)
        # rows learnt together are predicted together, except for the row itself
        first, is_last = 1 if together and turn > 0 else 0, turn == last_turn or not together
        if (turn <= 0 or is_last) and not forward(net.w, net.sizes, batch, net.options.dense, first, n_rows):
            return False
        if turn == first_turn:
            copy(proba, i * n_labels, batch.units, batch.n_units - n_labels, n_labels)
        if turn < 0:
            count_labels(net.counts, rows.codes, i)
            count_features(net.scaler, net.clock, rows, i)
        elif learning and n_rows > 0 and is_last and not learn_batch(work, n_rows):
            return False
        n_rows = n_rows if together and turn >= 0 else np.int64(0)
    return True


@njit(**HOT)
def load_turn(work: Workspace, rows: CodedRows, draws: Integers, i: int, turn: int, b: int) -> int:
    """Put the row of a turn into place b of the batch; return the number of rows, 0 if none was drawn."""
    slot = draws[i, turn - 1] if turn > 0 else -1
    if turn > 0 and slot < 0:
        return 0
    own = turn <= 0 or work.taken[slot] >= 0
    row = i if turn <= 0 else work.taken[slot] if own else slot
    load_row(work, rows if own else work.store, row, b)
    return 1


@njit(**HOT)
def load_row(work: Workspace, source: CodedRows, row: int, b: int) -> None:
    """Put a row into place b of the batch, and take the steps that the weights of its features have skipped."""
    net, batch = work.net, work.batch
    start = b * batch.length
    load_features(source, row, batch, b)
    share_loss(source, row, net.counts, net.options, batch.shares, b * net.sizes[-1])
    if net.options.scale:
        standardise(net, net.scaler, batch, start, batch.stops[b])
    refresh_features(net, batch, work.lazy, start, batch.stops[b])


@njit(**HOT)
def refresh_features(net: Network, batch: Batch, lazy: Lazy | None, start: int, stop: int) -> None:
    """Take the steps that the weights of features of the batch have skipped, if rows are learnt."""
    if lazy is not None and net.options.learn and net.clock[LAZY]:
        live, now, width, rate = net.live_inputs, int(net.clock[STEPS]), net.sizes[1], net.options.rate
        for q in range(start, stop):
            j = np.int64(batch.indices[q])
            refresh(net.w, net.m, net.v, net.constants, rate, lazy, live, width, net.last, j, now)


@njit(**HOT)
def learn_batch(work: Workspace, n_rows: int) -> bool:
    """Take a step on the rows of the batch; return False if numbers get too large for it."""
    net, batch = work.net, work.batch
    for b in range(n_rows):
        if not backpropagate(net, batch, b, n_rows):
            return False
    choose_live(net, batch, net.live, work.lazy, n_rows)
    count_step(net.clock, net.constants, net.options.rate, net.options.adam)
    n_touched = sum_gradients(net, batch, n_rows)
    if net.options.dense and net.sizes.size > 2:
        update_features(net, batch, n_rows)
    update_weights(net, net.live, batch.touched, n_touched)
    return True


@njit(**HOT)
def choose_live(net: Network, batch: Batch, live: Flags | None, lazy: Lazy | None, n_rows: int) -> None:
    """Mark the outputs that the step updates, after the steps that they have skipped."""
    if live is not None and live_changes(live, batch.shares, n_rows):
        if lazy is not None and net.clock[LAZY] and net.sizes.size == 2:
            args = net.constants, net.options.rate, lazy, net.live_inputs, net.sizes[1], net.last
            refresh_all(net.w, net.m, net.v, *args, int(net.clock[STEPS]))
        set_live(live, batch.shares, n_rows)


@njit(**HOT)
def backpropagate(net: Network, batch: Batch, b: int, n_rows: int) -> bool:
    """Fill the deltas of row b; return whether squares of its gradient fit the network's numbers."""
    units, deltas, n_labels = batch.units, batch.deltas, net.sizes[-1]
    at = b * batch.n_units
    top = at + batch.n_units - n_labels
    output_deltas(units, deltas, top, batch.shares, b * n_labels, n_labels, n_rows)
    backward(net.w, net.sizes, units, deltas, top)
    n = batch.stops[b] - b * batch.length
    inputs = (l1_norm(batch.values, b * batch.length, n) if n else 0) + l1_norm(units, at, batch.n_units)
    return l1_norm(deltas, at, batch.n_units) * (inputs + 1) < net.limit


@njit(**HOT)
def sum_gradients(net: Network, batch: Batch, n_rows: int) -> np.int64:
    """Add up the gradients of the rows, but those of `update_features`; list the features of sparse rows.

    Returns the number of these features.
    """
    g, width = net.g, net.sizes[1]
    n_touched, step = np.int64(0), int(net.clock[STEPS])
    clear(g, net.sizes[0] * width, g.size)
    for b in range(n_rows):
        add_upper_gradient(g, net.sizes, batch.units, batch.deltas, b * batch.n_units, net.constants[ONE])
        if not net.options.dense:
            n_touched = add_sparse_gradient(g, width, batch, batch.stamp, b, step, n_touched)
    if net.options.dense:
        for b in range(n_rows, (n_rows + 3) // 4 * 4 if n_rows > 1 else n_rows):
            clear(batch.deltas, b * batch.n_units, (b + 1) * batch.n_units)
            clear(batch.values, b * batch.length, (b + 1) * batch.length)
        if net.sizes.size == 2:
            put_dense_gradient(g, width, batch, batch.stamp, n_rows)
    return n_touched


@njit(**HOT)
def update_weights(
    net: Network, live: Flags | None, touched: npt.NDArray[np.int32] | None, n_touched: np.int64
) -> None:
    """Update the weights of the features touched, if rows are sparse, and all that `update_features` leaves."""
    n_outputs, n_in, hidden = net.sizes[-1], net.sizes[-2], net.sizes.size > 2
    frozen, width = live is not None and net.options.adam, net.sizes[1]
    output = net.w.size - (n_in + 1) * n_outputs
    first = 0 if net.options.dense and not hidden else net.sizes[0] * width
    # the last part is the one above the features, or all of a network that has one layer
    for q in range(n_touched + 1):
        start = first_weight(net, touched, q) if q < n_touched else first
        stop = start + width if q < n_touched else output if frozen and hidden else net.w.size
        if live is not None and frozen and not hidden:
            update_live(net.w, net.m, net.v, net.g, net.constants, live, start, stop, np.int64(1))
        else:
            update(net.w, net.m, net.v, net.g, net.constants, net.options.adam, start, stop, start)
    if live is not None and frozen and hidden:
        biases = net.w.size - n_outputs
        update_live(net.w, net.m, net.v, net.g, net.constants, live, output, biases, n_in)
        update_live(net.w, net.m, net.v, net.g, net.constants, live, biases, net.w.size, np.int64(1))


@njit(**HOT)
def update_features(net: Network, batch: Batch, n_rows: int) -> None:
    """Update the weights of each feature by its gradient in dense rows, which is put into one place for all features.

    It stays in the cache of the processor there; all gradients would be written to memory, and read again.
    """
    width = net.sizes[1]
    for j in range(batch.length):
        put_feature_gradient(net.g, 0, width, batch, j, n_rows)
        start, stop = j * width, (j + 1) * width
        update(net.w, net.m, net.v, net.g, net.constants, net.options.adam, start, stop, 0)


@njit(**HOT)
def first_weight(net: Network, touched: npt.NDArray[np.int32] | None, q: int) -> int:
    """Return where the weights of a touched feature start, and note the step that updates them."""
    if touched is None:
        return 0
    net.last[touched[q]] = int(net.clock[STEPS])
    return int(touched[q] * net.sizes[1])
