"""Frugality in kWh and in kJ, from the tables of ACC and of energy that the docs print.

    python -m benchmarks.reproduction.frugality docs/learners/corrected_table

Writes the mean ranks, and prints how like ACC each of them orders all cells.
"""

import csv
import sys
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from metrics import average_ranks, frug

UNITS = ("kWh", "kJ")


def read(path: Path) -> tuple[list[str], np.ndarray]:
    """Read strategies, and means of shape (n_strategies, n_streams); NaN where one is not defined."""
    with path.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    means = [[float("nan") if cell == "n/a" else float(cell.split(" ")[0]) for cell in row[1:]] for row in rows]
    return [row[0] for row in rows], np.array(means)


def compute(folder: Path) -> tuple[list[str], dict[str, np.ndarray]]:
    """Return strategies, and what is ranked, of the streams on which all have an ACC; energy counts downwards."""
    strategies, accuracies = read(folder / "acc_mean.csv")
    others, joules = read(folder / "energy_j.csv")
    if strategies != others:
        raise ValueError(f"{folder} must hold tables of the same strategies. Got {strategies} and {others}.")
    defined = ~np.isnan(accuracies).any(axis=0)
    accuracies, joules = accuracies[:, defined], joules[:, defined]
    scores = {
        f"Frug ({unit})": np.vectorize(partial(frug, energy_unit="J", scale=unit))(accuracies, joules) for unit in UNITS
    }
    return strategies, {"ACC": accuracies, **scores, "Energy": -joules}


def rank(scores: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return mean ranks over streams, 1 for the best."""
    return {name: average_ranks(values.T) for name, values in scores.items()}


def main(folder: Path) -> None:
    """Write the mean ranks, best in ACC first, and print the correlations with ACC."""
    strategies, scores = compute(folder)
    ranks = rank(scores)
    with (folder / "frugality.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["Strategy", *ranks])
        for place in np.argsort(ranks["ACC"], kind="stable"):
            table.writerow([strategies[place], *(f"{values[place]:.1f}" for values in ranks.values())])
    for name, values in scores.items():
        rho = spearmanr(scores["ACC"].ravel(), values.ravel()).statistic
        sys.stdout.write(f"Spearman's correlation of {name} with ACC over {values.size} cells: {rho:.3f}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
