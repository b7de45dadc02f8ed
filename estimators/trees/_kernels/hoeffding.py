"""Hoeffding trees: answer, learn, split. The decisions are River's; a grove learns tree by tree."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, HOT, LOOP, PART, Direct, njit
from estimators.trees._kernels.gaussian import observe, weight_below
from estimators.trees._kernels.leaf_budget import deactivate, keep_promising, observers_allowed
from estimators.trees._kernels.splitting import best_two_splits, is_futile
from estimators.trees._kernels.tree_arrays import (
    HIGHEST,
    LOWEST,
    NONE,
    Grove,
    add_observer,
    add_stat,
    drop_observers,
    grow,
    has_room,
    take_leaf,
)
from estimators.trees._kernels.voting import bayes_scores, find_leaf, see, vote

Array = npt.NDArray[Any]

MAX_SHARE_TO_SPLIT = 0.99
SKIP = -1


class Rules(NamedTuple):
    """How trees grow: the parameters of a Hoeffding tree, as the compiled loops read them."""

    grace_period: float
    delta: float
    tau: float
    max_depth: int
    max_bytes: float


class Lesson(NamedTuple):
    """Rows to answer and rows to learn.

    Attributes
    ----------
    asked : ndarray of shape (n_rows, n_features) or (0, n_features)
        Rows to answer; none: those to learn.
    X : ndarray of shape (n_rows, n_features)
        Rows to learn.
    codes : int64 ndarray of shape (n_rows, n_columns)
        Class of each row for each tree; `SKIP`: that tree does not learn that row.
    weights : ndarray of shape (n_rows,) or (0,)
        Weights; none: ones.
    first : int
        Column of the first tree of the grove: groves may share a table of codes, and one of votes.
    """

    asked: Array
    X: Array
    codes: Array
    weights: Array
    first: int


class Work(NamedTuple):
    """Room for what a leaf sees of a row, for the scores of the classes, and for the votes."""

    seen: Array
    scores: Array
    votes: Array


def new_room(grove: Grove, n_classes: int) -> Array:
    """Make an array that `work_in` divides: one array is passed more quickly than three."""
    return np.empty(grove.moments.shape[2] + 2 * n_classes)


@njit(**HOT)
def work_in(room: Array, n_classes: int) -> Work:
    """Divide an array into room for each purpose."""
    width = len(room) - 2 * n_classes
    return Work(room[:width], room[width : width + n_classes], room[width + n_classes :])


class Example(NamedTuple):
    """The class and the weight of a row, and what naive Bayes guessed."""

    code: int
    weight: float
    guess: int


def learn(grove: Grove, lesson: Lesson, rules: Rules, votes: Array) -> Grove:
    """Answer each row from what the rows before it taught, then learn it.

    Parameters
    ----------
    grove : Grove
        Trees; changed in place, and longer when places ran short.
    lesson : Lesson
        Rows.
    rules : Rules
        How trees grow.
    votes : ndarray of shape (n_rows, n_columns, n_classes) or (0, n_columns, n_classes)
        Receives the answers, if there is room for them.

    Returns
    -------
    Grove
        The trees, to be used from now on.
    """
    done, n_steps, room = 0, len(lesson.codes) * len(grove.trees), new_room(grove, votes.shape[2])
    while True:
        done = _learn_from(grove, lesson, rules, votes, room, done)
        if done == n_steps:
            return grove
        grove = grow(grove, votes.shape[2])


def answer(grove: Grove, X: Array, votes: Array, first: int) -> None:
    """Write the votes of every tree for every row to `votes` of shape (n_rows, n_columns, n_classes), from a column."""
    _answer(grove, X, votes, new_room(grove, votes.shape[2]), first)


@Direct
@njit(**LOOP)
def _answer(grove: Grove, X: Array, votes: Array, room: Array, first: int) -> None:
    work = work_in(room, votes.shape[2])
    for t in range(len(grove.trees)):
        for r in range(len(X)):
            look(grove, t, X, r, work, True)
            _write(votes, r, first + t, work)


@Direct
@njit(**LOOP)
def _learn_from(grove: Grove, lesson: Lesson, rules: Rules, votes: Array, room: Array, done: int) -> int:
    """Learn on from a step, tree after tree, and return the step before which places ran short, if they do."""
    n_rows, n_classes = len(lesson.codes), votes.shape[2]
    work = work_in(room, n_classes)
    apart = len(lesson.asked) > 0
    for t in range(done // n_rows, len(grove.trees)):
        column = lesson.first + t
        for r in range(max(done - t * n_rows, 0), n_rows):
            if not has_room(grove, n_classes):
                return t * n_rows + r
            other = apart and not _is_same_row(lesson, r)
            if other:
                look(grove, t, lesson.asked, r, work, True)
                _write(votes, r, column, work)
            leaf, guess = look(grove, t, lesson.X, r, work, not other and len(votes) > 0)
            if not other:
                _write(votes, r, column, work)
            weight = lesson.weights[r] if len(lesson.weights) else 1.0
            code = lesson.codes[r, column]
            if code != SKIP and weight > 0.0:
                teach(grove, t, leaf, work.seen, Example(code, weight, guess), rules)
    return n_rows * len(grove.trees)


@njit(**HOT)
def _is_same_row(lesson: Lesson, r: int) -> bool:
    """Tell whether the row to answer is the row to learn, as in a chain whose labels so far were guessed right."""
    f, n = 0, lesson.X.shape[1]
    while f < n and lesson.asked[r, f] == lesson.X[r, f]:
        f += 1
    return f == n


@njit(**HOT)
def _write(votes: Array, r: int, t: int, work: Work) -> None:
    if len(votes):
        for code in range(votes.shape[2]):
            votes[r, t, code] = work.votes[code]


@njit(**HOT)
def look(grove: Grove, t: int, X: Array, r: int, work: Work, asked: bool) -> tuple[int, int]:
    """Find the leaf of a row, and what naive Bayes guesses there; if asked, vote."""
    i = find_leaf(grove, t, X, r)
    see(grove, i, X, r, work.seen)
    guess = NONE
    if grove.nodes[i].active and grove.nodes[i].weight > 0.0:
        guess = bayes_scores(grove, i, work.seen, work.scores)
    if asked:
        vote(grove, i, work.scores, work.votes)
    return i, guess


@njit(**HOT)
def teach(grove: Grove, t: int, i: int, seen: Array, example: Example, rules: Rules) -> None:
    """Learn one row in its leaf, and split the leaf if it is time."""
    node, stat = grove.nodes[i], grove.stats[_count(grove, t, i, example)]
    if not node.active:
        return
    if stat.observer == NONE:
        if grove.trees[t].n_observers + 1 > observers_allowed(grove, t, rules.max_bytes):
            deactivate(grove, t, i)
            return
        stat.observer = add_observer(grove, t, i, example.code)
    observe(grove, stat.observer, seen, example.weight)
    if node.depth >= rules.max_depth:
        deactivate(grove, t, i)
        return
    if node.weight - node.last_attempt >= rules.grace_period:
        # after a split the node is a branch, for which the date of the attempt means nothing
        node.last_attempt = node.weight
        _attempt_split(grove, t, i, node.weight, rules)


@njit(**HOT)
def _count(grove: Grove, t: int, i: int, example: Example) -> int:
    """Count the class of a row in its leaf, and what was guessed right there; return where the class is counted."""
    node = grove.nodes[i]
    s, likely = _find_class(grove, i, example.code)
    if node.active:
        # in an empty leaf, the majority counts as right
        node.majority_hits += example.weight if likely in (NONE, example.code) else 0.0
        node.bayes_hits += example.weight if example.guess == example.code else 0.0
    if s == NONE:
        s = add_stat(grove, t, i, example.code)
    _weigh(grove, i, s, grove.stats[s].weight + example.weight)
    return s


@njit(**HOT)
def _find_class(grove: Grove, i: int, code: int) -> tuple[int, int]:
    """Return the place of a class in a leaf, and the class of most weight, of equals the first that came; or none."""
    place, likely, most = NONE, NONE, -1.0
    s = grove.nodes[i].stats
    while s != NONE:
        stat = grove.stats[s]
        if stat.code == code:
            place = s
        if stat.weight > most:
            likely, most = stat.code, stat.weight
        s = stat.next
    return place, likely


@njit(**HOT)
def _weigh(grove: Grove, i: int, s: int, weight: float) -> None:
    """Give a class in a node its weight, and add up the weights of all, in order, for River's last bits."""
    grove.stats[s].weight, grove.stats[s].log_weight = weight, math.log(weight)
    total, s = 0.0, grove.nodes[i].stats
    while s != NONE:
        total += grove.stats[s].weight
        s = grove.stats[s].next
    grove.nodes[i].weight = total


@njit(**BUILD)
def _attempt_split(grove: Grove, t: int, i: int, total: float, rules: Rules) -> None:
    """Split the leaf where one feature beats the others by more than chance, or where they are as good as equal.

    Where nothing is to be gained, River switches the leaf off and at once on again: it observes anew.
    """
    n_classes, n_present, most = 0, 0, 0.0
    s = grove.nodes[i].stats
    while s != NONE:
        weight = grove.stats[s].weight
        n_classes, n_present, most = n_classes + 1, n_present + (weight != 0.0), max(most, weight)
        s = grove.stats[s].next
    if n_present < 2:
        return
    if most / total > MAX_SHARE_TO_SPLIT:
        drop_observers(grove, t, i)
        keep_promising(grove, t, rules.max_bytes, rules.max_depth)
        return
    merit_range = math.log2(max(n_classes, 2))
    bound = math.sqrt(merit_range * merit_range * math.log(1.0 / rules.delta) / (2.0 * total))
    if bound >= rules.tau and is_futile(grove, i, bound):
        return
    feature, threshold, best, second = best_two_splits(grove, i)
    if best - second > bound or bound < rules.tau:
        if feature == NONE:
            drop_observers(grove, t, i)
        else:
            _split(grove, t, i, feature, threshold)
        keep_promising(grove, t, rules.max_bytes, rules.max_depth)


@njit(**PART)
def _split(grove: Grove, t: int, i: int, f: int, threshold: float) -> None:
    """Turn a leaf into a branch; each child starts with the weights of the classes estimated on its side."""
    node = grove.nodes[i]
    left, right = take_leaf(grove, t, node.depth + 1), take_leaf(grove, t, node.depth + 1)
    o = node.observers
    while o != NONE:
        observer = grove.observers[o]
        below = weight_below(grove, o, f, threshold)
        if threshold >= grove.moments[o, LOWEST, f]:
            _weigh(grove, left, add_stat(grove, t, left, observer.code), below)
        if threshold < grove.moments[o, HIGHEST, f]:
            _weigh(grove, right, add_stat(grove, t, right, observer.code), observer.weight - below)
        o = observer.next
    for child in (left, right):
        grove.nodes[child].last_attempt = grove.nodes[child].weight
    drop_observers(grove, t, i)
    node.feature = grove.subsets[i, f] if len(grove.subsets) else f
    node.threshold, node.left, node.right = threshold, left, right
