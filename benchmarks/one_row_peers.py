"""The row loops that `bench_one_row.py` compares our strategies with: River, lean PyTorch, NumPy.

A peer is made from the table, and is then a function of a row's place, which predicts the row and learns it. Whatever
can be prepared, dictionaries and tensors, is prepared before. Where nobody else has a strategy, its peer does a part of
the work only, and its name says so.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from river import dummy, ensemble, forest, linear_model, multioutput, neighbors, stats, tree

Step = Callable[[int], Any]


class Peer(NamedTuple):
    """Whose loop it is, and how to make it for a table."""

    name: str
    make: Callable[[np.ndarray, np.ndarray], Step]


# ---------------------------------------------------------------------- River
def one_a_label(make: Callable[[], Any], X: np.ndarray, Y: np.ndarray) -> Step:
    """Return the loop with a model of River for each label."""
    examples = list(zip(map(dict, map(enumerate, X.tolist())), Y.tolist(), strict=True))
    models = [make() for _ in range(Y.shape[1])]

    def step(i: int) -> None:
        x, y = examples[i]
        for model in models:
            model.predict_one(x)
        for model, label in zip(models, y, strict=True):
            model.learn_one(x, label)

    return step


def all_labels(make: Callable[[int], Any], X: np.ndarray, Y: np.ndarray, *, as_class: bool = False) -> Step:
    """Return the loop with one model of River for all labels, or for their combination as a class."""
    labels = [tuple(y) if as_class else dict(enumerate(y)) for y in Y.tolist()]
    examples = list(zip(map(dict, map(enumerate, X.tolist())), labels, strict=True))
    model = make(Y.shape[1])

    def step(i: int) -> None:
        x, y = examples[i]
        model.predict_one(x)
        model.learn_one(x, y)

    return step


def running_means(X: np.ndarray, Y: np.ndarray) -> Step:  # noqa: ARG001 - features are not read
    """Return the loop with a running mean of River for each label."""
    rows, means = Y.tolist(), [stats.Mean() for _ in range(Y.shape[1])]

    def step(i: int) -> list[bool]:
        decided = [mean.get() >= 0.5 for mean in means]
        for mean, label in zip(means, rows[i], strict=True):
            mean.update(label)
        return decided

    return step


# -------------------------------------------------------------------- PyTorch
def network(hidden: int, draws: int, X: np.ndarray, Y: np.ndarray, *, together: bool = False) -> Step:
    """Return the loop with a network: one forward pass a row, fused Adam, and rows replayed at random."""
    n_features, n_labels = X.shape[1], Y.shape[1]
    layers = [torch.nn.Linear(n_features, hidden), torch.nn.ReLU()] if hidden else []
    model = torch.nn.Sequential(*layers, torch.nn.Linear(hidden or n_features, n_labels), torch.nn.Sigmoid())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
    features, labels = torch.from_numpy(X.astype(np.float32)), torch.from_numpy(Y.astype(np.float32))
    random = np.random.default_rng(0)

    def take(rows: Any) -> np.ndarray:
        proba = model(features[rows])
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy(proba, labels[rows]).backward()
        optimizer.step()
        return proba[0].detach().numpy()

    def step(i: int) -> np.ndarray:
        drawn = random.integers(0, i, draws) if i > draws else np.zeros(0, np.int64)
        if together:
            return take(np.append(i, drawn))
        proba = take(slice(i, i + 1))
        for j in drawn:
            take(slice(j, j + 1))
        return proba

    return step


# ---------------------------------------------------------------------- NumPy
def ridge(X: np.ndarray, Y: np.ndarray) -> Step:
    """Return the loop of recursive least squares for all labels."""
    n_features = X.shape[1] + 1
    inverse, weights = np.eye(n_features), np.zeros((n_features, Y.shape[1]))
    rows = np.hstack([X, np.ones((len(X), 1))])

    def step(i: int) -> np.ndarray:
        x, y = rows[i], Y[i]
        predicted = x @ weights
        gain = inverse @ x
        gain_now = gain / (1 + x @ gain)
        np.subtract(inverse, np.outer(gain_now, gain), out=inverse)
        np.add(weights, np.outer(gain_now, y - predicted), out=weights)
        return predicted >= 0.5

    return step


def neighbours(k: int, X: np.ndarray, Y: np.ndarray, window: int = 1000) -> Step:
    """Return the loop of k nearest neighbours in a window that neither adjusts its size nor drops rows."""

    def step(i: int) -> np.ndarray:
        first = max(i - window, 0)
        distances = ((X[first:i] - X[i]) ** 2).sum(axis=1)
        nearest = distances.argpartition(k)[:k] if i - first > k else np.arange(i - first)
        return Y[first:i][nearest].sum(axis=0) * 2 > k

    return step


def prevalences(X: np.ndarray, Y: np.ndarray) -> Step:  # noqa: ARG001 - features are not read
    """Return the loop of two means of each label, one of them fading."""
    usual, late = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])

    def step(i: int) -> np.ndarray:
        decided = late >= usual
        np.add(usual, (Y[i] - usual) / (i + 1), out=usual)
        np.add(late, (Y[i] - late) / 20, out=late)
        return decided

    return step


def together(*makes: Callable[[np.ndarray, np.ndarray], Step]) -> Callable[[np.ndarray, np.ndarray], Step]:
    """Return what makes the loops of several members."""

    def make(X: np.ndarray, Y: np.ndarray) -> Step:
        steps = [make(X, Y) for make in makes]
        return lambda i: [step(i) for step in steps]

    return make


_TREES = partial(one_a_label, tree.HoeffdingTreeClassifier)
_LR = linear_model.LogisticRegression
_MINI_MEMORIES = partial(network, 200, 10, together=True)
_NETWORKS = {
    "NN": (0, 0),
    "NN_TL": (0, 0),
    "NN_TLH": (200, 0),
    "NN_TLH_sampling": (200, 5),
    "NN_TLH_fifo": (200, 5),
    "NN_TLH_memories": (200, 10),
    "PRS": (200, 5),
    "OCDM": (200, 5),
}

PEERS: Mapping[str, Peer] = {
    **{name: Peer("PyTorch", partial(network, *sizes)) for name, sizes in _NETWORKS.items()},
    "NN_TLH_mini_memories": Peer("PyTorch", _MINI_MEMORIES),
    "EWC": Peer("PyTorch, no penalty", partial(network, 200, 0)),
    "LwF": Peer("PyTorch, no penalty", partial(network, 200, 0)),
    "GDumb": Peer("PyTorch, one step", partial(network, 200, 0)),
    "DERpp": Peer("PyTorch, no logits", _MINI_MEMORIES),
    "A-GEM": Peer("PyTorch, no projection", partial(network, 200, 10, together=True)),
    "BR_HT": Peer("River", _TREES),
    "BR_HAT": Peer("River", partial(one_a_label, partial(tree.HoeffdingAdaptiveTreeClassifier, seed=0))),
    "BR_EFDT": Peer("River", partial(one_a_label, tree.ExtremelyFastDecisionTreeClassifier)),
    "LC_HT": Peer(
        "River", partial(all_labels, lambda _: multioutput.MultiClassEncoder(tree.HoeffdingTreeClassifier()))
    ),
    "CC_HT": Peer(
        "River",
        partial(all_labels, lambda n: multioutput.ClassifierChain(tree.HoeffdingTreeClassifier(), list(range(n)))),
    ),
    "BR_random_forest": Peer("River", partial(one_a_label, partial(forest.ARFClassifier, n_models=10, seed=0))),
    "iSOUPtree": Peer("River", partial(all_labels, lambda _: tree.ISOUPTreeRegressor())),
    "MLHAT": Peer("River, BR_HAT", partial(one_a_label, partial(tree.HoeffdingAdaptiveTreeClassifier, seed=0))),
    "OCB": Peer("River, BR_HT", _TREES),
    "GOOWE_ML": Peer("River, BR_HT", _TREES),
    "BR_LR": Peer("River", partial(one_a_label, _LR)),
    "ABALR": Peer("River", partial(one_a_label, lambda: ensemble.ADWINBaggingClassifier(_LR(), 10, seed=0))),
    "ABOLR": Peer("River", partial(one_a_label, lambda: ensemble.ADWINBoostingClassifier(_LR(), 10, seed=0))),
    "MLSAMPkNN": Peer("NumPy, fixed window", partial(neighbours, 3)),
    "MLSAkNN": Peer("NumPy, fixed window", partial(neighbours, 3)),
    "AESAKNNS": Peer("NumPy, fixed window", partial(neighbours, 3)),
    "StreamRidge": Peer("NumPy, no calibration", ridge),
    "Stack": Peer("its members", together(ridge, partial(network, 0, 0), partial(network, 100, 10, together=True))),
    "1NN": Peer(
        "River",
        partial(all_labels, lambda _: neighbors.KNNClassifier(1, neighbors.LazySearch(1000)), as_class=True),
    ),
    "last_class": Peer("River", partial(all_labels, lambda _: dummy.NoChangeClassifier(), as_class=True)),
    "prior_distribution": Peer("River", partial(one_a_label, dummy.PriorClassifier)),
    "mean": Peer("River", running_means),
    "no_features": Peer("NumPy", prevalences),
}
