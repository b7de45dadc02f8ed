"""The rolling forest as a plain Python loop over lists of rows, written from its description."""

import math

import numpy as np

from estimators._kernels.randomness import GOLDEN, advance, uniform

UNKNOWN = 2


class SlowForest:
    """Rows as lists, trees as dictionaries; random numbers come from the same sequence."""

    def __init__(self, n_trees, window, n_candidates, min_samples_leaf, most_nodes, seed, nominal=()):
        self.n_trees, self.window, self.n_candidates = n_trees, window, n_candidates
        self.min_samples_leaf, self.most_nodes, self.state = min_samples_leaf, most_nodes, seed
        self.nominal = nominal
        # a row takes the place of the oldest one, so that rows keep their places
        self.rows, self.n_rows, self.waited = [], 0, 0
        self.trees = [None] * n_trees  # (rows learnt when it was grown, root)
        self.losses = [0.0] * n_trees

    def draw(self):
        self.state = np.uint64(advance(self.state))
        return uniform(self.state)

    def leaf(self, tree, x):
        node = tree[1]
        while "feature" in node:
            node = node["children"][self.is_right(x, node["feature"], node["threshold"])]
        return node["shares"]

    def is_right(self, x, feature, threshold):
        return x[feature] != threshold if feature in self.nominal else x[feature] >= threshold

    def predict(self, x, n_labels):
        grown = self.grown()
        if not grown:
            return [0.0] * n_labels
        least = min(self.losses[i] for i in grown)
        votes = [math.exp(least - self.losses[i]) for i in grown]
        leaves = [self.leaf(self.trees[i], x) for i in grown]
        return [
            sum(v * leaf[label] for v, leaf in zip(votes, leaves, strict=True)) / sum(votes)
            for label in range(n_labels)
        ]

    def learn(self, x, codes, weight):
        known = [label for label, code in enumerate(codes) if code != UNKNOWN]
        for i in self.grown():
            leaf = self.leaf(self.trees[i], x)
            loss = sum((leaf[label] - codes[label]) ** 2 for label in known) / max(len(known), 1)
            self.losses[i] = 0.98 * self.losses[i] + loss
        place = self.n_rows % self.window
        self.rows[place : place + 1] = [(x, codes, weight, place)]
        self.n_rows, self.waited = self.n_rows + 1, self.waited + 1
        if self.waited * self.n_trees >= len(self.rows):
            self.waited = 0
            oldest = min(range(self.n_trees), key=lambda i: self.trees[i][0] if self.trees[i] else 0)
            others = [self.losses[i] for i in self.grown() if i != oldest]
            self.trees[oldest] = self.n_rows, self.grow(len(codes))
            self.losses[oldest] = min(others, default=0.0)

    def grown(self):
        return [i for i in range(self.n_trees) if self.trees[i]]

    def grow(self, n_labels):
        root = {"rows": list(self.rows), "parent": [0.5] * n_labels}
        waiting, n_nodes = [root], 1
        for node in waiting:
            rows = node.pop("rows")
            sums = [self.sums(rows, label) for label in range(n_labels)]
            node["shares"] = [
                (positive + 3 * share) / (known + 3)
                for (known, positive), share in zip(sums, node["parent"], strict=True)
            ]
            has_room = len(rows) >= 2 * self.min_samples_leaf and n_nodes + 2 <= self.most_nodes
            if split := has_room and self.best_split(rows, sums):
                node["feature"], node["threshold"] = split
                node["children"] = [{"rows": side, "parent": node["shares"]} for side in self.sides(rows, *split)]
                waiting.extend(node["children"])
                n_nodes += 2
        return root

    @staticmethod
    def sums(rows, label):
        """Return the weight of the rows in which a label is known, and of those that have it."""
        cells = [(codes[label], w) for _, codes, w, _ in rows if codes[label] != UNKNOWN]
        return sum(w for _, w in cells), sum(w * code for code, w in cells)

    def sides(self, rows, feature, threshold):
        return [[row for row in rows if self.is_right(row[0], feature, threshold) == side] for side in (False, True)]

    def draw_labels(self, sums):
        labels, n_met = [], 0
        for label, (known, positive) in enumerate(sums):
            if min(positive, known - positive) > 1e-9 * known:
                n_met += 1
                if len(labels) < 16:
                    labels.append(label)
                elif (place := int(self.draw() * n_met)) < 16:
                    labels[place] = label
        return labels

    def best_split(self, rows, sums):
        labels = self.draw_labels(sums)
        best, split, n_tried = 1e-9, None, 0
        for _ in range(3 * self.n_candidates if labels else 0):
            feature = int(self.draw() * len(rows[0][0]))
            values = [x[feature] for x, *_ in rows]
            if min(values) == max(values):
                continue
            for threshold in self.drawn_values(rows, feature) if feature in self.nominal else self.thresholds(values):
                gain = self.gain(rows, feature, threshold, labels)
                if gain > best:
                    best, split = gain, (feature, threshold)
            n_tried += 1
            if n_tried == self.n_candidates:
                break
        return split

    def thresholds(self, values):
        low, high, start, n_bins = min(values), max(values), self.draw(), min(8, len(values))
        return [low + (number - start) * (high - low) / (n_bins - 1) for number in range(1, n_bins)]

    def drawn_values(self, rows, feature):
        """Return the first seven values of rows in a drawn order."""
        seed = int(self.draw() * 2**53)
        drawn = sorted(rows, key=lambda row: uniform(np.uint64((seed + row[3] * int(GOLDEN)) % 2**64)))
        return list(dict.fromkeys(x[feature] for x, *_ in drawn))[:7]

    def gain(self, rows, feature, threshold, labels):
        """Return by how much the sums of squared deviations fall: those between two means, to the bit."""
        left, right = self.sides(rows, feature, threshold)
        if min(len(left), len(right)) < self.min_samples_leaf:
            return 0.0
        total = 0.0
        for label in labels:
            (known, positive), (others, other_positive) = self.sums(left, label), self.sums(right, label)
            if known and others:
                apart = positive / known - other_positive / others
                total += apart * apart * known * others / (known + others)
        return total
