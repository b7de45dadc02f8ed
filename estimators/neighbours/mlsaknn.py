"""MLSAkNN: nearest neighbours in a window that adjusts its size, with a k and voters of its own for each label."""

from typing import ClassVar, Literal

from estimators._new_labels import OnNewLabels
from estimators._typing import Array
from estimators.neighbours._self_adjusting import SelfAdjustingClassifier
from metrics._validation import require_integer

# as published
FIRST_K = 3


class MLSAkNNClassifier(SelfAdjustingClassifier):
    """Predict by the nearest rows of a window that adjusts its size, with a k for each label: MLSAkNN."""

    _adaptive: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_window: int = 1000,
        min_window: int = 50,
        penalty: float = 1.0,
        reduction: float = 0.5,
        criterion: Literal["subset_accuracy", "hamming_score"] = "subset_accuracy",
        k_history: int = 1000,
        faithful: bool = False,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.max_window = max_window
        self.min_window = min_window
        self.penalty = penalty
        self.reduction = reduction
        self.criterion = criterion
        self.k_history = k_history
        self.faithful = faithful
        self.on_new_labels = on_new_labels

    @property
    def ks_(self) -> Array:
        """Number of neighbours of each label."""
        return self._state.choice.ks.copy()

    def _check_k(self) -> tuple[int, int]:
        return FIRST_K, require_integer(self.k_history, "k_history", 1)
