"""The rolling forest predicts what a loop over lists of rows does, written from its description."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators import RollingForestClassifier
from tests.estimators.trees.kernels.slow_rolling import UNKNOWN, SlowForest


@settings(max_examples=40)
@given(
    st.integers(0, 2**31 - 2),
    st.integers(1, 40),
    st.integers(1, 60),
    st.integers(1, 6),
    st.integers(1, 5),
    st.sampled_from([1, 3, 20]),
    st.sets(st.integers(0, 5)),
)
def test_it_equals_a_slow_loop(seed, n_trees, window, max_features, min_samples_leaf, n_labels, nominal):
    rng = np.random.default_rng(seed)
    X, mask = rng.random((80, 6)).round(2), rng.random((80, n_labels)) < 0.8
    codes_of_words = rng.integers(0, 2**53, 15)
    X[:, list(nominal)] = codes_of_words[rng.geometric(0.2, (80, len(nominal))).clip(max=15) - 1]
    X[:, 5] = 7.0
    Y, weight = rng.integers(0, 2, (80, n_labels)), rng.choice([0.0, 0.5, 1.0, 3.0], 80)
    mask[:, 0] |= ~mask.any(axis=1)
    forest = RollingForestClassifier(
        n_trees,
        window=window,
        max_features=max_features,
        min_samples_leaf=min_samples_leaf,
        random_state=seed,
        categorical_features=list(nominal),
    )
    state = np.uint64(np.random.RandomState(seed).randint(2**31 - 1))
    slow = SlowForest(n_trees, window, max_features, min_samples_leaf, 2 * window, state, nominal)
    for start in range(0, 80, 27):
        rows = slice(start, start + 27)
        forest.partial_fit(X[rows], Y[rows], label_mask=mask[rows], sample_weight=weight[rows])
        for x, codes, w in zip(X[rows], np.where(mask, Y, UNKNOWN)[rows], weight[rows], strict=True):
            if w > 0:
                slow.learn(x.tolist(), codes.tolist(), w)
        expected = [slow.predict(x, n_labels) for x in X.tolist()]
        np.testing.assert_allclose(forest.predict_proba(X), expected, atol=1e-9)
