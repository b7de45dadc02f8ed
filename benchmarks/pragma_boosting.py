"""Weighted votes around forests and around boosting, on ten sets: floors, bags, calibration, stages, and their peers.

A draw halves a set, stratified; models learn one half and predict the other. Printed are PRAGMA, recall and precision
of the priority classes, means over draws, and the standard error of PRAGMA between draws. All models around one
classifier share its fits, which depend on the rows only. `--save` writes the figures to results/.
"""

import argparse
import json
import warnings
from typing import Any, ClassVar

import numpy as np
from harness import RESULTS, machine, sized, versions
from pragma_data import (
    Experiment,
    autos,
    breast_cancer,
    digits,
    eights,
    hypothyroid,
    satimage,
    synthetic,
    three_classes,
    vowels,
    wine,
)
from pragma_experiment import standard_error
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from estimators.pragma.forest import PragmaForestClassifier
from estimators.pragma.threshold import PragmaThreshold
from metrics import pragma

TREES, DRAWS = sized(100, 3), sized(5, 1)
MAKERS = (wine, breast_cancer, autos, hypothyroid, eights, synthetic, three_classes, satimage, digits, vowels)
FLOORS = (0.3, 0.5, 0.7)


class SharedFits(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted once on the same rows, whoever asks; `stages` averages those of boosting.

    Parameters
    ----------
    classifier : estimator
        The classifier.
    stages : {'last', 'shares', 'votes'}
        Probabilities of all stages together; their mean over stages; the share of stages that vote for a class.
    """

    fits: ClassVar[dict[tuple[str, bytes, bytes], Any]] = {}
    known: ClassVar[dict[tuple[int, str, bytes], np.ndarray]] = {}

    def __init__(self, classifier: Any, stages: str = "last") -> None:
        self.classifier = classifier
        self.stages = stages

    def fit(self, X: np.ndarray, y: np.ndarray) -> "SharedFits":
        """Fit, or take over what was fitted."""
        key = (repr(self.classifier), X.tobytes(), np.asarray(y).astype(str).tobytes())
        if key not in self.fits:
            self.fits[key] = clone(self.classifier).fit(X, y)
        self.fitted_ = self.fits[key]
        self.classes_ = self.fitted_.classes_
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return probabilities, or their mean over stages."""
        key = (id(self.fitted_), self.stages, X.tobytes())
        if key not in self.known:
            self.known[key] = self._compute(X)
        return self.known[key]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _compute(self, X: np.ndarray) -> np.ndarray:
        if self.stages == "last":
            return self.fitted_.predict_proba(X)
        stages = list(self.fitted_.staged_predict_proba(X))
        if self.stages == "votes":
            stages = [np.eye(len(self.classes_))[proba.argmax(axis=1)] for proba in stages]
        return np.mean(stages, axis=0)


def contenders(experiment: Experiment, seed: int) -> dict[str, Any]:
    """Make the models to compare; scikit-learn's threshold is for two classes only."""
    wanted, grown = experiment.wanted, {"max_features": experiment.max_features, "random_state": seed}
    forest = SharedFits(RandomForestClassifier(TREES, criterion="entropy", **grown))
    boosting = SharedFits(HistGradientBoostingClassifier(random_state=seed))
    found: dict[str, Any] = {
        "forest": forest,
        "forest, balanced": RandomForestClassifier(TREES, criterion="entropy", class_weight="balanced", **grown),
        "PragmaForest": PragmaForestClassifier(TREES, **grown, **wanted),
    }
    for floor in FLOORS:
        floors = dict.fromkeys(experiment.priority, floor)
        found[f"PragmaForest, precision {floor}"] = clone(found["PragmaForest"]).set_params(min_precision=floors)
    found["boosting"] = boosting
    found["boosting, balanced"] = HistGradientBoostingClassifier(class_weight="balanced", random_state=seed)
    for name, model in (("forest", forest), ("boosting", boosting)):
        found |= _thresholds(name, model, wanted, seed)
    for stages in ("shares", "votes"):
        of_stages = clone(boosting).set_params(stages=stages)
        found[f"PragmaThreshold, {stages} of stages"] = PragmaThreshold(of_stages, random_state=seed, **wanted)
    floors = dict.fromkeys(experiment.priority, 0.5)
    found["PragmaThreshold, boosting, precision 0.5"] = PragmaThreshold(
        boosting, min_precision=floors, random_state=seed, **wanted
    )
    return found


def _thresholds(name: str, model: Any, wanted: dict[str, Any], seed: int) -> dict[str, Any]:
    threshold = PragmaThreshold(model, random_state=seed, **wanted)
    found: dict[str, Any] = {
        f"PragmaThreshold, {name}": threshold,
        f"PragmaThreshold, {name}, bags": clone(threshold).set_params(n_bags=10),
    }
    if len(wanted["importance"]) > 2:
        for method in ("sigmoid", "isotonic"):
            found[f"PragmaThreshold, {name}, {method}"] = clone(threshold).set_params(calibration=method)
        return found
    scorer = make_scorer(lambda y, p: -pragma(y, p, **wanted))
    return found | {f"TunedThreshold, {name}": TunedThresholdClassifierCV(model, scoring=scorer, random_state=seed)}


def evaluate(experiment: Experiment, model: Any, seed: int) -> dict[str, float]:
    """Predict one half by a model that has learnt the other, and measure."""
    X, y = experiment.X, experiment.y
    learnt, others = next(StratifiedKFold(2, shuffle=True, random_state=seed).split(X, y))
    truth, predicted = y[others], model.fit(X[learnt], y[learnt]).predict(X[others])
    right, first, called = (
        predicted == truth,
        np.isin(truth, experiment.priority),
        np.isin(predicted, experiment.priority),
    )
    return {
        "pragma": pragma(truth, predicted, **experiment.wanted),
        "recall": right[first].mean(),
        "precision": right[called].mean() if called.any() else 0.0,
    }


def compare(experiment: Experiment, draws: int) -> dict[str, dict[str, Any]]:
    """Evaluate every contender on every draw; return means, and PRAGMA of each draw."""
    by_name: dict[str, list[dict[str, float]]] = {}
    for seed in range(draws):
        for name, model in contenders(experiment, seed).items():
            by_name.setdefault(name, []).append(evaluate(experiment, model, seed))
        SharedFits.known.clear()
        SharedFits.fits.clear()
    return {
        name: {key: float(np.mean([one[key] for one in figures])) for key in figures[0]}
        | {"pragma_by_draw": [one["pragma"] for one in figures]}
        for name, figures in by_name.items()
    }


def main() -> None:
    """Run it all, and print as it goes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"write the figures to {RESULTS}")
    parser.add_argument("--only", default="", help="run only sets whose name contains this")
    parser.add_argument("--draws", type=int, default=DRAWS, help="draws of halves, each with another seed")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "No weights were found|No out-of-bag vote|The least populated class")
    path = RESULTS / "pragma_boosting.json"
    for make in MAKERS:
        experiment = make()
        if options.only not in experiment.name:
            continue
        figures = compare(experiment, options.draws)
        print(f"\n{experiment.name:42} PRAGMA std.error | priority: recall precision")
        for name, one in figures.items():
            rates = f"{100 * one['recall']:16.1f} {100 * one['precision']:9.1f}"
            print(f"{name:42} {one['pragma']:.4f} {standard_error(one['pragma_by_draw']):9.4f} | {rates}", flush=True)
        if options.save:
            before = json.loads(path.read_text())["results"] if path.exists() else {}
            setting = {"machine": machine(), "versions": versions(["numpy", "scikit-learn"])}
            text = json.dumps(setting | {"results": before | {experiment.name: figures}}, indent=2)
            path.write_text(text + "\n")


if __name__ == "__main__":
    main()
