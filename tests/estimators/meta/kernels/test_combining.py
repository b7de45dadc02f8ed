"""Votes, scores and probabilities of several learners are combined as by slow loops."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.label_codes import UNKNOWN
from estimators.meta._kernels.combining import add_products, combine, combine_scores, mix, mix_then_weigh, rescale
from tests.scattered import tables


def slow_row(votes, sets, doubt):
    """Return the labels of the most probable set, turned round if that is too doubtful, and the marginals."""
    total = math.fsum(votes)
    if total <= 0:
        return [False] * len(sets[0]), [0.0] * len(sets[0])
    shares = [vote / total for vote in votes]
    best = shares.index(max(shares))
    marginals = [
        math.fsum(share for share, one in zip(shares, sets, strict=True) if one[j]) for j in range(len(sets[0]))
    ]
    return [bool(label) != (shares[best] < doubt) for label in sets[best]], marginals


@settings(max_examples=100)
@given(st.integers(0, 4), st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.0, 0.5]), st.data())
def test_rows_are_combined_as_by_the_slow_loop(n, n_sets, n_labels, doubt, data):
    votes = data.draw(tables((n, n_sets), (0.0, 1.0, 1.0, 2.0)))
    n_known = data.draw(tables((n,), tuple(range(n_sets + 1)), np.int64))
    sets = data.draw(tables((n_sets, n_labels), (0, 1), np.uint8))
    decided, proba = np.zeros((n, n_labels), bool), np.zeros((n, n_labels))
    combine(votes, n_known, sets, doubt, decided, proba)
    for i in range(n):
        k = int(n_known[i])
        known = (votes[i, :k].tolist(), sets[:k].tolist()) if k else ([0.0], [[0] * n_labels])
        expected, marginals = slow_row(*known, doubt)
        assert decided[i].tolist() == expected
        # shares are added in another order
        np.testing.assert_allclose(proba[i], marginals, rtol=1e-12)


VOTES = (0.0, 1.0, 0.25, -3.0, 1e6)


def slow_scores(votes):
    """Return votes from 0 up, with the sum 1; the same for all where they are alike."""
    above = [vote - min(votes) for vote in votes]
    return [value / math.fsum(above) if any(above) else 1 / len(votes) for value in above]


@settings(max_examples=100)
@given(st.integers(0, 4), st.integers(1, 4), st.data())
def test_votes_become_scores(n, n_labels, data):
    votes = data.draw(tables((n, n_labels), VOTES))
    expected = [slow_scores(row) for row in votes.tolist()]
    rescale(votes)
    np.testing.assert_allclose(votes, np.array(expected).reshape(n, n_labels), rtol=1e-12)


@settings(max_examples=100)
@given(st.integers(1, 3), st.integers(0, 4), st.integers(1, 3), st.data())
def test_members_are_weighed_and_multiplied(n_members, n, n_labels, data):
    scores = data.draw(tables((n_members, n, n_labels), (0.0, 0.5, 0.125, 1.0)))
    weights, row_weight = data.draw(tables((n_members,), (0.0, 1.0, 0.5))), data.draw(tables((n,), (0.0, 1.0, 2.5)))
    Y = data.draw(tables((n, n_labels), (0, 1, UNKNOWN), np.uint8))
    combined, products, targets = np.empty((n, n_labels)), np.zeros((n_members, n_members)), np.zeros(n_members)
    combine_scores(scores, weights, combined)
    add_products(scores, Y, row_weight, products, targets)
    for i in range(n):
        sums = [math.fsum(weights[m] * scores[m, i, k] for m in range(n_members)) for k in range(n_labels)]
        np.testing.assert_allclose(combined[i], slow_scores(sums), rtol=1e-12)
    cells = [(i, k) for i in range(n) for k in range(n_labels) if Y[i, k] != UNKNOWN]
    for one in range(n_members):
        # eighths and halves: sums are exact in any order
        assert targets[one] == sum(row_weight[i] * scores[one, i, k] * Y[i, k] for i, k in cells)
        for other in range(n_members):
            products_of_cells = (row_weight[i] * scores[one, i, k] * scores[other, i, k] for i, k in cells)
            assert products[one, other] == sum(products_of_cells)


class SlowMixture:
    """The weights of the members of one label (Herbster and Warmuth 1998)."""

    def __init__(self, n_members, share, margin):
        self.weights, self.share, self.margin = [1 / n_members] * n_members, share, margin
        self.used, self.n = [0.0] * n_members, 0

    def inside(self, proba):
        return self.margin + (1 - 2 * self.margin) * proba

    def predict(self, proba):
        return self.inside(math.fsum(w * p for w, p in zip(self.weights, proba, strict=True)))

    def learn(self, proba, y, row_weight):
        self.used = [used + w for used, w in zip(self.used, self.weights, strict=True)]
        self.n += 1
        given = [self.inside(p) if y else 1 - self.inside(p) for p in proba]
        # a likelihood is at least exp(-600)
        likely = [max(one**row_weight, math.exp(-600)) if row_weight != 1 else one for one in given]
        joint = [w * one for w, one in zip(self.weights, likely, strict=True)]
        self.weights = [(1 - self.share) * one / math.fsum(joint) + self.share / len(joint) for one in joint]


@settings(max_examples=100)
@given(st.integers(1, 3), st.integers(0, 6), st.sampled_from([0.0, 0.01]), st.sampled_from([1e-6, 0.1]), st.data())
def test_mixtures_and_weights_are_those_of_bayes_rule(n_members, n, share, margin, data):
    n_labels = 2
    proba = data.draw(tables((n_members, n, n_labels), (0.0, 0.3, 1.0, 0.5)))
    Y, counted = data.draw(tables((n, n_labels), (0, 1), np.uint8)), data.draw(tables((n, n_labels), (True, False)))
    row_weight = data.draw(tables((n,), (1.0, 0.0, 2.5, 1e4)))
    weights, used = np.full((n_members, n_labels), 1 / n_members), np.zeros((n_members + 1, n_labels))
    mixed, expected = np.empty((n, n_labels)), np.empty((n, n_labels))
    mix_then_weigh(proba, Y, counted, row_weight, share, margin, weights, used, mixed)
    labels = [SlowMixture(n_members, share, margin) for _ in range(n_labels)]
    for i in range(n):
        for k, label in enumerate(labels):
            expected[i, k] = label.predict(proba[:, i, k].tolist())
            if counted[i, k] and row_weight[i] > 0:
                label.learn(proba[:, i, k].tolist(), Y[i, k], row_weight[i])
    # powers there are exponentials of logarithms
    np.testing.assert_allclose(mixed, expected, rtol=1e-9)
    np.testing.assert_allclose(weights.T, [label.weights for label in labels], rtol=1e-9, atol=1e-250)
    np.testing.assert_allclose(used.T, [[*label.used, label.n] for label in labels], rtol=1e-9, atol=1e-250)
    again = np.empty((n, n_labels))
    mix(proba, weights, margin, again)
    now = [[label.predict(proba[:, i, k].tolist()) for k, label in enumerate(labels)] for i in range(n)]
    np.testing.assert_allclose(again, np.array(now).reshape(n, n_labels), rtol=1e-9)
