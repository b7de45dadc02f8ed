"""Maps move to the most probable labels given what they knew, as a general optimiser finds them."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit

from estimators.meta._kernels import calibrating
from estimators.meta.prequential_calibrator import _PRIORS, _first_maps
from tests.scattered import tables

SCORES = (0.0, 1.0, 0.5, 0.003, 0.9, 0.27)


class SlowMaps:
    """Two priors in matrices, and the steps of a loop over rows."""

    def __init__(self, n_labels, share, bends):
        self.share, self.bends = share, bends
        self.means = [_PRIORS[0, 0].copy(), *(_PRIORS[1, 0].copy() for _ in range(n_labels))]
        self.information = [np.diag(_PRIORS[0, 1]), *(np.diag(_PRIORS[1, 1]) for _ in range(n_labels))]
        self.counts = [[0.0, 0.0] for _ in range(n_labels)]

    def terms(self, p, label):
        positives, rows = self.counts[label]
        usual = (positives + 0.5) / (rows + 1)
        n = min(rows + 20, 300)
        p = (n * p + usual) / (n + 1)

        def of(q):
            return np.array([math.log(q / (1 - q)), self.bends * math.log(4 * q * (1 - q)), 1.0])

        return of(p), of(p) - of(usual) + [0, 0, 1]

    def log_odds(self, p, label):
        return self.log_odds_of(label, self.terms(p, label))

    def forget(self, place):
        prior = np.diag(_PRIORS[min(place, 1), 1])
        self.information[place] = (1 - self.share) * self.information[place] + self.share * prior
        away = self.means[place] - _PRIORS[min(place, 1), 0]
        self.means[place] -= self.share * np.linalg.solve(self.information[place], prior @ away)

    def learn(self, p, y, label, terms):
        self.forget(label + 1)
        places = 0, label + 1
        moved = [np.linalg.solve(self.information[place], part) for place, part in zip(places, terms, strict=True)]
        variance = sum(part @ move for part, move in zip(terms, moved, strict=True))
        before = self.log_odds_of(label, terms)

        def loss(error):
            odds = before + variance * error
            return variance * error**2 / 2 + np.logaddexp(0, -odds if y else odds)

        error = minimize_scalar(loss, bounds=(-1, 1), method="bounded", options={"xatol": 1e-10}).x
        proba = expit(before + variance * error)
        for place, part, move in zip(places, terms, moved, strict=True):
            self.means[place] = self.means[place] + error * move
            self.information[place] = self.information[place] + proba * (1 - proba) * np.outer(part, part)
        self.limit(0, np.zeros(3))
        self.limit(label + 1, self.means[0])
        self.counts[label][0] += y
        self.counts[label][1] += 1

    def limit(self, place, others):
        slope, bend = (others + self.means[place])[:2]
        self.pin(place, 0, max(slope, 0.02) - slope)
        slope, bend = (others + self.means[place])[:2]
        self.pin(place, 1, np.clip(bend, 0.02 - slope, slope - 0.02) - bend)

    def pin(self, place, part, moved):
        """Move a weight; those after it go to their mean, given the others."""
        after, known = np.arange(part + 1, 3), self.information[place]
        self.means[place][part] += moved
        self.means[place][after] -= np.linalg.solve(known[np.ix_(after, after)], known[after, part] * moved)

    def log_odds_of(self, label, terms):
        shared, own = terms
        slope, bend, _ = self.means[0] + self.means[label + 1]
        slope = max(slope, 0.02)
        bend = min(max(bend, 0.02 - slope), slope - 0.02)
        at_usual = self.means[0] @ (shared - own + [0, 0, 1]) + self.means[label + 1][2]
        return at_usual + slope * own[0] + bend * own[1]

    def row(self, scores, Y, counted):
        terms = [self.terms(p, label) for label, p in enumerate(scores)]
        proba = [expit(self.log_odds_of(label, part)) for label, part in enumerate(terms)]
        if any(counted):
            self.forget(0)
        for label, p in enumerate(scores):
            if counted[label]:
                self.learn(p, bool(Y[label]), label, terms[label])
        return proba


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25), st.integers(1, 3), st.sampled_from([0.0, 0.01]), st.booleans(), st.data())
def test_each_row_moves_the_maps_to_the_mode_of_their_posterior(n, n_labels, share, bends, data):
    shape = n, n_labels
    scores, Y = data.draw(tables(shape, SCORES)), data.draw(tables(shape, (0, 1))).astype(np.uint8)
    counted = data.draw(tables(shape, (True, True, False)))
    state = np.vstack([_first_maps(_PRIORS[0], 1), _first_maps(_PRIORS[1], n_labels)])
    proba, room = np.empty(shape), (np.empty((n_labels, 2, 3)), np.empty((3, 3)))
    learnt = calibrating.calibrate_then_learn(
        scores, Y, counted, np.ones(n), state, _PRIORS, share, bends, *room, proba
    )
    assert learnt
    slow = SlowMaps(n_labels, share, bends)
    expected = [slow.row(*row) for row in zip(scores, Y, counted, strict=True)]
    np.testing.assert_allclose(proba, expected, atol=1e-5)
    after = np.empty(shape)
    assert calibrating.calibrate(scores, state, bends, np.empty((2, 3)), after)
    expected = [[expit(slow.log_odds(p, label)) for label, p in enumerate(row)] for row in scores]
    np.testing.assert_allclose(after, expected, atol=1e-5)
