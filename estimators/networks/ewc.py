"""Elastic weight consolidation, online."""

import numpy as np

from estimators._typing import RandomStateLike
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.parameters import check_number
from estimators.networks._kernels.regularised import Regularisation
from estimators.networks._network_state import State
from estimators.networks._regularised_network import RegularisedNetwork


class EWCClassifier(RegularisedNetwork):
    """A network whose weights are pulled back to their values after earlier tasks, by their importance there.

    Online elastic weight consolidation: one anchor and one diagonal Fisher information for all earlier tasks, so that
    memory does not grow with their number. Sigmoid outputs, targeted loss, one step of Adam on each row.

    Parameters
    ----------
    hidden_units : int, tuple of int or None, default=None
        Width of the hidden layer, or of each; None is a linear network.
    learning_rate : float, default=0.01
        Length of a step.
    penalty : float, default=100.0
        Strength of the penalty on changes of weights, at least 0. 0 switches it off.
    decay : float, default=1.0
        Factor of the importance of weights after each further task, within [0, 1]. 1 forgets nothing.
    task_rows : int or None, default=None
        Rows after which a task counts as over though the label mask has not changed; for streams whose tasks all have
        the same labels. None: only a change of the mask ends a task.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the network.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    n_labels_ : int
        Number of outputs.
    n_features_in_ : int
        Number of features.
    n_steps_ : int
        Steps taken.

    Notes
    -----
    A row's loss is the mean binary cross-entropy over the labels that count in it, plus

        penalty / 2 * sum_j importance_j * (w_j - anchor_j)**2.

    While a task goes on, the squares of the gradients of the first part are added up, each at the weights of its
    moment. When it is over, the anchor moves to the weights, and importance becomes decay * importance + the mean of
    these squares. Kirkpatrick et al. take the mean over the task's data at its last weights, which a stream, where each
    row occurs once, does not allow.

    A label that is unknown in a row (NaN) is outside its mask, so it ends a task if it was known in the row before.
    Where labels are unknown at random, nearly every row is a task of its own.

    With ``on_new_labels="grow"``, a label that appears ends a task as well. Its weights, newly drawn, have no
    importance yet.

    A step moves every weight, for sparse rows as well. Memory is that of six networks: weights, two moments, anchor,
    importance and squares.

    References
    ----------
    Kirkpatrick et al., "Overcoming catastrophic forgetting in neural networks", PNAS 114(13), 2017.
    Schwarz et al., "Progress & compress: a scalable framework for continual learning", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import EWCClassifier
    >>> X = np.random.default_rng(0).random((500, 3))
    >>> Y = (X > 0.5).astype(int)
    >>> network = EWCClassifier(16, penalty=1000, random_state=0)
    >>> learnt = network.partial_fit(X, Y, label_mask=[True, True, False]).predict(X)[:, :2]
    >>> kept = network.partial_fit(X, Y, label_mask=[False, False, True]).predict(X)[:, :2]
    >>> bool((kept == learnt).mean() > 0.98)
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        hidden_units: int | tuple[int, ...] | None = None,
        *,
        learning_rate: float = 0.01,
        penalty: float = 100.0,
        decay: float = 1.0,
        task_rows: int | None = None,
        dtype: str = "float32",
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.hidden_units = hidden_units
        self.learning_rate = learning_rate
        self.penalty = penalty
        self.decay = decay
        self.task_rows = task_rows
        self.dtype = dtype
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    def _begin_past(self, n_weights: int) -> State:
        return {name: np.zeros(n_weights, dtype=self.dtype) for name in ("anchor", "importance", "squares")}

    def _regularisation(self) -> Regularisation:
        check_number("penalty", self.penalty)
        check_number("decay", self.decay, maximum=1)
        return Regularisation(self.penalty, self.decay, distillation=0, temperature=1)
