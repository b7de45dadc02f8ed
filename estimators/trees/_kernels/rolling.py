"""Trees over a window of rows, grown one after the other; each replaces the oldest one."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, LOOP, PART, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._kernels.randomness import GOLDEN, advance, uniform
from estimators._typing import Array, Integer
from estimators.trees._kernels.categories import NO_MARKS, is_marked

LEAF = -1
# Places of a node's parts.
FEATURE, LEFT = 0, 1
# Candidates among which a feature's threshold is chosen, and labels that a node is split by.
N_BINS, N_SPLIT_LABELS = 8, 16
# A leaf starts from the shares of its parent, which count as so many rows; the root from 1/2.
PARENT_ROWS = 3.0
# Trees weigh exp(-loss), summed over recent rows; a row's part fades by this with each row.
FADE = 0.98
# Impurity, and decrease of it, that is rounding.
ROUNDING = 1e-9


class RollingForest(NamedTuple):
    """The rows of a window and the trees that have been grown on it, all changed in place."""

    X: Array  # (n_features, capacity): splits look at one feature of many rows
    codes: Array  # (capacity, n_labels): 0, 1 or `UNKNOWN`
    weights: Array  # (capacity,)
    nodes: Array  # (n_trees, n_nodes, 2): feature, or `LEAF`, and the first of two neighbouring children
    thresholds: Array  # (n_trees, n_nodes): of nominal features the value that goes left
    shares: Array  # (n_trees, n_nodes, n_labels): probability of each label in the node
    born: Array  # (n_trees,): rows learnt when the tree was grown; 0 before
    losses: Array  # (n_trees,): squared errors over recent rows, which fade
    counts: Array  # (2,): rows learnt, and those since a tree was grown
    random: Array  # (1,): state of the random numbers
    nominal: Array = NO_MARKS  # (n_features,): whether a feature is nominal; empty if none is


class Growth(NamedTuple):
    """How trees are grown."""

    window: int
    n_candidates: int
    min_samples_leaf: int


class Scratch(NamedTuple):
    """Room to work in: rows in the order of nodes, where these begin and end, and sums."""

    rows: Array  # (capacity,)
    spans: Array  # (n_nodes, 3): first row, the one after the last, and the parent
    known: Array  # (2, n_labels): weight of rows of the node in which a label is known, and of those that have it
    labels: Array  # (N_SPLIT_LABELS,): which a node is split by
    whole: Array  # (2, N_SPLIT_LABELS): weight of known rows of the node, and of positive ones
    left: Array  # (2, N_SPLIT_LABELS): the same left of a threshold
    bins: Array  # (N_BINS + 1, 2, N_SPLIT_LABELS): the same in each bin
    sizes: Array  # (N_BINS + 1,): rows in each bin
    drawn: Array  # (N_BINS - 1, 2): drawn values of a nominal feature, and the chance of each, increasing
    votes: Array  # (n_trees,)


def new_scratch(forest: RollingForest) -> Scratch:
    """Make room to work in."""
    n_trees, n_nodes, n_labels = forest.shares.shape
    pair = 2, N_SPLIT_LABELS
    return Scratch(
        np.empty(len(forest.codes), np.int64),
        np.empty((n_nodes, 3), np.int64),
        np.empty((2, n_labels)),
        np.empty(N_SPLIT_LABELS, np.int64),
        np.empty(pair),
        np.empty(pair),
        np.empty((N_BINS + 1, *pair)),
        np.empty(N_BINS + 1, np.int64),
        np.empty((N_BINS - 1, 2)),
        np.empty(n_trees),
    )


@Direct
@njit(**LOOP)
def learn(
    forest: RollingForest, X: Array, codes: Array, weights: Array, growth: Growth, scratch: Scratch, proba: Array
) -> None:
    """Predict each row by the trees before it, unless `proba` has no rows, and learn it."""
    counts = forest.counts
    for row in range(len(X)):
        vote(forest, scratch.votes)
        if len(proba):
            predict_row(forest, X[row], scratch.votes, proba[row])
        follow(forest, X[row], codes[row])
        place = counts[0] % growth.window
        for feature in range(X.shape[1]):
            forest.X[feature, place] = X[row, feature]
        for label in range(codes.shape[1]):
            forest.codes[place, label] = codes[row, label]
        forest.weights[place] = weights[row]
        counts[0] += 1
        counts[1] += 1
        n_rows = min(counts[0], growth.window)
        if counts[1] * len(forest.born) >= n_rows:
            counts[1] = 0
            replace_oldest(forest, n_rows, growth, scratch)


@Direct
@njit(**LOOP)
def predict(forest: RollingForest, X: Array, votes: Array, proba: Array) -> None:
    """Write the probabilities (n_rows, n_labels) of rows."""
    vote(forest, votes)
    for row in range(len(X)):
        predict_row(forest, X[row], votes, proba[row])


@njit(**PART)
def vote(forest: RollingForest, votes: Array) -> None:
    """Fill in the weight of each tree: 0 for one that has not been grown yet, of sum 1 otherwise."""
    least, total = np.inf, 0.0
    for tree in range(len(votes)):
        if forest.born[tree]:
            least = min(least, forest.losses[tree])
    for tree in range(len(votes)):
        votes[tree] = np.exp(least - forest.losses[tree]) if forest.born[tree] else 0.0
        total += votes[tree]
    for tree in range(len(votes)):
        if total > 0.0:
            votes[tree] /= total


@njit(**HOT)
def find_leaf(forest: RollingForest, tree: int, x: Array) -> int:
    """Return the leaf of a row."""
    nodes, thresholds, node = forest.nodes[tree], forest.thresholds[tree], 0
    while nodes[node, FEATURE] != LEAF:
        feature = nodes[node, FEATURE]
        node = nodes[node, LEFT] + (not is_left(x[feature], thresholds[node], is_marked(forest.nominal, feature)))
    return node


@njit(**HOT)
def is_left(value: float, threshold: float, nominal: bool) -> bool:
    """Return whether a value belongs to the left child of a node."""
    return value == threshold if nominal else value < threshold


@njit(**PART)
def predict_row(forest: RollingForest, x: Array, votes: Array, proba: Array) -> None:
    """Fill in the probabilities of a row; 0 before any tree."""
    for label in range(len(proba)):
        proba[label] = 0.0
    for tree in range(len(votes)):
        if votes[tree] > 0.0:
            shares = forest.shares[tree, find_leaf(forest, tree, x)]
            for label in range(len(proba)):
                proba[label] += votes[tree] * shares[label]
    for label in range(len(proba)):
        proba[label] = min(proba[label], 1.0)


@Direct
@njit(**LOOP)
def explain(forest: RollingForest, X: Array, votes: Array, base: Array, added: Array) -> None:
    """Fill in the mean shares at the roots, and add what each feature adds to those on the paths of rows."""
    vote(forest, votes)
    for label in range(len(base)):
        base[label] = 0.0
        for tree in range(len(votes)):
            if votes[tree] > 0.0:
                base[label] += votes[tree] * forest.shares[tree, 0, label]
    for tree in range(len(votes)):
        if votes[tree] > 0.0:
            for row in range(len(X)):
                explain_path(forest, tree, X, row, votes[tree], added)


@njit(**PART)
def explain_path(forest: RollingForest, tree: int, X: Array, row: int, weight: float, added: Array) -> None:
    """Add the changes of shares along the path of a row, times a weight."""
    nodes, node = forest.nodes[tree], 0
    while nodes[node, FEATURE] != LEAF:
        feature = nodes[node, FEATURE]
        is_below = is_left(X[row, feature], forest.thresholds[tree, node], is_marked(forest.nominal, feature))
        child = nodes[node, LEFT] + (not is_below)
        for label in range(added.shape[1]):
            change = forest.shares[tree, child, label] - forest.shares[tree, node, label]
            added[row, label, feature] += weight * change
        node = child


@njit(**PART)
def follow(forest: RollingForest, x: Array, codes: Array) -> None:
    """Count the error of each tree on the known labels of a row."""
    n_known = 0
    for label in range(len(codes)):
        n_known += codes[label] != UNKNOWN
    for tree in range(len(forest.born)):
        if forest.born[tree]:
            shares, loss = forest.shares[tree, find_leaf(forest, tree, x)], 0.0
            for label in range(len(codes)):
                if codes[label] != UNKNOWN:
                    loss += (shares[label] - codes[label]) ** 2
            forest.losses[tree] = FADE * forest.losses[tree] + loss / max(n_known, 1)


@njit(**PART)
def replace_oldest(forest: RollingForest, n_rows: int, growth: Growth, scratch: Scratch) -> None:
    """Grow a tree on the window in the place of the oldest one; it starts with the least loss of the others."""
    oldest, least = 0, np.inf
    for tree in range(len(forest.born)):
        if forest.born[tree] < forest.born[oldest]:
            oldest = tree
    for tree in range(len(forest.born)):
        if forest.born[tree] and tree != oldest:
            least = min(least, forest.losses[tree])
    grow_tree(forest, oldest, n_rows, growth, scratch)
    forest.born[oldest] = forest.counts[0]
    forest.losses[oldest] = 0.0 if least == np.inf else least


# --------------------------------------------------------------------------------------------------------- one tree
@njit(**PART)
def grow_tree(forest: RollingForest, tree: int, n_rows: int, growth: Growth, scratch: Scratch) -> None:
    """Grow a tree on the rows of the window, level by level, as far as rows and nodes reach."""
    nodes, rows, spans = forest.nodes[tree], scratch.rows, scratch.spans
    for row in range(n_rows):
        rows[row] = row
    spans[0, 0], spans[0, 1], spans[0, 2] = 0, n_rows, LEAF
    n_nodes, node = 1, 0
    while node < n_nodes:
        nodes[node, FEATURE] = LEAF
        first, last = spans[node, 0], spans[node, 1]
        count(forest, first, last, scratch)
        set_shares(forest.shares[tree], node, scratch)
        if last - first >= 2 * growth.min_samples_leaf and n_nodes + 2 <= len(nodes):
            feature, threshold = best_split(forest, first, last, growth, scratch)
            if feature != LEAF:
                nominal = is_marked(forest.nominal, feature)
                middle = part(forest.X[feature], rows, first, last, threshold, nominal)
                nodes[node, FEATURE], nodes[node, LEFT], forest.thresholds[tree, node] = feature, n_nodes, threshold
                spans[n_nodes, 0], spans[n_nodes, 1], spans[n_nodes, 2] = first, middle, node
                spans[n_nodes + 1, 0], spans[n_nodes + 1, 1], spans[n_nodes + 1, 2] = middle, last, node
                n_nodes += 2
        node += 1


@njit(**PART)
def count(forest: RollingForest, first: int, last: int, scratch: Scratch) -> None:
    """Add up, for each label, the rows of a node in which it is known, and those that have it."""
    known = scratch.known
    for label in range(known.shape[1]):
        known[0, label] = known[1, label] = 0.0
    for place in range(first, last):
        row = scratch.rows[place]
        for label in range(known.shape[1]):
            if forest.codes[row, label] != UNKNOWN:
                known[0, label] += forest.weights[row]
                known[1, label] += forest.weights[row] * forest.codes[row, label]


@njit(**PART)
def set_shares(shares: Array, node: int, scratch: Scratch) -> None:
    """Set the shares of the labels among the rows of a node, drawn towards those of its parent."""
    parent = scratch.spans[node, 2]
    for label in range(shares.shape[1]):
        share = 0.5 if parent == LEAF else shares[parent, label]
        positive, known = scratch.known[1, label], scratch.known[0, label]
        shares[node, label] = (positive + PARENT_ROWS * share) / (known + PARENT_ROWS)


@njit(**PART)
def part(values: Array, rows: Array, first: int, last: int, threshold: float, nominal: bool) -> int:
    """Move the rows of the left child before the others, and return where these begin."""
    last -= 1
    while first <= last:
        if is_left(values[rows[first]], threshold, nominal):
            first += 1
        else:
            rows[first], rows[last] = rows[last], rows[first]
            last -= 1
    return first


@njit(**PART)
def best_split(forest: RollingForest, first: int, last: int, growth: Growth, scratch: Scratch) -> tuple[int, float]:
    """Return the feature, of some that are drawn, and threshold or value that lower the variance of labels most."""
    n_labels = draw_labels(forest, scratch)
    best, best_feature, best_threshold = ROUNDING, LEAF, 0.0
    if n_labels == 0:
        return best_feature, best_threshold
    n_tried = 0
    for _ in range(3 * growth.n_candidates):
        forest.random[0] = advance(forest.random[0])
        feature = int(uniform(forest.random[0]) * len(forest.X))
        values = forest.X[feature]
        low = high = values[scratch.rows[first]]
        for place in range(first + 1, last):
            value = values[scratch.rows[place]]
            low, high = min(low, value), max(high, value)
        if low == high:
            continue
        forest.random[0] = advance(forest.random[0])
        if is_marked(forest.nominal, feature):
            gain, threshold = best_value_of(forest, (first, last), feature, n_labels, growth.min_samples_leaf, scratch)
        else:
            gain, threshold = best_threshold_of(
                forest, (first, last), (feature, low, high), n_labels, growth.min_samples_leaf, scratch
            )
        if gain > best:
            best, best_feature, best_threshold = gain, feature, threshold
        n_tried += 1
        if n_tried == growth.n_candidates:
            break
    return best_feature, best_threshold


@njit(**PART)
def draw_labels(forest: RollingForest, scratch: Scratch) -> int:
    """Fill in labels that vary in a node, at most as many as fit, and their sums; return their number."""
    n_drawn = n_met = 0
    for label in range(scratch.known.shape[1]):
        known, positive = scratch.known[0, label], scratch.known[1, label]
        if min(positive, known - positive) <= ROUNDING * known:
            continue
        # a uniform sample of the labels that vary
        n_met, kept = n_met + 1, n_drawn
        if n_drawn < N_SPLIT_LABELS:
            n_drawn += 1
        else:
            forest.random[0] = advance(forest.random[0])
            kept = int(uniform(forest.random[0]) * n_met)
        if kept < N_SPLIT_LABELS:
            scratch.labels[kept], scratch.whole[0, kept], scratch.whole[1, kept] = label, known, positive
    return n_drawn


@njit(**PART)
def best_threshold_of(
    forest: RollingForest,
    node: tuple[int, int],
    column: tuple[int, float, float],
    n_labels: int,
    min_samples_leaf: int,
    scratch: Scratch,
) -> tuple[float, float]:
    """Return the gain and value of the best threshold of a feature: one of few, equally far apart, from a drawn start.

    The gain is the sum over labels of the decrease of the sum of squared deviations.
    """
    n_rows = node[1] - node[0]
    low, high = column[1:]
    n_bins, start = min(N_BINS, n_rows), uniform(forest.random[0])
    per_unit = (n_bins - 1.0) / (high - low)
    if not 0.0 < per_unit < np.inf:
        # a range that has no number
        return 0.0, low
    fill_bins(forest, node, column, (n_bins, per_unit, start), n_labels, scratch)
    left, whole = scratch.left, scratch.whole
    best, best_bin, n_left = 0.0, LEAF, 0
    for label in range(n_labels):
        left[0, label] = left[1, label] = 0.0
    for bin_ in range(n_bins):
        n_left += scratch.sizes[bin_]
        gain = 0.0
        for label in range(n_labels):
            left[0, label] += scratch.bins[bin_, 0, label]
            left[1, label] += scratch.bins[bin_, 1, label]
            gain += decrease(left[0, label], left[1, label], whole[0, label], whole[1, label])
        if scratch.sizes[bin_] and min(n_left, n_rows - n_left) >= min_samples_leaf and gain > best:
            best, best_bin = gain, bin_
    return best, low + (best_bin + 1 - start) / per_unit


@njit(**PART)
def fill_bins(
    forest: RollingForest,
    node: tuple[int, int],
    column: tuple[int, float, float],
    width: tuple[int, float, float],
    n_labels: int,
    scratch: Scratch,
) -> None:
    """Count the rows of a node, and the known and positive ones of each label, by the bin of their value."""
    feature, low, _ = column
    n_bins, per_unit, start = width
    clear_bins(n_bins + 1, n_labels, scratch)
    for place in range(node[0], node[1]):
        row = scratch.rows[place]
        add_to_bin(forest, row, int((forest.X[feature, row] - low) * per_unit + start), n_labels, scratch)


@njit(**HOT)
def clear_bins(n_bins: int, n_labels: int, scratch: Scratch) -> None:
    """Empty bins."""
    for bin_ in range(n_bins):
        scratch.sizes[bin_] = 0
        for label in range(n_labels):
            scratch.bins[bin_, 0, label] = scratch.bins[bin_, 1, label] = 0.0


@njit(**HOT)
def add_to_bin(forest: RollingForest, row: int, bin_: int, n_labels: int, scratch: Scratch) -> None:
    """Count a row in a bin."""
    scratch.sizes[bin_] += 1
    for label in range(n_labels):
        code = forest.codes[row, scratch.labels[label]]
        if code != UNKNOWN:
            scratch.bins[bin_, 0, label] += forest.weights[row]
            scratch.bins[bin_, 1, label] += forest.weights[row] * code


@njit(**PART)
def best_value_of(
    forest: RollingForest, node: tuple[int, int], feature: int, n_labels: int, min_samples_leaf: int, scratch: Scratch
) -> tuple[float, float]:
    """Return the gain and value of the best split of one value of a nominal feature against the rest, of few drawn."""
    drawn, n_rows, whole = scratch.drawn, node[1] - node[0], scratch.whole
    n_drawn = draw_values(forest.X[feature], node, np.uint64(uniform(forest.random[0]) * 2.0**53), scratch)
    clear_bins(n_drawn, n_labels, scratch)
    for place in range(node[0], node[1]):
        row, k = scratch.rows[place], 0
        while k < n_drawn and drawn[k, 0] != forest.X[feature, row]:
            k += 1
        if k < n_drawn:
            add_to_bin(forest, row, k, n_labels, scratch)
    best, value = 0.0, drawn[0, 0]
    for k in range(n_drawn):
        gain = 0.0
        for label in range(n_labels):
            known, positive = scratch.bins[k, 0, label], scratch.bins[k, 1, label]
            gain += decrease(known, positive, whole[0, label], whole[1, label])
        if min(scratch.sizes[k], n_rows - scratch.sizes[k]) >= min_samples_leaf and gain > best:
            best, value = gain, drawn[k, 0]
    return best, value


@njit(**PART)
def draw_values(values: Array, node: tuple[int, int], seed: Integer, scratch: Scratch) -> int:
    """Fill in values of the rows of a node, at most as many as fit, and return their number.

    Each row has a chance, by its place in the window. A value has the least chance of its rows, and those of the least
    chances are drawn: rows are drawn one after the other, and those of a value that has been drawn do not count.
    """
    drawn, n_drawn = scratch.drawn, 0
    for place in range(node[0], node[1]):
        row = scratch.rows[place]
        chance, value = uniform(seed + np.uint64(row) * GOLDEN), values[row]
        if n_drawn == len(drawn) and chance >= drawn[n_drawn - 1, 1]:
            continue
        k = 0
        while k < n_drawn and drawn[k, 0] != value:
            k += 1
        if k < n_drawn and chance >= drawn[k, 1]:
            continue
        if k == len(drawn):
            # the value of the greatest chance gives way
            k -= 1
        elif k == n_drawn:
            n_drawn += 1
        while k > 0 and drawn[k - 1, 1] > chance:
            drawn[k, 0], drawn[k, 1], k = drawn[k - 1, 0], drawn[k - 1, 1], k - 1
        drawn[k, 0], drawn[k, 1] = value, chance
    return n_drawn


@njit(**HOT)
def decrease(known: float, positive: float, all_known: float, all_positive: float) -> float:
    """Return by how much the squared deviations of a label fall where its rows are cut in two."""
    others = all_known - known
    if known <= 0.0 or others <= 0.0:
        return 0.0
    apart = positive / known - (all_positive - positive) / others
    return apart * apart * known * others / all_known
