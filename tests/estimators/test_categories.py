"""Learners without categories of their own get a 0/1 feature for each value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import OneHotEncoder

from estimators import (
    ContextWindowClassifier,
    NearestRowClassifier,
    StreamPipeline,
    make_strategy,
    one_hot_categories,
    with_categories,
)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 8), st.booleans())
def test_few_values_are_those_of_scikit_learns_encoder(a, b, n_rows, swapped):
    rng = np.random.default_rng(n_rows)
    codes = np.column_stack([rng.integers(0, a, n_rows + 1), rng.integers(0, b, n_rows + 1)]).astype(float)
    numbers = rng.normal(size=(n_rows + 1, 2))
    X = np.column_stack([numbers[:, 0], codes[:, 0], numbers[:, 1], codes[:, 1]])
    n_values = {3: b, 1: a} if swapped else {1: a, 3: b}
    encoder = OneHotEncoder(categories=[np.arange(a), np.arange(b)], sparse_output=False)
    expected = np.hstack([numbers, encoder.fit_transform(codes)])
    assert np.array_equal(one_hot_categories(X, n_values=n_values), expected)


def test_many_values_share_columns():
    X = np.arange(1000.0)[:, np.newaxis]
    coded = one_hot_categories(X, n_values={0: 1000}, max_columns=64)
    assert coded.shape == (1000, 64)
    assert (coded.sum(axis=1) == 1).all()
    # as even as a hash makes them
    assert coded.sum(axis=0).max() < 40


@pytest.mark.parametrize(("codes", "n_values"), [([[3.0]], {0: 3}), ([[-1.0]], {0: 3}), ([[0.5]], {0: 300})])
def test_what_is_no_code_is_one_error(codes, n_values):
    with pytest.raises(ValueError, match=f"whole numbers from 0 to {n_values[0] - 1}"):
        one_hot_categories(codes, n_values=n_values)


def test_rows_that_differ_in_one_category_are_equally_far_apart():
    learner = with_categories(NearestRowClassifier(), {0: 4, 1: 9})
    X, Y = [[0, 0], [3, 8]], [[1, 0], [0, 1]]
    # as numbers, (3, 0) were nearer to (0, 0), and as overlap both share a value
    assert learner.fit(X, Y).predict([[3, 1]]).tolist() == [[0, 1]]


def test_only_learners_of_ours_that_split_categories_are_told():
    n_values = {1: 3}
    told = with_categories(make_strategy("CC_HT"), n_values)
    assert told.estimator.categorical_features == n_values
    assert with_categories(make_strategy("BR_HT", estimator__categorical_features=[0]), n_values).get_params()[
        "estimator__categorical_features"
    ] == [0]
    # its parameter of this name is about the frames that it gets itself
    window = ContextWindowClassifier(HistGradientBoostingClassifier())
    # every member of a mixture gets the same features
    for learner in (make_strategy("StreamRidge"), make_strategy("Stack"), window):
        pipeline = with_categories(learner, n_values)
        assert isinstance(pipeline, StreamPipeline)
        assert with_categories(pipeline, n_values) is pipeline
        assert with_categories(learner, {}) is learner
        clone(pipeline)
