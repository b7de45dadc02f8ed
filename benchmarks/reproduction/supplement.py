"""The supplement's synthetic cells of deterministic strategies: six printed values of each.

Trees and running means are River 0.21.2's, in an environment of its own; the other baselines are ours.

    python -m benchmarks.reproduction.supplement
"""

import sys
from collections.abc import Iterator

from benchmarks.reproduction.compare import Value, report, require_shared, table
from benchmarks.reproduction.river_environment import run_river, tree_settings
from estimators import LastLabelsClassifier, NearestRowClassifier, PriorLabelsClassifier
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
    """Compare 27 cells of six values."""
    printed = {score: table(f"supp_table{score}") for score in SCORES}
    cells = {**_river_cells(), **dict(_baseline_cells())}
    return report("Supplement, synthetic streams, deterministic strategies", _values(printed, cells))


def _values(printed, cells) -> Iterator[Value]:
    for cell, scores in cells.items():
        strategy, stream = cell.split(", ")
        for score, ours in zip(SCORES, scores, strict=True):
            value = printed[score][strategy][f"synth_{stream}"]
            yield Value(f"{strategy} {stream} {score[3:]}", value, ours, tolerance=0.0005)


def _river_cells() -> dict[str, list[float]]:
    cells = {
        f"{row}, {name}": [strategy, name, tree_settings(*values) if values else {}, None]
        for row, (strategy, configurations) in RIVERS.items()
        for name, values in zip(published.NAMES, configurations, strict=True)
    }
    return {cell: done["scores"] for cell, done in run_river(cells).items()}


def _baseline_cells() -> Iterator[tuple[str, list[float]]]:
    for name in published.NAMES:
        stream = published.load(require_shared().joinpath, name)
        learners = {
            "B1_oracle": Oracle(stream),
            "B2_last_class": LastLabelsClassifier(),
            "B3_prior_distribution": PriorLabelsClassifier(start="first-positive"),
            "B5_1NN": NearestRowClassifier(window=1000 if name == "monolab" else None),
        }
        for strategy, learner in learners.items():
            answers = published.test_then_train(learner, stream)
            yield f"{strategy}, {name}", published.scores(answers, stream)


if __name__ == "__main__":
    sys.exit(main())
