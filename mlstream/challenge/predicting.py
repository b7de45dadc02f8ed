"""The contestant's side in Python: the rows of a bundle, and a submission from any learner."""

from __future__ import annotations

import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError
from scipy import sparse

from mlstream._support.files import open_plain, raise_disk_error, read_bounded, write_text_atomically
from mlstream._support.mapped import require_memory
from mlstream._support.validation_errors import describe_error
from mlstream.challenge.making.bundle import ENVIRONMENT, ROW_ID
from mlstream.challenge.making.public_card import CARD, PublicCard
from mlstream.challenge.submissions.rows import Probabilities
from mlstream.challenge.truth import Array
from mlstream.formats.csv_tables import format_csv
from mlstream.streams.stream import Features

_MAX_CARD_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False)
class Bundle:
    """Training rows with labels, and hidden rows without."""

    card: PublicCard  # Names, kinds of features, rules.
    X: Features
    Y: Array  # Labels of the training rows, of `card.label_names`; NaN where unknown.
    environment: npt.NDArray[np.int64]  # Number of the environment of each training row.
    X_hidden: Features
    row_ids: tuple[str, ...]  # Of the hidden rows.

    @property
    def scored(self) -> list[int]:
        """Places in `card.label_names` of the labels that a submission holds."""
        return [self.card.label_names.index(name) for name in self.card.scored_labels]


def read_bundle(folder: str | os.PathLike[str]) -> Bundle:
    """Read the rows of the bundle that `create` made.

    A FileNotFoundError is raised if a file is missing, a ValueError if a file holds anything else.
    """
    folder = Path(folder)
    train, holdout = (_read_arrays(folder / name) for name in ("train.npz", "holdout.npz"))
    try:
        card = PublicCard.model_validate_json(read_bounded(folder / CARD, _MAX_CARD_BYTES))
        ids = tuple(map(str, holdout.pop(ROW_ID).tolist()))
        return Bundle(card, _features(train), train["Y"], train[ENVIRONMENT], _features(holdout), ids)
    except ValidationError as error:
        raise ValueError(f"{folder / CARD}: {describe_error(error)}") from None
    except KeyError as error:
        raise ValueError(f"{folder} must be the bundle of a challenge. Got one without the array {error}.") from None


def write_submission(
    estimator: object, bundle: Bundle | str | os.PathLike[str], path: str | os.PathLike[str]
) -> Probabilities:
    """Write the probabilities of a learner for the hidden rows of a bundle as CSV, and return them.

    They are (n_hidden, n_scored). The learner is fitted, with the labels of the bundle or the scored ones. Its
    `predict_proba` may return a column per label, a list of arrays of shape (n_samples, 2), one per label, or one such
    array for one label. A file that exists is replaced. Raises TypeError without `predict_proba`, ValueError for
    another shape or values outside [0, 1].
    """
    if not isinstance(bundle, Bundle):
        bundle = read_bundle(bundle)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"estimator must have predict_proba. Got {type(estimator).__name__}.")
    classes = getattr(estimator, "classes_", None)
    prob = _of_scored(_as_table(estimator.predict_proba(bundle.X_hidden), classes, bundle), bundle)
    if not ((prob >= 0) & (prob <= 1)).all():
        raise ValueError("predict_proba must return probabilities in [0, 1]. Got others, or NaN.")
    header = (ROW_ID, *bundle.card.scored_labels)
    names = next(format_csv(np.zeros((0, len(header) - 1)), np.zeros((0, 0), dtype=np.uint8), header))
    lines = (
        f"{row_id},{','.join(map(repr, cells))}\n" for row_id, cells in zip(bundle.row_ids, prob.tolist(), strict=True)
    )
    write_text_atomically(path, names + "".join(lines))
    return prob


def _read_arrays(path: Path) -> dict[str, Array]:
    try:
        with open_plain(path) as file, zipfile.ZipFile(file) as archive:
            require_memory(sum(one.file_size for one in archive.infolist()), f"{path}")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise_disk_error(error)
        raise ValueError(f"{path} must be an NPZ file of the bundle. Got another file, or a part of it.") from None


def _features(arrays: dict[str, Array]) -> Features:
    if "X" in arrays:
        return np.asarray(arrays["X"])
    parts = tuple(arrays[f"X_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_array(parts, shape=tuple(arrays["X_shape"].tolist()))


def _as_table(result: object, classes: Any, bundle: Bundle) -> npt.NDArray[np.float64]:
    """Return a column per label of what `predict_proba` may return."""
    if isinstance(result, list) and all(np.ndim(one) == 2 for one in result):
        by_label = classes if isinstance(classes, list) else [classes] * len(result)
        return np.column_stack([_of_one(np.asarray(one), own) for one, own in zip(result, by_label, strict=True)])
    table = np.asarray(result.toarray() if hasattr(result, "toarray") else result, dtype=np.float64)
    if len(bundle.card.scored_labels) == 1 and table.ndim == 2 and np.shape(classes) == (table.shape[1],):
        if len(bundle.card.label_names) == 2:
            raise ValueError(
                "predict_proba must not return two columns where one of two labels is scored: they may be labels or "
                "classes. Wrap the learner in sklearn.multioutput.MultiOutputClassifier."
            )
        return _of_one(table, classes)[:, None]
    return table


def _of_one(table: Array, classes: Any) -> npt.NDArray[np.float64]:
    """Return P(label is 1) of one label; 0 or 1 where only one class was learnt."""
    found = [0, 1][: table.shape[1]] if classes is None else np.asarray(classes).tolist()
    if len(found) != table.shape[1] or not set(found) <= {0, 1}:
        raise ValueError(f"predict_proba must have a column for each of the classes 0 and 1. Got {found}.")
    return table[:, found.index(1)].astype(np.float64) if 1 in found else np.zeros(len(table))


def _of_scored(table: npt.NDArray[np.float64], bundle: Bundle) -> Probabilities:
    n_rows, n_labels, scored = len(bundle.row_ids), len(bundle.card.label_names), bundle.scored
    if table.shape == (n_rows, n_labels):
        return table[:, scored]
    if table.shape == (n_rows, len(scored)):
        return table
    raise ValueError(
        f"predict_proba must return {n_rows} rows, and a column for each of {n_labels} labels, or of the "
        f"{len(scored)} scored ones. Got shape {table.shape}."
    )
