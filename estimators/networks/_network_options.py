"""What the parameters of a network must be, and how the kernels are told."""

from numbers import Integral
from typing import Any

import numpy as np

from estimators.networks._kernels.state import CodedRows, RunOptions
from estimators.networks._torch_network import check_device

NUMBERS = (float, int, np.number)
CHOICES: dict[str, tuple[Any, ...]] = {
    "optimizer": ("adam", "sgd"),
    "targeted_loss": (None, "signature", "published"),
    "replay": ("online", "mini-batch"),
    "standardize": (False, True, "scale"),
    "dtype": ("float32", "float64"),
}


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that no network can have."""
    check_network(estimator)
    if estimator.device is not None:
        if estimator.standardize or estimator.balance_labels:
            raise ValueError("standardize and balance_labels must be False on a device.")
        check_device(estimator.device)


def check_network(estimator: Any) -> None:
    """Refuse choices, widths and a learning rate that no network can have; an estimator need not offer all choices."""
    for name in CHOICES:
        if hasattr(estimator, name):
            check_choice(estimator, name)
    for width in hidden_widths(estimator.hidden_units):
        if not isinstance(width, Integral) or width < 1:
            raise ValueError(f"hidden_units must be positive integers. Got {estimator.hidden_units!r} instead.")
    check_learning_rate(estimator.learning_rate)


def check_choice(estimator: Any, name: str) -> None:
    """Refuse a value of a parameter that is not among its choices."""
    value, choices = getattr(estimator, name), CHOICES[name]
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}. Got {value!r} instead.")


def check_learning_rate(rate: Any) -> None:
    """Refuse a step that is not a finite positive number."""
    if not isinstance(rate, NUMBERS) or not 0 < rate < np.inf:
        raise ValueError(f"learning_rate must be a finite number greater than 0. Got {rate!r} instead.")


def check_finite(name: str, value: Any, *, least: float = 0, most: float = np.inf) -> None:
    """Refuse what is not a finite number within bounds."""
    if not isinstance(value, NUMBERS) or not (least <= value <= most and value < np.inf):
        bounds = f"at least {least}" if most == np.inf else f"from {least} to {most}"
        raise ValueError(f"{name} must be a finite number {bounds}. Got {value!r} instead.")


def diverged(rows: CodedRows, failed: int, rate: float) -> ValueError:
    """Return the error of a network that left the range of its numbers at a row."""
    features = rows.values[rows.starts[failed] : rows.ends[failed]]
    return ValueError(
        f"The network diverged at row {failed}: X and learning_rate must keep scores and gradients finite. "
        f"Got features up to {abs(features).max(initial=0):.3g} and learning_rate {rate} instead."
    )


def hidden_widths(hidden_units: Any) -> tuple[Any, ...]:
    """Return the widths of the hidden layers."""
    if hidden_units is None:
        return ()
    return tuple(hidden_units) if isinstance(hidden_units, tuple | list) else (hidden_units,)


def run_options(estimator: Any, *, dense: bool, learn: bool) -> RunOptions:
    """Return the options of a call of the kernels."""
    # by position: names would take twice the time, in every call for one row
    return RunOptions(
        learn,
        dense,
        float(estimator.learning_rate),
        estimator.optimizer == "adam",
        estimator.replay == "mini-batch",
        estimator.targeted_loss == "published",
        bool(estimator.balance_labels),
        bool(estimator.standardize),
        estimator.standardize is True,
    )
