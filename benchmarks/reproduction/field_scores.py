"""The scores of the field's two families of published tables, from the predictions of a test-then-train pass.

Their names are the same and their values are not: one accumulates over the whole stream, the other fades old rows and
averages its reports. Cells of one family must never stand beside those of the other.
"""

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

Labels = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]

FADING, REPORT_ROWS = 0.995, 100


def cumulative_scores(Y: Labels, Y_pred: Labels) -> dict[str, float]:
    """Score all rows but the first at once, as MLHAT's tables do (Esteban et al., KBS 2024, code).

    Their learners predict no label of the first row, as they have seen no label yet, and it is not scored. Macro-F1 is
    the mean of the labels' F1, 0 where a label was neither present nor predicted.

    Parameters
    ----------
    Y, Y_pred : int ndarray of shape (n_samples, n_labels)
        Labels and predictions, in the order of the stream.

    Returns
    -------
    dict of str to float
        ``subset`` accuracy, ``hamming`` loss, ``f1_micro``, ``f1_macro``; all inside [0, 1].
    """
    Y, Y_pred = Y[1:], Y_pred[1:]
    hits, found, present = (Y * Y_pred).sum(axis=0), Y_pred.sum(axis=0), Y.sum(axis=0)
    return {
        "subset": float((Y_pred == Y).all(axis=1).mean()),
        "hamming": float((Y_pred != Y).mean()),
        "f1_micro": float(_ratio(2 * hits.sum(), found.sum() + present.sum())),
        "f1_macro": float(_ratio(2 * hits, found + present).mean()),
    }


def faded_scores(Y: Labels, Y_pred: Labels) -> dict[str, float]:
    """Average the reports of fading sums, as AESAKNNS's tables do (Alberghini et al., Neurocomputing 2022, code).

    Each row multiplies all sums by `FADING`. A report is written every `REPORT_ROWS` rows, and after the last row.
    Macro-F1 is the harmonic mean of macro precision and macro recall.

    Parameters
    ----------
    Y, Y_pred : int ndarray of shape (n_samples, n_labels)
        Labels and predictions, in the order of the stream.

    Returns
    -------
    dict of str to float
        ``subset`` accuracy, ``hamming`` score (1 - loss), ``f1_micro``, ``f1_macro``; all inside [0, 1].
    """
    reports = [*range(REPORT_ROWS - 1, len(Y), REPORT_ROWS)]
    if not reports or reports[-1] != len(Y) - 1:
        reports.append(len(Y) - 1)
    weights = _fade(np.ones(len(Y)))[reports]
    hits, found, present = (_fade(counts)[reports] for counts in (Y * Y_pred, Y_pred, Y))
    micro = _harmonic(_ratio(hits.sum(axis=1), found.sum(axis=1)), _ratio(hits.sum(axis=1), present.sum(axis=1)))
    macro = _harmonic(_ratio(hits, found).mean(axis=1), _ratio(hits, present).mean(axis=1))
    return {
        "subset": float((_fade((Y_pred == Y).all(axis=1))[reports] / weights).mean()),
        "hamming": float((_fade((Y_pred == Y).mean(axis=1))[reports] / weights).mean()),
        "f1_micro": float(micro.mean()),
        "f1_macro": float(macro.mean()),
    }


def _fade(values: npt.NDArray[np.generic]) -> Floats:
    faded: Floats = lfilter([1.0], [1.0, -FADING], values.astype(np.float64), axis=0)
    return faded


def _ratio(part: npt.NDArray[np.generic], whole: npt.NDArray[np.generic]) -> Floats:
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _harmonic(precision: Floats, recall: Floats) -> Floats:
    return _ratio(2 * precision * recall, precision + recall)
