"""Labels by name, as the table that a learner takes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from estimators.contract.new_labels import advise_growth, grows


def place_labels(
    learner: Any, rows: Sequence[Mapping[Hashable, float]], classes: object
) -> tuple[npt.NDArray[np.float64], list[Hashable] | None]:
    """Return a table of labels by name, and the names of its columns where some are new."""
    if classes is not None:
        raise ValueError(f"classes must be None where labels are named. Got {classes!r} instead.")
    names = getattr(learner, "label_names_", None)
    # learners of one class a row have one label
    n_labels = len(learner.classes_) if learner.classes_.ndim == 2 else 1
    known = list(range(n_labels)) if names is None else names
    new = _new_names(rows, known)
    if new:
        _require_growth(learner, names, known, new)
    columns = {name: column for column, name in enumerate([*known, *new])}
    Y = np.full((len(rows), len(columns)), np.nan)
    cells = ((row, name, value) for row, labels in enumerate(rows) for name, value in labels.items())
    for row, name, value in cells:
        _require_label(value, name)
        Y[row, columns[name]] = value
    return Y, [*known, *new] if names is not None and new else None


def _new_names(rows: Sequence[Mapping[Hashable, float]], known: Sequence[Hashable]) -> list[Hashable]:
    return list(dict.fromkeys(name for labels in rows for name in labels if name not in known))


def _require_label(value: float, name: object) -> None:
    if hasattr(value, "__len__") or (value not in (0, 1) and value == value):  # noqa: PLR0124 - NaN
        raise ValueError(f"labels must be 0, 1, or NaN (unknown). Got {value!r} for {name!r} instead.")


def _require_growth(learner: object, names: object, known: Sequence[Hashable], new: list[Hashable]) -> None:
    """Refuse new labels that the learner cannot take in."""
    if not grows(learner):
        way_out = advise_growth(learner, "leave the others out")
        raise ValueError(f"labels must name those of the learner, {known[:8]}. Got {new[0]!r} instead; {way_out}.")
    if names is None and set(new) != set(range(len(known), len(known) + len(new))):
        raise ValueError(
            f"labels must be named by index where the learner has no names, new ones from {len(known)} on. "
            f"Got {new[0]!r} instead; `begin(X, Y, classes=[...])` names them."
        )
