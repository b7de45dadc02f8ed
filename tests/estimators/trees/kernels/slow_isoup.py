"""The iSOUP tree as a plain Python loop over lists of rows, written from its description."""

import math
from itertools import chain

import numpy as np

ENOUGH, DECAY, RATE, STEEPEST = 5, 0.95, 0.01, 1e12


class Value:
    """A value of a feature in a search tree, with the numbers of the rows that were at most this value on their way."""

    def __init__(self, key, row):
        self.key, self.rows, self.left, self.right = key, [row], None, None

    def add(self, key, row):
        if key <= self.key:
            self.rows.append(row)
        if key != self.key:
            side = "left" if key < self.key else "right"
            child = getattr(self, side)
            if child:
                child.add(key, row)
            else:
                setattr(self, side, Value(key, row))

    def below(self, aside=()):
        """Yield each value in increasing order, with the rows on the left of a split there."""
        if self.left:
            yield from self.left.below(aside)
        yield self, [*aside, *self.rows]
        if self.right:
            yield from self.right.below([*aside, *self.rows])

    def pruned(self, is_bad):
        """Return the tree without subtrees of bad values only; a right one is looked at if the left one is gone."""
        self.left = self.left and self.left.pruned(is_bad)
        if self.left:
            return self
        self.right = self.right and self.right.pruned(is_bad)
        return self if self.right or not is_bad(self) else None


class Leaf:
    """The numbers of its rows, those before the split that made it included, and its search trees and models.

    Of a nominal feature it keeps the numbers of the rows with each code instead of a search tree.
    """

    def __init__(self, rows, means, coefs, errors, last):
        self.rows, self.inherited_means, self.last, self.active = rows, means, last, True
        self.coefs, self.errors = [list(one) for one in coefs], [list(one) for one in errors]
        self.values = [None] * (len(coefs[0]) - 1)


class Branch:
    """A test of a value, with its children by answer: `value <= test`, `value == test` for a code, or each code."""

    def __init__(self, feature, is_nominal, test, children):
        self.feature, self.is_nominal, self.test, self.children = feature, is_nominal, test, children

    def answer(self, x):
        value = x[self.feature]
        if self.test is None:
            return value
        return value == self.test if self.is_nominal else value <= self.test


class SlowIsoup:
    """Predict and learn row by row; unknown cells are NaN.

    `tied` tells whether a leaf was split where several values part its known cells in the same way: rounding chooses.
    """

    def __init__(self, n_features, n_targets, params, nominal=()):
        self.params, self.n_targets, self.nominal = params, n_targets, nominal
        self.tied, self.partly_known = False, False
        self.Y, self.w = np.empty((0, n_targets)), np.empty(0)
        self.root = self.new_leaf(n_features)

    def new_leaf(self, n_features):
        means, coefs = np.zeros(self.n_targets), [[0.0] * (n_features + 1)] * self.n_targets
        return Leaf([], means, coefs, [[0.0, 0.0]] * self.n_targets, 0.0)

    def leaves(self, node):
        return [node] if isinstance(node, Leaf) else [*chain.from_iterable(map(self.leaves, node.children.values()))]

    def path(self, x):
        """Return the leaf of a row, None if its branch has no child for it, with this branch and its answer."""
        above, answer, node = None, None, self.root
        while isinstance(node, Branch):
            above, answer = node, node.answer(x)
            node = above.children.get(answer)
        return node, above, answer

    def heaviest(self, branch):
        return max(
            branch.children.values(), key=lambda child: sum(self.weight(leaf.rows) for leaf in self.leaves(child))
        )

    def numbers(self, x):
        """Return what the models see of a row."""
        return [0.0 if f in self.nominal else value for f, value in enumerate(x)]

    def spread(self, rows):
        """Return the weights, means and squared deviations of the known cells of some rows; a mean of none is 0."""
        Y, w = self.Y[rows], self.w[rows, np.newaxis] * ~np.isnan(self.Y[rows])
        n, Y = w.sum(axis=0), np.nan_to_num(Y)
        mean = (w * Y).sum(axis=0) / np.where(n > 0, n, 1.0)
        return n, mean, (w * (Y - mean) ** 2).sum(axis=0)

    def means(self, leaf):
        n, mean, _ = self.spread(leaf.rows)
        return np.where(n > 0, mean, leaf.inherited_means)

    def predict(self, x):
        leaf = self.root
        while isinstance(leaf, Branch):
            leaf = leaf.children.get(leaf.answer(x)) or self.heaviest(leaf)
        means, models = self.means(leaf), outputs(leaf, self.numbers(x))
        by_mean = [of_mean < of_model for of_mean, of_model in leaf.errors]
        return np.clip(np.where(by_mean, means, models), 0.0, 1.0)

    def learn(self, x, y, w):
        self.partly_known |= bool(np.isnan(y).any())
        if not w:
            return
        leaf, above, answer = self.path(x)
        is_new = leaf is None
        if is_new:
            leaf = above.children[answer] = self.new_leaf(len(x))
        self.learn_models(leaf, self.numbers(x), y, w)
        leaf.rows.append(len(self.Y))
        self.Y, self.w = np.vstack([self.Y, y]), np.append(self.w, w)
        if leaf.active:
            self.observe(leaf, x)
        total = self.weight(leaf.rows)
        if leaf.active and not is_new and total - leaf.last >= self.params.grace_period:
            leaf.last = total
            self.attempt(leaf, above, answer)

    def weight(self, rows):
        return self.spread(rows)[0].sum() / self.n_targets

    def learn_models(self, leaf, x, y, w):
        for j, (mean, model) in enumerate(zip(self.means(leaf), outputs(leaf, x), strict=True)):
            if not math.isnan(y[j]):
                losses = (y[j] - mean) * (y[j] - mean), (y[j] - model) * (y[j] - model)
                leaf.errors[j] = [DECAY * error + loss for error, loss in zip(leaf.errors[j], losses, strict=True)]
                slope = min(max(2 * w * (model - y[j]), -STEEPEST), STEEPEST)
                leaf.coefs[j] = [c - RATE * slope * value for c, value in zip(leaf.coefs[j], [*x, 1.0], strict=True)]

    def observe(self, leaf, x):
        n_values = len(x) + sum(n_places(one) for leaf in self.leaves(self.root) for one in leaf.values)
        n_weights = self.n_targets if self.partly_known else 1
        if n_values * (32 + 16 * self.n_targets + 8 * n_weights) > self.params.max_bytes:
            leaf.active, leaf.values = False, [None] * len(x)
            return
        for f, value in enumerate(x):
            if f in self.nominal:
                leaf.values[f] = leaf.values[f] or {}
                leaf.values[f].setdefault(value, []).append(leaf.rows[-1])
            elif leaf.values[f]:
                leaf.values[f].add(round(value, 1), leaf.rows[-1])
            else:
                leaf.values[f] = Value(round(value, 1), leaf.rows[-1])

    def merit(self, rows, sides):
        spreads = [self.spread(some) for some in (rows, *sides)]
        total = 0.0
        for j in range(self.n_targets):
            (n, _, whole), *parts = [[part[j] for part in spread] for spread in spreads]
            if min(part[0] for part in parts) >= ENOUGH:
                total += whole / (n - 1) - sum(m / n * squares / (m - 1) for m, _, squares in parts)
        return total / self.n_targets

    def candidates(self, leaf, f):
        """Yield the splits by a feature: what is tested, and the rows of each side by answer."""
        if f not in self.nominal:
            for value, left in leaf.values[f].below() if leaf.values[f] else ():
                yield value, {True: left, False: rest(leaf.rows, left)}
            return
        by_code = dict(sorted(leaf.values[f].items()))
        if len(by_code) > 2:
            yield None, by_code
        for code, rows in by_code.items():
            yield code, {True: rows, False: rest(leaf.rows, rows)}

    def attempt(self, leaf, above, answer):
        """Split the leaf if the second best feature is clearly worse, else prune; of equal values the first wins."""
        merits = [
            [(self.merit(leaf.rows, sides.values()), test, sides) for test, sides in self.candidates(leaf, f)]
            for f in range(len(leaf.values))
        ]
        tops = [max(one, key=lambda candidate: candidate[0], default=None) for one in merits]
        ranking = sorted((top[0], f) for f, top in enumerate(tops) if top)[::-1]
        if not ranking or not ranking[0][0] > 0:
            return
        best, feature = ranking[0]
        second = ranking[1][0] if len(ranking) > 1 else -math.inf
        bound = math.sqrt(math.log(1 / self.params.delta) / (2 * leaf.last))
        if second / best < 1 - bound or bound < self.params.tau:
            self.tied = sum(merit > best * (1 - 1e-9) for one in merits for merit, *_ in one) > 1
            branch = self.split(leaf, feature, *tops[feature][1:])
            if above is None:
                self.root = branch
            else:
                above.children[answer] = branch
        elif second > 0:
            bad = {value for one in merits for merit, value, _ in one if merit / best < second / best - 2 * bound}
            leaf.values = [one.pruned(bad.__contains__) if isinstance(one, Value) else one for one in leaf.values]

    def split(self, leaf, feature, test, sides):
        means = self.means(leaf)
        children = {
            answer: Leaf(list(rows), means, leaf.coefs, leaf.errors, self.weight(rows))
            for answer, rows in sides.items()
        }
        return Branch(feature, feature in self.nominal, test.key if isinstance(test, Value) else test, children)


def rest(rows, some):
    return sorted(set(rows) - set(some))


def n_places(values):
    """Return the number of values in a search tree or a table of codes, if there is one."""
    return len(list(values.below()) if isinstance(values, Value) else values or ())


def outputs(leaf, x):
    return [math.fsum(c * value for c, value in zip(coefs, [*x, 1.0], strict=True)) for coefs in leaf.coefs]
