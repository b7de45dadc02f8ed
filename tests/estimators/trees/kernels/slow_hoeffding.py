"""Hoeffding trees as objects: leaves keep every row that they observe, and try every threshold of every feature."""

import math
from typing import NamedTuple

from estimators.trees._kernels.leaf_budget import NODE_BYTES, OBSERVER_BYTES, STAT_BYTES
from tests.estimators.ensembles.draws import uniforms
from tests.estimators.trees.kernels.slow_observers import (
    N_MOMENTS,
    Observer,
    UndecidedError,
    entropy,
    in_turn,
    thresholds,
)

TIE = 1e-12


class Split(NamedTuple):
    """The gain of a threshold, and the weights of the classes below."""

    merit: float
    threshold: float
    left: list[float]


NO_SPLIT = Split(-math.inf, 0.0, [])


def best_of(splits, *, last=False):
    """Return the first or last of the best, where more than the rounding decides between parts.

    The entropy of one class is zero, to the last bit, so that all parts of one class gain exactly the same.
    """
    best = max(split.merit for split in splits)
    near = [split for split in splits if split.merit == best or best - split.merit < TIE]
    if any(len(split.left) > 1 and split.left != near[0].left for split in near):
        raise UndecidedError
    ties = [split for split in splits if split.merit == best]
    return ties[-1 if last else 0]


class Node:
    """A leaf, until it has children: weights of classes as first seen, and what it observes of each class."""

    def __init__(self, depth, features, counts):
        self.depth, self.features, self.counts, self.observers = depth, features, dict(counts), {}
        self.last_attempt, self.majority_hits, self.bayes_hits, self.active = self.weight, 0.0, 0.0, True
        self.feature, self.threshold, self.children = None, None, ()

    @property
    def weight(self):
        return in_turn(self.counts.values())

    @property
    def promise(self):
        return self.weight - max(self.counts.values(), default=0.0)

    def majority(self):
        return max(self.counts, key=self.counts.get, default=None)

    def log_joint(self, x):
        """Return the logarithm of the joint probability of the row and each class; a class of weight 0 has 1."""
        scores = {}
        for code, weight in self.counts.items():
            scores[code] = math.log(weight / self.weight) if weight > 0 else 0.0
            if weight > 0 and code in self.observers:
                scores[code] += self.observers[code].log_density(x[self.features])
        return scores

    def guess(self, x):
        """Return the class that naive Bayes finds most probable."""
        if not self.active or self.weight == 0:
            return None
        scores = self.log_joint(x)
        return max(scores, key=scores.get)

    def votes(self, x):
        if self.weight == 0:
            return {}
        if not self.active or self.bayes_hits < self.majority_hits:
            return {code: weight / self.weight for code, weight in self.counts.items()}
        scores = self.log_joint(x)
        shares = {code: math.exp(score - max(scores.values())) for code, score in scores.items()}
        return {code: share / math.fsum(shares.values()) for code, share in shares.items()}

    def stop(self):
        self.active, self.observers = False, {}

    def best_two_splits(self):
        """Return feature, threshold and merit of the best split, and the merit of the next best feature."""
        splits = [self.best_threshold(f) for f in range(len(self.features))]
        best = best_of(splits, last=True)
        f = max(f for f, split in enumerate(splits) if split.merit == best.merit)
        second = max((split.merit for other, split in enumerate(splits) if other != f), default=-math.inf)
        return (None if best.merit == -math.inf else f), best.threshold, best.merit, second

    def best_threshold(self, f):
        return best_of(self.splits(f))

    def splits(self, f):
        """Return no split, and those of ten thresholds that leave a part on both sides."""
        low = min((o.low[f] for o in self.observers.values()), default=math.inf)
        high = max((o.high[f] for o in self.observers.values()), default=-math.inf)
        splits, before = [NO_SPLIT], entropy(self.counts.values())
        for value in thresholds(low, high):
            left = [o.below(f, value) for o in self.observers.values()]
            right = [o.weight - part for o, part in zip(self.observers.values(), left, strict=True)]
            n_left, n_right = in_turn(left), in_turn(right)
            share = n_left / (n_left + n_right)
            if min(n_left, n_right) / (n_left + n_right) > 0.01:
                splits.append(Split(before - share * entropy(left) - (1 - share) * entropy(right), value, left))
        return splits


class SlowTree:
    """A tree that learns row by row; with a width, each leaf draws so many features to observe."""

    def __init__(self, d, params, *, width=None, state=0):
        self.d, self.params, self.width, self.chances = d, params, width, uniforms(int(state))
        self.root = self.new_leaf(0)

    def new_leaf(self, depth, counts=()):
        return Node(depth, self.draw_features(), counts)

    def new_observer(self):
        return Observer()

    def draw_features(self):
        """Draw a sorted subset by Knuth's algorithm S."""
        if self.width is None:
            return list(range(self.d))
        drawn = []
        for feature in range(self.d):
            if next(self.chances) * (self.d - feature) < self.width - len(drawn):
                drawn.append(feature)
        return drawn

    def nodes(self):
        """Yield all nodes, left before right."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def leaves(self):
        return [node for node in self.nodes() if not node.children]

    def find(self, x):
        node = self.root
        while node.children:
            node = node.children[0 if x[node.feature] <= node.threshold else 1]
        return node

    def votes(self, x):
        return self.find(x).votes(x)

    def learn(self, x, code, weight):
        leaf = self.find(x)
        if self.learn_in(leaf, x, code, weight, leaf.guess(x)):
            if leaf.depth >= self.params.max_depth:
                leaf.stop()
            elif leaf.weight - leaf.last_attempt >= self.params.grace_period:
                self.attempt(leaf)

    def learn_in(self, leaf, x, code, weight, guess):
        """Count a row in a leaf, and return whether the leaf observes it, too."""
        if leaf.active:
            leaf.majority_hits += weight if leaf.majority() in (code, None) else 0.0
            leaf.bayes_hits += weight if guess == code else 0.0
        leaf.counts[code] = leaf.counts.get(code, 0.0) + weight
        if leaf.active and code not in leaf.observers:
            if self.n_observers() + 1 > self.allowed():
                leaf.stop()
            else:
                leaf.observers[code] = self.new_observer()
        if leaf.active:
            leaf.observers[code].add(x[leaf.features], weight)
        return leaf.active

    def attempt(self, leaf):
        """Split a leaf if that pays; without a split that gains anything its observers start again."""
        leaf.last_attempt = leaf.weight
        ready, feature, threshold = self.choose(leaf)
        if ready:
            if feature is not None:
                self.split(leaf, feature, threshold)
            leaf.observers = {}
            self.keep_promising()

    def choose(self, leaf):
        """Return whether a leaf is ready for a decision, and the feature, None for no split, and threshold."""
        present = [weight for weight in leaf.counts.values() if weight]
        if len(present) < 2:
            return False, None, None
        if max(present) / leaf.weight > 0.99:
            return True, None, None
        bound = self.bound(leaf)
        feature, threshold, best, second = leaf.best_two_splits()
        return best - second > bound or bound < self.params.tau, feature, threshold

    def bound(self, node):
        """Return Hoeffding's bound of the error of a gain, from as many rows as a node has counted."""
        reach = math.log2(max(len(node.counts), 2))
        return math.sqrt(reach**2 * math.log(1 / self.params.delta) / (2 * node.weight))

    def split(self, leaf, f, threshold):
        sides = [{}, {}]
        for code, observer in leaf.observers.items():
            below = observer.below(f, threshold)
            if threshold >= observer.low[f]:
                sides[0][code] = below
            if threshold < observer.high[f]:
                sides[1][code] = observer.weight - below
        leaf.feature, leaf.threshold = leaf.features[f], threshold
        leaf.children = [self.new_leaf(leaf.depth + 1, counts) for counts in sides]

    # --------------------------------------------------------------- memory
    def node_bytes(self):
        return NODE_BYTES

    def n_observers(self):
        return sum(len(node.observers) for node in self.nodes())

    def allowed(self):
        """Return how many observers fit into memory beside nodes and weights."""
        used = sum(self.node_bytes() + STAT_BYTES * len(node.counts) for node in self.nodes())
        width = self.width or self.d
        return (self.params.max_bytes - used) / (OBSERVER_BYTES + 8 * N_MOMENTS * width)

    def keep_promising(self):
        """Let the most promising leaves observe, as many as memory allows, if it does not suffice for all."""
        allowed, leaves = self.allowed(), self.leaves()
        if all(leaf.active for leaf in leaves) and self.n_observers() <= allowed:
            return
        self.keep(leaves, allowed)

    def keep(self, leaves, allowed):
        needed = 0
        for leaf in sorted(leaves, key=lambda leaf: -leaf.promise):
            needed += len(leaf.counts)
            if needed > allowed and leaf.active:
                leaf.stop()
            elif needed <= allowed and leaf.depth < self.params.max_depth:
                leaf.active = True
