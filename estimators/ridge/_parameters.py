"""Parameters of StreamRidge that are out of range, and sums that would not fit into memory, refused with a way out."""

from numbers import Integral, Real
from typing import Any

from estimators.contract.parameters import NUMBERS, Rule, check_rules
from estimators.ridge._projection import largest_basis, sums_bytes


def check_parameters(ridge: Any) -> None:
    """Raise ValueError with the first parameter that is out of range."""
    rules: dict[str, Rule] = {
        "l2": (object, _is_l2, "a positive number, or 'auto'"),
        "knots": (Integral, lambda value: value >= 0, "a whole number, at least 0"),
        "hidden_units": (Integral, lambda value: value >= 0, "a whole number, at least 0"),
        "memory": (Real, lambda value: value >= 1, "a number, at least 1"),
        "refresh": (Real, lambda value: 0 < value <= 1, "a number above 0, at most 1"),
        "max_bytes": (Real, lambda value: value > 0, "a positive number"),
    }
    check_rules(vars(ridge), rules)
    for name in ("late_in_predict", "follow_drift"):
        if getattr(ridge, name) not in (True, False):
            raise ValueError(f"{name} must be True or False. Got {getattr(ridge, name)!r} instead.")
    n = ridge.n_components
    is_number = isinstance(n, Integral) and not isinstance(n, bool) and int(n) >= 1
    if not (is_number or n is None or (isinstance(n, str) and n == "auto")):
        raise ValueError(f"n_components must be a positive whole number, 'auto' or None. Got {n!r} instead.")


def _is_l2(value: object) -> bool:
    return value == "auto" if isinstance(value, str) else isinstance(value, NUMBERS) and bool(value > 0)


def require_memory(ridge: Any, n_basis: int, fewest: int) -> None:
    """Refuse sums that need more than `max_bytes`; name the largest `n_components` that fits, if at least `fewest`."""
    n_labels = ridge.n_labels_
    needed = sums_bytes(n_basis, n_labels, follow_drift=ridge.follow_drift)
    if needed <= ridge.max_bytes:
        return
    room = largest_basis(ridge.max_bytes, n_labels, follow_drift=ridge.follow_drift) - 1
    ways = [f"n_components={room}"] if room >= fewest else []
    if ridge.follow_drift and sums_bytes(n_basis, n_labels, follow_drift=False) <= ridge.max_bytes:
        ways += ["follow_drift=False"]
    raise ValueError(
        f"max_bytes must be at least {needed:,} for sums over {n_basis - 1:,} dimensions and {n_labels:,} labels. "
        f"Got {int(ridge.max_bytes):,} instead; {', or '.join([*ways, 'raise it'])}."
    )
