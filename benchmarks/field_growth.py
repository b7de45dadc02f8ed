"""How the cost of a row grows with rows, labels, features and the window: the field's learners, seconds of CPU.

Each learner tests, then trains, in one call. Prints a table, and draws it.

    python benchmarks/field_growth.py
    python benchmarks/field_growth.py --strategies MLHAT BR_HAT --figure growth.svg
"""

import argparse
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from harness import TINY, sized

from estimators import make_strategy

STRATEGIES = ("BR_HT", "BR_HAT", "BR_EFDT", "MLHAT", "BR_LR", "ABALR", "ABOLR", "OCB", "MLSAMPkNN", "MLSAkNN")
N_PASSES = sized(3, 1)
WINDOWS = ("MLSAMPkNN", "MLSAkNN")
BASE = {"rows": sized(2000, 40), "labels": 10, "features": 20}
SIZES = {
    "rows": sized((1000, 2000, 5000, 10_000, 20_000), (20, 40)),
    "labels": sized((5, 10, 20, 50, 100), (2, 3)),
    "features": sized((10, 20, 50, 100, 200), (2, 3)),
    "window": sized((50, 100, 200, 500, 1000), (100, 120)),
}


def table(rows: int, labels: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose labels are noisy half-spaces: trees split, and windows stay long."""
    rng = np.random.default_rng(0)
    X = rng.random((rows, features))
    scores = (X - 0.5) @ rng.normal(size=(features, labels))
    flipped = rng.random((rows, labels)) < 0.05
    return X, ((scores > 0) ^ flipped).astype(int)


def cost_us(name: str, size: dict[str, int]) -> float:
    """Return microseconds of CPU for a row: the least of some passes, the first of which may compile."""
    size = BASE | size
    parameters = full_window(size.pop("window")) if "window" in size else {}
    X, Y = table(**size)
    seconds = []
    for _ in range(N_PASSES):
        learner, started = make_strategy(name, random_state=0, **parameters), time.process_time()
        learner.predict_then_fit(X, Y)
        seconds.append(time.process_time() - started)
    return 1e6 * min(seconds) / len(X)


def full_window(size: int) -> dict[str, float]:
    """Return parameters of a window that is neither cut nor loses rows, so that all of it is searched."""
    return {"max_window": size, "min_window": size, "penalty": 1e9}


def measure(strategies: list[str]) -> dict[str, dict[str, list[float]]]:
    """Return what grows -> strategy -> cost at each size; only windows grow with a window."""
    found: dict[str, dict[str, list[float]]] = {}
    for what, sizes in SIZES.items():
        print(f"\n{what:14}" + "".join(f"{size:>10,}" for size in sizes))
        names = [name for name in strategies if what != "window" or name in WINDOWS]
        found[what] = {}
        for name in names:
            found[what][name] = [cost_us(name, {what: size}) for size in sizes]
            print(f"{name:14}" + "".join(f"{cost:10.1f}" for cost in found[what][name]), flush=True)
    return found


def draw(found: dict[str, dict[str, list[float]]], path: Path) -> None:
    """Draw a panel for each thing that grows, both axes logarithmic: straight lines are powers."""
    figure, axes = plt.subplots(1, len(found), figsize=(3.2 * len(found), 3.4), sharey=True, layout="constrained")
    for place, (what, costs) in zip(axes, found.items(), strict=True):
        for number, (name, values) in enumerate(costs.items()):
            index = STRATEGIES.index(name) if name in STRATEGIES else number
            place.loglog(SIZES[what], values, marker="os^Dv"[index % 5], color=f"C{index}", label=name, markersize=4)
        place.set(xlabel=what, xticks=SIZES[what], xticklabels=[f"{size:,}" for size in SIZES[what]])
        place.minorticks_off()
        place.grid(alpha=0.3)
    axes[0].set(ylabel="microseconds of CPU a row")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.savefig(path)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES))
    parser.add_argument("--figure", type=Path, help="file of a picture, such as growth.svg")
    chosen = parser.parse_args()
    print("Microseconds of CPU a row" + (" (a short run: the figures mean nothing)" if TINY else ""))
    found = measure(chosen.strategies)
    if chosen.figure:
        draw(found, chosen.figure)


if __name__ == "__main__":
    main()
