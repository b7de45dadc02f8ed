"""Dark experience replay, DER++."""

from typing import Any

import numpy as np

from estimators._typing import Attributes, RandomStateLike
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.parameters import check_number
from estimators.networks._kernel_context import ReusableContext
from estimators.networks._kernels.dark_experience import ExperienceWork, run
from estimators.networks._kernels.state import Batch, CodedRows, Floats, Integers, Network
from estimators.networks._replaying_network import ReplayingNetwork
from estimators.replay.memories import ReplayPlan, ReservoirMemory


class DERClassifier(ReplayingNetwork):
    """A network that replays the labels of earlier rows, and what it predicted when it met them (DER++).

    Sigmoid outputs, targeted loss, one step on each row and on two samples of a reservoir of earlier ones.

    Parameters
    ----------
    hidden_units : int, tuple of int or None, default=None
        Width of the hidden layer, or of each; None is a linear network.
    learning_rate : float, default=0.01
        Length of a step.
    alpha : float, default=0.1
        Weight of the changes of logits in the loss, at least 0. 0 leaves the replay of labels.
    beta : float, default=1.0
        Weight of the labels replayed in the loss, at least 0. 0 is DER without the plusses.
    size : int, default=1000
        Number of rows kept, more than two times `draws`.
    draws : int, default=5
        Number of rows in each of the two samples, drawn with replacement.
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
    With l the mean binary cross-entropy over the labels that count in a row, f the logits, and x', x'' rows of two
    samples, the loss of a step is

        l(f(x), y) + alpha * mean((f(x') - z')**2) + beta * mean(l(f(x''), y'')).

    z are the logits of a row before the step on it. It is put into the reservoir with them afterwards (algorithm R).
    Rows are replayed once more are held than are drawn, with the masks and weights they came with; a weight multiplies
    the squares as well.

    The labels of a stream need not all be there from the start. The logits of a label are stored once it has counted in
    some row: squares of others are outside the mean, so that nothing holds an output where it was drawn. Where all
    labels always count, this is the loss of Buzzega et al., whose code draws without replacement.

    A step moves every weight, for sparse rows as well. Memory is that of three networks and the rows kept.

    References
    ----------
    Buzzega, Boschini, Porrello, Abati, Calderara, "Dark experience for general continual learning: a strong, simple
    baseline", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import DERClassifier
    >>> X = np.random.default_rng(0).random((500, 3))
    >>> Y = (X > 0.5).astype(int)
    >>> network = DERClassifier(16, random_state=0)
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
        alpha: float = 0.1,
        beta: float = 1.0,
        size: int = 1000,
        draws: int = 5,
        optimizer: str = "adam",
        dtype: str = "float32",
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.hidden_units = hidden_units
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.beta = beta
        self.size = size
        self.draws = draws
        self.optimizer = optimizer
        self.dtype = dtype
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    def _make_memory(self) -> ReservoirMemory:
        if self.size <= 2 * self.draws:
            raise ValueError(
                f"size must be greater than two times draws. Got size {self.size} and draws {self.draws} instead."
            )
        return ReservoirMemory(self.size, 2 * self.draws)

    def _start(self) -> None:
        check_number("alpha", self.alpha)
        check_number("beta", self.beta)
        super()._start()
        self._known = np.zeros(self.n_labels_, dtype=bool)
        self._held = np.full((self.size, self.n_labels_), np.nan, dtype=self.dtype)

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        n_new = self.n_labels_ - n_before
        self._known = np.pad(self._known, (0, n_new))
        self._held = np.pad(self._held, ((0, 0), (0, n_new)), constant_values=np.nan)

    def __setstate__(self, state: Attributes) -> None:
        super().__setstate__(state)
        for name in {"_known", "_held"} & state.keys():
            setattr(self, name, np.array(state[name]))

    def _settings(self) -> tuple[Any, ...]:
        return self.alpha, self.beta

    def _owners(self) -> tuple[Any, ...]:
        return self._held, self._known

    def _make_work(self, net: Network, batch: Batch, store: CodedRows, taken: Integers) -> ExperienceWork:
        numbers = map(net.w.dtype.type, (self.alpha, self.beta, np.nan))
        return ExperienceWork(net, batch, store, taken, self._held, self._known, *numbers)

    def _call(self, context: ReusableContext, plan: ReplayPlan, rows: CodedRows, proba: Floats) -> int:
        met = np.empty(rows.codes.shape, self._dtype)
        failed = int(run(context.context, plan.draws, plan.slots.reshape(-1), met, proba, *rows))
        if context.needs.options.learn and failed < 0:
            taken = context.workspace.taken
            written = np.flatnonzero(taken >= 0)
            self._held[written] = met[taken[written]]
        return failed
