"""Trees and forests, test-then-train, batch size 1, side by side with River, on Yeast, synthetic_rand and categories.

Required speed-up over River's own learners on the same rows: binary relevance 500 on Yeast and 150 on synthetic_rand,
100 and 10 with one call for each row; label combination, chain and iSOUP tree 100; of ten columns of ten categories,
which are words to River, 100. River needs minutes for the whole of
Yeast, so that both sides learn its first rows only. Required speed-up of two threads over one, on the whole stream: 1.5
on Yeast, and 1 on synthetic_rand. Our learners take a few milliseconds: on a busy machine, compare seconds of CPU
(``--cpu``); two threads need an idle machine.
"""

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import Contest, main, sized
from river import multioutput
from river.tree import ExtremelyFastDecisionTreeClassifier as RiverFastTree
from river.tree import HoeffdingAdaptiveTreeClassifier as RiverAdaptiveTree
from river.tree import HoeffdingTreeClassifier as RiverTree
from river.tree import ISOUPTreeRegressor

from estimators.meta.binary_relevance import BinaryRelevance
from estimators.meta.classifier_chain import ClassifierChain
from estimators.meta.label_combination import LabelCombination
from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier
from estimators.trees.extremely_fast_tree import ExtremelyFastDecisionTreeClassifier
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from estimators.trees.isoup import ISOUPTreeClassifier
from estimators.trees.multilabel import MultiLabelHoeffdingTreeClassifier
from mlstream import load_dataset

DATA = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data")) / "multilabel"
RIVER_ROWS = sized({"Yeast": 500, "synthetic_rand": 4000}, {"Yeast": 20, "synthetic_rand": 20})
ALL_ROWS = sized(4000, 100)
Rows = tuple[np.ndarray, np.ndarray]


def streams() -> dict[str, Rows]:
    """Read 2,417 rows of 103 features and 14 labels and, where the file is, 4,000 rows of 4 features and 4 labels."""
    yeast, path = load_dataset("yeast"), DATA / "synthetic_rand.csv"
    X, Y = np.ascontiguousarray(yeast.X, dtype=float), np.asarray(yeast.Y, dtype=int)
    found = {"Yeast": (X[:ALL_ROWS], Y[:ALL_ROWS])}
    if not path.exists():
        print(f"synthetic_rand is skipped: {path} is absent.")
        return found
    with path.open() as lines:
        rand = np.array(list(csv.reader(lines))[1 : 1 + ALL_ROWS], dtype=float)
    return {**found, "synthetic_rand": (np.ascontiguousarray(rand[:, :4]), rand[:, 4:].astype(int))}


def first(rows: Rows, n: int) -> Rows:
    """Return the first n rows, which both sides learn."""
    X, Y = rows
    return X[:n], Y[:n]


def in_one_call(make: Callable[[], Any], rows: Rows) -> Callable[[], Any]:
    """Test, then train, in one call."""
    return lambda: make().predict_then_fit(*rows)[0]


def row_by_row(make: Callable[[], Any], rows: Rows) -> Callable[[], Any]:
    """Test, then train, in one call for each row."""
    X, Y = rows

    def run() -> Any:
        learner = make()
        return np.vstack([learner.predict_then_fit(X[i : i + 1], Y[i : i + 1])[0] for i in range(len(X))])

    return run


def river(make: Callable[[], Any], rows: Rows) -> Callable[[], Any]:
    """Test, then train, with a River model of all labels; the dictionaries are made in advance."""
    X, Y = rows
    examples = [(dict(enumerate(x)), dict(enumerate(y))) for x, y in zip(X.tolist(), Y.tolist(), strict=True)]

    def run() -> Any:
        model = make()
        for x, y in examples:
            model.predict_one(x)
            model.learn_one(x, y)
        return np.zeros(0)

    return run


class RiverTrees:
    """River's trees, one for each label, with as little code around them as possible."""

    def __init__(self, n_labels: int, kind: Callable[[], Any] = RiverTree) -> None:
        self.trees = [kind() for _ in range(n_labels)]

    def predict_one(self, x: Any) -> list[Any]:
        """Predict."""
        return [tree.predict_one(x) for tree in self.trees]

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn."""
        for tree, label in zip(self.trees, y.values(), strict=True):
            tree.learn_one(x, label)


def categories() -> Rows:
    """Draw ten columns of ten values, and labels that depend on pairs of them."""
    rng, n_rows = np.random.default_rng(0), sized(10_000, 60)
    codes, rules = rng.integers(0, 10, size=(n_rows, 10)), rng.random((2, 10, 10)) < 0.4
    Y = np.column_stack([rules[k, codes[:, k], codes[:, k + 1]] for k in range(2)])
    return codes.astype(float), (Y ^ (rng.random(Y.shape) < 0.1)).astype(np.int64)


def nominal_contests() -> list[Contest]:
    """Pair our trees on codes with River's on words."""
    X, Y = rows = categories()
    words = X.astype(int).astype(str).astype(object)
    told = {"categorical_features": list(range(10))}
    trees = {
        "HT": (lambda: BinaryRelevance(HoeffdingTreeClassifier(**told)), RiverTree),
        "HAT": (
            lambda: BinaryRelevance(HoeffdingAdaptiveTreeClassifier(**told, random_state=0)),
            RiverAdaptiveTree,
        ),
        "EFDT": (lambda: BinaryRelevance(ExtremelyFastDecisionTreeClassifier(**told)), RiverFastTree),
    }
    found = []
    for name, (ours, theirs) in trees.items():
        peers = {"River, words": river(lambda kind=theirs: RiverTrees(2, kind), (words, Y))}
        found.append(Contest(f"BR_{name}, categories", in_one_call(ours, rows), peers, demand=100, tolerance=None))
    return found


def contests() -> list[Contest]:
    """Pair our learners with River's."""
    found = nominal_contests()
    for name, all_rows in streams().items():
        rows = first(all_rows, RIVER_ROWS[name])
        n_labels = rows[1].shape[1]
        trees = {"River": river(lambda n=n_labels: RiverTrees(n), rows)}
        demand, per_row = (500, 100) if name == "Yeast" else (150, 10)

        def add(job: str, ours: Any, peers: Any, demand: float, name: str = name) -> None:
            found.append(Contest(f"{job} {name}", ours, peers, demand=demand, tolerance=None))

        make = lambda: BinaryRelevance(HoeffdingTreeClassifier())  # noqa: E731
        add("BR_HT", in_one_call(make, rows), trees, demand)
        add("BR_HT by row", row_by_row(make, rows), trees, per_row)
        chain = {"River": river(lambda n=n_labels: multioutput.ClassifierChain(RiverTree(), list(range(n))), rows)}
        add("CC_HT", in_one_call(lambda: ClassifierChain(HoeffdingTreeClassifier()), rows), chain, 100)
        sets = {"River": river(lambda: multioutput.MultiClassEncoder(RiverTree()), rows)}
        add("LC_HT", in_one_call(lambda: LabelCombination(HoeffdingTreeClassifier()), rows), sets, 100)
        isoup = {"River": river(ISOUPTreeRegressor, rows)}
        add("iSOUP", in_one_call(ISOUPTreeClassifier, rows), isoup, 100)
        add("multi-label tree", in_one_call(MultiLabelHoeffdingTreeClassifier, rows), trees, 0)
        shared = lambda: BinaryRelevance(HoeffdingTreeClassifier(), n_jobs=2)  # noqa: E731
        one = {"one thread": in_one_call(make, all_rows)}
        add("BR_HT, two threads", in_one_call(shared, all_rows), one, 1.5 if name == "Yeast" else 1)
    return found


if __name__ == "__main__":
    main("Trees, test-then-train", contests(), ["numba", "river", "numpy"], repeats=3)
