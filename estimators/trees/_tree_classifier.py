"""Trees that learn one class for each row, or one such tree for each label: all but the compiled trees themselves."""

from typing import Any

from numpy.random import RandomState
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.explanations import Terms
from estimators.contract.locks import lock_of
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.trees._explanations import explain_bank
from estimators.trees._graphviz import dot
from estimators.trees._importances import importances, importances_of_trees
from estimators.trees._tree_bank import TreeBank, codes_of, decide


class TreeClassifier(StreamClassifier):
    """Base of classifiers whose trees are compiled.

    A kind of tree implements ``_new_bank``, which checks its parameters and makes trees that have learnt nothing.
    """

    _traits = Traits(takes_codes=True, fails_late=False, learns_unknown=True)

    bank_: Any

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of entropy by the splits; zeros before any split.

        A tree counts by its shares, which sum to 1, whatever its size. The classes of a branch are those in its leaves.
        """
        check_is_fitted(self)
        with lock_of(self):
            return importances(importances_of_trees(self.bank_))

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
            features = list(getattr(self, "feature_names_in_", [f"x{f}" for f in range(self.n_features_in_)]))
            classes = ["0", "1"] if self._target.multilabel else [str(value) for value in self.classes_]
            return dot(self.bank_, label, features, classes)

    # ------------------------------------------------------------------ hooks
    def _new_bank(
        self, n_trees: int, n_features: int, n_classes: int, *, n_groups: int = 1, rng: RandomState | None = None
    ) -> TreeBank:
        """Return untrained trees; those that draw take a seed each from `rng`, if there is one."""
        raise NotImplementedError

    def _size_bytes(self) -> int:
        return self.bank_.size_bytes

    def _start(self) -> None:
        n_classes = 2 if self._target.multilabel else len(self.classes_)
        n_trees = self.n_labels_ if self._target.multilabel else 1
        self.bank_ = self._new_bank(n_trees, self.n_features_in_, n_classes)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        self.bank_.learn(X, codes_of(Y), weight=weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        return self._decide(self.bank_.predict_then_learn(X, codes_of(Y)))

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self._decide(self.bank_.predict(X))

    def _explain(self, X: Features) -> Terms:
        return explain_bank(self.bank_, X, of_classes=not self._target.multilabel)

    # ------------------------------------------------------------------ parts
    def _decide(self, votes: Array) -> tuple[Array, Array]:
        if self._target.multilabel:
            return decide(votes)
        return votes[:, 0], votes[:, 0]
