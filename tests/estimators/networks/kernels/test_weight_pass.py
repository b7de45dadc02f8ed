"""A pass over more weights than fit in a block, in the first layer and in one above, is that of the slow network."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.networks._kernels.one_pass import run
from estimators.networks._kernels.state import RunOptions, make_context
from estimators.networks._kernels.weight_pass import BLOCK
from estimators.networks._network_state import layers_of, make_workspace
from estimators.replay.memories import no_replay
from tests.estimators.networks.kernels.passes import VALUES, assert_same, coded, drawn_state, stored
from tests.estimators.networks.kernels.slow_network import Row, SlowLearner

WIDE = {"features": (700, 3), "features of many units": (33, 70, 2), "units above": (2, 45, 50)}


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", WIDE)
@settings(max_examples=2)
@given(seed=st.integers(0, 99))
def test_blocks_are_learnt_and_predicted_as_the_whole(name, dense, seed):
    sizes, rng = WIDE[name], np.random.default_rng(seed)
    assert max(a * b for a, b in pairwise(sizes)) > BLOCK
    state, options = drawn_state(sizes, 1), RunOptions(learn=True, dense=dense, rate=0.1)
    slow = SlowLearner(layers_of(state), options)
    X, Y = rng.choice(VALUES, (4, sizes[0])).tolist(), rng.integers(0, 2, (4, sizes[-1])).tolist()
    rows = [Row(x, y, [True] * len(y), 1.0) for x, y in zip(X, Y, strict=True)]
    ours, proba = coded(rows, dense=dense), np.empty((4, sizes[-1]))
    context = make_context(make_workspace(state, options, ours, stored(rows, dense=dense), 1))
    assert run(context, *no_replay(4), proba.reshape(-1), *ours) == -1
    assert_same(state, slow, proba, [slow.predict_then_learn(row, []) for row in rows])
