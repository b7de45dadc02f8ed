"""Scores of drift detection against drifts that are known: what was found, how late, and how often in vain."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.validation import as_numbers, require_integer

Rows: TypeAlias = NDArray[np.int64]


class DetectionScores(NamedTuple):
    """How well the alarms of a detector match the drifts of a stream.

    Attributes
    ----------
    detection_rate : float
        Share of drifts with an alarm in time.
    precision : float
        Share of alarms in time; 0 without alarms.
    f1 : float
        Harmonic mean of precision and recall, where alarms in time are hits, the others false, and drifts without an
        alarm missed; 0 without a hit.
    mean_delay : float
        Rows from the start of a drift to its first alarm, mean over the drifts found; NaN if none was.
    normalised_delay : float
        The same as a share of `max_delay`.
    false_alarms_per_1000 : float
        False alarms per 1,000 rows of the stream.
    n_hits : int
        Alarms in time; a drift may have several.
    n_false_alarms : int
        Other alarms.
    n_missed : int
        Drifts without an alarm in time.
    recall : float
        Hits by hits and missed drifts. A drift with several alarms in time counts as often; `detection_rate` counts
        it once.
    alarms_per_1000 : float
        Alarms of either kind per 1,000 rows of the stream.
    normalised_time_between : float
        Rows of the stream per false alarm, as a multiple of `max_delay`; NaN without one.
    """

    detection_rate: float
    precision: float
    f1: float
    mean_delay: float
    normalised_delay: float
    false_alarms_per_1000: float
    n_hits: int
    n_false_alarms: int
    n_missed: int
    recall: float
    alarms_per_1000: float
    normalised_time_between: float


def detection_scores(
    drifts: "ArrayLike", alarms: "ArrayLike", *, n_samples: int, max_delay: int, max_early: int = 0
) -> DetectionScores:
    """Compare alarms with known drifts.

    Parameters
    ----------
    drifts : array-like of int, shape (n_drifts,) or (n_drifts, 2)
        Rows at which drifts are, in order; or their first row and the row at which each is complete. Without any,
        rates of drifts are NaN, and every alarm is false.
    alarms : array-like of int, shape (n_alarms,)
        Rows at which the detector signalled, in order.
    n_samples : int
        Rows of the stream.
    max_delay : int
        Rows after the end of a drift within which an alarm is in time, at least 1.
    max_early : int, default=0
        Rows before the start of a drift within which an alarm is in time, too.

    Returns
    -------
    DetectionScores
        Scores with names.

    Raises
    ------
    ValueError
        If rows are out of order or outside the stream, or a number is out of range.

    Notes
    -----
    An alarm belongs to the last drift that has begun, or begins in at most `max_early` rows, and is in time until
    `max_delay` rows after its end: where drifts are so close that these rows overlap, those of the first one end where
    those of the next begin. Alarms after the last drift are false, too; the reference leaves them out.

    References
    ----------
    Cerqueira et al., "Evaluating drift detection", 2026, arXiv 2606.07789.

    Examples
    --------
    >>> from metrics import detection_scores
    >>> scores = detection_scores([1000, 2000], [500, 1200, 1250, 2100], n_samples=3000, max_delay=200)
    >>> scores.detection_rate, scores.mean_delay, round(scores.f1, 3)
    (1.0, 150.0, 0.667)
    """
    owners = match_alarms(drifts, alarms, n_samples=n_samples, max_delay=max_delay, max_early=max_early)
    spans, rows = _check_drifts(drifts, n_samples), np.asarray(alarms)
    in_time = owners >= 0
    found, first = np.unique(owners[in_time], return_index=True)
    return _score(len(spans), rows[in_time][first] - spans[found, 0], in_time, n_samples, max_delay)


def match_alarms(
    drifts: "ArrayLike", alarms: "ArrayLike", *, n_samples: int, max_delay: int, max_early: int = 0
) -> "NDArray[np.int64]":
    """Find the drift that each alarm is in time for: its index, or -1 for a false alarm.

    Parameters and errors are those of `detection_scores`.

    >>> match_alarms([1000, 2000], [500, 1200, 1250, 2100], n_samples=3000, max_delay=200).tolist()
    [-1, 0, -1, 1]
    """
    for value, name, least in ((n_samples, "n_samples", 1), (max_delay, "max_delay", 1), (max_early, "max_early", 0)):
        require_integer(value, name, least)
    spans, rows = _check_drifts(drifts, n_samples), _check_rows(alarms, "alarms", n_samples)
    if not len(spans):
        return np.full(len(rows), -1)
    owners = np.searchsorted(spans[:, 0] - max_early, rows, side="right") - 1
    in_time = (owners >= 0) & (rows <= spans[owners, 1] + max_delay)
    return np.where(in_time, owners, -1)


def _score(n_drifts: int, delays: Rows, in_time: NDArray[np.bool_], n_samples: int, max_delay: int) -> DetectionScores:
    n_hits, n_missed = int(in_time.sum()), n_drifts - len(delays)
    n_false = len(in_time) - n_hits
    mean_delay = float(delays.mean()) if len(delays) else float("nan")
    return DetectionScores(
        detection_rate=_share(len(delays), n_drifts),
        precision=_share(n_hits, len(in_time), 0.0) if n_drifts else float("nan"),
        f1=2 * n_hits / (2 * n_hits + n_false + n_missed) if n_drifts else float("nan"),
        mean_delay=mean_delay,
        normalised_delay=mean_delay / max_delay,
        false_alarms_per_1000=1000 * n_false / n_samples,
        n_hits=n_hits,
        n_false_alarms=n_false,
        n_missed=n_missed,
        recall=_share(n_hits, n_hits + n_missed),
        alarms_per_1000=1000 * len(in_time) / n_samples,
        normalised_time_between=_share(n_samples, n_false * max_delay),
    )


def _share(part: int, whole: int, without: float = float("nan")) -> float:
    return part / whole if whole else without


def _check_drifts(drifts: ArrayLike, n_samples: int) -> Rows:
    """Return first and last rows (n_drifts, 2)."""
    array = as_numbers(drifts)
    spans = np.column_stack([array, array]) if array.ndim == 1 else array
    if spans.ndim != 2 or spans.shape[1] != 2:
        raise ValueError(f"drifts must have shape (n_drifts,) or (n_drifts, 2). Got {array.shape} instead.")
    _check_rows(spans.ravel(), "drifts", n_samples)
    return spans.astype(np.int64)


def _check_rows(rows: ArrayLike, name: str, n_samples: int) -> Rows:
    array = as_numbers(rows)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be whole numbers, in one dimension. Got {array.dtype} of {array.shape} instead.")
    outside = (array < 0) | (array > n_samples)
    if outside.any():
        raise ValueError(f"{name} must be from 0 to n_samples = {n_samples}. Got {array[outside][0]} instead.")
    signed = array.astype(np.int64)
    falls = np.flatnonzero(np.diff(signed) < 0)
    if len(falls):
        raise ValueError(f"{name} must be in order. Got {array[falls[0] + 1]} after {array[falls[0]]} instead.")
    return signed
