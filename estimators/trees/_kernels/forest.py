"""Adaptive random forests: members that bag rows, watch their errors, and grow another tree when these change."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, HOT, LOOP, OWNING, njit
from estimators._kernels.randomness import advance, uniform
from estimators.trees._kernels.adwin import Windows, changes, empty, open_windows
from estimators.trees._kernels.hoeffding import SKIP, Example, Rules, Work, look, new_room, teach, work_in
from estimators.trees._kernels.tree_arrays import (
    NONE,
    Grove,
    drop_observers,
    grow,
    has_room,
    new_root,
    plant,
    size_bytes,
)

Array = npt.NDArray[Any]

# a row may split both trees of a member, and plant another
ROWS_OF_ROOM = 3

# member j has trees 2j and 2j + 1 of the grove: `side` tells which one votes, the other grows in the background or is
# no tree at all; and windows 2j and 2j + 1, for warnings and for drifts
MEMBER = np.dtype(
    [
        ("target", "i4"),
        ("side", "i4"),
        ("n_right", "f8"),
        ("n_tried", "f8"),
        ("n_warnings", "i8"),
        ("n_drifts", "i8"),
        ("random", "u8"),
    ],
    align=True,
)


class Forest(NamedTuple):
    """Members, each about one target, that is one column of codes."""

    grove: Grove
    windows: Windows
    members: Array


class Habits(NamedTuple):
    """How members learn.

    Attributes
    ----------
    rules : Rules
        How trees grow.
    bagging : ndarray
        Cumulative probabilities of learning a row 0, 1, 2, ... times; empty: once.
    warning, drift : float
        Confidence of the windows; 0: they are not watched.
    """

    rules: Rules
    bagging: Array
    warning: float
    drift: float


class Paper(NamedTuple):
    """Where votes are written, and room to work them out."""

    votes: Array
    room: Array


class Lesson(NamedTuple):
    """Rows to answer and to learn: features, a code or `SKIP` for each target, and weights; no weights: ones."""

    X: Array
    codes: Array
    weights: Array


def sow(targets: Array, n_features: int, width: int | None, seeds: Array) -> Forest:
    """Make members that know nothing.

    Parameters
    ----------
    targets : ndarray of shape (n_members,)
        What each is about.
    n_features : int
        Number of features.
    width : int, optional
        How many of them a leaf draws; None: all.
    seeds : uint64 ndarray of shape (n_members, 3)
        Randomness of each member and of its two trees.

    Returns
    -------
    Forest
        The members.
    """
    members = np.zeros(len(targets), MEMBER)
    members["target"], members["random"] = targets, seeds[:, 0]
    grove = plant(2 * len(targets), n_features, width=width, seeds=np.ascontiguousarray(seeds[:, 1:]).ravel())
    for j in range(len(targets)):
        fell(grove, 2 * j + 1)
    return Forest(grove, open_windows(2 * len(targets)), members)


def learn(forest: Forest, lesson: Lesson, habits: Habits, votes: Array) -> Forest:
    """Answer each row from what the rows before it taught, then learn it.

    Parameters
    ----------
    forest : Forest
        Members; changed in place, and given more room when places ran short.
    lesson : Lesson
        Rows.
    habits : Habits
        How members learn.
    votes : ndarray of shape (n_rows, n_members, n_classes)
        Receives what each member votes, weighted by how often it has been right.

    Returns
    -------
    Forest
        The members, to be used from now on.
    """
    done, n_steps, room = 0, len(lesson.X) * len(forest.members), new_room(forest.grove, votes.shape[2])
    while True:
        done = _learn_from(forest, lesson, habits, Paper(votes, room), done)
        if done == n_steps:
            return forest
        forest = forest._replace(grove=grow(forest.grove, votes.shape[2], ROWS_OF_ROOM))


def answer(forest: Forest, X: Array, votes: Array) -> None:
    """Write what each member votes for each row to `votes` of shape (n_rows, n_members, n_classes)."""
    _answer(forest, X, votes, new_room(forest.grove, votes.shape[2]))


@njit(**LOOP)
def _answer(forest: Forest, X: Array, votes: Array, room: Array) -> None:
    work = work_in(room, votes.shape[2])
    for j in range(len(forest.members)):
        t = _front(forest, j)
        for r in range(len(X)):
            look(forest.grove, t, X, r, work, True)
            _write(votes, r, j, work, _trust(forest.members[j]))


def forest_bytes(forest: Forest) -> int:
    """Sum the sizes of the arrays."""
    return size_bytes(forest.grove) + sum(array.nbytes for array in forest.windows) + int(forest.members.nbytes)


@njit(**LOOP)
def _learn_from(forest: Forest, lesson: Lesson, habits: Habits, paper: Paper, done: int) -> int:
    """Learn on from a step, member after member, and return the step before which places ran short, if they do."""
    grove, members, votes = forest.grove, forest.members, paper.votes
    X, codes, weights = lesson.X, lesson.codes, lesson.weights
    n_rows, n_classes = len(X), votes.shape[2]
    work = work_in(paper.room, n_classes)
    for j in range(done // n_rows, len(members)):
        for r in range(max(done - j * n_rows, 0), n_rows):
            if not has_room(grove, n_classes, ROWS_OF_ROOM):
                return j * n_rows + r
            code = codes[r, members[j].target]
            weight = weights[r] if len(weights) else 1.0
            learning = code != SKIP and weight > 0.0
            times = _draw_times(members[j], habits.bagging) if learning else 0
            right = _try(forest, j, X, r, Example(code, weight * times, NONE), habits.rules, work)
            _write(votes, r, j, work, _trust(members[j]))
            if learning:
                members[j].n_tried += 1.0
                members[j].n_right += right
            if times > 0:
                _watch(forest, j, 1.0 - right, habits)
    return n_rows * len(members)


@njit(**HOT)
def _try(forest: Forest, j: int, X: Array, r: int, example: Example, rules: Rules, work: Work) -> float:
    """Let the tree that votes answer, teach it and the one behind it, and return 1 if the answer was right, or 0."""
    grove, right = forest.grove, 0.0
    for turn in range(2):
        t = _front(forest, j) if turn == 0 else _behind(forest, j)
        if turn == 1 and (grove.trees[t].root == NONE or example.weight == 0.0):
            break
        leaf, guess = look(grove, t, X, r, work, turn == 0)
        if turn == 0:
            right = 1.0 if _decision(work.votes) == example.code else 0.0
        if example.weight > 0.0:
            teach(grove, t, leaf, work.seen, Example(example.code, example.weight, guess), rules)
    return right


@njit(**HOT)
def _watch(forest: Forest, j: int, error: float, habits: Habits) -> None:
    """Plant a tree in the background at a warning; at a drift, let it, or an empty one, take over."""
    member = forest.members[j]
    if habits.warning > 0.0 and changes(forest.windows, 2 * j, error, habits.warning):
        member.n_warnings += 1
        _replant(forest.grove, _behind(forest, j))
    if habits.drift > 0.0 and changes(forest.windows, 2 * j + 1, error, habits.drift):
        member.n_drifts += 1
        _take_over(forest, j)


@njit(**BUILD)
def _take_over(forest: Forest, j: int) -> None:
    grove, member = forest.grove, forest.members[j]
    if grove.trees[_behind(forest, j)].root == NONE:
        new_root(grove, _behind(forest, j))
    else:
        empty(forest.windows, 2 * j)
    fell(grove, _front(forest, j))
    member.side = 1 - member.side
    member.n_right = member.n_tried = 0.0


@njit(**BUILD)
def _replant(grove: Grove, t: int) -> None:
    fell(grove, t)
    new_root(grove, t)


@njit(**OWNING)
def fell(grove: Grove, t: int) -> None:
    """Give back all places of a tree; it has no root then."""
    tree, free = grove.trees[t], grove.free[0]
    if tree.root == NONE:
        return
    stack = np.empty(tree.n_nodes, np.int64)
    stack[0], height = tree.root, 1
    while height:
        height -= 1
        i = stack[height]
        node = grove.nodes[i]
        if node.feature != NONE:
            stack[height], stack[height + 1] = node.left, node.right
            height += 2
        drop_observers(grove, t, i)
        s = node.stats
        while s != NONE:
            after = grove.stats[s].next
            grove.stats[s].next = free.stat
            free.stat = s
            free.n_stats += 1
            s = after
        node.left = free.node
        free.node = i
        free.n_nodes += 1
    tree.root = NONE
    tree.n_nodes = tree.n_stats = tree.n_inactive = 0


@njit(**HOT)
def _front(forest: Forest, j: int) -> int:
    """Tell which tree of a member votes."""
    return 2 * j + forest.members[j].side


@njit(**HOT)
def _behind(forest: Forest, j: int) -> int:
    """Tell which tree of a member grows in the background, if it has a root."""
    return 2 * j + 1 - forest.members[j].side


@njit(**HOT)
def _trust(member: Any) -> float:
    """Tell how often a member has been right; one that never was is heard like one that always was."""
    return member.n_right / member.n_tried if member.n_right > 0.0 else 1.0


@njit(**HOT)
def _write(votes: Array, r: int, j: int, work: Work, trust: float) -> None:
    for code in range(votes.shape[2]):
        votes[r, j, code] = trust * work.votes[code]


@njit(**HOT)
def _decision(votes: Array) -> int:
    """Return the class of most votes, of equals the first; none where there is no vote."""
    code, most = NONE, 0.0
    for k in range(len(votes)):
        if votes[k] > most:
            code, most = k, votes[k]
    return code


@njit(**HOT)
def _draw_times(member: Any, bagging: Array) -> int:
    """Draw how often a row is learnt."""
    if len(bagging) == 0:
        return 1
    member.random = advance(member.random)
    u = uniform(member.random)
    times = 0
    while times < len(bagging) and u >= bagging[times]:
        times += 1
    return times
