"""Trackers of prediction sets move as the loop that the documentation of `PredictionSets` describes."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.meta._kernels import covering
from estimators.meta.prediction_sets import _check_alpha, _first_trackers, _places
from tests.scattered import tables

SCORES = (0.0, 1.0, 0.5, 1e-9, 0.003, 0.9, 0.27)
RATES = (0.01, 0.03, 0.1, 0.3, 1.0)


def against(p, value):
    farthest = math.log(1e7 - 1)
    odds = -farthest if p <= 1e-7 else farthest if p >= 1 - 1e-7 else math.log(p / (1 - p))
    return -odds if value else odds


class SlowTracker:
    """A threshold of one kind of scores, as the notes tell it."""

    def __init__(self, alpha):
        self.alpha = alpha
        self.first_scores, self.total = [], 0.0
        self.q, self.w = None, [1 / 5] * 5
        self.n_first = math.ceil(1 / alpha) - 1

    @property
    def threshold(self):
        if self.q is None:
            return math.inf
        return sum(w * q for w, q in zip(self.w, self.q, strict=True)) + 0.05 * self.total

    def learn(self, score):
        self.total += (score > self.threshold) - self.alpha
        if self.q is None:
            self.first_scores.append(score)
            if len(self.first_scores) == self.n_first:
                self.q = [max(self.first_scores)] * 5
            return
        for k, q in enumerate(self.q):
            u = score - q
            self.w[k] *= math.exp(-((1 - self.alpha) * u if u > 0 else -self.alpha * u))
            self.q[k] = q + RATES[k] * ((score > q) - self.alpha)
        self.w = [0.999 * w / sum(self.w) + 0.001 / 5 for w in self.w]


class SlowSets:
    def __init__(self, alphas, of, n_labels):
        self.of = of
        places = {"label": lambda j, v: j, "value": lambda j, v: (j, v), "row": lambda j, v: 0}
        self.place = places[of]
        self.trackers = {self.place(j, v): SlowTracker(alphas[v]) for j in range(n_labels) for v in (0, 1)}

    def row(self, scores, Y, counted):
        thresholds = [[self.trackers[self.place(j, v)].threshold for v in (0, 1)] for j in range(len(scores))]
        within = [[against(p, v) <= limits[v] for v in (0, 1)] for p, limits in zip(scores, thresholds, strict=True)]
        true = {j: against(scores[j], Y[j]) for j in np.flatnonzero(counted)}
        if self.of == "row":
            true = {0: max(true.values())} if true else {}
        for j, score in true.items():
            self.trackers[self.place(j, Y[j])].learn(score)
        codes = {(True, True): -1, (False, True): 1, (True, False): 0, (False, False): -2}
        return [codes[tuple(one)] for one in within]


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 60),
    st.integers(1, 3),
    st.sampled_from(["label", "value", "row"]),
    st.sampled_from([0.1, 0.3, 0.5, 0.9, (0.4, 0.2)]),
    st.data(),
)
def test_each_row_moves_the_thresholds_as_documented(n, n_labels, of, alpha, data):
    alpha = alpha if of == "value" or not isinstance(alpha, tuple) else alpha[0]
    shape = n, n_labels
    scores, Y = data.draw(tables(shape, SCORES)), data.draw(tables(shape, (0, 1))).astype(np.uint8)
    counted = data.draw(tables(shape, (True, True, False))).astype(bool)
    alphas, places = _check_alpha(alpha, of), _places(of, n_labels)
    state, sets = _first_trackers(places.max() + 1), np.empty(shape, np.int8)
    firsts = np.array([math.ceil(1 / one) - 1.0 for one in alphas])
    settings = state, places, alphas, firsts, of == "row"
    assert covering.cover_then_learn(scores, Y, counted, np.empty(0), *settings, sets, np.zeros(covering.N_COUNTS))
    slow = SlowSets(alphas, of, n_labels)
    expected = [slow.row(*row) for row in zip(scores, Y, counted, strict=True)]
    np.testing.assert_array_equal(sets, expected)
    found = state[places, covering.THRESHOLD]
    limits = [[slow.trackers[slow.place(j, v)].threshold for v in (0, 1)] for j in range(n_labels)]
    np.testing.assert_allclose(found, limits, atol=1e-9)
    after = np.empty(shape, np.int8)
    assert covering.cover(scores, state, places, after)
    nothing = np.zeros(n_labels, bool)
    np.testing.assert_array_equal(after, [slow.row(row, Y[0], nothing) for row in scores])
