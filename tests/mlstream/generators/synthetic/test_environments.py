"""Synthetic environments shift where their params say, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators import environment_stream, hat_and_shirt_stream, invariant_features
from tests.loops import check_all
from tests.mlstream.evaluation.streams import make_stream

TWO = ("train", "unseen")


def correlation(part, column, label=0):
    return np.corrcoef(part.X[:, column], part.Y[:, label])[0, 1]


@given(st.integers(0, 9), st.integers(1, 3), st.sampled_from(["codes", "one-hot", "numeric"]))
@settings(max_examples=15, deadline=None)
def test_shapes_names_and_roles(seed, n_labels, encoding):
    stream = environment_stream(n_rows=60, n_labels=n_labels, encoding=encoding, seed=seed)
    assert stream.n_features == (14 if encoding == "one-hot" else 5)
    assert stream.n_labels == n_labels
    assert (stream.n_tasks, len(stream)) == (12, 3)
    assert len(stream.card.generator.parameters["correlations"]) == 12
    if encoding == "one-hot":
        assert (stream.experiences[0].X.sum(axis=1) == 5).all()
        assert stream.card.feature_names[:3] == ["invariant-0=0", "invariant-0=1", "invariant-1=0"]


def test_spurious_features_follow_the_correlation_of_their_environment():
    rhos = [0.9, 0.4, 0.0, -0.9]
    stream = environment_stream(
        ("train", "train", "test", "unseen"), n_rows=6000, spurious=(2, 2), correlations=rhos, diversity=0, seed=1
    )
    for rho, part in zip(rhos, stream.evaluation_sets, strict=True):
        # Two categories, told with probability |rho|: that is the correlation of a balanced label.
        rate = part.Y.mean()
        expected = rho * np.sqrt(rate * (1 - rate)) / np.sqrt(np.var(part.X[:, 3]))
        for column in (3, 4):
            assert correlation(part, column) == pytest.approx(expected, abs=0.06)


def test_labels_given_the_invariant_features_are_the_same_everywhere():
    stream = environment_stream(TWO, n_rows=40_000, invariant=(2, 3), n_labels=2, diversity=1, seed=3)
    first, second = stream.experiences[0], stream.evaluation_sets[1]
    shares = []
    for cell in np.ndindex(2, 3):
        here, there = ((part.X[:, :2] == cell).all(axis=1) for part in (first, second))
        shares.append((here.mean(), there.mean()))
        if min(here.sum(), there.sum()) > 500:
            np.testing.assert_allclose(first.Y[here].mean(axis=0), second.Y[there].mean(axis=0), atol=0.07)
    # and their own distribution is not
    assert np.abs(np.subtract(*np.transpose(shares))).max() > 0.05


def test_without_diversity_invariant_features_are_uniform():
    stream = environment_stream(TWO, n_rows=20_000, invariant=(4,), diversity=0, seed=0)
    for part in stream.evaluation_sets:
        np.testing.assert_allclose(np.bincount(part.X[:, 0].astype(int)) / len(part), 0.25, atol=0.03)


@given(st.integers(0, 50))
@settings(max_examples=20, deadline=None)
def test_correlations_are_drawn_from_the_range_of_their_role(seed):
    stream = environment_stream(
        ("train", "test"), n_rows=10, correlation=(0.5, 0.6), shifted_correlation=(-0.3, -0.2), seed=seed
    )
    training, other = stream.card.generator.parameters["correlations"]
    assert 0.5 <= training <= 0.6
    assert -0.3 <= other <= -0.2


def test_errors_name_rule_and_value():
    def check(case):
        options, message = case
        with pytest.raises(ValueError, match=message):
            environment_stream(**{"roles": TWO} | options)

    check_all(
        [
            ({"roles": ("test",)}, r"must have the role 'train'. Got \['test'\]"),
            ({"diversity": 1.1}, r"diversity must lie in \[0, 1\]. Got 1.1"),
            ({"encoding": "binary"}, r"encoding must be one of 'codes', 'one-hot', 'numeric'. Got 'binary'"),
            ({"invariant": ()}, r"invariant must hold at least one number of categories. Got 0"),
            ({"invariant": (1,)}, r"each number of categories in invariant must be .* at least 2. Got 1"),
            ({"spurious": (2, 1)}, r"each number of categories in spurious must be .* at least 2. Got 1"),
            ({"correlations": (0.5,)}, r"one correlation per environment. Got 1 for 2"),
            ({"correlations": (0.5, 1.5)}, r"A correlation must lie in \[-1, 1\]. Got 1.5"),
            ({"n_rows": 0}, r"n_rows must be a whole number, at least 1. Got 0"),
            ({"n_labels": 0}, r"n_labels must be a whole number, at least 1. Got 0"),
        ],
        check,
    )


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
