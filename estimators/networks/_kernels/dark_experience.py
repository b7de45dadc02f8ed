"""One pass over a chunk by a network that replays labels, and what it predicted when it met the rows (DER++)."""

from typing import Any, NamedTuple

from estimators._kernels.compile import HOT, JIT, njit, unowned_views
from estimators._typing import Array, Number
from estimators.networks._kernels.network import forward_to_logits, output_deltas, sigmoid
from estimators.networks._kernels.replaying import (
    Replayed,
    load_drawn,
    load_row,
    put_gradient,
    start_chunk,
    step,
    store,
)
from estimators.networks._kernels.state import STEPS, ZERO, Batch, CodedRows, Flags, Floats, Integers, Network
from estimators.networks._kernels.vectors import copy


class Experience(NamedTuple):
    """Logits of the rows held and of those of the chunk, NaN for labels not met by then, and weights in the loss.

    ``known`` marks the labels that have counted in some row.
    """

    held: Floats
    met: Floats
    known: Flags
    alpha: Number
    beta: Number


class ExperienceWork(NamedTuple):
    """Everything that a pass works on, but the logits of the chunk; see `Replayed` and `Experience`.

    Logits of labels not met by then are stored as ``unknown``, NaN.
    """

    net: Network
    batch: Batch
    store: CodedRows
    taken: Integers
    held: Floats
    known: Flags
    alpha: Number
    beta: Number
    unknown: Number


@njit(**JIT)
def run(context: Any, draws: Integers, slots: Integers, met: Floats, proba: Floats, *parts: Array) -> int:
    """Put the probabilities of all rows into proba and, with the option `learn`, learn the rows, given part by part.

    Logits of the rows are put into met. Returns -1, or the row at which the network left the range of its numbers; it
    is half changed then.
    """
    work, rows, proba = unowned_views(context.workspace), unowned_views(CodedRows(*parts)), unowned_views(proba)
    replayed = Replayed(work.store, work.taken, unowned_views(draws), unowned_views(slots))
    experience = Experience(work.held, unowned_views(met), work.known, work.alpha, work.beta)
    start_chunk(replayed)
    for i in range(rows.weight.size):
        if not process_row(work.net, work.batch, rows, i, replayed, experience, work.unknown, proba):
            return i
    return -1


@njit(**HOT)
def process_row(  # noqa: PLR0913, PLR0917 - compiled functions take arrays one by one
    net: Network,
    batch: Batch,
    rows: CodedRows,
    i: int,
    replayed: Replayed,
    experience: Experience,
    unknown: Number,
    proba: Floats,
) -> bool:
    """Predict row i and, with the option `learn`, learn it and store it; return False if the network diverged."""
    learning = net.options.learn and rows.weight[i] > 0
    n_labels, top = net.sizes[-1], batch.n_units - net.sizes[-1]
    load_row(net, batch, rows, i, 0)
    forward_to_logits(net.w, net.sizes, batch, net.options.dense, 0, 1)
    if learning:
        note_logits(experience, rows, i, batch.units, top, unknown)
    if not sigmoid(batch.units, top, n_labels):
        return False
    copy(proba, i * n_labels, batch.units, top, n_labels)
    if not learning:
        return True
    if not learn_row(net, batch, rows, i, replayed, experience):
        return False
    store(replayed, i)
    return True


@njit(**HOT)
def note_logits(experience: Experience, rows: CodedRows, i: int, units: Floats, top: int, unknown: Number) -> None:
    """Note the labels that count in row i, and its logits of all labels that have counted so far."""
    for k in range(experience.known.size):
        experience.known[k] = experience.known[k] or rows.codes[i, k] > 1
        experience.met[i, k] = units[top + k] if experience.known[k] else unknown


@njit(**HOT)
def learn_row(net: Network, batch: Batch, rows: CodedRows, i: int, replayed: Replayed, experience: Experience) -> bool:
    """Take a step on row i, which is in the batch, and on the rows drawn; return False if numbers get too large."""
    n_labels, top = net.sizes[-1], batch.n_units - net.sizes[-1]
    output_deltas(batch.units, batch.deltas, top, batch.shares, 0, n_labels, 1)
    n_drawn = replayed.draws.shape[1] if replayed.draws[i, 0] >= 0 else 0
    if n_drawn:
        for q in range(n_drawn):
            load_drawn(net, batch, rows, replayed, replayed.draws[i, q], q + 1)
        forward_to_logits(net.w, net.sizes, batch, net.options.dense, 1, n_drawn + 1)
        distil(net, batch, rows, i, replayed, experience)
        if not rehearse(net, batch, n_drawn // 2, experience.beta):
            return False
    put_gradient(net, batch, n_drawn + 1, int(net.clock[STEPS]) + 1)
    return step(net)


@njit(**HOT)
def distil(net: Network, batch: Batch, rows: CodedRows, i: int, replayed: Replayed, experience: Experience) -> None:
    """Fill the deltas of the first half of the rows drawn: alpha times the mean square of the changes of logits."""
    n_labels, n_cells, n_rows = net.sizes[-1], 0, replayed.draws.shape[1] // 2
    for q in range(n_rows):
        slot, at = replayed.draws[i, q], (q + 2) * batch.n_units - n_labels
        met = replayed.taken[slot]
        weight = rows.weight[met] if met >= 0 else replayed.store.weight[slot]
        for k in range(n_labels):
            before = experience.met[met, k] if met >= 0 else experience.held[slot, k]
            is_known = before == before  # noqa: PLR0124 - not NaN
            n_cells += is_known
            change = batch.units[at + k] - before if is_known else net.constants[ZERO]
            batch.deltas[at + k] = weight * change
    for q in range(n_rows):
        at = (q + 2) * batch.n_units - n_labels
        for k in range(at, at + n_labels):
            batch.deltas[k] *= 2 * experience.alpha / max(n_cells, 1)


@njit(**HOT)
def rehearse(net: Network, batch: Batch, n_rows: int, beta: Number) -> bool:
    """Fill the deltas of the second half of the rows drawn: beta times their mean loss; False if it is infinite."""
    n_labels, finite = net.sizes[-1], True
    for b in range(n_rows + 1, 2 * n_rows + 1):
        top = (b + 1) * batch.n_units - n_labels
        finite = sigmoid(batch.units, top, n_labels) and finite
        output_deltas(batch.units, batch.deltas, top, batch.shares, b * n_labels, n_labels, n_rows)
        for k in range(top, top + n_labels):
            batch.deltas[k] *= beta
    return finite
