"""Compiled trees for estimators: rows in blocks, trees in groups, one thread for each group."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from numpy.random import RandomState

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.contract.batching import blocks, dense
from estimators.contract.parameters import NUMBERS
from estimators.contract.validation import Features
from estimators.trees._bins import NO_BINS, Bins
from estimators.trees._kernels.categories import ALL_NUMBERS
from estimators.trees._kernels.hoeffding import SKIP, TreeChunk, TreeParams, learn, predict
from estimators.trees._kernels.tree_arrays import TreeArrays, new_trees, size_bytes

# with less work, starting threads takes longer than the work; the overhead of a row costs as much as so many features
WORK_PER_THREAD = 400_000
ROW_OVERHEAD_FEATURES = 30
UNLIMITED_DEPTH = 2**31 - 1
NO_ROWS = np.zeros((0, 0))
NO_WEIGHTS = np.zeros(0)
INTEGERS = np.dtype(np.int64)
# what is learnt from a label that is absent, present or unknown
CODES = np.arange(3)
CODES[UNKNOWN] = SKIP


class TreeKind(NamedTuple):
    """Compiled functions of a kind of tree, and the form in which they take rows."""

    learn: Callable[..., Any]
    predict: Callable[..., None]
    size_bytes: Callable[..., int]
    as_rows: Callable[[Features], Any] = dense
    chunk_of: type = TreeChunk
    no_rows: Any = NO_ROWS


class TreeBank:
    """Hoeffding trees over the same features, in groups for threads; results do not depend on the grouping.

    Every tree has the same classes. The number of groups is the largest number of threads. `nominal` holds positions of
    features. A bank of another kind of tree replaces `kind`, `_new_trees`, and `_with_bins` where its trees are more
    than `TreeArrays`.
    """

    kind: TreeKind = TreeKind(learn, predict, size_bytes)
    bins = NO_BINS

    def __init__(
        self,
        n_trees: int,
        n_features: int,
        n_classes: int,
        params: Any,
        *,
        n_groups: int = 1,
        nominal: Array = ALL_NUMBERS,
    ) -> None:
        self.n_features, self.n_classes = n_features, n_classes
        self.params, self.bins = params, Bins(nominal)
        self.n_threads = n_groups
        self.groups = split_evenly(n_trees, n_groups)
        self.tree_arrays: list[Any] = [self._new_trees(group) for group in self.groups]

    def grown(self, n_new: int, rng: RandomState | None = None) -> Self:  # noqa: ARG002 - these trees draw nothing
        """Return a bank with more trees, in a group of their own; the trees that there were are shared.

        Trees that draw take the seeds of all trees from `rng`, if there is one, as in a new bank.
        """
        bank, new = copy(self), slice(self.n_trees, self.n_trees + n_new)
        bank.groups = [*self.groups, new]
        bank.tree_arrays = [*self.tree_arrays, bank._new_trees(new)]
        return bank

    def learn(
        self, X: Features, codes: Array, *, weight: Array | None = None, X_predict: Features | None = None
    ) -> None:
        """Learn rows in order; codes (n_rows, n_trees) are classes or `SKIP`."""
        self._run(X, codes, weight, X_predict, np.empty((0, self.n_trees, self.n_classes)))

    def predict_then_learn(
        self, X: Features, codes: Array, *, weight: Array | None = None, X_predict: Features | None = None
    ) -> Array:
        """Return the votes (n_rows, n_trees, n_classes) for each row of X, or of `X_predict`, before learning it."""
        votes = np.empty((X.shape[0], self.n_trees, self.n_classes))
        self._run(X, codes, weight, X_predict, votes)
        return votes

    def predict(self, X: Features) -> Array:
        """Return the votes (n_rows, n_trees, n_classes) for each row."""
        votes = np.empty((X.shape[0], self.n_trees, self.n_classes))
        X = self.bins.of(X, learning=False)
        if X.shape[0] == 1 and len(self.groups) == 1:
            self.kind.predict(self.tree_arrays[0], self.kind.as_rows(X), votes, 0)
            return votes

        def run_group(g: int) -> None:
            for rows in blocks(X):
                self.kind.predict(self.tree_arrays[g], self.kind.as_rows(X[rows]), votes[rows], self.groups[g].start)

        self._in_threads(run_group, X)
        return votes

    def find(self, tree: int) -> tuple[TreeArrays, int]:
        """Return the arrays that hold a tree, and its index there."""
        group = next(g for g, trees in enumerate(self.groups) if trees.start <= tree < trees.stop)
        return self.tree_arrays[group], tree - self.groups[group].start

    @property
    def size_bytes(self) -> int:
        """Size of all arrays."""
        return sum(self.kind.size_bytes(arrays) for arrays in self.tree_arrays)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.groups[-1].stop

    def _new_trees(self, trees: slice) -> Any:
        """Return the arrays of new trees, which are those places of the bank."""
        return new_trees(trees.stop - trees.start, self.n_features, nominal=self.bins.nominal)

    def _with_bins(self, trees: Any) -> Any:
        """Return trees with room for all values of nominal features."""
        return self.bins.known_to(trees)

    def _run(self, X: Features, codes: Array, weight: Array | None, X_predict: Features | None, votes: Array) -> None:
        weights = NO_WEIGHTS if weight is None else weight
        codes = np.ascontiguousarray(codes, dtype=INTEGERS)
        X = self.bins.of(X, learning=True)
        X_predict = None if X_predict is None else self.bins.of(X_predict, learning=False)
        self.tree_arrays = [self._with_bins(trees) for trees in self.tree_arrays]
        if len(codes) == 1 and len(self.groups) == 1:
            # a call with one row should cost little more than the row
            to_predict = self.kind.no_rows if X_predict is None else self.kind.as_rows(X_predict)
            chunk = self.kind.chunk_of(to_predict, self.kind.as_rows(X), codes, weights, 0)
            self.tree_arrays[0] = self.kind.learn(self.tree_arrays[0], chunk, self.params, votes)
            return

        def run_group(g: int) -> None:
            for rows in blocks(X):
                to_predict = self.kind.no_rows if X_predict is None else self.kind.as_rows(X_predict[rows])
                first = self.groups[g].start
                chunk = self.kind.chunk_of(to_predict, self.kind.as_rows(X[rows]), codes[rows], weights[rows], first)
                self.tree_arrays[g] = self.kind.learn(self.tree_arrays[g], chunk, self.params, votes[rows])

        self._in_threads(run_group, X)

    def _in_threads(self, work: Callable[[int], None], X: Features) -> None:
        groups = range(len(self.groups))
        n_threads = min(self.n_threads, len(groups))
        work_in_all = X.shape[0] * self.n_trees * (X.shape[1] + ROW_OVERHEAD_FEATURES)
        if n_threads == 1 or work_in_all < WORK_PER_THREAD * n_threads:
            for g in groups:
                work(g)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            for done in [pool.submit(work, g) for g in groups]:
                done.result()


def has_bank(estimator: object) -> bool:
    """Return whether an estimator makes banks for meta-estimators; a class that is derived from it does not."""
    return "_new_bank" in vars(type(estimator))


def split_evenly(n: int, n_groups: int) -> list[slice]:
    """Divide n places into as many groups of nearly equal size, none of them empty."""
    edges = np.linspace(0, n, min(n_groups, n) + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(edges)]


def codes_of(Y: Array, mask: npt.NDArray[np.bool_] | None = None) -> Array:
    """Return the code that each target learns from each row: 0 or 1, or a class; `SKIP` where masked or unknown."""
    codes = CODES.take(Y) if Y.ndim == 2 else Y.astype(np.int64)[:, np.newaxis]
    if mask is not None:
        codes[~mask] = SKIP
    return codes


def decide(votes: Array) -> tuple[Array, Array]:
    """Return decisions and probabilities (n_rows, n_trees) from the votes for two classes, 0 on a tie."""
    if len(votes) == 1:
        # NumPy takes a third of the time over one dimension
        absent, present = votes[0, :, 0], votes[0, :, 1]
        return (present > absent)[None], present[None]
    return votes[:, :, 1] > votes[:, :, 0], votes[:, :, 1]


def check_growth(estimator: Any) -> None:
    """Check the parameters that bound the growth of every kind of tree."""
    for name, minimum in (("grace_period", 1), ("tau", 0), ("max_bytes", 0)):
        check_at_least(getattr(estimator, name), name, minimum)
    check_share(estimator.delta, "delta")


def check_at_least(value: object, name: str, minimum: int) -> None:
    """Refuse anything but a number from a minimum on; infinity is one."""
    if not isinstance(value, NUMBERS) or not value >= minimum:
        raise ValueError(f"{name} must be at least {minimum}. Got {value!r} instead.")


def check_share(value: object, name: str) -> None:
    """Refuse anything but a number above 0, and at most 1."""
    if not isinstance(value, NUMBERS) or not 0 < value <= 1:
        raise ValueError(f"{name} must be in (0, 1]. Got {value!r} instead.")


def check_tree_params(estimator: Any) -> TreeParams:
    """Check the parameters of an estimator of Hoeffding trees, and return them as the compiled loops read them."""
    check_growth(estimator)
    depth = estimator.max_depth
    if depth is not None and not (isinstance(depth, NUMBERS) and depth >= 0):
        raise ValueError(f"max_depth must be None or at least 0. Got {estimator.max_depth!r} instead.")
    return TreeParams(
        grace_period=float(estimator.grace_period),
        delta=float(estimator.delta),
        tau=float(estimator.tau),
        max_depth=UNLIMITED_DEPTH if depth is None else int(min(depth, UNLIMITED_DEPTH)),
        max_bytes=float(estimator.max_bytes),
    )
