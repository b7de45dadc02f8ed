"""A Hoeffding tree for all labels at once: answer, learn, split. For one label it is the Hoeffding tree."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, HOT, LOOP, PART, Direct, njit
from estimators.trees._kernels.gaussian import log_likelihood, observe
from estimators.trees._kernels.hoeffding import MAX_SHARE_TO_SPLIT, SKIP, Rules
from estimators.trees._kernels.multilabel_arrays import (
    SharedTree,
    deactivate,
    drop_slot,
    grow,
    has_room,
    keep_promising,
    observer_of,
    ranked,
    slots_allowed,
    start_observer,
    take_node,
    take_slot,
    total_weight,
)
from estimators.trees._kernels.multilabel_splitting import best_two_splits, weigh_below
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, NONE

Array = npt.NDArray[Any]


class Lesson(NamedTuple):
    """Rows to learn: features, values of the labels (n_rows, n_labels) or `SKIP`, and weights or none for ones."""

    X: Array
    codes: Array
    weights: Array


def learn(tree: SharedTree, lesson: Lesson, rules: Rules, votes: Array) -> SharedTree:
    """Answer each row, if there is room in votes (n_rows, n_labels, 2), then learn it; return the tree from now on."""
    done, guesses = 0, np.empty(tree.weights.shape[1], np.int8)
    while True:
        done = _learn_from(tree, lesson, rules, votes, guesses, done)
        if done == len(lesson.X):
            return tree
        tree = grow(tree)


def answer(tree: SharedTree, X: Array, votes: Array) -> None:
    """Write the votes (n_rows, n_labels, 2) for each row."""
    _answer(tree, X, votes, np.empty(tree.weights.shape[1], np.int8))


@Direct
@njit(**LOOP)
def _answer(tree: SharedTree, X: Array, votes: Array, guesses: Array) -> None:
    for r in range(len(X)):
        _look(tree, _find_leaf(tree, X, r), X[r], guesses, votes, r)


@Direct
@njit(**LOOP)
def _learn_from(tree: SharedTree, lesson: Lesson, rules: Rules, votes: Array, guesses: Array, done: int) -> int:
    """Learn on from a row, and return the row before which places ran short, if they do."""
    for r in range(done, len(lesson.X)):
        if not has_room(tree):
            return r
        i = _find_leaf(tree, lesson.X, r)
        _look(tree, i, lesson.X[r], guesses, votes, r)
        weight = lesson.weights[r] if len(lesson.weights) else 1.0
        if weight > 0.0:
            _teach(tree, i, lesson.X[r], lesson.codes[r], weight, guesses, rules)
    return len(lesson.X)


@njit(**HOT)
def _find_leaf(tree: SharedTree, X: Array, r: int) -> int:
    i = 0
    while tree.nodes[i].feature != NONE:
        node = tree.nodes[i]
        i = node.left if X[r, node.feature] <= node.threshold else node.right
    return i


# ---------------------------------------------------------------- answering
@njit(**HOT)
def _look(tree: SharedTree, i: int, x: Array, guesses: Array, votes: Array, r: int) -> None:
    """Write what naive Bayes guesses of each label and, if there is room, the votes of the leaf."""
    asked, active = len(votes) > 0, tree.nodes[i].active
    for j in range(len(guesses)):
        guesses[j] = NONE
        total = tree.weights[i, j, 0] + tree.weights[i, j, 1]
        if asked:
            votes[r, j, 0] = votes[r, j, 1] = 0.0
        if total == 0.0:
            continue
        by_bayes = active and tree.hits[i, j, 1] >= tree.hits[i, j, 0]
        if active:
            zeros, ones = _score(tree, i, j, 0, x, total), _score(tree, i, j, 1, x, total)
            guesses[j] = _more_probable(tree, i, j, zeros, ones)
            if asked and by_bayes:
                most = max(zeros, ones)
                votes[r, j, 0], votes[r, j, 1] = math.exp(zeros - most), math.exp(ones - most)
                both = votes[r, j, 0] + votes[r, j, 1]
                # Squares past the greatest number leave naive Bayes without votes: then the majority has them.
                by_bayes = both > 0.0
                total = both if by_bayes else total
        if asked and not by_bayes:
            votes[r, j, 0], votes[r, j, 1] = tree.weights[i, j, 0], tree.weights[i, j, 1]
        if asked:
            votes[r, j, 0] /= total
            votes[r, j, 1] /= total


@njit(**HOT)
def _score(tree: SharedTree, i: int, j: int, value: int, x: Array, total: float) -> float:
    """Tell how probable a value is, as `voting.bayes_scores` does for a class."""
    if tree.came[i, j, value] == 0:
        return -np.inf
    score = math.log(tree.weights[i, j, value] if tree.weights[i, j, value] > 0.0 else total)
    if tree.weights[i, j, value] > 0.0:
        slot = tree.nodes[i].slot
        if slot != NONE and tree.watched[slot, j, value]:
            score += log_likelihood(tree, observer_of(tree, slot, j, value), x)
    return score


@njit(**HOT)
def _more_probable(tree: SharedTree, i: int, j: int, zeros: float, ones: float) -> int:
    """Return the value of greater score, of equals the first that came."""
    if zeros == ones:
        return ranked(tree.came, i, j, 1)
    return 0 if zeros > ones else 1


@njit(**HOT)
def _majority(tree: SharedTree, i: int, j: int) -> int:
    """Return the value of greater weight, of equals the first that came; none of a label that never came."""
    first, second = ranked(tree.came, i, j, 1), ranked(tree.came, i, j, 2)
    if second != NONE and tree.weights[i, j, second] > tree.weights[i, j, first]:
        return second
    return first


# ----------------------------------------------------------------- learning
@njit(**PART)
def _teach(tree: SharedTree, i: int, x: Array, codes: Array, weight: float, guesses: Array, rules: Rules) -> None:
    """Learn one row in its leaf, and split the leaf if it is time."""
    node = tree.nodes[i]
    _count_labels(tree, i, codes, weight, guesses)
    if not node.active:
        return
    if node.slot == NONE and tree.counts[0].n_slots + 1 > slots_allowed(tree, rules.max_bytes):
        deactivate(tree, i)
        return
    _watch(tree, i, x, codes, weight)
    if node.depth >= rules.max_depth:
        deactivate(tree, i)
        return
    total = total_weight(tree, i)
    if total - node.last_attempt >= rules.grace_period:
        # after a split the node is a branch, for which the date of the attempt means nothing
        node.last_attempt = total
        _attempt_split(tree, i, total, rules)


@njit(**HOT)
def _count_labels(tree: SharedTree, i: int, codes: Array, weight: float, guesses: Array) -> None:
    for j in range(len(codes)):
        if codes[j] != SKIP:
            if tree.nodes[i].active:
                _score_guesses(tree, i, j, codes[j], weight, guesses[j])
            _count(tree, i, j, codes[j], weight)


@njit(**HOT)
def _watch(tree: SharedTree, i: int, x: Array, codes: Array, weight: float) -> None:
    if tree.nodes[i].slot == NONE:
        take_slot(tree, i)
    for j in range(len(codes)):
        if codes[j] != SKIP:
            observe(tree, start_observer(tree, tree.nodes[i].slot, j, codes[j]), x, weight)


@njit(**HOT)
def _score_guesses(tree: SharedTree, i: int, j: int, code: int, weight: float, guess: int) -> None:
    likely = _majority(tree, i, j)
    # in an empty leaf, the majority counts as right
    if likely in (NONE, code):
        tree.hits[i, j, 0] += weight
    if guess == code:
        tree.hits[i, j, 1] += weight


@njit(**HOT)
def _count(tree: SharedTree, i: int, j: int, code: int, weight: float) -> None:
    if tree.came[i, j, code] == 0:
        tree.came[i, j, code] = 1 if tree.came[i, j, 1 - code] == 0 else 2
    tree.weights[i, j, code] += weight


@njit(**BUILD)
def _attempt_split(tree: SharedTree, i: int, total: float, rules: Rules) -> None:
    """Split the leaf where one feature beats the others by more than chance, or where they are as good as equal.

    A leaf in which every label is nearly always the same observes anew, as in River.
    """
    mixed, settled = False, True
    for j in range(tree.weights.shape[1]):
        zeros, ones = tree.weights[i, j, 0], tree.weights[i, j, 1]
        if zeros != 0.0 and ones != 0.0:
            mixed = True
            settled = settled and max(zeros, ones) / (zeros + ones) > MAX_SHARE_TO_SPLIT
    if not mixed:
        return
    if settled:
        drop_slot(tree, i)
        keep_promising(tree, rules.max_bytes, rules.max_depth)
        return
    feature, threshold, best, second = best_two_splits(tree, i)
    bound = math.sqrt(math.log(1.0 / rules.delta) / (2.0 * total))
    if best - second > bound or bound < rules.tau:
        if feature == NONE:
            drop_slot(tree, i)
        else:
            _split(tree, i, feature, threshold)
        keep_promising(tree, rules.max_bytes, rules.max_depth)


@njit(**BUILD)
def _split(tree: SharedTree, i: int, f: int, threshold: float) -> None:
    """Turn a leaf into a branch; each child starts with the weights of the values estimated on its side."""
    node, n_labels = tree.nodes[i], tree.weights.shape[1]
    left, right = take_node(tree, node.depth + 1), take_node(tree, node.depth + 1)
    below = np.empty((n_labels, 2))
    weigh_below(tree, node.slot, f, threshold, below)
    share = _share_below(tree, i, below)
    for j in range(n_labels):
        if ranked(tree.watched, node.slot, j, 1) == NONE:
            _inherit(tree, i, j, left, share)
            _inherit(tree, i, j, right, 1.0 - share)
        for rank in range(1, 3):
            value = ranked(tree.watched, node.slot, j, rank)
            if value != NONE:
                o = observer_of(tree, node.slot, j, value)
                if threshold >= tree.moments[o, LOWEST, f]:
                    _count(tree, left, j, value, below[j, value])
                if threshold < tree.moments[o, HIGHEST, f]:
                    _count(tree, right, j, value, tree.observers[o].weight - below[j, value])
    for child in (left, right):
        tree.nodes[child].last_attempt = total_weight(tree, child)
    drop_slot(tree, i)
    node.feature, node.threshold, node.left, node.right = f, threshold, left, right


@njit(**HOT)
def _share_below(tree: SharedTree, i: int, below: Array) -> float:
    """Estimate which share of the rows goes left."""
    observed, slot = 0.0, tree.nodes[i].slot
    for j in range(len(below)):
        for value in range(2):
            if tree.watched[slot, j, value]:
                observed += tree.observers[observer_of(tree, slot, j, value)].weight
    return below.sum() / observed


@njit(**HOT)
def _inherit(tree: SharedTree, i: int, j: int, child: int, share: float) -> None:
    """Pass on a share of what is known of a label that no row of the leaf has told anything of."""
    for value in range(2):
        tree.came[child, j, value] = tree.came[i, j, value]
        tree.weights[child, j, value] = share * tree.weights[i, j, value]
