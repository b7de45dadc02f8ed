"""Files made to learn labels are told from what learners write."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlstream.challenge.scoring.decoding import looks_like_decoding
from tests.estimators.instances import made
from tests.loops import check_all

EPS = 1e-3
N_ROWS = 1500
# Those of all strategies that come nearest to a file made to learn labels.
LEARNERS = ("AESAKNNS", "BR_HAT", "BR_random_forest", "BR_SGD", "GDumb", "GOOWE_ML", "LC_HT", "MLSAMPkNN", "NN")
NOISES = {
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
    "normal": lambda rng, shape: rng.normal(size=shape),
    "two-valued": lambda rng, shape: rng.choice([-1, 1], shape),
}
WEIGHTS = {
    "geometric": lambda rng, k: 4 * 2.0 ** -np.arange(k),
    "superincreasing": lambda rng, k: 4 * np.cumprod(rng.uniform(0.3, 0.5, k)),
    "arithmetic": lambda rng, k: 4 * np.arange(1, k + 1) / k,
    "random": lambda rng, k: rng.uniform(-4, 4, k),
    "equal": lambda rng, k: rng.choice([-2.0, 2.0], k),
}


def logistic(odds):
    return 1 / (1 + np.exp(-odds))


def probing(seed, noise, kind, weights, *, centre=0.5, n_labels=1, k=24):
    """Return a file that keeps to a centre with noise, but for a few rows of the first label."""
    rng = np.random.default_rng(seed)
    prob = np.clip(centre + noise * NOISES[kind](rng, (N_ROWS, n_labels)), 1e-4, 1 - 1e-4)
    prob[rng.permutation(N_ROWS)[:k], 0] = logistic(np.log(centre / (1 - centre)) + WEIGHTS[weights](rng, k))
    return prob


def variants(prob):
    """Yield a file as it is, rounded, and as hard decisions."""
    yield from (prob, *(prob.round(digits) for digits in (1, 2, 3)), (prob >= 0.5).astype(float))


def test_a_few_rows_away_from_a_centre_are_flagged():
    def check(case):
        seed, (noise, kind, weights, centre, n_labels) = case
        # Equal weights on a constant, or on two values that are far apart, are what a tree with a rare leaf writes.
        if weights == "equal" and (noise == 0 or (kind == "two-valued" and noise > 1e-5)):
            return
        assert looks_like_decoding(probing(seed, noise, kind, weights, centre=centre, n_labels=n_labels), EPS)

    cases = product((0, 1e-12, 1e-9, 1e-7, 1e-4, 1e-2), NOISES, WEIGHTS, (0.5, 0.35), (1, 4))
    check_all(enumerate(cases), check)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_are_not_flagged(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS + 400, 8)).astype(np.float32)
    # The last labels are rare.
    Y = (rng.random((len(X), 5)) < logistic(X[:, :5] * 2 - np.arange(5) * 1.2)).astype(np.uint8)
    for n_rows in (8, 60, 400):
        learner = made(name).partial_fit(X[N_ROWS : N_ROWS + n_rows], Y[N_ROWS : N_ROWS + n_rows])
        for prob in variants(np.asarray(learner.predict_proba(X[:N_ROWS]))):
            assert looks_like_decoding(prob, EPS) is None
            for column in prob.T:
                assert looks_like_decoding(column[:, None], EPS) is None


@given(st.floats(0, 1), st.integers(0, 60), st.integers(1, 3), st.integers(0, 2**32 - 1))
@example(0.5, 24, 1, 0)
def test_constants_and_trees_with_a_rare_leaf_are_not_flagged(rate, n_in_leaf, n_labels, seed):
    rng = np.random.default_rng(seed)
    prob = np.full((N_ROWS, n_labels), rate)
    prob[rng.permutation(N_ROWS)[:n_in_leaf]] = rng.random(n_labels)
    assert looks_like_decoding(prob, EPS) is None


@given(st.sampled_from((1, 1.5, 2, 3)), st.floats(0.01, 3), st.floats(-5, 5), st.integers(0, 2**32 - 1))
def test_heavy_tails_are_not_flagged(freedom, scale, bias, seed):
    odds = np.random.default_rng(seed).standard_t(freedom, (N_ROWS, 1))
    for prob in variants(logistic(np.clip(scale * odds + bias, -700, 700))):
        assert looks_like_decoding(prob, EPS) is None


@given(st.floats(1.2, 3), st.integers(6, 20), st.integers(0, 2**32 - 1))
@example(1.5, 9, 0)
def test_geometric_log_odds_are_found_wherever_they_stand(ratio, n_levels, seed):
    rng = np.random.default_rng(seed)
    levels = 0.01 * ratio ** np.arange(n_levels)
    odds = rng.choice(levels[levels < 15], (200, 1)) * rng.choice([-1, 1], (200, 1))
    found = looks_like_decoding(logistic(odds), 1e-9)
    assert (found is not None) == (len(np.unique(np.round(np.abs(odds), 6))) > 4)
    assert looks_like_decoding(rng.random((200, 1)), 1e-9) is None
