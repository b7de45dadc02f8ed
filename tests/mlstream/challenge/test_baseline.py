"""The baselines of a bundle, on small tables."""

import importlib.util
from importlib.resources import files

import numpy as np
import pytest


@pytest.fixture(scope="module")
def baseline():
    path = files("mlstream.challenge.making").joinpath("bundle_files", "baseline.py")
    spec = importlib.util.spec_from_file_location("bundled_baseline", str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw(n_rows=400, seed=0):
    """Draw environments in which the first feature predicts the first label alike, and the second one does not."""
    rng = np.random.default_rng(seed)
    environment = np.repeat([1, 2], n_rows // 2)
    Y = rng.integers(0, 2, (n_rows, 2)).astype(float)
    stable = np.where(rng.random(n_rows) < 0.2, 1 - Y[:, 0], Y[:, 0])
    unstable = np.where(rng.random(n_rows) < np.where(environment == 1, 0.02, 0.4), 1 - Y[:, 0], Y[:, 0])
    return np.column_stack([stable, unstable]), Y, environment


FEATURES = [{"name": "f1", "categories": 2}, {"name": "f2", "categories": None}]


def test_every_method_is_in_the_documentation(baseline):
    for method in baseline.METHODS:
        assert method in baseline.__doc__


@pytest.mark.parametrize(
    "method", ["base-rate", "logistic", "per-environment", "stream-ridge", "network", "irm", "vrex", "group-dro"]
)
def test_every_method_predicts_and_learns_from_rows_known_in_part(baseline, method):
    assert method in baseline.METHODS
    X, Y, environment = draw()
    Y[::7, 1] = np.nan
    train, hidden = baseline.encode(X, X[:50], FEATURES)
    prob = baseline.predict(method, train, Y, environment, hidden)
    assert prob.shape == (50, 2)
    assert ((prob >= 0) & (prob <= 1)).all()
    if method != "base-rate":
        stable = X[:50, 0].astype(bool)
        assert prob[stable, 0].mean() > prob[~stable, 0].mean() + 0.1


@pytest.mark.parametrize("method", ["irm", "vrex"])
def test_methods_made_for_invariance_lean_on_the_stable_feature_more_than_pooling_does(baseline, method):
    X, Y, environment = draw(2000)
    corners = np.array([[1.0, 0.0], [0.0, 1.0]])
    train, hidden = baseline.encode(X, corners, FEATURES)
    pooled, invariant = (baseline.predict(one, train, Y, environment, hidden)[:, 0] for one in ("logistic", method))
    assert invariant[0] - invariant[1] > pooled[0] - pooled[1]
