"""Loops over rows of a member of AESAKNNS: what it votes for, how well it does, and when it starts again."""

from typing import NamedTuple

from estimators._kernels.adwin import Windows, reset, shows_change
from estimators._kernels.adwin_shares import drop_old_part, mean
from estimators._kernels.compile import HOT, LOOP, PART, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.neighbours._kernels.punishment import Choice
from estimators.neighbours._kernels.self_adjusting import Room, State, keep, punish, vote
from estimators.neighbours._kernels.sizes import FREE, Options
from estimators.neighbours._kernels.window import measure

# places of `Watch.sums`
SUBSET, HAMMING, ROWS = 0, 1, 2


class Rules(NamedTuple):
    """Options of a member."""

    first_k: int  # number of neighbours of each label at first
    is_watched: bool  # a change of the errors makes it start again
    asks_twice: bool  # it is asked, and punishes neighbours, again before it learns
    delta: float  # confidence of the detector
    fading: float  # factor of the sums of scores at each row


class Watch(NamedTuple):
    """Errors and scores of a member."""

    errors: Windows  # one window over the errors, 0 or 1, of all labels
    sums: Array  # (3,), fading: rows with all labels right, shares of labels that are, ones


class Votes(NamedTuple):
    """Sums over members, of shape (n_rows, n_labels): of the shares of neighbours with a label, and of ones."""

    shares: Array
    counts: Array


@Direct
@njit(**LOOP)
def learn_rows(
    state: State,
    watch: Watch,
    settings: tuple[Options, Rules],
    room: Room,
    data: tuple[Array, Array, Array, Array],
    proba: Array,
    votes: Votes,
) -> tuple[int, int]:
    """Let a member vote on each row, then learn it; return its first restart, or the number of rows, and how many.

    `data` are features, labels, weights, and how often the member learns each row; `proba` is room for one row, and
    `votes` without rows are not counted.
    """
    X, Y, weights, times = data
    options, rules = settings
    first, n_restarts = len(X), 0
    for i in range(len(X)):
        x, y, weight = X[i], Y[i], weights[i]
        # each part is called at one place only, as compiled code is copied to each
        for turn in range(2 if rules.asks_twice else 1):
            vote(state, options, room, x, proba)
            if turn == 0 and len(votes.shares) > 0:
                _add(votes, i, proba)
            punish(state, options, room, y, weight)
        _score(watch.sums, y, proba, options.faithful, rules.fading)
        restarts = rules.is_watched and _has_drifted(watch, y, proba, rules.delta)
        if restarts:
            _restart(state, watch, rules.first_k)
            first, n_restarts = first if first < i else i, n_restarts + 1
        for turn in range(0 if restarts else 1, 2 if times[i] > 0 else 1):
            if restarts and turn == 1:
                measure(state.window, x, room.scaled, room.order.found)
            keep(state, options, room, x, y, weight if turn == 0 else weight * times[i])
    return first, n_restarts


@njit(**HOT)
def _add(votes: Votes, i: int, proba: Array) -> None:
    for label in range(len(proba)):
        if proba[label] == proba[label]:
            votes.shares[i, label] += proba[label]
            votes.counts[i, label] += 1.0


@njit(**PART)
def _score(sums: Array, y: Array, proba: Array, faithful: bool, fading: float) -> None:
    """Let the sums fade, and add the scores of a row."""
    n_right = n_known = 0
    for label in range(len(y)):
        if y[label] != UNKNOWN:
            n_known += 1
            has_votes = proba[label] == proba[label]
            decided = proba[label] >= 0.5 if has_votes else faithful
            n_right += decided == (y[label] == 1)
    sums[SUBSET] = sums[SUBSET] * fading + (1.0 if n_right == n_known else 0.0)
    sums[HAMMING] = sums[HAMMING] * fading + n_right / n_known
    sums[ROWS] = sums[ROWS] * fading + 1.0


@njit(**PART)
def _has_drifted(watch: Watch, y: Array, proba: Array, delta: float) -> bool:
    """Add an error for each label, and return whether their mean has changed and is greater than before the row."""
    windows, changed, before = watch.errors, False, mean(watch.errors, 0)
    for label in range(len(y)):
        if y[label] != UNKNOWN:
            # without votes, and where these tie, the first of the two values is taken
            error = 1.0 if (proba[label] > 0.5) != (y[label] == 1) else 0.0
            if shows_change(windows, 0, error, delta):
                drop_old_part(windows, 0, delta)
                changed = True
    return changed and mean(windows, 0) > before


@njit(**PART)
def _restart(state: State, watch: Watch, first_k: int) -> None:
    """Forget everything but the ranges of the features."""
    state.window.size[0] = 0
    for p in range(len(state.window.marks)):
        state.window.marks[p] = p
    state.histories.starts[:] = FREE
    _forget_hits(state.choice, first_k)
    watch.sums[:] = 0.0
    reset(watch.errors, 0)


@njit(**PART)
def _forget_hits(choice: Choice, first_k: int) -> None:
    choice.ks[:] = first_k
    choice.hits[:] = 0.0
    choice.sums[:] = 0.0
    choice.n_seen[:] = 0
