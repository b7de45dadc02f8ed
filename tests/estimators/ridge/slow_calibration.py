"""Calibration of scores as a slow loop: rows in lists, precisions instead of covariances."""

import math

import numpy as np


class SlowLabel:
    """The rows of one label, with the weight that each has by now."""

    def __init__(self):
        self.rows = []  # (score, label, weight), the oldest first

    def share(self, keep=1.0):
        weights = [w * keep ** (len(self.rows) - 1 - i) for i, (_, _, w) in enumerate(self.rows)]
        return sum(w * y for w, (_, y, _) in zip(weights, self.rows, strict=True)), sum(weights)

    def moments(self, kind):
        kept = [(s, w * (1 - 1 / 500) ** (len(self.rows) - 1 - i), y) for i, (s, y, w) in enumerate(self.rows)]
        s, w = np.array([[s, w] for s, w, y in kept if y == kind]).reshape(-1, 2).T
        mean = (s * w).sum() / w.sum() if len(w) else 0.0
        return w.sum(), mean, (w * (s - mean) ** 2).sum()


def slow_evidence(scores, labels, memory):
    """Return the evidence of a row, a label a row, from all rows before it."""
    gaps = [(2.0, 0.1)]
    for label in labels:
        (n0, m0, _), (n1, m1, _) = label.moments(0), label.moments(1)
        if n0 >= 2 and n1 >= 2:
            gaps.append((1 / (1 / n0 + 1 / n1), m1 - m0))
    gap = np.clip(np.average([g for _, g in gaps], weights=[w for w, _ in gaps]), 0.02, 0.98)
    table, summed = [], [(0.5, 0.5)]
    for score, label in zip(scores, labels, strict=True):
        positives, rows = label.share()
        usual = (positives + 0.5) / (rows + 1)
        if rows:
            summed.append((min(max(score, 0), 1), usual))
        (n0, m0, v0), (n1, m1, v1) = label.moments(0), label.moments(1)
        low = np.average([m0, usual * (1 - gap)], weights=[n0, 10])
        high = np.average([m1, usual + (1 - usual) * gap], weights=[n1, 5])
        first = max(gap * (1 - gap), 0.02) * usual * (1 - usual)
        variance = max((v0 + v1 + 10 * first) / (n0 + n1 + 10), 1e-8)
        # two normal distributions of one variance: the logarithm of the ratio of their densities
        ratio = ((score - low) ** 2 - (score - high) ** 2) / (2 * variance) if high > low else 0.0
        held = min(max(score, usual / 5), 1 - (1 - usual) / 5)
        late = []
        for length in (memory / 4, memory, 5 * memory):
            positives, rows = label.share(1 - 1 / max(length, 1))
            late.append(logit((positives + 5 * usual) / (rows + 5)) - logit(usual))
        table.append([1, logit(usual), np.clip(ratio, -8, 8), logit(held) - logit(usual), *late, 0])
    table = np.array(table)
    table[:, 7] = np.log(np.divide(*np.sum(summed, axis=0)))
    return table


def logit(share):
    return math.log(share / (1 - share))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def slow_loop(scores, Y, counted, weight, memory):
    """Predict and learn row by row, with precisions instead of covariances."""
    labels = [SlowLabel() for _ in range(Y.shape[1])]
    first = np.array([0, 1, 0.6, 0.3, 0.2, 0.3, 0.1, 0])
    spread = np.diag([0.1, 0.1, 1, 1, 1, 1, 1, 1])
    mean, covariance, steady, found, decided = first, spread, first, [], []
    for row in range(len(Y)):
        evidence = slow_evidence(scores[row], labels, memory)
        found.append([1 / (1 + math.exp(-x @ mean)) for x in evidence])
        shares = [label.share() for label in labels]
        decided.append([s > 0 and (s >= n or p >= s / n) for p, (s, n) in zip(found[-1], shares, strict=True)])
        share = weight[row] / math.sqrt(max(counted[row].sum(), 1))
        for label in np.flatnonzero(counted[row]):
            x, y = evidence[label], Y[row, label]
            p = 1 / (1 + math.exp(-x @ mean))
            bound = np.linalg.inv(np.linalg.inv(covariance) + share / 4 * np.outer(x, x))
            mean = mean + bound @ x * share * (y - p)
            covariance = np.linalg.inv(np.linalg.inv(covariance) + share * p * (1 - p) * np.outer(x, x))
            labels[label].rows.append((min(max(scores[row, label], -1), 2), y, weight[row]))
        mean = first + math.sqrt(0.999) * (mean - first)
        covariance = 0.999 * covariance + 0.001 * spread
        steady = 0.995 * steady + 0.005 * mean
    return np.array(decided), np.array(found), mean, steady, labels
