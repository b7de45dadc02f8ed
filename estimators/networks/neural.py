"""Online networks with targeted loss and replay, compiled."""

from copy import copy

import numpy as np
from scipy import sparse
from sklearn.utils import Tags, check_random_state

from estimators._typing import Array, Attributes, RandomStateLike
from estimators.contract.new_labels import OnNewLabels, growth_state
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.networks._kernel_context import ContextCache, Needs
from estimators.networks._kernels.one_pass import run
from estimators.networks._kernels.state import LAZY, RATE, CodedRows
from estimators.networks._network_classifier import NetworkClassifier, writable
from estimators.networks._network_options import (
    check_learning_rate,
    check_parameters,
    diverged,
    hidden_widths,
    run_options,
)
from estimators.networks._network_state import (
    State,
    brought_up_to_date,
    draw_state,
    make_workspace,
    with_more_outputs,
)
from estimators.networks._row_store import RowStore, as_rows, empty_store, is_dense, match_store
from estimators.networks._torch_network import device_learning, learn_on_device
from estimators.replay.label_memories import Reservoir
from estimators.replay.memories import FIFOMemory, ReplayPlan, begin_memories, join_plans, no_replay


class OnlineNeuralClassifier(NetworkClassifier):
    """A network that takes one step on each row of the stream, and on rows it replays.

    Sigmoid outputs, binary cross-entropy, ReLU hidden layers, weights drawn as PyTorch's Linear draws them.

    Parameters
    ----------
    hidden_units : int, tuple of int or None, default=None
        Width of the hidden layer, or of each; None is a linear network.
    learning_rate : float, default=0.01
        Length of a step.
    optimizer : {"adam", "sgd"}, default="adam"
        Adam (betas 0.9 and 0.999, eps 1e-8) or plain gradient descent.
    targeted_loss : {"signature", "published"} or None, default=None
        Whether only labels inside `label_mask` count when a row is learnt. "signature" is the mean over those labels;
        "published" divides their sum by the number of all labels, as the published code does. None: all count.
    freeze_masked : bool, default=False
        Whether outputs that no row of a step counts stay as they are. Otherwise Adam's momentum goes on moving them.
        This is as true of labels that are unknown.
    reservoir : ReservoirMemory, PRSMemory, OCDMMemory or None, default=None
        Memory with a sample of all rows, even or balanced by label, drawn from first.
    fifo : FIFOMemory or None, default=None
        Memory of the last rows.
    replay : {"online", "mini-batch"}, default="online"
        Whether the rows drawn are learnt after the current one, a step each, or together with it in one step.
    standardize : bool or "scale", default=False
        Whether features are centred and divided by their deviation, both learnt from the stream; "scale" only divides,
        and so takes sparse rows.
    balance_labels : bool, default=False
        Whether zeros and ones of a label weigh the same in the loss, by how often each has occurred.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the network.
    device : str or None, default=None
        None is the compiled network on the processor; the name of a device as torch has it, such as "cuda", takes the
        same steps there (extra ``torch``), which pays for wide networks and mini-batches of dense rows only. There are
        no `standardize` and `balance_labels` then, and probabilities may differ in their last digits.
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
    A label that is unknown in a row (NaN) does not count in its loss. With a targeted loss it is outside the mask.
    Without one, the sum of the other labels' losses is still divided by the number of all labels, so that it does not
    matter to a label which others are known. A network that grows divides by the number of labels there are: under Adam
    it learns what it would have learnt had it had all its labels from the start, under "sgd" it takes longer steps
    before.

    With sparse rows, a step costs in proportion to the features that are not zero. Under Adam, weights of the others
    skip steps, which are taken together when the weights are next needed. This is exact up to rounding: in float64 the
    probabilities stay within 1e-9 of those learnt from the same rows made dense.

    References
    ----------
    Hugo Peuzet, Pascale Kuntz, Frank Meyer, Vincent Lemaire, Killian Le Mau, "Apprentissage multi-labels et
    multi-tâches en continu pour données tabulaires", EGC 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OnlineNeuralClassifier, ReservoirMemory
    >>> X = np.random.default_rng(0).random((500, 3))
    >>> Y = (X > 0.5).astype(int)
    >>> network = OnlineNeuralClassifier(16, reservoir=ReservoirMemory(100), random_state=0)
    >>> Y_pred, Y_proba = network.predict_then_fit(X, Y)
    >>> bool((Y_pred[-100:] == Y[-100:]).mean() > 0.9)
    True
    """

    def __init__(  # noqa: PLR0913 - each is one choice of the strategies
        self,
        hidden_units: int | tuple[int, ...] | None = None,
        *,
        learning_rate: float = 0.01,
        optimizer: str = "adam",
        targeted_loss: str | None = None,
        freeze_masked: bool = False,
        reservoir: Reservoir | None = None,
        fifo: FIFOMemory | None = None,
        replay: str = "online",
        standardize: bool | str = False,
        balance_labels: bool = False,
        dtype: str = "float32",
        device: str | None = None,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.hidden_units = hidden_units
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.targeted_loss = targeted_loss
        self.freeze_masked = freeze_masked
        self.reservoir = reservoir
        self.fifo = fifo
        self.replay = replay
        self.standardize = standardize
        self.balance_labels = balance_labels
        self.dtype = dtype
        self.device = device
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: with a targeted loss."""
        return self.targeted_loss is not None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.device is None
        return tags

    # ------------------------------------------------------------------ hooks
    @property
    def _traits(self) -> Traits:
        # a device may run out of memory
        return super()._traits._replace(learns_unknown=True, fails_late=self.device is not None)

    def _start(self) -> None:
        check_parameters(self)
        random_state = check_random_state(self.random_state)
        sizes = (self.n_features_in_, *hidden_widths(self.hidden_units), self.n_labels_)
        self._state = draw_state(sizes, self.dtype, random_state, freeze=self.freeze_masked)
        self._memories = begin_memories(self.reservoir, self.fifo, random_state)
        self._store: RowStore | None = None
        self._contexts = ContextCache()

    def _grow(self, n_before: int) -> None:
        n_new = self.n_labels_ - n_before
        is_mean = self.targeted_loss != "signature"
        self._state = with_more_outputs(self._state, n_new, growth_state(self, n_before), is_mean=is_mean)
        self._store = None if self._store is None else self._store.with_more_labels(n_new)
        self._contexts = ContextCache()

    def __setstate__(self, state: Attributes) -> None:
        super().__setstate__(state)
        if "_state" in state:
            self._state = writable(state["_state"])
        if state.get("_store") is not None:
            self._store = state["_store"].copy()

    def _predict_proba(self, X: Features) -> Array:
        state, contexts = self._state, self._contexts
        if state["clock"][LAZY]:
            features, X = _compact(X)
            state, contexts = brought_up_to_date(state, features), ContextCache()
        rows = as_rows(X, np.zeros((X.shape[0], self.n_labels_), np.uint8), None, None, self._dtype)
        nothing = empty_store(self.n_labels_, self._dtype), no_replay(len(rows.weight))
        return self._run(contexts, state, rows, *nothing, learn=False)

    def _pass(self, X: Features, Y: Array, mask: Array | None, weight: Array | None) -> Array:
        """Predict each row, then learn it. All that can be refused is refused before anything changes."""
        check_learning_rate(self.learning_rate, self._state["w"].dtype)
        if self.device is not None:
            check_parameters(self)
            if isinstance(X, sparse.csr_array):
                raise ValueError("X must be dense on a device. Got sparse rows instead.")
        X, store = self._match_store(X)
        rows = as_rows(X, Y, mask, weight, self._dtype)
        # a device may fail halfway, the compiled loop only diverges
        memories = self._memories if self.device is None else [copy(memory) for memory in self._memories]
        plan = join_plans(memories, rows.codes, rows.weight > 0) if memories else no_replay(len(rows.weight))
        kept = store.as_rows() if store else empty_store(self.n_labels_, self._dtype)
        if self.device is None:
            proba = self._learn_compiled(rows, kept, plan)
        else:
            proba, self._state = learn_on_device(device_learning(self), self._state, rows, kept, plan)
        if store:
            store.keep(rows, plan.slots)
        self._memories, self._store = memories, store
        return proba

    def _learn_compiled(self, rows: CodedRows, kept: CodedRows, plan: ReplayPlan) -> Array:
        clock = self._state["clock"]
        if clock[LAZY] and (clock[RATE] != self.learning_rate or is_dense(rows) or self.optimizer != "adam"):
            self._state = brought_up_to_date(self._state)
        return self._run(self._contexts, self._state, rows, kept, plan, learn=True)

    def _run(
        self, contexts: ContextCache, state: State, rows: CodedRows, store: CodedRows, plan: ReplayPlan, *, learn: bool
    ) -> Array:
        options = run_options(self, dense=is_dense(rows), learn=learn)
        # rows learnt together are processed by fours, others by pairs: one is learnt, the next one predicted
        n_rows = (4 + plan.draws.shape[1]) // 4 * 4 if self.replay == "mini-batch" else min(1 + plan.draws.shape[1], 2)
        needs = Needs(options, (n_rows,), (state, store.starts))
        context = contexts.take(needs, rows, lambda: make_workspace(state, options, rows, store, n_rows))
        proba = np.empty(rows.codes.shape, self._dtype)
        failed = run(context.context, *plan, proba.reshape(-1), *rows)
        if failed >= 0:
            raise diverged(rows, failed, self.learning_rate)
        contexts.put_back(context)
        return proba

    def _match_store(self, X: Features) -> tuple[Features, RowStore | None]:
        """Return the rows as they are kept for replay, dense or sparse, and their store; sparse once any row was."""
        if not self._memories:
            return X, None
        size = sum(memory.size for memory in self._memories)
        return match_store(X, self._store, size, self.n_labels_, self._dtype)


def _compact(X: Features) -> tuple[Array | None, Features]:
    """Return the features that occur in sparse rows, and the rows with these features only; dense rows have all."""
    if not isinstance(X, sparse.csr_array):
        return None, X
    features, indices = np.unique(X.indices, return_inverse=True)
    return features, sparse.csr_array((X.data, indices, X.indptr), shape=(X.shape[0], len(features)))
