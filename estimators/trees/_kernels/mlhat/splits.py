"""Splits of leaves, by the sum over labels of the entropies of present and absent."""

import math

import numpy as np

from estimators._kernels.adwin import reset
from estimators._kernels.compile import HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import (
    MULTIWAY,
    add_child,
    clear_counts,
    count_values,
    has_categories,
    is_nominal,
    next_child,
)
from estimators.trees._kernels.mlhat.arrays import (
    ABSENT,
    HIGHEST,
    LOWEST,
    MEAN,
    NONE,
    SQUARES,
    AdaptiveTree,
    drop_slot,
    new_leaf,
    restart_error,
)
from estimators.trees._kernels.mlhat.scratch import AdaptiveParams, Scratch

N_THRESHOLDS = 10
MIN_BRANCH_SHARE = 0.01
MAX_SHARE_TO_SPLIT = 0.99
SQRT_2 = math.sqrt(2.0)


@njit(**HOT)
def observe(tree: AdaptiveTree, s: int, o: int, x: Array, weight: float) -> None:
    """Add a weighted row to an observer of a slot."""
    moments, started = tree.moments, tree.observed[s, o] > 0.0
    tree.observed[s, o] += weight
    share = weight / tree.observed[s, o]
    if not started:
        for f in range(len(x)):
            moments[s, o, MEAN, f] = moments[s, o, SQUARES, f] = 0.0
            moments[s, o, LOWEST, f] = np.inf
            moments[s, o, HIGHEST, f] = -np.inf
        if has_categories(tree):
            clear_counts(tree, observer_of(tree, s, o))
    if has_categories(tree):
        count_values(tree, observer_of(tree, s, o), tree.categories.places[:0], x, weight)
    for f in range(len(x)):
        distance = x[f] - moments[s, o, MEAN, f]
        centre = moments[s, o, MEAN, f] + share * distance
        moments[s, o, SQUARES, f] += weight * distance * (x[f] - centre)
        moments[s, o, MEAN, f] = centre
        moments[s, o, LOWEST, f] = min(moments[s, o, LOWEST, f], x[f])
        moments[s, o, HIGHEST, f] = max(moments[s, o, HIGHEST, f], x[f])


@njit(**HOT)
def observer_of(tree: AdaptiveTree, s: int, o: int) -> int:
    """Return the place of an observer of a slot among those that count values."""
    return s * tree.observed.shape[1] + o


@njit(**PART)
def entropy(weights: Array) -> float:
    """Sum the entropies of the labels, in bits, from weights of labels, of rows without one, and of all rows (last).

    Labels that were never counted are negative. With one label only the entropy is 0 by definition.
    """
    total, n_counted, result = 0.0, 0, 0.0
    for o in range(len(weights)):
        total = max(total, weights[o])
    for o in range(len(weights) - 1):
        n_counted += weights[o] >= 0.0
    if n_counted == 1:
        return 0.0
    for o in range(len(weights) - 1):
        if weights[o] > 0.0 and weights[o] != total:
            p = weights[o] / total
            q = 1.0 - p
            if q > 0.0:
                result -= p * math.log2(p) + q * math.log2(q)
    return result


@njit(**PART)
def attempt_split(tree: AdaptiveTree, i: int, params: AdaptiveParams, scratch: Scratch) -> bool:
    """Turn a leaf into a branch if a feature is good enough; where none can split it, its observers start again."""
    node, last = tree.nodes[i], tree.counts.shape[1] - 1
    most = 0.0
    for o in range(last):
        most = max(most, tree.counts[i, o])
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    if not most / tree.counts[i, last] > MAX_SHARE_TO_SPLIT:
        feature, threshold, best, second = best_split(tree, i, scratch.sides)
        merit_range = max(math.log2(tree.slots[node.slot].n_sets), 1.0)
        bound = math.sqrt(merit_range * merit_range * math.log(1.0 / params.delta) / (2.0 * node.weight))
        if not (best - second > bound or bound < params.tau):
            return False
    if feature == NONE:
        for o in range(last + 1):
            tree.observed[node.slot, o] = 0.0
        node.active = 0
        tree.state[0].n_inactive += 1
    elif tree.state[0].n_free_slots >= _slots_needed(tree, i, feature, threshold):
        _split(tree, i, feature, threshold, scratch)
    else:
        return False
    _activate(tree)
    return feature != NONE


@njit(**PART)
def _slots_needed(tree: AdaptiveTree, i: int, feature: int, threshold: float) -> int:
    """Return how many free slots a split needs: children for all values are made before the slot of the leaf goes."""
    if not is_nominal(tree, feature) or threshold != MULTIWAY:
        return 1
    n_children = 0
    for value in range(tree.categories.counts.shape[2]):
        n_children += _weight_of(tree, i, tree.counts.shape[1] - 1, feature, value) > 0.0
    return n_children


@njit(**PART)
def _split(tree: AdaptiveTree, i: int, feature: int, threshold: float, scratch: Scratch) -> None:
    node = tree.nodes[i]
    if is_nominal(tree, feature) and threshold == MULTIWAY:
        for k in range(tree.categories.values.shape[1]):
            value = tree.categories.values[tree.categories.places[feature], k].bin
            if value != NONE and _weight_of(tree, i, tree.counts.shape[1] - 1, feature, value) > 0.0:
                write_values(tree, i, feature, value, scratch.sides)
                child = new_leaf(tree, node.background)
                add_child(tree, i, child, value)
                _inherit(tree, child, scratch.sides, 0)
        drop_slot(tree, i)
    else:
        if is_nominal(tree, feature):
            write_values(tree, i, feature, int(threshold), scratch.sides)
        else:
            write_sides(tree, i, feature, threshold, scratch.sides)
        drop_slot(tree, i)
        node.left, node.right = new_leaf(tree, node.background), new_leaf(tree, node.background)
        _inherit(tree, node.left, scratch.sides, 0)
        _inherit(tree, node.right, scratch.sides, 1)
    node.feature, node.threshold, node.shares = feature, threshold, NONE
    restart_error(tree, i)
    reset(tree.windows, i)
    tree.state[0].n_splits += 1


@njit(**HOT)
def _inherit(tree: AdaptiveTree, child: int, sides: Array, side: int) -> None:
    """Let a child count the weights of its side."""
    last = tree.counts.shape[1] - 1
    for o in range(last + 1):
        tree.counts[child, o] = sides[side, o]
    tree.nodes[child].last_attempt = sides[side, last]


@njit(**PART)
def _activate(tree: AdaptiveTree) -> None:
    """Let leaves observe again, except below the alternate of the root."""
    state = tree.state[0]
    if state.n_inactive == 0:
        return
    _mark(tree, tree.nodes[state.root].alternate, 2)
    for i in range(len(tree.nodes)):
        node = tree.nodes[i]
        if node.used == 1 and node.feature == NONE and not node.active:
            node.active = 1
            state.n_inactive -= 1
    _mark(tree, tree.nodes[state.root].alternate, 1)


@njit(**PART)
def _mark(tree: AdaptiveTree, i: int, mark: int) -> None:
    """Mark the nodes of the alternate of the root; nodes that wait are chained by `alternate`, unused in it."""
    waiting = i
    while waiting != NONE:
        node, place = tree.nodes[waiting], waiting
        waiting = node.alternate
        node.alternate = NONE
        node.used = mark
        child = node.left if node.feature != NONE else NONE
        while child != NONE:
            tree.nodes[child].alternate, waiting = waiting, child
            child = next_child(tree, place, child)


@njit(**PART)
def best_split(tree: AdaptiveTree, i: int, sides: Array) -> tuple[int, float, float, float]:
    """Find the best feature and threshold of a leaf, its merit, and the merit of the next best feature.

    Of a nominal feature the threshold is `MULTIWAY`, or a bin. Ties go to the last feature and to the first threshold.
    Without any split, the merit is minus infinity. `sides` (2, n_labels + 2) is room for the weights on both sides.
    """
    before = entropy(tree.counts[i])
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    for f in range(tree.rows.shape[2]):
        if is_nominal(tree, f):
            merit, at = _best_of_values(tree, i, f, before, sides)
        else:
            merit, at = _best_threshold(tree, i, f, before, sides)
        if merit >= best and merit > -np.inf:
            feature, threshold, best, second = f, at, merit, best
        elif merit > second:
            second = merit
    return feature, threshold, best, second


@njit(**PART)
def _best_threshold(tree: AdaptiveTree, i: int, f: int, before: float, sides: Array) -> tuple[float, float]:
    s, last = tree.nodes[i].slot, tree.observed.shape[1] - 1
    best, threshold = -np.inf, 0.0
    if not tree.observed[s, last] > 0.0:
        return best, threshold
    # every row is a row of the last observer, which therefore has the lowest and the highest value of all
    lowest, highest = tree.moments[s, last, LOWEST, f], tree.moments[s, last, HIGHEST, f]
    step = (highest - lowest) / (N_THRESHOLDS + 1.0)
    for k in range(N_THRESHOLDS):
        at = lowest + step * (k + 1)
        if lowest < at < highest:
            write_sides(tree, i, f, at, sides)
            merit = _merit(before, sides)
            if merit > best:
                best, threshold = merit, at
    return best, threshold


@njit(**PART)
def _best_of_values(tree: AdaptiveTree, i: int, f: int, before: float, sides: Array) -> tuple[float, float]:
    """Compare a child for each value with one value against the rest."""
    best, test = _merit_of_all_values(tree, i, f, before, sides), MULTIWAY
    for k in range(tree.categories.values.shape[1]):
        value = tree.categories.values[tree.categories.places[f], k].bin
        if value != NONE and _weight_of(tree, i, sides.shape[1] - 1, f, value) > 0.0:
            write_values(tree, i, f, value, sides)
            merit = _merit(before, sides)
            if merit > best:
                best, test = merit, 1.0 * value
    return best, test


@njit(**PART)
def _merit_of_all_values(tree: AdaptiveTree, i: int, f: int, before: float, sides: Array) -> float:
    last, of_labels, total, after, n_large = sides.shape[1] - 1, 0.0, 0.0, 0.0, 0
    for o in range(last):
        of_labels += tree.observed[tree.nodes[i].slot, o]
    for k in range(tree.categories.values.shape[1]):
        value = tree.categories.values[tree.categories.places[f], k].bin
        if value == NONE or not _weight_of(tree, i, last, f, value) > 0.0:
            continue
        write_values(tree, i, f, value, sides)
        weight = 0.0
        for o in range(last):
            weight += max(sides[0, o], 0.0)
        n_large += weight / of_labels > MIN_BRANCH_SHARE
        after += sides[0, last] * entropy(sides[0])
        total += sides[0, last]
    return before - after / total if n_large > 1 else -np.inf


@njit(**PART)
def write_values(tree: AdaptiveTree, i: int, f: int, value: int, sides: Array) -> None:
    """Write the weights of labels with a value, and with any other, `ABSENT` where a label was not observed."""
    for o in range(sides.shape[1]):
        own = _weight_of(tree, i, o, f, value)
        rest = tree.observed[tree.nodes[i].slot, o] - own
        sides[0, o], sides[1, o] = own if own > 0.0 else ABSENT, rest if rest > 0.0 else ABSENT


@njit(**HOT)
def _weight_of(tree: AdaptiveTree, i: int, o: int, f: int, value: int) -> float:
    """Return the weight that an observer of a leaf has observed with a value."""
    s = tree.nodes[i].slot
    if not tree.observed[s, o] > 0.0:
        return 0.0
    return tree.categories.counts[observer_of(tree, s, o), tree.categories.places[f], value]


@njit(**PART)
def write_sides(tree: AdaptiveTree, i: int, f: int, threshold: float, sides: Array) -> None:
    """Write the weights of labels to expect left and right of a threshold, `ABSENT` where a label cannot occur."""
    s = tree.nodes[i].slot
    for o in range(tree.observed.shape[1]):
        weight = tree.observed[s, o]
        sides[0, o] = sides[1, o] = ABSENT
        if not weight > 0.0:
            continue
        if threshold < tree.moments[s, o, LOWEST, f]:
            sides[1, o] = weight
        elif threshold >= tree.moments[s, o, HIGHEST, f]:
            sides[0, o] = weight
        else:
            sides[0, o] = _weight_below(tree, s, o, f, threshold)
            sides[1, o] = weight - sides[0, o]


@njit(**HOT)
def _weight_below(tree: AdaptiveTree, s: int, o: int, f: int, threshold: float) -> float:
    weight = tree.observed[s, o]
    variance = tree.moments[s, o, SQUARES, f] / (weight - 1.0) if weight > 1.0 else 0.0
    if not variance > 0.0:
        return 0.0
    distance = (threshold - tree.moments[s, o, MEAN, f]) / math.sqrt(variance)
    return 0.5 * (1.0 + math.erf(distance / SQRT_2)) * weight


@njit(**HOT)
def _merit(before: float, sides: Array) -> float:
    last = sides.shape[1] - 1
    left, right = 0.0, 0.0
    for o in range(last):
        left += max(sides[0, o], 0.0)
        right += max(sides[1, o], 0.0)
    total = left + right
    if not (left / total > MIN_BRANCH_SHARE and right / total > MIN_BRANCH_SHARE):
        return -np.inf
    n_left, n_right = max(sides[0, last], 0.0), max(sides[1, last], 0.0)
    after = n_left * entropy(sides[0]) + n_right * entropy(sides[1])
    return before - after / (n_left + n_right)
