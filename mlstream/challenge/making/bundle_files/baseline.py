"""Baselines of this challenge: they need the files of this folder, NumPy and scikit-learn.

python baseline.py --method logistic --output submission.csv

base-rate          the share of training rows that carry the label
logistic           logistic regression on hashed features, all environments together
per-environment    mean of one such regression per environment
stream-ridge       ridge regression of a stream (needs mlstream)
network            an online network (needs mlstream)
irm, vrex, group-dro
                   logistic regressions made for invariance: of predictors, of risks, in the worst
                   environment (need mlstream)
"""

import argparse
import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

Array = NDArray[Any]

HERE = Path(__file__).resolve().parent
N_HASHED = 2**12
EPS = 1e-3
INVARIANT = ("irm", "vrex", "group-dro")
# Of the penalties, which group-dro does without.
STRENGTHS = {"irm": 1000.0, "vrex": 1000.0}


def read_rows(path: Path) -> tuple[Array | sparse.csr_array, dict[str, Array]]:
    """Return the features of a file of the bundle, and its other arrays."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "X" in arrays:
        return arrays.pop("X"), arrays
    shape = tuple(arrays.pop("X_shape").tolist())
    parts = [arrays.pop(f"X_{part}") for part in ("data", "indices", "indptr")]
    return sparse.csr_array(tuple(parts), shape=shape), arrays


def encode(X_train: Any, X_hidden: Any, features: list[dict[str, Any]]) -> list[sparse.csr_array]:
    """Hash the categories, and scale the numbers, of training and hidden rows."""
    if sparse.issparse(X_train):
        scaler = MaxAbsScaler().fit(X_train)
        return [scaler.transform(X_train), scaler.transform(X_hidden)]
    categories = [place for place, feature in enumerate(features) if feature["categories"] is not None]
    numbers = [place for place, feature in enumerate(features) if feature["categories"] is None]
    scaler = StandardScaler().fit(X_train[:, numbers]) if numbers else None
    return [encode_rows(X, features, categories, numbers, scaler) for X in (X_train, X_hidden)]


def encode_rows(
    X: Array, features: list[dict[str, Any]], categories: list[int], numbers: list[int], scaler: Any
) -> Any:
    """Hash the categories, and scale the numbers, of some rows."""
    names = [features[place]["name"] for place in categories]
    texts = ([f"{name}={value:g}" for name, value in zip(names, row, strict=True)] for row in X[:, categories])
    hashed = FeatureHasher(N_HASHED, input_type="string", alternate_sign=False).transform(texts)
    scaled = [sparse.csr_matrix(scaler.transform(X[:, numbers]))] if numbers else []
    return sparse.hstack([hashed, *scaled], format="csr")


def label_rates(Y: Array) -> Any:
    """Return the share of rows that carry each label, of those where it is known; never 0 or 1."""
    known = ~np.isnan(Y)
    return (np.nansum(Y, axis=0) + 0.5) / (known.sum(axis=0) + 1)


def logistic(X: sparse.csr_array, Y: Array, X_hidden: sparse.csr_array) -> Array:
    """Return the probabilities of one logistic regression per label."""
    prob = np.tile(label_rates(Y), (X_hidden.shape[0], 1))
    for label, column in enumerate(Y.T):
        known = np.flatnonzero(~np.isnan(column))
        if len(np.unique(column[known])) == 2:
            model = LogisticRegression(C=1.0, max_iter=1000).fit(X[known], column[known])
            prob[:, label] = model.predict_proba(X_hidden)[:, 1]
    return prob


def per_environment(X: sparse.csr_array, Y: Array, environment: Array, X_hidden: sparse.csr_array) -> Any:
    """Return the mean of the probabilities of one logistic regression per environment."""
    rows = [np.flatnonzero(environment == number) for number in np.unique(environment)]
    return np.mean([logistic(X[own], Y[own], X_hidden) for own in rows], axis=0)


def streamed(method: str, X: sparse.csr_array, Y: Array, X_hidden: sparse.csr_array) -> Any:
    """Return the probabilities of a learner of mlstream that reads rows once."""
    from estimators import make_strategy

    learner = make_strategy({"stream-ridge": "StreamRidge", "network": "NN"}[method])
    order = np.random.default_rng(0).permutation(X.shape[0])
    used = occurring(X)
    learner.partial_fit(X[:, used].toarray()[order], Y[order])
    return learner.predict_proba(X_hidden[:, used].toarray())


def invariant(method: Any, X: sparse.csr_array, Y: Array, environment: Array, X_hidden: sparse.csr_array) -> Any:
    """Return the probabilities of a logistic regression made for invariance."""
    from estimators import InvariantLogisticClassifier

    used = occurring(X)
    learner = InvariantLogisticClassifier(method, strength=STRENGTHS.get(method, 0.0), memory=None)
    learner.fit(X[:, used], Y, environment=environment)
    return learner.predict_proba(X_hidden[:, used])


def occurring(X: sparse.csr_array) -> Array:
    """Return the columns that are not 0 in all training rows: few of those that categories are hashed to."""
    return np.unique(X.nonzero()[1])


def predict(method: str, X: sparse.csr_array, Y: Array, environment: Array, X_hidden: sparse.csr_array) -> Any:
    """Return the probabilities of a method."""
    if method == "base-rate":
        return np.tile(label_rates(Y), (X_hidden.shape[0], 1))
    if method == "logistic":
        return logistic(X, Y, X_hidden)
    if method == "per-environment":
        return per_environment(X, Y, environment, X_hidden)
    if method in INVARIANT:
        return invariant(method, X, Y, environment, X_hidden)
    return streamed(method, X, Y, X_hidden)


METHODS = ("base-rate", "logistic", "per-environment", "stream-ridge", "network", *INVARIANT)


def main() -> None:
    """Write a submission."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=METHODS, default="logistic")
    parser.add_argument("--output", type=Path, default=Path("submission.csv"))
    options = parser.parse_args()
    card = json.loads((HERE / "card.public.json").read_text(encoding="utf-8"))
    X, train = read_rows(HERE / "train.npz")
    X_hidden, holdout = read_rows(HERE / "holdout.npz")
    X, X_hidden = encode(X, X_hidden, card["features"])
    scored = [card["label_names"].index(name) for name in card["scored_labels"]]
    Y = train["Y"][:, scored].astype(np.float64)
    prob = np.clip(predict(options.method, X, Y, train["environment"], X_hidden), EPS, 1 - EPS)
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row_id", *card["scored_labels"]])
        writer.writerows(
            [row_id, *map(repr, row)] for row_id, row in zip(holdout["row_id"], prob.tolist(), strict=True)
        )
    print(f"Wrote {options.output}: {len(prob)} rows, {len(scored)} labels, method {options.method}")


if __name__ == "__main__":
    main()
