"""The experiment of the PRAGMA paper: 10-fold cross-validation of forests of 20 trees, with its peers of today.

Prints, for each data set, recall and precision of the priority classes and of the others, the share of rows that are
right and PRAGMA, all over the rows of the ten held-out folds together, then averaged over draws of folds and of the
forest where rows are few, with the standard error of PRAGMA between draws. `--save` writes them to results/, with
PRAGMA of every draw.
"""

import argparse
import json
import warnings
from functools import partial
from typing import Any

import numpy as np
from harness import RESULTS, machine, sized, versions
from pragma_data import Experiment, autos, breast_cancer, hypothyroid, letters, satimage, synthetic
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV, cross_val_predict

from estimators.pragma.forest import PragmaForestClassifier
from estimators.pragma.threshold import PragmaThreshold
from metrics import pragma

TREES, FOLDS = sized(20, 3), sized(10, 2)
# few rows: one draw of folds says little
REPEATS = {"Autos": 10, "Hypothyroid": 10, "Satimage": 5, "Breast cancer": 10, "Synthetic": 3}
EXPERIMENTS = {
    "Autos": autos,
    "Hypothyroid": hypothyroid,
    "Satimage": satimage,
    "Breast cancer": breast_cancer,
    "Synthetic": synthetic,
    "Letters": letters,
    "Letters, Y a vowel": partial(letters, "AEIOUY"),
    "Letters, depth 10": partial(letters, max_depth=10),
}


def contenders(experiment: Experiment, seed: int) -> dict[str, Any]:
    """Make the forests to compare; the threshold of scikit-learn is for two classes only."""
    grown = {"max_features": experiment.max_features, "max_depth": experiment.max_depth, "random_state": seed}
    wanted, plain = experiment.wanted, RandomForestClassifier(TREES, **grown)
    alike, one_class = np.ones(len(wanted["importance"])), {"shrinkage": None, "n_bags": 0}
    by_gini = {"criterion": "gini", **one_class, **grown}
    found = {
        "forest": PragmaForestClassifier(TREES, vote_weights=alike, **by_gini),
        "class_weight='balanced'": RandomForestClassifier(TREES, class_weight="balanced", **grown),
        "in-bag votes": PragmaForestClassifier(TREES, votes="in_bag", **by_gini, **wanted),
        "out-of-bag votes": PragmaForestClassifier(TREES, **by_gini, **wanted),
        "annealing": PragmaForestClassifier(TREES, search="annealing", **by_gini, **wanted),
        "default": PragmaForestClassifier(TREES, **grown, **wanted),
        "PragmaThreshold": PragmaThreshold(plain, random_state=seed, **wanted),
    }
    for criterion in ("entropy", "pragma"):
        as_grown = PragmaForestClassifier(TREES, criterion=criterion, **one_class, **grown, **wanted)
        found[f"forest, {criterion}"] = as_grown.set_params(vote_weights=alike)
    for criterion in ("gini", "pragma"):
        found[f"default, {criterion}"] = PragmaForestClassifier(TREES, criterion=criterion, **grown, **wanted)
    if len(alike) == 2:
        scorer = make_scorer(lambda y, p: -pragma(y, p, **wanted))
        for name, forest in (("", plain), (", entropy", clone(plain).set_params(criterion="entropy"))):
            tuned = TunedThresholdClassifierCV(forest, scoring=scorer, random_state=seed)
            found[f"TunedThresholdClassifierCV{name}"] = tuned
    return found


def judge(experiment: Experiment, model: Any, seed: int) -> dict[str, float]:
    """Predict every row by a model that has not seen its fold, and measure."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    predicted = cross_val_predict(model, experiment.X, experiment.y, cv=folds)
    classes = np.unique(experiment.y)
    right = predicted == experiment.y
    first = np.isin(classes, experiment.priority)
    figures = {"pragma": pragma(experiment.y, predicted, **experiment.wanted)}
    for who, mine in (("priority", classes[first]), ("others", classes[~first])):
        figures[f"{who}_recall"] = right[np.isin(experiment.y, mine)].mean()
        figures[f"{who}_precision"] = right[np.isin(predicted, mine)].mean()
    return figures | {"right": right.mean()}


def judge_again(experiment: Experiment, name: str) -> dict[str, Any]:
    """Evaluate a method on several draws of folds and of the forest; return means, and PRAGMA of each draw."""
    seeds = range(sized(REPEATS.get(experiment.name, 1), 1))
    judged = [judge(experiment, contenders(experiment, seed)[name], seed) for seed in seeds]
    means = {key: float(np.mean([one[key] for one in judged])) for key in judged[0]}
    return means | {"pragma_by_draw": [one["pragma"] for one in judged]}


def standard_error(values: list[float]) -> float:
    """Return the standard error of a mean; NaN of one value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def main() -> None:
    """Run it all, and print as it goes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"write the figures to {RESULTS}")
    parser.add_argument("--only", default="", help="run only data sets whose name contains this")
    parser.add_argument("--contender", default="", help="run only contenders whose name contains this")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "The least populated class")  # three cars of one class, ten folds
    figures: dict[str, dict[str, dict[str, Any]]] = {}
    for experiment in (make() for name, make in EXPERIMENTS.items() if options.only in name):
        print(f"\n{experiment.name:28} priority: recall precision | others: recall precision | right  PRAGMA std.error")
        figures[experiment.name] = {}
        for name in contenders(experiment, 0):
            if options.contender not in name:
                continue
            one = figures[experiment.name][name] = judge_again(experiment, name)
            rates = [100 * one[f"{who}_{rate}"] for who in ("priority", "others") for rate in ("recall", "precision")]
            print(
                f"{name:37} {rates[0]:6.1f} {rates[1]:9.1f} | {rates[2]:14.1f} {rates[3]:9.1f} |"
                f" {100 * one['right']:5.1f} {one['pragma']:7.4f} {standard_error(one['pragma_by_draw']):7.4f}",
                flush=True,
            )
    if options.save:
        path = RESULTS / "pragma_experiment.json"
        before = json.loads(path.read_text())["results"] if path.exists() else {}
        setting = {"machine": machine(), "versions": versions(["numpy", "scikit-learn"])}
        merged = {key: before.get(key, {}) | one for key, one in figures.items()}
        path.write_text(json.dumps(setting | {"results": before | merged}, indent=2) + "\n")


if __name__ == "__main__":
    main()
