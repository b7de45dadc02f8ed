"""The findings of a monitor, window by window, and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from estimators._typing import Array
from mlstream.service.feature_drift import Comparison
from mlstream.service.labelled_rows import LabelSums

Columns = dict[str, Sequence[object]]
Flags = npt.NDArray[np.bool_]
Table = Literal["windows", "features", "labels"]


@dataclass(frozen=True, eq=False)
class Window:
    """The findings of a window: of the rows that came, and of the labels that came in the meantime."""

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
    rows = [_summarise(history, window) for window in history.windows]
    nothing = Window(0, 0, np.zeros(0, np.int64), LabelSums.nothing(0), np.zeros(0, bool), None, np.zeros(0, bool))
    return {name: [row[name] for row in rows] for name in _summarise(history, nothing)}


def _summarise(history: History, window: Window) -> dict[str, object]:
    return {
        "first_row": window.first_row,
        "n_rows": history.n_rows,
        "n_labelled": window.n_labelled,
        "n_alarms": int(window.n_alarms.sum()),
        "budget": np.nan if history.budget is None else history.budget,
        **window.sums.means(),
        "unscored": ", ".join(history.labels_where(np.isnan(window.sums.by_label()["ba"]))),
        "errors_drifted": ", ".join(history.labels_where(window.errors_drifted)),
        "largest_psi": np.nan if window.features is None else float(window.features.psi.max()),
        "drifted": ", ".join(history.drifted(window)),
    }


def feature_columns(history: History) -> Columns:
    """Return a row for each window that was compared with a reference, and each feature."""
    compared = [(window, window.features) for window in history.windows if window.features is not None]
    n_features = len(history.feature_names)
    fields = {name: [getattr(features, name) for _, features in compared] for name in Comparison._fields}
    return {
        "first_row": [window.first_row for window, _ in compared for _ in range(n_features)],
        "feature": list(history.feature_names) * len(compared),
        **{name: _joined(parts) for name, parts in fields.items()},
        "drifted": _joined([window.drifted for window, _ in compared]),
    }


def label_columns(history: History) -> Columns:
    """Return a row for each window and label that was known by then."""
    parts = [label_part(window) for window in history.windows]
    widths = [window.sums.n_labels for window in history.windows]
    columns: Columns = {
        "first_row": [
            window.first_row for window, width in zip(history.windows, widths, strict=True) for _ in range(width)
        ],
        "label": [name for width in widths for name in history.label_names[:width]],
    }
    return columns | {name: _joined([part[name] for part in parts]) for name in (parts[-1] if parts else ())}


def label_part(window: Window) -> dict[str, Array]:
    """Return the columns of the labels of a window."""
    sums = window.sums
    return {
        "n_alarms": window.n_alarms,
        "n_known": sums.n_known(),
        "n_true": sums.counts.tp + sums.counts.fn,
        **sums.by_label(),
        "errors_drifted": window.errors_drifted,
    }


def _joined(parts: Sequence[Array]) -> list[object]:
    return [value for part in parts for value in part.tolist()]


TABLES: Mapping[Table, Callable[[History], Columns]] = {
    "windows": window_columns,
    "features": feature_columns,
    "labels": label_columns,
}
