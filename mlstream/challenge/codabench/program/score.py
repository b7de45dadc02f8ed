"""Scores of a submission on Codabench: python3 score.py REFERENCE RESULT OUTPUT.

Needs NumPy only, and runs with Python 3.7, which the platform's default image has. Nothing that it prints depends on
the labels.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Flags = np.ndarray[Any, np.dtype[np.bool_]]

SUFFIXES = (".csv", ".csv.gz", ".npz")


def nce(Y: Floats, P: Floats, counted: Flags, eps: float, _k: int) -> float:
    """Return the normalised cross-entropy, mean over labels that have both classes."""
    P = np.clip(P, eps, 1 - eps)
    loss = np.where(counted, -np.log(np.where(Y == 1, P, 1 - P)), 0.0).sum(axis=0)
    n, n_true = counted.sum(axis=0), ((Y == 1) & counted).sum(axis=0)
    both = (n_true > 0) & (n_true < n)
    rate = n_true[both] / n[both]
    entropy = -(rate * np.log(rate) + (1 - rate) * np.log1p(-rate))
    return float(np.mean(loss[both] / n[both] / entropy - 1))


def ba_macro(Y: Floats, P: Floats, counted: Flags, _eps: float, _k: int) -> float:
    """Return the balanced accuracy, mean over labels that have both classes."""
    decided, scores = P >= 0.5, []
    for label in range(Y.shape[1]):
        own = counted[:, label]
        y, d = Y[own, label] == 1, decided[own, label]
        if y.any() and not y.all():
            scores.append((d[y].mean() + (~d[~y]).mean()) / 2)
    return float(np.mean(scores))


def rmse(Y: Floats, P: Floats, counted: Flags, _eps: float, _k: int) -> float:
    """Return the root of the mean squared error of a row, mean over rows."""
    error = np.where(counted, P - np.where(counted, Y, 0), 0.0) ** 2
    n = counted.sum(axis=1)
    return float(np.mean(np.sqrt(error.sum(axis=1)[n > 0] / n[n > 0])))


def precision_at_k(Y: Floats, P: Floats, counted: Flags, _eps: float, k: int) -> float:
    """Return the share of labels that are there among the k that rank first, mean over orders of ties and over rows."""
    rows = counted.any(axis=1)
    truth, P = ((Y == 1) & counted)[rows], np.where(counted, P, -1.0)[rows]
    kth = np.sort(P, axis=1)[:, -k, None]
    above, tied = kth < P, kth == P
    places = k - above.sum(axis=1)
    found = (truth & above).sum(axis=1) + places * (truth & tied).sum(axis=1) / tied.sum(axis=1)
    return float(np.mean(found / k))


def pw_js(Y: Floats, P: Floats, counted: Flags, _eps: float, _k: int) -> float:
    """Return the Jaccard index weighted by the precision, mean over rows."""
    truth, decided = (Y == 1) & counted, (P >= 0.5) & counted
    both, n = (truth & decided).sum(axis=1), decided.sum(axis=1)
    union = (truth | decided).sum(axis=1)
    score = both / np.maximum(union, 1) * both / np.maximum(n, 1)
    score[union == 0] = 1.0
    return float(np.mean(score[counted.any(axis=1)]))


METRICS = {"nce": nce, "ba_macro": ba_macro, "rmse": rmse, "precision_at_k": precision_at_k, "pw_js": pw_js}


def find_submission(folder: Path) -> Path:
    """Return the path of the only file that may be a submission."""
    found = [path for path in sorted(folder.iterdir()) if path.name.endswith(SUFFIXES)]
    if len(found) != 1:
        raise ValueError(f"The zip must hold one file, .csv, .csv.gz or .npz. Got {len(found)}.")
    return found[0]


def read_submission(path: Path, ids: list[str], labels: list[str], max_bytes: int) -> Floats:
    """Return the probabilities in the order of the ids."""
    got, prob = read_npz(path, labels) if path.suffix == ".npz" else read_csv(path, labels, max_bytes)
    places = {row_id: place for place, row_id in enumerate(got)}
    if len(got) != len(ids) or len(places) != len(got):
        raise ValueError(f"There must be {len(ids)} different rows. Got {len(got)}, {len(places)} of them different.")
    for row_id in ids:
        if row_id not in places:
            raise ValueError(f"Row {row_id} is missing.")
    if not ((prob >= 0) & (prob <= 1)).all():
        raise ValueError("Probabilities must lie in [0, 1].")
    return prob[[places[row_id] for row_id in ids]]


def read_npz(path: Path, labels: list[str]) -> tuple[list[str], Floats]:
    """Return ids and probabilities of an NPZ file; nothing is unpickled."""
    with np.load(path, allow_pickle=False) as archive:
        ids, prob = archive["row_id"], np.asarray(archive["prob"], dtype=np.float64)
    if prob.shape != (len(ids), len(labels)):
        raise ValueError(f"prob must have a row for each id and {len(labels)} columns.")
    return [f"{one:016x}" if isinstance(one, int) else str(one) for one in ids.tolist()], prob


def find_columns(text: str, expected: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of a CSV text, whatever separates its cells, and the rows behind."""
    for separator, skip in [(separator, skip) for skip in (False, True) for separator in ",;\t|"]:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=skip)
        header = next(rows, [])
        if sorted(header) == sorted(expected):
            return header, list(rows)
    raise ValueError(f"The columns must be {', '.join(expected)}, with commas, semicolons, tabs or bars between.")


def read_csv(path: Path, labels: list[str], max_bytes: int) -> tuple[list[str], Floats]:
    """Return ids and probabilities of a CSV file."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"The file must be of {max_bytes} bytes at most, unpacked.")
    header, rows = find_columns(content.decode("utf-8-sig"), ["row_id", *labels])
    key, columns = header.index("row_id"), [header.index(label) for label in labels]
    ids, prob = [], []
    for number, row in enumerate(rows, start=2):
        if not any(row):
            continue
        if len(row) != len(header):
            raise ValueError(f"Line {number} must hold {len(header)} cells. Got {len(row)}.")
        ids.append(row[key].strip())
        prob.append([float(row[column]) for column in columns])
    return ids, np.array(prob, dtype=np.float64).reshape(len(ids), len(labels))


def score(reference: Path, result: Path) -> dict[str, float]:
    """Return the scores of a submission by the key of their column."""
    rules = json.loads((reference / "rules.json").read_text(encoding="utf-8"))
    with np.load(reference / "truth.npz", allow_pickle=False) as archive:
        truth = {name: archive[name] for name in archive.files}
    ids = truth["row_id"].tolist()
    prob = read_submission(find_submission(result), ids, rules["labels"], rules["max_unpacked_bytes"])
    scores = {}
    for column in rules["columns"]:
        found = [score_environment(truth, one, prob, column["eps"], rules) for one in column["environments"]]
        scores[column["key"]] = combine(found, column, rules["lower_is_better"])
    return scores


def score_environment(truth: dict[str, Any], number: int, prob: Floats, eps: float, rules: dict[str, Any]) -> float:
    """Return the score of the rows of one environment."""
    Y, mask, rows = (truth[f"{part}{number}"] for part in ("Y", "mask", "rows"))
    return METRICS[rules["metric"]](Y, prob[rows], mask & ~np.isnan(Y), eps, rules["k"])


def combine(found: list[float], column: dict[str, Any], lower_is_better: bool) -> float:
    """Return the mean or the worst of the scores of environments, rounded where the rules want it."""
    worst = max if lower_is_better else min
    value = worst(found) if column["combine"] == "worst" else float(np.mean(found))
    return value if column["decimals"] is None else round(value, column["decimals"])


def main(reference: Path, result: Path, output: Path) -> None:
    """Write scores.json."""
    try:
        scores = score(reference, result)
    except (ValueError, KeyError, IndexError, OSError, csv.Error) as error:
        # A run that fails costs no submission.
        sys.exit(f"The submission is not valid: {error}")
    (output / "scores.json").write_text(json.dumps(scores), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
