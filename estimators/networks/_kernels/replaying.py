"""Steps on rows and on rows that a memory holds, by networks that learn the two in different ways."""

from typing import NamedTuple

from estimators._kernels.compile import HOT, njit
from estimators.networks._kernels.adam import count_step, update
from estimators.networks._kernels.network import (
    add_sparse_gradient,
    add_upper_gradient,
    backward,
    clear_places,
    load_features,
    put_dense_gradient,
    share_loss,
)
from estimators.networks._kernels.state import ONE, Batch, CodedRows, Integers, Network
from estimators.networks._kernels.vectors import clear, l1_norm


class Replayed(NamedTuple):
    """Rows kept for replay, and which are replayed with each row of a chunk.

    ``taken`` is, for each slot of the store, the row of the chunk that has taken it, or -1. ``draws`` are slots whose
    rows are replayed with each row of the chunk, -1 standing for no slot, and ``slots`` that which the row is then put
    into.
    """

    store: CodedRows
    taken: Integers
    draws: Integers
    slots: Integers


@njit(**HOT)
def load_row(net: Network, batch: Batch, source: CodedRows, row: int, b: int) -> None:
    """Put the features of a row, and the shares of its labels in its loss, into place b of the batch."""
    load_features(source, row, batch, b)
    share_loss(source, row, net.counts, net.options, batch.shares, b * net.sizes[-1])


@njit(**HOT)
def load_drawn(net: Network, batch: Batch, rows: CodedRows, replayed: Replayed, slot: int, b: int) -> None:
    """Put the row that a slot holds by now into place b of the batch."""
    row = replayed.taken[slot]
    if row >= 0:
        load_row(net, batch, rows, row, b)
    else:
        load_row(net, batch, replayed.store, slot, b)


@njit(**HOT)
def put_gradient(net: Network, batch: Batch, n_rows: int, stamp: int) -> None:
    """Put the sum of the gradients of rows by all weights, from the deltas of their outputs; a stamp is used once."""
    g, width, dense, n_labels = net.g, net.sizes[1], net.options.dense, net.sizes[-1]
    clear(g, net.sizes[0] * width if dense else 0, g.size)
    n_touched = 0
    for b in range(n_rows):
        at = b * batch.n_units
        backward(net.w, net.sizes, batch.units, batch.deltas, at + batch.n_units - n_labels)
        add_upper_gradient(g, net.sizes, batch.units, batch.deltas, at, net.constants[ONE])
        if not dense:
            n_touched = add_sparse_gradient(g, width, batch, batch.stamp, b, stamp, n_touched)
    if dense:
        clear_places(batch, n_rows)
        put_dense_gradient(g, width, batch, batch.stamp, n_rows)


@njit(**HOT)
def step(net: Network) -> bool:
    """Take a step; return False if the gradient is too large for it."""
    if not l1_norm(net.g, 0, net.g.size) < net.limit:
        return False
    count_step(net.clock, net.constants, net.options.rate, net.options.adam)
    update(net.w, net.m, net.v, net.g, net.constants, net.options.adam, 0, net.w.size, 0)
    return True


@njit(**HOT)
def start_chunk(replayed: Replayed) -> None:
    """Note that no row of the chunk has taken a slot yet."""
    for slot in range(replayed.taken.size):
        replayed.taken[slot] = -1


@njit(**HOT)
def store(replayed: Replayed, i: int) -> None:
    """Note that row i is stored."""
    if replayed.slots[i] >= 0:
        replayed.taken[replayed.slots[i]] = i
