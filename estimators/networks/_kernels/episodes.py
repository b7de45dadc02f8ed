"""One pass over a chunk by a network whose steps may not raise the loss on rows of earlier tasks (A-GEM)."""

from typing import Any, NamedTuple

from estimators._kernels.compile import HOT, JIT, njit, unowned_views
from estimators._typing import Array
from estimators.networks._kernels.network import forward, output_deltas
from estimators.networks._kernels.replaying import (
    Replayed,
    load_drawn,
    load_row,
    put_gradient,
    start_chunk,
    step,
    store,
)
from estimators.networks._kernels.state import STEPS, Batch, CodedRows, Floats, Integers, Network
from estimators.networks._kernels.vectors import add, copy, dot, l1_norm


class EpisodicWork(NamedTuple):
    """Everything that a pass works on; the reference has room for a gradient. See `Replayed`."""

    net: Network
    batch: Batch
    store: CodedRows
    taken: Integers
    reference: Floats


@njit(**JIT)
def run(context: Any, draws: Integers, slots: Integers, proba: Floats, *parts: Array) -> int:
    """Put the probabilities of all rows into proba and, with the option `learn`, learn the rows, given part by part.

    Returns -1, or the row at which the network left the range of its numbers; it is half changed then.
    """
    work, rows, proba = unowned_views(context.workspace), unowned_views(CodedRows(*parts)), unowned_views(proba)
    replayed = Replayed(work.store, work.taken, unowned_views(draws), unowned_views(slots))
    start_chunk(replayed)
    for i in range(rows.weight.size):
        if not process_row(work.net, work.batch, rows, i, replayed, work.reference, proba):
            return i
    return -1


@njit(**HOT)
def process_row(
    net: Network, batch: Batch, rows: CodedRows, i: int, replayed: Replayed, reference: Floats, proba: Floats
) -> bool:
    """Predict row i and, with the option `learn`, learn it and store it; return False if the network diverged."""
    n_labels, learning = net.sizes[-1], net.options.learn and rows.weight[i] > 0
    n_drawn = replayed.draws.shape[1] if learning and replayed.draws[i, 0] >= 0 else 0
    for q in range(n_drawn):
        load_drawn(net, batch, rows, replayed, replayed.draws[i, q], q)
    if n_drawn:
        if not put_mean_gradient(net, batch, n_drawn, 0):
            return False
        copy(reference, 0, net.g, 0, net.g.size)
    load_row(net, batch, rows, i, 0)
    if not forward(net.w, net.sizes, batch, net.options.dense, 0, 1):
        return False
    copy(proba, i * n_labels, batch.units, batch.n_units - n_labels, n_labels)
    if not learning:
        return True
    if not learn_row(net, batch, reference, n_drawn > 0):
        return False
    store(replayed, i)
    return True


@njit(**HOT)
def put_mean_gradient(net: Network, batch: Batch, n_rows: int, turn: int) -> bool:
    """Put the gradient of the mean loss of rows of the batch; return False if numbers get too large."""
    if not forward(net.w, net.sizes, batch, net.options.dense, 0, n_rows):
        return False
    put_loss_gradient(net, batch, n_rows, turn)
    return bool(l1_norm(net.g, 0, net.g.size) < net.limit)


@njit(**HOT)
def put_loss_gradient(net: Network, batch: Batch, n_rows: int, turn: int) -> None:
    """Put the gradient of the mean loss of rows whose probabilities are in the batch, in a turn, 0 or 1, of a step."""
    n_labels = net.sizes[-1]
    for b in range(n_rows):
        top = (b + 1) * batch.n_units - n_labels
        output_deltas(batch.units, batch.deltas, top, batch.shares, b * n_labels, n_labels, n_rows)
    put_gradient(net, batch, n_rows, 2 * (int(net.clock[STEPS]) + 1) + turn)


@njit(**HOT)
def learn_row(net: Network, batch: Batch, reference: Floats, is_bound: bool) -> bool:
    """Take a step on the one row of the batch; return False if numbers get too large."""
    put_loss_gradient(net, batch, 1, 1)
    if not l1_norm(net.g, 0, net.g.size) < net.limit:
        return False
    if is_bound:
        project(net.g, reference)
    return step(net)


@njit(**HOT)
def project(g: Floats, reference: Floats) -> None:
    """Take from a gradient its part against the reference, if it has one; a step then hardly changes the loss there."""
    against, length = dot(g, 0, reference, 0, g.size), dot(reference, 0, reference, 0, g.size)
    if against < 0 and length > 0:
        add(g, 0, reference, 0, g.size, -against / length)
