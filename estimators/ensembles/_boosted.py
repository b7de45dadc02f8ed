"""Weak learners of online coordinate boosting with their coefficients, for all labels of an estimator."""

from copy import copy
from typing import Self

import numpy as np

from estimators._typing import Array, Estimator
from estimators.contract.batching import blocks, dense
from estimators.contract.validation import Features
from estimators.ensembles._kernels import boosted_trees, coordinate_boosting
from estimators.ensembles._kernels.coordinate_boosting import Answers, grown, new_boosting, new_votes
from estimators.linear._kernels import logistic
from estimators.linear._rows import NO_WEIGHTS, as_rows, refuse_great
from estimators.linear.logistic import check_step
from estimators.trees._bins import NO_BINS, Bins
from estimators.trees._kernels.tree_arrays import new_trees, size_bytes
from estimators.trees._tree_bank import check_tree_params


class BoostedModels:
    """Boosted logistic regressions.

    `shape` is (n_labels, n_models, n_features), and sums of weights start at `smoothing`.
    """

    def __init__(self, shape: tuple[int, int, int], smoothing: float) -> None:
        n_labels, self.n_models, n_features = shape
        self.smoothing = smoothing
        self.boosting = new_boosting(n_labels, self.n_models, smoothing)
        self.models = logistic.new_models(n_features, n_labels * self.n_models)

    def grown(self, n_new: int) -> Self:
        """Return a copy with models for more labels."""
        longer = copy(self)
        longer.boosting = grown(self.boosting, n_new, self.smoothing)
        longer.models = logistic.grow(self.models, n_new * self.n_models)
        return longer

    def learn(self, X: Features, codes: Array, weight: Array | None, estimator: Estimator, *, derived: bool) -> Answers:
        """Predict each row, then learn it, with the parameters of an estimator."""
        answers, weights = new_answers(codes.shape), NO_WEIGHTS if weight is None else weight
        params = coordinate_boosting.Params(check_step(estimator), derived)
        if not coordinate_boosting.learn(self._parts(), as_rows(X), codes, weights, params, self._memory(), answers):
            raise refuse_great(X)
        return answers

    def predict(self, X: Features) -> Answers:
        """Predict rows."""
        answers = new_answers((X.shape[0], len(self.boosting.alphas)))
        if not coordinate_boosting.predict(self._parts(), as_rows(X), self._memory(), answers):
            raise refuse_great(X)
        return answers

    @property
    def size_bytes(self) -> int:
        """Size of all arrays."""
        return sum(array.nbytes for array in (*self.models, *self.boosting))

    def _parts(self) -> coordinate_boosting.Boosted:
        return coordinate_boosting.Boosted(self.models, self.boosting)

    def _memory(self) -> coordinate_boosting.Memory:
        return coordinate_boosting.Memory(logistic.new_work(self.models), new_votes(self.n_models))


class BoostedTrees:
    """Boosted Hoeffding trees; the labels that came together share the arrays of their trees.

    `shape` is (n_labels, n_trees, n_features), and sums of weights start at `smoothing`. `nominal` holds positions of
    features.
    """

    bins = NO_BINS

    def __init__(self, shape: tuple[int, int, int], smoothing: float, nominal: Array) -> None:
        n_labels, self.n_models, self.n_features = shape
        self.smoothing, self.bins = smoothing, Bins(nominal)
        self.groups = [slice(0, n_labels)]
        self.boostings = [new_boosting(n_labels, self.n_models, smoothing)]
        self.trees = [new_trees(n_labels * self.n_models, self.n_features, nominal=nominal)]

    def grown(self, n_new: int) -> Self:
        """Return a copy with trees for more labels; the trees that there were are shared."""
        longer, n_before = copy(self), self.groups[-1].stop
        longer.groups = [*self.groups, slice(n_before, n_before + n_new)]
        longer.boostings = [*self.boostings, new_boosting(n_new, self.n_models, self.smoothing)]
        more = new_trees(n_new * self.n_models, self.n_features, nominal=self.bins.nominal)
        longer.trees = [*self.trees, more]
        return longer

    def learn(self, X: Features, codes: Array, weight: Array | None, estimator: Estimator, *, derived: bool) -> Answers:
        """Predict each row, then learn it, with the parameters of an estimator."""
        weights, params = (
            NO_WEIGHTS if weight is None else weight,
            boosted_trees.Params(check_tree_params(estimator), derived),
        )
        found = new_answers(codes.shape)
        X = self.bins.of(X, learning=True)
        self.trees = [self.bins.known_to(trees) for trees in self.trees]
        for some in blocks(X):
            block = dense(X[some])
            for g, labels in enumerate(self.groups):
                rows = boosted_trees.Rows(block, codes[some, labels].astype(np.int64, order="C"), weights[some])
                answers = new_answers(rows.codes.shape)
                self.trees[g] = boosted_trees.learn(self.trees[g], self.boostings[g], rows, params, answers)
                _place(answers, found, some, labels)
        return found

    def predict(self, X: Features) -> Answers:
        """Predict rows."""
        found = new_answers((X.shape[0], self.groups[-1].stop))
        X = self.bins.of(X, learning=False)
        for some in blocks(X):
            block = dense(X[some])
            for labels, boosting, trees in zip(self.groups, self.boostings, self.trees, strict=True):
                answers = new_answers((len(block), labels.stop - labels.start))
                boosted_trees.predict(trees, boosting, block, answers)
                _place(answers, found, some, labels)
        return found

    @property
    def size_bytes(self) -> int:
        """Size of all arrays."""
        sums = sum(array.nbytes for boosting in self.boostings for array in boosting)
        return sums + sum(size_bytes(trees) for trees in self.trees)


def new_answers(shape: tuple[int, ...]) -> Answers:
    """Make arrays for decisions and probabilities."""
    return Answers(np.empty(shape, np.bool_), np.empty(shape))


def _place(answers: Answers, found: Answers, rows: slice, labels: slice) -> None:
    for part, whole in zip(answers, found, strict=True):
        whole[rows, labels] = part
