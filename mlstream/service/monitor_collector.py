"""The numbers of monitors as Prometheus scrapes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from estimators.contract.lazy import needing
from mlstream.service.monitor import Monitor
from mlstream.service.windows import TABLES, History, Table

if TYPE_CHECKING:
    from prometheus_client import Metric

with needing("mlstream.service.MonitorCollector"):
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
    from prometheus_client.openmetrics.exposition import generate_latest
    from prometheus_client.registry import Collector

# families by their table in `to_frame`: the column, and what it means; gauges are those of the last window
_GAUGES: Mapping[Table, Mapping[str, str]] = {
    "windows": {
        "ba_macro": "Balanced accuracy, mean over labels.",
        "f1_macro": "F1, mean over labels.",
        "f1_micro": "F1 over all cells.",
        "precision_micro": "Share of alarms that are true.",
        "recall_micro": "Share of true labels that raise an alarm.",
        "brier_macro": "Brier score, mean over labels.",
        "ece_macro": "Expected calibration error, mean over labels.",
    },
    "features": {
        "psi": "Population stability index, against the reference.",
        "drifted": "Whether the feature is unlike the reference.",
    },
    "labels": {
        "ba": "Balanced accuracy.",
        "precision": "Share of alarms that are true.",
        "recall": "Share of true labels that raise an alarm.",
        "brier": "Brier score.",
        "ece": "Expected calibration error.",
    },
}
# the name of each counter, the attribute of a monitor, and what has one each
_COUNTERS = (
    ("rows", "n_rows_", None, "Rows."),
    ("labelled_rows", "n_labelled_", None, "Rows of which a label is known."),
    ("windows", "n_windows_", None, "Windows of rows."),
    ("alarms", "n_alarms_", "label", "Predicted labels of rows."),
    ("error_drifts", "n_error_drifts_", "label", "Drifts of the errors of a label."),
    ("drifted_windows", "n_drifted_", "feature", "Windows in which the feature was unlike the reference."),
)


class MonitorCollector(Collector):
    """Offer the numbers of monitors to Prometheus: register it, or serve what `text` returns.

    Parameters
    ----------
    monitors : mapping of str to Monitor
        Monitors by name, which is the value of the label ``monitor`` of each series.

    Notes
    -----
    The package prometheus_client is needed: ``pip install 'mlstream-toolkit[monitor]'``. Counters are those of all
    rows, gauges those of the last window. A gauge that is not defined is left out. A monitor has 11 series, 3 for each
    feature, and 7 for each label; pairs of a feature and a label have no series. A registry takes one collector
    only, so that several monitors go into the same one.

    Examples
    --------
    >>> from mlstream.service import Monitor, MonitorCollector
    >>> monitor = Monitor()
    >>> monitor.update([[0.5, 1.0]], [[1]])
    >>> print(MonitorCollector({"served": monitor}).text().splitlines()[2])
    mlstream_rows_total{monitor="served"} 1.0
    """

    def __init__(self, monitors: Mapping[str, Monitor]) -> None:
        if not isinstance(monitors, Mapping):
            raise TypeError(f"monitors must map names to monitors. Got {monitors!r} instead.")
        for name, monitor in monitors.items():
            if not isinstance(name, str) or not isinstance(monitor, Monitor):
                raise TypeError(f"monitors must map names to monitors. Got {name!r}: {monitor!r} instead.")
        self.monitors = dict(monitors)

    def collect(self) -> Iterator[Metric]:
        """Yield each family of metrics, as registries ask for.

        Yields
        ------
        Metric
            A family, with a sample for each monitor, and each label or feature.
        """
        # each monitor is read at one moment
        read = {name: monitor.snapshot() for name, monitor in self.monitors.items()}
        for name, attribute, kind, meaning in _COUNTERS:
            counter = CounterMetricFamily(f"mlstream_{name}", meaning, labels=_labels(kind))
            for monitor, (history, counts) in read.items():
                for keys, value in _keyed(kind, history, np.atleast_1d(counts[attribute]).tolist()):
                    counter.add_metric([monitor, *keys], value)
            yield counter
        yield from _gauges({monitor: history for monitor, (history, _) in read.items()})

    def text(self) -> str:
        """Return all numbers in the text format of OpenMetrics.

        Returns
        -------
        str
            The content type is ``application/openmetrics-text; version=1.0.0; charset=utf-8``.
        """
        registry = CollectorRegistry()
        registry.register(self)
        text: str = generate_latest(registry).decode()  # type: ignore[no-untyped-call]
        return text


def _gauges(histories: Mapping[str, History]) -> Iterator[Metric]:
    """Yield what the last windows hold."""
    last = {monitor: replace(history, windows=history.windows[-1:]) for monitor, history in histories.items()}
    for table, gauges in _GAUGES.items():
        kind = None if table == "windows" else table.removesuffix("s")
        columns = {monitor: TABLES[table](history) for monitor, history in last.items()}
        for name, meaning in gauges.items():
            gauge = GaugeMetricFamily(f"mlstream_{kind + '_' if kind else ''}{name}", meaning, labels=_labels(kind))
            for monitor, found in columns.items():
                _add(gauge, monitor, _keyed(kind, last[monitor], map(_number, found.get(name, ()))))
            yield gauge
    budget = GaugeMetricFamily("mlstream_alarm_budget", "Alarms that may be raised per window.", labels=_labels(None))
    for monitor, history in histories.items():
        _add(budget, monitor, _keyed(None, history, [_number(history.budget)]))
    yield budget


def _add(gauge: GaugeMetricFamily, monitor: str, series: Iterator[tuple[tuple[str, ...], float]]) -> None:
    """Add the series of a monitor that are defined."""
    for keys, value in series:
        if not isnan(value):
            gauge.add_metric([monitor, *keys], value)


def _keyed(kind: str | None, history: History, values: Iterable[float]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Return each value with the name of its label or feature, if it has one."""
    names = {None: (), "label": history.label_names, "feature": history.feature_names}[kind]
    return zip([(name,) for name in names] if kind else [()], values, strict=False)


def _number(value: object) -> float:
    return float(value) if isinstance(value, float | int) else float("nan")


def _labels(kind: str | None) -> list[str]:
    return ["monitor", kind] if kind else ["monitor"]
