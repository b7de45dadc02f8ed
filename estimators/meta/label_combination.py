"""Label combination: every set of labels is one class, rare sets pruned."""

from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Estimator, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier, check_precision
from estimators.contract.categories import placed
from estimators.contract.locks import lock_of
from estimators.contract.targets import has_unknown
from estimators.contract.traits import Traits, traits_of
from estimators.contract.validation import Features
from estimators.meta._kernels.combining import combine
from estimators.meta._pruned_sets import LearningStep, PrunedSets
from estimators.meta._wrapped import Prediction, infer_each, make_members, takes_sparse
from estimators.trees._kernels.hoeffding import SKIP
from metrics.validation import require_choice, require_integer

BLOCK = 512


class LabelCombination(MetaEstimatorMixin, StreamClassifier):
    """Learn the label set of a row as one class among the label sets that have occurred.

    A set is learnt once it has occurred more than `pruning` times. A row whose set is rarer waits: it is learnt when
    its set becomes frequent, or, when more than `buffer_size` rows wait, with the largest frequent subset of its set.

    Parameters
    ----------
    estimator : estimator instance
        Any scikit-learn classifier with ``partial_fit``; codes 0..max_combinations-1 are announced to it.
    pruning : int, default=0
        Number of occurrences after which a set is learnt; 0 prunes nothing.
    buffer_size : int, default=1000
        Number of rows of rare sets that may wait. With 0, they are learnt at once with their frequent subset.
    max_combinations : int, default=512
        Number of sets that can be learnt; rows of later sets count as rare.
    decisions : {'best-set', 'published'}, default='best-set'
        'best-set': the labels of the most probable set. 'published': as in published tables and River, all labels are
        inverted, present to absent and absent to present, where that set has a probability below one half.
    random_state : int, RandomState instance or None, default=None
        Draws the seeds of the copy of the estimator; None keeps its own.

    Attributes
    ----------
    n_sets_ : int
        Number of label sets that can be predicted.

    Notes
    -----
    The prediction is the most probable set. Probabilities are marginals: P(label) sums the probabilities of the sets
    that contain the label, so that a label may be predicted against its own probability. Classes without a set yet do
    not count. Before any set has been learnt, the empty set is predicted.

    A row of which any label is unknown (NaN) is not learnt, because its set is unknown. Learning it with the only set
    that agrees with its known labels would take its unknown labels for absent or present just because no other set has
    occurred yet. Where many rows are incomplete, `BinaryRelevance` learns more from them.

    Read et al. collect a first batch of rows, then fix the frequent sets; in a stream, sets become frequent one by one.
    Counts of rare sets are kept for as many sets as may be learnt, and wait; past that, all counts are halved. A row
    whose set has no frequent subset but the empty one is not learnt.

    Before each call the copy of the estimator is copied, as in `BinaryRelevance`, in case it fails.

    References
    ----------
    Read, Pfahringer and Holmes, Multi-label classification using ensembles of pruned sets, ICDM 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.meta.label_combination import LabelCombination
    >>> from estimators.trees.hoeffding import HoeffdingTreeClassifier
    >>> X = np.random.default_rng(0).random((600, 1))
    >>> learner = LabelCombination(HoeffdingTreeClassifier()).fit(X, np.hstack([X > 0.3, X > 0.7]))
    >>> learner.predict([[0.1], [0.5], [0.9]])
    array([[0, 0],
           [1, 0],
           [1, 1]])
    """

    _traits = Traits(learns_unknown=True)

    def __init__(
        self,
        estimator: Estimator,
        *,
        pruning: int = 0,
        buffer_size: int = 1000,
        max_combinations: int = 512,
        decisions: Literal["best-set", "published"] = "best-set",
        random_state: RandomStateLike = None,
    ) -> None:
        self.estimator = estimator
        self.pruning = pruning
        self.buffer_size = buffer_size
        self.max_combinations = max_combinations
        self.decisions = decisions
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.estimator)
        return tags

    @property
    def n_sets_(self) -> int:
        """Number of label sets that can be predicted."""
        with lock_of(self):
            return self._sets.n_known

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        for name, minimum in (("pruning", 0), ("buffer_size", 0), ("max_combinations", 2)):
            require_integer(getattr(self, name), name, minimum)
        require_choice(self.decisions, "decisions", ("best-set", "published"))
        seed = None if self.random_state is None else check_random_state(self.random_state)
        self._sets = PrunedSets(self.n_labels_, self.pruning, self.buffer_size, self.max_combinations)
        [self._model] = make_members(
            placed(self.estimator, self), 1, [self.n_features_in_], self.max_combinations, seed
        )

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:  # noqa: ARG002
        return ["_sets", "_model"] if traits_of(self.estimator).fails_late else []

    def _check_inside(self, X: Features) -> None:
        check_precision(self.estimator, X)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        if has_unknown(Y):
            complete = _complete(Y)
            X, Y, weight = X[complete], Y[complete], None if weight is None else weight[complete]
        own = self._sets.codes_of_known_sets(Y) if weight is None else None
        if own is not None:
            self._model.announce(self._sets.n_known)
            self._model.learn(X, own[0])
            return
        steps = self._sets.process(X, Y, weight)
        rows, codes, weights = _learnt(X, steps)
        self._model.announce(self._sets.n_known)
        if len(codes):
            self._model.learn(rows, codes, None if weight is None else weights)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        if len(Y) == 1:
            return self._test_then_train(X, Y)
        parts = [self._test_then_train(X[a : a + BLOCK], Y[a : a + BLOCK]) for a in range(0, X.shape[0], BLOCK)]
        return np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts])

    def _infer(self, X: Features) -> tuple[Array, Array]:
        parts = [self._model.predict(X[a : a + BLOCK]) for a in range(0, X.shape[0], BLOCK)]
        decided = [self._decide(part, np.full(len(part[0]), self._sets.n_known)) for part in parts]
        return np.concatenate([part for part, _ in decided]), np.concatenate([part for _, part in decided])

    def _infer_each(self, X: Features) -> Prediction:
        return infer_each(self.estimator, self._infer, X)

    # ------------------------------------------------------------------ parts
    def _test_then_train(self, X: Features, Y: Array) -> tuple[Array, Array]:
        """Predict a row at the first of its learning steps, and learn one row, or none, at each step."""
        known_before, is_complete = self._sets.n_known, not has_unknown(Y)
        own = self._sets.codes_of_known_sets(Y) if is_complete else None
        if own is not None:
            codes, n_known = own
            self._model.announce(self._sets.n_known)
            return self._decide(self._model.predict_then_learn(X, codes), n_known)
        steps = self._sets.process(X, Y, _complete(Y).astype(np.float64))
        self._model.announce(self._sets.n_known)
        if all(len(step.rows) == 1 and step.is_own for step in steps):
            prediction = self._model.predict_then_learn(X, np.array([step.codes[0] for step in steps]))
        else:
            row_of_step = np.repeat(np.arange(X.shape[0]), [max(len(step.rows), 1) for step in steps])
            first = np.searchsorted(row_of_step, np.arange(X.shape[0]))
            rows, codes, _ = _learnt(X, steps, one_each=True)
            decided, votes = self._model.predict_then_learn(rows, codes, X[row_of_step])
            prediction = decided[first], votes[first]
        return self._decide(prediction, np.array([known_before] + [step.n_known for step in steps[:-1]]))

    def _decide(self, prediction: Prediction, n_known: Array) -> tuple[Array, Array]:
        """Return the most probable of the sets known at each row, and the marginals over them."""
        votes = np.ascontiguousarray(prediction[1], dtype=np.float64)
        decided, proba = np.zeros((len(votes), self.n_labels_), bool), np.zeros((len(votes), self.n_labels_))
        doubt = 0.5 if self.decisions == "published" else 0.0
        combine(votes, n_known, self._sets.table(), doubt, decided, proba)
        return decided, proba


def _complete(Y: Array) -> Array:
    """Return which rows have no unknown label: the set of any other row is unknown."""
    return (Y != UNKNOWN).all(axis=1)


def _learnt(X: Features, steps: list[LearningStep], *, one_each: bool = False) -> tuple[Features, Array, Array]:
    """Collect rows, codes and weights of steps; `one_each`: a step without rows gets one that is skipped."""
    rows: list[Any] = []
    codes: list[int] = []
    weights: list[float] = []
    for i, step in enumerate(steps):
        if one_each and not len(step.rows):
            rows.append(X[i : i + 1])
            codes.append(SKIP)
            weights.append(0.0)
        rows += step.rows
        codes += step.codes
        weights += step.weights
    stack = sparse.vstack if isinstance(X, sparse.csr_array) else np.vstack
    return (stack(rows) if rows else X[:0]), np.array(codes, dtype=np.int64), np.array(weights)
