"""Brier scores and calibration errors of learners: as they are, calibrated, and calibrated again by scikit-learn.

    python benchmarks/calibration_table.py
    python benchmarks/calibration_table.py --sets Yeast.arff.gz --learners BR_HT NN

Each row is predicted, then learnt. The peer fits the logistic regression of Platt to the log-odds of each label, on all
rows so far, every 200 rows; a label of which it has seen one value stays as it is. Scores are means over labels, of the
rows after the first 500. Files are those in MLSTREAM_SHARED_DATA.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from harness import sized
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from estimators import PrequentialCalibrator, make_strategy
from metrics import brier_score, expected_calibration_error
from mlstream import load_dataset

SHARED = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = ("Yeast.arff.gz", "Scene.arff.gz")
LEARNERS = ("BR_HT", "BR_LR", "NN", "StreamRidge")
FROM, REFIT = sized(500, 20), sized(200, 20)


def refitted(proba: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Calibrate each row by what was fitted to rows before it."""
    calibrated, n = proba.copy(), len(Y)
    odds = logit(proba.clip(1 / (n + 2), 1 - 1 / (n + 2)))
    for start in range(REFIT, n, REFIT):
        rows = slice(start, start + REFIT)
        for label in np.flatnonzero((Y[:start].any(axis=0)) & ~Y[:start].all(axis=0)):
            model = LogisticRegression(C=1e6).fit(odds[:start, [label]], Y[:start, label])
            calibrated[rows, label] = model.predict_proba(odds[rows, [label]].reshape(-1, 1))[:, 1]
    return calibrated


def main() -> None:
    """Print a line for each file and learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="FILE")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), metavar="NAME")
    options = parser.parse_args()
    print(f"{'':16}{'':12}{'Brier':>9}{'calibr.':>9}{'refitted':>9}{'ECE':>9}{'calibr.':>9}{'refitted':>9}")
    for name in options.sets:
        data = load_dataset(SHARED / "multilabel" / name)
        order = np.random.default_rng(0).permutation(len(data.Y))[: sized(None, 60)]
        X, Y = data.X[order], np.asarray(data.Y)[order].astype(int)
        for learner in options.learners:
            plain = make_strategy(learner, random_state=0)
            proba = plain.predict_then_fit(X, Y)[1]
            calibrated = PrequentialCalibrator(make_strategy(learner, random_state=0)).predict_then_fit(X, Y)[1]
            tables = [table[FROM:] for table in (proba, calibrated, refitted(proba, Y))]
            scores = [score(Y[FROM:], table) for score in (brier_score, expected_calibration_error) for table in tables]
            print(f"{name.split('.')[0]:16}{learner:12}" + "".join(f"{value:9.4f}" for value in scores), flush=True)


if __name__ == "__main__":
    main()
