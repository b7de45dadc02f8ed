"""Members of AESAKNNS vote, learn and start again as loops over lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators import AESAKNNSClassifier
from tests.estimators.neighbours.test_aesaknns import known, slow_version
from tests.scattered import tables


@pytest.mark.slow
@given(st.integers(1, 3), st.booleans(), st.sampled_from([0.5, 3.0]), st.integers(0, 99), st.data())
def test_every_row_is_that_of_the_loop(n_members, faithful, penalty, seed, data):
    # labels that nothing foretells from the middle on, so that members start again
    n = data.draw(st.sampled_from([120, 1, 40, 160]))
    X, Y = data.draw(tables((n, 3), (0.0, 0.5, -0.5))), np.random.default_rng(seed).choice([0, 1, 1, 0, np.nan], (n, 2))
    Y[: n // 2] = 0.0
    Y[np.isnan(Y).all(axis=1), 0] = 1.0
    learner = AESAKNNSClassifier(
        n_members,
        background_rows=25,
        max_window=20,
        min_window=4,
        penalty=penalty,
        faithful=faithful,
        random_state=seed,
    )
    slow, expected = slow_version(learner, X, Y), []
    for x, y in zip(X, Y, strict=True):
        expected.append(slow.predict(x))
        slow.learn(x, known(y))
    _, proba = learner.predict_then_fit(X, Y)
    np.testing.assert_allclose(proba, expected, atol=1e-12)
    assert (learner.n_restarts_, learner.n_exchanged_) == (slow.n_restarts, slow.n_exchanged)
