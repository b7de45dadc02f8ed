"""Learning without forgetting, on a stream."""

import numpy as np

from estimators._typing import RandomStateLike
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.parameters import check_number
from estimators.networks._kernels.regularised import Regularisation
from estimators.networks._network_state import State
from estimators.networks._regularised_network import RegularisedNetwork


class LwFClassifier(RegularisedNetwork):
    """A network that keeps predicting, for labels absent from the present task, what it predicted before the task.

    Learning without forgetting: when a task is over, a copy of the network is kept; its predictions for the rows of
    the next task are the targets of the outputs of absent labels. Sigmoid outputs, targeted loss, one step of Adam on
    each row.

    Parameters
    ----------
    hidden_units : int, tuple of int or None, default=None
        Width of the hidden layer, or of each; None is a linear network.
    learning_rate : float, default=0.01
        Length of a step.
    distillation : float, default=1.0
        Weight of the old predictions in the loss, at least 0. 0 forgets as any network does.
    temperature : float, default=2.0
        Divisor of the logits before predictions are compared, at least 1; a higher temperature gives more weight to
        predictions that were nearly certain.
    task_rows : int or None, default=None
        Rows after which a task counts as over though the label mask has not changed. None: only a change of the mask
        ends a task.
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

        distillation * temperature**2 * mean_k cross_entropy(q_k, p_k)

    over the labels k of earlier tasks that do not count in it. p_k and q_k are the probabilities of the network and of
    its copy, their logits divided by the temperature: with p the probability, p**(1/T) / (p**(1/T) + (1-p)**(1/T)),
    which is the formula of Li and Hoiem for two classes, the label and its absence. The square keeps the size of the
    gradient, as Hinton et al. advise.

    A label that is unknown in a row (NaN) is outside its mask, so it ends a task if it was known in the row before.
    Where labels are unknown at random, the copy is nearly as new as the network, and protects nothing.

    With ``on_new_labels="grow"``, a label that appears ends a task as well. The copy predicts nothing for it until a
    task that has it is over.

    A label that every task has is never absent, and so is not distilled. A step moves every weight, for sparse rows as
    well. Memory is that of four networks: weights, two moments and the copy.

    References
    ----------
    Li, Hoiem, "Learning without forgetting", ECCV 2016.
    Hinton, Vinyals, Dean, "Distilling the knowledge in a neural network", 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import LwFClassifier
    >>> X = np.random.default_rng(0).random((500, 3))
    >>> Y = (X > 0.5).astype(int)
    >>> network = LwFClassifier(16, random_state=0)
    >>> learnt = network.partial_fit(X, Y, label_mask=[True, True, False]).predict(X)[:, :2]
    >>> kept = network.partial_fit(X, Y, label_mask=[False, False, True]).predict(X)[:, :2]
    >>> bool((kept == learnt).mean() > 0.95)
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        hidden_units: int | tuple[int, ...] | None = None,
        *,
        learning_rate: float = 0.01,
        distillation: float = 1.0,
        temperature: float = 2.0,
        task_rows: int | None = None,
        dtype: str = "float32",
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.hidden_units = hidden_units
        self.learning_rate = learning_rate
        self.distillation = distillation
        self.temperature = temperature
        self.task_rows = task_rows
        self.dtype = dtype
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    def _begin_past(self, n_weights: int) -> State:
        sizes = {"anchor": n_weights, "importance": 0, "squares": 0}
        return {name: np.zeros(size, dtype=self.dtype) for name, size in sizes.items()}

    def _regularisation(self) -> Regularisation:
        check_number("distillation", self.distillation)
        check_number("temperature", self.temperature, minimum=1)
        return Regularisation(penalty=0, decay=1, distillation=self.distillation, temperature=self.temperature)
