"""The multi-label Hoeffding adaptive tree in flat arrays: nodes, and slots of what leaves learn."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.adwin import Windows, new_windows, reset
from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._kernels.extend import extend
from estimators._typing import Array
from estimators.trees._kernels.categories import (
    ALL_NUMBERS,
    NO_CATEGORIES,
    UNWEIGHED,
    Categories,
    extended,
    heaviest_of,
    new_categories,
    next_child,
)
from estimators.trees._kernels.categories import child_of as child_to
from estimators.trees._kernels.label_sets import ENTRY, SMALLEST, cleaned

# a leaf is a node without a feature; `shares` is the node whose error it shares, or `NONE`; free places are chained by
# `left`
NODE = np.dtype(
    [
        ("feature", "i4"),
        ("left", "i4"),
        ("right", "i4"),
        ("slot", "i4"),
        ("alternate", "i4"),
        ("shares", "i4"),
        ("background", "i4"),
        ("active", "i4"),
        ("used", "i4"),
        ("threshold", "f8"),
        ("weight", "f8"),
        ("last_attempt", "f8"),
        ("error", "f8"),
        ("error_weight", "f8"),
        ("post_weight", "f8"),
    ],
    align=True,
)
# what a leaf knows besides its arrays; free slots are chained by `next`
SLOT = np.dtype([("owner", "i8"), ("n_rows", "i8"), ("draws", "u8"), ("n_sets", "i4"), ("next", "i4")], align=True)
STATE = np.dtype(
    [
        ("draws", "u8"),
        ("bagging", "u8"),
        ("next_owner", "i8"),
        ("n_sets", "i8"),
        ("root", "i4"),
        ("node", "i4"),
        ("slot", "i4"),
        ("n_free_nodes", "i4"),
        ("n_free_slots", "i4"),
        ("n_inactive", "i4"),
        ("n_splits", "i4"),
        ("n_switched", "i4"),
        ("n_pruned", "i4"),
    ],
    align=True,
)
# memory of the places that a new tree reserves for leaves to come, and how many at most
RESERVED_BYTES, RESERVED = 2**18, 16
# a label, "empty" or "total" that a node has never counted
ABSENT = -1.0
NONE = -1
N_MOMENTS = 4
MEAN, SQUARES, LOWEST, HIGHEST = range(N_MOMENTS)


class Shape(NamedTuple):
    """Sizes of what a leaf learns."""

    n_features: int
    n_labels: int
    window: int
    n_models: int


class AdaptiveTree(NamedTuple):
    """A tree; column `n_labels` of counts stands for rows without a label, column `n_labels` + 1 for all rows."""

    nodes: Array  # places of type `NODE`
    counts: Array  # (n_places, n_labels + 2): weight of each label, `ABSENT` where it has never been counted
    windows: Windows  # an ADWIN for each node
    slots: Array  # places of type `SLOT`, what leaves learn
    observed: Array  # (n_slots, n_labels + 2): weight that each observer has observed
    moments: Array  # (n_slots, n_labels + 2, 4, n_features): mean, squared deviations, lowest, highest value
    coefs: Array  # (n_slots, n_features + 1, n_models * n_labels): logistic regressions, intercepts last
    rows: Array  # (n_slots, window, n_features): the last rows of each leaf, as a ring
    labels: Array  # uint8, (n_slots, window + 1, n_labels): theirs; the last line is the first label set of the leaf
    ranks: Array  # (n_slots, window): of their label sets, in the order in which the leaf saw them first
    sets: Array  # hash table of the label sets that each leaf has seen
    state: Array  # (1,): a `STATE`
    categories: Categories = NO_CATEGORIES  # its observers are those of all slots, in order


def new_tree(shape: Shape, seed: int, max_bytes: float, nominal: Array = ALL_NUMBERS) -> AdaptiveTree:
    """Make a tree of one empty leaf, with places for a few more if leaves are small."""
    d, width = shape.n_features, shape.n_labels
    state = np.zeros(1, STATE)
    state["root"] = state["node"] = state["slot"] = NONE
    state["draws"], state["bagging"] = (seed << 32) + 1, (seed << 32) + 2
    bare = AdaptiveTree(
        np.zeros(0, NODE),
        np.zeros((0, width + 2)),
        new_windows(0),
        np.zeros(0, SLOT),
        np.zeros((0, width + 2)),
        np.zeros((0, width + 2, N_MOMENTS, d)),
        np.zeros((0, d + 1, shape.n_models * width)),
        np.zeros((0, shape.window, d)),
        np.zeros((0, shape.window + 1, width), np.uint8),
        np.zeros((0, shape.window), np.int32),
        np.zeros(SMALLEST, ENTRY),
        state,
        new_categories(d, nominal),
    )
    tree = _extended(bare, RESERVED, 1)
    tree = _extended(tree, 0, min(int(min(RESERVED_BYTES, max_bytes)) // slot_bytes(tree), RESERVED))
    _add_root(tree)
    return tree


def _add_root(tree: AdaptiveTree) -> None:
    """Make the first free node and slot an empty leaf, as `new_leaf` does, and the root."""
    state = tree.state[0]
    i, s = int(state["node"]), int(state["slot"])
    node, slot = tree.nodes[i], tree.slots[s]
    state["root"], state["node"], state["slot"] = i, node["left"], slot["next"]
    state["n_free_nodes"] -= 1
    state["n_free_slots"] -= 1
    state["next_owner"] += 1
    for link in ("feature", "left", "right", "alternate", "shares"):
        node[link] = NONE
    node["slot"], node["active"], node["used"] = s, 1, 1
    tree.counts[i] = ABSENT
    slot["owner"], slot["draws"] = state["next_owner"], state["bagging"]


def grow(tree: AdaptiveTree, n_nodes: int, n_slots: int) -> AdaptiveTree:
    """Add places where fewer than `n_nodes` or `n_slots` are free, and make room for label sets."""
    state = tree.state[0]
    more_nodes = max(n_nodes, len(tree.nodes)) if n_nodes > state["n_free_nodes"] else 0
    more_slots = max(n_slots - int(state["n_free_slots"]), 0)
    tree = _extended(tree, more_nodes, more_slots)
    sets, n_sets = cleaned(tree.sets, tree.slots["owner"])
    tree.state["n_sets"] = n_sets
    return tree._replace(sets=sets)


def size_bytes(tree: AdaptiveTree) -> int:
    """Sum the sizes of the arrays."""
    whole = tree.nodes, tree.counts, *tree.windows, tree.sets, tree.state, *tree.categories[:2], tree.categories.links
    return sum(array.nbytes for array in (*whole, *_parts_of_slots(tree)))


def slot_bytes(tree: AdaptiveTree) -> int:
    """Return the size of one slot."""
    return sum(part.nbytes for part in _parts_of_slots(tree)) // len(tree.slots)


def _parts_of_slots(tree: AdaptiveTree) -> tuple[Array, ...]:
    counts = tree.categories.counts
    return tree.slots, tree.observed, tree.moments, tree.coefs, tree.rows, tree.labels, tree.ranks, counts


def _extended(tree: AdaptiveTree, n_nodes: int, n_slots: int) -> AdaptiveTree:
    nodes, slots, state = extend(tree.nodes, n_nodes), extend(tree.slots, n_slots), tree.state.copy()
    _chain(nodes["left"], len(tree.nodes), state, "node")
    _chain(slots["next"], len(tree.slots), state, "slot")
    state["n_free_nodes"] += n_nodes
    state["n_free_slots"] += n_slots
    return AdaptiveTree(
        nodes,
        extend(tree.counts, n_nodes),
        Windows(*(extend(part, n_nodes) for part in tree.windows)),
        slots,
        extend(tree.observed, n_slots),
        extend(tree.moments, n_slots),
        extend(tree.coefs, n_slots),
        extend(tree.rows, n_slots),
        extend(tree.labels, n_slots),
        extend(tree.ranks, n_slots),
        tree.sets,
        state,
        extended(tree.categories, n_slots * tree.observed.shape[1], n_nodes),
    )


def _chain(links: Array, begin: int, state: Array, head: str) -> None:
    """Put the places from `begin` on before the free ones."""
    if begin < len(links):
        links[begin:] = np.arange(begin + 1, len(links) + 1)
        links[-1] = state[head][0]
        state[head] = begin


# ------------------------------------------------------------------- places
@njit(**PART)
def take_node(tree: AdaptiveTree) -> int:
    """Take a free node, empty and without a slot."""
    state = tree.state[0]
    i = state.node
    node = tree.nodes[i]
    state.node = node.left
    state.n_free_nodes -= 1
    node.feature = node.left = node.right = node.slot = node.alternate = node.shares = NONE
    node.background, node.active, node.used = 0, 1, 1
    node.threshold = node.weight = node.last_attempt = 0.0
    for o in range(tree.counts.shape[1]):
        tree.counts[i, o] = ABSENT
    restart_error(tree, i)
    reset(tree.windows, i)
    return i


@njit(**PART)
def take_slot(tree: AdaptiveTree, i: int) -> None:
    """Give a leaf a free slot in which nothing has been learnt."""
    state = tree.state[0]
    s = state.slot
    slot = tree.slots[s]
    state.slot = slot.next
    state.n_free_slots -= 1
    state.next_owner += 1
    slot.owner = state.next_owner
    slot.n_rows = slot.n_sets = 0
    slot.draws = state.bagging
    for o in range(tree.observed.shape[1]):
        tree.observed[s, o] = 0.0
    for f in range(tree.coefs.shape[1]):
        for c in range(tree.coefs.shape[2]):
            tree.coefs[s, f, c] = 0.0
    tree.nodes[i].slot = s


@njit(**PART)
def drop_slot(tree: AdaptiveTree, i: int) -> None:
    """Take the slot of a node away."""
    state, s = tree.state[0], tree.nodes[i].slot
    tree.slots[s].owner = 0
    tree.slots[s].next = state.slot
    state.slot = s
    state.n_free_slots += 1
    tree.nodes[i].slot = NONE


@njit(**PART)
def new_leaf(tree: AdaptiveTree, background: int) -> int:
    """Take a node and a slot for an empty leaf."""
    i = take_node(tree)
    take_slot(tree, i)
    tree.nodes[i].background = background
    return i


@njit(**PART)
def restart_error(tree: AdaptiveTree, i: int) -> None:
    """Forget the errors of a node."""
    node = tree.nodes[i]
    node.error = node.error_weight = node.post_weight = 0.0


@njit(**HOT)
def error_of(tree: AdaptiveTree, i: int) -> float:
    """Return the mean error of a branch, or that which a leaf shares."""
    node = tree.nodes[i]
    return node.error if node.shares == NONE else tree.nodes[node.shares].error


@njit(**HOT)
def total_weight(tree: AdaptiveTree, i: int) -> float:
    """Return the weight of all rows of a node, what it inherited at a split included."""
    return max(tree.counts[i, tree.counts.shape[1] - 1], 0.0)


@njit(**HOT)
def child_of(tree: AdaptiveTree, i: int, x: Array) -> int:
    """Return the child of a branch to which a row belongs."""
    child = child_to(tree, i, x[tree.nodes[i].feature])
    return child if child != NONE else _heaviest_child(tree, i)


@njit(**BUILD)
def _heaviest_child(tree: AdaptiveTree, i: int) -> int:
    weights = np.empty(len(tree.nodes))
    for k in range(len(weights)):
        weights[k] = total_weight(tree, k) if tree.nodes[k].feature == NONE else UNWEIGHED
    return heaviest_of(tree, i, weights)


@njit(**HOT)
def leaf_of(tree: AdaptiveTree, i: int, x: Array) -> int:
    """Return the leaf to which a row belongs, alternates aside."""
    while tree.nodes[i].feature != NONE:
        i = child_of(tree, i, x)
    return i


@njit(**PART)
def free_subtree(tree: AdaptiveTree, i: int, kept: int) -> None:
    """Free a node and all nodes below it, alternates included, but not the node `kept`.

    Nodes that wait to be freed are chained by `shares`, which needs no memory.
    """
    state, waiting = tree.state[0], i
    tree.nodes[i].shares = NONE
    while waiting != NONE:
        node, place = tree.nodes[waiting], waiting
        waiting = node.shares
        if node.feature != NONE:
            child = node.left
            while child != NONE:
                after = next_child(tree, place, child)
                waiting, child = _wait(tree, child, kept, waiting), after
        elif node.slot != NONE:
            state.n_inactive -= 1 - node.active
            drop_slot(tree, place)
        waiting = _wait(tree, node.alternate, kept, waiting)
        node.used = 0
        node.left = state.node
        state.node = place
        state.n_free_nodes += 1


@njit(**HOT)
def _wait(tree: AdaptiveTree, i: int, kept: int, waiting: int) -> int:
    if (i == NONE) | (i == kept):
        return waiting
    tree.nodes[i].shares = waiting
    return i
