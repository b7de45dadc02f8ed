"""Classifier chain: the classifier of each label also uses the labels before it."""

from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state

from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier, check_precision
from estimators.contract.categories import placed
from estimators.contract.new_labels import OnNewLabels, growth_state
from estimators.contract.traits import Traits, traits_of
from estimators.contract.validation import Features
from estimators.meta._wrapped import (
    Member,
    Prediction,
    TreeMember,
    in_threads,
    infer_each,
    make_members,
    takes_sparse,
)
from estimators.trees._kernels.hoeffding import SKIP
from estimators.trees._tree_bank import TreeBank, check_at_least, codes_of, has_bank
from metrics.validation import require_choice, require_integer


class ClassifierChain(MetaEstimatorMixin, StreamClassifier):
    """Learn labels one after the other, each from the features and the labels before it in the chain.

    Parameters
    ----------
    estimator : estimator instance
        Any scikit-learn classifier with ``partial_fit``; each label gets a copy.
    order : {'given', 'random'} or sequence of int, default='given'
        Order of the labels in the chain: that of the columns, drawn for each chain, or a permutation.
    chain_features : {'true', 'predicted'}, default='true'
        Features that stand for a previous label. 'true': one feature, the true label in learning and the predicted one
        in prediction (Read et al.). 'predicted': two features, the predicted probabilities of 0 and 1, in both (River).
    n_chains : int, default=1
        Number of chains whose predictions are averaged; more than one is useful with order='random' only.
    n_jobs : int, optional
        Number of threads among which the chains are divided. The results are the same.
    random_state : int, RandomState instance or None, default=None
        Draws the orders and a seed for each copy; None keeps the seeds of the estimator, and draws other orders each
        time.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.
        They go to the end of every chain, whatever the order.
    max_bytes : int, default=4294967296
        Bound of the memory that our trees in the chains take before the first row, which grows with the square of the
        number of labels: 80 to 95 bytes times n_chains x n_labels ** 2, beside that of the features. More labels are
        refused.

    Attributes
    ----------
    orders_ : ndarray of shape (n_chains, n_labels)
        The order of each chain.

    Notes
    -----
    A chain predicts each label as its classifier does; several chains predict by their mean probability, at one half.
    An unknown label (NaN) is not learnt from that row; the classifiers after it in the chain then learn with what the
    chain predicted for it before learning the row.
    Members learn a chunk in one call each, and are copied before it, as in `BinaryRelevance`.

    River leaves out the probability of a value that a label has not had yet, and of both before the first row; here it
    is 0. Its published scores are reproduced where both values occur early (synthetic_rand), others through
    `RiverClassifier`.

    References
    ----------
    Read, Pfahringer, Holmes and Frank, Classifier chains for multi-label classification, ECML PKDD 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.meta.classifier_chain import ClassifierChain
    >>> from estimators.trees.hoeffding import HoeffdingTreeClassifier
    >>> X = np.random.default_rng(0).random((600, 1))
    >>> learner = ClassifierChain(HoeffdingTreeClassifier()).fit(X, np.hstack([X > 0.3, X > 0.7]))
    >>> learner.predict([[0.1], [0.5], [0.9]])
    array([[0, 0],
           [1, 0],
           [1, 1]])
    """

    _traits = Traits(learns_unknown=True)

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        estimator: Any,
        *,
        order: Any = "given",
        chain_features: Literal["true", "predicted"] = "true",
        n_chains: int = 1,
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
        max_bytes: int = 4 * 2**30,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.chain_features = chain_features
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_new_labels = on_new_labels
        self.max_bytes = max_bytes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.estimator)
        return tags

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        require_choice(self.chain_features, "chain_features", ("true", "predicted"))
        require_integer(self.n_chains, "n_chains", 1)
        # chains go on as they were made: what `set_params` changes later is for those that begin later
        self._features = self.chain_features
        self._check_size(self.n_chains)
        source = check_random_state(self.random_state)
        self.orders_ = np.array([self._draw_order(source) for _ in range(self.n_chains)])
        self._chains = [self._make_links(0, source) for _ in range(self.n_chains)]

    def _grow(self, n_before: int) -> None:
        self._check_size(len(self._chains))
        new = np.arange(n_before, self.n_labels_)
        self.orders_ = np.hstack([self.orders_, np.tile(new, (len(self._chains), 1))])
        source = growth_state(self, n_before)
        self._chains = [[*chain, *self._make_links(n_before, source)] for chain in self._chains]

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:  # noqa: ARG002
        return ["_chains"] if traits_of(self.estimator).fails_late else []

    def _check_inside(self, X: Features) -> None:
        check_precision(self.estimator, X)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        codes = codes_of(Y)
        if self._features == "predicted" or (codes == SKIP).any():
            kept = slice(None) if weight is None else weight > 0
            # features of learning depend on predictions row by row
            if len(codes[kept]):
                self._run_all(X[kept], codes[kept], None if weight is None else weight[kept])
            return

        def of_chain(c: int) -> None:
            labels = codes[:, self.orders_[c]]
            for k, member in enumerate(self._chains[c]):
                member.learn(_beside(X, labels[:, :k]), labels[:, k], weight)

        in_threads(of_chain, len(self._chains), self.n_jobs)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> Prediction:  # noqa: ARG002
        return self._run_all(X, codes_of(Y), None)

    def _infer(self, X: Features) -> Prediction:
        return self._run_all(X, None, None)

    def _infer_each(self, X: Features) -> Prediction:
        return infer_each(self.estimator, self._infer, X)

    # ------------------------------------------------------------------ parts
    def _check_size(self, n_chains: int) -> None:
        """Refuse chains of trees that are too large before they are made; trees grow in proportion to their width."""
        check_at_least(self.max_bytes, "max_bytes", 0)
        if not has_bank(self.estimator):
            return
        estimator = placed(self.estimator, self)
        first, last = (estimator._new_bank(1, self._width(k), 2).size_bytes for k in (0, self.n_labels_ - 1))
        needed = n_chains * self.n_labels_ * (first + last) // 2
        if needed > self.max_bytes:
            raise ValueError(
                f"max_bytes must be at least {needed:,} for chains of {self.n_labels_:,} labels. "
                f"Got {self.max_bytes:,} instead; BinaryRelevance needs memory in proportion to the labels only."
            )

    def _width(self, k: int) -> int:
        """Return the number of features of the k-th link of a chain."""
        return int(self.n_features_in_) + (1 if self._features == "true" else 2) * k

    def _make_links(self, first: int, source: np.random.RandomState) -> list[Member]:
        """Return untrained links of a chain, from one of them to the last."""
        widths = [self._width(k) for k in range(first, self.n_labels_)]
        estimator = placed(self.estimator, self)
        return make_members(estimator, len(widths), widths, 2, None if self.random_state is None else source)

    def _run_all(self, X: Features, labels: Array | None, weight: Array | None) -> Prediction:
        predictions = in_threads(lambda c: self._run_chain(c, X, labels, weight), len(self._chains), self.n_jobs)
        if len(predictions) == 1:
            return predictions[0]
        proba: Any = sum(proba for _, proba in predictions) / len(predictions)
        return proba >= 0.5, proba

    def _run_chain(self, c: int, X: Features, labels: Array | None, weight: Array | None) -> Prediction:
        """Predict along a chain, and learn if there are labels to learn; what is predicted stands for unknown ones."""
        if self._features == "true" and isinstance(X, np.ndarray) and len(X) == 1:
            trees = [member.bank for member in self._chains[c] if isinstance(member, TreeMember)]
            if trees:
                return _run_row(trees, self.orders_[c].tolist(), X, labels, weight)
        order = self.orders_[c]
        decided, proba = np.zeros((X.shape[0], len(order)), dtype=np.int64), np.zeros((X.shape[0], len(order)))
        seen, true = X, X
        for k, member in enumerate(self._chains[c]):
            codes = None if labels is None else labels[:, order[k]]
            label, votes = self._step(member, seen, true, codes, weight)
            decided[:, order[k]], proba[:, order[k]] = label, votes[:, 1]
            if self._features == "predicted":
                seen = true = _beside(seen, votes)
            else:
                seen = _beside(seen, label[:, np.newaxis])
                true = seen if codes is None else _beside(true, np.where(codes == SKIP, label, codes)[:, np.newaxis])
        return decided, proba

    def _step(
        self, member: Member, seen: Features, true: Features, codes: Array | None, weight: Array | None
    ) -> Prediction:
        if codes is None:
            return member.predict(seen)
        return member.predict_then_learn(true, codes, None if seen is true else seen, weight=weight)

    def _draw_order(self, source: np.random.RandomState) -> Array:
        if isinstance(self.order, str) and self.order in ("given", "random"):
            return np.arange(self.n_labels_) if self.order == "given" else source.permutation(self.n_labels_)
        order = np.asarray(self.order)
        if order.shape != (self.n_labels_,) or not np.array_equal(np.sort(order), np.arange(self.n_labels_)):
            rule = f"'given', 'random' or a permutation of 0..{self.n_labels_ - 1}"
            raise ValueError(f"order must be {rule}. Got {self.order!r} instead.")
        return order


def _run_row(
    trees: list[TreeBank], order: list[int], X: Array, labels: Array | None, weight: Array | None
) -> Prediction:
    """Do what `_run_chain` does for one row and trees, without a new table for each label."""
    n_features, n_labels = X.shape[1], len(order)
    rows = np.empty((2, n_features + n_labels))
    rows[:, :n_features] = X
    seen, true = rows[:1], rows[1:]
    # numbers of Python: NumPy takes longer to read or to write one than a tree to predict it
    codes = [SKIP] * n_labels if labels is None else labels[0].tolist()
    decided, proba = [0] * n_labels, [0.0] * n_labels
    for k, (bank, j) in enumerate(zip(trees, order, strict=True), n_features):
        if labels is None:
            votes = bank.predict(seen[:, :k])
        else:
            ahead = None if k == n_features else seen[:, :k]
            votes = bank.predict_then_learn(true[:, :k], labels[:, j : j + 1], weight=weight, X_predict=ahead)
        absent, proba[j] = votes[0, 0].tolist()
        decided[j] = int(proba[j] > absent)
        rows[0, k] = decided[j]
        rows[1, k] = decided[j] if codes[j] == SKIP else codes[j]
    return np.array([decided]), np.array([proba])


def _beside(X: Features, columns: Array) -> Features:
    if columns.shape[1] == 0:
        return X
    if isinstance(X, sparse.csr_array):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(columns.astype(X.dtype))], format="csr"))
    return np.hstack([X, columns.astype(X.dtype)])
