"""Compiled trees whose rows cost their values that are not zero, for wide tables."""

from typing import Any

import numpy as np
from scipy import sparse

from estimators._typing import Array
from estimators._validation import Features
from estimators.trees._kernels.sparse_learning import (
    SparseChunk,
    learn_sparse,
    new_sparse_trees,
    predict_sparse,
    sparse_size_bytes,
)
from estimators.trees._kernels.sparse_moments import SparseRows, SparseTrees
from estimators.trees._kernels.tree_arrays import TreeArrays
from estimators.trees._tree_bank import TreeBank, TreeKind

# with more in the first row, adding zeros one by one takes less time
MOST_VALUES_SHARE = 0.02


def as_sparse_rows(X: Features) -> SparseRows:
    """Return rows, dense or CSR, as the compiled loops read them; no stored zero changes anything."""
    X = sparse.csr_array(X)
    starts, columns = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)
    return SparseRows(starts, columns, np.ascontiguousarray(X.data, dtype=np.float64))


NO_SPARSE_ROWS = as_sparse_rows(np.zeros((0, 0)))


class SparseTreeBank(TreeBank):
    """Hoeffding trees whose observers add zeros together.

    Unless `decided`, the first row that is learnt may show that values are too many: the trees are then plain ones.
    """

    kind = TreeKind(learn_sparse, predict_sparse, sparse_size_bytes, as_sparse_rows, SparseChunk, NO_SPARSE_ROWS)

    def __init__(
        self, n_trees: int, n_features: int, n_classes: int, params: Any, *, n_groups: int = 1, decided: bool = True
    ) -> None:
        super().__init__(n_trees, n_features, n_classes, params, n_groups=n_groups)
        self.decided = decided

    def find(self, tree: int) -> tuple[TreeArrays, int]:
        """Return the arrays that hold a tree, and its index there."""
        trees, place = super().find(tree)
        return trees.arrays if isinstance(trees, SparseTrees) else trees, place

    def _run(self, X: Features, codes: Array, weight: Array | None, X_predict: Features | None, votes: Array) -> None:
        if not self.decided and X.shape[0]:
            self.decided = True
            n_values = np.count_nonzero(X[:1].data if isinstance(X, sparse.csr_array) else X[:1])
            if n_values > MOST_VALUES_SHARE * self.n_features:
                self.kind, self.tree_arrays = TreeBank.kind, [trees.arrays for trees in self.tree_arrays]
        super()._run(X, codes, weight, X_predict, votes)

    def _new_trees(self, trees: slice) -> Any:
        n_trees = trees.stop - trees.start
        plain = self.kind is TreeBank.kind
        return super()._new_trees(trees) if plain else new_sparse_trees(n_trees, self.n_features)
