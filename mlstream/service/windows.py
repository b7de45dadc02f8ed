"""What a monitor has found, window by window, and tables of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mlstream.service.feature_drift import Comparison
from mlstream.service.label_sums import LabelSums

Columns = dict[str, Sequence[object]]
Flags = npt.NDArray[np.bool_]
Table = Literal["windows", "features", "labels"]


@dataclass(frozen=True, eq=False)
class Window:
    """What a monitor has found in a window: of the rows that came, and of the labels that came in the meantime."""

    first_row: int
    n_labelled: int
    n_alarms: npt.NDArray[np.int64]
    sums: LabelSums
    errors_drifted: Flags
    features: Comparison | None
    drifted: Flags


@dataclass(frozen=True, eq=False)
class History:
    """The windows that a monitor has kept, with the names of features and labels, and its settings."""

    windows: tuple[Window, ...]
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    n_rows: int
    budget: float | None
    alpha: float

    def drifted(self, window: Window) -> list[str]:
        """Return the names of the features that have drifted, those of the greatest index first."""
        if window.features is None:
            return []
        order = np.argsort(-window.features.psi, kind="stable")
        return [self.feature_names[place] for place in order if window.drifted[place]]

    def labels_where(self, flags: Flags) -> list[str]:
        """Return the names of the labels that are marked."""
        return [name for name, flag in zip(self.label_names, flags.tolist(), strict=False) if flag]


def window_columns(history: History) -> Columns:
    """Return a row for each window."""
    windows = history.windows
    columns: Columns = {
        "first_row": [one.first_row for one in windows],
        "n_rows": [history.n_rows for _ in windows],
        "n_labelled": [one.n_labelled for one in windows],
        "n_alarms": [int(one.n_alarms.sum()) for one in windows],
        "budget": [np.nan if history.budget is None else history.budget for _ in windows],
    }
    means = [one.sums.means() for one in windows]
    columns |= {name: [scores[name] for scores in means] for name in LabelSums.nothing(0).means()}
    return columns | {
        "unscored": [", ".join(history.labels_where(np.isnan(one.sums.by_label()["ba"]))) for one in windows],
        "errors_drifted": [", ".join(history.labels_where(one.errors_drifted)) for one in windows],
        "largest_psi": [np.nan if one.features is None else one.features.psi.max() for one in windows],
        "drifted": [", ".join(history.drifted(one)) for one in windows],
    }


def feature_columns(history: History) -> Columns:
    """Return a row for each window that was compared with a reference, and each feature."""
    compared = [(one, one.features) for one in history.windows if one.features is not None]
    n_features = len(history.feature_names)
    fields = {name: [getattr(features, name) for _, features in compared] for name in Comparison._fields}
    return {
        "first_row": [one.first_row for one, _ in compared for _ in range(n_features)],
        "feature": list(history.feature_names) * len(compared),
        **{name: _joined(parts) for name, parts in fields.items()},
        "drifted": _joined([one.drifted for one, _ in compared]),
    }


def label_columns(history: History) -> Columns:
    """Return a row for each window and label that was known by then."""
    windows = history.windows
    widths = [one.sums.n_labels for one in windows]
    scores = [one.sums.by_label() for one in windows]
    counts = [one.sums.counts for one in windows]
    return {
        "first_row": [one.first_row for one, width in zip(windows, widths, strict=True) for _ in range(width)],
        "label": [name for width in widths for name in history.label_names[:width]],
        "n_alarms": _joined([one.n_alarms for one in windows]),
        "n_known": _joined([one.sums.n_known() for one in windows]),
        "n_true": _joined([one.tp + one.fn for one in counts]),
        **{name: _joined([one[name] for one in scores]) for name in LabelSums.nothing(0).by_label()},
        "errors_drifted": _joined([one.errors_drifted for one in windows]),
    }


def _joined(parts: Sequence[npt.NDArray[Any]]) -> list[object]:
    return [value for part in parts for value in part.tolist()]


TABLES: Mapping[Table, Callable[[History], Columns]] = {
    "windows": window_columns,
    "features": feature_columns,
    "labels": label_columns,
}
