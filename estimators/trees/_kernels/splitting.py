"""Best split of a leaf by information gain, over ten thresholds for each feature, as in River."""

import math

import numpy as np

from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import MULTIWAY, has_categories, is_nominal
from estimators.trees._kernels.gaussian import rough_weight_below, scale_of, weight_below
from estimators.trees._kernels.tree_arrays import (
    HIGHEST,
    LOWEST,
    MEAN,
    NONE,
    PRECISION,
    TreeArrays,
    feature_of,
)

N_THRESHOLDS = 10
MIN_BRANCH_SHARE = 0.01
LOG_2 = math.log(2.0)
ROUNDING = 1e-12
# bound of the error of a rough weight, as a share of the whole weight: see `rough_weight_below`
ROUGHNESS = 1e-6
# the entropy of two classes, in bits, at shares in equal steps
ENTROPY_STEPS = 4096
SHARES = np.arange(1, ENTROPY_STEPS) / ENTROPY_STEPS
ENTROPY = np.concatenate([[0.0], -SHARES * np.log2(SHARES) - (1 - SHARES) * np.log2(1 - SHARES), [0.0, 0.0]])
# bound of the error of a gain that is looked up from rough weights: linear interpolation is off by at most 1.3e-4, in
# the first step; an error of 2e-6 / s in the share of a class on a side of share s changes the entropy of that side by
# no more than the entropy of so small a share, and s times this is at most 4.2e-5
ROUGHNESS_OF_GAIN = 1e-3


@njit(**BUILD)
def best_two_splits(arrays: TreeArrays, i: int) -> tuple[int, float, float, float]:
    """Find the best feature and threshold of a leaf, its merit, and the merit of the next best feature.

    Of a nominal feature the threshold is `MULTIWAY`, or a bin. Ties go to the last feature and to the first threshold.
    Without any split, the merit is minus infinity.
    """
    before = entropy_of(arrays, i)
    first = arrays.nodes[i].observers
    sides = new_sides(arrays, first)
    # a leaf may have counted rows that it did not observe: those of the weights that it started with
    excess = before - entropy(sides, 0)
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    for f in range(arrays.moments.shape[2]):
        merit, value = best_test(arrays, i, first, f, before, sides, second - excess)
        if merit >= best and merit > -np.inf:
            feature, threshold, best, second = f, value, merit, best
        elif merit > second:
            second = merit
    return feature, threshold, best, second


@njit(**PART)
def is_futile(arrays: TreeArrays, i: int, bound: float) -> bool:
    """Return whether rough gains of two classes prove that the best feature does not beat the next by a bound.

    False means only that there is no proof.
    """
    first = arrays.nodes[i].observers
    other = NONE if first == NONE else arrays.observers[first].next
    if has_categories(arrays) or other == NONE or arrays.observers[other].next != NONE:
        return False
    if _all_gain_less(arrays, first, other, bound):
        return True
    best, second = np.inf, np.inf
    for f in range(arrays.moments.shape[2]):
        left = rough_entropy_left(arrays, first, other, f)
        if left < best:
            best, second = left, best
        elif left < second:
            second = left
    return second - best + 2.0 * ROUGHNESS_OF_GAIN < bound


@njit(**PART)
def _all_gain_less(arrays: TreeArrays, a: int, b: int, bound: float) -> bool:
    """Return whether all features gain less than a bound and two can be split: then none beats the next by more."""
    before = rough_entropy(arrays.observers[a].weight / (arrays.observers[a].weight + arrays.observers[b].weight))
    n_split = 0
    for f in range(arrays.moments.shape[2]):
        # the first two that can be split are counted, whatever they gain
        if n_split < 2 or not gain_of_gaussians_at_most(arrays, a, b, f) < bound:
            left = rough_entropy_left(arrays, a, b, f)
            if not before - left + 2.0 * ROUGHNESS_OF_GAIN < bound:
                return False
            n_split += left < np.inf
    return n_split >= 2


@njit(**PART)
def gain_of_gaussians_at_most(arrays: TreeArrays, a: int, b: int, f: int) -> float:
    """Bound the gain of a feature at every threshold for two classes, without a logarithm.

    Where the ranges overlap, both classes are Gaussian, and a split is at most as informative as the value itself: at
    most the product of the class shares times the sum of both relative entropies. Outside, one side has one class only,
    and the more of it the nearer the threshold is to the overlap; the gain there is at most the mean square
    contingency.
    """
    moments = arrays.moments
    start, stop = max(moments[a, LOWEST, f], moments[b, LOWEST, f]), min(moments[a, HIGHEST, f], moments[b, HIGHEST, f])
    if start > stop:
        return np.inf
    nats = 0.0
    share = arrays.observers[a].weight / (arrays.observers[a].weight + arrays.observers[b].weight)
    if start < stop:
        p, q, gap = moments[a, PRECISION, f], moments[b, PRECISION, f], moments[a, MEAN, f] - moments[b, MEAN, f]
        nats = share * (1.0 - share) * ((p - q) * (p - q) / (2.0 * p * q) + gap * gap * (p + q))
        if not nats < np.inf:
            return np.inf
    if moments[a, LOWEST, f] != moments[b, LOWEST, f]:
        first = moments[a, LOWEST, f] < start
        alone = _rough_share_below(arrays, a if first else b, f, start)
        nats = max(nats, _contingency(share if first else 1.0 - share, alone))
    if moments[a, HIGHEST, f] != moments[b, HIGHEST, f]:
        first = moments[a, HIGHEST, f] > stop
        alone = 1.0 - _rough_share_below(arrays, a if first else b, f, stop)
        nats = max(nats, _contingency(share if first else 1.0 - share, alone))
    return nats / LOG_2 + ROUNDING


@njit(**HOT)
def _rough_share_below(arrays: TreeArrays, o: int, f: int, value: float) -> float:
    return rough_weight_below(arrays, o, f, value, scale_of(arrays, o, f)) / arrays.observers[o].weight


@njit(**HOT)
def _contingency(share: float, alone: float) -> float:
    """Return the mean square contingency if the part `alone` of a class of some share is alone on one side."""
    alone = alone + ROUGHNESS
    return (1.0 - share) * alone / (1.0 - share * alone)


@njit(**PART)
def rough_entropy_left(arrays: TreeArrays, a: int, b: int, f: int) -> float:
    """Estimate the lowest entropy after a split of a feature: infinity without a split, -infinity if that is unsure."""
    zeros, ones = arrays.observers[a].weight, arrays.observers[b].weight
    lowest = min(arrays.moments[a, LOWEST, f], arrays.moments[b, LOWEST, f])
    step = (max(arrays.moments[a, HIGHEST, f], arrays.moments[b, HIGHEST, f]) - lowest) / (N_THRESHOLDS + 1.0)
    scale_a, scale_b = scale_of(arrays, a, f), scale_of(arrays, b, f)
    total, minimum = zeros + ones, np.inf
    for k in range(N_THRESHOLDS):
        value = lowest + step * (k + 1)
        below_a = rough_weight_below(arrays, a, f, value, scale_a)
        below_b = rough_weight_below(arrays, b, f, value, scale_b)
        left = below_a + below_b
        share, right = left / total, total - left
        smaller = min(share, 1.0 - share)
        if smaller > MIN_BRANCH_SHARE + ROUGHNESS:
            after = share * rough_entropy(below_a / left) + (1.0 - share) * rough_entropy((zeros - below_a) / right)
            minimum = min(minimum, after)
        elif smaller > MIN_BRANCH_SHARE - ROUGHNESS:
            return -np.inf
    return minimum


@njit(**HOT)
def rough_entropy(p: float) -> float:
    """Look up the entropy of two classes, in bits."""
    place = min(max(p, 0.0), 1.0) * ENTROPY_STEPS
    k = np.int64(place)
    return ENTROPY[k] + (place - k) * (ENTROPY[k + 1] - ENTROPY[k])


@njit(**HOT)
def best_threshold(
    arrays: TreeArrays, first: int, f: int, before: float, sides: Array, minimum: float
) -> tuple[float, float]:
    """Find the best threshold of a feature; thresholds whose gain is under `minimum` may be left out."""
    lowest, highest, o = np.inf, -np.inf, first
    while o != NONE:
        lowest = min(lowest, arrays.moments[o, LOWEST, f])
        highest = max(highest, arrays.moments[o, HIGHEST, f])
        o = arrays.observers[o].next
    step = (highest - lowest) / (N_THRESHOLDS + 1.0)
    best, threshold = -np.inf, 0.0
    two = sides.shape[1] == 2
    other = arrays.observers[first].next if two else NONE
    scales = (scale_of(arrays, first, f), scale_of(arrays, other, f)) if two else (0.0, 0.0)
    for k in range(N_THRESHOLDS):
        value = lowest + step * (k + 1)
        if lowest < value < highest and not (two and _is_hopeless(arrays, first, f, value, scales, minimum)):
            o = first
            for j in range(sides.shape[1]):
                sides[0, j] = weight_below(arrays, o, f, value)
                sides[1, j] = arrays.observers[o].weight - sides[0, j]
                o = arrays.observers[o].next
            merit = _gain(before, sides, minimum)
            if merit > best:
                best, threshold = merit, value
    return best, threshold


# ------------------------------------------------------------ nominal features
@njit(**HOT)
def best_test(
    arrays: TreeArrays, i: int, first: int, f: int, before: float, sides: Array, minimum: float
) -> tuple[float, float]:
    """Return the merit and the threshold of the best split of a feature that a node observes at a place."""
    feature = feature_of(arrays, i, f)
    if is_nominal(arrays, feature):
        return _best_of_values(arrays, first, arrays.categories.places[feature], before)
    return best_threshold(arrays, first, f, before, sides, minimum)


@njit(**BUILD)
def _best_of_values(arrays: TreeArrays, first: int, place: int, before: float) -> tuple[float, float]:
    """Compare a child for each value with one value against the rest; the order of sums is River's."""
    observers = observers_by_class(arrays, first)
    best, test = _merit_of_all_values(arrays, observers, place, before), MULTIWAY
    sides = new_sides(arrays, first)
    for k in range(arrays.categories.values.shape[1]):
        value = arrays.categories.values[place, k].bin
        if value == NONE:
            break
        o = first
        for j in range(sides.shape[1]):
            sides[0, j] = arrays.categories.counts[o, place, value]
            sides[1, j] = arrays.observers[o].weight - sides[0, j]
            o = arrays.observers[o].next
        merit = _gain(before, sides, best)
        if merit > best:
            best, test = merit, 1.0 * value
    return best, test


@njit(**BUILD)
def _merit_of_all_values(arrays: TreeArrays, observers: Array, place: int, before: float) -> float:
    values, counts = arrays.categories.values, arrays.categories.counts
    total = 0.0
    for o in observers:
        total += arrays.observers[o].weight
    after, n_large = 0.0, 0
    for k in range(values.shape[1]):
        value = values[place, k].bin
        if value == NONE:
            break
        negative, weight = 0.0, 0.0
        for o in observers:
            count = counts[o, place, value]
            if count > 0.0:
                negative -= count * math.log2(count)
                weight += count
        n_large += weight / total > MIN_BRANCH_SHARE
        after += weight * ((negative + weight * math.log2(weight)) / weight) if weight > 0.0 else 0.0
    return before - after / total if n_large > 1 else -np.inf


@njit(**BUILD)
def observers_by_class(arrays: TreeArrays, first: int) -> Array:
    """List observers in the order of their classes."""
    n, o = 0, first
    while o != NONE:
        n, o = n + 1, arrays.observers[o].next
    ordered, o = np.empty(n, np.int64), first
    for j in range(n):
        k = j
        while k > 0 and arrays.observers[ordered[k - 1]].code > arrays.observers[o].code:
            ordered[k] = ordered[k - 1]
            k -= 1
        ordered[k], o = o, arrays.observers[o].next
    return ordered


# ---------------------------------------------------------------------- gains
@njit(**HOT)
def _is_hopeless(
    arrays: TreeArrays, first: int, f: int, value: float, scales: tuple[float, float], minimum: float
) -> bool:
    """Return whether rough weights of two classes prove that a threshold gains less than `minimum`."""
    other = arrays.observers[first].next
    zeros, ones = arrays.observers[first].weight, arrays.observers[other].weight
    below_0 = rough_weight_below(arrays, first, f, value, scales[0])
    below_1 = rough_weight_below(arrays, other, f, value, scales[1])
    total, left = zeros + ones, below_0 + below_1
    right, slack = total - left, ROUGHNESS * total
    if min(left, right) + slack < MIN_BRANCH_SHARE * total:
        return True
    return _rough_gain_at_most(below_0, below_1, zeros - below_0, ones - below_1, slack) + ROUNDING < minimum


@njit(**HOT)
def _rough_gain_at_most(l0: float, l1: float, r0: float, r1: float, slack: float) -> float:
    """Bound the gain for two classes as `_gain_at_most` does, if each weight may be wrong by the slack."""
    left, right = l0 + l1, r0 + r1
    minimum = min(left, right) - slack
    if minimum <= 0.0:
        return np.inf
    p, q = l0 / left, r0 / right
    wrong = 2.0 * slack / minimum
    flattest = min(p * (1.0 - p), q * (1.0 - q)) - wrong
    share = left / (left + right)
    gap = abs(p - q) + 2.0 * wrong
    spread = share * (1.0 - share) + 2.0 * slack / (left + right)
    return spread * gap * gap / (2.0 * LOG_2 * flattest) if flattest > 0.0 else np.inf


@njit(**HOT)
def _gain(before: float, sides: Array, minimum: float) -> float:
    left, right = 0.0, 0.0
    for j in range(sides.shape[1]):
        left += sides[0, j]
        right += sides[1, j]
    total = left + right
    if not (left / total > MIN_BRANCH_SHARE and right / total > MIN_BRANCH_SHARE):
        return -np.inf
    if sides.shape[1] == 2 and _gain_at_most(sides, left, right) + ROUNDING < minimum:
        return -np.inf
    return before - (left * entropy(sides, 0) + right * entropy(sides, 1)) / total


@njit(**HOT)
def _gain_at_most(sides: Array, left: float, right: float) -> float:
    """Bound the gain for two classes without a logarithm.

    The gain is the height of the entropy above its chord between p and q, the shares of a class on both sides. It is at
    most half the greatest curvature in between, 1 / (log(2) p (1 - p)), times l r (p - q)^2, where l and r are the
    shares of the sides. The bound is tight where p and q are close, as they are for most features.
    """
    p, q = sides[0, 0] / left, sides[1, 0] / right
    flattest = min(p * (1.0 - p), q * (1.0 - q))
    share, gap = left / (left + right), p - q
    return share * (1.0 - share) * (gap * gap) / (2.0 * LOG_2 * flattest) if flattest > 0.0 else np.inf


@njit(**HOT)
def entropy(sides: Array, side: int) -> float:
    """Compute the entropy of the classes on one side, in bits."""
    negative, total = 0.0, 0.0
    for j in range(sides.shape[1]):
        if sides[side, j] > 0.0:
            negative -= sides[side, j] * math.log2(sides[side, j])
            total += sides[side, j]
    return (negative + total * math.log2(total)) / total if total > 0.0 else 0.0


@njit(**PART)
def entropy_of(arrays: TreeArrays, i: int) -> float:
    """Compute the entropy of the classes in a node, in bits."""
    negative, total = 0.0, 0.0
    s = arrays.nodes[i].stats
    while s != NONE:
        weight = arrays.stats[s].weight
        if weight > 0.0:
            negative -= weight * math.log2(weight)
            total += weight
        s = arrays.stats[s].next
    return (negative + total * math.log2(total)) / total if total > 0.0 else 0.0


@njit(**BUILD)
def new_sides(arrays: TreeArrays, first: int) -> Array:
    """Make room for the weights of the classes on both sides of a split; the first side has those of all rows."""
    n, o = 0, first
    while o != NONE:
        n, o = n + 1, arrays.observers[o].next
    sides = np.empty((2, n))
    o = first
    for j in range(n):
        sides[0, j] = arrays.observers[o].weight
        o = arrays.observers[o].next
    return sides
