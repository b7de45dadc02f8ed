"""The drift detectors by name."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from estimators.drift.adwin import ADWIN
from estimators.drift.ddm import DDM, EDDM
from estimators.drift.hddm import HDDMA, HDDMW
from estimators.drift.kswin import KSWIN
from estimators.drift.label_drift import LabelDrift
from estimators.drift.label_set_drift import LabelSetDrift
from estimators.drift.page_hinkley import PageHinkley


class NamedDetector(NamedTuple):
    """A detector, and what it is in one line."""

    summary: str
    build: type[BaseEstimator]


DETECTORS: Mapping[str, NamedDetector] = MappingProxyType(
    {
        "ADWIN": NamedDetector("Two parts of a window of adaptive length have different means.", ADWIN),
        "DDM": NamedDetector("Errors are more frequent than at best.", DDM),
        "EDDM": NamedDetector("Errors follow each other at shorter distances than at best.", EDDM),
        "HDDMA": NamedDetector("The mean exceeds its bound by Hoeffding.", HDDMA),
        "HDDMW": NamedDetector("The weighted mean exceeds its bound by McDiarmid.", HDDMW),
        "KSWIN": NamedDetector("The latest values are distributed otherwise than a sample of those before.", KSWIN),
        "PageHinkley": NamedDetector("The sum of deviations from the mean leaves its extreme.", PageHinkley),
        "LabelDrift": NamedDetector("The detector of a label does; ADWIN by default.", LabelDrift),
        "LabelSetDrift": NamedDetector("The detector of a label set does; ADWIN by default.", LabelSetDrift),
    }
)


def make_detector(name: str, **parameters: Any) -> Any:
    """Return a new detector.

    Parameters
    ----------
    name : str
        A name of `DETECTORS`.
    **parameters
        Parameters of its constructor. The `detector` of those that watch labels may be a name, too.

    Returns
    -------
    detector
        One that has seen no value.

    Raises
    ------
    ValueError
        If the name, or a parameter, is unknown; the message suggests the nearest name.

    Examples
    --------
    >>> make_detector("LabelDrift", detector="HDDMA")
    LabelDrift(detector=HDDMA())
    """
    if name not in DETECTORS:
        near = get_close_matches(name, DETECTORS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"The name of a detector must be one of {', '.join(DETECTORS)}. Got {name!r} instead{hint}")
    build = DETECTORS[name].build
    known = build().get_params(deep=False)
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name} must have parameters among {', '.join(known)}. Got {parameter!r} instead.")
    if isinstance(inside := parameters.get("detector"), str):
        parameters = parameters | {"detector": make_detector(inside)}
    return build(**parameters)
