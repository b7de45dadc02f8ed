"""A Hoeffding tree for all labels at once: predict, learn, split. With one label it is the Hoeffding tree."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import (
    CLOSE,
    MULTIWAY,
    UNWEIGHED,
    add_child,
    child_of,
    count_values,
    has_categories,
    has_numbers,
    heaviest_of,
    is_nominal,
    log_shares,
    next_child,
    numbers_of,
    side_of,
)
from estimators.trees._kernels.gaussian import log_likelihood, observe
from estimators.trees._kernels.hoeffding import MAX_SHARE_TO_SPLIT, SKIP, TreeParams
from estimators.trees._kernels.multilabel_arrays import (
    MultilabelTree,
    deactivate,
    drop_slot,
    grow,
    has_room,
    keep_promising,
    observer_of,
    slots_allowed,
    start_observer,
    take_node,
    take_slot,
    total_weight,
    value_of_rank,
)
from estimators.trees._kernels.multilabel_splitting import (
    best_two_splits,
    count_of,
    weights_of_value,
    write_weights_below,
)
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, NONE


class MultilabelChunk(NamedTuple):
    """Rows to predict and to learn: features, values of the labels or `SKIP`, and weights (if empty, all are 1)."""

    X: Array
    codes: Array
    weights: Array


class Row(NamedTuple):
    """A row whose nominal features are 0 in `x`, which Gaussian observers do not notice, and bins in `values`."""

    x: Array
    values: Array


class Scratch(NamedTuple):
    """Working memory: the guesses of naive Bayes for the labels of a row, and the features that are numbers."""

    guesses: Array
    numbers: Array


def new_scratch(tree: MultilabelTree) -> Scratch:
    """Make working memory."""
    return Scratch(np.empty(tree.weights.shape[1], np.int8), np.empty(tree.moments.shape[2]))


def learn(tree: MultilabelTree, chunk: MultilabelChunk, params: TreeParams, votes: Array) -> MultilabelTree:
    """Predict each row, unless `votes` (n_rows, n_labels, 2) has no rows, then learn it; return the new tree."""
    done, scratch = 0, new_scratch(tree)
    while True:
        done = _learn_from(tree, chunk, params, votes, scratch, done)
        if done == len(chunk.X):
            return tree
        tree = grow(tree)


def predict(tree: MultilabelTree, X: Array, votes: Array) -> None:
    """Write the votes (n_rows, n_labels, 2) for each row."""
    _predict(tree, X, votes, new_scratch(tree))


@Direct
@njit(**LOOP)
def _predict(tree: MultilabelTree, X: Array, votes: Array, scratch: Scratch) -> None:
    for r in range(len(X)):
        _predict_row(tree, _find_leaf(tree, X, r), _row(tree, X, r, scratch), scratch.guesses, votes, r)


@Direct
@njit(**LOOP)
def _learn_from(
    tree: MultilabelTree, chunk: MultilabelChunk, params: TreeParams, votes: Array, scratch: Scratch, done: int
) -> int:
    """Go on from row `done`; return the row before which free places ran out, or the number of rows."""
    for r in range(done, len(chunk.X)):
        if not has_room(tree):
            return r
        i, row = _find_leaf(tree, chunk.X, r), _row(tree, chunk.X, r, scratch)
        _predict_row(tree, i, row, scratch.guesses, votes, r)
        weight = chunk.weights[r] if len(chunk.weights) else 1.0
        if weight > 0.0:
            if has_categories(tree):
                i = _leaf_to_learn(tree, chunk.X, r, i, scratch.guesses)
            _update(tree, i, row, chunk.codes[r], weight, scratch.guesses, params)
    return len(chunk.X)


@njit(**HOT)
def _row(tree: MultilabelTree, X: Array, r: int, scratch: Scratch) -> Row:
    return Row(numbers_of(tree, X[r], scratch.numbers), X[r])


@njit(**HOT)
def _find_leaf(tree: MultilabelTree, X: Array, r: int) -> int:
    i = 0
    while tree.nodes[i].feature != NONE:
        value = X[r, tree.nodes[i].feature]
        i = node_after(tree, i, value) if has_categories(tree) else side_of(tree, i, value)
    return i


@njit(**PART)
def node_after(tree: MultilabelTree, i: int, value: float) -> int:
    child = child_of(tree, i, value)
    return child if child != NONE else _heaviest_child(tree, i)


@njit(**BUILD)
def _heaviest_child(tree: MultilabelTree, i: int) -> int:
    weights = np.empty(len(tree.nodes))
    for k in range(len(weights)):
        weights[k] = total_weight(tree, k) if tree.nodes[k].feature == NONE else UNWEIGHED
    return heaviest_of(tree, i, weights)


@njit(**PART)
def _leaf_to_learn(tree: MultilabelTree, X: Array, r: int, leaf: int, guesses: Array) -> int:
    """Return the leaf that learns a row: a new one, without guesses, if a value that a branch meets has no child."""
    i = 0
    while tree.nodes[i].feature != NONE:
        value = X[r, tree.nodes[i].feature]
        child = child_of(tree, i, value)
        if child == NONE:
            for j in range(len(guesses)):
                guesses[j] = NONE
            return _grow_child(tree, i, int(value))
        i = child
    return leaf


@njit(**PART)
def _grow_child(tree: MultilabelTree, i: int, value: int) -> int:
    """Give a branch an empty leaf for a value."""
    child = take_node(tree, tree.nodes[i].depth + 1)
    add_child(tree, i, child, value)
    return child


# --------------------------------------------------------------- predicting
@njit(**HOT)
def _predict_row(tree: MultilabelTree, i: int, row: Row, guesses: Array, votes: Array, r: int) -> None:
    """Write the guess of naive Bayes for each label and, unless `votes` has no rows, the votes of the leaf."""
    voting, active = len(votes) > 0, tree.nodes[i].active
    for j in range(len(guesses)):
        guesses[j] = NONE
        total = tree.weights[i, j, 0] + tree.weights[i, j, 1]
        if voting:
            votes[r, j, 0] = votes[r, j, 1] = 0.0
        if total == 0.0:
            continue
        by_bayes = active and tree.hits[i, j, 1] >= tree.hits[i, j, 0]
        if active:
            zeros, ones = _scores(tree, i, j, row, total)
            guesses[j] = _more_probable(tree, i, j, zeros, ones)
            if voting and by_bayes:
                most = max(zeros, ones)
                votes[r, j, 0], votes[r, j, 1] = math.exp(zeros - most), math.exp(ones - most)
                both = votes[r, j, 0] + votes[r, j, 1]
                # overflowing squares leave naive Bayes without votes: then the majority votes
                by_bayes = both > 0.0
                total = both if by_bayes else total
        if voting and not by_bayes:
            votes[r, j, 0], votes[r, j, 1] = tree.weights[i, j, 0], tree.weights[i, j, 1]
        if voting:
            votes[r, j, 0] /= total
            votes[r, j, 1] /= total


@njit(**HOT)
def _scores(tree: MultilabelTree, i: int, j: int, row: Row, total: float) -> tuple[float, float]:
    """Return the scores of both values of a label."""
    zeros, ones = _score(tree, i, j, 0, row, total, False), _score(tree, i, j, 1, row, total, False)
    if has_categories(tree) and abs(zeros - ones) < CLOSE:
        zeros, ones = _score(tree, i, j, 0, row, total, True), _score(tree, i, j, 1, row, total, True)
    return zeros, ones


@njit(**HOT)
def _score(tree: MultilabelTree, i: int, j: int, value: int, row: Row, total: float, exactly: bool) -> float:
    """Return the score of a value, as `voting.bayes_scores` does for a class."""
    if tree.seen_rank[i, j, value] == 0:
        return -np.inf
    if has_categories(tree):
        return _score_of_values(tree, i, j, value, row, total, exactly)
    score = math.log(tree.weights[i, j, value] if tree.weights[i, j, value] > 0.0 else total)
    if tree.weights[i, j, value] > 0.0:
        slot = tree.nodes[i].slot
        if slot != NONE and tree.observed_rank[slot, j, value]:
            score += log_likelihood(tree, observer_of(tree, slot, j, value), row.x)
    return score


@njit(**PART)
def _score_of_values(tree: MultilabelTree, i: int, j: int, value: int, row: Row, total: float, exactly: bool) -> float:
    """Do the same with nominal features; scores are joint log probabilities."""
    weight, slot = tree.weights[i, j, value], tree.nodes[i].slot
    if weight == 0.0:
        return 0.0
    if slot == NONE or tree.observed_rank[slot, j, value] == 0:
        return math.log(weight / total)
    o = observer_of(tree, slot, j, value)
    score = log_shares(tree, o, tree.categories.places[:0], row.values, weight / total, exactly)
    return score + log_likelihood(tree, o, row.x) if has_numbers(tree) else score


@njit(**HOT)
def _more_probable(tree: MultilabelTree, i: int, j: int, zeros: float, ones: float) -> int:
    """Return the value of greater score (ties: the first seen)."""
    if zeros == ones:
        return value_of_rank(tree.seen_rank, i, j, 1)
    return 0 if zeros > ones else 1


@njit(**HOT)
def _majority(tree: MultilabelTree, i: int, j: int) -> int:
    """Return the value of greater weight (ties: the first seen), or `NONE` for a label without rows."""
    first, second = value_of_rank(tree.seen_rank, i, j, 1), value_of_rank(tree.seen_rank, i, j, 2)
    if second != NONE and tree.weights[i, j, second] > tree.weights[i, j, first]:
        return second
    return first


# ----------------------------------------------------------------- learning
@njit(**PART)
def _update(
    tree: MultilabelTree,
    i: int,
    row: Row,
    codes: Array,
    weight: float,
    guesses: Array,
    params: TreeParams,
) -> None:
    """Learn a row in its leaf, and try to split the leaf once in a grace period."""
    node = tree.nodes[i]
    _count_labels(tree, i, codes, weight, guesses)
    if not node.active:
        return
    if node.slot == NONE and tree.counts[0].n_slots + 1 > slots_allowed(tree, params.max_bytes):
        deactivate(tree, i)
        return
    _observe_labels(tree, i, row, codes, weight)
    if node.depth >= params.max_depth:
        deactivate(tree, i)
        return
    total = total_weight(tree, i)
    if total - node.last_attempt >= params.grace_period:
        # set before the attempt: after a split the node is a branch, which makes no attempts
        node.last_attempt = total
        _attempt_split(tree, i, total, params)


@njit(**HOT)
def _count_labels(tree: MultilabelTree, i: int, codes: Array, weight: float, guesses: Array) -> None:
    for j in range(len(codes)):
        if codes[j] != SKIP:
            if tree.nodes[i].active:
                _score_guesses(tree, i, j, codes[j], weight, guesses[j])
            _count(tree, i, j, codes[j], weight)


@njit(**HOT)
def _observe_labels(tree: MultilabelTree, i: int, row: Row, codes: Array, weight: float) -> None:
    if tree.nodes[i].slot == NONE:
        take_slot(tree, i)
    for j in range(len(codes)):
        if codes[j] != SKIP:
            o = start_observer(tree, tree.nodes[i].slot, j, codes[j])
            observe(tree, o, row.x, weight)
            if has_categories(tree):
                count_values(tree, o, tree.categories.places[:0], row.values, weight)


@njit(**HOT)
def _score_guesses(tree: MultilabelTree, i: int, j: int, code: int, weight: float, guess: int) -> None:
    majority = _majority(tree, i, j)
    # as in River, the majority of an empty leaf counts as right
    if majority in (NONE, code):
        tree.hits[i, j, 0] += weight
    if guess == code:
        tree.hits[i, j, 1] += weight


@njit(**HOT)
def _count(tree: MultilabelTree, i: int, j: int, code: int, weight: float) -> None:
    if tree.seen_rank[i, j, code] == 0:
        tree.seen_rank[i, j, code] = 1 if tree.seen_rank[i, j, 1 - code] == 0 else 2
    tree.weights[i, j, code] += weight


@njit(**BUILD)
def _attempt_split(tree: MultilabelTree, i: int, total: float, params: TreeParams) -> None:
    """Split the leaf if the best feature beats the next by more than Hoeffding's bound, or if the bound is under `tau`.

    The observers of a leaf in which every label is nearly constant start again, as in River.
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
        keep_promising(tree, params.max_bytes, params.max_depth)
        return
    feature, threshold, best, second = best_two_splits(tree, i)
    bound = math.sqrt(math.log(1.0 / params.delta) / (2.0 * total))
    if best - second > bound or bound < params.tau:
        if feature == NONE:
            drop_slot(tree, i)
        else:
            _split(tree, i, feature, threshold)
        keep_promising(tree, params.max_bytes, params.max_depth)


@njit(**BUILD)
def _split(tree: MultilabelTree, i: int, f: int, threshold: float) -> None:
    """Turn a leaf into a branch whose children start with the label weights estimated for their sides."""
    node = tree.nodes[i]
    if not is_nominal(tree, f):
        _split_at(tree, i, f, threshold)
    elif threshold == MULTIWAY:
        _split_by_value(tree, i, tree.categories.places[f])
    else:
        _split_off(tree, i, tree.categories.places[f], int(threshold))
    node.feature, node.threshold = f, threshold
    child = node.left
    while child != NONE:
        tree.nodes[child].last_attempt = total_weight(tree, child)
        child = next_child(tree, i, child)
    drop_slot(tree, i)


@njit(**BUILD)
def _split_by_value(tree: MultilabelTree, i: int, place: int) -> None:
    """Give a leaf a child for each value that it has observed."""
    slot, table = tree.nodes[i].slot, tree.categories.values
    for k in range(table.shape[1]):
        if table[place, k].bin != NONE:
            weight, total = weights_of_value(tree, slot, place, table[place, k].bin)
            if weight > 0.0:
                _take_value(tree, i, _grow_child(tree, i, table[place, k].bin), place, weight / total)


@njit(**HOT)
def _take_value(tree: MultilabelTree, i: int, child: int, place: int, share: float) -> None:
    """Give a child the label weights of the rows with its value."""
    slot, value = tree.nodes[i].slot, tree.categories.links[child].bin
    for j in range(tree.weights.shape[1]):
        if value_of_rank(tree.observed_rank, slot, j, 1) == NONE:
            _inherit(tree, i, j, child, share)
        for label in range(2):
            weight = count_of(tree, slot, j, label, place, value)
            if weight > 0.0:
                _count(tree, child, j, label, weight)


@njit(**PART)
def _split_off(tree: MultilabelTree, i: int, place: int, value: int) -> None:
    """Give a leaf a child for one value, on the left, and one for the rest."""
    node = tree.nodes[i]
    node.left, node.right = take_node(tree, node.depth + 1), take_node(tree, node.depth + 1)
    weight, total = weights_of_value(tree, node.slot, place, value)
    for j in range(tree.weights.shape[1]):
        if value_of_rank(tree.observed_rank, node.slot, j, 1) == NONE:
            _inherit(tree, i, j, node.left, weight / total)
            _inherit(tree, i, j, node.right, 1.0 - weight / total)
        for rank in range(1, 3):
            label = value_of_rank(tree.observed_rank, node.slot, j, rank)
            if label != NONE:
                own = count_of(tree, node.slot, j, label, place, value)
                rest = tree.observers[observer_of(tree, node.slot, j, label)].weight - own
                if own > 0.0:
                    _count(tree, node.left, j, label, own)
                if rest > 0.0:
                    _count(tree, node.right, j, label, rest)


@njit(**BUILD)
def _split_at(tree: MultilabelTree, i: int, f: int, threshold: float) -> None:
    """Give a leaf a child for the values of a feature up to a threshold, and one for those above."""
    node, n_labels = tree.nodes[i], tree.weights.shape[1]
    left, right = take_node(tree, node.depth + 1), take_node(tree, node.depth + 1)
    below = np.empty((n_labels, 2))
    write_weights_below(tree, node.slot, f, threshold, below)
    share = _share_below(tree, i, below)
    for j in range(n_labels):
        if value_of_rank(tree.observed_rank, node.slot, j, 1) == NONE:
            _inherit(tree, i, j, left, share)
            _inherit(tree, i, j, right, 1.0 - share)
        for rank in range(1, 3):
            value = value_of_rank(tree.observed_rank, node.slot, j, rank)
            if value != NONE:
                o = observer_of(tree, node.slot, j, value)
                if threshold >= tree.moments[o, LOWEST, f]:
                    _count(tree, left, j, value, below[j, value])
                if threshold < tree.moments[o, HIGHEST, f]:
                    _count(tree, right, j, value, tree.observers[o].weight - below[j, value])
    node.left, node.right = left, right


@njit(**HOT)
def _share_below(tree: MultilabelTree, i: int, below: Array) -> float:
    """Estimate the share of the rows that goes left."""
    total, observed, slot = 0.0, 0.0, tree.nodes[i].slot
    for j in range(len(below)):
        for value in range(2):
            total += below[j, value]
            if tree.observed_rank[slot, j, value]:
                observed += tree.observers[observer_of(tree, slot, j, value)].weight
    return total / observed


@njit(**HOT)
def _inherit(tree: MultilabelTree, i: int, j: int, child: int, share: float) -> None:
    """Pass a share of the weights of a label on to a child, if no row of the leaf has shown the label."""
    for value in range(2):
        tree.seen_rank[child, j, value] = tree.seen_rank[i, j, value]
        tree.weights[child, j, value] = share * tree.weights[i, j, value]
