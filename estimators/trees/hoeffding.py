"""The Hoeffding tree: a decision tree that grows from a stream and splits a leaf once it has learnt enough rows."""

from sklearn.utils.validation import check_is_fitted

from estimators._locks import lock_of
from estimators._typing import Array
from estimators._validation import Features
from estimators.base import Mask, StreamClassifier
from estimators.trees._graphviz import dot
from estimators.trees._tree_bank import TreeBank, check_tree_params, codes_of


class HoeffdingTreeClassifier(StreamClassifier):
    """Hoeffding tree that learns one class for each row, or one such tree for each label.

    A leaf describes each class by a Gaussian for each feature. Once in `grace_period` rows it compares the features by
    the information gain of their best split, and splits if the best feature beats the next by more than Hoeffding's
    bound, or if the bound is so small that the two count as equally good.

    Parameters
    ----------
    grace_period : int, default=200
        Weight of the rows that a leaf learns between two attempts to split.
    delta : float, default=1e-7
        Probability of choosing another feature than an infinite stream would; smaller values split later.
    tau : float, default=0.05
        Bound under which two features count as equally good, so that the leaf splits.
    max_depth : int, optional
        Largest number of splits above a leaf; None: no limit.
    max_bytes : int, default=104857600
        Bound of the memory of one tree. Once it is reached, the leaves with the lightest minorities stop observing:
        they go on counting classes, but do not split until they are among the heavier ones again.

    Attributes
    ----------
    bank_ : TreeBank
        The trees, in flat arrays.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.

    See Also
    --------
    BinaryRelevance : one tree for each label, trained in parallel.

    Notes
    -----
    The decisions are those of ``HoeffdingTreeClassifier`` in River 0.26 with its defaults (Gaussian observers with ten
    thresholds, information gain, leaves that predict by majority or by naive Bayes, whichever was right more often
    there): features, thresholds, class weights and counts of right guesses are the same in every node, to the last bit.
    Probabilities differ from River's by about 1e-14, because the logarithms of variances are taken of products, those
    of weights separately, and squares are summed in four running sums. Memory is counted differently from River, which
    first checks it after a million rows; a tree that never reaches its limit is not affected.

    As in River, naive Bayes gives a class whose weight in a leaf is zero a prior probability of one.

    References
    ----------
    Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001.
    Domingos and Hulten, Mining high-speed data streams, KDD 2000 (memory).

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.trees.hoeffding import HoeffdingTreeClassifier
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> y = np.where(X[:, 0] > 0.5, "right", "left")
    >>> tree = HoeffdingTreeClassifier(delta=1e-3).fit(X, y)
    >>> tree.predict([[0.2, 0.9], [0.8, 0.1]])
    array(['left', 'right'], dtype='<U5')
    """

    _takes_codes = True
    _fails_late = False
    _learns_unknown = True

    def __init__(
        self,
        *,
        grace_period: int = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        max_depth: int | None = None,
        max_bytes: int = 100 * 2**20,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.max_depth = max_depth
        self.max_bytes = max_bytes

    def to_dot(self, label: int = 0) -> str:
        """Draw a tree in the language of Graphviz.

        Parameters
        ----------
        label : int, default=0
            Label whose tree is drawn; 0 if each row has one class.

        Returns
        -------
        str
            A digraph; branches show their test, leaves their class and the weights of all classes.
        """
        with lock_of(self):
            check_is_fitted(self)
            if not 0 <= label < self.bank_.n_trees:
                raise ValueError(f"label must be in 0..{self.bank_.n_trees - 1}. Got {label} instead.")
            return dot(self.bank_, label, self._feature_names(), self._class_names())

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return self.bank_.size_bytes

    def _start(self) -> None:
        n_classes = 2 if self._target.multilabel else len(self.classes_)
        n_trees = self.n_labels_ if self._target.multilabel else 1
        self.bank_ = TreeBank(n_trees, self.n_features_in_, n_classes, check_tree_params(self))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        self.bank_.learn(X, codes_of(Y), weight=weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        return self._decide(self.bank_.predict_then_learn(X, codes_of(Y)))

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self._decide(self.bank_.predict(X))

    def _predict_proba(self, X: Features) -> Array:
        return self._infer(X)[1]

    # ------------------------------------------------------------------ parts
    def _decide(self, votes: Array) -> tuple[Array, Array]:
        if self._target.multilabel:
            return votes[:, :, 1] > votes[:, :, 0], votes[:, :, 1]
        return votes[:, 0], votes[:, 0]

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{f}" for f in range(self.n_features_in_)] if names is None else names.tolist()

    def _class_names(self) -> list[str]:
        return ["0", "1"] if self._target.multilabel else [str(value) for value in self.classes_]
