"""Best split of a leaf by the information gain averaged over the labels."""

import math

import numpy as np

from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import MULTIWAY, is_nominal
from estimators.trees._kernels.gaussian import weight_below
from estimators.trees._kernels.multilabel_arrays import MultilabelTree, observer_of
from estimators.trees._kernels.splitting import LOG_2, MIN_BRANCH_SHARE, N_THRESHOLDS, ROUNDING
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, NONE


@njit(**BUILD)
def best_two_splits(tree: MultilabelTree, i: int) -> tuple[int, float, float, float]:
    """Find the best feature and threshold of a leaf, its merit, and the merit of the next best feature.

    Of a nominal feature the threshold is `MULTIWAY`, or a bin. Ties go to the last feature and to the first threshold.
    Without any split, the merit is minus infinity.
    """
    n_labels, slot = tree.weights.shape[1], tree.nodes[i].slot
    below, observed = np.empty((n_labels, 2)), np.empty((n_labels, 2))
    before = excess = 0.0
    for j in range(n_labels):
        for value in range(2):
            is_observed = tree.observed_rank[slot, j, value] != 0
            observed[j, value] = tree.observers[observer_of(tree, slot, j, value)].weight if is_observed else 0.0
        if observed[j, 0] + observed[j, 1] > 0.0:
            entropy = _entropy(tree.weights[i, j, 0], tree.weights[i, j, 1])
            before += entropy
            # a leaf may have counted rows that it did not observe: those of the weights that it started with
            excess += entropy - _entropy(observed[j, 0], observed[j, 1])
    before, excess = before / n_labels, excess / n_labels
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    for f in range(tree.moments.shape[2]):
        if is_nominal(tree, f):
            merit, value_of_best = _best_of_values(tree, slot, tree.categories.places[f], before, below, observed)
        else:
            merit, value_of_best = _best_threshold(tree, slot, f, before, below, observed, second - excess)
        if merit >= best and merit > -np.inf:
            feature, threshold, best, second = f, value_of_best, merit, best
        elif merit > second:
            second = merit
    return feature, threshold, best, second


@njit(**HOT)
def _best_threshold(
    tree: MultilabelTree, slot: int, f: int, before: float, below: Array, observed: Array, minimum: float
) -> tuple[float, float]:
    """Find the best threshold of a feature; thresholds whose gain is under `minimum` may be left out."""
    lowest, highest = np.inf, -np.inf
    for j in range(len(below)):
        for value in range(2):
            if tree.observed_rank[slot, j, value]:
                o = observer_of(tree, slot, j, value)
                lowest = min(lowest, tree.moments[o, LOWEST, f])
                highest = max(highest, tree.moments[o, HIGHEST, f])
    step = (highest - lowest) / (N_THRESHOLDS + 1.0)
    best, threshold = -np.inf, 0.0
    for k in range(N_THRESHOLDS):
        at = lowest + step * (k + 1)
        if lowest < at < highest:
            write_weights_below(tree, slot, f, at, below)
            merit = _gain(before, below, observed, minimum)
            if merit > best:
                best, threshold = merit, at
    return best, threshold


@njit(**BUILD)
def _best_of_values(
    tree: MultilabelTree, slot: int, place: int, before: float, own: Array, observed: Array
) -> tuple[float, float]:
    """Compare a child for each value with one value against the rest."""
    best, test = _merit_of_all_values(tree, slot, place, before, observed), MULTIWAY
    for k in range(tree.categories.values.shape[1]):
        value = tree.categories.values[place, k].bin
        if value != NONE:
            for j in range(len(own)):
                for label in range(2):
                    own[j, label] = count_of(tree, slot, j, label, place, value)
            merit = _gain(before, own, observed, best)
            if merit > best:
                best, test = merit, 1.0 * value
    return best, test


@njit(**BUILD)
def _merit_of_all_values(tree: MultilabelTree, slot: int, place: int, before: float, observed: Array) -> float:
    after, n_large = np.zeros(len(observed)), 0
    for k in range(tree.categories.values.shape[1]):
        value = tree.categories.values[place, k].bin
        if value != NONE:
            weight, total = weights_of_value(tree, slot, place, value)
            n_large += weight / total > MIN_BRANCH_SHARE
            for j in range(len(observed)):
                zeros, ones = count_of(tree, slot, j, 0, place, value), count_of(tree, slot, j, 1, place, value)
                after[j] += (zeros + ones) * _entropy(zeros, ones)
    mean = 0.0
    for j in range(len(observed)):
        total = observed[j, 0] + observed[j, 1]
        mean += after[j] / total if total > 0.0 else 0.0
    return before - mean / len(observed) if n_large > 1 else -np.inf


@njit(**HOT)
def count_of(tree: MultilabelTree, slot: int, j: int, label: int, place: int, value: int) -> float:
    """Return the weight of the observed rows with a value of a nominal feature and a value of a label."""
    if tree.observed_rank[slot, j, label] == 0:
        return 0.0
    return tree.categories.counts[observer_of(tree, slot, j, label), place, value]


@njit(**PART)
def weights_of_value(tree: MultilabelTree, slot: int, place: int, value: int) -> tuple[float, float]:
    """Return the weight of the observed rows with a value, and of all, summed over the labels."""
    weight, total = 0.0, 0.0
    for j in range(tree.weights.shape[1]):
        for label in range(2):
            if tree.observed_rank[slot, j, label]:
                weight += count_of(tree, slot, j, label, place, value)
                total += tree.observers[observer_of(tree, slot, j, label)].weight
    return weight, total


@njit(**HOT)
def write_weights_below(tree: MultilabelTree, slot: int, f: int, threshold: float, below: Array) -> None:
    """Write the weights (n_labels, 2) of both values of every label on the left of a threshold."""
    for j in range(len(below)):
        for value in range(2):
            is_observed = tree.observed_rank[slot, j, value] != 0
            o = observer_of(tree, slot, j, value)
            below[j, value] = weight_below(tree, o, f, threshold) if is_observed else 0.0


@njit(**HOT)
def _gain(before: float, below: Array, observed: Array, minimum: float) -> float:
    left, right, at_most = 0.0, 0.0, 0.0
    for j in range(len(below)):
        l0, l1 = below[j, 0], below[j, 1]
        r0, r1 = observed[j, 0] - l0, observed[j, 1] - l1
        left += l0 + l1
        right += r0 + r1
        at_most += _gain_at_most(l0, l1, r0, r1)
    total = left + right
    if not (left / total > MIN_BRANCH_SHARE and right / total > MIN_BRANCH_SHARE):
        return -np.inf
    if at_most / len(below) + ROUNDING < minimum:
        return -np.inf
    after = 0.0
    for j in range(len(below)):
        l0, l1 = below[j, 0], below[j, 1]
        r0, r1 = observed[j, 0] - l0, observed[j, 1] - l1
        left, right = l0 + l1, r0 + r1
        if left + right > 0.0:
            after += (left * _entropy(l0, l1) + right * _entropy(r0, r1)) / (left + right)
    return before - after / len(below)


@njit(**HOT)
def _gain_at_most(l0: float, l1: float, r0: float, r1: float) -> float:
    """Bound the gain of one label without a logarithm, as `splitting._gain_at_most` does."""
    left, right = l0 + l1, r0 + r1
    if not (left > 0.0 and right > 0.0):
        return 0.0
    p, q = l1 / left, r1 / right
    flattest = min(p * (1.0 - p), q * (1.0 - q))
    share = left / (left + right)
    # where a value is missing on a side that bound fails; the entropy of a label is at most 1
    return share * (1.0 - share) * (p - q) ** 2 / (2.0 * LOG_2 * flattest) if flattest > 0.0 else 1.0


@njit(**HOT)
def _entropy(zeros: float, ones: float) -> float:
    """Compute the entropy of one label, in bits."""
    negative, total = 0.0, 0.0
    if zeros > 0.0:
        negative -= zeros * math.log2(zeros)
        total += zeros
    if ones > 0.0:
        negative -= ones * math.log2(ones)
        total += ones
    return (negative + total * math.log2(total)) / total if total > 0.0 else 0.0
