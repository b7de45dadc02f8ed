"""Streams to try trees on: drawn, and real ones."""

import csv

import numpy as np


def drawn(n_rows=1500, n_features=6, n_labels=3, *, seed=0):
    """Draw rows whose labels depend on thresholds of features, and on which label came first; a tenth is noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features))
    Y = np.stack([X[:, j] * (1 + X[:, (j + 1) % n_features]) > 0.7 for j in range(n_labels)], axis=1)
    return X, (Y ^ (rng.random(Y.shape) < 0.1)).astype(int)


def tasks_that_return(n_rows=400, n_features=6, n_labels=5):
    """Draw a stream of two tasks, each met twice, with rows of weight 0 and 2 among those of weight 1."""
    X, Y = drawn(n_rows, n_features, n_labels)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = 0
    signatures = np.array([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]], dtype=bool)
    mask = signatures[np.arange(n_rows) * 4 // n_rows % 2]
    weight = np.random.default_rng(2).choice([0, 1, 2], n_rows, p=[0.1, 0.8, 0.1]).astype(float)
    return X, Y * mask, mask, weight


def shifting(seed):
    """Draw rows whose classes depend on another feature in each phase, and parameters that revise early."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(300, 900)), int(rng.integers(1, 5)), int(rng.choice([2, 2, 3, 5]))
    shapes = [rng.random((n, d)), rng.integers(0, 4, (n, d)).astype(float), rng.standard_cauchy((n, d)) ** 3]
    X = shapes[seed % 3]
    phase = np.arange(n) // int(rng.integers(60, 300))
    score = X[np.arange(n), phase % d] + rng.choice([0, 0.1, 1]) * rng.normal(size=n)
    score = np.where(phase % 2, score, -score) if rng.random() < 0.5 else score
    y = np.digitize(score, np.quantile(score, np.sort(rng.random(k - 1))))
    y[rng.random(n) < 0.1] = rng.integers(0, k)
    choices = {
        "grace_period": [5, 20, 50],
        "delta": [1e-7, 1e-2, 0.3, 0.9],
        "tau": [0.0, 0.02, 0.3, 1.0],
        "min_samples_reevaluate": [1, 5, 20],
        "max_depth": [None, None, 2],
        "max_share_to_split": [0.99, 0.99, 0.7, 1.0],
    }
    return X, y, k, {name: values[rng.integers(len(values))] for name, values in choices.items()}


def rand(shared_data):
    """Load the published synthetic_rand."""
    with shared_data("multilabel/synthetic_rand.csv").open() as lines:
        table = np.array(list(csv.reader(lines))[1:], dtype=float)
    return table[:, :4], table[:, 4:].astype(int)


def yeast(shared_data):
    """Load Yeast: 103 features, 14 labels."""
    from mlstream import load_dataset

    data = load_dataset(shared_data("multilabel/Yeast.arff.gz"), labels=14)
    return np.asarray(data.X), np.asarray(data.Y)
