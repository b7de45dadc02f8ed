"""A member of AESAKNNS: MLSAkNN on some of the features, with draws, errors and scores of its own."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.random import RandomState

from estimators._kernels.adwin import new_windows
from estimators._typing import Array
from estimators.neighbours._kernels.ensemble import HAMMING, ROWS, SUBSET, Rules, Votes, Watch, learn_rows
from estimators.neighbours._kernels.self_adjusting import State, predict_rows
from estimators.neighbours._kernels.sizes import Options
from estimators.neighbours._options import count_candidates
from estimators.neighbours._state import new_room, new_state, with_more_labels, with_room

NO_VOTES = Votes(np.empty((0, 0)), np.empty((0, 0)))


class Plan(NamedTuple):
    """Options that all members of an ensemble have."""

    options: Options
    rules: Rules
    n_hits: int
    subspace: float


class Rows(NamedTuple):
    """Rows to learn: all their features, labels and weights."""

    X: Array
    Y: Array
    weight: Array


@dataclass(frozen=True)
class Member:
    """A member; arrays and the generator change in place, the rest is replaced."""

    plan: Plan
    features: Array
    rng: RandomState
    state: State
    watch: Watch

    @classmethod
    def new(cls, plan: Plan, shape: tuple[int, int], features: Array, rng: RandomState) -> Self:
        """Make a member that has learnt nothing, for as many features and labels as `shape` says."""
        state = new_state(
            len(features),
            shape[1],
            k=plan.rules.first_k,
            n_hits=plan.n_hits,
            n_candidates=count_candidates(plan.options),
        )
        return cls(plan, features, rng, state, Watch(new_windows(1), np.zeros(3)))

    @property
    def score(self) -> float:
        """Faded subset accuracy times faded Hamming score; NaN before anything was predicted."""
        subset, hamming, rows = self.watch.sums[[SUBSET, HAMMING, ROWS]]
        return float(subset / rows * (hamming / rows)) if rows else float("nan")

    @property
    def window_size(self) -> int:
        """Number of rows in the window."""
        return int(self.state.window.size[0])

    def with_more_labels(self, n: int) -> Self:
        """Return the member with new labels of which nothing is known."""
        return replace(self, state=with_more_labels(self.state, n, self.plan.rules.first_k))

    def promoted(self) -> Self:
        """Return the member with an empty window of errors, which is watched from now on."""
        return replace(self, watch=Watch(new_windows(1), self.watch.sums))

    def learn(self, rows: Rows, votes: Votes, *, active: bool) -> tuple[Self, int, int]:
        """Learn rows; return the member, its first restart, or the number of rows, and the number of restarts."""
        times = self.rng.poisson(1.0, len(rows.Y))
        # a restart learns a row once more
        n_learnt = int(np.count_nonzero(times)) + 1
        member = replace(self, state=with_room(self.state, n_learnt, self.plan.options.max_window))
        rules = self.plan.rules
        rules = rules._replace(is_watched=active, asks_twice=active and rules.asks_twice)
        data = self._inside(rows.X), rows.Y, rows.weight, times
        settings, work = (self.plan.options, rules), (new_room(member.state), data, np.empty(rows.Y.shape[1]), votes)
        first, n_restarts = learn_rows(member.state, self.watch, settings, *work)
        return member, int(first), int(n_restarts)

    def add_votes(self, X: Array, votes: Votes) -> None:
        """Add the votes on rows, all of whose features are given."""
        proba = np.empty(votes.shares.shape)
        predict_rows(self.state, self.plan.options, new_room(self.state), self._inside(X), proba)
        has_votes = ~np.isnan(proba)
        votes.shares[has_votes] += proba[has_votes]
        votes.counts[has_votes] += 1.0

    def _inside(self, X: Array) -> Array:
        return np.ascontiguousarray(X[:, self.features])


def draw_features(rng: RandomState, n_features: int, share: float) -> Array:
    """Draw features, in order: a normal number of them, of mean `share` of all and deviation half of the others."""
    mean, spread = share * n_features, (1.0 - share) * n_features / 2.0
    size = int(np.clip(np.floor(mean + spread * rng.normal() + 0.5), 1, n_features))
    return np.sort(rng.permutation(n_features)[:size])
