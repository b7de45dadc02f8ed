"""Features that are invariant by construction predict alike in every environment; the others do not."""

import numpy as np
import pytest

from mlstream.generators import environment_stream, hat_and_shirt_stream, invariant_features
from tests.mlstream.evaluation.streams import make_stream


def rates(stream, column):
    """Return the share of positive rows by category of a 0/1 column, in each environment."""
    return np.array([[part.Y[part.X[:, column] == value].mean() for value in (0, 1)] for part in stream])


@pytest.mark.parametrize("encoding", ["codes", "one-hot", "numeric"])
def test_they_are_the_first_of_each_encoding(encoding):
    stream = environment_stream(("train", "test"), n_rows=50, invariant=(2, 5), spurious=(3,), encoding=encoding)
    n_invariant, n_spurious = (7, 3) if encoding == "one-hot" else (2, 1)
    assert invariant_features(stream.card).tolist() == [True] * n_invariant + [False] * n_spurious


def test_only_invariant_columns_have_the_same_conditional_rates_everywhere():
    stream = environment_stream(
        ("train",) * 3, n_rows=20_000, invariant=(2,), spurious=(2,), correlations=(0.9, -0.5, 0.1), diversity=0.0
    )
    for column, is_invariant in enumerate(invariant_features(stream.card)):
        spread = np.ptp(rates(stream, column), axis=0).max()
        assert (spread < 0.05) == is_invariant, spread


def test_the_hat_is_invariant_and_the_shirt_is_not():
    stream = hat_and_shirt_stream()
    assert invariant_features(stream.card).tolist() == [True, False]
    assert np.ptp(rates(stream, 0), axis=0).max() == 0
    assert np.ptp(rates(stream, 1), axis=0).max() > 0.3


def test_other_streams_are_refused():
    with pytest.raises(ValueError, match=r"card must be that of a stream of environment_stream or .* Got"):
        invariant_features(make_stream().card)
