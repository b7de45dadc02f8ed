"""Hats and shirts come in the proportions that the example tells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.generators.synthetic.hat_and_shirt import hat_and_shirt_stream


@given(st.integers(1, 5), st.integers(0, 5))
def test_every_part_is_exact(n_copies, seed):
    stream = hat_and_shirt_stream(n_copies=n_copies, seed=seed)
    for domain in (0, 1):
        for part in (stream.experiences[domain], stream.evaluation_sets[domain]):
            hat, orange, responds = (*part.X.T.astype(bool), part.Y[:, 0].astype(bool))
            assert len(part) == 6 * n_copies
            assert hat.sum() == 3 * n_copies
            assert not responds[hat].any()
            assert responds[~hat].sum() == 2 * n_copies
            assert orange[hat].sum() == n_copies
            # Without a hat, all wear orange in A and blue in B.
            assert (orange[~hat] == (domain == 0)).all()
    rows = [part.row_ids for part in (*stream.experiences, *stream.evaluation_sets)]
    assert sorted(np.concatenate(rows).tolist()) == list(range(24 * n_copies))


def test_the_colour_misleads_and_the_hat_does_not():
    a, b = hat_and_shirt_stream(seed=0)
    for column, same in ((0, True), (1, False)):
        rates = [[part.Y[part.X[:, column] == value].mean() for value in (0, 1)] for part in (a, b)]
        assert (rates[0] == rates[1]) is same
    orange, blue = ([part.Y[part.X[:, 1] == value].mean() for part in (a, b)] for value in (1, 0))
    assert orange[0] > blue[0]
    assert orange[1] < blue[1]


def test_the_order_depends_on_the_seed_and_bad_input_is_refused():
    assert hat_and_shirt_stream(seed=0).card.data_sha256 != hat_and_shirt_stream(seed=1).card.data_sha256
    with pytest.raises(ValueError, match=r"n_copies must be a whole number, at least 1. Got 0"):
        hat_and_shirt_stream(n_copies=0)
