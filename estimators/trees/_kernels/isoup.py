"""iSOUP tree: one structure for all targets, leaves that answer by mean or linear model. The decisions are River's."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, HOT, LOOP, Direct, njit
from estimators._kernels.extend import extend
from estimators.trees._kernels.ebst import (
    Room,
    Spots,
    Sums,
    add_value,
    best_value,
    copy_sums,
    drop_all,
    learn_targets,
    longer_spots,
    new_room,
    new_spots,
    prune,
)
from estimators.trees._kernels.tree_arrays import NONE

Array = npt.NDArray[Any]

DECAY = 0.95
RATE = 0.01
STEEPEST = 1e12
# values of a feature for which there is room before any is met
SPOTS_AT_FIRST = 16

NODE = np.dtype(
    [
        ("feature", "i4"),
        ("left", "i4"),
        ("right", "i4"),
        ("leaf", "i4"),
        ("active", "i4"),
        ("threshold", "f8"),
        ("weight", "f8"),
        ("last_attempt", "f8"),
    ],
    align=True,
)


class Rules(NamedTuple):
    """How the tree grows."""

    grace_period: float
    delta: float
    tau: float
    max_bytes: float


class Lesson(NamedTuple):
    """Rows to learn: as they are, and rounded, with targets (n_rows, n_targets) and weights, or none for ones."""

    X: Array
    rounded: Array
    Y: Array
    weights: Array


class Tree(NamedTuple):
    """A tree in flat arrays; `counts` are numbers of nodes and leaves in use.

    Attributes
    ----------
    nodes : structured ndarray
        Places of `NODE`.
    mean, squares : ndarray of shape (n_places, n_targets)
        Of the targets in each node: mean, sum of squared deviations.
    coefs : ndarray of shape (n_leaves, n_targets, n_features + 1)
        Linear models of each leaf, intercept last.
    errors : ndarray of shape (n_leaves, n_targets, 2)
        Faded squared errors of mean and model.
    roots : ndarray of shape (n_leaves, n_features)
        Search trees of each leaf.
    spots : Spots
        What the search trees are made of.
    counts : ndarray of shape (2,)
        Numbers of nodes and of leaves in use.
    """

    nodes: Array
    mean: Array
    squares: Array
    coefs: Array
    errors: Array
    roots: Array
    spots: Spots
    counts: Array


class Desk(NamedTuple):
    """Room for the search, and for what the linear models say of a row."""

    room: Room
    models: Array


def plant(n_features: int, n_targets: int) -> Tree:
    """Make a tree of one leaf that knows nothing."""
    tree = Tree(
        np.zeros(0, NODE),
        np.zeros((0, n_targets)),
        np.zeros((0, n_targets)),
        np.zeros((0, n_targets, n_features + 1)),
        np.zeros((0, n_targets, 2)),
        np.zeros((0, n_features), dtype=np.int64),
        new_spots(SPOTS_AT_FIRST * n_features, n_targets),
        np.zeros(2, dtype=np.int64),
    )
    tree = _longer(tree, 3, 2, 0)
    tree.counts[:] = 1
    tree.nodes[0] = (NONE, NONE, NONE, 0, 1, 0.0, 0.0, 0.0)
    return tree


def learn(tree: Tree, lesson: Lesson, rules: Rules, outputs: Array) -> Tree:
    """Answer each row, if there is room in outputs (n_rows, n_targets), then learn it; return the tree from now on."""
    done, desk = 0, Desk(new_room(lesson.Y.shape[1]), np.empty(lesson.Y.shape[1]))
    n_features = lesson.X.shape[1]
    while True:
        done = _learn_from(tree, lesson, rules, outputs, desk, done)
        if done == len(lesson.X):
            return tree
        n_nodes, n_leaves = tree.counts
        tree = _longer(
            tree,
            len(tree.nodes) + 2 if n_nodes + 2 > len(tree.nodes) else 0,
            len(tree.coefs) + 1 if n_leaves + 1 > len(tree.coefs) else 0,
            max(len(tree.spots.places), n_features) if tree.spots.free[1] < n_features else 0,
        )


def size_bytes(tree: Tree) -> int:
    """Sum the sizes of the arrays."""
    arrays = [*tree[:-2], *tree.spots, tree.counts]
    return sum(array.nbytes for array in arrays)


def _longer(tree: Tree, n_nodes: int, n_leaves: int, n_spots: int) -> Tree:
    roots = extend(tree.roots, n_leaves)
    roots[len(tree.roots) :] = NONE
    return Tree(
        extend(tree.nodes, n_nodes),
        extend(tree.mean, n_nodes),
        extend(tree.squares, n_nodes),
        extend(tree.coefs, n_leaves),
        extend(tree.errors, n_leaves),
        roots,
        longer_spots(tree.spots, n_spots) if n_spots else tree.spots,
        tree.counts,
    )


# ------------------------------------------------------------------ answering
def answer(tree: Tree, X: Array, outputs: Array) -> None:
    """Write the outputs (n_rows, n_targets) for each row."""
    _answer(tree, X, outputs, np.empty(outputs.shape[1]))


@Direct
@njit(**LOOP)
def _answer(tree: Tree, X: Array, outputs: Array, models: Array) -> None:
    for r in range(len(X)):
        _answer_row(tree, _find_leaf(tree, X[r]), X[r], models, outputs, r)


@njit(**HOT)
def _find_leaf(tree: Tree, x: Array) -> int:
    i = 0
    while tree.nodes[i].feature != NONE:
        node = tree.nodes[i]
        i = node.left if x[node.feature] <= node.threshold else node.right
    return i


@njit(**HOT)
def _answer_row(tree: Tree, i: int, x: Array, models: Array, outputs: Array, r: int) -> None:
    """Write what the linear models say, and what is answered: that, or the mean where it has erred less of late."""
    leaf = tree.nodes[i].leaf
    for j in range(len(models)):
        models[j] = _output(tree, leaf, j, x)
        by_mean = tree.errors[leaf, j, 0] < tree.errors[leaf, j, 1]
        if len(outputs):
            outputs[r, j] = tree.mean[i, j] if by_mean else models[j]


@njit(**HOT)
def _output(tree: Tree, leaf: int, j: int, x: Array) -> float:
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    coefs, whole = tree.coefs, len(x) // 4 * 4
    for f in range(0, whole, 4):
        a += coefs[leaf, j, f] * x[f]
        b += coefs[leaf, j, f + 1] * x[f + 1]
        c += coefs[leaf, j, f + 2] * x[f + 2]
        d += coefs[leaf, j, f + 3] * x[f + 3]
    for f in range(whole, len(x)):
        a += coefs[leaf, j, f] * x[f]
    return (a + b) + (c + d) + coefs[leaf, j, len(x)]


# ------------------------------------------------------------------- learning
@Direct
@njit(**LOOP)
def _learn_from(tree: Tree, lesson: Lesson, rules: Rules, outputs: Array, desk: Desk, done: int) -> int:
    """Learn on from a row, and return the row before which places ran short, if they do."""
    models = desk.models
    for r in range(done, len(lesson.X)):
        short = tree.counts[0] + 2 > len(tree.nodes) or tree.counts[1] + 1 > len(tree.coefs)
        if short or tree.spots.free[1] < lesson.X.shape[1]:
            return r
        x, y = lesson.X[r], lesson.Y[r]
        i = _find_leaf(tree, x)
        _answer_row(tree, i, x, models, outputs, r)
        weight = lesson.weights[r] if len(lesson.weights) else 1.0
        if weight > 0.0:
            _learn_models(tree, i, x, y, weight, models)
            _teach(tree, i, lesson.rounded[r], y, weight, rules, desk.room)
    return len(lesson.X)


@njit(**HOT)
def _teach(tree: Tree, i: int, rounded: Array, y: Array, weight: float, rules: Rules, room: Room) -> None:
    node = tree.nodes[i]
    node.weight = learn_targets(tree.mean[i], tree.squares[i], node.weight, y, weight)
    _observe(tree, i, rounded, y, weight, rules)
    if node.active and node.weight - node.last_attempt >= rules.grace_period:
        # after a split the node is a branch, for which the date of the attempt means nothing
        node.last_attempt = node.weight
        _attempt_split(tree, i, rules, room)


@njit(**HOT)
def _learn_models(tree: Tree, i: int, x: Array, y: Array, weight: float, models: Array) -> None:
    """Fade the errors of mean and model, then take one step of gradient descent."""
    leaf = tree.nodes[i].leaf
    for j in range(len(y)):
        tree.errors[leaf, j, 0] = DECAY * tree.errors[leaf, j, 0] + (y[j] - tree.mean[i, j]) ** 2
        tree.errors[leaf, j, 1] = DECAY * tree.errors[leaf, j, 1] + (y[j] - models[j]) ** 2
        slope = min(max(2.0 * (models[j] - y[j]) * weight, -STEEPEST), STEEPEST)
        for f in range(len(x)):
            tree.coefs[leaf, j, f] -= RATE * (slope * x[f])
        tree.coefs[leaf, j, len(x)] -= RATE * slope


@njit(**HOT)
def _observe(tree: Tree, i: int, rounded: Array, y: Array, weight: float, rules: Rules) -> None:
    """Add a row to the search trees of a leaf; a leaf that finds no memory left stops observing."""
    node = tree.nodes[i]
    if not node.active:
        return
    n_spots = len(tree.spots.places) - tree.spots.free[1] + len(rounded)
    if n_spots * (40.0 + 16.0 * len(y)) > rules.max_bytes:
        _stop_observing(tree, i)
        node.active = 0
        return
    for f in range(len(rounded)):
        tree.roots[node.leaf, f] = add_value(tree.spots, tree.roots[node.leaf, f], rounded[f], y, weight)


@njit(**BUILD)
def _stop_observing(tree: Tree, i: int) -> None:
    leaf = tree.nodes[i].leaf
    for f in range(tree.roots.shape[1]):
        drop_all(tree.spots, tree.roots[leaf, f])
        tree.roots[leaf, f] = NONE


@njit(**BUILD)
def _attempt_split(tree: Tree, i: int, rules: Rules, room: Room) -> None:
    """Split where the next best feature takes away clearly less variance than the best, or the two are as good."""
    node = tree.nodes[i]
    before = Sums(np.array([node.weight]), tree.mean[i].copy(), tree.squares[i].copy())
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    for f in range(tree.roots.shape[1]):
        merit, key = best_value(tree.spots, tree.roots[node.leaf, f], before, room, best)
        if merit >= best:
            feature, threshold, best, second = f, key, merit, best
        elif merit > second:
            second = merit
    bound = math.sqrt(math.log(1.0 / rules.delta) / (2.0 * node.weight))
    if best > 0.0 and (second / best < 1.0 - bound or bound < rules.tau):
        _split(tree, i, feature, threshold, room)
    elif best > 0.0 and second > 0.0:
        least = second / best - 2.0 * bound
        for f in range(tree.roots.shape[1]):
            tree.roots[node.leaf, f] = prune(tree.spots, tree.roots[node.leaf, f], before, room, best, least)


@njit(**BUILD)
def _split(tree: Tree, i: int, feature: int, threshold: float, room: Room) -> None:
    """Turn a leaf into a branch; both children start with its models and errors, and what is known of their targets."""
    node = tree.nodes[i]
    _stop_observing(tree, i)
    node.feature, node.threshold = feature, threshold
    node.left, node.right = tree.counts[0], tree.counts[0] + 1
    old, new = node.leaf, tree.counts[1]
    # element by element: to check shapes takes Numba seconds to compile
    for j in range(tree.coefs.shape[1]):
        for f in range(tree.coefs.shape[2]):
            tree.coefs[new, j, f] = tree.coefs[old, j, f]
        for k in range(tree.errors.shape[2]):
            tree.errors[new, j, k] = tree.errors[old, j, k]
    _start_leaf(tree, node.left, old, room.best_left)
    _start_leaf(tree, node.right, new, room.best_right)
    node.leaf = NONE
    tree.counts[0] += 2
    tree.counts[1] += 1


@njit(**BUILD)
def _start_leaf(tree: Tree, i: int, leaf: int, known: Sums) -> None:
    node = tree.nodes[i]
    node.feature, node.left, node.right, node.leaf, node.active = NONE, NONE, NONE, leaf, 1
    node.weight = node.last_attempt = known.weight[0]
    copy_sums(Sums(np.empty(1), tree.mean[i], tree.squares[i]), known.weight[0], known.mean, known.squares)
