"""Growth of the time of every tree learner with rows, labels and features: exponents and a picture.

Required: linear growth, an exponent near 1. Each point is the shortest of several turns of test-then-train on drawn
rows. `--save` writes the picture to results/.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from harness import RESULTS, machine, sized, versions

from estimators import (
    BinaryRelevance,
    ClassifierChain,
    HoeffdingTreeClassifier,
    ISOUPTreeClassifier,
    LabelCombination,
    MultiLabelHoeffdingTreeClassifier,
)

mpl.use("Agg")

BASE = {"rows": sized(2000, 100), "labels": 8, "features": 32}
SIZES = {
    "rows": sized((1000, 2000, 4000, 8000, 16000), (100, 200)),
    "labels": sized((4, 8, 16, 32, 64), (4, 8)),
    "features": sized((16, 32, 64, 128, 256), (16, 32)),
}
LEARNERS: dict[str, Callable[[], Any]] = {
    "BR_HT": lambda: BinaryRelevance(HoeffdingTreeClassifier()),
    "LC_HT": lambda: LabelCombination(HoeffdingTreeClassifier()),
    "CC_HT": lambda: ClassifierChain(HoeffdingTreeClassifier()),
    "multi-label tree": MultiLabelHoeffdingTreeClassifier,
    "iSOUPtree": ISOUPTreeClassifier,
}


def draw(rows: int, labels: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose labels each depend on one feature; there are at most eight label sets."""
    rng = np.random.default_rng(0)
    X = rng.random((rows, features))
    causes = X[:, :3] > 0.5
    return X, causes[:, np.arange(labels) % 3].astype(np.uint8)


def seconds(make: Callable[[], Any], rows: tuple[np.ndarray, np.ndarray], turns: int) -> float:
    """Return the shortest time of test-then-train over some turns."""
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        make().predict_then_fit(*rows)
        times.append(time.perf_counter() - start)
    return min(times)


def measure(turns: int) -> dict[str, dict[str, list[float]]]:
    """Time every learner at every size."""
    found: dict[str, dict[str, list[float]]] = {what: {} for what in SIZES}
    print(f"{'learner':18} {'grows with':10} {'exponent':>8}   ms at each size")
    for name, make in LEARNERS.items():
        make().predict_then_fit(*draw(**BASE))
        for what, sizes in SIZES.items():
            times = [seconds(make, draw(**{**BASE, what: size}), turns) for size in sizes]
            exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
            print(f"{name:18} {what:10} {exponent:8.2f}   {' '.join(f'{1e3 * s:.1f}' for s in times)}", flush=True)
            found[what][name] = times
    return found


def draw_picture(found: dict[str, dict[str, list[float]]]) -> Any:
    """Draw one panel for each kind of growth, with a line of exponent one to compare with."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(SIZES), figsize=(12, 4), layout="constrained")
    for panel, (what, sizes) in zip(panels, SIZES.items(), strict=True):
        for name, times in found[what].items():
            panel.loglog(sizes, times, marker="o", markersize=4, label=name)
        middle = np.exp(np.mean([np.log(times) for times in found[what].values()]))
        guide = middle * np.array(sizes) / np.exp(np.mean(np.log(sizes)))
        panel.loglog(sizes, guide, color="grey", linestyle="--", linewidth=1, label="linear")
        others = ", ".join(f"{size} {other}" for other, size in BASE.items() if other != what)
        panel.set(xlabel=what, title=f"growing {what}\n({others})")
        panel.set_xticks(sizes, [str(size) for size in sizes])
        panel.minorticks_off()
    panels[0].set_ylabel("seconds, test then train")
    panels[-1].legend(fontsize=8)
    return figure


def main() -> None:
    """Measure, print, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--turns", type=int, default=sized(5, 1), help="turns of which the shortest counts (default: %(default)s)"
    )
    parser.add_argument("--save", action="store_true", help=f"write the picture to {RESULTS}")
    options = parser.parse_args()
    print(", ".join(f"{key} {value}" for key, value in (machine() | versions(["numba", "numpy"])).items()))
    found = measure(options.turns)
    if options.save:
        path = RESULTS / "trees_scaling.png"
        draw_picture(found).savefig(path, dpi=110)
        print(f"Saved {path}")


if __name__ == "__main__":
    main()
