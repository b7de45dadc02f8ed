"""Ask for so many labels and no more, around any classifier."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Self

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Estimator, MaskLike, MatrixLike, RandomStateLike
from estimators.contract.base import Mask, _take_metadata
from estimators.contract.failed_calls import DivergedError, unchanged_on_error, unchanged_or_marked
from estimators.contract.parameters import Rule, check_rules
from estimators.contract.targets import as_table
from estimators.contract.traits import traits_of
from estimators.contract.unknown_labels import take_rows
from estimators.contract.validation import Features
from estimators.meta._around_any import AroundAnyClassifier, as_floats
from estimators.meta._kernels import asking as kernel
from estimators.replay._meta_base import begin_inner
from estimators.replay.memories import chances
from metrics.validation import require_choice, require_integer

_STRATEGIES = {
    "random": kernel.RANDOM,
    "uncertainty": kernel.UNCERTAINTY,
    "cardinality": kernel.CARDINALITY,
    "rarity": kernel.RARITY,
}
# by default a window has the labels of so many rows
_ROWS_IN_WINDOW = 10
# the log of a window stays below 80 MB
_LEAST_BUDGET, _LONGEST_WINDOW = 1e-5, 10_000_000
_BUDGET_RULE: Rule = (Real, lambda value: _LEAST_BUDGET <= value <= 1, "a share of the labels, from 0.00001 to 1")

# Learns the labels that are asked for in a row.
_Learn = Callable[[int, Mask], None]


class LabelBudget(AroundAnyClassifier):
    """Learn from the labels that are worth asking for, at most a share of all, around any classifier.

    Each row is predicted first. Then the strategy decides, without a look at the labels, whether to ask for them. All
    other labels are unknown to the classifier inside, whatever `Y` holds.

    Parameters
    ----------
    estimator : estimator instance
        One of our classifiers; or any scikit-learn classifier with ``partial_fit`` and ``predict_proba``, of which each
        label learns a copy (`BinaryRelevance`).
    budget : float, default=0.1
        Share of the labels that may be asked for, at least 0.00001. With 1, all are.
    strategy : {"random", "uncertainty", "cardinality", "rarity"}, default="uncertainty"
        Which labels are worth asking for (see Notes).
    ask : {"auto", "labels", "rows"}, default="auto"
        Whether to ask for single labels, which needs a classifier that learns rows known in part; or for all labels of
        a row or none. "auto": for single labels where that is possible, else for rows. A row of one class is asked for
        as a whole.
    window : int, optional
        Number of successive rows of which, wherever they begin, the budget is kept. By default it is as long as the
        budget has room for all labels of ten rows, ``ceil(10 / budget)``.
    random_state : int, RandomState instance or None, default=None
        Seed of the strategy.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    estimator_ : StreamClassifier
        The classifier, as it has learnt.
    n_rows_ : int
        Number of rows for which it was decided.
    share_asked_ : float
        Share of their labels that was asked for: the mean over rows, of the labels that count in each.
    n_answers_ : ndarray of shape (n_labels, 2) or (n_classes, 2)
        How often the answer was 0, and 1, for each label.
    counted_scores_ : dict
        `share_asked_`, as ``share_asked``, for records of evaluations.

    See Also
    --------
    PrequentialStack : Learners that are weighted by the labels that are known.

    Notes
    -----
    A row's labels cost 1 together, and each an equal part of it. With n rows so far, those asked for may cost
    ``budget * n``; and any `window` successive rows, ``budget * window``. So no window of a whole number of such
    lengths is overspent either, and one between two lengths at most as much as the longer. A row that comes without any
    known label is only predicted: it counts nowhere. An unknown label that is asked for costs as much as a known one.

    The labels of a row are looked at in random order. While there is room in the budget, one of probability p is asked
    for if

    - "random": a number drawn from [0, 1) is less than a = (1 + budget) / 2;
    - "uncertainty": u = 2 min(p, 1 - p) is at least ``t * z``. At first t is the first value of u that is not 0. It
      becomes 1.01 t if the label is asked for, and else t / (1 + 0.01 a / (1 - a)), so that a share a passes; z is
      drawn from a normal distribution of mean 1 and standard deviation 1. This is the randomised variable threshold of
      Zliobaite et al. (2014), for the uncertainty instead of the confidence, whose differences are small beside those
      of z, and with a step down that spends budgets beyond 1/2, too;
    - "cardinality": so is sqrt(u * abs(c - m)). Here c is the number of labels of the row with p >= 1/2, and m the
      number that is usual: the sum of the shares of positive answers, each with half an answer of either kind
      beforehand;
    - "rarity": so is p / sqrt(n1 + 1) + (1 - p) / sqrt(n0 + 1), with n1 and n0 the positive and negative answers for
      the label so far. The rarer an answer has been, the more one is expected to teach.

    Each label has its own t. Where there is no room for a label, its t stays.

    With ``ask="rows"``, the mean of u, or of the term for rarity, over the labels of a row decides, and there is one t.
    For one class a row, u is 2 (1 - p) with p the greatest probability.

    Answers that come later are for `query` and `teach`: `query` decides for rows, and `teach` learns what it is given,
    at no cost. All other methods that learn decide for each row and learn the answers at once.

    Parameters are read when learning begins. Rows are decided for one by one. Those for which there is no room are
    predicted together, which changes no bit.

    References
    ----------
    Zliobaite, Bifet, Pfahringer, Holmes, "Active learning with drifting streaming data", IEEE TNNLS 25(1), 2014.
    Li, Guo, "Active learning with multi-label SVM classification", IJCAI 2013 (inconsistency of label cardinality).
    Qiao et al., "OMAL: A multi-label active learning approach from data streams", Entropy 27(4):363, 2025, and
    Rahimian, Mashayekhi, Khodabakhsh, "An adaptive active learning framework for sparsely labeled multi-label drifting
    data streams", Knowledge-Based Systems, 2025 (budgets for streams of rare labels).

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import LabelBudget, OnlineLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> learner = LabelBudget(OnlineLogisticRegression(), budget=0.05, random_state=0)
    >>> Y_pred, Y_proba = learner.predict_then_fit(X, Y)
    >>> bool(learner.n_answers_.sum() <= 0.05 * Y.size)
    True
    >>> bool((Y_pred == Y)[-1000:].mean() > 0.9)
    True

    Somebody answers, later:

    >>> asked = learner.query(X[:40])
    >>> answers = np.where(asked, Y[:40], np.nan)
    >>> learner = learner.teach(X[:40], answers)
    """

    def __init__(
        self,
        estimator: Estimator,
        budget: float = 0.1,
        *,
        strategy: str = "uncertainty",
        ask: str = "auto",
        window: int | None = None,
        random_state: RandomStateLike = None,
    ) -> None:
        self.estimator = estimator
        self.budget = budget
        self.strategy = strategy
        self.ask = ask
        self.window = window
        self.random_state = random_state

    # ------------------------------------------------------------------- live
    def query(self, X: MatrixLike) -> Mask:
        """Decide for which labels of rows that come next to ask, and enter them in the budget.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        bool ndarray of shape (n_samples, n_labels) or (n_samples,)
            True for a label, or for the class of a row, that is asked for.

        Raises
        ------
        ValueError
            If anything in the call is wrong; nothing is asked for.
        NotFittedError
            Before anything is learnt; `begin` announces the labels.
        """
        with unchanged_on_error(self):
            X = self._check_features(X)
            asked = np.zeros((X.shape[0], self._n_columns), dtype=np.bool_)

            def note(row: int, labels: Mask) -> None:
                asked[row] = labels

            self._walk(X, None, note)
            return asked if self._target.multilabel else asked[:, 0]

    def teach(self, X: MatrixLike, Y: MatrixLike, *, label_mask: MaskLike = None) -> Self:
        """Learn answers, which the budget has paid for already.

        Parameters
        ----------
        X, Y, label_mask
            As in `partial_fit`; labels that nobody was asked for are NaN in `Y`.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.

        Raises
        ------
        ValueError
            If anything in the call is wrong.
        DivergedError
            As in `partial_fit`.
        """
        with unchanged_or_marked(self):
            (X, codes, mask, weight), _ = self._check_to_learn(X, Y, None, label_mask, None, {})
            if len(codes):
                self._learn_answers(X, codes, mask, weight, {})
        return self

    # ------------------------------------------------------------------ facts
    @property
    def n_rows_(self) -> int:
        """Number of rows for which it was decided."""
        return int(self._ledger["now"][0])

    @property
    def share_asked_(self) -> float:
        """Share of their labels that was asked for."""
        return float(self._ledger["spent"][0]) / max(self.n_rows_, 1)

    @property
    def n_answers_(self) -> Array:
        """How often the answer was 0, and 1, for each label."""
        return self._counts.astype(np.int64)

    @property
    def counted_scores_(self) -> dict[str, float]:
        """Scores for records of evaluations."""
        return {"share_asked": self.share_asked_}

    # ------------------------------------------------------------------ hooks
    @property
    def _rows_to_compile(self) -> int:
        return math.ceil(4 * self._model._rows_to_compile / self.budget)

    def _start(self) -> None:
        check_rules({"budget": self.budget}, {"budget": _BUDGET_RULE})
        require_choice(self.strategy, "strategy", tuple(_STRATEGIES))
        require_choice(self.ask, "ask", ("auto", "labels", "rows"))
        self._check_estimator()
        self._asks_labels = self._find_unit()
        self._recent = np.zeros(self._check_window())
        self._ledger = np.zeros(1, kernel.LEDGER)
        first = self._ledger[0]
        first["budget"], first["strategy"] = self.budget, _STRATEGIES[self.strategy]
        first["of_classes"] = not self._target.multilabel
        self._threshold = np.zeros(self._n_columns if self._asks_labels else 1)
        self._counts = np.zeros((self._n_columns, 2))
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.estimator_ = begin_inner(self, None)

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        n_new = self.n_labels_ - n_before
        if self._asks_labels:
            self._threshold = np.append(self._threshold, np.zeros(n_new))
        self._counts = np.vstack([self._counts, np.zeros((n_new, 2))])

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:  # noqa: ARG002 - rows are learnt one by one
        return ["estimator_"] if n_rows > 1 and traits_of(self._model).fails_late else []

    def _check_unknown(self, codes: Array, mask: Mask | None) -> tuple[Array, Mask | None, Mask | None]:
        # that an answer is not known turns out when it is asked for
        return codes, mask, super()._check_unknown(codes, mask)[2]

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, **metadata: Array) -> None:
        if weight is not None and not (weight > 0).all():
            kept = weight > 0
            X, Y, mask, weight = take_rows(kept, X, Y, mask, weight)
            metadata = _take_metadata(metadata, kept)
        if len(Y):
            self._decide_then_learn(X, Y, mask, weight, metadata)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None, **metadata: Array) -> tuple[Array, Array]:
        return self._decide_then_learn(X, Y, mask, None, metadata)

    # ------------------------------------------------------------------ parts
    def _find_unit(self) -> bool:
        """Return whether single labels are asked for; refuse them for a classifier that learns whole rows."""
        learns_parts = self._model.uses_task or self._model._traits.learns_unknown
        if self.ask == "labels" and not learns_parts:
            name = type(self.estimator).__name__
            raise ValueError(f"ask must be 'rows' for {name}, which learns no row that is known in part. Got 'labels'.")
        if not self._target.multilabel and self.strategy == "cardinality":
            raise ValueError("strategy must be another one for one class a row, whose number is 1. Got 'cardinality'.")
        return self.ask != "rows" and learns_parts and self._target.multilabel

    def _check_window(self) -> int:
        """Return the number of rows of a window, of which the budget must have room for an answer."""
        if self.window is None:
            return math.ceil(_ROWS_IN_WINDOW / self.budget)
        window, n_answers = require_integer(self.window, "window", 1), self._n_columns if self._asks_labels else 1
        least = math.ceil(1 / (self.budget * n_answers))
        if not least <= window <= _LONGEST_WINDOW:
            raise ValueError(
                f"window must be at least {least} rows, for a budget of {self.budget} to have room for an answer, and "
                f"at most {_LONGEST_WINDOW:,}. Got {window} instead."
            )
        return window

    def _decide_then_learn(
        self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, metadata: dict[str, Array]
    ) -> tuple[Array, Array]:
        def learn(row: int, labels: Mask) -> None:
            one = slice(row, row + 1)
            codes = Y[one] if Y.ndim == 1 else np.where(labels, Y[one], UNKNOWN)
            part = None if mask is None else mask[one], None if weight is None else weight[one]
            self._learn_answers(X[one], codes, *part, _take_metadata(metadata, one))

        return self._walk(X, mask, learn)

    def _learn_answers(
        self, X: Features, codes: Array, mask: Mask | None, weight: Array | None, metadata: dict[str, Array]
    ) -> None:
        self.estimator_.partial_fit(X, as_table(codes), label_mask=mask, sample_weight=weight, **metadata)
        counted = codes if mask is None else np.where(mask, codes, UNKNOWN)
        if codes.ndim == 1:
            counted = np.equal.outer(codes, np.arange(self._n_columns))
        self._counts = self._counts.copy()
        kernel.count_answers(np.ascontiguousarray(counted, dtype=np.uint8), self._counts)

    def _walk(self, X: Features, mask: Mask | None, learn: _Learn) -> tuple[Array, Array]:
        """Predict rows one after the other, decide what to ask for, and learn it; return the predictions."""
        n_rows, inner, predictions, start = X.shape[0], self.estimator_, [], 0
        self._ledger, self._threshold = self._ledger.copy(), self._threshold.copy()
        if n_rows > 1:
            # a single row is entered when nothing can fail any more
            self._recent = self._recent.copy()
        chance, order = self._draw(n_rows)
        least = 1.0 / self._n_columns if self._asks_labels else 1.0
        while start < n_rows:
            row = start + kernel.rows_to_wait(self._ledger, self._recent, least, n_rows - start)
            predictions.append(inner._infer_each(X[start : row + 1]))
            kernel.enter_rows(self._ledger, self._recent, row - start, 0.0)
            if row < n_rows:
                proba = inner._target.probabilities(predictions[-1][1][-1:])[0]
                labels, cost = self._decide(proba, None if mask is None else mask[row], chance[row], order[row])
                if cost:
                    learn(row, labels)
                kernel.enter_rows(self._ledger, self._recent, 1, cost)
            start = row + 1
        decided, scores = zip(*predictions, strict=True)
        return np.concatenate(decided), np.concatenate(scores)

    def _decide(self, proba: Array, counted: Mask | None, chance: Array, order: Array) -> tuple[Mask, float]:
        """Return which labels of a row to ask for, and what they cost."""
        proba = as_floats(proba)
        if math.isnan(sum(proba.tolist())):
            raise DivergedError(f"estimator must return probabilities. Got {proba.tolist()} for the labels of a row.")
        counted = np.ones(self._n_columns, dtype=np.bool_) if counted is None else counted
        if self._ledger["budget"][0] == 1:
            return counted, 1.0
        if not self._asks_labels:
            asks = kernel.ask_row(proba, counted, chance[0], self._ledger, self._threshold, self._counts)
            return counted, float(asks)
        asked = np.zeros(self._n_columns, dtype=np.bool_)
        state = self._ledger, self._recent, self._threshold, self._counts
        return asked, kernel.ask_labels(proba, counted, chance, order, *state, asked)

    def _draw(self, n_rows: int) -> tuple[Array, Array]:
        """Return numbers for the strategy, and the order of labels, for each row that comes next."""
        n_columns = len(self._threshold)
        rows = np.arange(self.n_rows_, self.n_rows_ + n_rows)
        drawn = chances(self._seed, rows, 2 * n_columns)
        chance, order = np.ascontiguousarray(drawn[:, :n_columns]), np.argsort(drawn[:, n_columns:], axis=1)
        return (chance if self._ledger["strategy"][0] == kernel.RANDOM else ndtri(chance)), order
