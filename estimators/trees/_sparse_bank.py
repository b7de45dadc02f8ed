"""Compiled trees whose rows cost their values that are not zero, for wide tables."""

from typing import cast

import numpy as np
from scipy import sparse

from estimators.contract.validation import Features
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


def as_sparse_rows(X: Features) -> SparseRows:
    """Return rows, dense or CSR, as the compiled loops read them; no stored zero changes anything."""
    X = sparse.csr_array(X)
    starts, columns = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)
    return SparseRows(starts, columns, np.ascontiguousarray(X.data, dtype=np.float64))


NO_SPARSE_ROWS = as_sparse_rows(np.zeros((0, 0)))


class SparseTreeBank(TreeBank):
    """Hoeffding trees whose observers add zeros together."""

    kind = TreeKind(learn_sparse, predict_sparse, sparse_size_bytes, as_sparse_rows, SparseChunk, NO_SPARSE_ROWS)

    def find(self, tree: int) -> tuple[TreeArrays, int]:
        """Return the arrays that hold a tree, and its index there."""
        trees, place = super().find(tree)
        return cast("SparseTrees", trees).arrays, place

    def _with_bins(self, trees: SparseTrees) -> SparseTrees:
        return trees  # all features are numbers

    def _new_trees(self, trees: slice) -> SparseTrees:
        return new_sparse_trees(trees.stop - trees.start, self.n_features)
