"""One pass over the rows of a chunk by a network that is regularised towards what it learnt in earlier tasks."""

from typing import Any, NamedTuple

from estimators._kernels.compile import HOT, JIT, njit, uint64, unowned_views
from estimators._typing import Array, Number
from estimators.networks._kernels.adam import adam, count_step
from estimators.networks._kernels.network import (
    add_sparse_gradient,
    add_upper_gradient,
    backward,
    forward,
    load_features,
    output_deltas,
    put_dense_gradient,
    share_loss,
)
from estimators.networks._kernels.state import (
    MIN_G,
    MIN_M,
    ONE,
    STEPS,
    ZERO,
    Batch,
    CodedRows,
    Flags,
    Floats,
    Integers,
    Network,
)
from estimators.networks._kernels.vectors import clear, copy, l1_norm


class PastTasks(NamedTuple):
    """The state of a network with respect to its tasks.

    ``mask`` marks the labels that count in the present task, and ``n_rows`` is the number of its rows learnt so far.
    ``known`` marks the labels that counted in earlier tasks, which left the weights at ``anchor``. For a penalty on
    changes of weights, each has an ``importance``, and the present task sums the ``squares`` of its gradients;
    otherwise these two are empty.
    """

    mask: Flags
    known: Flags
    n_rows: Integers
    anchor: Floats
    importance: Floats
    squares: Floats


class Regularisation(NamedTuple):
    """Strength of the penalty on changes, decay of importance over a task, weight and temperature of distillation."""

    penalty: Number
    decay: Number
    distillation: Number
    temperature: Number


class RegularisedWork(NamedTuple):
    """Everything that a pass works on: a task ends after max_rows rows, or never if that is negative.

    ``old`` has room for what the network of earlier tasks predicts for a row.
    """

    net: Network
    batch: Batch
    past: PastTasks
    strength: Regularisation
    max_rows: int
    old: Floats


@njit(**JIT)
def run(context: Any, proba: Floats, *parts: Array) -> int:
    """Put the probabilities of all rows into proba and, with the option `learn`, learn the rows, given part by part.

    Returns -1, or the row at which the network left the range of its numbers; it is half changed then.
    """
    work, rows, proba = unowned_views(context.workspace), unowned_views(CodedRows(*parts)), unowned_views(proba)
    for i in range(rows.weight.size):
        if not process_row(work.net, work.batch, rows, i, work.past, work.strength, work.max_rows, work.old, proba):
            return i
    return -1


@njit(**HOT)
def process_row(  # noqa: PLR0913, PLR0917 - compiled functions take arrays one by one
    net: Network,
    batch: Batch,
    rows: CodedRows,
    i: int,
    past: PastTasks,
    strength: Regularisation,
    max_rows: int,
    old: Floats,
    proba: Floats,
) -> bool:
    """Predict row i and, with the option `learn`, learn it; return False if the network diverged.

    What the network of earlier tasks predicts for the row is put into `old`.
    """
    learning = net.options.learn and rows.weight[i] > 0
    n_labels, top = net.sizes[-1], batch.n_units - net.sizes[-1]
    if learning:
        count_row(net, past, rows, i, max_rows, strength.decay)
    load_features(rows, i, batch, 0)
    n_absent = count_absent(past) if learning and strength.distillation > 0 else 0
    if n_absent:
        forward(past.anchor, net.sizes, batch, net.options.dense, 0, 1)
        copy(old, 0, batch.units, top, n_labels)
    if not forward(net.w, net.sizes, batch, net.options.dense, 0, 1):
        return False
    copy(proba, i * n_labels, batch.units, top, n_labels)
    return not learning or learn_row(net, batch, rows, i, past, strength, old, n_absent)


@njit(**HOT)
def learn_row(  # noqa: PLR0913, PLR0917 - compiled functions take arrays one by one
    net: Network,
    batch: Batch,
    rows: CodedRows,
    i: int,
    past: PastTasks,
    strength: Regularisation,
    old: Floats,
    n_absent: int,
) -> bool:
    """Take a step on row i, whose units are those of the batch; return False if numbers get too large."""
    n_labels, units, deltas = net.sizes[-1], batch.units, batch.deltas
    top = batch.n_units - n_labels
    share_loss(rows, i, net.counts, net.options, batch.shares, 0)
    output_deltas(units, deltas, top, batch.shares, 0, n_labels, 1)
    if n_absent:
        distil(units, deltas, top, old, past, strength, rows.weight[i] / n_absent)
    backward(net.w, net.sizes, units, deltas, top)
    count_step(net.clock, net.constants, net.options.rate, True)
    put_gradient(net, batch)
    add_penalty(net, past, strength.penalty)
    if not l1_norm(net.g, 0, net.g.size) < net.limit:
        return False
    adam(net.w, net.m, net.v, net.g, net.constants, 0, net.w.size, 0)
    return True


@njit(**HOT)
def count_row(net: Network, past: PastTasks, rows: CodedRows, i: int, max_rows: int, decay: Number) -> None:
    """End the task if row i belongs to another one; then count the row and store which labels count in it."""
    if is_over(past, rows, i, max_rows):
        consolidate(net, past, decay)
    past.n_rows[0] += 1
    for k in range(past.mask.size):
        past.mask[k] = rows.codes[i, k] > 1


@njit(**HOT)
def is_over(past: PastTasks, rows: CodedRows, i: int, max_rows: int) -> bool:
    """Return whether the task ends before row i: other labels count in it, or `max_rows` rows have been learnt."""
    over = past.n_rows[0] == max_rows
    for k in range(past.mask.size):
        over = over or past.mask[k] != (rows.codes[i, k] > 1)
    return over and past.n_rows[0] > 0


@njit(**HOT)
def consolidate(net: Network, past: PastTasks, decay: Number) -> None:
    """End the task: anchor the weights, and add their importance to the rest of that of earlier tasks."""
    minimum, zero, share = net.constants[MIN_M], net.constants[ZERO], 1 / past.n_rows[0]
    copy(past.anchor, 0, net.w, 0, net.w.size)
    for k in range(past.mask.size):
        past.known[k] = past.known[k] or past.mask[k]
    for j in range(uint64(past.squares.size)):
        importance = decay * past.importance[j] + share * past.squares[j]
        past.importance[j] = importance if importance > minimum else zero
        past.squares[j] = 0
    past.n_rows[0] = 0


@njit(**HOT)
def put_gradient(net: Network, batch: Batch) -> None:
    """Put the gradient of the loss by all weights, from the deltas of the one row of the batch."""
    g, width, dense = net.g, net.sizes[1], net.options.dense
    clear(g, net.sizes[0] * width if dense else 0, g.size)
    add_upper_gradient(g, net.sizes, batch.units, batch.deltas, 0, net.constants[ONE])
    if dense:
        put_dense_gradient(g, width, batch, batch.stamp, 1)
    else:
        add_sparse_gradient(g, width, batch, batch.stamp, 0, int(net.clock[STEPS]), 0)


@njit(**HOT)
def add_penalty(net: Network, past: PastTasks, penalty: Number) -> None:
    """Sum the squares of the gradient, then add the gradient of the penalty on changes.

    Gradients too small to move a weight are left out: their squares would be denormal, and slow.
    """
    w, g, minimum, zero = net.w, net.g, net.constants[MIN_G], net.constants[ZERO]
    for j in range(uint64(past.squares.size)):
        slope = g[j] if abs(g[j]) > minimum else zero
        past.squares[j] += slope * slope
        g[j] = slope + penalty * past.importance[j] * (w[j] - past.anchor[j])


@njit(**HOT)
def count_absent(past: PastTasks) -> int:
    """Count the labels that counted in earlier tasks and do not in the present one."""
    n = 0
    for k in range(past.mask.size):
        n += past.known[k] and not past.mask[k]
    return n


@njit(**HOT)
def distil(
    units: Floats, deltas: Floats, top: int, old: Floats, past: PastTasks, strength: Regularisation, share: Number
) -> None:
    """Add to the deltas of absent labels, which have a share each, the gradient of their distance to the old ones."""
    for k in range(past.mask.size):
        if past.known[k] and not past.mask[k]:
            difference = soften(units[top + k], strength.temperature) - soften(old[k], strength.temperature)
            deltas[top + k] += share * strength.distillation * strength.temperature * difference


@njit(**HOT)
def soften(p: Number, temperature: Number) -> Number:
    """Return the probability whose logit is that of p, divided by the temperature."""
    yes, no = p ** (1 / temperature), (1 - p) ** (1 / temperature)
    return yes / (yes + no)
