"""The state of a network, as arrays by name: initialised, copied, and brought up to date."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import RandomState

from estimators._typing import Array
from estimators.networks._kernels.adam import make_constants
from estimators.networks._kernels.lazy_adam import make_lazy, refresh_all
from estimators.networks._kernels.state import LAZY, RATE, ROWS, STEPS, Batch, CodedRows, Network, RunOptions, Workspace

State = dict[str, npt.NDArray[Any]]
# sums of gradients under this can be squared, and multiplied by a learning rate under it
LIMIT = {np.dtype(np.float32): 1e18, np.dtype(np.float64): 1e150}
_DENSE: tuple[Any, Any] = None, None  # dense rows have all features, so that no table of them is needed


def draw_state(sizes: Sequence[int], dtype: npt.DTypeLike, random_state: RandomState, *, freeze: bool) -> State:
    """Draw weights as PyTorch's Linear does, uniformly within 1 / sqrt(inputs), and start everything else at zero."""
    blocks = []
    for n_in, n_out in pairwise(sizes):
        bound = 1 / np.sqrt(n_in)
        blocks.append(random_state.uniform(-bound, bound, (n_in + 1) * n_out))
    w = np.concatenate(blocks).astype(dtype)
    return {
        "w": w,
        "m": np.zeros_like(w),
        "v": np.zeros_like(w),
        "sizes": np.array(sizes, dtype=np.int64),
        "last": np.zeros(sizes[0], dtype=np.int64),
        "clock": np.array([0, 1, 1, 0, 0, 0], dtype=np.float64),
        "live": np.ones(sizes[-1] if freeze else 0, dtype=np.bool_),
        "counts": np.zeros((2, sizes[-1])),
        "scaler": np.zeros((3, sizes[0])),
    }


def with_more_outputs(state: State, n_new: int, random_state: RandomState, *, is_mean: bool = False) -> State:
    """Return a copy of a state with more outputs, whose weights are drawn as those of a new network.

    `is_mean` is whether losses are divided by the number of all outputs. The moments of Adam are then brought to the
    scale of the gradients to come, or else steps would be too short for a long time.
    """
    state = brought_up_to_date(state)
    n_before = int(state["sizes"][-1])
    scale = n_before / (n_before + n_new) if is_mean else 1.0
    state |= {"m": scale * state["m"], "v": scale**2 * state["v"]}
    n_in = int(state["sizes"][-2])
    bound = 1 / np.sqrt(n_in)
    drawn = random_state.uniform(-bound, bound, (n_in + 1, n_new)).astype(state["w"].dtype)
    new = {"w": drawn, "m": np.zeros_like(drawn), "v": np.zeros_like(drawn)}
    parts = {name: append_outputs(state[name], state["sizes"], new[name]) for name in "wmv"}
    sizes = state["sizes"].copy()
    sizes[-1] += n_new
    live = np.append(state["live"], np.ones(n_new, dtype=np.bool_)) if len(state["live"]) else state["live"]
    return {**state, **parts, "sizes": sizes, "live": live, "counts": np.pad(state["counts"], ((0, 0), (0, n_new)))}


def append_outputs(weights: npt.NDArray[Any], sizes: npt.NDArray[np.int64], new: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Append outputs (n_in + 1, n_new), biases last, to a network's weights; see `Network` for their order."""
    n_in, n_out = sizes[-2:].tolist()
    start, end = len(weights) - (n_in + 1) * n_out, len(weights) - n_out
    last = weights[start:end]
    if len(sizes) == 2:
        joined = np.hstack([last.reshape(n_in, n_out), new[:-1]])
    else:
        joined = np.vstack([last.reshape(n_out, n_in), new[:-1].T])
    return np.concatenate([weights[:start], joined.ravel(), weights[end:], new[-1]])


def as_network(state: State, options: RunOptions) -> Network:
    """Return a state in the form of the kernels, which change its arrays in place."""
    w = state["w"]
    constants = make_constants(w.dtype)
    live = state["live"] if len(state["live"]) else None
    counts, scaler = (state["counts"], state["scaler"]) if options.balance or options.scale else (None, None)
    parts: dict[str, Any] = {**state, "live": live, "counts": counts, "scaler": scaler}
    return Network(
        **parts,
        g=np.empty_like(w),
        options=options,
        limit=LIMIT[w.dtype],
        constants=constants,
        live_inputs=_live_inputs(state),
    )


def _live_inputs(state: State) -> npt.NDArray[np.bool_] | None:
    """Return the live outputs if only some are and features feed them directly, otherwise None."""
    return state["live"] if len(state["live"]) and len(state["sizes"]) == 2 else None


def make_batch(net: Network, rows: CodedRows, store: CodedRows, n_rows: int) -> Batch:
    """Return scratch space for a step on `n_rows` rows of the chunk or of a store."""
    (n_features, *widths), kind = net.sizes.tolist(), net.w.dtype
    if net.options.dense:
        length, occurrences = n_features, _DENSE
        indices = _all_features(n_features, n_rows)
    else:
        length = int(max((rows.ends - rows.starts).max(), (store.ends - store.starts).max(initial=1)))
        indices = np.empty(n_rows * length, np.int32)
        occurrences = np.zeros(n_features, np.int64), np.empty(n_features, np.int32)
    values, shares = np.empty(n_rows * length, kind), np.empty(n_rows * widths[-1], kind)
    units, deltas = np.empty((2, n_rows * sum(widths)), kind)
    stops = np.empty(n_rows, np.int64)
    return Batch(values, indices, stops, units, deltas, shares, *occurrences, length=length, n_units=sum(widths))


def make_workspace(state: State, options: RunOptions, rows: CodedRows, store: CodedRows, n_rows: int) -> Workspace:
    """Return what a pass over rows works on, with steps on `n_rows` rows; arrays of the state and store are shared."""
    net = as_network(state, options)
    lazy = None if options.dense else make_lazy(net.w.dtype)
    return Workspace(net, lazy, make_batch(net, rows, store, n_rows), store, np.empty(len(store.weight), np.int64))


@lru_cache(maxsize=16)
def _all_features(n_features: int, n_rows: int) -> npt.NDArray[np.int32]:
    """Return the indices of dense rows' features, which are never written to."""
    return np.tile(np.arange(n_features, dtype=np.int32), n_rows)


def brought_up_to_date(state: State, features: npt.NDArray[np.intp] | None = None) -> State:
    """Return a state for some features, all by default, in which no step of Adam is still skipped."""
    d, width = int(state["sizes"][0]), int(state["sizes"][1])
    features = np.arange(d) if features is None else features
    chosen = (features[:, np.newaxis] * width + np.arange(width)).ravel()
    w, m, v = (state[name][chosen] for name in "wmv")
    live = _live_inputs(state)
    clock, last = state["clock"].copy(), state["last"][features]
    lazy, constants = make_lazy(w.dtype), make_constants(w.dtype)
    if clock[LAZY]:
        refresh_all(w, m, v, constants, float(clock[RATE]), lazy, live, width, last, int(clock[STEPS]))
    clock[LAZY] = 0
    scaler = np.ascontiguousarray(state["scaler"][:, features])  # in the order that the kernels are compiled for
    parts = {
        name: np.concatenate([part, state[name][d * width :]]) for name, part in zip("wmv", (w, m, v), strict=True)
    }
    sizes = np.concatenate([[len(features)], state["sizes"][1:]]).astype(np.int64)
    return {**state, **parts, "sizes": sizes, "last": last, "clock": clock, "scaler": scaler}


def layers_of(state: State) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Return weights (outputs, inputs) and biases of each layer, as of now."""
    w, layers, at = brought_up_to_date(state)["w"], [], 0
    for i, (n_in, n_out) in enumerate(pairwise(state["sizes"].tolist())):
        stop = at + n_in * n_out
        flat = w[at:stop]
        weights = flat.reshape(n_in, n_out).T if i == 0 else flat.reshape(n_out, n_in)
        layers.append((weights, w[stop : stop + n_out]))
        at = stop + n_out
    return layers


def scaling_of(state: State, standardize: bool | str) -> tuple[Array, Array] | None:
    """Return numbers that are subtracted from features, and divide them; None if features stay as they are."""
    if not standardize:
        return None
    (number, mean, squares), rows = state["scaler"], max(state["clock"][ROWS], 1.0)
    variance = (squares + number * (rows - number) / rows * mean * mean) / rows
    return (standardize is True) * number * mean / rows, np.sqrt(np.where(variance > 0, variance, 1.0))
