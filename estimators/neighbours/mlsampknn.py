"""MLSAMPkNN: nearest neighbours in a window that adjusts its size and drops rows that mislead."""

from typing import ClassVar, Literal

from estimators.contract.new_labels import OnNewLabels
from estimators.neighbours._self_adjusting import SelfAdjustingClassifier
from metrics.validation import require_integer


class MLSAMPkNNClassifier(SelfAdjustingClassifier):
    """Predict by the nearest rows of a window that adjusts its size and drops rows that mislead: MLSAMPkNN.

    Parameters
    ----------
    k : int, default=3
        Number of neighbours that vote.
    max_window : int, default=1000
        Most rows of the window, with the one that is being learnt: one less is kept between rows. Memory grows with its
        square.
    min_window : int, default=50
        Windows of twice as many rows, or more, are compared with smaller ones.
    penalty : float, default=1.0
        Errors for each of its known labels beyond which a row is removed, at least 0.
    reduction : float, default=0.5
        Size of a window compared, as a share of the next larger one; between 0 and 1, neither included.
    criterion : {'subset_accuracy', 'hamming_score'}, default='subset_accuracy'
        How well a window predicts: share of rows with all labels right, or mean share of labels right.
    faithful : bool, default=False
        Whether to repeat the defects of the authors' code, for comparison with published tables.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    window_size_ : int
        Number of rows in the window.

    Notes
    -----
    P(label = 1) is the share of the k nearest rows that have the label; of rows at the same distance, the older one
    comes first. The distance is Euclidean, on features divided by their range so far, which always includes 0; a
    feature that was always 0 does not count. Before any row, no label is predicted.

    A row is learnt in four steps. (1) Every neighbour that has just been asked counts an error for each label in which
    it differs from the row. (2) The row is added, with its distances to the others, which are not computed again when
    ranges change. (3) Rows with more than `penalty` errors for each known label are removed. (4) If there are
    2 * `min_window` rows, windows of the newest rows are compared: all, `reduction` of them, `reduction` of these and
    so on, to the first of fewer than 2 * `min_window` rows. The one whose rows would have been predicted best from
    those before them inside the window stays, the largest of equal ones. `predict` punishes nobody: the truth is not
    known there. The authors' code does step 1 when it predicts, with the truth, which comes to the same.

    A score is computed once, when a window that begins at the same row is compared first, and kept. With
    ``faithful=True``, scores stay in their places when rows before them are removed, by errors or because the window is
    full, and so belong to other rows then; and the distances of later rows to those before a removed one become those
    of the row before them. Published tables were made so.

    A label that is unknown in a near row is that of the next nearest one in which it is known. Weights of rows do not
    matter, except that a row of weight 0 is not learnt. Rows are kept dense, in double precision. A row costs
    O(window * features) for distances and up to O(window**2) for comparing windows.

    References
    ----------
    Roseberry, Krawczyk, Cano, "Multi-label punitive kNN with self-adjusting memory for drifting data streams", ACM
    TKDD 13(6), 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import MLSAMPkNNClassifier
    >>> X = np.random.default_rng(0).random((900, 2))
    >>> Y = X > 0.5
    >>> Y[600:] = X[600:] < 0.5
    >>> learner = MLSAMPkNNClassifier().fit(X[:600], Y[:600])
    >>> learner.window_size_, learner.partial_fit(X[600:], Y[600:]).window_size_
    (567, 295)
    >>> learner.predict([[0.9, 0.1]])
    array([[0, 1]])
    """

    _adaptive: ClassVar[bool] = False

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
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
