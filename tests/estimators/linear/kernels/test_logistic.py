"""Steps of logistic regressions, on dense and on sparse rows, are those of a model of numbers in a dictionary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from estimators._kernels.label_codes import UNKNOWN
from estimators.linear._kernels.logistic import Step, grow, learn, new_models, new_work, predict
from estimators.linear._rows import as_rows
from tests.estimators.linear.kernels.slow_model import SlowModel
from tests.scattered import tables

D, N_LABELS = 3, 2
VALUES = (0.0, 1.0, -0.5, 0.0, 40.0)


STEPS = st.builds(
    Step,
    st.sampled_from([0.01, 0.5]),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([1e12, 0.2]),
)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@settings(max_examples=100)
@given(st.integers(0, 8), STEPS, st.booleans(), st.data())
def test_every_prediction_and_weight_is_that_of_the_slow_model(kind, n, step, weighted, data):
    X, codes = data.draw(tables((n, D), VALUES)), data.draw(tables((n, N_LABELS), (0, 1, UNKNOWN), np.uint8))
    weights = data.draw(tables((n if weighted else 0,), (1.0, 0.0, 2.5)))
    models, slow = new_models(D, N_LABELS), [SlowModel(D, step) for _ in range(N_LABELS)]
    rows, proba, expected = as_rows(kind(X)), np.full((n, N_LABELS), np.nan), []
    assert learn(models, rows, codes, weights, step, new_work(models), proba)
    for i, x in enumerate(X.tolist()):
        expected.append([model.predict(x) for model in slow])
        for model, code in zip(slow, codes[i].tolist(), strict=True):
            if code != UNKNOWN:
                model.learn(x, code, weights[i] if weighted else 1.0)
    again = np.full((n, N_LABELS), np.nan)
    assert predict(models, rows, new_work(models), again)
    # scores are sums in another order
    now = [[model.predict(x) for model in slow] for x in X.tolist()]
    for found, wanted in ((proba, expected), (again, now)):
        np.testing.assert_allclose(found, np.array(wanted).reshape(n, N_LABELS), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(models.weights.T, [[one.w[f] for f in range(D)] for one in slow], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(models.intercepts, [one.w[None] for one in slow], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("great", [3.5e38, -1e300])
def test_features_beyond_float32_change_nothing(kind, great):
    models, step = new_models(D, N_LABELS), Step(0.1, 0.1, 1.0)
    rows = as_rows(kind(np.array([[1.0, 2.0, 0.0], [0.0, great, 0.0]])))
    room = np.empty((2, N_LABELS))
    assert not learn(models, rows, np.ones((2, N_LABELS), np.uint8), np.zeros(0), step, new_work(models), room)
    assert not predict(models, rows, new_work(models), room)
    assert not models.weights.any()


def test_new_models_leave_the_others_as_they_are():
    models = new_models(D, 1)
    models.weights[:], models.intercepts[:] = 2.0, 3.0
    longer = grow(models, 2)
    assert longer.weights.tolist() == [[2.0, 0.0, 0.0]] * D
    assert longer.intercepts.tolist() == [3.0, 0.0, 0.0]
