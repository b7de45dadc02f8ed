"""Best split of a node next to the one it has, and a quick proof that revising the node would change nothing."""

import numpy as np

from estimators._kernels.compile import BUILD, PART, njit
from estimators.trees._kernels.splitting import (
    ROUGHNESS_OF_GAIN,
    best_threshold,
    entropy,
    entropy_of,
    gain_of_gaussians_at_most,
    new_sides,
    rough_entropy,
    rough_entropy_left,
)
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays


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
        best, threshold = best_threshold(arrays, first, current, before, sides, -np.inf)
        feature = current if best > -np.inf else NONE
    own = best
    for f in range(arrays.moments.shape[2]):
        if f != current:
            merit, value = best_threshold(arrays, first, f, before, sides, best - excess)
            if merit > best or (merit == best and f > feature and merit > -np.inf):
                feature, threshold, best = f, value, merit
    return feature, threshold, best, own


@njit(**BUILD)
def is_settled(arrays: TreeArrays, i: int, bound: float) -> bool:
    """Return whether rough gains prove that the split of a branch has gain, and none beats it by more than a bound.

    False means only that there is no proof.
    """
    first = arrays.nodes[i].observers
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
