"""Split of tasks, their order, and how they give way to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

import numpy as np
from pydantic import JsonValue

from metrics.validation import require_choice
from mlstream.generators._parameters import require_count, require_seed

OrderName = Literal["random", "similarity", "dissimilarity", "interleaved"]
Shape = Literal["linear", "sigmoid"]

ORDERS: tuple[OrderName, ...] = ("random", "similarity", "dissimilarity", "interleaved")

# 0.1 * 30 is 3.0000000000000004: products this near to a whole number are that number.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class VisitPlan:
    """Split of tasks, their order, and how they give way to each other.

    Raises ValueError if a fraction is not positive, they add up to more than 1, or an option is not one of its values.
    """

    learning_fractions: Sequence[float] = (0.35, 0.35)  # share of each task's rows that each of its visits gets
    evaluation_fraction: float = 0.30  # share of each task's rows that is held out
    # task of each experience, or a rule (see `resolve_order`); None: "random"
    order: Sequence[int] | OrderName | None = None
    stratified: bool = False  # spread every label set of a task evenly over its parts
    window: int = 0  # rows around each boundary in which tasks mix, several if it exceeds an experience; 0: abrupt
    shape: Shape = "linear"  # how the share of the next task rises in the window
    seed: int = 0

    def __post_init__(self) -> None:
        require_seed(self.seed)
        require_count(self.window, "window", minimum=0)
        require_choice(self.shape, "shape", ("linear", "sigmoid"))
        if isinstance(self.order, str):
            require_choice(self.order, "order", ORDERS)
        self._require_fractions()

    def _require_fractions(self) -> None:
        if not 0 < self.evaluation_fraction < 1:
            raise ValueError(
                f"evaluation_fraction must be more than 0 and less than 1. Got {self.evaluation_fraction} instead."
            )
        shares = tuple(self.learning_fractions)
        if not shares:
            raise ValueError("learning_fractions must hold the share of each visit. Got an empty list instead.")
        if not all(share > 0 for share in shares):
            raise ValueError(f"each of learning_fractions must be positive. Got {shares} instead.")
        if sum(self.fractions) > 1 + _ROUNDING:
            raise ValueError(
                f"learning_fractions and evaluation_fraction must add up to at most 1. "
                f"Got {shares} and {self.evaluation_fraction}: {sum(self.fractions):g}."
            )

    @property
    def fractions(self) -> tuple[float, ...]:
        """Learning fractions, then the evaluation fraction."""
        return (*self.learning_fractions, self.evaluation_fraction)

    @property
    def boundary(self) -> Literal["abrupt", "gradual"]:
        """Kind of the boundaries between tasks, as on a card."""
        return "gradual" if self.window else "abrupt"

    def describe(self) -> dict[str, JsonValue]:
        """Return everything but the seed as JSON values, the parameters of a generator's card."""
        return {
            "learning_fractions": [float(share) for share in self.learning_fractions],
            "evaluation_fraction": float(self.evaluation_fraction),
            "order": self.order
            if self.order is None or isinstance(self.order, str)
            else [int(task) for task in self.order],
            "stratified": bool(self.stratified),
            "window": int(self.window),
            "shape": self.shape,
        }


def part_sizes(n_rows: int, visits: VisitPlan) -> list[int]:
    """Return the sizes of a task's learning parts, then of its evaluation set.

    They add up to `n_rows` if the fractions add up to 1. The evaluation set is rounded up; what is left is cut at its
    cumulative shares, rounded down. These are the sizes of the published streams.
    """
    held_out = ceil(n_rows * visits.evaluation_fraction - _ROUNDING)
    learning = min(floor(n_rows * sum(visits.fractions) + _ROUNDING), n_rows) - held_out
    shares = np.cumsum(visits.learning_fractions) / sum(visits.learning_fractions)
    cuts = [floor(learning * share + _ROUNDING) for share in shares]
    return [*np.diff([0, *cuts]).tolist(), held_out]
