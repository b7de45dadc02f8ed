"""The findings of a monitor, window by window, and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from estimators._typing import Array
from mlstream.service.feature_drift import Comparison
from mlstream.service.label_sums import LabelSums

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
    windows = history.windows
    columns: Columns = {
        "first_row": [window.first_row for window in windows],
        "n_rows": [history.n_rows for _ in windows],
        "n_labelled": [window.n_labelled for window in windows],
        "n_alarms": [int(window.n_alarms.sum()) for window in windows],
        "budget": [np.nan if history.budget is None else history.budget for _ in windows],
    }
    means = [window.sums.means() for window in windows]
    columns |= {name: [scores[name] for scores in means] for name in LabelSums.nothing(0).means()}
    return columns | {
        "unscored": [", ".join(history.labels_where(np.isnan(window.sums.by_label()["ba"]))) for window in windows],
        "errors_drifted": [", ".join(history.labels_where(window.errors_drifted)) for window in windows],
        "largest_psi": [np.nan if window.features is None else window.features.psi.max() for window in windows],
        "drifted": [", ".join(history.drifted(window)) for window in windows],
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
    windows = history.windows
    widths = [window.sums.n_labels for window in windows]
    scores = [window.sums.by_label() for window in windows]
    counts = [window.sums.counts for window in windows]
    return {
        "first_row": [window.first_row for window, width in zip(windows, widths, strict=True) for _ in range(width)],
        "label": [name for width in widths for name in history.label_names[:width]],
        "n_alarms": _joined([window.n_alarms for window in windows]),
        "n_known": _joined([window.sums.n_known() for window in windows]),
        "n_true": _joined([window.tp + window.fn for window in counts]),
        **{name: _joined([window[name] for window in scores]) for name in LabelSums.nothing(0).by_label()},
        "errors_drifted": _joined([window.errors_drifted for window in windows]),
    }


def _joined(parts: Sequence[Array]) -> list[object]:
    return [value for part in parts for value in part.tolist()]


TABLES: Mapping[Table, Callable[[History], Columns]] = {
    "windows": window_columns,
    "features": feature_columns,
    "labels": label_columns,
}
