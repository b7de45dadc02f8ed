"""Drift detectors on the errors of learners in synthetic worlds: drifts found, delays, false alarms.

Run ``python benchmarks/detection_table.py``; ``--quick`` takes small worlds of one seed. Each world has five abrupt
drifts in P(Y|X), and is given to each learner. One line for each detector and kind of error: means over all of them.
"""

import argparse
import tempfile
from collections.abc import Sequence

import numpy as np

from estimators.detectors import DETECTORS
from mlstream import run_detections
from mlstream.generators import drifting_stream
from mlstream.records.detection_record import Detection

KINDS = ("hyperplane", "tree", "rbf")
SHOWN = ("detection_rate", "precision", "f1", "mean_delay", "false_alarms_per_1000")


def mean_scores(detections: Sequence[Detection]) -> list[float]:
    """Return the means of scores, of delays over the worlds in which a drift was found."""
    columns = ([value for one in detections if (value := one.scores[name]) is not None] for name in SHOWN)
    return [float(np.mean(values)) if values else np.nan for values in columns]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--learners", nargs="+", default=["NN", "BR_HT"])
    parser.add_argument("--quick", action="store_true", help="small worlds of one seed")
    options = parser.parse_args(arguments)
    n_rows, seeds = (700, options.seeds[:1]) if options.quick else (5714, options.seeds)
    worlds = [
        drifting_stream(kind, seed=seed, n_rows=n_rows, name=f"{kind}-{seed}") for kind in KINDS for seed in seeds
    ]
    print(f"{len(worlds)} worlds of {worlds[0].n_samples:,} rows and {len(worlds[0].card.drifts)} drifts")
    print(f"{'detector':16}{'errors':9}{'found':>7}{'precision':>11}{'F1':>7}{'delay':>8}{'false/1,000':>13}")
    for errors in ("subset", "hamming"):
        names = [name for name in DETECTORS if errors == "subset" or name not in ("EDDM", "LabelDrift")]
        with tempfile.TemporaryDirectory() as folder:
            learners = {name: name for name in options.learners}
            found = run_detections(names, worlds, learners, folder, errors=errors, max_delay=n_rows // 12)
        for name in names:
            rate, precision, f1, delay, false = mean_scores([one for one in found if one.detector == name])
            print(f"{name:16}{errors:9}{rate:7.2f}{precision:11.2f}{f1:7.2f}{delay:8.0f}{false:13.3f}")


if __name__ == "__main__":
    main()
