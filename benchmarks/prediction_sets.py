"""Misses of prediction sets in drifting worlds and on tables: ours, and those of split conformal prediction.

    python benchmarks/prediction_sets.py
    python benchmarks/prediction_sets.py --learners BR_HT --of label --alpha 0.05 --seeds 7 8 9

Each row is predicted, then learnt. Split conformal prediction takes its thresholds from the scores of the first quarter
of the rows, and keeps them. Both are scored on the other rows. A world is held if the share of misses is within 0.01 of
alpha; an interval of a label is that of Wilson, of 95 %. A full row has all labels open. Files are those in
MLSTREAM_SHARED_DATA.
"""

import argparse
import itertools
import os
from functools import partial
from pathlib import Path

import numpy as np
from harness import demand, sized, us_a_row

from estimators import PredictionSets, make_strategy
from metrics import set_coverage
from mlstream import load_dataset
from mlstream.generators import drifting_stream

SHARED = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
KINDS = ("tree", "rbf", "hyperplane")
DRIFTS = {
    "abrupt": {"learning_fractions": [0.8], "order": [0, 1, 2, 3]},
    "gradual": {"learning_fractions": [0.8], "order": [0, 1, 2, 3], "window": sized(400, 8)},
    "recurring": {"learning_fractions": [0.4, 0.4], "order": [0, 1, 2, 3] * 2},
}
TABLES = sized(("Yeast.arff.gz", "Scene.arff.gz", "Reuters-K500.arff"), ("Yeast.arff.gz",))
N_ROWS = sized(1250, 50)
HEAD = f"{'':24}{'miss':>8}{'split':>8}{'open':>8}{'empty':>8}{'full':>8}{'worst label':>28}"


def world(kind: str, drift: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the learning rows of a world."""
    stream = drifting_stream(kind, seed=seed, n_rows=N_ROWS, n_concepts=4, evaluation_fraction=0.2, **DRIFTS[drift])
    X, Y = (np.concatenate([getattr(experience, part) for experience in stream]) for part in "XY")
    return X, Y.astype(int)


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a file in a drawn order."""
    data = load_dataset(SHARED / "multilabel" / name)
    order = np.random.default_rng(0).permutation(len(data.Y))[: sized(None, 60)]
    return data.X[order], np.asarray(data.Y)[order].astype(int)


def split_sets(proba: np.ndarray, Y: np.ndarray, alpha: float, of: str) -> np.ndarray:
    """Return sets by the scores of the true values in the first quarter of the rows."""
    first = slice(len(Y) // 4)
    scores = np.where(Y == 1, 1 - proba, proba)[first]

    def threshold(values: np.ndarray) -> float:
        rank = int(np.ceil((1 - alpha) * (len(values) + 1)))
        return float(np.sort(values)[rank - 1]) if rank <= len(values) else np.inf

    if of == "row":
        limits = np.full((2, Y.shape[1]), threshold(scores.max(axis=1)))
    else:
        groups = [Y[first] == value if of == "value" else np.ones(scores.shape, bool) for value in (0, 1)]
        limits = np.array([[threshold(scores[rows[:, j], j]) for j in range(Y.shape[1])] for rows in groups])
    absent, present = proba <= limits[0], 1 - proba <= limits[1]
    return np.select([absent & present, present, absent], [-1, 1, 0], -2)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return the interval of a share of n rows."""
    z = 1.96
    centre, half = share + z * z / (2 * n), z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def line(name: str, X: np.ndarray, Y: np.ndarray, learner: str, options: argparse.Namespace) -> tuple[float, ...]:
    """Print how sets of a stream do; return the misses of ours and of the peer, and the share of full rows."""
    alpha, of = options.alpha, options.of
    ours = PredictionSets(make_strategy(learner, random_state=0), alpha=alpha, of=of)
    sets, proba = ours.predict_set_then_fit(X, Y)
    late = slice(len(Y) // 4, None)
    average = "subset" if of == "row" else "micro"
    miss, split = (
        1 - set_coverage(Y[late], codes[late], average=average) for codes in (sets, split_sets(proba, Y, alpha, of))
    )
    scored = sets[late]
    full = (scored == -1).all(axis=1).mean()
    shares = 1 - set_coverage(Y[late], scored, average=None)
    worst = int(np.abs(shares - alpha).argmax())
    low, high = wilson(shares[worst], len(scored))
    label = "" if of == "row" else f"{shares[worst]:.3f} ({low:.3f} to {high:.3f})"
    numbers = miss, split, (scored == -1).mean(), (scored == -2).mean(), full
    print(f"{name:24}" + "".join(f"{value:8.3f}" for value in numbers) + f"{label:>28}", flush=True)
    return miss, split, full


def cost(name: str) -> None:
    """Print what sets of ten labels add to a row."""
    alone = partial(make_strategy, name, random_state=0)
    found = us_a_row({"alone": alone, "sets": lambda: PredictionSets(alone())})
    chunk, one = np.subtract(found["sets"], found["alone"])
    print(f"sets of 10 labels beside {name}: {chunk:.1f} us a row in one call, {one:.1f} us one by one")


def main() -> None:
    """Print a line for each world and table, and how many worlds are held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", nargs="+", default=["StreamRidge"], metavar="NAME")
    parser.add_argument("--of", choices=("value", "label", "row"), default="value")
    parser.add_argument("--alpha", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, nargs="+", default=sized([501, 502, 503], [501]))
    options = parser.parse_args()
    for learner in options.learners:
        print(f"{learner}, of={options.of}, alpha={options.alpha}\n{HEAD}")
        worlds = list(itertools.product(KINDS, DRIFTS, options.seeds))
        found = np.array([line(" ".join(map(str, case)), *world(*case), learner, options) for case in worlds])
        held = (np.abs(found[:, :2] - options.alpha) <= 0.01).sum(axis=0)
        n_full = int((found[:, 2] > 0.5).sum())
        print(f"held: {held[0]} of {len(worlds)}, split {held[1]}; full in over half of the rows: {n_full}")
        demand(held[0] == len(worlds), "misses within 0.01 of alpha in every world")
        for name in TABLES:
            line(name.split(".")[0], *table(name), learner, options)
    cost("BR_LR")


if __name__ == "__main__":
    main()
