"""Binary relevance: one classifier for each label."""

from typing import Any, Literal

import joblib
import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier, check_precision
from estimators.contract.categories import placed
from estimators.contract.explanations import Terms, side_by_side
from estimators.contract.locks import lock_of
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.traits import Traits, traits_of
from estimators.contract.validation import Features
from estimators.meta._wrapped import (
    Member,
    Prediction,
    explained_members,
    in_threads,
    infer_each,
    make_members,
    takes_sparse,
)
from estimators.trees._explanations import explain_bank
from estimators.trees._importances import importances, importances_of_trees
from estimators.trees._kernels.hoeffding import SKIP
from estimators.trees._tree_bank import TreeBank, codes_of, decide, has_bank
from metrics.validation import require_choice


class BinaryRelevance(MetaEstimatorMixin, StreamClassifier):
    """Learn each label with its own copy of a classifier, independently of the other labels.

    Parameters
    ----------
    estimator : estimator instance
        Any scikit-learn classifier with ``partial_fit``. With our trees of one label, such as
        `HoeffdingTreeClassifier`, all labels are learnt in one compiled loop.
    start : {'first-row', 'first-positive'}, default='first-row'
        First row that a label is learnt from. With 'first-positive', as in published binary relevance, a label is
        predicted 0 until it has occurred, and rows before its first positive are not learnt.
    targeted : bool, default=False
        Whether the learner uses the task: labels outside ``label_mask`` learn nothing from the row. Otherwise they
        learn zeros.
    n_jobs : int, optional
        Number of threads among which the labels are divided; -1: one for each processor. The results are the same.
    random_state : int, RandomState instance or None, default=None
        Draws a seed for each copy; None keeps the seeds of the estimator.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    occurred_ : ndarray of bool of shape (n_labels,)
        Which labels have occurred, where learning starts at the first positive.

    Notes
    -----
    The prediction of a label is that of its classifier: for a tree, the more probable of the two values, 0 on a tie. A
    classifier without ``predict_proba`` has probabilities 0 or 1; probabilities that are NaN, as those of
    ``GaussianNB`` after one row, count as 0. A classifier skips the rows of which its label is unknown (NaN).

    Where classifiers are trees or forests, ``feature_importances_`` is the share of each feature in their importances,
    the mean over those that have split.

    Classifiers of other packages learn a chunk in one call, so whether it matters how a stream is cut depends on them;
    `predict_then_fit` passes rows one by one. scikit-learn's linear models (``SGDClassifier``, ``Perceptron``) shuffle
    the rows of each call: set ``shuffle=False``. Even then the last bits depend on the cuts, since weights are
    kept as a product with a scale, which is multiplied out at the end of each call; and on CSR rows ``SGDClassifier``
    learns its intercept at a hundredth of the rate.

    If a classifier fails on one label, no label learns from the call: the members are copied before each call, unless
    they are our trees, forests or baselines, which do not fail once rows are checked. For large models, learn in
    chunks.

    References
    ----------
    Read, Bifet, Holmes and Pfahringer, Scalable and efficient multi-label classification for evolving data streams,
    Machine Learning 88, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from estimators.meta.binary_relevance import BinaryRelevance
    >>> X = np.random.default_rng(0).random((200, 1))
    >>> learner = BinaryRelevance(GaussianNB()).partial_fit(X, np.hstack([X > 0.3, X > 0.7]))
    >>> learner.predict([[0.1], [0.5], [0.9]])
    array([[0, 0],
           [1, 0],
           [1, 1]])
    """

    _traits = Traits(learns_unknown=True)

    def __init__(
        self,
        estimator: Any,
        *,
        start: Literal["first-row", "first-positive"] = "first-row",
        targeted: bool = False,
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.estimator = estimator
        self.start = start
        self.targeted = targeted
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the importances of the classifiers; zeros before any split."""
        check_is_fitted(self)
        with lock_of(self):
            if isinstance(self._models, TreeBank):
                return importances(importances_of_trees(self._models))
            members = [getattr(member, "estimator", member) for member in self._models]
            found = [member.feature_importances_ for member in members if hasattr(member, "feature_importances_")]
            if not found:
                raise AttributeError(f"{type(self.estimator).__name__} has no feature_importances_.")
            return importances(found)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.estimator)
        return tags

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        require_choice(self.start, "start", ("first-row", "first-positive"))
        n_jobs = joblib.effective_n_jobs(self.n_jobs)
        self.occurred_ = np.zeros(self.n_labels_, dtype=bool)
        self._models: TreeBank | list[Member]
        seed = None if self.random_state is None else check_random_state(self.random_state)
        estimator = placed(self.estimator, self)
        if has_bank(estimator):
            self._models = estimator._new_bank(self.n_labels_, self.n_features_in_, 2, n_groups=n_jobs, rng=seed)
        else:
            widths = [self.n_features_in_] * self.n_labels_
            self._models = make_members(estimator, self.n_labels_, widths, 2, seed)

    def _grow(self, n_before: int) -> None:
        self.occurred_ = np.append(self.occurred_, np.zeros(self.n_labels_ - n_before, dtype=bool))
        # The seeds of members are drawn in their order: new ones get those that they had got at the first call.
        seed = None if self.random_state is None else check_random_state(self.random_state)
        if isinstance(self._models, TreeBank):
            self._models = self._models.grown(self.n_labels_ - n_before, seed)
            return
        widths = [self.n_features_in_] * self.n_labels_
        members = make_members(placed(self.estimator, self), self.n_labels_, widths, 2, seed)
        self._models = [*self._models, *members[n_before:]]

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:  # noqa: ARG002
        return ["_models"] if traits_of(self.estimator).fails_late else []

    def _check_inside(self, X: Features) -> None:
        check_precision(self.estimator, X)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        codes, _ = self._codes(Y, mask, weight)
        if isinstance(self._models, TreeBank):
            self._models.learn(X, codes, weight=weight)
            return
        models = self._models
        in_threads(lambda j: models[j].learn(X, codes[:, j], weight), self.n_labels_, self.n_jobs)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        codes, started = self._codes(Y, mask, None)
        if isinstance(self._models, TreeBank):
            return _decided(self._models.predict_then_learn(X, codes), started)
        models = self._models
        predictions = in_threads(lambda j: models[j].predict_then_learn(X, codes[:, j]), self.n_labels_, self.n_jobs)
        return _stacked(predictions, started)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        started = self.occurred_ if self.start == "first-positive" else True
        if isinstance(self._models, TreeBank):
            return _decided(self._models.predict(X), started)
        models = self._models
        return _stacked(in_threads(lambda j: models[j].predict(X), self.n_labels_, self.n_jobs), started)

    def _explain(self, X: Features) -> Terms | None:
        each = self._explain_each(X)
        if each is None:
            return None
        terms = side_by_side(each)
        return terms.silenced(~self.occurred_) if self.start == "first-positive" else terms

    def _infer_each(self, X: Features) -> Prediction:
        return infer_each(self.estimator, self._infer, X)

    # ------------------------------------------------------------------ parts
    def _explain_each(self, X: Features) -> list[Terms] | None:
        """Return the terms of all labels, or of each one; None if any has none."""
        if isinstance(self._models, TreeBank):
            return [explain_bank(self._models, X, of_classes=False)]
        return explained_members(self._models, [X] * self.n_labels_)

    def _codes(self, Y: Array, mask: Mask | None, weight: Array | None) -> tuple[Array, Array | bool]:
        """Return the code of each label in each row (0, 1 or `SKIP`), and which labels have started before it."""
        codes = codes_of(Y, mask)
        if self.start == "first-row":
            return codes, True
        positive = codes == 1 if weight is None else (codes == 1) & (weight > 0)[:, np.newaxis]
        occurred = np.logical_or.accumulate(np.vstack([self.occurred_, positive]), axis=0)
        codes[~occurred[1:]] = SKIP
        self.occurred_ = occurred[-1]
        return codes, occurred[:-1]


def _decided(votes: Array, started: Array | bool) -> tuple[Array, Array]:
    decided, proba = decide(votes)
    return (decided, proba) if started is True else (decided & started, proba * started)


def _stacked(predictions: list[tuple[Array, Array]], started: Array | bool) -> tuple[Array, Array]:
    decided = np.stack([decided for decided, _ in predictions], axis=1)
    return decided * started, np.stack([votes[:, 1] for _, votes in predictions], axis=1) * started
