"""The public data sets of the PRAGMA paper with its preferences, and sets of scikit-learn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import sized
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification

from mlstream.data.datasets import fetch_dataset, load_dataset

MOST_ROWS = sized(None, 1000)


@dataclass(frozen=True)
class Experiment:
    """Rows, the random features of a node, and the classes that matter most."""

    name: str
    X: np.ndarray
    y: np.ndarray
    max_features: int
    priority: tuple[Any, ...]
    max_depth: int | None = None

    @property
    def wanted(self) -> dict[str, Any]:
        """Return the preferences of the paper: importance 10 and mostly recall for priority classes."""
        classes = np.unique(self.y).tolist()
        return {
            "importance": {c: 10.0 if c in self.priority else 1.0 for c in classes},
            "compromise": {c: (0.1, 0.9) if c in self.priority else (0.8, 0.8) for c in classes},
        }


def autos() -> Experiment:
    """Load 205 cars, 25 attributes, 6 degrees of risk; the riskiest two matter."""
    X, y = _table("autos")
    return Experiment("Autos", X, y.astype(int), 5, (2, 3))


def letters(vowels: str = "AEIOU", max_depth: int | None = None) -> Experiment:
    """Load 20,000 letters, 16 attributes; the vowels matter."""
    name = "Letters" + (", Y a vowel" if "Y" in vowels else "") + (f", depth {max_depth}" if max_depth else "")
    return Experiment(name, *_table("letter"), 4, tuple(vowels), max_depth)


def vowels() -> Experiment:
    """Draw 4,000 letters, vowels against consonants; the 20 % of vowels matter."""
    X, y = _table("letter")
    drawn = np.random.default_rng(0).permutation(len(y))[:4000]
    return Experiment(
        "Vowels", X[drawn], np.where(np.isin(y[drawn], list("AEIOU")), "vowel", "consonant"), 4, ("vowel",)
    )


def hypothyroid() -> Experiment:
    """Load 3,772 patients; the 7.7 % who are not negative matter."""
    X, y = _table("hypothyroid")
    return Experiment("Hypothyroid", X, np.where(y == "negative", "negative", "minority"), 5, ("minority",))


def satimage() -> Experiment:
    """Load 6,435 pixels, 36 attributes; the 9.7 % of class 4 matter."""
    X, y = _table("satimage")
    return Experiment("Satimage", X, np.where(y == "4", "minority", "others"), 6, ("minority",))


def breast_cancer() -> Experiment:
    """Load 569 tumours, 30 attributes; the 37 % that are malignant matter."""
    X, y = load_breast_cancer(return_X_y=True)
    return Experiment("Breast cancer", X, np.where(y == 0, "malignant", "benign"), 5, ("malignant",))


def synthetic() -> Experiment:
    """Draw 3,000 rows of 20 attributes; the 5 % of the rarer class matter."""
    X, y = make_classification(3000, 20, n_informative=6, weights=[0.95], class_sep=0.5, flip_y=0.01, random_state=0)
    return Experiment("Synthetic", X, y, 4, (1,))


def digits() -> Experiment:
    """Load 1,797 digits of 64 pixels; eights and nines matter."""
    X, y = load_digits(return_X_y=True)
    return Experiment("Digits", X, y, 8, (8, 9))


def eights() -> Experiment:
    """Load the same, eights against all others; the 9.7 % of eights matter."""
    X, y = load_digits(return_X_y=True)
    return Experiment("Eights", X, np.where(y == 8, "eight", "other"), 8, ("eight",))


def wine() -> Experiment:
    """Load 178 wines of 3 growers, 13 attributes; the rarest matter."""
    X, y = load_wine(return_X_y=True)
    return Experiment("Wine", X, y, 3, (2,))


def three_classes() -> Experiment:
    """Draw 3,000 rows of 20 attributes, of three classes; the 5 % of the rarest matter."""
    share = {"n_classes": 3, "weights": [0.8, 0.15]}
    X, y = make_classification(3000, 20, n_informative=6, class_sep=0.7, flip_y=0.02, random_state=1, **share)
    return Experiment("Three classes", X, y, 4, (2,))


def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Load a table, fetched by its hash if it is not here; classes are the names of its labels."""
    fetch_dataset(name)
    table = load_dataset(name)
    rows = np.random.default_rng(0).permutation(table.n_samples)[:MOST_ROWS] if MOST_ROWS else slice(None)
    return table.X[rows], np.array(table.label_names)[table.Y[rows].argmax(axis=1)]
