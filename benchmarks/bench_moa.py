"""Trees and forests, test-then-train, side by side with MOA, warm and inside Java, on Yeast, Slashdot, synthetic_rand.

Required speed-up: 20 on Yeast, 40 on Slashdot and 6 on synthetic_rand for binary relevance of Hoeffding trees, 10 for
adaptive random forests of ten trees. MOA's loop is written in Java (MoaTestThenTrain.java); CapyMOA's goes through
Python. Seconds of CPU are compared, which other programs disturb little; Java's are those of the thread that learns,
without the threads that compile and collect garbage. On Slashdot, whose rows are sparse, MOA runs on dense and on
sparse rows, and the faster run counts. The share of right decisions is printed as well: trees decide nearly the same,
forests draw other random numbers.

Needs Java 17 and moa.jar: `pip install capymoa`, `--jar`, or the variable MLSTREAM_MOA_JAR. Without them the benchmark
prints which one is missing, and stops.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from bench_trees import ALL_ROWS, DATA, Rows, first, streams
from harness import TINY, machine, sized, versions

from estimators import AdaptiveRandomForestClassifier, BinaryRelevance, HoeffdingTreeClassifier
from mlstream import load_dataset

JAVA = Path(__file__).with_name("MoaTestThenTrain.java")


class Learner(NamedTuple):
    """Our learner, MOA's with the same parameters, the required speed-ups, and the number of timed passes of MOA."""

    ours: Callable[[], Any]
    moa: str
    demand: dict[str, float]
    n_passes: int


LEARNERS = {
    "BR_HT": Learner(
        lambda: BinaryRelevance(HoeffdingTreeClassifier()),
        "moa.classifiers.trees.HoeffdingTree",
        {"Yeast": 20, "Slashdot": 40, "synthetic_rand": 6},
        5,
    ),
    "BR_ARF": Learner(
        lambda: AdaptiveRandomForestClassifier(random_state=0),
        "moa.classifiers.meta.AdaptiveRandomForest -l (ARFHoeffdingTree -e 2000000 -g 50 -c 0.01) -s 10 -o (sqrt(M)+1)",
        {"Yeast": 10, "Slashdot": 10, "synthetic_rand": 10},
        3,
    ),
}


class Measured(NamedTuple):
    """Share of right decisions, and median CPU seconds of a pass."""

    right: float
    cpu_s: float


def tables() -> dict[str, Rows]:
    """Read the streams of bench_trees.py and, where it is, Slashdot: 3,782 rows, 1,079 features, 20 labels in use."""
    path = DATA / "Slashdot.arff"
    if not path.exists():
        print(f"Slashdot is skipped: {path} is absent.")
        return streams()
    slashdot = load_dataset(path)
    rows = slashdot.X.toarray(), slashdot.Y[:, slashdot.Y.any(axis=0)].astype(int)
    return streams() | {"Slashdot": first(rows, ALL_ROWS)}


def find_jar() -> Path | None:
    """Find moa.jar, at MLSTREAM_MOA_JAR or in CapyMOA, without starting Java."""
    if named := os.environ.get("MLSTREAM_MOA_JAR"):
        return Path(named)
    package = importlib.util.find_spec("capymoa")
    return None if package is None else Path(package.origin).parent / "jar" / "moa.jar"


def write_rows(path: Path, rows: Rows) -> None:
    """Write rows in the format that the Java program reads."""
    X, Y = rows
    with path.open("wb") as file:
        np.array([*X.shape, Y.shape[1]], dtype=">i4").tofile(file)
        np.hstack([X, Y]).astype(">f8").tofile(file)


def run_moa(jar: Path, rows: Path, learner: Learner, kind: str) -> Measured:
    """Run MOA once to warm up, and then some passes, in one process."""
    command = ["java", "-cp", str(jar), str(JAVA), str(rows), learner.moa, kind, str(sized(learner.n_passes, 1))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    right, *seconds = map(float, done.stdout.split())
    return Measured(right, median(seconds))


def run_ours(rows: Rows, learner: Learner, n_passes: int = 5) -> Measured:
    """Run our learner as often, after a pass that compiles."""
    X, Y = rows
    right = float((learner.ours().predict_then_fit(X, Y)[0] == Y).mean())
    seconds = []
    for _ in range(sized(n_passes, 1)):
        began = time.process_time()
        learner.ours().predict_then_fit(X, Y)
        seconds.append(time.process_time() - began)
    return Measured(right, median(seconds))


def lines(jar: Path, only: str) -> Iterator[str]:
    """Compare every learner on every stream."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        for stream, rows in tables().items():
            write_rows(path, rows)
            kinds = ("dense", "sparse") if stream == "Slashdot" else ("dense",)
            for name, learner in LEARNERS.items():
                if only in f"{name} {stream}":
                    moa = min((run_moa(jar, path, learner, kind) for kind in kinds), key=lambda one: one.cpu_s)
                    yield line(f"{name} {stream}", len(rows[0]), run_ours(rows, learner), moa, learner.demand[stream])


def line(job: str, n_rows: int, ours: Measured, moa: Measured, demand: float) -> str:
    """Format one comparison."""
    ratio = moa.cpu_s / ours.cpu_s
    rates = f"{n_rows / ours.cpu_s:11.0f} {n_rows / moa.cpu_s:11.0f}"
    verdict = "  MISSED" if ratio < demand and not TINY else ""
    return f"{job:22} {rates} {ratio:6.1f}x {demand:5g}x {ours.right:10.4f} {moa.right:10.4f}{verdict}"


def main() -> None:
    """Print all comparisons, or which program is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, default=find_jar(), help="moa.jar (default: CapyMOA's)")
    parser.add_argument("--only", default="", help="compare only what contains this, such as 'BR_HT Yeast'")
    options = parser.parse_args()
    missing = "Java" if shutil.which("java") is None else "CapyMOA" if options.jar is None else None
    if missing:
        print(f"Skipped: {missing} is not installed.")
        return
    print("Trees, test-then-train, against MOA inside Java")
    for part in (machine(), versions(["numba", "numpy", "capymoa"])):
        print(", ".join(f"{key} {value}" for key, value in part.items()))
    print(
        f"{'job':22} {'ours rows/s':>11} {'MOA rows/s':>11} {'ratio':>7} {'demand':>6} {'ours right':>10} {'MOA':>10}"
    )
    for text in lines(options.jar, options.only):
        print(text, flush=True)


if __name__ == "__main__":
    main()
