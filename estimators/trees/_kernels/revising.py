"""Extremely fast decision trees: branches go on observing, and are revised or closed as the best split changes."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import MULTIWAY, has_categories, is_nominal, next_child
from estimators.trees._kernels.gaussian import normalise, observe_moments
from estimators.trees._kernels.hoeffding import (
    TreeChunk,
    describe_classes,
    hoeffding_bound,
    leaf_to_learn,
    split,
    vote_on_row,
)
from estimators.trees._kernels.leaf_budget import deactivate, keep_promising, observers_allowed
from estimators.trees._kernels.leaf_learning import Row, count_row, find_class, learn_in_leaf, set_weight
from estimators.trees._kernels.splitting import (
    ROUGHNESS_OF_GAIN,
    best_test,
    best_threshold,
    entropy,
    entropy_of,
    gain_of_gaussians_at_most,
    new_sides,
    rough_entropy,
    rough_entropy_left,
)
from estimators.trees._kernels.tree_arrays import (
    NONE,
    TreeArrays,
    add_observer,
    add_stat,
    drop_observers,
    free_nodes,
    grow,
    has_room,
)
from estimators.trees._kernels.voting import Scratch, new_buffer, node_after, split_buffer

# what becomes of a branch: it stays, and so does its test; nothing below it is looked at; it becomes a leaf; its
# threshold moves; another feature replaces it, and new leaves its children
KEEP, STOP, CLOSE, MOVE, REPLACE = range(5)


class RevisionParams(NamedTuple):
    """Parameters of extremely fast decision trees as the compiled loops read them."""

    grace_period: float
    delta: float
    tau: float
    max_depth: int
    max_bytes: float
    min_samples_reevaluate: float
    max_share_to_split: float


class Verdict(NamedTuple):
    """Outcome of a revision, and the best split."""

    outcome: int
    feature: int
    threshold: float


def learn(arrays: TreeArrays, chunk: TreeChunk, params: RevisionParams, votes: Array) -> TreeArrays:
    """Predict each row from the rows before it, then learn it, as `hoeffding.learn` does."""
    done, n_steps, buffer = 0, len(chunk.codes) * len(arrays.trees), new_buffer(arrays, votes.shape[2])
    while True:
        done = _learn_from(arrays, chunk, params, votes, buffer, done)
        if done == n_steps:
            return arrays
        arrays = grow(arrays, votes.shape[2], int(arrays.nodes["depth"].max()) + 1)


@Direct
@njit(**LOOP)
def _learn_from(
    arrays: TreeArrays, chunk: TreeChunk, params: RevisionParams, votes: Array, buffer: Array, done: int
) -> int:
    """Go on from step `done`, tree by tree; return the step before which places ran out, or the number of steps."""
    n_rows, n_classes = len(chunk.codes), votes.shape[2]
    scratch = split_buffer(arrays, buffer, n_classes)
    for t in range(done // n_rows, len(arrays.trees)):
        for r in range(done - t * n_rows if done > t * n_rows else 0, n_rows):
            leaf, row = vote_on_row(arrays, t, chunk, r, scratch, votes)
            if row.weight > 0.0:
                # every node on the way may meet a new class
                if not has_room(arrays, n_classes, arrays.nodes[leaf].depth + 1):
                    return t * n_rows + r
                leaf, row = leaf_to_learn(arrays, t, chunk.X, r, leaf, row)
                _learn_row(arrays, t, leaf, scratch, row, params)
    return n_rows * len(arrays.trees)


@njit(**HOT)
def _learn_row(arrays: TreeArrays, t: int, leaf: int, scratch: Scratch, row: Row, params: RevisionParams) -> None:
    """Learn a row in its leaf, then in the branches on its way, each of which may be revised; then split the leaf.

    Below a branch whose threshold has just moved, River writes what becomes of the next node into the object that was
    replaced: it is lost, and so it is here. `kept` tells whether it is not.
    """
    learn_in_leaf(arrays, t, leaf, scratch, row, params.max_bytes)
    i, kept = arrays.trees[t].root, True
    while arrays.nodes[i].feature != NONE:
        node = arrays.nodes[i]
        # as in River, the row goes where it went before the threshold moved
        below = node_after(arrays, i, scratch.values[node.feature])
        outcome = KEEP
        if node.active and _learn_in_branch(arrays, t, i, scratch, row, params.max_bytes):
            outcome = _revise(arrays, t, i, params, kept) if _is_due(arrays, i, params) else KEEP
        if outcome not in (KEEP, MOVE):
            return
        i, kept = below, outcome == KEEP
    _try_to_split(arrays, t, i, params, kept)


@njit(**HOT)
def _is_due(arrays: TreeArrays, i: int, params: RevisionParams) -> bool:
    return arrays.nodes[i].weight - arrays.nodes[i].last_attempt >= params.min_samples_reevaluate


@njit(**HOT)
def _learn_in_branch(arrays: TreeArrays, t: int, i: int, scratch: Scratch, row: Row, max_bytes: float) -> bool:
    """Count and observe a row in a branch; return whether it observes: without memory, it is not revised any more."""
    s, _ = find_class(arrays, i, row.code)
    if s == NONE:
        s = add_stat(arrays, t, i, row.code)
    set_weight(arrays, i, s, arrays.stats[s].weight + row.weight)
    stat = arrays.stats[s]
    if stat.observer == NONE:
        if arrays.trees[t].n_observers + 1 > observers_allowed(arrays, t, max_bytes):
            drop_observers(arrays, t, i)
            arrays.nodes[i].active = 0
            return False
        stat.observer = add_observer(arrays, t, i, row.code)
    observe_moments(arrays, stat.observer, scratch.x, row.weight)
    count_row(arrays, i, stat.observer, scratch, row.weight)
    return True


@njit(**BUILD)
def _revise(arrays: TreeArrays, t: int, i: int, params: RevisionParams, kept: bool) -> int:
    """Revise a branch, if that is to be kept, and return what became of it."""
    verdict = _judge(arrays, i, params)
    outcome, node = verdict.outcome, arrays.nodes[i]
    if outcome == MOVE:
        if not kept or not _move(arrays, i, verdict.threshold):
            return KEEP
        node.last_attempt = node.weight
    elif outcome in (CLOSE, REPLACE):
        if kept:
            _close(arrays, t, i)
            if outcome == REPLACE:
                _open(arrays, t, i, verdict)
        keep_promising(arrays, t, params.max_bytes, params.max_depth)
    return outcome


@njit(**BUILD)
def _judge(arrays: TreeArrays, i: int, params: RevisionParams) -> Verdict:
    """Compare the split of a branch with the best one, and the best one with none at all."""
    n_classes, n_present, _ = describe_classes(arrays, i)
    node = arrays.nodes[i]
    bound = hoeffding_bound(n_classes, node.weight, params.delta)
    if n_present < 2 or (bound >= params.tau and is_settled(arrays, i, bound)):
        return Verdict(KEEP, NONE, 0.0)
    feature, threshold, best, current = best_split(arrays, i, node.feature)
    outcome = KEEP
    if feature == NONE:
        outcome = STOP
    elif -best > bound:
        outcome = CLOSE
    elif current > -math.inf and (best - current > bound or bound < params.tau):
        outcome = MOVE if feature == node.feature else REPLACE
    return Verdict(outcome, feature, threshold)


@njit(**PART)
def _move(arrays: TreeArrays, i: int, threshold: float) -> bool:
    """Change the test of a branch, which keeps its children; return False if its children do not fit the new test.

    As in River, children for all values are dealt out again, in the order of the values.
    """
    node, links = arrays.nodes[i], arrays.categories.links
    if not is_nominal(arrays, node.feature):
        node.threshold = threshold
        return True
    if (node.threshold == MULTIWAY) != (threshold == MULTIWAY):
        return False
    if threshold != MULTIWAY:
        node.threshold = threshold
        return True
    place, child = arrays.categories.places[node.feature], node.left
    for k in range(arrays.categories.values.shape[1]):
        value = arrays.categories.values[place, k].bin
        if NONE not in (child, value) and _has_observed(arrays, i, place, value):
            links[child].bin, child = value, links[child].next
    return True


@njit(**PART)
def _has_observed(arrays: TreeArrays, i: int, place: int, value: int) -> bool:
    """Return whether a node has observed a value of a nominal feature."""
    o = arrays.nodes[i].observers
    while o != NONE and arrays.categories.counts[o, place, value] == 0.0:
        o = arrays.observers[o].next
    return o != NONE


@njit(**PART)
def _close(arrays: TreeArrays, t: int, i: int) -> None:
    """Turn a branch into a leaf that keeps its class weights and observers."""
    node = arrays.nodes[i]
    child = node.left
    while child != NONE:
        after = next_child(arrays, i, child)
        free_nodes(arrays, t, child)
        child = after
    node.feature = node.left = node.right = NONE
    node.threshold = node.last_attempt = node.majority_hits = node.bayes_hits = 0.0
    o = node.observers
    while o != NONE:
        normalise(arrays, o)
        o = arrays.observers[o].next


@njit(**PART)
def _open(arrays: TreeArrays, t: int, i: int, verdict: Verdict) -> None:
    """Turn a leaf into a branch that keeps its observers, and counts rows up to its revision from now on."""
    split(arrays, t, i, verdict.feature, verdict.threshold)
    arrays.nodes[i].last_attempt = arrays.nodes[i].weight


@njit(**HOT)
def _try_to_split(arrays: TreeArrays, t: int, i: int, params: RevisionParams, kept: bool) -> None:
    """Try to split an active leaf once in a grace period."""
    node = arrays.nodes[i]
    if not node.active:
        return
    if node.depth >= params.max_depth:
        deactivate(arrays, t, i)
    elif node.weight - node.last_attempt >= params.grace_period:
        node.last_attempt = node.weight
        _attempt_split(arrays, t, i, params, kept)


@njit(**BUILD)
def _attempt_split(arrays: TreeArrays, t: int, i: int, params: RevisionParams, kept: bool) -> None:
    """Split a leaf if the best split gains more than Hoeffding's bound, or if the bound is under `tau`.

    As in River, a leaf without any split, or nearly of one class, stops observing until the tree splits elsewhere.
    """
    node = arrays.nodes[i]
    n_classes, n_present, most = describe_classes(arrays, i)
    if n_present < 2:
        return
    feature, threshold, best = NONE, 0.0, 0.0
    if not most / node.weight > params.max_share_to_split:
        feature, threshold, best, _ = best_split(arrays, i, NONE)
    bound = hoeffding_bound(n_classes, node.weight, params.delta)
    if feature == NONE:
        deactivate(arrays, t, i)
    elif best > bound or bound < params.tau:
        if kept:
            _open(arrays, t, i, Verdict(REPLACE, feature, threshold))
        keep_promising(arrays, t, params.max_bytes, params.max_depth)


@njit(**BUILD)
def best_split(arrays: TreeArrays, i: int, current: int) -> tuple[int, float, float, float]:
    """Find the best feature and threshold of a node, its merit, and the merit of the current feature.

    Ties go to the last feature and to the first threshold. Without any split, the merit is minus infinity.
    """
    before, first = entropy_of(arrays, i), arrays.nodes[i].observers
    sides = new_sides(arrays, first)
    excess = before - entropy(sides, 0)
    feature, threshold, best = NONE, 0.0, -np.inf
    if current != NONE:
        best, threshold = best_test(arrays, i, first, current, before, sides, -np.inf)
        feature = current if best > -np.inf else NONE
    own = best
    for f in range(arrays.moments.shape[2]):
        if f != current:
            merit, value = best_test(arrays, i, first, f, before, sides, best - excess)
            if merit > best or (merit == best and f > feature and merit > -np.inf):
                feature, threshold, best = f, value, merit
    return feature, threshold, best, own


@njit(**BUILD)
def is_settled(arrays: TreeArrays, i: int, bound: float) -> bool:
    """Return whether rough gains prove that the split of a branch has gain, and none beats it by more than a bound.

    False means only that there is no proof.
    """
    first = arrays.nodes[i].observers
    if has_categories(arrays):
        return False
    if first == NONE or arrays.observers[first].next == NONE:
        return first != NONE and _can_be_split(arrays, i)
    second = arrays.observers[first].next
    if arrays.observers[second].next != NONE:
        return False
    left = rough_entropy_left(arrays, first, second, arrays.nodes[i].feature)
    if not -np.inf < left < np.inf or not entropy_of(arrays, i) - left - 2.0 * ROUGHNESS_OF_GAIN > -bound:
        return False
    return _none_beats(arrays, first, second, left, bound)


@njit(**PART)
def _none_beats(arrays: TreeArrays, a: int, b: int, left: float, bound: float) -> bool:
    """Return whether no feature leaves an entropy that is lower than `left` by more than a bound."""
    before = rough_entropy(arrays.observers[a].weight / (arrays.observers[a].weight + arrays.observers[b].weight))
    enough = bound + before - left - 2.0 * ROUGHNESS_OF_GAIN
    for f in range(arrays.moments.shape[2]):
        if gain_of_gaussians_at_most(arrays, a, b, f) < enough:
            continue
        if not left - rough_entropy_left(arrays, a, b, f) + 2.0 * ROUGHNESS_OF_GAIN < bound:
            return False
    return True


@njit(**BUILD)
def _can_be_split(arrays: TreeArrays, i: int) -> bool:
    """Return whether the feature of a branch that has observed one class can be split: all such gain the same."""
    first = arrays.nodes[i].observers
    before, sides = entropy_of(arrays, i), new_sides(arrays, first)
    merit, _ = best_threshold(arrays, first, arrays.nodes[i].feature, before, sides, -np.inf)
    return merit > -np.inf
