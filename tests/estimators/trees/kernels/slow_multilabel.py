"""The multi-label Hoeffding tree as objects: leaves keep the rows of both values of each label in dictionaries."""

import math
from itertools import pairwise

from estimators.trees._kernels.hoeffding import SKIP
from estimators.trees._kernels.multilabel_arrays import LABEL_BYTES, NODE_BYTES, OBSERVER_BYTES
from tests.estimators.trees.kernels.slow_observers import (
    N_MOMENTS,
    Observer,
    entropy,
    first_best,
    in_turn,
    is_due,
    is_more,
    thresholds,
)


def node_bytes(n_labels):
    """Return what a node takes of the memory that is counted."""
    return NODE_BYTES + LABEL_BYTES * n_labels


def slot_bytes(n_features, n_labels):
    """Return what the observers of a leaf take."""
    return 2 * n_labels * (OBSERVER_BYTES + 8 * N_MOMENTS * n_features)


class Label:
    """A label in a leaf: weights and rows of its values, both in the order in which they came, and right guesses."""

    def __init__(self):
        self.weights, self.observers, self.majority_hits, self.bayes_hits = {}, {}, 0.0, 0.0

    @property
    def weight(self):
        return self.weights.get(0, 0.0) + self.weights.get(1, 0.0)

    def count(self, value, weight):
        self.weights[value] = self.weights.get(value, 0.0) + weight

    def observe(self, value, x, weight):
        self.observers.setdefault(value, Observer()).add(x, weight)

    def most(self, scores):
        """Return the value of the greatest score, of equals that seen first; None without any."""
        best = None
        for value in self.weights:
            if best is None or is_more(scores[value], scores[best]):
                best = value
        return best

    def log_joint(self, x):
        """Return the logarithm of weight times density; as in River, a value of weight 0 has probability one."""
        scores = {}
        for value, weight in self.weights.items():
            scores[value] = math.log(weight or self.weight)
            if weight and value in self.observers:
                scores[value] += self.observers[value].log_density(x)
        return scores

    def guess(self, x):
        """Return the value that naive Bayes finds more probable."""
        return self.most(self.log_joint(x)) if self.weight else None

    def votes(self, x, *, active):
        if not self.weight:
            return [0.0, 0.0]
        shares = self.weights
        if active and self.bayes_hits >= self.majority_hits:
            scores = self.log_joint(x)
            shares = {value: math.exp(score - max(scores.values())) for value, score in scores.items()}
        return [shares.get(value, 0.0) / math.fsum(shares.values()) for value in (0, 1)]

    def score_guess(self, value, guess, weight):
        """Count whether majority and naive Bayes were right; as in River, the majority of no rows is right."""
        self.majority_hits += weight if self.most(self.weights) in (None, value) else 0.0
        self.bayes_hits += weight if guess == value else 0.0


class Node:
    """A leaf, until it has children; `observes` tells whether it has places for its observers."""

    def __init__(self, depth, n_labels):
        self.depth, self.labels, self.last_attempt = depth, [Label() for _ in range(n_labels)], 0.0
        self.active, self.observes, self.feature, self.threshold, self.children = True, False, None, None, ()

    @property
    def weight(self):
        return in_turn(label.weight for label in self.labels) / len(self.labels)

    @property
    def promise(self):
        return in_turn(min(label.weights.get(0, 0.0), label.weights.get(1, 0.0)) for label in self.labels)

    def forget(self):
        """Start to observe again, when the next row comes."""
        self.observes = False
        for label in self.labels:
            label.observers = {}

    def observers(self):
        return [observer for label in self.labels for observer in label.observers.values()]

    def parts(self, f, at):
        """Return the weights of the values of each label on the left, and on the right."""
        left = [{v: one.below(f, at) for v, one in label.observers.items()} for label in self.labels]
        pairs = zip(self.labels, left, strict=True)
        return left, [{v: one.weight - part[v] for v, one in label.observers.items()} for label, part in pairs]

    def gain(self, f, at):
        """Return the information that a split gains about a label, on average; each side needs a hundredth."""
        left, right = self.parts(f, at)
        n_left, n_right = (math.fsum(w for part in side for w in part.values()) for side in (left, right))
        if not is_more(min(n_left, n_right) / (n_left + n_right), 0.01):
            return -math.inf
        total = 0.0
        for label, *sides in zip(self.labels, left, right, strict=True):
            if label.observers:
                n = sum(label.observers[v].weight for v in label.observers)
                rest = sum(sum(part.values()) * entropy(part.values()) for part in sides)
                total += entropy(label.weights.values()) - rest / n
        return total / len(self.labels)

    def best_threshold(self, f):
        low = min((one.low[f] for one in self.observers()), default=math.inf)
        high = max((one.high[f] for one in self.observers()), default=-math.inf)
        return first_best((self.gain(f, at), at) for at in thresholds(low, high))


class SlowMultilabelTree:
    """Predict and learn row by row."""

    def __init__(self, n_features, n_labels, params):
        self.n_features, self.n_labels, self.params = n_features, n_labels, params
        # in the order in which they were made
        self.nodes = [Node(0, n_labels)]

    def leaves(self):
        return [node for node in self.nodes if not node.children]

    def find(self, x):
        node = self.nodes[0]
        while node.children:
            node = node.children[0 if x[node.feature] <= node.threshold else 1]
        return node

    def predict(self, x):
        leaf = self.find(x)
        return [label.votes(x, active=leaf.active) for label in leaf.labels]

    def learn(self, x, codes, weight):
        leaf = self.find(x)
        known = [(label, code) for label, code in zip(leaf.labels, codes, strict=True) if code != SKIP]
        for label, code in known:
            if leaf.active:
                label.score_guess(code, label.guess(x), weight)
            label.count(code, weight)
        if leaf.active and not leaf.observes and self.n_slots() + 1 > self.allowed():
            leaf.active = False
        if leaf.active:
            leaf.observes = True
            for label, code in known:
                label.observe(code, x, weight)
            self.consider(leaf)

    def consider(self, leaf):
        """Try to split a leaf whose grace period is over; one that is too deep stops observing."""
        if leaf.depth >= self.params.max_depth:
            leaf.active = False
            leaf.forget()
        elif is_due(leaf.weight, leaf.last_attempt, self.params.grace_period, born=leaf.depth > 0):
            leaf.last_attempt = leaf.weight
            self.attempt(leaf)

    def attempt(self, leaf):
        mixed = [label for label in leaf.labels if all(label.weights.get(value) for value in (0, 1))]
        if mixed and not any(is_more(0.99, max(one.weights.values()) / one.weight) for one in mixed):
            # nearly constant labels
            leaf.forget()
            self.keep_promising()
        elif mixed:
            self.split_if_best(leaf)

    def split_if_best(self, leaf):
        merits = [leaf.best_threshold(f) for f in range(self.n_features)]
        order = sorted(range(self.n_features), key=lambda f: (merits[f][0], f))
        feature, best = order[-1], merits[order[-1]][0]
        second = merits[order[-2]][0] if len(order) > 1 else -math.inf
        bound = math.sqrt(math.log(1 / self.params.delta) / (2 * leaf.weight))
        is_more(best, second)
        if is_more(best - second, bound) or is_more(self.params.tau, bound):
            if best > -math.inf:
                self.split(leaf, feature, merits[feature][1])
            leaf.forget()
            self.keep_promising()

    def split(self, leaf, f, at):
        leaf.feature, leaf.threshold = f, at
        leaf.children = [Node(leaf.depth + 1, self.n_labels) for _ in range(2)]
        left, right = leaf.parts(f, at)
        all_left = math.fsum(w for part in left for w in part.values())
        share = all_left / math.fsum(one.weight for one in leaf.observers())
        for j, label in enumerate(leaf.labels):
            one, two = (child.labels[j] for child in leaf.children)
            if not label.observers:
                # no row has shown the label since the leaf began
                one.weights = {value: share * weight for value, weight in label.weights.items()}
                two.weights = {value: (1 - share) * weight for value, weight in label.weights.items()}
            for value, observer in label.observers.items():
                if at >= observer.low[f]:
                    one.count(value, left[j][value])
                if at < observer.high[f]:
                    two.count(value, right[j][value])
        for child in leaf.children:
            child.last_attempt = child.weight
        self.nodes += leaf.children

    # --------------------------------------------------------------- memory
    def n_slots(self):
        return sum(node.observes for node in self.nodes)

    def allowed(self):
        rest = self.params.max_bytes - len(self.nodes) * node_bytes(self.n_labels)
        return rest / slot_bytes(self.n_features, self.n_labels)

    def keep_promising(self):
        """Let the leaves of the heaviest rarer values observe, if memory does not suffice for all."""
        leaves, allowed = self.leaves(), self.allowed()
        if all(leaf.active for leaf in leaves) and self.n_slots() <= allowed:
            return
        order = sorted(leaves, key=lambda leaf: -leaf.promise)
        for one, two in pairwise(order):
            is_more(one.promise, two.promise)
        for place, leaf in enumerate(order, 1):
            leaf.active = place <= allowed and leaf.depth < self.params.max_depth
            if not leaf.active:
                leaf.forget()
