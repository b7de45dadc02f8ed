"""Averaged gradient episodic memory, A-GEM."""

import numpy as np

from estimators._typing import RandomStateLike
from estimators.contract.new_labels import OnNewLabels
from estimators.networks._kernel_context import ReusableContext
from estimators.networks._kernels.episodes import EpisodicWork, run
from estimators.networks._kernels.state import Batch, CodedRows, Floats, Integers, Network
from estimators.networks._replaying_network import ReplayingNetwork
from estimators.replay.memories import ReplayPlan, TaskMemory
from metrics.validation import require_integer


class AGEMClassifier(ReplayingNetwork):
    """A network whose steps may not raise the loss on rows of earlier tasks (A-GEM).

    Averaged gradient episodic memory: the part of a gradient that points against that of a sample of earlier tasks is
    taken out of it. Sigmoid outputs, targeted loss, one step on each row.

    Parameters
    ----------
    hidden_units : int, tuple of int or None, default=None
        Width of the hidden layer, or of each; None is a linear network.
    learning_rate : float, default=0.01
        Length of a step.
    size : int, default=1000
        Number of rows kept, of which all tasks have equal parts, more than `draws`.
    draws : int, default=10
        Number of rows of earlier tasks in a sample, drawn with replacement.
    task_rows : int or None, default=None
        Rows after which a task counts as over though the label mask has not changed; for streams whose tasks all have
        the same labels. None: only a change of the mask ends a task.
    optimizer : {"adam", "sgd"}, default="adam"
        Adam (betas 0.9 and 0.999, eps 1e-8) or plain gradient descent.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the network, and of the rows kept.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights and of the draws.
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
    With g the gradient of the mean binary cross-entropy over the labels that count in a row, and r that of the mean of
    these losses over the sample, g becomes g - (g.r / r.r) r where g.r < 0. Under plain descent such a step leaves the
    loss on the sample as it was, to first order; Adam takes the step along its moments, to which this is not true.

    Rows of the present task are kept, a uniform sample of them, but not drawn before it is over. Task number t has
    size // t slots; rows of earlier tasks go for them at random, those of the largest first. Where there are more tasks
    than slots, each is held, by one row, with probability size / t. (Other code knows the number of tasks in advance,
    or keeps one batch of each.)

    A label that is unknown in a row (NaN) is outside its mask, so it ends a task if it was known in the row before.
    Where labels are unknown at random, nearly every row is a task of its own, and the memory a reservoir.

    With ``on_new_labels="grow"``, a label that appears ends a task as well.

    A step moves every weight, for sparse rows as well. Memory is that of three networks and the rows kept.

    References
    ----------
    Chaudhry, Ranzato, Rohrbach, Elhoseiny, "Efficient lifelong learning with A-GEM", ICLR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import AGEMClassifier
    >>> X = np.random.default_rng(0).random((500, 3))
    >>> Y = (X > 0.5).astype(int)
    >>> network = AGEMClassifier(16, random_state=0)
    >>> learnt = network.partial_fit(X, Y, label_mask=[True, True, False]).predict(X)[:, :2]
    >>> kept = network.partial_fit(X, Y, label_mask=[False, False, True]).predict(X)[:, :2]
    >>> bool((kept == learnt).mean() > 0.9)
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        hidden_units: int | tuple[int, ...] | None = None,
        *,
        learning_rate: float = 0.01,
        size: int = 1000,
        draws: int = 10,
        task_rows: int | None = None,
        optimizer: str = "adam",
        dtype: str = "float32",
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.hidden_units = hidden_units
        self.learning_rate = learning_rate
        self.size = size
        self.draws = draws
        self.task_rows = task_rows
        self.optimizer = optimizer
        self.dtype = dtype
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    def _make_memory(self) -> TaskMemory:
        if self.task_rows is not None:
            require_integer(self.task_rows, "task_rows", 1)
        return TaskMemory(self.size, self.draws, task_rows=self.task_rows)

    def _make_work(self, net: Network, batch: Batch, store: CodedRows, taken: Integers) -> EpisodicWork:
        return EpisodicWork(net, batch, store, taken, np.empty_like(net.w))

    def _call(self, context: ReusableContext, plan: ReplayPlan, rows: CodedRows, proba: Floats) -> int:
        return int(run(context.context, plan.draws, plan.slots.reshape(-1), proba, *rows))
