"""The drift detectors by name.

Detectors are imported when they are made: names and summaries can be listed at once.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

# Name -> when it signals a drift.
DETECTORS: Mapping[str, str] = MappingProxyType(
    {
        "ADWIN": "Two parts of a window of adaptive length have different means.",
        "DDM": "Errors are more frequent than at best.",
        "EDDM": "Errors follow each other at shorter distances than at best.",
        "HDDMA": "The mean exceeds its bound by Hoeffding.",
        "HDDMW": "The weighted mean exceeds its bound by McDiarmid.",
        "KSWIN": "The latest values are distributed otherwise than a sample of those before.",
        "PageHinkley": "The sum of deviations from the mean leaves its extreme.",
        "LabelDrift": "The detector of a label does; ADWIN by default.",
        "LabelSetDrift": "The detector of a label set does; ADWIN by default.",
    }
)


def make_detector(name: str, **parameters: object) -> Any:
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
    from estimators import drift

    build = getattr(drift, name)
    known = build().get_params(deep=False)
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name} must have parameters among {', '.join(known)}. Got {parameter!r} instead.")
    if isinstance(inside := parameters.get("detector"), str):
        parameters = parameters | {"detector": make_detector(inside)}
    return build(**parameters)
