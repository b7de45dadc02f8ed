"""Baselines: the last labels, the most frequent, the mean, those frequent of late, and those of the nearest row."""

from typing import Literal

import numpy as np
from sklearn.utils import Tags

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.prevalence import MEMORY, Prevalence, require_rule
from estimators.contract.targets import has_unknown
from estimators.contract.traits import Traits
from estimators.contract.validation import Features, is_sparse
from estimators.neighbours._window import DenseWindow, Metric, SparseWindow, Tail, blocks
from metrics.validation import require_choice, require_integer


class _Baseline(StreamClassifier):
    """A baseline, with the tag that allows poor scores in scikit-learn's checks."""

    _traits = Traits(fails_late=False, learns_unknown=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class LastLabelsClassifier(_Baseline):
    """Predict the labels of the row learnt last; no label before any row.

    It is right as often as labels do not change: a stream whose rows are not independent is easy for it.

    Parameters
    ----------
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    last_ : ndarray of shape (n_labels,)
        Labels of the row learnt last; where one was unknown, its value of the last row in which it was known.

    Notes
    -----
    A row of positive weight counts whatever its weight. River's ``NoChangeClassifier``, one per label, predicts the
    same.

    Examples
    --------
    >>> from estimators.baselines import LastLabelsClassifier
    >>> learner = LastLabelsClassifier().fit([[0.0], [1.0]], [[1, 0, 0], [0, 1, 1]])
    >>> learner.predict([[5.0]])
    array([[0, 1, 1]])
    """

    def __init__(self, on_new_labels: OnNewLabels = "error") -> None:
        self.on_new_labels = on_new_labels

    def _start(self) -> None:
        self.last_ = np.zeros(self.n_labels_)

    def _grow(self, n_before: int) -> None:
        self.last_ = np.pad(self.last_, (0, self.n_labels_ - n_before))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        learnt = Y if weight is None else Y[weight > 0]
        if len(learnt):
            self.last_ = self._last_known(learnt)[-1] if has_unknown(learnt) else learnt[-1].astype(np.float64)

    def _predict_proba(self, X: Features) -> Array:
        return np.tile(self.last_, (X.shape[0], 1))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        before = self._last_known(Y)[:-1] if has_unknown(Y) else np.vstack([self.last_, Y[:-1]])
        self._learn(X, Y, mask, None)
        return before == 1, before

    def _last_known(self, Y: Array) -> Array:
        """Return (n_rows + 1, n_labels): the last value that each label had, before each row and after all."""
        values = np.vstack([self.last_, Y])
        rows = np.where(values == UNKNOWN, 0, np.arange(len(values))[:, np.newaxis])
        return np.take_along_axis(values, np.maximum.accumulate(rows, axis=0), axis=0)


class _LabelFrequencies(_Baseline):
    """Count rows and positives of each label; the share of positives is the probability, 0 before any row."""

    def __init__(
        self, start: Literal["first-row", "first-positive"] = "first-row", on_new_labels: OnNewLabels = "error"
    ) -> None:
        self.start = start
        self.on_new_labels = on_new_labels

    def _start(self) -> None:
        require_choice(self.start, "start", ("first-row", "first-positive"))
        self.counts_ = np.zeros((2, self.n_labels_))

    def _grow(self, n_before: int) -> None:
        self.counts_ = np.pad(self.counts_, ((0, 0), (0, self.n_labels_ - n_before)))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        for block in blocks(len(Y)):
            self.counts_ = self._histories(Y[block], None if weight is None else weight[block])[-1]

    def _predict_proba(self, X: Features) -> Array:
        return np.tile(_shares(self.counts_), (X.shape[0], 1))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        decided, shares = [], []
        for block in blocks(len(Y)):
            histories = self._histories(Y[block], None)
            decided.append(self._decide(histories[:-1], Y[block]))
            shares.append(_shares(histories[:-1]))
            self._learn(X[block], Y[block], None, None)
        return np.concatenate(decided), np.concatenate(shares)

    def _decide(self, counts: Array, Y: Array) -> Array:
        raise NotImplementedError

    def _histories(self, Y: Array, weight: Array | None) -> Array:
        """Return (n_rows + 1, 2, n_labels): rows and positives of each label, before each row and after all."""
        weights = np.ones((len(Y), 1)) if weight is None else weight[:, np.newaxis]
        rows = np.broadcast_to(weights, Y.shape)
        if has_unknown(Y):
            rows, Y = rows * (Y != UNKNOWN), Y == 1
        positives = Y * weights
        if self.start == "first-positive" and self._target.multilabel:
            rows = rows * ((self.counts_[1] > 0) | (np.cumsum(positives, axis=0) > 0))
        steps = np.stack([rows, positives], axis=1)
        return np.cumsum(np.concatenate([self.counts_[np.newaxis], steps]), axis=0)


class PriorLabelsClassifier(_LabelFrequencies):
    """Predict for each label its most frequent value so far.

    Parameters
    ----------
    start : {'first-row', 'first-positive'}, default='first-row'
        First row from which the values of a label are counted. Published tables use 'first-positive'; it has no effect
        where every row has one class.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    counts_ : ndarray of shape (2, n_labels)
        Weight of the rows, and of the positive rows, that count for each label.

    Notes
    -----
    The probability is the share of positive rows, 0 before any row. Ties go to the value that the label had first, as
    in River's ``PriorClassifier``; where every row has one class, to the first of ``classes_``.

    Examples
    --------
    >>> from estimators.baselines import PriorLabelsClassifier
    >>> learner = PriorLabelsClassifier().fit([[0.0], [1.0], [2.0]], [[1, 0], [1, 1], [0, 0]])
    >>> learner.predict([[5.0]])
    array([[1, 0]])
    """

    def _start(self) -> None:
        super()._start()
        self._first_values = np.ones(self.n_labels_, dtype=bool)

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        self._first_values = np.append(self._first_values, np.ones(self.n_labels_ - n_before, dtype=bool))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        learnt = Y if weight is None else Y[weight > 0]
        if len(learnt):
            self._first_values = self._first(learnt)
        super()._learn(X, Y, mask, weight)

    def _first(self, Y: Array) -> Array:
        """Return the first known value of each label, where these rows come next."""
        begun = self.counts_[0] > 0
        if self.start == "first-positive" or begun.all():
            return self._first_values
        first = Y[0]
        if has_unknown(first):
            first = np.take_along_axis(Y, (Y != UNKNOWN).argmax(axis=0)[np.newaxis], axis=0)[0]
        return np.where(begun, self._first_values, first == 1)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        decided = self._most_frequent(self.counts_, self._first_values)
        return np.tile(decided, (X.shape[0], 1)), self._predict_proba(X)

    def _decide(self, counts: Array, Y: Array) -> Array:
        return self._most_frequent(counts, self._first(Y))

    @staticmethod
    def _most_frequent(counts: Array, first: Array) -> Array:
        rows, positives = counts[..., 0, :], counts[..., 1, :]
        return (2 * positives > rows) | ((2 * positives == rows) & (rows > 0) & first)


class MeanLabelsClassifier(_LabelFrequencies):
    """Predict 1 where the mean of a label so far, its probability, is at least 0.5.

    Parameters
    ----------
    start : {'first-row', 'first-positive'}, default='first-row'
        First row from which the values of a label are averaged. Published tables use 'first-positive'; it has no effect
        where every row has one class.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    counts_ : ndarray of shape (2, n_labels)
        Weight of the rows, and of the positive rows, that count for each label.

    Notes
    -----
    Before any row the mean is 0. The mean is the exact quotient of two counts; River's running mean may miss a mean of
    exactly 0.5 by a rounding error. Published scores of this baseline are low because a prediction of exactly 0.5 was
    scored there as a class of its own, neither 0 nor 1.

    Examples
    --------
    >>> from estimators.baselines import MeanLabelsClassifier
    >>> learner = MeanLabelsClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [[1, 0], [1, 1], [0, 0], [0, 0]])
    >>> learner.predict_proba([[5.0]])
    array([[0.5 , 0.25]])
    >>> learner.predict([[5.0]])
    array([[1, 0]])
    """

    def _decide(self, counts: Array, Y: Array) -> Array:  # noqa: ARG002 - no tie to break
        return _shares(counts) >= 0.5


class PrevalenceClassifier(_Baseline):
    """Predict the labels that have been more frequent of late than they usually are, without a look at features.

    It is what remains of a learner that decides at the prevalence of labels if its features are taken away: the gain of
    such a learner over this one is what features are worth.

    Parameters
    ----------
    memory : float, default=20
        Rows that "of late" means, at least 1.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    prevalence_ : ndarray of shape (n_labels,)
        Share of positive rows of each label; 0 before any row.

    Notes
    -----
    The probability is the prevalence of late, a mean over the last rows, older ones fading with rate 1 / `memory`, that
    starts from five rows of the usual prevalence. A label is predicted if its prevalence of late is at least the usual
    one: the rule of `PrevalenceThreshold`, whatever its `follow`. Both are counted inside the label masks, and weights
    of rows count.

    See Also
    --------
    estimators.PrevalenceThreshold : The rule around a learner that has features.

    Examples
    --------
    >>> from estimators.baselines import PrevalenceClassifier
    >>> learner = PrevalenceClassifier(memory=2).fit([[0.0]] * 4, [[1, 0], [1, 0], [0, 0], [0, 1]])
    >>> learner.predict([[5.0]])
    array([[0, 1]])
    """

    def __init__(self, memory: float = MEMORY, on_new_labels: OnNewLabels = "error") -> None:
        self.memory = memory
        self.on_new_labels = on_new_labels

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: yes."""
        return True

    @property
    def prevalence_(self) -> Array:
        """Share of positive rows of each label; 0 before any row."""
        return self._prevalence.usual_shares

    def _start(self) -> None:
        require_rule(0.0, self.memory)
        self._prevalence = Prevalence.start(self.n_labels_, follow=0.0, memory=self.memory)

    def _grow(self, n_before: int) -> None:
        self._prevalence = self._prevalence.widened(self.n_labels_ - n_before)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        self._prevalence = self._prevalence.learn(Y, mask, weight)

    def _predict_proba(self, X: Features) -> Array:
        return np.tile(self._prevalence.late_shares, (X.shape[0], 1))

    def _infer(self, X: Features) -> tuple[Array, Array]:
        proba = self._predict_proba(X)
        return self._prevalence.decide(proba, late=True), proba

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        shares = self._prevalence.late_shares_before(Y, mask)
        decided, self._prevalence = self._prevalence.decide_then_learn(shares, Y, mask)
        return decided, shares


class NearestRowClassifier(_Baseline):
    """Predict the labels of the nearest row among the last ones: one nearest neighbour in a first-in-first-out window.

    Parameters
    ----------
    window : int or None, default=1000
        Number of newest rows that are kept; None keeps all, so that memory grows with the stream.
    metric : {'euclidean', 'cosine'}, default='euclidean'
        Nearest means smallest Euclidean distance, or greatest cosine.
    zero_similarity : {0, 1}, default=0
        Cosine of two zero vectors. The cosine of a zero vector and another one is 0.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Notes
    -----
    Rows are kept in double precision, sparse if the first rows were; later ones are converted.

    Ties go to the oldest row, as published. Distances are summed in the order of features whatever the chunk, and for
    CSR in time proportional to the non-zeros: dense and CSR rows give the same bits. Before any row, no label
    is predicted. A row of positive weight is kept whatever its weight. Up to twice the window is allocated.

    A label that is unknown in the nearest row is that of the nearest row in which it is known, and 0 if it is unknown
    in the whole window. Each label for which this happens takes one more search of the window.

    Examples
    --------
    >>> from estimators.baselines import NearestRowClassifier
    >>> learner = NearestRowClassifier(window=2).fit([[0.0], [1.0], [2.0]], [[1, 1], [1, 0], [0, 1]])
    >>> learner.predict([[0.1], [9.0]])
    array([[1, 0],
           [0, 1]])
    """

    def __init__(
        self,
        window: int | None = 1000,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        zero_similarity: Literal[0, 1] = 0,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.window = window
        self.metric = metric
        self.zero_similarity = zero_similarity
        self.on_new_labels = on_new_labels

    def _start(self) -> None:
        if self.window is not None:
            require_integer(self.window, "window", 1)
        require_choice(self.metric, "metric", ("euclidean", "cosine"))
        if self.zero_similarity not in {0, 1}:
            raise ValueError(f"zero_similarity must be 0 or 1. Got {self.zero_similarity!r} instead.")
        self._rows: DenseWindow | SparseWindow | None = None
        self._labels = Tail(np.empty((0, self.n_labels_), np.uint8))

    def _grow(self, n_before: int) -> None:
        new = ((0, 0), (0, self.n_labels_ - n_before))
        self._labels = Tail(np.pad(self._labels.live, new, constant_values=UNKNOWN), 0, len(self._labels))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        if weight is not None:
            X, Y = X[weight > 0], Y[weight > 0]
        kept = slice(-min(len(Y), self.window or len(Y)), None) if len(Y) else slice(0)
        X, Y = X[kept], Y[kept]
        for block in blocks(len(Y)):
            self._append(X[block], Y[block])
            self._drop()

    def _predict_proba(self, X: Features) -> Array:
        n_rows = len(self._labels)
        return self._labels_of_nearest(X, np.zeros(X.shape[0], np.int64), np.full(X.shape[0], n_rows))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        predictions = []
        for block in blocks(len(Y)):
            last = len(self._labels) + np.arange(block.stop - block.start)
            first = np.zeros_like(last) if self.window is None else np.maximum(last - self.window, 0)
            self._append(X[block], Y[block])
            predictions.append(self._labels_of_nearest(X[block], first, last))
            self._drop()
        labels = np.concatenate(predictions)
        return labels == 1, labels

    def _append(self, X: Features, Y: Array) -> None:
        kind = SparseWindow if is_sparse(X) else DenseWindow
        rows = kind.of_width(self.n_features_in_) if self._rows is None else self._rows
        self._rows, self._labels = rows.append(X), self._labels.append(Y)

    def _drop(self) -> None:
        surplus = 0 if self.window is None else len(self._labels) - self.window
        if self._rows is not None and surplus > 0:
            self._rows, self._labels = self._rows.drop(surplus), self._labels.drop(surplus)

    def _labels_of_nearest(self, X: Features, first: Array, last: Array) -> Array:
        labels = np.zeros((X.shape[0], self.n_labels_))
        if self._rows is None:
            return labels
        metric = Metric(self.metric, float(self.zero_similarity))
        found = self._rows.nearest(X, first, last, metric)
        nearest = self._labels.live[found[found >= 0]]
        labels[found >= 0] = nearest
        for label in np.flatnonzero((nearest == UNKNOWN).any(axis=0)) if has_unknown(nearest) else ():
            rows = np.flatnonzero(labels[:, label] == UNKNOWN)
            values = self._labels.live[:, label]
            known = np.flatnonzero(values != UNKNOWN)
            ends = np.searchsorted(known, first[rows]), np.searchsorted(known, last[rows])
            found = self._rows.select(known).nearest(X[rows], *ends, metric)
            labels[rows, label] = [values[known[i]] if i >= 0 else 0 for i in found]
        return labels


def _shares(counts: Array) -> Array:
    rows, positives = counts[..., 0, :], counts[..., 1, :]
    return np.divide(positives, rows, out=np.zeros_like(positives), where=rows > 0)
