"""What the kernels of the networks work on, by name."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]
Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# positions in Network.options
ADAM, DENSE, LEARN, MINI_BATCH, FREEZE, PUBLISHED, BALANCE, SCALE, CENTRE = range(9)
# positions in Network.clock: steps, powers of Adam's decay rates, whether `last` counts, rows counted for scaling, and
# the learning rate of skipped steps
STEPS, B1_POWER, B2_POWER, LAZY, ROWS, RATE = range(6)
# positions in Network.constants, in the precision of the weights
STEP, EPS_NOW, KEEP_M, GAIN_M, KEEP_V, GAIN_V, LEAST_G, LEAST_M, LEAST_V, ZERO, ONE = range(11)


class Network(NamedTuple):
    """A network and how it learns.

    Weights w, moments m and v, and gradient g lie flat: for each feature a row of one weight per unit of the first
    layer, then its biases; in the layers above for each output a row of one weight per input, then the biases.
    ``last`` is the step that the weights of each feature are at, where ``clock[LAZY]``;
    ``live`` are the outputs that move; ``counts`` are zeros and ones met of each label; ``scaler`` holds, for each
    feature, number, mean and sum of squared deviations of its values other than 0.
    """

    w: Floats
    m: Floats
    v: Floats
    g: Floats
    sizes: Integers
    clock: Doubles
    last: Integers
    live: npt.NDArray[np.bool_]
    counts: Doubles
    scaler: Doubles
    options: Integers
    rate: float
    limit: float
    constants: Floats


class Lazy(NamedTuple):
    """Tables over skipped steps (b1**s, b2**(s/2)) and over steps (1/(1-b1**t), 1/sqrt(1-b2**t)), and room to work."""

    powers: Doubles
    corrections: Doubles
    last_moment: int
    room: Doubles
    terms: Floats


class Batch(NamedTuple):
    """Room for the rows of one step.

    Row b has its features in an equal part of values and indices, up to ``stops[b]``; the outputs of all layers and the
    derivatives of the loss by them in an equal part of units and deltas; and the share of each label in the loss,
    negative where the label is 1, in shares. ``stamp`` is the last step that met a feature, ``touched`` are those met.
    """

    values: Floats
    indices: npt.NDArray[np.int32]
    stops: Integers
    units: Floats
    deltas: Floats
    shares: Floats
    stamp: Integers
    touched: npt.NDArray[np.int32]


class Rows(NamedTuple):
    """Rows of features from starts to ends (dense rows have no indices); codes are label + 2 * (does it count?)."""

    values: Floats
    indices: npt.NDArray[np.int32]
    starts: Integers
    ends: Integers
    codes: npt.NDArray[np.uint8]
    weight: Doubles
