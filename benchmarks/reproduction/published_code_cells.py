"""The published classes, run where their packages are: River 0.21.2, PyTorch and CodeCarbon.

Reads a line of JSON for each run, {"strategy": ..., "rows": file, "least_s": ...}, and answers with a line: what the
run took and what was decided. `published_code.py` starts it, with the checkout of the published code on the path.
"""

import contextlib
import json
import random
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import torch
from river import forest, multioutput, tree

from benchmarks.reproduction.measure import measure, start_meter
from benchmarks.reproduction.shared_settings import FOREST, NETWORKS, TREE


def make(strategy: str, n_features: int, n_labels: int) -> Any:
    """Build a learner as 3_benchmark.py does; networks have settings by default that are ours, too."""
    if strategy in NETWORKS:
        module = import_module(f"implemented_models.{strategy}")
        return getattr(module, f"{strategy}_classifier")(feature_size=n_features, label_size=n_labels)
    if strategy == "iSOUPtree":
        return tree.iSOUPTreeRegressor(**TREE)
    if strategy == "LC_HT":
        return multioutput.MultiClassEncoder(tree.HoeffdingTreeClassifier(**TREE))
    if strategy == "CC_HT":
        return multioutput.ClassifierChain(tree.HoeffdingTreeClassifier(**TREE))
    base = tree.HoeffdingTreeClassifier(**TREE) if strategy == "BR_HT" else forest.ARFClassifier(**FOREST)
    return import_module("implemented_models.binary_relevance").binary_relevance(base)


def make_run(strategy: str, X: np.ndarray, Y: np.ndarray, mask: np.ndarray, answers: list) -> Callable[[], None]:
    """Test, then train, row by row; rows are dictionaries beforehand."""
    rows = [{str(feature): value for feature, value in enumerate(x)} for x in X.tolist()]
    labels = [{f"L{label}": value for label, value in enumerate(y)} for y in Y.tolist()]
    signatures = [[f"L{label}" for label in np.flatnonzero(row)] for row in mask]
    is_told = strategy in NETWORKS and strategy != "NN"

    def run() -> None:
        learner = make(strategy, X.shape[1], Y.shape[1])
        answers.clear()
        for x, y, signature in zip(rows, labels, signatures, strict=True):
            answers.append(learner.predict_one(x))
            if is_told:
                learner.learn_one(x, y, signature)
            else:
                learner.learn_one(x, y)

    return run


def decide(answers: list[dict[str, float | None]], n_labels: int) -> list[list[int]]:
    """Make decisions of outputs."""
    return [[int((answer.get(f"L{label}") or 0) >= 0.5) for label in range(n_labels)] for answer in answers]


def answer(strategy: str, rows: str, least_s: float, meter: Any) -> dict[str, Any]:
    """Run one strategy."""
    with np.load(rows) as file:
        X, Y, mask = file["X"], file["Y"], file["mask"]
    random.seed(0)
    torch.manual_seed(0)
    answers: list[dict[str, float | None]] = []
    make_run(strategy, X[:20], Y[:20], mask[:20], answers)()
    cost = measure(make_run(strategy, X, Y, mask, answers), meter, least_s)
    return {"cost": cost, "decided": decide(answers, Y.shape[1])}


def main() -> None:
    """Answer until there are no more lines."""
    reply, meter = sys.stdout, start_meter()
    with contextlib.redirect_stdout(sys.stderr):  # the published modules print
        for line in sys.stdin:
            reply.write(json.dumps(answer(**json.loads(line), meter=meter)) + "\n")
            reply.flush()


if __name__ == "__main__":
    main()
