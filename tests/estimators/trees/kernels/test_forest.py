"""Forests learn as members do that hold two trees of objects, two of River's windows and draws from the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river.drift import ADWIN

from estimators.trees._kernels.forest import ForestChunk, ForestParams, learn, new_forest, predict
from estimators.trees._kernels.hoeffding import SKIP
from tests.estimators.ensembles.draws import uniforms
from tests.estimators.trees.kernels import comparing
from tests.estimators.trees.kernels.slow_hoeffding import SlowTree

# of learning a row never, once, or up to three times
BAGGING = st.sampled_from(((), (0.3, 0.7, 0.9, 1.0), (0.0, 0.5, 1.0)))
CONFIDENCE = st.sampled_from((0.0, 0.5, 0.9))
TARGETS = np.array([1, 0, 1])


def changes(window, error):
    """Add an error to a window, and return whether its mean has changed."""
    window.update(error)
    return window.drift_detected


class SlowMember:
    """A tree that votes, perhaps one in the background, and how well the member does."""

    def __init__(self, d, width, seeds, params):
        self.params, self.chances = params, uniforms(int(seeds[0]))
        self.trees = [SlowTree(d, params.tree, width=width, state=state) for state in seeds[1:]]
        self.roots, self.side = [self.trees[0].root, None], 0
        self.n_right = self.n_tried = self.n_warnings = self.n_drifts = 0
        self.warning, self.drift = ADWIN(delta=params.warning), ADWIN(delta=params.drift)

    def votes(self, x):
        """Return the votes of the tree in front, times the accuracy of the member."""
        accuracy = self.n_right / self.n_tried if self.n_right else 1.0
        return {code: accuracy * vote for code, vote in self.trees[self.side].votes(x).items()}

    def times(self):
        """Draw how often a row is learnt."""
        if not self.params.bagging:
            return 1
        u = next(self.chances)
        return sum(u >= chance for chance in self.params.bagging)

    def learn(self, x, code, weight):
        times, votes = self.times(), comparing.expected_votes(self.trees[self.side].votes(x))
        right = max(votes) > 0 and votes.index(max(votes)) == code
        for side in (self.side, 1 - self.side) if times else ():
            if self.roots[side]:
                self.trees[side].learn(x, code, weight * times)
        self.n_tried, self.n_right = self.n_tried + 1, self.n_right + right
        if times:
            self.watch(int(not right))

    def watch(self, error):
        if self.params.warning and changes(self.warning, error):
            self.n_warnings += 1
            self.plant(1 - self.side)
        if self.params.drift and changes(self.drift, error):
            self.n_drifts += 1
            if self.roots[1 - self.side]:
                self.warning = ADWIN(delta=self.params.warning)
            else:
                self.plant(1 - self.side)
            self.roots[self.side] = None
            self.side, self.n_right, self.n_tried = 1 - self.side, 0, 0

    def plant(self, side):
        self.roots[side] = self.trees[side].root = self.trees[side].new_leaf(0)

    def in_places(self):
        return [tree if root else None for tree, root in zip(self.trees, self.roots, strict=True)]


@pytest.mark.slow
@settings(max_examples=30)
@given(
    comparing.rows(2, max_rows=300, widths=(3, 2)),
    st.tuples(comparing.params_of(st.sampled_from((1e9, 2500.0))), BAGGING, CONFIDENCE, CONFIDENCE),
    st.sampled_from((None, 1, 2)),
    st.integers(1, 200),
)
def test_every_vote_and_member_is_that_of_the_slow_forest(stream, drawn, width, size):
    X, codes, weights = stream
    (n, d), slow_params = X.shape, ForestParams(*drawn)
    params = slow_params._replace(bagging=np.array(slow_params.bagging, np.float64))
    seeds = np.arange(1, 10, dtype=np.uint64).reshape(3, 3)
    forest, members = new_forest(TARGETS, d, width, seeds), [SlowMember(d, width, row, slow_params) for row in seeds]
    votes = np.full((n, 3, comparing.N_CLASSES), np.nan)
    for part in comparing.chunks(n, size):
        forest = learn(forest, ForestChunk(X[part], codes[part], weights[part]), params, votes[part])
    for i in range(n):
        assert_same_votes(votes[i], members, X[i])
        for target, member in zip(TARGETS, members, strict=True):
            weight = weights[i] if len(weights) else 1.0
            if codes[i, target] != SKIP and weight > 0:
                member.learn(X[i], codes[i, target], weight)
    for name in ("side", "n_right", "n_tried", "n_warnings", "n_drifts"):
        assert forest.members[name].tolist() == [getattr(member, name) for member in members]
    comparing.assert_same_trees(forest.arrays, [tree for member in members for tree in member.in_places()])
    predict(forest, X, votes)
    for i in range(n):
        assert_same_votes(votes[i], members, X[i])


def assert_same_votes(votes, members, x):
    expected = [comparing.expected_votes(member.votes(x)) for member in members]
    np.testing.assert_allclose(votes, expected, atol=1e-7)
