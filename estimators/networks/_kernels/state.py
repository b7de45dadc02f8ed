"""The arrays and options that the kernels of the networks work on, by name."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import JIT, njit, structref, types
from estimators._typing import Array

Floats = Array
Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# positions in Network.clock: steps, powers of Adam's decay rates, whether `last` counts, rows counted for scaling, and
# the learning rate of skipped steps
STEPS, B1_POWER, B2_POWER, LAZY, ROWS, RATE = range(6)
# positions in Network.constants, in the precision of the weights
STEP, EPS_NOW, KEEP_M, GAIN_M, KEEP_V, GAIN_V, MIN_G, MIN_M, MIN_V, ZERO, ONE = range(11)


class RunOptions(NamedTuple):
    """Options of one call of the kernels."""

    learn: bool  # learn the rows after predicting them
    dense: bool  # rows hold all features, and no indices
    rate: float
    adam: bool = True  # take steps of Adam; otherwise, of gradient descent
    mini_batch: bool = False  # learn a row and those replayed with it in one step; otherwise, in a step each
    published: bool = False  # divide the loss of a row by the number of all labels; otherwise, of those that count
    balance: bool = False  # give zeros and ones of a label the same weight
    scale: bool = False  # divide features by their deviation
    centre: bool = False  # before that, subtract their mean


class Network(NamedTuple):
    """A network and how it learns.

    Weights w, moments m and v, and gradient g are flat: for each feature a row of one weight per unit of the first
    layer, then its biases; in the layers above for each output a row of one weight per input, then the biases.
    ``last`` is the step up to which the weights of each feature have been updated, if ``clock[LAZY]`` is set.
    ``live`` marks the outputs that are updated; it is None if all are, and so is ``live_inputs`` unless features feed
    the outputs directly. ``counts`` are the zeros and ones seen of each label. ``scaler`` holds, for each feature,
    number, mean and sum of squared deviations of its values other than 0. Both are None unless the options need them.
    Sums of gradients below ``limit`` can be squared, and multiplied by any learning rate that is allowed.

    What is None here, in a batch, or in a workspace is not compiled: kernels ask whether an argument is None.
    """

    w: Floats
    m: Floats
    v: Floats
    g: Floats
    sizes: Integers
    clock: Doubles
    last: Integers
    live: Flags | None
    counts: Doubles | None
    scaler: Doubles | None
    options: RunOptions
    limit: float
    constants: Floats
    live_inputs: Flags | None


class Lazy(NamedTuple):
    """Tables over skipped steps (b1**s, b2**(s/2)) and over steps (1/(1-b1**t), 1/sqrt(1-b2**t)), and scratch space."""

    powers: Doubles
    corrections: Doubles
    last_moment: int
    scratch: Doubles
    terms: Floats


class Batch(NamedTuple):
    """Scratch space for the rows of one step.

    Row b has its features in values and indices, from ``b * length`` to ``stops[b]``. From ``b * n_units`` on, units
    and deltas hold the outputs of all layers and the derivatives of the loss by them. The share of each label in the
    loss is in shares, negative if the label is 1. ``stamp`` is the last step in which a feature occurred, ``touched``
    lists those of the present step; both are None if rows are dense.
    """

    values: Floats
    indices: npt.NDArray[np.int32]
    stops: Integers
    units: Floats
    deltas: Floats
    shares: Floats
    stamp: Integers | None
    touched: npt.NDArray[np.int32] | None
    length: int
    n_units: int


class CodedRows(NamedTuple):
    """Rows of features from starts to ends (dense rows have no indices); codes are label + 2 * (does it count?)."""

    values: Floats
    indices: npt.NDArray[np.int32]
    starts: Integers
    ends: Integers
    codes: npt.NDArray[np.uint8]
    weight: Doubles


class Workspace(NamedTuple):
    """Everything that a pass over rows works on.

    A network, the tables for skipped steps (None if rows are dense), scratch space for the rows of a step, and the rows
    kept for replay. ``taken`` is, for each slot of the store, the row of the chunk that has taken it, or -1.
    """

    net: Network
    lazy: Lazy | None
    batch: Batch
    store: CodedRows
    taken: Integers


@structref.register  # type: ignore[untyped-decorator, unused-ignore]
class KernelContextType(types.StructRef):  # type: ignore[misc, unused-ignore]
    """Numba's type of `KernelContext`."""


class KernelContext(structref.StructRefProxy):  # type: ignore[misc, unused-ignore]
    """A workspace as one object: to pass forty arrays takes longer than to learn a row."""


structref.define_boxing(KernelContextType, KernelContext)
structref.define_constructor(KernelContext, KernelContextType, ["workspace"])


@njit(**JIT)
def make_context(workspace: Any) -> KernelContext:
    """Return a context that shares the arrays of the workspace."""
    return KernelContext(workspace)
