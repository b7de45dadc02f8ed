"""Concepts differ in what is asked for, and labels have the probability that their scores say."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from mlstream.generators import drifting_stream, duplicated_rows, noisy_labels, rare_labels, reordered_rows
from mlstream.generators.synthetic.concept_functions import KINDS
from mlstream.generators.synthetic.concepts import (
    ConceptParams,
    changes_between,
    draw_rows,
    label_shares,
    make_concepts,
)
from tests.loops import check_all, in_two_tiers


@given(st.integers(2, 30), st.floats(1, 100), st.floats(0.01, 0.99))
def test_shares_add_up_and_fall_geometrically(n_labels, imbalance, part):
    most = sum(imbalance ** (-label / (n_labels - 1)) for label in range(n_labels))
    shares = label_shares(n_labels, part * most, imbalance)
    assert shares.sum() == pytest.approx(part * most)
    assert shares[0] / shares[-1] == pytest.approx(imbalance)
    np.testing.assert_allclose(shares[1:] / shares[:-1], imbalance ** (-1 / (n_labels - 1)))
    assert shares.max() < 1


@pytest.mark.parametrize("kind", KINDS)
def test_labels_keep_their_probability_given_the_features_when_these_drift(kind):
    functions, (first, other) = make_concepts(
        kind, ConceptParams(drift_in=["P(X)"], noise=0.4), n_features=3, n_concepts=2, seed=1
    )
    X, Y = draw_rows(functions, (other, other), 0.0, 0.4, 40000, np.random.default_rng(0))
    probability = ndtr((np.sqrt(0.6) * functions.score(X, first.weights) - first.thresholds) / np.sqrt(0.4))
    for low in (0.0, 0.2, 0.4):
        cells = (probability >= low) & (probability < low + 0.2)
        assert not cells.any() or Y[cells].mean() == pytest.approx(probability[cells].mean(), abs=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_disturbances_correlate_with_the_signs_of_their_loadings(kind):
    params = ConceptParams(n_labels=5, cardinality=2.5, noise=1.0, dependence=0.6, drift_in=["dependence"])
    functions, concepts = make_concepts(kind, params, n_features=3, n_concepts=3, seed=2)
    for concept in concepts:
        _, Y = draw_rows(functions, (concept, concept), 0.0, 1.0, 40000, np.random.default_rng(0))
        for a, b in combinations(range(5), 2):
            rho = concept.loadings[a] * concept.loadings[b]
            assert abs(rho) == pytest.approx(0.6)
            assert np.corrcoef(Y[:, a], Y[:, b])[0, 1] == pytest.approx(2 / np.pi * np.arcsin(rho), abs=0.03)


@in_two_tiers(product(KINDS, [["P(X)"], ["P(Y|X)"], ["dependence"], ["P(X)", "P(Y|X)", "dependence"], []]), n_fast=5)
def test_concepts_differ_in_what_is_asked_for(cases):
    def check(case):
        kind, drift_in = case
        _, (first, other) = make_concepts(kind, ConceptParams(drift_in=drift_in), n_features=3, n_concepts=2, seed=0)
        assert changes_between(first, other) == drift_in
        assert changes_between(other, other) == []

    check_all(cases, check)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_concepts_are_the_farther_apart_the_greater_the_magnitude(kind):
    distances = []
    for magnitude in (0.1, 0.4, 1.0):
        params = ConceptParams(drift_in=["P(X)", "P(Y|X)"], magnitude=magnitude)
        _, (first, other) = make_concepts(kind, params, n_features=6, n_concepts=2, seed=3)
        distances.append([np.abs(first.place - other.place).mean(), np.abs(first.weights - other.weights).mean()])
    assert (np.diff(distances, axis=0) > 0).all()


@cache
def stream_of(pattern, window):
    return drifting_stream("hyperplane", n_rows=300, n_concepts=2, pattern=pattern, window=window, order=[0, 1, 0, 1])


def rows_of(stream):
    return np.concatenate([part.row_ids for part in stream]).tolist()


PERTURBED = {
    "duplicated": lambda stream: duplicated_rows(stream, rate=0.5),
    "noisy": lambda stream: noisy_labels(stream, rate=0.2),
    "rare": lambda stream: rare_labels(stream, keep={"y0": 0.3}),
    "reordered": reordered_rows,
}


def test_rows_outside_a_perturbed_drift_are_those_from_outside():
    def check(case):
        change, (pattern, window) = case
        stream = stream_of(pattern, window)
        perturbed = PERTURBED[change](stream)
        old = rows_of(stream)
        place = [old.index(row) for row in rows_of(perturbed)]
        assert len(perturbed.card.drifts) == 3
        for drift, before in zip(perturbed.card.drifts, stream.card.drifts, strict=True):
            assert (drift.what, drift.pattern, drift.recurring) == (before.what, before.pattern, before.recurring)
            assert max(place[: drift.start]) < before.start
            assert min(place[drift.stop :]) >= before.stop
            if not window:
                assert drift.start == drift.stop
            # No row more is said to be of the drift than must be.
            assert place[drift.start] >= before.start
            assert place[drift.stop - 1] < before.stop

    check_all(product(PERTURBED, [("abrupt", 0), ("gradual", 40), ("incremental", 40)]), check)


def test_a_stream_whose_drifts_are_unknown_stays_one():
    stream = stream_of("abrupt", 0)
    assert noisy_labels(noisy_labels(stream, rate=0.1), rate=0.1).card.drifts == stream.card.drifts
    same = drifting_stream("tree", n_rows=60, magnitude=0)
    assert reordered_rows(same).card.drifts == []
