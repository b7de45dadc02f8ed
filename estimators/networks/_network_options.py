"""Checks of the parameters of a network, and the options of its kernels."""

from numbers import Integral
from typing import Any

import numpy as np

from estimators.contract.failed_calls import DivergedError
from estimators.contract.parameters import NUMBERS, PRECISIONS
from estimators.networks._kernels.state import CodedRows, RunOptions
from estimators.networks._network_state import LIMIT
from estimators.networks._torch_network import check_device
from metrics.validation import require_choice

CHOICES: dict[str, tuple[Any, ...]] = {
    "optimizer": ("adam", "sgd"),
    "targeted_loss": (None, "signature", "published"),
    "replay": ("online", "mini-batch"),
    "standardize": (False, True, "scale"),
    "dtype": PRECISIONS,
}


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that no network can have."""
    check_network(estimator)
    if estimator.device is not None:
        if estimator.standardize or estimator.balance_labels:
            raise ValueError("standardize and balance_labels must be False on a device.")
        check_device(estimator.device)


def check_network(estimator: Any) -> None:
    """Refuse choices, widths and a learning rate that no network can have; an estimator may lack some parameters."""
    for name, choices in CHOICES.items():
        if hasattr(estimator, name):
            require_choice(getattr(estimator, name), name, choices)
    for width in hidden_widths(estimator.hidden_units):
        if not isinstance(width, Integral) or width < 1:
            raise ValueError(f"hidden_units must be positive integers. Got {estimator.hidden_units!r} instead.")
    check_learning_rate(estimator.learning_rate, np.dtype(estimator.dtype))


def check_learning_rate(rate: Any, dtype: np.dtype[Any]) -> None:
    """Refuse a learning rate that is not positive, or whose product with a gradient may be infinite."""
    if not isinstance(rate, NUMBERS) or not 0 < rate < LIMIT[dtype]:
        rule = f"a number greater than 0 and less than {LIMIT[dtype]:.0e} in {dtype.name}"
        raise ValueError(f"learning_rate must be {rule}. Got {rate!r} instead.")


def diverged(rows: CodedRows, failed: int, rate: float) -> DivergedError:
    """Return the error of a network whose numbers diverged at a row."""
    features = rows.values[rows.starts[failed] : rows.ends[failed]]
    return DivergedError(
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
        estimator.targeted_loss != "signature",  # without a mask this is the same, unless labels are unknown
        bool(estimator.balance_labels),
        bool(estimator.standardize),
        estimator.standardize is True,
    )
