"""Names that the shell completes; they are listed without importing arrays or learners."""

from __future__ import annotations

from collections.abc import Iterable

import estimators
import mlstream
from estimators.detectors import DETECTORS
from mlstream.publishing.presets import PRESETS


def complete_tables(incomplete: str) -> list[tuple[str, str]]:
    """Return the data sets whose names begin so, with their size."""
    rows = {one.name: f"{one.n_samples:,} rows, " if one.n_samples else "" for one in mlstream.list_datasets()}
    return _starting(
        incomplete, ((one.name, f"{rows[one.name]}{one.n_labels} labels") for one in mlstream.list_datasets())
    )


def complete_streams(incomplete: str) -> list[tuple[str, str]]:
    """Return the published streams whose names begin so, with what they are."""
    return _starting(incomplete, ((name, one.summary) for name, one in PRESETS.items()))


def complete_strategies(incomplete: str) -> list[tuple[str, str]]:
    """Return the strategies whose names begin so; of names split by commas, the last is completed."""
    before, comma, last = incomplete.rpartition(",")
    found = _starting(last, ((name, one.summary) for name, one in estimators.STRATEGIES.items()))
    return [(f"{before}{comma}{name}", text) for name, text in found]


def complete_detectors(incomplete: str) -> list[tuple[str, str]]:
    """Return the drift detectors whose names begin so; of names split by commas, the last is completed."""
    before, comma, last = incomplete.rpartition(",")
    found = _starting(last, DETECTORS.items())
    return [(f"{before}{comma}{name}", text) for name, text in found]


def complete_strategy(incomplete: str) -> list[tuple[str, str]]:
    """Return the strategies whose names begin so."""
    return [] if "," in incomplete else complete_strategies(incomplete)


def _starting(incomplete: str, names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in names if name.startswith(incomplete)]
