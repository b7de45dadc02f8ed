"""One pass over the rows of a chunk: predict each, then learn it together with the rows replayed."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, HOT, JIT, int64, njit, unowned_views
from estimators._typing import Array
from estimators.networks._kernels.adam import count_step
from estimators.networks._kernels.lazy_adam import refresh, refresh_all
from estimators.networks._kernels.network import (
    add_sparse_gradient,
    backward,
    clear_places,
    live_changes,
    load_features,
    output_deltas,
    set_live,
    share_loss,
    sigmoids,
)
from estimators.networks._kernels.state import (
    LAZY,
    RATE,
    ROWS,
    STEPS,
    Batch,
    CodedRows,
    Doubles,
    Flags,
    Floats,
    Integers,
    Lazy,
    Network,
    RunOptions,
    Workspace,
)
from estimators.networks._kernels.vectors import copy, l1_norm
from estimators.networks._kernels.weight_pass import Places, pass_layers, update_inputs


class Turns(NamedTuple):
    """The turns of a row, from first to last, and one more, before stop, to learn the rows that still wait.

    Where statistics are updated, turn -1 predicts the row with those before it. Turn 0 is the row itself, and each
    later turn a row drawn. The row itself is predicted in turn `own`.
    """

    first: int
    last: int
    own: int
    stop: int
    together: bool


@njit(**JIT)
def run(context: Any, draws: Integers, slots: Integers, proba: Floats, *parts: Array) -> int:
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

    Rows learnt together are gathered, predicted in the last turn and learnt after it. A row learnt by itself is learnt
    in the turn of the next one, which the same pass over the weights predicts. Each part of a step is called at one
    place only, as compiled code is copied to each.
    """
    batch, n_labels, together = work.batch, work.net.sizes[-1], work.net.options.mini_batch
    turns = plan_turns(work.net.options, draws.shape[1], learning)
    first = last = int64(0 if together else 1)  # the rows in places first to last wait to be learnt
    for turn in range(turns.first, turns.stop):
        place = last if together else 1 - first
        n_new = load_turn(work, rows, draws, i, turns, turn, place)
        if n_new == 0 and not together and turn <= turns.last:
            continue
        places = choose_places(turns, turn, first, last, place, n_new)
        if not take_step(work, places):
            return False
        if turn == turns.own:
            copy(proba, i * n_labels, batch.units, batch.n_units - n_labels, n_labels)
        if turn < 0:
            count_row(work.net, rows, i)
        else:
            first, last = places.start, place + n_new
    return True


@njit(**HOT)
def plan_turns(options: RunOptions, n_draws: int, learning: bool) -> Turns:
    """Return the turns of a row that is learnt with rows drawn for it, or of one that is predicted only."""
    together = options.mini_batch
    first = int64(-1 if learning and (options.balance or options.scale) else 0)
    last = int64(n_draws if learning else 0)
    stop = last + 2 if learning else last + 1
    return Turns(first, last, last if together and first == 0 else first, stop, together)


@njit(**HOT)
def choose_places(turns: Turns, turn: int, first: int, last: int, place: int, n_new: int) -> Places:
    """Return which of the rows that wait, from first to last, a turn learns, and which rows it then predicts."""
    is_over, start, stop = turn > turns.last, first if turns.together else place, place + n_new
    learns = last > first and (is_over or not turns.together)
    predicts = not is_over and (turn < 0 or turn == turns.last or not turns.together)
    return Places(first, last if learns else first, start, stop if predicts else start)


@njit(**HOT)
def take_step(work: Workspace, places: Places) -> bool:
    """Learn rows and predict others, where there are any; return False if the network diverged."""
    learns = places.last > places.first
    if learns and not begin_step(work, places):
        return False
    return not (learns or places.stop > places.start) or predict(work, places)


@njit(**HOT)
def count_row(net: Network, rows: CodedRows, i: int) -> None:
    """Update statistics of labels and of features by row i."""
    count_labels(net.counts, rows.codes, i)
    count_features(net.scaler, net.clock, rows, i)


@njit(**HOT)
def load_turn(work: Workspace, rows: CodedRows, draws: Integers, i: int, turns: Turns, turn: int, b: int) -> int:
    """Put the row of a turn, if it has one, into place b of the batch; return the number of rows."""
    if turn > turns.last:
        return 0
    slot = draws[i, turn - 1] if turn > 0 else -1
    if turn > 0 and slot < 0:
        return 0
    own = turn <= 0 or work.taken[slot] >= 0
    row = i if turn <= 0 else work.taken[slot] if own else slot
    load_row(work, rows if own else work.store, row, b)
    return 1


@njit(**HOT)
def load_row(work: Workspace, source: CodedRows, row: int, b: int) -> None:
    """Put a row into place b of the batch."""
    net, batch = work.net, work.batch
    load_features(source, row, batch, b)
    share_loss(source, row, net.counts, net.options, batch.shares, b * net.sizes[-1])
    if net.options.scale:
        standardise(net, net.scaler, batch, b * batch.length, batch.stops[b])


@njit(**HOT)
def predict(work: Workspace, places: Places) -> bool:
    """Update weights, and fill the units of the rows to be predicted; return whether their logits are finite."""
    net, batch = work.net, work.batch
    for b in range(places.start, places.stop):
        refresh_features(net, batch, work.lazy, b * batch.length, batch.stops[b])
    pass_layers(net, batch, net.live, places)
    return sigmoids(batch, net.sizes[-1], places.start, places.stop)


@njit(**HOT)
def refresh_features(net: Network, batch: Batch, lazy: Lazy | None, start: int, stop: int) -> None:
    """Take the steps that the weights of features of the batch have skipped, if rows are learnt."""
    if lazy is not None and net.options.learn and net.clock[LAZY]:
        live, now, width, rate = net.live_inputs, int(net.clock[STEPS]), net.sizes[1], net.options.rate
        for q in range(start, stop):
            j = int64(batch.indices[q])
            refresh(net.w, net.m, net.v, net.constants, rate, lazy, live, width, net.last, j, now)


@njit(**HOT)
def begin_step(work: Workspace, places: Places) -> bool:
    """Take a step on rows, but for the pass over all weights; return False if numbers get too large for it."""
    net, batch = work.net, work.batch
    for b in range(places.first, places.last):
        if not backpropagate(net, batch, b, places.last - places.first):
            return False
    choose_live(net, batch, net.live, work.lazy, places)
    count_step(net.clock, net.constants, net.options.rate, net.options.adam)
    if net.options.dense:
        clear_places(batch, places.last - places.first)
    update_features(net, batch, net.live, batch.stamp, batch.touched, places)
    return True


@njit(**HOT)
def choose_live(net: Network, batch: Batch, live: Flags | None, lazy: Lazy | None, places: Places) -> None:
    """Mark the outputs that the step updates, after the steps that they have skipped."""
    if live is not None and live_changes(live, batch.shares, places.first, places.last):
        if lazy is not None and net.clock[LAZY] and net.sizes.size == 2:
            args = net.constants, net.options.rate, lazy, net.live_inputs, net.sizes[1], net.last
            refresh_all(net.w, net.m, net.v, *args, int(net.clock[STEPS]))
        set_live(live, batch.shares, places.first, places.last)


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
def update_features(
    net: Network,
    batch: Batch,
    live: Flags | None,
    stamp: Integers | None,
    touched: npt.NDArray[np.int32] | None,
    places: Places,
) -> None:
    """Update the weights of the features of sparse rows."""
    if touched is None:
        return
    width, step, n_touched = net.sizes[1], int(net.clock[STEPS]), int64(0)
    for b in range(places.first, places.last):
        n_touched = add_sparse_gradient(net.g, width, batch, stamp, b, step, n_touched)
    for q in range(n_touched):
        j = int64(touched[q])
        net.last[j] = step
        update_inputs(net, live, j, 1, j * width)


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
