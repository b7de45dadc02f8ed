"""The search for the weights of votes: iterations a second, and what it costs beside growing the forest.

Asked for, on 20,000 rows, 26 classes and 20 trees (Letters): 25,000 annealing moves a second, each the move of a full
recomputation (NumPy makes about 600: a ratio of 40); the whole default search, votes and all, in less than a fifth of
growing the forest; and a lower PRAGMA than `scipy.optimize.dual_annealing` reaches on the same compiled objective, in a
tenth of its time. The chain is held to account on votes for one class, as published, the rest on the votes of the
default, shares.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Contest, main, sized
from pragma_data import letters
from scipy import sparse
from scipy.optimize import dual_annealing
from sklearn.ensemble import RandomForestClassifier

from estimators.pragma._forest_votes import ForestVotes
from estimators.pragma._kernels.vote_search import anneal
from estimators.pragma._kernels.votes import Votes
from estimators.pragma._preferences import Preferences
from estimators.pragma._vote_search import SearchOptions, draw_moves, evaluate, find_weights, store
from estimators.pragma._vote_weights import VoteWeighting, unvoted_classes, usable_votes
from estimators.pragma.forest import PragmaForestClassifier

MOVES, CALLS = sized(500, 20), sized(3000, 50)


def numpy_chain(votes: np.ndarray, truth: np.ndarray, losses: Any, moves: Any) -> Callable[[], np.ndarray]:
    """Anneal with a recomputation of everything at every move."""
    n_classes = votes.shape[1]

    def value(weights: np.ndarray) -> float:
        winner = (votes * weights).argmax(axis=1)
        hits = np.bincount(truth[winner == truth], minlength=n_classes)
        predicted = np.bincount(winner, minlength=n_classes)
        recall, precision = hits / losses.n_true, hits / np.maximum(predicted, 1)
        return float(losses.share @ (1 + losses.alpha * recall + losses.beta * precision))

    def run() -> np.ndarray:
        weights, trace = np.ones(n_classes), []
        now = value(weights)
        for c, factor, limit in zip(*moves, strict=True):
            moved = weights.copy()
            moved[c] *= factor
            new = value(moved)
            if new - now <= limit:
                weights, now = moved, new
            trace.append(now)
        return np.array(trace)

    return run


def dense(votes: Votes) -> np.ndarray:
    """Return votes as a table of rows and classes."""
    shape = (len(votes.truth), len(votes.class_start) - 1)
    return sparse.csr_array((votes.row_vote, votes.row_class, votes.row_start), shape=shape).toarray()


def contests() -> list[Contest]:
    """Make the forest and its votes once; time what comes after."""
    try:
        experiment = letters()
    except OSError as reason:
        print(f"Letters is skipped: {reason}")
        return []
    classes, truth = np.unique(experiment.y, return_inverse=True)
    default = PragmaForestClassifier()
    grow = RandomForestClassifier(20, criterion=default.criterion, max_features=4, random_state=0).fit
    forest = grow(experiment.X, truth)
    preferences = Preferences.from_options(**experiment.wanted, classes=classes.tolist())
    losses = preferences.losses(truth)
    options = SearchOptions(default.search, default.n_restarts, default.n_moves, default.n_bags)
    weighting = VoteWeighting(preferences, fixed=None, options=options)

    def count(shrinkage: float | None) -> Votes:
        votes = ForestVotes(forest, labels=False, shrinkage=shrinkage).out_of_bag(experiment.X, truth)
        voted = votes.any(axis=1)
        return store(usable_votes(votes, unvoted_classes(votes, truth))[voted], truth[voted])

    def search() -> float:
        votes = ForestVotes(forest, labels=False, shrinkage=default.shrinkage).out_of_bag(experiment.X, truth)
        return weighting.fit(usable_votes(votes, unvoted_classes(votes, truth)), truth, np.random.RandomState(0)).pragma

    stored = count(default.shrinkage)
    published, moves = count(None), draw_moves(np.arange(26), MOVES, np.random.RandomState(0))

    def scipy_search() -> float:
        found = dual_annealing(
            lambda logs: evaluate(stored, losses, np.exp(logs)), [(-3.0, 3.0)] * 26, maxfun=CALLS, rng=0
        )
        return float(found.fun)

    print(
        f"PRAGMA on Letters: equal weights {evaluate(stored, losses, np.ones(26)):.5f}, exact {search():.5f}, "
        f"dual_annealing ({CALLS} calls) {scipy_search():.5f}"
    )
    chain = {"NumPy, all recomputed": numpy_chain(dense(published), published.truth, losses, moves)}
    return [
        Contest(f"anneal, {MOVES} moves", lambda: anneal(published, losses, np.ones(26), *moves)[1], chain, demand=40),
        Contest(
            "votes and exact search",
            search,
            {"growing the forest": lambda: grow(experiment.X, truth)},
            demand=5,
            tolerance=None,
        ),
        Contest(
            "exact search",
            lambda: find_weights(stored, losses, options, np.random.RandomState(0)).value,
            {"scipy dual_annealing": scipy_search},
            demand=10,
            tolerance=None,
            repeats=2,
        ),
    ]


if __name__ == "__main__":
    main("Weights of votes", contests(), ["numba", "numpy", "scikit-learn", "scipy"])
