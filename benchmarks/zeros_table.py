"""Trees that add zeros together, beside the same trees that add them one by one, on texts and pictures.

One tree for each label that occurs tests, then learns, the sparse rows of each file in MLSTREAM_SHARED_DATA. Counted
are trees whose splits, features and thresholds up to rounding, and numbers of right guesses are those of the others.

    python benchmarks/zeros_table.py
    python benchmarks/zeros_table.py --sets Slashdot.arff
"""

import argparse
import os
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from harness import sized
from scipy import sparse

from estimators import HoeffdingTreeClassifier
from metrics import ba_macro
from mlstream import load_dataset

SHARED = Path(os.environ.get("MLSTREAM_SHARED_DATA", "shared/data"))
SETS = ("Slashdot.arff", "OHSUMED-F.arff.gz", "Corel5k-sparse.arff", "bibtex.arff.gz", "Reuters-K500.arff")
ROUNDING = 1e-9


class Passed(NamedTuple):
    """Results of a pass over the rows."""

    learner: Any
    proba: np.ndarray
    ba: float
    cpu_s: float


def read(name: str) -> tuple[sparse.csr_array, np.ndarray] | None:
    """Return sparse features and the labels that occur, or None if there is no such file."""
    paths = [folder / name for folder in (SHARED / "multilabel", SHARED / "multilabel-extra")]
    found = [path for path in paths if path.exists()]
    if not found:
        return None
    names = found[0].with_name(f"{re.split('[-.]', name)[0]}.xml")
    data = load_dataset(found[0], labels=names if names.exists() else None)
    X, Y = sparse.csr_array(data.X)[: sized(None, 60)], np.asarray(data.Y)[: sized(None, 60)]
    return X.astype(float), Y[:, Y.any(axis=0)].astype(int)


def run(X: sparse.csr_array, Y: np.ndarray, zeros: str) -> Passed:
    """Test, then learn, all rows in chunks of 1,000."""
    learner = HoeffdingTreeClassifier(zeros=zeros)
    # what is compiled at the first call does not count
    HoeffdingTreeClassifier(zeros=zeros).predict_then_fit(X[:50], Y[:50])
    start = time.process_time()
    parts = [learner.predict_then_fit(X[a : a + 1000], Y[a : a + 1000]) for a in range(0, X.shape[0], 1000)]
    cpu_s = time.process_time() - start
    decided, proba = (np.concatenate(rows) for rows in zip(*parts, strict=True))
    return Passed(learner, proba, ba_macro(Y, decided), cpu_s)


def describe(learner: Any, label: int) -> np.ndarray:
    """Return the nodes of a tree from the root on: split, or -1, threshold, and right guesses of both kinds."""
    arrays, place = learner.bank_.find(label)
    waiting, nodes = [int(arrays.trees[place]["root"])], []
    while waiting:
        node = arrays.nodes[waiting.pop()]
        nodes.append([float(node[name]) for name in ("feature", "threshold", "majority_hits", "bayes_hits")])
        if node["feature"] >= 0:
            waiting += [int(node["right"]), int(node["left"])]
    return np.array(nodes)


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="FILE")
    print(f"{'':20}{'rows':>8}{'features':>9}{'not zero':>9}{'trees':>6}{'splits':>7}{'equal':>6}", end="")
    print(f"{'votes':>9}{'BA one':>9}{'BA together':>12}{'CPU s':>8}{'together':>9}")
    for name in parser.parse_args().sets:
        found = read(name)
        if found is None:
            print(f"{name} is skipped: it is not in {SHARED}.")
            continue
        X, Y = found
        each, together = run(X, Y, "one-by-one"), run(X, Y, "together")
        pairs = [(describe(each.learner, j), describe(together.learner, j)) for j in range(Y.shape[1])]
        equal = [a.shape == b.shape and np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING) for a, b in pairs]
        n_equal, n_splits, share = sum(equal), sum(len(a) // 2 for a, _ in pairs), X.nnz / np.prod(X.shape)
        far = np.abs(each.proba - together.proba)[:, equal].max()
        head = re.split("[.]", name)[0]
        print(
            f"{head:20}{X.shape[0]:8,}{X.shape[1]:9,}{share:9.2%}{Y.shape[1]:6}{n_splits:7}{n_equal:6}{far:9.0e}",
            end="",
        )
        print(f"{each.ba:9.4f}{together.ba:12.4f}{each.cpu_s:8.2f}{together.cpu_s:9.2f}")


if __name__ == "__main__":
    main()
