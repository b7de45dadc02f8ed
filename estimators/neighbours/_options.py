"""Parameters of learners with a window that adjusts its own size, checked and in the form of kernels."""

from typing import Any

import numpy as np

from estimators.contract.parameters import check_number
from estimators.neighbours._kernels.sizes import Options
from metrics.validation import require_choice, require_integer

PUBLISHED_PENALTY = 1.0
# windows empty where k, up to 7, times the share of wrong neighbours exceeds it
PENALTY = 3.0


def check_options(estimator: Any, *, adaptive: bool, default_penalty: float = PENALTY) -> Options:
    """Check the parameters that all learners of the family have, and return them for kernels."""
    require_integer(estimator.max_window, "max_window", 2)
    require_integer(estimator.min_window, "min_window", 1)
    penalty = estimator.penalty
    if adaptive and penalty is None:
        penalty = PUBLISHED_PENALTY if estimator.faithful else default_penalty
    check_number("penalty", penalty)
    reduction = estimator.reduction
    if not isinstance(reduction, float | np.floating) or not 0 < reduction < 1:
        raise ValueError(f"reduction must be a number between 0 and 1, neither included. Got {reduction!r} instead.")
    require_choice(estimator.criterion, "criterion", ("subset_accuracy", "hamming_score"))
    return Options(
        int(estimator.max_window),
        int(estimator.min_window),
        float(penalty),
        float(reduction),
        estimator.criterion == "hamming_score",
        adaptive,
        bool(estimator.faithful),
    )


def count_candidates(options: Options) -> int:
    """Return the largest number of windows that are compared at a time."""
    count, size = 1, options.max_window
    while size >= 2 * options.min_window:
        size = max(int(size * options.reduction), 1)
        count += 1
    return count
