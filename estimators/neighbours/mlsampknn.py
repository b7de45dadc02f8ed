"""MLSAMPkNN: nearest neighbours in a window that adjusts its size and drops rows that mislead."""

from typing import ClassVar, Literal

from estimators._new_labels import OnNewLabels
from estimators.neighbours._self_adjusting import SelfAdjustingClassifier
from metrics._validation import require_integer


class MLSAMPkNNClassifier(SelfAdjustingClassifier):
    """Predict by the nearest rows of a window that adjusts its size and drops rows that mislead: MLSAMPkNN."""

    _adaptive: ClassVar[bool] = False

    def __init__(
        self,
        k: int = 3,
        *,
        max_window: int = 1000,
        min_window: int = 50,
        penalty: float = 1.0,
        reduction: float = 0.5,
        criterion: Literal["subset_accuracy", "hamming_score"] = "subset_accuracy",
        faithful: bool = False,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.k = k
        self.max_window = max_window
        self.min_window = min_window
        self.penalty = penalty
        self.reduction = reduction
        self.criterion = criterion
        self.faithful = faithful
        self.on_new_labels = on_new_labels

    def _check_k(self) -> tuple[int, int]:
        return require_integer(self.k, "k", 1), 0
