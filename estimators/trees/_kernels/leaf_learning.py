"""Learning a row in a leaf of a Hoeffding tree: class weights, right guesses, distributions of features."""

import math
from typing import NamedTuple

from estimators._kernels.compile import HOT, njit
from estimators.trees._kernels.categories import count_values, has_categories
from estimators.trees._kernels.gaussian import observe
from estimators.trees._kernels.leaf_budget import deactivate, observers_allowed
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays, add_observer, add_stat
from estimators.trees._kernels.voting import Scratch


class Row(NamedTuple):
    """Class and weight of a row, and the class that naive Bayes guessed."""

    code: int
    weight: float
    guess: int


@njit(**HOT)
def learn_in_leaf(arrays: TreeArrays, t: int, i: int, scratch: Scratch, row: Row, max_bytes: float) -> bool:
    """Count and observe a row in its leaf; return whether the leaf observes, for which memory may be lacking."""
    o = observer_for(arrays, t, i, row, max_bytes)
    if o == NONE:
        return False
    observe(arrays, o, scratch.x, row.weight)
    count_row(arrays, i, o, scratch, row.weight)
    return True


@njit(**HOT)
def count_row(arrays: TreeArrays, i: int, o: int, scratch: Scratch, weight: float) -> None:
    """Count the nominal features of a row in an observer of a node."""
    if has_categories(arrays):
        subset = arrays.subsets[i] if len(arrays.subsets) else arrays.categories.places[:0]
        count_values(arrays, o, subset, scratch.values, weight)


@njit(**HOT)
def observer_for(arrays: TreeArrays, t: int, i: int, row: Row, max_bytes: float) -> int:
    """Count a row in its leaf; return the observer of its class, a new one of weight 0 if it has none, or `NONE`."""
    node, stat = arrays.nodes[i], arrays.stats[_count(arrays, t, i, row)]
    if not node.active:
        return NONE
    if stat.observer == NONE:
        if arrays.trees[t].n_observers + 1 > observers_allowed(arrays, t, max_bytes):
            deactivate(arrays, t, i)
            return NONE
        stat.observer = add_observer(arrays, t, i, row.code)
    return stat.observer


@njit(**HOT)
def _count(arrays: TreeArrays, t: int, i: int, row: Row) -> int:
    """Count the class of a row, and the right guesses, in its leaf; return the place where the class is counted."""
    node = arrays.nodes[i]
    s, majority = find_class(arrays, i, row.code)
    if node.active:
        # as in River, the majority of an empty leaf counts as right
        majority = row.code if majority == NONE else majority
        node.majority_hits += row.weight if majority == row.code else 0.0
        node.bayes_hits += row.weight if row.guess == row.code else 0.0
    if s == NONE:
        s = add_stat(arrays, t, i, row.code)
    set_weight(arrays, i, s, arrays.stats[s].weight + row.weight)
    return s


@njit(**HOT)
def find_class(arrays: TreeArrays, i: int, code: int) -> tuple[int, int]:
    """Return the place of a class in a leaf, and the heaviest class (ties: the first seen), or `NONE`."""
    place, majority, most = NONE, NONE, -1.0
    s = arrays.nodes[i].stats
    while s != NONE:
        stat = arrays.stats[s]
        if stat.code == code:
            place = s
        if stat.weight > most:
            majority, most = stat.code, stat.weight
        s = stat.next
    return place, majority


@njit(**HOT)
def set_weight(arrays: TreeArrays, i: int, s: int, weight: float) -> None:
    """Set the weight of a class in a node, and sum all weights in order, so that the bits are River's."""
    arrays.stats[s].weight, arrays.stats[s].log_weight = weight, math.log(weight)
    total, s = 0.0, arrays.nodes[i].stats
    while s != NONE:
        total += arrays.stats[s].weight
        s = arrays.stats[s].next
    arrays.nodes[i].weight = total
