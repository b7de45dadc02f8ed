"""A network of sigmoid outputs in dictionaries of single weights, which takes a step at a time; from the formulas."""

import math
import statistics
from typing import NamedTuple

import numpy as np


class Row(NamedTuple):
    """Features, labels, whether each label counts, and the weight of a row."""

    x: list
    y: list
    mask: list
    weight: float


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


class SlowNetwork:
    """Weights by (layer, output, input), inputs counted from 1; 0 stands for the bias."""

    def __init__(self, layers, *, rate=0.01, adam=True, freeze=False):
        self.w = {
            (layer, k, j): weight
            for layer, (weights, biases) in enumerate(layers)
            for k, line in enumerate(np.column_stack([biases, weights]).tolist())
            for j, weight in enumerate(line)
        }
        self.widths = [len(biases) for _, biases in layers]
        self.rate, self.adam, self.freeze, self.t = rate, adam, freeze, 0
        self.m, self.v = dict.fromkeys(self.w, 0.0), dict.fromkeys(self.w, 0.0)

    # ---------------------------------------------------------------- forwards
    def layers(self, x):
        """Return the features, the rectified outputs of each hidden layer, and the logits."""
        found = [x]
        for layer, width in enumerate(self.widths):
            if layer:
                found[-1] = [max(z, 0.0) for z in found[-1]]
            inputs = [1.0, *found[-1]]
            found.append([math.fsum(self.w[layer, k, j] * z for j, z in enumerate(inputs)) for k in range(width)])
        return found

    def logits(self, x):
        return self.layers(x)[-1]

    def predict(self, x):
        return [sigmoid(z) for z in self.logits(x)]

    # --------------------------------------------------------------- backwards
    def gradient(self, x, slopes):
        """Return the derivatives of a loss by all weights, from those by the logits."""
        layers, found = self.layers(x), {}
        for layer in reversed(range(len(self.widths))):
            inputs = [1.0, *layers[layer]]
            found |= {(layer, k, j): slope * z for k, slope in enumerate(slopes) for j, z in enumerate(inputs)}
            slopes = [
                math.fsum(self.w[layer, k, j + 1] * slope for k, slope in enumerate(slopes)) * (z > 0)
                for j, z in enumerate(layers[layer])
            ]
        return found

    def loss_gradient(self, row, n_rows=1, published=False, balance=None):
        """Return the gradient of the cross-entropy of a row, its mean over the labels that count, over n_rows."""
        n_counted = len(row.y) if published else sum(row.mask)
        shares = [row.weight / n_counted / n_rows if counts else 0.0 for counts in row.mask]
        if balance:
            shares = [share * balance(k, row.y[k]) for k, share in enumerate(shares)]
        return self.gradient(
            row.x, [share * (p - y) for share, p, y in zip(shares, self.predict(row.x), row.y, strict=True)]
        )

    # ------------------------------------------------------------------- steps
    def step(self, gradient, live=None):
        """Take a step of Adam (Kingma and Ba, algorithm 1) or of descent; of the outputs, only those that are live."""
        self.t += 1
        for key, g in gradient.items():
            if self.freeze and key[0] == len(self.widths) - 1 and not live[key[1]]:
                continue
            if not self.adam:
                self.w[key] -= self.rate * g
                continue
            self.m[key] = 0.9 * self.m[key] + 0.1 * g
            self.v[key] = 0.999 * self.v[key] + 0.001 * g * g
            m, v = self.m[key] / (1 - 0.9**self.t), self.v[key] / (1 - 0.999**self.t)
            self.w[key] -= self.rate * m / (math.sqrt(v) + 1e-8)


def add(gradients):
    """Return the sum of gradients."""
    return {key: math.fsum(one[key] for one in gradients) for key in gradients[0]}


class SlowLearner(SlowNetwork):
    """The network as `one_pass` has it: rows replayed, features scaled and labels balanced by the rows met."""

    def __init__(self, layers, options, *, freeze=False):
        super().__init__(layers, rate=options.rate, adam=options.adam, freeze=freeze)
        self.options, self.met = options, []

    def scaled(self, x):
        """Return features over their deviation in the rows met, less their mean if so wanted."""
        if not self.options.scale or not self.met:
            return x
        columns = list(zip(*(row.x for row in self.met), strict=True))
        means = [statistics.mean(column) if self.options.centre else 0.0 for column in columns]
        return [(z - mean) / (statistics.pstdev(c) or 1.0) for z, mean, c in zip(x, means, columns, strict=True)]

    def balance(self, label, value):
        """Return half the share of the rows, one of each kind in advance, by that of the rows with this value."""
        known = [row.y[label] for row in self.met if row.mask[label]]
        return (len(known) + 2) / 2 / (known.count(value) + 1)

    def predict_then_learn(self, row, drawn):
        """Predict a row, then learn it with those drawn: in one step, or in one each."""
        found = self.predict(self.scaled(row.x))
        if row.weight > 0:
            self.met.append(row)
            steps = [[row, *drawn]] if self.options.mini_batch else [[one] for one in (row, *drawn)]
            for rows in steps:
                self.learn(rows)
        return found

    def learn(self, rows):
        options = self.options
        gradients = [
            self.loss_gradient(
                row._replace(x=self.scaled(row.x)),
                len(rows),
                published=options.published,
                balance=self.balance if options.balance else None,
            )
            for row in rows
        ]
        live = [any(row.mask[k] and row.weight > 0 for row in rows) for k in range(self.widths[-1])]
        self.step(add(gradients), live)


def weights_of(slow):
    """Return weights (outputs, inputs) and biases of each layer, as `layers_of` does."""
    shapes = [(1 + max(j for layer, _, j in slow.w if layer == one)) for one in range(len(slow.widths))]
    tables = [
        np.array([[slow.w[layer, k, j] for j in range(n)] for k in range(width)])
        for layer, (width, n) in enumerate(zip(slow.widths, shapes, strict=True))
    ]
    return [(table[:, 1:], table[:, 0]) for table in tables]
