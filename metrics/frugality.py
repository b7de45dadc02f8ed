"""Accuracy against the energy it took."""

from __future__ import annotations

from metrics.validation import check_number, require_choice

_PER_KWH = {"J": 3.6e6, "kJ": 3.6e3, "MJ": 3.6, "Wh": 1e3, "kWh": 1.0, "MWh": 1e-3}


def frug(acc: float, energy: float, *, w: float = 1.0, energy_unit: str = "kWh", scale: str = "kWh") -> float:
    """Accuracy minus a penalty for the energy spent; higher is better.

    Parameters
    ----------
    acc : float
        Accuracy, usually `metrics.acc`.
    energy : float
        Energy of the whole stream in `energy_unit`, at least 0.
    w : float, default=1.0
        Weight of the penalty, at least 0.
    energy_unit : {"J", "kJ", "MJ", "Wh", "kWh", "MWh"}, default="kWh"
        Unit of `energy`.
    scale : {"J", "kJ", "MJ", "Wh", "kWh", "MWh"}, default="kWh"
        Energy at which half of the penalty is reached: one of this unit. It sets what counts as much energy; print it
        beside the score.

    Returns
    -------
    float
        In [acc - w, acc].

    Raises
    ------
    ValueError
        If a number is not finite, the energy or w is negative, or a unit is unknown.

    Notes
    -----
    Frug = ACC - w / (1 + 1 / C) = ACC - w C / (1 + C), C the energy in units of `scale`. With C in kWh the penalty
    is 1e-5 to 1e-2 on streams of some thousand rows, and the score hardly measures frugality.

    References
    ----------
    M. Evchenko, J. Vanschoren, H. H. Hoos, M. Schoenauer, M. Sebag, "Frugal machine learning", arXiv 2111.03731, 2021.

    Examples
    --------
    >>> frug(0.9, 0.001)
    0.8990009990009991
    >>> frug(0.9, 0.001, scale="Wh")
    0.4
    >>> frug(0.9, 3600, energy_unit="J", scale="Wh")
    0.4
    """
    require_choice(energy_unit, "energy_unit", tuple(_PER_KWH))
    require_choice(scale, "scale", tuple(_PER_KWH))
    consumed = check_number(energy, "energy", low=0.0) * (_PER_KWH[scale] / _PER_KWH[energy_unit])
    penalty = 1.0 / (1.0 + 1.0 / consumed) if consumed else 0.0  # this form holds for any finite energy
    return check_number(acc, "acc") - check_number(w, "w", low=0.0) * penalty
