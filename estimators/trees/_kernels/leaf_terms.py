"""Contributions of features to the probabilities of naive Bayes in a leaf, beside the shares of its classes.

Let q be the shares of the classes, and S_c the sum of the log densities s_cf of class c over the features f. Naive
Bayes predicts p_c, which is q_c exp(S_c) over its sum. Then

    p_c - q_c = sum_k g_ck (S_c - S_k),   g_ck = (p_c q_k - q_c p_k) / (S_c - S_k),

and feature f adds sum_k g_ck (s_cf - s_kf). For two classes, this is the change of p along a straight line of log-odds
(Aumann and Shapley).
"""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import PART, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import has_categories
from estimators.trees._kernels.gaussian import HALF_LOG_TAU, AnyTree
from estimators.trees._kernels.tree_arrays import MEAN, NONE, PRECISION, SQUARES, TreeArrays, feature_of

# differences of sums of log densities that are less are 0 but for rounding
LEAST_DIFFERENCE = 1e-9


class Room(NamedTuple):
    """Room to work in: shares before and after, sums of log densities, (n_classes,), and their terms."""

    before: Array
    after: Array
    sums: Array
    terms: Array  # (n_classes, n_observed)


def new_room(n_classes: int, n_observed: int) -> Room:
    """Make room for the leaves of trees."""
    before, after, sums = np.empty((3, n_classes))
    return Room(before, after, sums, np.empty((n_classes, n_observed)))


@njit(**PART)
def gaussian_term(weight: float, mean: float, squares: float, value: float) -> float:
    """Return the log density of a value; a feature that does not vary has none, as in `log_likelihood`."""
    if weight <= 1.0 or squares <= 0.0:
        return 0.0
    variance, distance = squares / (weight - 1.0), value - mean
    return -0.5 * distance * distance / variance - 0.5 * math.log(variance) - HALF_LOG_TAU


@njit(**PART)
def observed_term(arrays: AnyTree, o: int, f: int, feature: int, value: float, is_sparse: bool) -> float:
    """Return the log density of a value, or the log share of a category, of one feature in an observer."""
    weight = arrays.observers[o].weight
    if has_categories(arrays):
        place = arrays.categories.places[feature]
        if place != NONE:
            count = arrays.categories.counts[o, place, int(value)] if value >= 0.0 else 0.0
            return math.log(count / weight) if count > 0.0 else 0.0
    mean, squares = arrays.moments[o, MEAN, f], arrays.moments[o, SQUARES, f]
    if is_sparse:
        # moments are those of the values that are not zero, whose weight is kept in the place of the precision
        kept = arrays.moments[o, PRECISION, f]
        squares += mean * mean * kept * (weight - kept) / weight
        mean *= kept / weight
    return gaussian_term(weight, mean, squares, value)


@njit(**PART)
def uses_bayes(arrays: TreeArrays, i: int) -> bool:
    """Return whether a leaf votes by naive Bayes."""
    node = arrays.nodes[i]
    return node.active == 1 and node.weight > 0.0 and node.bayes_hits >= node.majority_hits


@njit(**PART)
def leaf_shares(arrays: TreeArrays, i: int, shares: Array) -> bool:
    """Fill in the shares of the classes in a leaf before any feature is looked at; return whether it has any row.

    To naive Bayes, as in River, a class of weight zero is as heavy as all.
    """
    node, total, by_bayes = arrays.nodes[i], 0.0, uses_bayes(arrays, i)
    for code in range(len(shares)):
        shares[code] = 0.0
    s = node.stats
    while s != NONE:
        stat = arrays.stats[s]
        shares[stat.code] = node.weight if by_bayes and stat.weight <= 0.0 else stat.weight
        total += shares[stat.code]
        s = stat.next
    for code in range(len(shares)):
        shares[code] = shares[code] / total if total > 0.0 else np.nan
    return total > 0.0


@njit(**PART)
def add_leaf_terms(  # noqa: PLR0913, PLR0917 - numbers and arrays in, arrays out
    arrays: TreeArrays, i: int, X: Array, r: int, weight: float, is_sparse: bool, room: Room, added: Array
) -> None:
    """Add what features add in a leaf to `added` (n_rows, n_outputs, n_features); outputs are the last classes."""
    if not uses_bayes(arrays, i) or not leaf_shares(arrays, i, room.before):
        return
    n_observed = arrays.moments.shape[2]
    for code in range(len(room.sums)):
        room.sums[code] = 0.0
        for f in range(n_observed):
            room.terms[code, f] = 0.0
    s = arrays.nodes[i].stats
    while s != NONE:
        stat = arrays.stats[s]
        if stat.weight > 0.0 and stat.observer != NONE:
            for f in range(n_observed):
                feature = feature_of(arrays, i, f)
                term = observed_term(arrays, stat.observer, f, feature, X[r, feature], is_sparse)
                room.terms[stat.code, f] = term
                room.sums[stat.code] += term
        s = stat.next
    if update_shares(room):
        spread(arrays, i, r, weight, room, added)


@njit(**PART)
def update_shares(room: Room) -> bool:
    """Fill in the shares by naive Bayes; return whether they are numbers, as the leaf votes by majority otherwise."""
    before, after, sums = room.before, room.after, room.sums
    most, total = -np.inf, 0.0
    for code in range(len(sums)):
        if before[code] > 0.0:
            most = max(most, sums[code] + math.log(before[code]))
    if not -np.inf < most < np.inf:
        return False
    for code in range(len(sums)):
        after[code] = math.exp(sums[code] + math.log(before[code]) - most) if before[code] > 0.0 else 0.0
        total += after[code]
    for code in range(len(sums)):
        after[code] /= total
    return True


@njit(**PART)
def gain_of_pair(room: Room, code: int, other: int) -> float:
    """Return what a class gains from another for each unit by which its sum of log densities is greater."""
    difference = room.sums[code] - room.sums[other]
    if abs(difference) < LEAST_DIFFERENCE:
        return room.before[code] * room.after[other]
    return (room.after[code] * room.before[other] - room.before[code] * room.after[other]) / difference


@njit(**PART)
def spread(arrays: TreeArrays, i: int, r: int, weight: float, room: Room, added: Array) -> None:
    """Add the change of shares to the features of the log densities that caused it."""
    first = len(room.sums) - added.shape[1]
    for output in range(added.shape[1]):
        code = first + output
        for other in range(len(room.sums)):
            gain = weight * gain_of_pair(room, code, other) if other != code else 0.0
            if gain != 0.0:
                for f in range(room.terms.shape[1]):
                    feature = feature_of(arrays, i, f)
                    added[r, output, feature] += gain * (room.terms[code, f] - room.terms[other, f])
