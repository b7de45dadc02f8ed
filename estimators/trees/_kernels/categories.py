"""Nominal features of trees: what observers keep of them, and branches with a child for each value.

Rows reach the compiled trees with bins, 0, 1, ..., in the place of codes: a value has the bin in which it was first
seen. -1 is a value that was never seen.
"""

import math
from typing import NamedTuple, Protocol

import numpy as np

from estimators._kernels.compile import BUILD, HOT, JIT, PART, njit
from estimators._kernels.extend import extend
from estimators._typing import Array

NONE = -1
# the "threshold" of a branch with a child for each value; that of a branch of one value against the rest is its bin
MULTIWAY = -1.0
# instead of the weight of a branch
UNWEIGHED = -1.0
# the values of a feature that come after so many others share the last bin
MAX_BINS = 256
FEW_BINS = 8
# instead of a bin: the table of values must grow
FULL = -2
# products of counts are turned into logarithms before they leave the range of doubles
LARGE = 1e200
# scores that are nearer are compared as River rounds them: with few rows, classes often tie
CLOSE = 1e-9

VALUE = np.dtype([("code", "f8"), ("bin", "i4")], align=True)
LINK = np.dtype([("next", "i4"), ("bin", "i4")])


class Categories(NamedTuple):
    """Nominal features of trees; if all features are numbers, every array is empty."""

    places: Array  # int32, (n_features,): row of a nominal feature in `values`, `NONE` for numbers
    values: Array  # (n_nominal, n_bins): a `VALUE` each, by code; free places, of infinite code and no bin, come last
    counts: Array  # (n_observers, n_nominal, n_bins): weight of the rows with each value
    links: Array  # a `LINK` for each node: the next child of the same branch, and the value that leads to the node


ALL_NUMBERS = np.zeros(0, np.int32)
# of trees that keep no values: no feature is marked as nominal
NO_MARKS = np.zeros(0, np.bool_)
NO_CATEGORIES = Categories(ALL_NUMBERS, np.zeros((0, 0), VALUE), np.zeros((0, 0, 0)), np.zeros(0, LINK))


class Tree(Protocol):
    """Trees of any kind in flat arrays, whose nodes have the fields feature, threshold, left and right."""

    @property
    def nodes(self) -> Array:
        """Places of nodes."""

    @property
    def categories(self) -> Categories:
        """Nominal features."""


class ObservingTree(Tree, Protocol):
    """Trees whose observers know their weight."""

    @property
    def observers(self) -> Array:
        """Places of observers."""


def new_categories(n_features: int, nominal: Array) -> Categories:
    """Make what trees without observers and nodes keep of some nominal features."""
    if not len(nominal):
        return NO_CATEGORIES
    places = np.full(n_features, NONE, np.int32)
    places[nominal] = np.arange(len(nominal))
    return Categories(
        places, free_values(len(nominal), FEW_BINS), np.zeros((0, len(nominal), FEW_BINS)), np.zeros(0, LINK)
    )


def marks(n_features: int, nominal: Array) -> Array:
    """Mark nominal features, for trees that keep no values; an empty array marks none."""
    return np.isin(np.arange(n_features), nominal) if len(nominal) else NO_MARKS


@njit(**HOT)
def is_marked(marked: Array, feature: int) -> bool:
    """Return whether a feature is marked as nominal."""
    return len(marked) > 0 and marked[feature]


def free_values(n_nominal: int, n_bins: int) -> Array:
    """Make a table of values without any."""
    return np.full((n_nominal, n_bins), np.array((np.inf, NONE), VALUE))


def extended(categories: Categories, n_observers: int, n_nodes: int) -> Categories:
    """Make room for more observers and nodes."""
    if not len(categories.places):
        return categories
    counts, links = extend(categories.counts, n_observers), extend(categories.links, n_nodes)
    return categories._replace(counts=counts, links=links)


def with_values(categories: Categories, values: Array) -> Categories:
    """Take a table of values that may be wider than the counts."""
    counts, n_more = categories.counts, values.shape[1] - categories.counts.shape[2]
    counts = np.pad(counts, ((0, 0), (0, 0), (0, n_more))) if n_more else counts
    return categories._replace(values=values, counts=counts)


# --------------------------------------------------------------------- values
@njit(**JIT)
def write_bins(X: Array, nominal: Array, values: Array, learning: bool, done: int) -> int:
    """Replace the codes of nominal features by bins, from a cell of the rows on.

    Return the first cell that is left since `values` has no room to learn its code, or the number of cells.
    """
    n_nominal = len(nominal)
    start = done % n_nominal
    for r in range(done // n_nominal, len(X)):
        for p in range(start, n_nominal):
            found = _bin_of(values[p], X[r, nominal[p]], learning)
            if found == FULL:
                return r * n_nominal + p
            X[r, nominal[p]] = found
        start = 0
    return len(X) * n_nominal


@njit(**HOT)
def _bin_of(row: Array, code: float, learning: bool) -> int:
    """Return the bin of a code, the next one if it is learnt; `NONE` if it has none; `FULL` if more room is needed."""
    last = len(row) - 1
    # codes that have all been met are at their own places
    k = int(code) if code <= last and row[int(code)].code == code else _find(row, code)
    if row[k].code == code:
        return row[k].bin
    if row[last].bin == MAX_BINS - 1:
        return MAX_BINS - 1
    if not learning:
        return NONE
    n_used = _find(row, np.inf)
    if n_used == last and last < MAX_BINS - 1:
        return FULL
    if n_used == last:
        # the last bin is for all codes that come later, too, and has none of its own
        row[last].bin = last
        return last
    for j in range(n_used, k, -1):
        row[j].code, row[j].bin = row[j - 1].code, row[j - 1].bin
    row[k].code, row[k].bin = code, n_used
    return n_used


@njit(**HOT)
def _find(row: Array, code: float) -> int:
    """Return the first place whose code is not less."""
    low, high = 0, len(row) - 1
    while low < high:
        middle = (low + high) // 2
        if row[middle].code < code:
            low = middle + 1
        else:
            high = middle
    return low


# ------------------------------------------------------------------ observers
@njit(**HOT)
def has_categories(tree: Tree) -> bool:
    """Return whether any feature is nominal."""
    return len(tree.categories.places) > 0


@njit(**HOT)
def has_numbers(tree: Tree) -> bool:
    """Return whether any feature is not nominal."""
    return len(tree.categories.places) == 0 or tree.categories.counts.shape[1] < len(tree.categories.places)


@njit(**HOT)
def is_nominal(tree: Tree, feature: int) -> bool:
    """Return whether a feature is nominal."""
    return len(tree.categories.places) > 0 and tree.categories.places[feature] != NONE


@njit(**PART)
def clear_counts(tree: Tree, o: int) -> None:
    """Empty the counts of an observer."""
    counts = tree.categories.counts
    for p in range(counts.shape[1]):
        for b in range(counts.shape[2]):
            counts[o, p, b] = 0.0


@njit(**HOT)
def numbers_of(tree: Tree, row: Array, numbers: Array) -> Array:
    """Return a row with 0 in the place of nominal features, written to `numbers`; the row itself if it has none."""
    if not has_categories(tree):
        return row
    for f in range(len(row)):
        numbers[f] = row[f] if tree.categories.places[f] == NONE else 0.0
    return numbers


@njit(**HOT)
def count_values(tree: Tree, o: int, subset: Array, values: Array, weight: float) -> None:
    """Count the nominal features of a row in an observer; of `subset` see `log_shares`."""
    for f in range(len(values)):
        place = tree.categories.places[subset[f] if len(subset) else f]
        if place != NONE:
            tree.categories.counts[o, place, int(values[f])] += weight


@njit(**HOT)
def log_shares(tree: ObservingTree, o: int, subset: Array, values: Array, share: float, exactly: bool) -> float:
    """Sum the logarithms of the share of a class and of those that nominal features of a row have in its observer.

    `subset` holds the features at the places of `values`, or nothing if these are all. As in River, a value that was
    not observed changes nothing. Shares are multiplied before the logarithm, which takes as long as ten counts;
    `exactly`, logarithms are added, and rounded, one by one as in River.
    """
    places, counts, weight = tree.categories.places, tree.categories.counts, tree.observers[o].weight
    score, product, n = math.log(share) if exactly else 0.0, share, 0
    for f in range(len(values)):
        place = places[subset[f] if len(subset) else f]
        if place == NONE or values[f] < 0.0:
            continue
        count = counts[o, place, int(values[f])]
        if count > 0.0 and exactly:
            score += math.log(count / weight)
        elif count > 0.0:
            product, n = product * count, n + 1
            if product > LARGE:
                score, product = score + math.log(product), 1.0
    if exactly:
        return score
    return score + math.log(product) - n * (math.log(weight) if has_numbers(tree) else tree.observers[o].log_norm)


# ------------------------------------------------------------------- branches
@njit(**HOT)
def side_of(tree: Tree, i: int, value: float) -> int:
    """Return the child of a branch on the side of a number."""
    node = tree.nodes[i]
    return node.left if value <= node.threshold else node.right


@njit(**HOT)
def child_of(tree: Tree, i: int, value: float) -> int:
    """Return the child of a branch to which a value leads, or `NONE` if the value has none."""
    node = tree.nodes[i]
    if not is_nominal(tree, node.feature):
        return side_of(tree, i, value)
    if node.threshold != MULTIWAY:
        return node.left if value == node.threshold else node.right
    child = node.left
    while child != NONE and tree.categories.links[child].bin != value:
        child = next_child(tree, i, child)
    return child


@njit(**HOT)
def next_child(tree: Tree, i: int, child: int) -> int:
    """Return the child of a branch after another one, or `NONE` after the last; the first is on the left."""
    node = tree.nodes[i]
    if child == node.right:
        return NONE
    return tree.categories.links[child].next if is_multiway(tree, i) else node.right


@njit(**PART)
def push_children(tree: Tree, i: int, stack: Array, height: int) -> int:
    """Put the children of a branch on a stack, from which the first comes out first; return its height."""
    bottom, child = height, int(tree.nodes[i].left)
    while child != NONE:
        stack[height], height, child = child, height + 1, int(next_child(tree, i, child))
    for k in range((height - bottom) // 2):
        stack[bottom + k], stack[height - 1 - k] = stack[height - 1 - k], stack[bottom + k]
    return height


@njit(**BUILD)
def heaviest_of(tree: Tree, i: int, weights: Array) -> int:
    """Return the first of the heaviest children of a branch; `UNWEIGHED` nodes have the weight of their children."""
    heaviest, most, child = NONE, UNWEIGHED, int(tree.nodes[i].left)
    stack = np.empty(len(weights), np.int64)
    while child != NONE:
        total, height, stack[0] = 0.0, 1, child
        while height:
            height -= 1
            at = stack[height]
            if weights[at] == UNWEIGHED:
                height = push_children(tree, at, stack, height)
            else:
                total += weights[at]
        if total > most:
            heaviest, most = child, total
        child = int(next_child(tree, i, child))
    return heaviest


@njit(**HOT)
def is_multiway(tree: Tree, i: int) -> bool:
    """Return whether a branch has a child for each value."""
    return tree.nodes[i].threshold == MULTIWAY and is_nominal(tree, tree.nodes[i].feature)


@njit(**PART)
def add_child(tree: Tree, i: int, child: int, value: int) -> None:
    """Append a child for a value to a branch that has a child for each value, or that will have."""
    node, links = tree.nodes[i], tree.categories.links
    links[child].next, links[child].bin = NONE, value
    if node.left == NONE:
        node.left = child
    else:
        links[node.right].next = child
    node.right = child


@njit(**PART)
def replace_child(tree: Tree, i: int, child: int, by: int) -> None:
    """Put a node in the place of a child of a branch."""
    node, links = tree.nodes[i], tree.categories.links
    if is_multiway(tree, i):
        links[by].next, links[by].bin = links[child].next, links[child].bin
        before = node.left
        while before != child and links[before].next != child:
            before = links[before].next
        if before != child:
            links[before].next = by
    if node.left == child:
        node.left = by
    if node.right == child:
        node.right = by
