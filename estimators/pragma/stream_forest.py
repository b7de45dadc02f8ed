"""An adaptive random forest whose votes are weighted, while the stream runs, so that PRAGMA is low."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.categories import placed
from estimators.contract.explanations import Terms, mapped
from estimators.contract.locks import lock_of
from estimators.contract.targets import ClassTarget
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.pragma._preferences import Floors, Pairs, Preferences, Weights
from estimators.pragma._vote_search import Search, SearchOptions
from estimators.pragma._vote_weights import VoteWeighting, shares
from estimators.trees._explanations import with_rest
from estimators.trees._forest_bank import ForestBank
from estimators.trees._importances import importances
from estimators.trees._kernels.hoeffding import SKIP
from estimators.trees._multilabel_forest import MultilabelForest
from estimators.trees._tree_bank import codes_of
from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier, explained
from metrics.validation import require_integer


class PragmaStreamForestClassifier(StreamClassifier):
    """Adaptive random forest whose votes are weighted by class, or by label, so that PRAGMA is low.

    A row is assigned to the class with the greatest product of weight and votes. Every `period` rows the weights are
    searched again, on the votes on the last `window` rows, each cast before its row was learnt. Where drift replaces
    the forest, votes of the former one no longer count.

    Parameters
    ----------
    forest : AdaptiveRandomForestClassifier, optional
        The forest, one for each label; it is copied, never changed. None: one with its defaults.
    importance : float or mapping, default=1.0
        Weight of every class in PRAGMA, or of each one (of each label, by its index); greater than 0.
    compromise : (float, float) or mapping, default=(0.5, 0.5)
        (x, y): to reach a recall of 1 a precision of x is accepted, to reach a precision of 1 a recall of y. For every
        class, or for each one; both in [0, 1).
    local : callable, optional
        Loss of a class from its (recall, precision), in place of the plane that `compromise` defines, as in
        `metrics.pragma`.
    min_recall, min_precision : float or mapping, optional
        Least recall and precision of every class, or of those that a mapping names (of labels, by their index), in
        [0, 1], on the votes that a search uses: PRAGMA is lowered among the weights that reach these floors. Where
        none are found, those that lack least are used.
    window : int, default=1000
        Number of last rows that a search uses.
    period : int, default=100
        Number of rows from one search to the next.
    search, n_restarts, n_moves
        As in `PragmaForestClassifier`.
    random_state : int, RandomState instance or None, default=None
        Randomness of the search, and of the forest unless that has its own.

    Attributes
    ----------
    forest_ : ForestBank or MultilabelForest
        The members, in flat arrays.
    feature_importances_ : ndarray of shape (n_features,)
        As of the forest; weights of votes play no part.
    vote_weights_ : ndarray of shape (n_classes,) or (n_labels,)
        Weights of votes: of each class, their product being 1, or of a label against its absence.
    pragma_ : float
        PRAGMA on the votes that the last search used; NaN before any search.
    shortfall_ : float
        Sum of what recalls and precisions lack to their floors, where PRAGMA is measured; 0 if all are reached.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.

    See Also
    --------
    AdaptiveRandomForestClassifier : the forest.
    PragmaThreshold : the same search over any estimator with ``predict_proba``.
    PragmaForestClassifier : the same for a table.

    Notes
    -----
    Votes are those of `AdaptiveRandomForestClassifier`: members vote by probabilities times their accuracy. A vote
    counts for the search while fewer than half of the members that cast it have been replaced; after a drift, weights
    stay until half as many rows as `period` count again. A label that does not occur among the rows that count keeps
    its weight.

    A row costs one learning step of the forest and its share of a search, which runs once in `period` rows and costs,
    for each label, O(window x log(window)) a pass over the weights (O(window x classes x log(window)) for classes):
    both are bounded. So is memory, by that of the forest and ``8 * window * n_labels * 4`` bytes of votes (of classes,
    ``8 * window * (n_classes + 2)``). What is learnt does not depend on how a stream is cut into chunks. A row's
    ``sample_weight`` is for the forest; in the search all rows but those of weight 0 count the same. Probabilities are
    shares of weighted votes, not calibrated estimates.

    References
    ----------
    J. Thomas, P.-E. Jouve, N. Nicoloyannis, "Mesure non symétrique pour l'évaluation de modèles, utilisation pour les
    jeux de données déséquilibrés", EGC 2007.
    Gomes et al., Adaptive random forests for evolving data stream classification, Machine Learning 106, 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metrics import pragma
    >>> from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier
    >>> from estimators.pragma.stream_forest import PragmaStreamForestClassifier
    >>> X, y = make_classification(3000, weights=[0.9], class_sep=0.5, random_state=0)
    >>> wanted = {"importance": {0: 1, 1: 10}, "compromise": {0: (0.5, 0.5), 1: (0.1, 0.9)}}
    >>> forest = AdaptiveRandomForestClassifier(random_state=0)
    >>> plain, _ = forest.begin(X, y).predict_then_fit(X, y)
    >>> weighted, _ = PragmaStreamForestClassifier(forest, **wanted).begin(X, y).predict_then_fit(X, y)
    >>> bool(pragma(y, weighted, **wanted) < pragma(y, plain, **wanted))
    True
    """

    _traits = Traits(takes_codes=True, learns_unknown=True)

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        forest: AdaptiveRandomForestClassifier | None = None,
        *,
        importance: Weights = 1.0,
        compromise: Pairs = (0.5, 0.5),
        local: Callable[[float, float], float] | None = None,
        min_recall: Floors = None,
        min_precision: Floors = None,
        window: int = 1000,
        period: int = 100,
        search: Search = "exact",
        n_restarts: int = 1,
        n_moves: int = 20_000,
        random_state: RandomStateLike = None,
    ) -> None:
        self.forest = forest
        self.importance = importance
        self.compromise = compromise
        self.local = local
        self.min_recall = min_recall
        self.min_precision = min_precision
        self.window = window
        self.period = period
        self.search = search
        self.n_restarts = n_restarts
        self.n_moves = n_moves
        self.random_state = random_state

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt."""
        return self.forest is not None and self.forest.uses_task

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of entropy by the splits; zeros before any split."""
        check_is_fitted(self)
        with lock_of(self):
            return importances(self.forest_.importances())

    # ------------------------------------------------------------------ hooks
    def _size_bytes(self) -> int:
        return self.forest_.size_bytes + sum(array.nbytes for array in self._window)

    def _start(self) -> None:
        for name in ("window", "period"):
            require_integer(getattr(self, name), name, 1)
        n_targets, n_classes = (self.n_labels_, 2) if self._target.multilabel else (1, len(self.classes_))
        rng = check_random_state(self.random_state)
        self.forest_ = self._new_forest(n_targets, n_classes, rng)
        self._window = VoteWindow.empty(n_targets, n_classes)
        self.vote_weights_ = np.ones(n_targets if self._target.multilabel else n_classes)
        self.pragma_, self.shortfall_ = float("nan"), 0.0
        self._n_since_search, self._drifts_at_search = 0, self._drifts()
        self._seed = rng.randint(np.iinfo(np.int32).max)
        self._weighting()  # invalid preferences are refused before anything is learnt

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            X, Y, mask, weight = X[kept], Y[kept], None if mask is None else mask[kept], weight[kept]
        self._vote_then_learn(X, codes_of(Y, mask), weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        return self._vote_then_learn(X, codes_of(Y, mask), None)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self._decide(self.forest_.predict(X))

    def _explain(self, X: Features) -> Terms:
        scores, weights = self._infer(X)[1], self.vote_weights_
        if self._target.multilabel:
            terms = explained(self.forest_, X, of_classes=False)
            weighted = mapped(terms, lambda share: weights * share / (weights * share + (1.0 - share)), "probability")
            return with_rest(weighted.base, weighted.contributions, scores)
        terms = explained(self.forest_, X, of_classes=True)
        votes = np.where(self.forest_.predict(X)[:, 0].any(axis=1, keepdims=True), terms.scores * weights, scores)
        found = with_rest(terms.base * weights, terms.contributions * weights[:, np.newaxis], votes)
        return found._replace(scale="vote")

    # ------------------------------------------------------------------ parts
    @property
    def _rows_to_compile(self) -> int:
        # the first search
        return self.period

    def _new_forest(self, n_targets: int, n_classes: int, rng: np.random.RandomState) -> ForestBank | MultilabelForest:
        if not isinstance(self.forest, AdaptiveRandomForestClassifier | None):
            raise TypeError(f"forest must be an AdaptiveRandomForestClassifier or None. Got {self.forest!r} instead.")
        forest = AdaptiveRandomForestClassifier() if self.forest is None else clone(placed(self.forest, self))
        seed = rng if forest.random_state is None else forest.random_state
        return forest.build_forest(n_targets, n_classes, self.n_features_in_, seed, of_labels=self._target.multilabel)

    def _vote_then_learn(self, X: Features, codes: Array, weight: Array | None) -> tuple[Array, Array]:
        """Let the forest vote and learn until the next search is due, search, and continue."""
        n_rows, begin = X.shape[0], 0
        if self._n_since_search + n_rows >= self.period:
            self._weighting()  # set_params may have changed the preferences: invalid ones are refused first
        decided, scores = self._decide(np.zeros((n_rows, *self._window.votes.shape[1:])))
        while begin < n_rows:
            rows = slice(begin, min(begin + self.period - self._n_since_search, n_rows))
            votes = self.forest_.learn(X[rows], codes[rows], None if weight is None else weight[rows])
            decided[rows], scores[rows] = self._decide(votes)
            self._window = self._window.append(votes, codes[rows], self._drifts_at_search, self.window)
            self._n_since_search = (self._n_since_search + len(votes)) % self.period
            if self._n_since_search == 0:
                self._drifts_at_search = self._drifts()
                self._search()
            begin = rows.stop
        return decided, scores

    def _search(self) -> None:
        # the same seed for every search: how a stream is cut must not matter
        rng = np.random.RandomState(self._seed)
        if self._target.multilabel:
            self._search_labels(rng)
        elif len(self.classes_) > 1:
            current = self._current_votes(0)
            if self._are_enough(current):
                fitted = self._weighting().fit(current.votes, current.codes, rng)
                self.vote_weights_, self.pragma_ = fitted.weights, fitted.pragma
                self.shortfall_ = float(fitted.lacking.sum())

    def _search_labels(self, rng: np.random.RandomState) -> None:
        weighting, weights, shortfall = self._weighting(), self.vote_weights_.copy(), 0.0
        values, theta = np.zeros(self.n_labels_), np.zeros(self.n_labels_)
        for j in range(self.n_labels_):
            current = self._current_votes(j)
            if self._are_enough(current) and current.codes.any():
                fitted = weighting.fit_label(j, current.votes, current.codes, rng)
                weights[j], values[j], theta[j] = fitted.weight, fitted.pragma, weighting.preferences.importance[j]
                shortfall += float(fitted.lacking.sum())
        self.vote_weights_, self.shortfall_ = weights, shortfall
        self.pragma_ = float(values @ theta / theta.sum()) if theta.any() else self.pragma_

    def _current_votes(self, j: int) -> "VoteWindow":
        return self._window.current(j, int(self._drifts_at_search[j]), (self.forest_.n_models + 1) // 2)

    def _are_enough(self, current: "VoteWindow") -> bool:
        return 2 * len(current.codes) >= min(self.period, self.window)

    def _drifts(self) -> Array:
        replaced = self.forest_.members["n_drifts"].sum(axis=1)
        return np.broadcast_to(replaced, self._window.codes.shape[1]).copy()

    def _weighting(self) -> VoteWeighting:
        target = self._target
        names = target.classes.tolist() if isinstance(target, ClassTarget) else list(range(target.width))
        preferences = Preferences.from_options(
            self.importance,
            self.compromise,
            names,
            local=self.local,
            min_recall=self.min_recall,
            min_precision=self.min_precision,
        )
        return VoteWeighting(preferences, None, SearchOptions(self.search, self.n_restarts, self.n_moves))

    def _decide(self, votes: Array) -> tuple[Array, Array]:
        if not self._target.multilabel:
            share = shares(votes[:, 0], self.vote_weights_)
            return share, share
        share = shares(votes, self.vote_weights_)
        return share > 0.5, share


class VoteWindow(NamedTuple):
    """Votes of forests on the last rows, oldest first. A window is a value: `append` returns another one."""

    votes: Array  # (n_rows, n_targets, n_classes)
    codes: Array  # int64, (n_rows, n_targets): true classes, `SKIP` where they are unknown
    drifts: Array  # int64, (n_rows, n_targets): members that had been replaced when the votes were cast

    @classmethod
    def empty(cls, n_targets: int, n_classes: int) -> Self:
        """Return an empty window."""
        no_codes = np.empty((0, n_targets), np.int64)
        return cls(np.empty((0, n_targets, n_classes)), no_codes, no_codes)

    def append(self, votes: Array, codes: Array, drifts: Array, size: int) -> Self:
        """Add rows whose votes were cast after the same number of drifts, and keep the last `size` rows."""
        per_row = np.broadcast_to(drifts, codes.shape)
        pairs = zip(self, (votes, codes, per_row), strict=True)
        return type(self)(*(np.concatenate(pair)[-size:].copy() for pair in pairs))

    def current(self, j: int, drifts: int, max_drifts: int) -> Self:
        """Return the rows of one target whose votes stand for the forest as it is now.

        These rows have a vote and a known truth, and fewer than `max_drifts` members have been replaced since.
        """
        kept = self.votes[:, j].any(axis=1) & (self.codes[:, j] != SKIP) & (drifts - self.drifts[:, j] < max_drifts)
        return type(self)(self.votes[kept, j], self.codes[kept, j], self.drifts[kept, j])
