"""The scores of frugality, a name for each scale of energy."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Score -> scale of energy, see `metrics.frug`: that of the literature, in which the streams here take thousandths, and
# one in which they take about 1.
FRUGALITIES: Mapping[str, str] = MappingProxyType({"frug_kwh": "kWh", "frug_kj": "kJ"})


def is_frugality(score: str) -> bool:
    """Return whether a score, also one of an older record, depends on the energy measured."""
    return score.startswith("frug_")
