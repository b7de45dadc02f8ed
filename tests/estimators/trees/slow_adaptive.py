"""The multi-label Hoeffding adaptive tree as a plain Python loop over objects, written from its description."""

import math

import numpy as np
from river.drift import ADWIN

GOLDEN, ALL = 0x9E3779B97F4A7C15, 2**64 - 1


class Numbers:
    """Uniform numbers by SplitMix64, and draws from Poisson by Knuth's product."""

    def __init__(self, state):
        self.state = state

    def uniform(self):
        self.state = (self.state + GOLDEN) & ALL
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ALL
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ALL
        return ((z ^ (z >> 31)) >> 11) / 2**53

    def poisson(self, rate):
        k, product = 0, 1.0
        while product > math.exp(-rate):
            product *= self.uniform()
            k += 1
        return k - 1


class Mean:
    """A weighted mean, shared by nodes that hold the same object."""

    def __init__(self):
        self.n = self.value = 0.0

    def add(self, x, w):
        self.n += w
        self.value += (w / self.n) * (x - self.value)


class Gaussian:
    """Weighted moments and range of one feature."""

    def __init__(self):
        self.n = self.mean = self.squares = 0.0
        self.low, self.high = math.inf, -math.inf

    def add(self, x, w):
        self.n += w
        before = self.mean
        self.mean += (w / self.n) * (x - before)
        self.squares += w * (x - before) * (x - self.mean)
        self.low, self.high = min(self.low, x), max(self.high, x)

    def below(self, t):
        variance = self.squares / (self.n - 1) if self.n > 1 else 0.0
        if variance == 0:
            return 0.0
        return 0.5 * (1 + math.erf((t - self.mean) / math.sqrt(variance) / math.sqrt(2))) * self.n


class Node:
    """Counts, errors, and a window over them, of a branch or leaf."""

    def __init__(self, counts, background):
        self.counts, self.background = dict(counts), background
        self.error, self.window, self.post = Mean(), ADWIN(), 0.0

    @property
    def total(self):
        return self.counts.get("total", 0.0)

    def count(self, present, w):
        for key in [*(present or ["empty"]), "total"]:
            self.counts[key] = self.counts.get(key, 0.0) + w

    def measure(self, y, predicted, w):
        """Add a loss, and return the error before and whether the window has changed."""
        before = self.error.value
        self.error.add(sum(a != b for a, b in zip(y, predicted, strict=True)) / len(y), w)
        self.window.update(self.error.value)
        return before, self.window.drift_detected


class Leaf(Node):
    """A leaf, whose bagged regressions start with the same random numbers in every leaf."""

    def __init__(self, tree, counts, background):
        super().__init__(counts, background)
        self.weight, self.last_attempt, self.active = 0.0, self.total, True
        self.observers, self.sets, self.rows = {}, [], []
        self.numbers = Numbers(tree.bagging)
        self.coefs = [[[0.0] * (tree.d + 1) for _ in range(tree.n_labels)] for _ in range(tree.p["n_models"])]

    def votes(self, tree, x):
        """Return (absent, present) for each label, or None if nothing has been learnt."""
        if not self.sets:
            return None
        if len(self.sets) == 1:
            return [(1.0 - v, 1.0 * v) for v in self.sets[0]]
        if self.weight < tree.p["cardinality_threshold"] or entropy(self.counts) < tree.p["entropy_threshold"]:
            return self.votes_of_neighbours(tree, x)
        return self.votes_of_regressions(tree, x)

    def votes_of_neighbours(self, tree, x):
        nearest = sorted((distance(x, row), k) for k, (row, _) in enumerate(self.rows))[: tree.p["n_neighbors"]]
        if nearest[0][0] == 0:
            nearest, shares = nearest[:1], {tuple(self.rows[nearest[0][1]][1]): 1.0}
        else:
            shares = {}
            for far, k in nearest:
                key = tuple(self.rows[k][1])
                shares[key] = shares.get(key, 0.0) + 1 / far
        in_order = [one for one in self.sets if one in shares]
        whole = 0.0
        for one in in_order:
            whole += shares[one]
        votes = [[0.0, 0.0] for _ in range(tree.n_labels)]
        for one in in_order:
            for j, value in enumerate(one):
                votes[j][value] += shares[one] / whole
        return votes

    def votes_of_regressions(self, tree, x):
        votes = []
        for j in range(tree.n_labels):
            zero = one = 0.0
            for member in self.coefs:
                p = sigmoid(logit(member[j], x))
                zero, one = zero + (1 - p), one + p
            votes.append((zero / (zero + one), one / (zero + one)))
        return votes

    def scaled(self, tree, x):
        votes = self.votes(tree, x)
        if votes is None:
            return None
        scales = [(zero + one) * self.error.value**2 for zero, one in votes]
        return [(z / s, o / s) if s > 0 else (z, o) for (z, o), s in zip(votes, scales, strict=True)]

    def predict(self, tree, x):
        votes = self.scaled(tree, x)
        if votes is None:
            return None
        return [int(o > z) if o != z else first for (z, o), first in zip(votes, self.sets[0], strict=True)]

    def learn(self, tree, x, y, w, place):
        if place.parent is None:
            predicted = self.predict(tree, x)
            if predicted is not None:
                before, changed = self.measure(y, predicted, w)
                if changed and self.error.value < before:
                    self.error = Mean()
        else:
            self.error = place.parent.error
        self.absorb(tree, x, y, w)
        if self.active and self.weight - self.last_attempt >= tree.p["grace_period"]:
            if len(self.sets) > 1:
                self.attempt(tree, x, y, w, place)
            self.last_attempt = self.weight

    def absorb(self, tree, x, y, w):
        present = [j for j, value in enumerate(y) if value]
        self.weight += w
        self.count(present, w)
        for f, value in enumerate(x) if self.active else ():
            for key in [*(present or ["empty"]), "total"]:
                self.observers.setdefault(f, {}).setdefault(key, Gaussian()).add(value, w)
        if tuple(y) not in self.sets:
            self.sets.append(tuple(y))
        self.rows = [*self.rows, (list(x), list(y))][-tree.p["window"] :]
        for member in self.coefs:
            for _ in range(self.numbers.poisson(1.0)):
                for j, value in enumerate(y):
                    descend(member[j], x, value, tree.p["learning_rate"], w)

    def attempt(self, tree, x, y, w, place):
        most = max(value for key, value in self.counts.items() if key != "total")
        splits = [(-math.inf, None, None, None)]
        chosen = most / self.total > 0.99
        if not chosen:
            splits += [best_of(self.counts, f, self.observers[f]) for f in range(tree.d)]
            splits.sort(key=lambda split: split[0])
            reach = max(math.log2(len(self.sets)), 1.0)
            bound = math.sqrt(reach**2 * math.log(1 / tree.p["delta"]) / (2 * self.weight))
            chosen = splits[-1][0] - splits[-2][0] > bound or bound < tree.p["tau"]
        if not chosen:
            return
        _, feature, threshold, sides = splits[-1]
        if feature is not None and tree.is_full():
            return
        if feature is None:
            self.active, self.observers = False, {}
        else:
            branch = Branch(self, feature, threshold, [Leaf(tree, side, self.background) for side in sides])
            place.put(branch)
            branch.learn(tree, x, y, w, place)
            tree.n_splits += 1
        for leaf in tree.root.leaves():
            leaf.active = True

    def leaves(self):
        yield self


class Branch(Node):
    """A test of a feature, and perhaps an alternate that learns in the background."""

    def __init__(self, leaf, feature, threshold, children):
        super().__init__({}, leaf.background)
        self.counts = leaf.counts
        self.feature, self.threshold, self.children, self.alternate = feature, threshold, children, None

    def side(self, x):
        return 0 if x[self.feature] <= self.threshold else 1

    def leaf(self, x):
        node = self
        while isinstance(node, Branch):
            node = node.children[node.side(x)]
        return node

    def leaves(self):
        for child in self.children:
            yield from child.leaves()
            if isinstance(child, Branch) and child.alternate:
                yield from child.alternate.leaves()

    def to_front(self):
        self.background = False
        for child in self.children:
            child.background = False
            if isinstance(child, Branch):
                child.to_front()

    def learn(self, tree, x, y, w, place):
        self.count([j for j, value in enumerate(y) if value], w)
        self.post += w
        self.manage(tree, x, y, w, place)
        if self.alternate:
            self.alternate.learn(tree, x, y, w, Place(tree, place.parent, place.side, alternate=place.parent is None))
        # what has been replaced learns no more
        if place.holds(self):
            side = self.side(x)
            self.children[side].learn(tree, x, y, w, Place(tree, self, side))

    def manage(self, tree, x, y, w, place):
        predicted = self.leaf(x).predict(tree, x)
        if predicted is None:
            return
        before, changed = self.measure(y, predicted, w)
        if not self.alternate and not self.background and self.error.value > before and not tree.is_full():
            self.alternate = Leaf(tree, {}, True)
        least = tree.p["drift_window_threshold"]
        if self.alternate and self.alternate.total > least:
            if self.post > least:
                self.compare(tree, before, place)
            if changed and self.error.value < before:
                self.error, self.post = Mean(), 0.0

    def compare(self, tree, error, place):
        n = 1 / self.alternate.total + 1 / self.post
        bound = math.sqrt(2 * error * (1 - error) * math.log(2 / tree.p["switch_significance"]) * n)
        gain = error - self.alternate.error.value
        if gain > bound:
            tree.n_switched += 1
            self.alternate.background = False
            if isinstance(self.alternate, Branch):
                self.alternate.to_front()
            place.put(self.alternate)
            if place.parent is not None:
                self.alternate = None
        elif -gain > bound:
            tree.n_pruned += 1
            self.alternate = None


class Place:
    """The place of a node; one without a parent is the root, or the alternate of the root in the background."""

    def __init__(self, tree, parent, side, *, alternate=False):
        self.tree, self.parent, self.side, self.alternate = tree, parent, side, alternate

    def holds(self, node):
        if self.parent is not None:
            return self.parent.children[self.side] is node
        return node in (self.tree.root, self.tree.alternate)

    def put(self, node):
        if self.parent is not None:
            self.parent.children[self.side] = node
        elif node.background:
            self.tree.root.alternate = node
        else:
            self.tree.root = node


class SlowAdaptiveTree:
    """Predict and learn row by row; `p` are the parameters of the compiled tree, and memory is for so many leaves."""

    def __init__(self, d, n_labels, seed, *, most_leaves=math.inf, **p):
        self.d, self.n_labels, self.p, self.most_leaves = d, n_labels, p, most_leaves
        self.numbers, self.bagging = Numbers((seed << 32) + 1), (seed << 32) + 2
        self.n_splits = self.n_switched = self.n_pruned = 0
        self.root = Leaf(self, {}, False)

    @property
    def alternate(self):
        return self.root.alternate if isinstance(self.root, Branch) else None

    def is_full(self):
        """Return whether there is no memory for one more leaf."""
        n_leaves = sum(len(list(node.leaves())) for node in (self.root, self.alternate) if node)
        return n_leaves >= self.most_leaves

    def reached(self, x):
        node = self.root
        while isinstance(node, Branch):
            if node.alternate:
                yield node.alternate.leaf(x) if isinstance(node.alternate, Branch) else node.alternate
            node = node.children[node.side(x)]
        yield node

    def predict_proba(self, x):
        sums = [[0.0, 0.0] for _ in range(self.n_labels)]
        for leaf in self.reached(x):
            votes = leaf.scaled(self, x)
            if votes is not None and (not leaf.background or leaf.total > self.p["drift_window_threshold"]):
                for both, (zero, one) in zip(sums, votes, strict=True):
                    both[0], both[1] = both[0] + zero, both[1] + one
        return [(zero / (zero + one), one / (zero + one)) if zero + one > 0 else (0.0, 0.0) for zero, one in sums]

    def learn(self, x, y, w=1.0):
        k = self.numbers.poisson(self.p["poisson_rate"])
        self.root.learn(self, x, y, w * max(k, 1), Place(self, None, None))


def distance(a, b):
    return math.sqrt(sum((p - q) ** 2 for p, q in zip(a, b, strict=True)))


def logit(coefs, x):
    total = 0.0
    for w, value in zip(coefs[:-1], x, strict=True):
        total += w * value
    return total + coefs[-1]


def sigmoid(z):
    if abs(z) > 30:
        return float(z > 0)
    return 1 / (1 + math.exp(-z))


def descend(coefs, x, value, rate, w):
    sign = 1.0 if value else -1.0
    z = logit(coefs, x) * sign
    slope = math.exp(-z) * -sign if z > 18 else -sign if z < -18 else -sign / (math.exp(z) + 1)
    slope *= w
    coefs[-1] -= 0.01 * slope
    for f, at in enumerate(x):
        coefs[f] -= rate * (slope * at)


def entropy(counts):
    labels = {key: value for key, value in counts.items() if key != "total"}
    if len(labels) == 1:
        return 0.0
    whole, bits = max(counts.values()), 0.0
    # by number of the label, rows without one last: sums then have the same rounding
    for _, value in sorted(labels.items(), key=lambda entry: math.inf if entry[0] == "empty" else entry[0]):
        p = value / whole
        if 0 < p < 1:
            bits -= p * math.log2(p) + (1 - p) * math.log2(1 - p)
    return bits


def best_of(counts, f, observers):
    """Return merit, feature, threshold and expected counts of the best of ten thresholds."""
    low, high = min(o.low for o in observers.values()), max(o.high for o in observers.values())
    best = (-math.inf, None, None, None)
    for k in range(10):
        t = low + (high - low) / 11 * (k + 1)
        if not low < t < high:
            continue
        sides = [{}, {}]
        for key, one in observers.items():
            if t < one.low:
                sides[1][key] = one.n
            elif t >= one.high:
                sides[0][key] = one.n
            else:
                sides[0][key] = one.below(t)
                sides[1][key] = one.n - sides[0][key]
        sums = [sum(value for key, value in side.items() if key != "total") for side in sides]
        if min(sums) / sum(sums) <= 0.01:
            continue
        after = sum(side["total"] * entropy(side) for side in sides) / sum(side["total"] for side in sides)
        if entropy(counts) - after > best[0]:
            best = (entropy(counts) - after, f, t, sides)
    return best


def drifting(n_rows, n_features=5, n_labels=4, *, seed=0, every=700):
    """Draw rows whose labels follow thresholds of features, which change places every so many rows."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.random((n_rows, n_features)), 3)
    places = (np.arange(n_labels)[np.newaxis] + (np.arange(n_rows) // every)[:, np.newaxis] * 2) % n_features
    Y = np.take_along_axis(X, places, axis=1) * (1 + 0.5 * X[:, :1]) > 0.55
    return X, (Y ^ (rng.random(Y.shape) < 0.05)).astype(int)
