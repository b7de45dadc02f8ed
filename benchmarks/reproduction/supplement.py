"""The supplement's cells of deterministic strategies: six printed values of each.

All of them on the synthetic streams, where trees and running means are River 0.21.2's, in an environment of its own. On
Yeast, Slashdot and Reuters-K500 River's trees take up to hours: all but a chain are ours there, which decide alike.

    python -m benchmarks.reproduction.supplement
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.base import clone

from benchmarks.reproduction import real_streams, stream_files
from benchmarks.reproduction.compare import Reading, Value, report, require_shared, table
from benchmarks.reproduction.river_environment import run_river, tree_settings
from estimators import (
    BinaryRelevance,
    HoeffdingTreeClassifier,
    ISOUPTreeClassifier,
    LabelCombination,
    LastLabelsClassifier,
    NearestRowClassifier,
    PriorLabelsClassifier,
)
from tests.estimators import published

SCORES = ("01_ba_macro", "02_average_accuracy", "03_bwt_neg", "04_bwt_pos", "05_fwt_neg", "06_fwt_pos")

# row of the tables -> strategy; grace period, delta and tau that its authors had chosen on monolab, bilab and rand
RIVERS = {
    "T1_BR": ("BR_HT", [(200, 1e-7, 0.1), (200, 1e-7, 0.05), (100, 1e-7, 0.05)]),
    "T2_LC": ("LC_HT", [(200, 1e-6, 0.05), (100, 1e-6, 0.05), (100, 1e-6, 0.05)]),
    "T3_CC": ("CC_HT", [(100, 1e-6, 0.05), (100, 1e-7, 0.1), (100, 1e-7, 0.05)]),
    "T5_SOUP": ("iSOUPtree", [(100, 1e-6, 0.05), (200, 1e-7, 0.1), (200, 1e-6, 0.1)]),
    "B4_mean": ("mean", [(), (), ()]),
}
BASELINES = {
    "B2_last_class": LastLabelsClassifier(),
    "B3_prior_distribution": PriorLabelsClassifier(start="first-positive"),
}
# on real streams the chosen configurations are not known; of each grid, these give the printed values
NEAREST = {
    "synth_monolab": NearestRowClassifier(window=1000),
    "synth_bilab": NearestRowClassifier(window=None),
    "synth_rand": NearestRowClassifier(window=None),
    "Yeast": NearestRowClassifier(window=100),
    "Slashdot": NearestRowClassifier(window=100, metric="cosine"),
    "Reuters-K500": NearestRowClassifier(window=1000),
}
TREES = {
    "Yeast": {"T1_BR": (200, 1e-6, 0.1), "T2_LC": (200, 1e-7, 0.05), "T5_SOUP": (200, 1e-6, 0.05)},
    "Slashdot": {"T1_BR": (200, 1e-7, 0.1), "T2_LC": (200, 1e-7, 0.05), "T5_SOUP": (100, 1e-6, 0.1)},
    "Reuters-K500": {"T5_SOUP": (200, 1e-6, 0.05)},
}
CHAINS = {"Yeast": (200, 1e-7, 0.1)}
INSTEAD = {
    "B2_last_class Reuters-K500 fwt_neg": Reading(
        0.0, "no transfer is 80, and the average printed beside it requires 0", tolerance=0.0005
    )
}


class Oracle:
    """The truth, which knows the rows of a stream."""

    def __init__(self, stream: published.Published) -> None:
        self.truth = {X.tobytes(): Y for X, Y in (*stream.experiences, *stream.evaluations)}

    def predict(self, X):
        """Give the truth."""
        return self.truth[X.tobytes()]

    def predict_then_fit(self, X, Y):  # noqa: ARG002 - as learners are called
        """Give the truth."""
        return Y, Y.astype(float)


def main() -> int:
    """Compare 47 cells of six values."""
    printed = {score: table(f"supp_table{score}") for score in SCORES}
    cells = {**_river_cells(), **dict(_synthetic_cells()), **_real_cells()}
    return report("Supplement, deterministic strategies", _values(printed, cells))


def _values(printed, cells) -> Iterator[Value]:
    for cell, scores in cells.items():
        strategy, column = cell.split(", ")
        for score, ours in zip(SCORES, scores, strict=True):
            name = f"{strategy} {column} {score[3:]}"
            yield Value(name, printed[score][strategy][column], ours, tolerance=0.0005, instead=INSTEAD.get(name))


def _river_cells() -> dict[str, list[float]]:
    cells = {
        f"{row}, synth_{name}": [strategy, name, tree_settings(*values) if values else {}, None]
        for row, (strategy, configurations) in RIVERS.items()
        for name, values in zip(published.NAMES, configurations, strict=True)
    }
    return _scores(run_river(cells))


def _synthetic_cells() -> Iterator[tuple[str, list[float]]]:
    for name in published.NAMES:
        stream = published.load(require_shared().joinpath, name)
        yield from _our_cells(f"synth_{name}", stream, {"B1_oracle": Oracle(stream)})


def _real_cells() -> dict[str, list[float]]:
    ours, rivers = {}, {}
    with TemporaryDirectory() as folder:
        for name, column in real_streams.NAMES.items():
            stream = real_streams.load(name)
            ours |= _our_cells(column, stream, {row: _tree(row, *values) for row, values in TREES[column].items()})
            path = Path(folder) / f"{name}.npz"
            stream_files.write(stream, path)
            rivers[f"B4_mean, {column}"] = ["mean", str(path), {}, None]
            if column in CHAINS:
                rivers[f"T3_CC, {column}"] = ["CC_HT", str(path), tree_settings(*CHAINS[column]), None]
        return ours | _scores(run_river(rivers))


def _tree(row: str, *values: float) -> Any:
    """Make our learner of a row of the tables as the published code has it."""
    if row == "T5_SOUP":
        return ISOUPTreeClassifier(**tree_settings(*values))
    tree = HoeffdingTreeClassifier(**tree_settings(*values))
    if row == "T2_LC":
        return LabelCombination(tree, decisions="published")
    return BinaryRelevance(tree, start="first-positive")


def _our_cells(column: str, stream: published.Published, more: dict[str, Any]) -> Iterator[tuple[str, list[float]]]:
    for strategy, learner in ({**BASELINES, "B5_1NN": NEAREST[column]} | more).items():
        answers = published.test_then_train(clone(learner, safe=False), stream)
        yield f"{strategy}, {column}", published.scores(answers, stream, half=strategy == "T5_SOUP")


def _scores(done: dict[str, Any]) -> dict[str, list[float]]:
    return {cell: values["scores"] for cell, values in done.items()}


if __name__ == "__main__":
    sys.exit(main())
