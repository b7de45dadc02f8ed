"""Every strategy runs on a stream of categories, and is told which features they are."""

import numpy as np
import pytest

from estimators import STRATEGIES, make_strategy
from mlstream import evaluate
from mlstream.generators import task_stream
from mlstream.streams.stream import Dataset

NEEDED = 30


def table(values):
    """Draw rows of which each label is one value, or another one, of a column of 30 in no order."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, NEEDED, size=(700, 2))
    X = np.column_stack([rng.normal(size=700), codes]).astype(float)
    Y = np.column_stack([np.isin(codes[:, k % 2], rng.permutation(NEEDED)[:12]) for k in range(3)]).astype(int)
    return Dataset(X, Y, feature_values=values)


def learn(name, values):
    stream = task_stream(table(values), n_tasks=2, seed=0, unlabelled="keep")
    return evaluate(make_strategy(name), stream, energy="none", chunk_size=50)


WORDS = tuple(f"word {code}" for code in range(NEEDED))
VALUES = {"x1": WORDS, "x2": WORDS}
SLOW = {"window_gradient_boosting", "BR_SGD", "BR_PA"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in STRATEGIES]
)
def test_every_strategy_learns_a_stream_of_categories(name):
    if STRATEGIES[name].to_install:
        pytest.skip(f"{STRATEGIES[name].to_install} is not installed")
    result = learn(name, VALUES)
    estimator = " ".join(result.estimator.split())
    assert "categorical_features={1: 30, 2: 30}" in estimator or "one_hot_categories" in estimator, estimator
    assert 0 <= result.scores["acc"] <= 1


@pytest.mark.parametrize("name", ["BR_HAT", "BR_random_forest", "StreamRidge", "1NN"])
def test_categories_are_worth_telling(name):
    assert learn(name, VALUES).scores["acc"] > learn(name, {}).scores["acc"] + 0.02
