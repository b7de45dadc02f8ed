"""One pass over the weights: the gradient of a block of them, its step, and the units of the rows that come next.

All gradients would be written to memory, and read again by Adam, and all weights read once more by the next rows. What
belongs to a block stays in the cache of the processor meanwhile.
"""

from typing import NamedTuple

from estimators._kernels.compile import HOT, int64, njit
from estimators.networks._kernels.adam import update, update_live
from estimators.networks._kernels.network import add_inputs, put_feature_gradient
from estimators.networks._kernels.state import ONE, Batch, Flags, Network
from estimators.networks._kernels.vectors import add, clear, copy, dot, relu

BLOCK = 2048  # weights; with gradients and moments, they fit the first cache


class Places(NamedTuple):
    """Places of the batch: the rows of a step, from first to last, and those predicted after it, from start to stop."""

    first: int
    last: int
    start: int
    stop: int


class Layer(NamedTuple):
    """A layer: the places of its weights and, among the units of a row, of its inputs; how many inputs and outputs."""

    place: int
    lower: int
    n_in: int
    n_out: int
    is_top: bool


@njit(**HOT)
def pass_layers(net: Network, batch: Batch, live: Flags | None, places: Places) -> None:
    """Update all weights, but those of the features of sparse rows, by the gradient of the rows of a step.

    The units of the rows predicted after it, up to their logits, are computed by the new weights.
    """
    pass_first_layer(net, batch, live, places)
    n_out, lower = net.sizes[1], int64(0)
    place = (net.sizes[0] + 1) * n_out
    for k in range(1, net.sizes.size - 1):
        n_in, n_out = n_out, net.sizes[k + 1]
        pass_upper_layer(net, batch, live, places, Layer(place, lower, n_in, n_out, k == net.sizes.size - 2))
        place, lower = place + n_out * (n_in + 1), lower + n_in


@njit(**HOT)
def pass_first_layer(net: Network, batch: Batch, live: Flags | None, places: Places) -> None:
    """Update the weights of the features and the biases, which follow them; of sparse rows, the biases only."""
    n_features, width = net.sizes[0], net.sizes[1]
    begin = 0 if net.options.dense else n_features
    size = max(4, BLOCK // width // 4 * 4)  # features: inputs are added by fours
    last = (n_features - begin) // size
    # the last block comes first, as inputs are added to the biases, which are in it
    for q in range(-1, last + 1):
        start = begin + (q if q >= 0 else last) * size
        stop = min(start + size, n_features + 1)
        if q < last and places.last > places.first:
            put_first_gradient(net, batch, places, start, stop)
            update_inputs(net, live, start, stop - start, int64(0))
        for b in range(places.start, places.stop):
            if q < 0:
                copy(batch.units, b * batch.n_units, net.w, n_features * width, width)
            else:
                add_block(net, batch, b, start, stop)


@njit(**HOT)
def add_block(net: Network, batch: Batch, b: int, start: int, stop: int) -> None:
    """Add the inputs from features start to stop of a dense row to its units; of a sparse row, those from all."""
    at, dense, last = b * batch.length, net.options.dense, min(stop, net.sizes[0])
    first, end = at + start if dense else at, at + last if dense else batch.stops[b]
    add_inputs(net.w, net.sizes[1], batch.values, batch.indices, first, end, batch.units, b * batch.n_units)


@njit(**HOT)
def put_first_gradient(net: Network, batch: Batch, places: Places, start: int, stop: int) -> None:
    """Put the gradient by the weights of features start to stop, after the last of which come the biases."""
    g, n_features, width = net.g, net.sizes[0], net.sizes[1]
    end = min(stop, n_features)
    for j in range(start, end):
        put_feature_gradient(g, (j - start) * width, width, batch, j, places.first, places.last)
    if stop > end:
        put_bias_gradient(net, batch, places, (end - start) * width, int64(0), width)


@njit(**HOT)
def put_bias_gradient(net: Network, batch: Batch, places: Places, at: int, lower: int, n: int) -> None:
    """Put the gradient by n biases into g from `at`; their deltas begin at lower in each row."""
    clear(net.g, at, at + n)
    for b in range(places.first, places.last):
        add(net.g, at, batch.deltas, b * batch.n_units + lower, n, net.constants[ONE])


@njit(**HOT)
def update_inputs(net: Network, live: Flags | None, start: int, n: int, source: int) -> None:
    """Update the weights of n features from start on, the biases being the last one; gradients begin at source."""
    width = net.sizes[1]
    if live is not None and net.options.adam and net.sizes.size == 2:
        for j in range(n):
            at, g_at = (start + j) * width, source + j * width
            update_live(net.w, net.m, net.v, net.g, net.constants, live, int64(0), width, at, int64(1), g_at)
    else:
        at = start * width
        update(net.w, net.m, net.v, net.g, net.constants, net.options.adam, at, at + n * width, source)


@njit(**HOT)
def pass_upper_layer(net: Network, batch: Batch, live: Flags | None, places: Places, layer: Layer) -> None:
    """Update the weights of a layer above the first one, which are those of one output after another, then biases."""
    w, units, n_in, n_out = net.w, batch.units, layer.n_in, layer.n_out
    for b in range(places.start, places.stop):
        relu(units, b * batch.n_units + layer.lower, n_in)
    size = max(1, BLOCK // n_in)
    for start in range(0, n_out, size):
        stop = min(start + size, n_out)
        if places.last > places.first:
            put_upper_gradient(net, batch, places, layer, start, stop)
            update_upper_block(net, live, layer, start, stop)
        for k in range(start, stop):
            for b in range(places.start, places.stop):
                at = b * batch.n_units + layer.lower
                units[at + n_in + k] = dot(w, layer.place + k * n_in, units, at, n_in)
    for b in range(places.start, places.stop):
        at = b * batch.n_units + layer.lower + n_in
        add(units, at, w, layer.place + n_out * n_in, n_out, net.constants[ONE])


@njit(**HOT)
def put_upper_gradient(net: Network, batch: Batch, places: Places, layer: Layer, start: int, stop: int) -> None:
    """Put the gradient by the weights of outputs start to stop and, after the last of them, by the biases."""
    n_in, upper, n = layer.n_in, layer.lower + layer.n_in, (stop - start) * layer.n_in
    clear(net.g, int64(0), n)
    for k in range(start, stop):
        for b in range(places.first, places.last):
            at = b * batch.n_units
            if batch.deltas[at + upper + k] != 0:
                add(net.g, (k - start) * n_in, batch.units, at + layer.lower, n_in, batch.deltas[at + upper + k])
    if stop == layer.n_out:
        put_bias_gradient(net, batch, places, n, upper, layer.n_out)


@njit(**HOT)
def update_upper_block(net: Network, live: Flags | None, layer: Layer, start: int, stop: int) -> None:
    """Update the weights of outputs start to stop and, after the last of them, the biases."""
    n_in, n_out = layer.n_in, layer.n_out
    at, n = layer.place + start * n_in, (stop - start) * n_in
    n_biases = n_out if stop == n_out else 0
    if live is not None and net.options.adam and layer.is_top:
        update_live(net.w, net.m, net.v, net.g, net.constants, live, start, stop, at, n_in, int64(0))
        update_live(net.w, net.m, net.v, net.g, net.constants, live, int64(0), n_biases, at + n, int64(1), n)
    else:
        update(net.w, net.m, net.v, net.g, net.constants, net.options.adam, at, at + n + n_biases, 0)
