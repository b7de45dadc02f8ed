"""Features, scores, correlations and mixtures of ridge regressions are sums over lists."""

import math
import statistics

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from estimators.ridge._kernels.ridge import (
    blend_then_follow,
    correlate,
    count_to_doubling,
    dense_scores,
    expand,
    reweigh,
    sparse_scores,
)
from tests.scattered import tables

VALUES = (0.0, -1.5, 0.3, 2.0, 1e6)
SIZES = st.tuples(st.integers(0, 4), st.integers(1, 3), st.integers(0, 3), st.integers(0, 3))


def slow_features(x, shift, scale, hinged, knots, pairs, weights, biases):
    z = [(value - by) * times for value, by, times in zip(x, shift, scale, strict=True)]
    hinges = [max(0.0, z[feature] - knot) for feature, line in zip(hinged, knots, strict=True) for knot in line]
    columns = [[line[unit] for line in weights] for unit in range(len(biases))]
    units = [
        b + math.fsum(v * w for v, w in zip(z, line, strict=True)) for b, line in zip(biases, columns, strict=True)
    ]
    return [1.0, *z, *hinges, *(z[i] * z[j] for i, j in pairs), *(max(0.0, unit) for unit in units)]


@settings(max_examples=100)
@given(SIZES, st.integers(0, 2), st.data())
def test_rows_are_expanded(sizes, n_pairs, data):
    n, d, n_knots, n_units = sizes
    hinged = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    pairs = data.draw(tables((n_pairs, 2), tuple(range(d)))).astype(np.int64)
    X, shift, scale, knots, weights, biases = (
        data.draw(tables(shape, VALUES))
        for shape in ((n, d), (d,), (d,), (len(hinged), n_knots), (d, n_units), (n_units,))
    )
    basis = shift, scale, hinged, knots, pairs, weights, biases
    out = np.full((n, 1 + d + knots.size + n_pairs + n_units), np.nan)
    expand(X, *basis, out)
    expected = [slow_features(x, *(part.tolist() for part in basis)) for x in X.tolist()]
    # units are sums in another order, of numbers up to 1e18 that cancel
    np.testing.assert_allclose(out, np.array(expected).reshape(out.shape), rtol=1e-12, atol=1e4)
    np.testing.assert_array_equal(out[:, : 1 + d], np.array(expected).reshape(out.shape)[:, : 1 + d])


@settings(max_examples=100)
@given(st.integers(0, 4), st.integers(1, 5), st.integers(1, 3), st.data())
def test_scores_are_products_in_one_order_dense_or_sparse(n, d, n_labels, data):
    F, coef = data.draw(tables((n, d), VALUES)), data.draw(tables((d, n_labels), VALUES))
    thin, dense, csr = sparse.csr_array(F), np.zeros((n, n_labels)), np.zeros((n, n_labels))
    dense_scores(F, coef, dense)
    sparse_scores(thin.indptr, thin.indices, thin.data, coef, csr)
    expected = np.zeros((n, n_labels))
    for row in range(n):
        for label in range(n_labels):
            expected[row, label] = sum(F[row, j] * coef[j, label] for j in range(d))
    # the same additions in the same order: to the bit
    assert dense.tolist() == csr.tolist() == expected.tolist()


@settings(max_examples=100)
@given(st.integers(2, 6), st.integers(1, 4), st.data())
def test_correlations_are_those_of_lists(n, d, data):
    X, penalty = data.draw(tables((n, d), (0.0, -1.5, 0.3, 2.0))), data.draw(tables((d,), (0.0, 1.5)))
    rows = np.hstack([np.ones((n, 1)), X])
    deviations = [statistics.pstdev(column) for column in X.T.tolist()]
    scale = np.array([1 / deviation if deviation else 0.0 for deviation in deviations])
    system = np.zeros((d, d))
    correlate(rows.T @ rows, scale, penalty, system)
    for i in range(d):
        for j in range(i + 1):
            both = deviations[i] and deviations[j]
            expected = statistics.correlation(X[:, i].tolist(), X[:, j].tolist()) if both else 0.0
            assert abs(system[i, j] - expected - (penalty[i] if i == j else 0.0)) < 1e-12
    assert not np.triu(system, 1).any()


@settings(max_examples=100)
@given(st.integers(0, 6), st.integers(1, 3), st.integers(-2, 6), st.data())
def test_rows_are_counted_up_to_the_first_that_doubles_those_of_a_label(n, n_labels, first, data):
    Y, counted = data.draw(tables((n, n_labels), (0, 1), np.uint8)), data.draw(tables((n, n_labels), (True, False)))
    before = data.draw(tables((2, n_labels), (0, 1, 2, 3), np.int64))
    after = before.copy()
    n_rows, doubled = count_to_doubling(Y, counted, after, first)
    totals = [before[0] + (Y[:end] * counted[:end]).sum(axis=0, dtype=int) for end in range(n + 1)]
    ends = [end for end in range(1, n + 1) if end > first and (totals[end] >= np.maximum(1, 2 * before[1])).any()]
    assert (n_rows, doubled) == ((ends[0], True) if ends else (n, False))
    assert after.tolist() == [totals[n_rows].tolist(), before[1].tolist()]


RATE, SPREAD, MEMORY, PRIOR = 2.0, 0.002, 50.0, 5.0


def faded(values):
    """Sum values, of which each row makes those before it count a fiftieth less."""
    return math.fsum(value * (1 - 1 / MEMORY) ** age for age, value in enumerate(reversed(values)))


class SlowMixture:
    """Weights of models, what each has saved since it was last nothing, and the lists of errors by model and label."""

    def __init__(self, weights, prevalence, current, margins):
        self.weights, self.prevalence, self.current, self.margins = weights, prevalence, current, margins
        self.labels = [[] for _ in prevalence]
        self.errors = [[[] for _ in prevalence] for _ in weights]
        self.saved, self.gains = [[] for _ in weights], [0.0] * len(weights)

    def predict(self, scores):
        return [math.fsum(w * s for w, s in zip(self.weights, line, strict=True)) for line in zip(*scores, strict=True)]

    def learn(self, scores, y, counted):
        """Scores are those of each model."""
        labels = [label for label, counts in enumerate(counted) if counts]
        if not labels:
            return
        losses = [math.fsum(self.loss(m, k, scores[m][k], y[k]) for k in labels) / len(labels) for m in self.models()]
        for k in labels:
            for m in self.models():
                self.errors[m][k].append(min(max(scores[m][k], -1.0), 2.0) - y[k])
            self.labels[k].append(y[k])
        self.follow(losses)

    def models(self):
        return range(len(self.weights))

    def loss(self, model, label, score, value):
        """The squared error, without the mean error of late, by half the inverse of the value's share of late."""
        rows = faded([1.0] * len(self.labels[label])) + PRIOR
        share = (faded(self.labels[label]) + PRIOR * self.prevalence[label]) / rows
        share = min(max(share, 0.01), 0.99)
        error = min(max(score, -1.0), 2.0) - value - faded(self.errors[model][label]) / rows
        return 0.5 / (share if value else 1 - share) * error**2

    def follow(self, losses):
        self.weights = slow_weights(losses, self.weights)
        for m in self.models():
            saved = RATE * (losses[self.current] * (1 - self.margins[m]) - losses[m])
            self.gains[m] += saved
            self.saved[m].append(saved)
            if math.fsum(self.saved[m]) <= 1e-15:
                self.saved[m] = []


def slow_weights(losses, weights):
    """Exponential weights with a fixed share (Herbster and Warmuth 1998)."""
    lowered = [w * math.exp(-RATE * loss) for w, loss in zip(weights, losses, strict=True)]
    return [(1 - SPREAD) * w / math.fsum(lowered) + SPREAD / len(weights) for w in lowered]


@settings(max_examples=100)
@given(st.integers(1, 4).flatmap(lambda n: tables((2, n), (0.0, 1.0, 0.3, 400.0))))
def test_weights_follow_losses(rows):
    losses, weights = rows[0], np.full(len(rows[1]), 1 / len(rows[1]))
    expected = slow_weights((losses - losses.min()).tolist(), weights.tolist())
    reweigh(losses, weights)
    # sums in another order
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


@settings(max_examples=100)
@given(st.integers(0, 6), st.integers(2, 3), st.integers(1, 3), st.data())
def test_mixtures_and_evidence_are_those_of_lists(n, n_models, n_labels, data):
    scores = data.draw(tables((n, n_models * n_labels), (0.1, 0.9, -3.0, 0.45, 0.455, 5.0)))
    Y, counted = data.draw(tables((n, n_labels), (0, 1), np.uint8)), data.draw(tables((n, n_labels), (True, False)))
    prevalence, current = data.draw(tables((n_labels,), (0.2, 0.0, 1.0))), data.draw(st.integers(0, n_models - 1))
    margins = data.draw(tables((n_models,), (0.0, 0.02)))
    weights = np.full(n_models, 1 / n_models)
    slow = SlowMixture(weights.tolist(), prevalence.tolist(), current, margins.tolist())
    evidence, spans, gains, losses = (np.zeros(n_models) for _ in range(4))
    state = weights, evidence, spans, gains, np.zeros((2, n_labels)), np.zeros((n_models, n_labels)), losses
    out, expected = np.empty((n, n_labels)), []
    blend_then_follow(scores, Y, counted, prevalence, current, margins, *state, out)
    for row, y, counts in zip(
        scores.reshape(n, n_models, n_labels).tolist(), Y.tolist(), counted.tolist(), strict=True
    ):
        expected.append(slow.predict(row))
        slow.learn(row, y, counts)
    # running sums there, sums over all rows here
    np.testing.assert_allclose(out, np.array(expected).reshape(out.shape), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights, slow.weights, rtol=1e-9)
    np.testing.assert_allclose(evidence, [math.fsum(one) for one in slow.saved], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gains, slow.gains, rtol=1e-9, atol=1e-12)
    assert spans.tolist() == [len(one) for one in slow.saved]


@settings(max_examples=100)
@given(st.integers(0, 4), st.data())
def test_without_labels_all_rows_are_mixed_by_the_same_weights(n, data):
    scores, weights = data.draw(tables((n, 6), (0.1, 0.9, -3.0))), np.array([0.2, 0.3, 0.5])
    nothing, numbers = np.zeros((0, 2), np.uint8), [np.zeros(3) for _ in range(3)]
    out = np.empty((n, 2))
    rest = np.zeros((2, 2)), np.zeros((3, 2)), np.zeros(3)
    blend_then_follow(scores, nothing, nothing.astype(bool), np.zeros(2), 0, np.zeros(3), weights, *numbers, *rest, out)
    slow = SlowMixture([0.2, 0.3, 0.5], [0.0, 0.0], 0, [])
    expected = [slow.predict(row) for row in scores.reshape(n, 3, 2).tolist()]
    np.testing.assert_allclose(out, np.array(expected).reshape(n, 2), rtol=1e-12)
    assert weights.tolist() == [0.2, 0.3, 0.5]
