"""Models of classes 0..n-1 inside meta-estimators: compiled trees, our learners, or any other with `partial_fit`."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from typing import Any, Protocol, TypeVar

import joblib
import numpy as np
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.utils import get_tags

from estimators._typing import Array, Estimator
from estimators.contract.base import StreamClassifier
from estimators.contract.explanations import Terms, inner_terms
from estimators.contract.seeding import clone_with_seed
from estimators.contract.unknown_labels import runs
from estimators.contract.validation import Features
from estimators.trees._explanations import explain_bank
from estimators.trees._kernels.hoeffding import SKIP
from estimators.trees._tree_bank import TreeBank, has_bank

T = TypeVar("T")
Prediction = tuple[Array, Array]


class Member(Protocol):
    """A model that learns codes, some of them `SKIP`, and predicts codes and votes (n_rows, n_classes).

    Before it has learnt a row it predicts from its start state, or, if it has none, code 0 and votes 0.
    """

    def announce(self, n_classes: int) -> None:
        """Announce that rows and predictions are of the first n_classes only from now on."""

    def learn(self, X: Features, codes: Array, weight: Array | None = None) -> None:
        """Learn rows in order."""

    def predict(self, X: Features) -> Prediction:
        """Predict rows."""

    def predict_then_learn(
        self, X: Features, codes: Array, X_predict: Features | None = None, *, weight: Array | None = None
    ) -> Prediction:
        """Predict each row of `X_predict`, or of X, then learn that row of X."""


def make_members(
    estimator: Estimator, n_members: int, n_features: Sequence[int], n_classes: int, seed: RandomState | None
) -> list[Member]:
    """Return untrained members, clones of an estimator, each with its own seed; None leaves the seeds as they are.

    The estimator is a scikit-learn classifier with ``partial_fit``. `n_features` holds a number for each member.
    """
    if not hasattr(estimator, "partial_fit") or isinstance(estimator, type):
        raise ValueError(f"estimator must be a classifier instance with partial_fit. Got {estimator!r} instead.")
    return [_make(estimator, seed, width, n_classes) for width in list(n_features)[:n_members]]


def takes_sparse(estimator: object) -> bool:
    """Return whether the tags of an estimator allow CSR; anything that is not an estimator is refused later."""
    tagged = hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)
    return bool(get_tags(estimator).input_tags.sparse) if tagged else True


def in_threads(work: Callable[[int], T], n_members: int, n_jobs: int | None) -> list[T]:
    """Call work(0), work(1), ... in threads, and return the results."""
    # joblib takes as long to find the number of processors as a tree to learn a row
    n_threads = 1 if n_members == 1 else min(joblib.effective_n_jobs(n_jobs), n_members)
    if n_threads <= 1:
        return [work(j) for j in range(n_members)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, range(n_members)))


def explained_members(members: Sequence[Member], tables: Sequence[Features]) -> list[Terms] | None:
    """Return the terms of the second of two classes of each member, for a table each; None if any has none."""
    found = [_explained(member, X) for member, X in zip(members, tables, strict=True)]
    terms = [of_one for of_one in found if of_one is not None]
    return terms if len(terms) == len(found) else None


def _explained(member: Member, X: Features) -> Terms | None:
    if isinstance(member, TreeMember):
        return explain_bank(member.bank, X, of_classes=False)
    inner = getattr(member, "estimator", None)
    terms = inner_terms(inner, X) if isinstance(inner, StreamClassifier) else None
    return None if terms is None else terms.of_last()


def infer_each(estimator: object, infer: Callable[[Features], Prediction], X: Features) -> Prediction:
    """Predict rows that are not learnt as the rows around them: those of other packages one by one, for equal bits."""
    if isinstance(estimator, StreamClassifier):
        return infer(X)
    return _joined([infer(X[i : i + 1]) for i in range(X.shape[0])])


def _make(estimator: Any, seed: RandomState | None, n_features: int, n_classes: int) -> Member:
    if has_bank(estimator):
        return TreeMember(estimator._new_bank(1, n_features, n_classes, rng=seed))
    return ClassifierMember(clone_with_seed(estimator, seed), n_features, n_classes)


class TreeMember:
    """A Hoeffding tree."""

    def __init__(self, bank: TreeBank) -> None:
        self.bank = bank

    def announce(self, n_classes: int) -> None:
        """Vote for the first n_classes only."""
        self.bank.n_classes = max(n_classes, 1)

    def learn(self, X: Features, codes: Array, weight: Array | None = None) -> None:
        """Learn rows in order."""
        self.bank.learn(X, codes[:, np.newaxis], weight=weight)

    def predict(self, X: Features) -> Prediction:
        """Predict rows."""
        return _decided(self.bank.predict(X)[:, 0])

    def predict_then_learn(
        self, X: Features, codes: Array, X_predict: Features | None = None, *, weight: Array | None = None
    ) -> Prediction:
        """Predict each row of `X_predict`, or of X, then learn that row of X."""
        return _decided(self.bank.predict_then_learn(X, codes[:, np.newaxis], weight=weight, X_predict=X_predict)[:, 0])


class ClassifierMember:
    """Any classifier with ``partial_fit``; without ``predict_proba``, its decisions are its votes."""

    def __init__(self, estimator: Any, n_features: int, n_classes: int) -> None:
        self.estimator = estimator
        self.n_classes = n_classes
        self.has_learnt = isinstance(estimator, StreamClassifier)
        if self.has_learnt:
            estimator.begin(np.zeros((1, n_features)), np.zeros(1, dtype=int), classes=np.arange(n_classes))

    def announce(self, n_classes: int) -> None:
        """Do nothing: other classifiers get all classes at their first row."""

    def learn(self, X: Features, codes: Array, weight: Array | None = None) -> None:
        """Learn rows in order."""
        kept = codes != SKIP
        if weight is not None:
            kept &= weight > 0
        if not kept.any():
            return
        if not kept.all():
            X, codes = X[kept], codes[kept]
        announced = {} if self.has_learnt else {"classes": np.arange(self.n_classes)}
        weights = {} if weight is None or (weight[kept] == 1).all() else {"sample_weight": weight[kept]}
        try:
            self.estimator.partial_fit(X, codes, **announced, **weights)
        except Exception as error:
            if self.has_learnt or not _learns_tables(self.estimator, X, codes):
                raise
            failure = f"for y of shape {codes.shape} it raised {type(error).__name__} ({error})"
            raise _not_of_classes(self.estimator, f"which takes a table of labels: {failure}") from error
        self.has_learnt = True

    def predict(self, X: Features) -> Prediction:
        """Predict rows."""
        if not self.has_learnt:
            return np.zeros(X.shape[0], dtype=np.int64), np.zeros((X.shape[0], self.n_classes))
        n_rows = X.shape[0]
        decided = self._of_shape((n_rows,), "predict", self.estimator.predict(X)).astype(np.int64)
        if hasattr(self.estimator, "predict_proba"):
            proba = self.estimator.predict_proba(X)
            votes = self._of_shape((n_rows, self.n_classes), "predict_proba", proba).astype(np.float64, copy=False)
            # GaussianNB divides by variances, which are 0 after one row
            return decided, np.where(np.isnan(votes).any(axis=1, keepdims=True), 0.0, votes)
        return decided, np.eye(self.n_classes)[decided]

    def predict_then_learn(
        self, X: Features, codes: Array, X_predict: Features | None = None, *, weight: Array | None = None
    ) -> Prediction:
        """Predict each row of `X_predict`, or of X, then learn that row of X."""
        if X_predict is None and weight is None and isinstance(self.estimator, StreamClassifier):
            return _joined([self._run(X, codes, rows) for rows in runs(codes != SKIP)])
        predictions = []
        for i in range(X.shape[0]):
            row = slice(i, i + 1)
            predictions.append(self.predict((X if X_predict is None else X_predict)[row]))
            self.learn(X[row], codes[row], None if weight is None else weight[row])
        return _joined(predictions)

    def _of_shape(self, shape: tuple[int, ...], method: str, predicted: Any) -> Array:
        values = np.asarray(predicted)
        if values.shape != shape:
            got = f"of which {method} returned shape {values.shape} instead of {shape}"
            raise _not_of_classes(self.estimator, got)
        return values

    def _run(self, X: Features, codes: Array, rows: slice) -> Prediction:
        """Test, then train, on rows in one call, or only predict them if they are skipped."""
        if codes[rows.start] == SKIP:
            return self.predict(X[rows])
        decided, votes = self.estimator.predict_then_fit(X[rows], codes[rows])
        return decided.astype(np.int64), votes


def _learns_tables(estimator: Any, X: Features, codes: Array) -> bool:
    """Return whether a classifier that refused one class a row takes the rows with a table of labels."""
    announced = {"classes": np.arange(2)} if "classes" in signature(estimator.partial_fit).parameters else {}
    try:
        clone(estimator).partial_fit(X, np.column_stack([codes == 0, codes == 1]).astype(np.uint8), **announced)
    except Exception:
        return False
    return True


def _not_of_classes(estimator: Any, got: str) -> TypeError:
    """Return the error for a learner of tables of labels among those of one class a row; it has the remedy."""
    way_out = (
        "A wrapper needs a classifier of one class a row; one of tables of labels, as its tags say it is, needs none."
    )
    if not hasattr(estimator, "__sklearn_tags__") or not get_tags(estimator).classifier_tags.multi_label:
        way_out = (
            "If it learns tables of labels, use it without a wrapper; so does mlstream.evaluate if its class has: "
            "def __sklearn_tags__(self): tags = super().__sklearn_tags__(); tags.classifier_tags.multi_label = True; "
            "return tags"
        )
    return TypeError(
        f"estimator must learn one class a row where each label has its own copy. Got a {type(estimator).__name__}, "
        f"{got}. {way_out}"
    )


def _joined(predictions: list[Prediction]) -> Prediction:
    decided, votes = zip(*predictions, strict=True)
    return np.concatenate(decided), np.concatenate(votes)


def _decided(votes: Array) -> Prediction:
    return votes.argmax(axis=1), votes
