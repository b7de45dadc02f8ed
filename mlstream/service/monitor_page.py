"""The page of a monitor: window HTML file that needs nothing else, with the last window first."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mlstream._support.files import write_text_atomically
from mlstream._support.templates import page_templates
from mlstream._support.version import __version__
from mlstream.service.windows import History, Window, label_part

_WIDTH, _HEIGHT, _EDGE = 240, 56, 3
_N_SHOWN, _N_FEATURES = 60, 25
# an index of at least the first is shown in the colour of the second
_HEATS = ((0.05, 0), (0.1, 1), (0.25, 2), (0.5, 3), (1.0, 4))
_CHARTS = {
    "ba_macro": "Balanced accuracy, mean over labels",
    "f1_macro": "F1, mean over labels",
    "brier_macro": "Brier score, mean over labels",
    "ece_macro": "Calibration error, mean over labels",
}


@dataclass(frozen=True)
class Chart:
    """A line over windows: its latest value as text, and its points, in pieces where values are missing."""

    title: str
    latest: str
    low: str
    high: str
    lines: list[str]


@dataclass(frozen=True)
class Feature:
    """A feature in the last window, and the heat of its index in the windows before it; None where it has none."""

    name: str
    psi: float
    ks: float
    p_value: float
    drifted: bool
    heats: list[tuple[int | None, bool, str]]


def write_page(history: History, path: str | os.PathLike[str]) -> Path:
    """Write the page, complete or not at all."""
    template = page_templates("mlstream.service", "mlstream.reporting").get_template("monitor.html")
    write_text_atomically(page := Path(path), template.render(describe(history)))
    return page


def describe(history: History) -> dict[str, object]:
    """Gather the variables of ``templates/monitor.html``."""
    windows = history.windows[-_N_SHOWN:]
    return {
        "history": history,
        "last": windows[-1] if windows else None,
        "changes": list(_changes(history)) if windows else [],
        "charts": _charts(windows),
        "features": _features(history, windows),
        "labels": _labels(history, windows[-1]) if windows else [],
        "n_shown": len(windows),
        "version": __version__,
    }


def _changes(history: History) -> Iterator[tuple[str, bool]]:
    """Say what the last window shows, in sentences, and whether each calls for somebody."""
    last = history.windows[-1]
    before = history.windows[-2] if len(history.windows) > 1 else None
    yield _say_features(history, last)
    for name, flag in zip(history.label_names, last.errors_drifted.tolist(), strict=False):
        if flag:
            place = history.label_names.index(name)
            rates = [_error_rate(window, place) for window in (before, last) if window is not None]
            yield f"Errors of {name} have changed: {', then '.join(rates)} in the last windows.", True
    n_alarms = int(last.n_alarms.sum())
    over = history.budget is not None and n_alarms > history.budget
    of = "" if history.budget is None else f", {'more than' if over else 'within'} the budget of {history.budget:,.10g}"
    yield f"{n_alarms:,} alarm{'s' * (n_alarms != 1)}{of}.", over
    yield f"Labels came for {last.n_labelled:,} rows; {history.n_rows:,} rows came.", not last.n_labelled


def _say_features(history: History, last: Window) -> tuple[str, bool]:
    if last.features is None:
        return "Features are not compared yet: the first rows become the reference.", False
    names, n = history.drifted(last), len(history.feature_names)
    if not names:
        return f"None of {n:,} features is unlike the reference.", False
    psi = dict(zip(history.feature_names, last.features.psi.tolist(), strict=True))
    first = ", ".join(f"{name} (PSI {psi[name]:.2f})" for name in names[:5])
    verb = "is" if len(names) == 1 else "are"
    return f"{len(names):,} of {n:,} features {verb} unlike the reference: {first}{', ...' * (len(names) > 5)}.", True


def _error_rate(window: Window, label: int) -> str:
    counts, n_known = window.sums.counts, window.sums.n_known()
    if label >= len(n_known) or not n_known[label]:
        return "unknown"
    return f"{(counts.fp + counts.fn)[label] / n_known[label]:.1%} wrong"


def _charts(windows: Sequence[Window]) -> list[Chart]:
    means = [window.sums.means() for window in windows]
    charts = [_chart(title, [scores[name] for scores in means], "{:.3f}") for name, title in _CHARTS.items()]
    counts = {
        "Alarms": [float(window.n_alarms.sum()) for window in windows],
        "Rows whose labels came": [float(window.n_labelled) for window in windows],
        "Features unlike the reference": [float(window.drifted.sum()) for window in windows],
    }
    charts += [_chart(title, values, "{:,.0f}") for title, values in counts.items()]
    return [chart for chart in charts if chart.latest]


def _chart(title: str, values: Sequence[float], form: str) -> Chart:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Chart(title, "", "", "", [])
    low, high = min(known), max(known)
    lines: list[list[str]] = [[]]
    for place, value in enumerate(values):
        if math.isnan(value):
            lines.append([])
            continue
        x = _EDGE + (_WIDTH - 2 * _EDGE) * place / max(len(values) - 1, 1)
        y = _HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * ((value - low) / (high - low) if high > low else 0.5)
        lines[-1].append(f"{x:.1f},{y:.1f}")
    latest = "n/a" if math.isnan(values[-1]) else form.format(values[-1])
    return Chart(title, latest, form.format(low), form.format(high), [" ".join(line) for line in lines if line])


def _features(history: History, windows: Sequence[Window]) -> list[Feature]:
    """Return the features of the last window: those that drifted, then those of the greatest index."""
    if not windows or windows[-1].features is None:
        return []
    last, compared = windows[-1], windows[-1].features
    order = np.lexsort((-compared.psi, ~last.drifted))[:_N_FEATURES].tolist()
    return [
        Feature(
            history.feature_names[place],
            float(compared.psi[place]),
            float(compared.ks[place]),
            float(compared.p_value[place]),
            bool(last.drifted[place]),
            [_heat(window, place) for window in windows],
        )
        for place in order
    ]


def _heat(window: Window, place: int) -> tuple[int | None, bool, str]:
    if window.features is None:
        return None, False, f"from row {window.first_row:,}: not compared"
    psi = float(window.features.psi[place])
    heat = max((colour for least, colour in _HEATS if psi >= least), default=None)
    return heat, bool(window.drifted[place]), f"from row {window.first_row:,}: PSI {psi:.3f}"


def _labels(history: History, last: Window) -> list[dict[str, object]]:
    columns = label_part(last)
    names = history.label_names[: last.sums.n_labels]
    return [{"name": name} | {key: columns[key][place].item() for key in columns} for place, name in enumerate(names)]
