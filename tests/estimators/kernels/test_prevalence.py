"""Decisions at the prevalence are those of lists of rows."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from estimators._kernels import prevalence
from tests.estimators.slow_prevalence import SlowRule
from tests.scattered import tables

PRIOR = 5.0
SCORES = (0.137, 0.861, 0.523, 0.0, 1.0, 0.301, 0.437, 0.613, 0.717, 0.219)
N = st.integers(0, 25)
FOLLOW, MEMORY = st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([20.0, 3.5, 1.0])


def sums(n_labels):
    """Positives and rows, of all time and of late."""
    return np.zeros((2, n_labels)), np.zeros((2, n_labels))


@settings(max_examples=100)
@given(N, st.integers(1, 3), FOLLOW, MEMORY, st.data())
def test_rows_are_decided_by_the_rows_before_them(n, n_labels, follow, memory, data):
    shape = n, n_labels
    scores, Y = data.draw(tables(shape, SCORES)), data.draw(tables(shape, (True, False)))
    counted = data.draw(tables(shape, (True, True, False)))
    rules, decided, shares = [SlowRule(follow, memory) for _ in range(n_labels)], np.zeros(shape, bool), np.zeros(shape)
    usual, late = sums(n_labels)
    prevalence.decide_then_count(scores, Y, counted, usual, late, memory, follow, PRIOR, decided)
    prevalence.late_shares_then_count(Y, counted, *sums(n_labels), memory, PRIOR, shares)
    for i in range(n):
        for k, rule in enumerate(rules):
            assert decided[i, k] == rule.predict(scores[i, k])
            if rule.values:
                assert abs(min(max(shares[i, k], 1e-4), 1 - 1e-4) - rule.late()) < 1e-12
            else:
                assert shares[i, k] == 0
            if counted[i, k]:
                rule.learn(int(Y[i, k]))
    held_out = np.zeros((len(SCORES), n_labels), bool)
    table = np.tile(np.array(SCORES)[:, np.newaxis], n_labels)
    prevalence.decide(table, np.nan_to_num(usual[0] / np.maximum(usual[1], 1e-300)), late, follow, PRIOR, held_out)
    expected = [[rule.predict(score) if rule.values else 0 for rule in rules] for score in SCORES]
    assert held_out.tolist() == np.array(expected).astype(bool).tolist()


@pytest.mark.slow
@settings(max_examples=100)
@given(N, MEMORY, st.data())
def test_rows_count_with_their_weights(n, memory, data):
    Y, counted = data.draw(tables((n, 2), (True, False))), data.draw(tables((n, 2), (True, True, False)))
    weight = data.draw(tables((n,), (1.0, 0.0, 2.5)))
    usual, late = sums(2)
    prevalence.count_rows(Y, counted, weight, usual, late, memory)
    for k in range(2):
        kept = [(float(Y[i, k]), weight[i]) for i in range(n) if counted[i, k] and weight[i] > 0]
        ages = [w * (1 - 1 / memory) ** (len(kept) - 1 - i) for i, (_, w) in enumerate(kept)]
        expected = [
            [math.fsum(y * w for y, w in kept), math.fsum(w for _, w in kept)],
            [math.fsum(y * age for (y, _), age in zip(kept, ages, strict=True)), math.fsum(ages)],
        ]
        # running sums there
        np.testing.assert_allclose([usual[:, k], late[:, k]], expected, rtol=1e-12)


def slow_choice(scores, counts, follow):
    """Return the class seen with the greatest score by its prevalence, times how much more frequent it is of late."""
    worth = {}
    for k, rule in enumerate(counts):
        if rule.values and rule.usual() > 0:
            worth[k] = scores[k] / rule.usual() * (rule.late() / rule.usual()) ** follow
    best = max(worth.values(), default=0.0)
    near = [k for k, value in worth.items() if value >= best * (1 - 1e-9)]
    assume(len(near) < 2 or len({(scores[k], tuple(counts[k].values)) for k in near}) == 1)
    # where no class that was seen has a score, the first class is chosen
    return near[0] if best > 0 else 0


@settings(max_examples=100)
@given(N, FOLLOW, MEMORY, st.data())
def test_the_class_that_stands_out_is_chosen(n, follow, memory, data):
    scores, classes = data.draw(tables((n, 3), SCORES)), data.draw(tables((n,), (0, 1, 2)))
    Y, counted = classes[:, np.newaxis] == np.arange(3), np.ones((n, 3), bool)
    rules, chosen, expected = [SlowRule(follow, memory) for _ in range(3)], np.zeros(n, np.int64), []
    usual, late = sums(3)
    prevalence.choose_then_count(scores, Y, counted, usual, late, memory, follow, PRIOR, chosen)
    for row, y in zip(scores.tolist(), Y.tolist(), strict=True):
        expected.append(slow_choice(row, rules, follow))
        for rule, value in zip(rules, y, strict=True):
            rule.learn(int(value))
    assert chosen.tolist() == expected
    again = np.zeros(n, np.int64)
    prevalence.choose_rows(scores, usual, late, follow, PRIOR, again)
    assert again.tolist() == [slow_choice(row, rules, follow) for row in scores.tolist()]
