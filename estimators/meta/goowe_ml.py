"""GOOWE-ML: an ensemble of multi-label classifiers of different age, weighed by least squares."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Estimator, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier, check_precision
from estimators.contract.batching import blocks
from estimators.contract.categories import placed
from estimators.contract.failed_calls import DivergedError, check_not_diverged
from estimators.contract.seeding import clone_with_seed
from estimators.contract.traits import Traits, traits_of
from estimators.contract.validation import Features
from estimators.meta._kernels.combining import add_products, combine_scores, rescale
from estimators.meta._stack_members import predict_all
from estimators.meta._wrapped import takes_sparse
from estimators.replay._kept_rows import KeptRows, join, learn, take
from metrics.validation import require_integer

# Least squares whose condition is worse than this have no solution that means anything.
_WORST_CONDITION = 1e12


class GOOWEMLClassifier(MetaEstimatorMixin, StreamClassifier):
    """Learn chunk after chunk with classifiers of different age, weighed by how well their scores fit the last chunk.

    Parameters
    ----------
    estimator : StreamClassifier or None, default=None
        The classifier of labels of which each member is a copy: `BinaryRelevance`, `ClassifierChain` or
        `LabelCombination` around a tree are those of the paper. None: ``BinaryRelevance(HoeffdingTreeClassifier())``.
    chunk_size : int, default=100
        Number of rows after which members are weighed and trained.
    n_members : int, default=10
        Largest number of members.
    random_state : int, RandomState instance or None, default=None
        Draws seeds for each member; None keeps the seeds of the estimator.

    Attributes
    ----------
    estimators_ : list of StreamClassifier
        The members.
    weights_ : ndarray of shape (n_members,)
        Their weights, from 0 to 1.

    Notes
    -----
    The scores of a member for a row are its probabilities minus the least of them, divided by their sum; if all are
    alike, 1/L for each of the L labels. The scores of the ensemble are made of the weighted sums in the same way, and
    labels with more than 1/L are predicted. As probability of a label we return r / (r + 1/L) for a score r, which is
    greater than 1/2 if the label is predicted. Of one class a row, the scores are the probabilities, and the class with
    the greatest one is predicted. Before the first chunk is complete, no label is predicted.

    When a chunk is complete, the weights w of its scores s minimise ``sum (sum_k w_k s_k - y)^2`` over all rows and
    labels of the chunk, and are brought into [0, 1] linearly. (If there is no one solution, all are 1; while there is
    one member, it has weight 1.) A new member learns the chunk, takes the place of the member of least weight
    if there are `n_members`, and has weight 1. Then all members learn the chunk, the last rows first, the new one for
    the second time. So does the code of the authors.

    A single label is learnt with its contrary as second label: with one label alone every score is 1. Unknown labels
    (NaN) and, around a classifier that uses the task, labels outside the mask are left out of the sums, and are
    unknown to the members. Scores compare the labels of a row, so that new labels cannot be taken in later:
    announce all at the first call.

    Rows wait for the end of their chunk; `fit` learns what is left of it. Cuts into calls do not matter. Members are
    copied before they learn a chunk if they may fail after the rows are checked.

    References
    ----------
    Büyükçakir, Bonab, Can, "A novel online stacked ensemble for multi-label stream classification", CIKM 2018.
    Bonab, Can, "GOOWE: geometrically optimum and online-weighted ensemble classifier for evolving data streams", ACM
    Transactions on Knowledge Discovery from Data 12(2), 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import GOOWEMLClassifier
    >>> X = np.random.default_rng(0).random((600, 3))
    >>> Y = X > 0.6
    >>> learner = GOOWEMLClassifier(chunk_size=50, n_members=3)
    >>> Y_pred, _ = learner.predict_then_fit(X, Y)
    >>> round(float((Y_pred[300:] == Y[300:]).mean()), 2), learner.weights_.shape
    (0.88, (3,))
    """

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        chunk_size: int = 100,
        n_members: int = 10,
        random_state: RandomStateLike = None,
    ) -> None:
        self.estimator = estimator
        self.chunk_size = chunk_size
        self.n_members = n_members
        self.random_state = random_state

    # ------------------------------------------------------------------- facts
    @property
    def _model(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from estimators.meta.binary_relevance import BinaryRelevance
        from estimators.trees.hoeffding import HoeffdingTreeClassifier

        return BinaryRelevance(HoeffdingTreeClassifier())

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: as for the classifier inside."""
        return bool(getattr(self._model, "uses_task", False))

    @property
    def _traits(self) -> Traits:
        inside = traits_of(self._model)
        return Traits(takes_codes=True, learns_unknown=inside.learns_unknown, fails_late=inside.fails_late)

    @property
    def _rows_to_compile(self) -> int:
        # two members have scores when the third chunk is complete
        return 3 * int(self.chunk_size) + 1

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self._model)
        return tags

    # ------------------------------------------------------------------- hooks
    def _start(self) -> None:
        self._check_model()
        self._chunk_size = require_integer(self.chunk_size, "chunk_size", minimum=1)
        self._n_places = require_integer(self.n_members, "n_members", minimum=1)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_columns = self.n_labels_ if self._target.multilabel else len(self.classes_)
        self._width = max(n_columns, 2)
        self.estimators_: list[StreamClassifier] = []
        self.weights_ = np.zeros(0)
        self._n_trained = 0
        self._waiting: KeptRows | None = None

    def _check_inside(self, X: Features) -> None:
        for one in getattr(self, "estimators_", []):
            check_not_diverged(one)
        check_precision(self._model, X)

    def _at_risk_in_runs(self, X: Features) -> list[str]:
        check_precision(self, X)
        return []

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self._pass(X, Y, mask, weight, testing=False)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        return self._answer(np.concatenate(self._pass(X, Y, mask, None, testing=True)))

    def _end_fit(self) -> None:
        if self._waiting is not None:
            self.estimators_, self.weights_ = self._trained(self.estimators_, self.weights_, self._waiting)
            self._waiting = None
            self._n_trained += 1

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self._answer(_combined(self.estimators_, self.weights_, X, self._width))

    def _infer_each(self, X: Features) -> tuple[Array, Array]:
        return self._answer(_combined(self.estimators_, self.weights_, X, self._width, each=True))

    # ------------------------------------------------------------------- parts
    def _check_model(self) -> None:
        if not isinstance(self._model, StreamClassifier):
            raise TypeError(f"estimator must be a StreamClassifier of labels. Got {self._model!r} instead.")

    def _pass(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, *, testing: bool) -> list[Array]:
        """Predict rows if `testing`, and learn them, up to the end of each chunk; keep all if nothing fails."""
        self._check_model()
        rows = self._as_rows(X, Y, mask, weight)
        members, weights, waiting = self.estimators_, self.weights_, self._waiting
        learnt = np.flatnonzero(rows.weight > 0)
        room = self._chunk_size - (0 if waiting is None else len(waiting.weight))
        ends = range(room, len(learnt) + 1, self._chunk_size)
        predicted, start, done = [], 0, 0
        for end in ends:
            stop = int(learnt[end - 1]) + 1
            if testing:
                predicted.append(_combined(members, weights, rows.X[start:stop], self._width, each=True))
            chunk = _after(waiting, take(rows, learnt[done:end]))
            members, weights = self._trained(members, weights, chunk)
            self._n_trained += 1
            waiting, start, done = None, stop, end
        if testing:
            predicted.append(_combined(members, weights, rows.X[start:], self._width, each=True))
        if done < len(learnt):
            waiting = _after(waiting, take(rows, learnt[done:]))
        self.estimators_, self.weights_, self._waiting = members, weights, waiting
        return predicted

    def _trained(
        self, members: list[StreamClassifier], weights: Array, chunk: KeptRows
    ) -> tuple[list[StreamClassifier], Array]:
        """Return members and weights after a chunk: weighed, the worst replaced by a new one, and all trained."""
        members, weights = list(members), np.ones(len(members))
        if len(members) > 1:
            Y = chunk.Y if chunk.mask is None else np.where(chunk.mask, chunk.Y, np.uint8(UNKNOWN))
            weights = _least_squares(_scores(members, chunk.X), Y, chunk.weight)
        newcomer = self._newcomer(chunk)
        if len(members) < self._n_places:
            members.append(newcomer)
            weights = np.append(weights, 1.0)
        else:
            worst = int(weights.argmin())
            members[worst], weights[worst] = newcomer, 1.0
        newest_first = take(chunk, np.arange(len(chunk.weight))[::-1])
        return [learn(deepcopy(one) if self._traits.fails_late else one, newest_first) for one in members], weights

    def _newcomer(self, chunk: KeptRows) -> StreamClassifier:
        seed = None if self.random_state is None else RandomState([self._seed, self._n_trained])
        one: StreamClassifier = clone_with_seed(placed(self._model, self), seed)
        try:
            return learn(one.begin(chunk.X[:1], np.zeros((1, self._width), dtype=int), self._width), chunk)
        except DivergedError as error:
            # it is dropped with its mark, while members that are not copied may have learnt chunks of this call
            error.is_marked = self._traits.fails_late
            raise

    def _as_rows(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> KeptRows:
        """Return rows with labels as columns, at least two of them."""
        if Y.ndim == 1:
            Y = (Y[:, np.newaxis] == np.arange(self._width)).astype(np.uint8)
        elif self._width > Y.shape[1]:
            Y = np.hstack([Y, np.where(Y == UNKNOWN, Y, 1 - Y)])
            mask = None if mask is None else np.hstack([mask, mask])
        if mask is None and self.uses_task:
            mask = np.ones(Y.shape, dtype=bool)
        return KeptRows(X, Y, mask, np.ones(len(Y)) if weight is None else weight)

    def _answer(self, scores: Array) -> tuple[Array, Array]:
        """Return what is predicted, and probabilities, from the scores of the ensemble."""
        if not self._target.multilabel:
            return scores.argmax(axis=1), scores[:, : len(self.classes_)]
        usual = 1.0 / self._width
        return (scores > usual)[:, : self.n_labels_], (scores / (scores + usual))[:, : self.n_labels_]


def _after(waiting: KeptRows | None, rows: KeptRows) -> KeptRows:
    return rows if waiting is None else join(waiting, rows)


def _scores(members: list[StreamClassifier], X: Features, *, each: bool = False) -> Array:
    """Return the scores of each member: (n_members, n_rows, n_labels), each row as if alone if `each`."""
    scores = predict_all([("", one) for one in members], X, each=each)
    for votes in scores:
        rescale(votes)
    return scores


def _combined(members: list[StreamClassifier], weights: Array, X: Features, width: int, *, each: bool = False) -> Array:
    """Return the scores of the ensemble: (n_rows, n_labels); 0 before it has members."""
    combined = np.zeros((X.shape[0], width))
    for rows in blocks(X) if members else ():
        combine_scores(_scores(members, X[rows], each=each), weights, combined[rows])
    return combined


def _least_squares(scores: Array, Y: Array, weight: Array) -> Array:
    """Return weights of members from 0 to 1, by the least squares of their scores and the labels."""
    n_members = len(scores)
    products, targets = np.zeros((n_members, n_members)), np.zeros(n_members)
    add_products(scores, np.ascontiguousarray(Y), weight, products, targets)
    if not np.linalg.cond(products) < _WORST_CONDITION:
        return np.ones(n_members)
    weights = np.linalg.solve(products, targets)
    low, high = weights.min(), weights.max()
    return (weights - low) / (high - low) if high > low else weights
