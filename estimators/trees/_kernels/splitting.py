"""Which split of a leaf tells the classes best apart: information gain over ten thresholds a feature, as in River."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, HOT, OWNING, PART, njit
from estimators.trees._kernels.gaussian import rough_weight_below, scale_of, weight_below
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, MEAN, NONE, PRECISION, Grove

Array = npt.NDArray[Any]

N_THRESHOLDS = 10
MIN_BRANCH_SHARE = 0.01
LOG_2 = math.log(2.0)
ROUNDING = 1e-12
# more than a rough weight is wrong by, as a share of the whole weight: see `rough_weight_below`
ROUGHNESS = 1e-6
# the entropy of two classes, in bits, at shares in equal steps
ENTROPY_STEPS = 4096
SHARES = np.arange(1, ENTROPY_STEPS) / ENTROPY_STEPS
ENTROPY = np.concatenate([[0.0], -SHARES * np.log2(SHARES) - (1 - SHARES) * np.log2(1 - SHARES), [0.0, 0.0]])
# more than a gain is wrong by that is computed from rough weights and looked up: straight lines are off by at most
# 1.3e-4, in the first step; a share of a class on a side of share s that is wrong by 2e-6 / s changes the entropy by no
# more than that of shares so small, and s times this is at most 4.2e-5
ROUGHNESS_OF_GAIN = 1e-3


@njit(**OWNING)
def best_two_splits(grove: Grove, i: int) -> tuple[int, float, float, float]:
    """Find the best feature and threshold of a leaf, its merit, and the merit of the next best feature.

    Of equal features the last wins, of equal thresholds the first; no split at all has merit minus infinity.
    """
    before = _entropy_of(grove, i)
    places = _observers_of(grove, i)
    sides = np.empty((2, len(places)))
    for j in range(len(places)):
        sides[0, j] = grove.observers[places[j]].weight
    # a leaf may have counted other rows than it observed: those behind its weights at birth
    excess = before - _entropy(sides, 0)
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    for f in range(grove.moments.shape[2]):
        merit, value = _best_threshold(grove, places, f, before, sides, second - excess)
        if merit >= best and merit > -np.inf:
            feature, threshold, best, second = f, value, merit, best
        elif merit > second:
            second = merit
    return feature, threshold, best, second


@njit(**OWNING)
def is_futile(grove: Grove, i: int, bound: float) -> bool:
    """Tell, from rough gains, that no split of a leaf of two classes beats that of another feature by a bound.

    False means only that this is not sure.
    """
    places = _observers_of(grove, i)
    if len(places) != 2:
        return False
    if _all_gain_less(grove, places[0], places[1], bound):
        return True
    best, second = np.inf, np.inf
    for f in range(grove.moments.shape[2]):
        left = _rough_entropy_left(grove, places[0], places[1], f)
        if left < best:
            best, second = left, best
        elif left < second:
            second = left
    return second - best + 2.0 * ROUGHNESS_OF_GAIN < bound


@njit(**PART)
def _all_gain_less(grove: Grove, a: int, b: int, bound: float) -> bool:
    """Tell that every feature gains less than a bound, and that two can be split: then none beats the next by more."""
    before = _rough_entropy(grove.observers[a].weight / (grove.observers[a].weight + grove.observers[b].weight))
    n_split = 0
    for f in range(grove.moments.shape[2]):
        # first the two that can be split are looked for
        if n_split < 2 or not _gain_of_gaussians_at_most(grove, a, b, f) < bound:
            left = _rough_entropy_left(grove, a, b, f)
            if not before - left + 2.0 * ROUGHNESS_OF_GAIN < bound:
                return False
            n_split += left < np.inf
    return n_split >= 2


@njit(**HOT)
def _gain_of_gaussians_at_most(grove: Grove, a: int, b: int, f: int) -> float:
    """Bound the gain of a feature at every threshold for two classes, without a logarithm.

    Between the ranges' inner ends both classes are Gaussians, and a split tells no more than the value would: at most
    the product of the shares of the classes times the sum of both relative entropies. Beyond, one side has one class
    only, the more of it the nearer to the inner end; there the gain is at most the mean square contingency.
    """
    moments = grove.moments
    start, stop = max(moments[a, LOWEST, f], moments[b, LOWEST, f]), min(moments[a, HIGHEST, f], moments[b, HIGHEST, f])
    if start > stop:
        return np.inf
    nats = 0.0
    share = grove.observers[a].weight / (grove.observers[a].weight + grove.observers[b].weight)
    if start < stop:
        p, q, gap = moments[a, PRECISION, f], moments[b, PRECISION, f], moments[a, MEAN, f] - moments[b, MEAN, f]
        nats = share * (1.0 - share) * ((p - q) * (p - q) / (2.0 * p * q) + gap * gap * (p + q))
        if not nats < np.inf:
            return np.inf
    if moments[a, LOWEST, f] != moments[b, LOWEST, f]:
        first = moments[a, LOWEST, f] < start
        alone = _rough_share_below(grove, a if first else b, f, start)
        nats = max(nats, _contingency(share if first else 1.0 - share, alone))
    if moments[a, HIGHEST, f] != moments[b, HIGHEST, f]:
        first = moments[a, HIGHEST, f] > stop
        alone = 1.0 - _rough_share_below(grove, a if first else b, f, stop)
        nats = max(nats, _contingency(share if first else 1.0 - share, alone))
    return nats / LOG_2 + ROUNDING


@njit(**HOT)
def _rough_share_below(grove: Grove, o: int, f: int, value: float) -> float:
    return rough_weight_below(grove, o, f, value, scale_of(grove, o, f)) / grove.observers[o].weight


@njit(**HOT)
def _contingency(share: float, alone: float) -> float:
    """Compute the mean square contingency where part of a class of a share is alone on one side."""
    alone = alone + ROUGHNESS
    return (1.0 - share) * alone / (1.0 - share * alone)


@njit(**HOT)
def _rough_entropy_left(grove: Grove, a: int, b: int, f: int) -> float:
    """Estimate the least entropy that a split of a feature leaves, infinity if there is none, -infinity if unsure."""
    zeros, ones = grove.observers[a].weight, grove.observers[b].weight
    lowest = min(grove.moments[a, LOWEST, f], grove.moments[b, LOWEST, f])
    step = (max(grove.moments[a, HIGHEST, f], grove.moments[b, HIGHEST, f]) - lowest) / (N_THRESHOLDS + 1.0)
    scale_a, scale_b = scale_of(grove, a, f), scale_of(grove, b, f)
    total, least = zeros + ones, np.inf
    for k in range(N_THRESHOLDS):
        value = lowest + step * (k + 1)
        below_a = rough_weight_below(grove, a, f, value, scale_a)
        below_b = rough_weight_below(grove, b, f, value, scale_b)
        left = below_a + below_b
        share, right = left / total, total - left
        smaller = min(share, 1.0 - share)
        if smaller > MIN_BRANCH_SHARE + ROUGHNESS:
            entropy = share * _rough_entropy(below_a / left) + (1.0 - share) * _rough_entropy((zeros - below_a) / right)
            least = min(least, entropy)
        elif smaller > MIN_BRANCH_SHARE - ROUGHNESS:
            return -np.inf
    return least


@njit(**HOT)
def _rough_entropy(p: float) -> float:
    """Look up the entropy of two classes, in bits."""
    place = min(max(p, 0.0), 1.0) * ENTROPY_STEPS
    k = int(place)
    return ENTROPY[k] + (place - k) * (ENTROPY[k + 1] - ENTROPY[k])


@njit(**HOT)
def _best_threshold(
    grove: Grove, places: Array, f: int, before: float, sides: Array, least: float
) -> tuple[float, float]:
    """Find the best threshold of a feature; gains from what was observed that are under `least` need not be known."""
    lowest, highest = np.inf, -np.inf
    for j in range(len(places)):
        lowest = min(lowest, grove.moments[places[j], LOWEST, f])
        highest = max(highest, grove.moments[places[j], HIGHEST, f])
    step = (highest - lowest) / (N_THRESHOLDS + 1.0)
    best, threshold = -np.inf, 0.0
    two = len(places) == 2
    scales = (scale_of(grove, places[0], f), scale_of(grove, places[1], f)) if two else (0.0, 0.0)
    for k in range(N_THRESHOLDS):
        value = lowest + step * (k + 1)
        if lowest < value < highest and not (two and _is_hopeless(grove, places, f, value, scales, least)):
            for j in range(len(places)):
                sides[0, j] = weight_below(grove, places[j], f, value)
                sides[1, j] = grove.observers[places[j]].weight - sides[0, j]
            merit = _gain(before, sides, least)
            if merit > best:
                best, threshold = merit, value
    return best, threshold


@njit(**HOT)
def _is_hopeless(grove: Grove, places: Array, f: int, value: float, scales: tuple[float, float], least: float) -> bool:
    """Tell, from rough weights, that a threshold tells two classes apart by less than `least`."""
    zeros, ones = grove.observers[places[0]].weight, grove.observers[places[1]].weight
    below_0 = rough_weight_below(grove, places[0], f, value, scales[0])
    below_1 = rough_weight_below(grove, places[1], f, value, scales[1])
    total, left = zeros + ones, below_0 + below_1
    right, slack = total - left, ROUGHNESS * total
    if min(left, right) + slack < MIN_BRANCH_SHARE * total:
        return True
    return rough_gain_at_most(below_0, below_1, zeros - below_0, ones - below_1, slack) + ROUNDING < least


@njit(**HOT)
def rough_gain_at_most(l0: float, l1: float, r0: float, r1: float, slack: float) -> float:
    """Bound the gain for two classes by the rule of `_gain_at_most`, where each weight may be wrong by the slack."""
    left, right = l0 + l1, r0 + r1
    least = min(left, right) - slack
    if least <= 0.0:
        return np.inf
    p, q = l0 / left, r0 / right
    wrong = 2.0 * slack / least
    flattest = min(p * (1.0 - p), q * (1.0 - q)) - wrong
    share = left / (left + right)
    gap = abs(p - q) + 2.0 * wrong
    spread = share * (1.0 - share) + 2.0 * slack / (left + right)
    return spread * gap * gap / (2.0 * LOG_2 * flattest) if flattest > 0.0 else np.inf


@njit(**HOT)
def _gain(before: float, sides: Array, least: float) -> float:
    left, right = 0.0, 0.0
    for j in range(sides.shape[1]):
        left += sides[0, j]
        right += sides[1, j]
    total = left + right
    if not (left / total > MIN_BRANCH_SHARE and right / total > MIN_BRANCH_SHARE):
        return -np.inf
    if sides.shape[1] == 2 and _gain_at_most(sides, left, right) + ROUNDING < least:
        return -np.inf
    return before - (left * _entropy(sides, 0) + right * _entropy(sides, 1)) / total


@njit(**HOT)
def _gain_at_most(sides: Array, left: float, right: float) -> float:
    """Bound the gain for two classes without a logarithm.

    The gain is how far entropy lies above its chord between the shares p and q of a class on both sides, which is at
    most half its steepest curvature, 1 / (log(2) p (1 - p)), times l r (p - q)^2, l and r the shares of the sides. The
    bound is tight where p and q are close, as they are for most features.
    """
    p, q = sides[0, 0] / left, sides[1, 0] / right
    flattest = min(p * (1.0 - p), q * (1.0 - q))
    share = left / (left + right)
    return share * (1.0 - share) * (p - q) ** 2 / (2.0 * LOG_2 * flattest) if flattest > 0.0 else np.inf


@njit(**HOT)
def _entropy(sides: Array, side: int) -> float:
    """Compute the entropy of the classes on one side, in bits."""
    negative, total = 0.0, 0.0
    for j in range(sides.shape[1]):
        if sides[side, j] > 0.0:
            negative -= sides[side, j] * math.log2(sides[side, j])
            total += sides[side, j]
    return (negative + total * math.log2(total)) / total if total > 0.0 else 0.0


@njit(**PART)
def _entropy_of(grove: Grove, i: int) -> float:
    """Compute the entropy of the classes in a node, in bits."""
    negative, total = 0.0, 0.0
    s = grove.nodes[i].stats
    while s != NONE:
        weight = grove.stats[s].weight
        if weight > 0.0:
            negative -= weight * math.log2(weight)
            total += weight
        s = grove.stats[s].next
    return (negative + total * math.log2(total)) / total if total > 0.0 else 0.0


@njit(**BUILD)
def _observers_of(grove: Grove, i: int) -> Array:
    n, o = 0, grove.nodes[i].observers
    while o != NONE:
        n, o = n + 1, grove.observers[o].next
    places = np.empty(n, np.int64)
    o = grove.nodes[i].observers
    for j in range(n):
        places[j] = o
        o = grove.observers[o].next
    return places
