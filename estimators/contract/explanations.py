"""Explanations of predictions: what each feature of a row adds to the score of each label."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from estimators._typing import Array, RandomStateLike
from estimators.contract.batching import blocks
from estimators.contract.lazy import needing
from estimators.contract.locks import lock_of
from estimators.contract.targets import ClassTarget
from estimators.contract.validation import Features
from metrics.validation import require_integer

Scale = Literal["logit", "probability", "vote"]
# Log-odds of the least probability that is predicted.
_LEAST_LOG_ODDS = float(np.log(np.finfo(np.float64).tiny))
# Scores nearer to their base have the slope that there is at the base, over a step.
_LEAST_DIFFERENCE, _STEP = 1e-9, 1e-6
# Labels that the text of one row lists.
_MOST_LABELS = 10


class Terms(NamedTuple):
    """The terms whose sum is a learner's score of each row and column; the columns are those of its probabilities."""

    scale: Scale
    base: Array  # (n_columns,)
    contributions: Array  # (n_samples, n_columns, n_features)
    scores: Array  # (n_samples, n_columns)
    interactions: Array | None = None  # (n_samples, n_columns, n_interactions)
    pairs: Array | None = None  # (n_pairs, 2): features whose products the first interactions are
    totals: tuple[str, ...] = ()  # names of the interactions after those
    errors: Array | None = None  # as contributions; only of estimates
    feature_names: tuple[str, ...] | None = None  # only where they are not those of the learner

    def both_classes(self) -> "Terms":
        """Return the terms of two classes from those of the second."""
        whole = 1.0 if self.scale == "probability" else 0.0
        added = np.concatenate([-self.contributions, self.contributions], axis=1)
        together = (
            None if self.interactions is None else np.concatenate([-self.interactions, self.interactions], axis=1)
        )
        first, base = np.hstack([whole - self.scores, self.scores]), np.concatenate([whole - self.base, self.base])
        return self._replace(base=base, contributions=added, scores=first, interactions=together)

    def of_last(self) -> "Terms":
        """Return the terms of the last column."""
        together = None if self.interactions is None else self.interactions[:, -1:]
        return self._replace(
            base=self.base[-1:],
            contributions=self.contributions[:, -1:],
            scores=self.scores[:, -1:],
            interactions=together,
        )

    def with_pairs_summed(self) -> "Terms":
        """Return the terms with one interaction for all products of two features."""
        if self.pairs is None or self.interactions is None or not len(self.pairs):
            return self
        n_pairs = len(self.pairs)
        products = self.interactions[:, :, :n_pairs].sum(axis=2, keepdims=True)
        together = np.concatenate([products, self.interactions[:, :, n_pairs:]], axis=2)
        return self._replace(interactions=together, pairs=None, totals=("products of features", *self.totals))

    def silenced(self, columns: Array) -> "Terms":
        """Return the terms with scores of probability 0 in some columns, whatever the features."""
        lowest = 0.0 if self.scale == "probability" else _LEAST_LOG_ODDS
        kept = ~columns[:, np.newaxis]
        added, together = self.contributions * kept, None if self.interactions is None else self.interactions * kept
        base, scores = (np.where(columns, lowest, part) for part in (self.base, self.scores))
        return self._replace(base=base, contributions=added, scores=scores, interactions=together)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a learner gives its labels the scores that it gives them: what each feature of a row adds to each score.

    Where it is exact, scores are sums: ``base + contributions.sum(axis=2) + interactions.sum(axis=2)``.

    Attributes
    ----------
    contributions : ndarray of shape (n_samples, n_labels, n_features)
        What each feature adds to the score of each label, beyond what it usually adds.
    base : ndarray of shape (n_labels,)
        Scores without any contribution: those of a usual row, as `StreamClassifier.explain` lists them.
    scores : ndarray of shape (n_samples, n_labels)
        Scores of the rows, by which the learner predicts.
    scale : {'logit', 'probability', 'vote'}
        What scores are: log-odds, probabilities, or votes that are not divided by their sum.
    interactions : ndarray of shape (n_samples, n_labels, n_interactions)
        What features add together, or what belongs to no feature.
    standard_errors : ndarray of shape (n_samples, n_labels, n_features) or None
        Standard errors of contributions that are estimated by permutation; None where they are exact.
    feature_names : tuple of str
        Names of the features.
    label_names : tuple of str
        Names of the labels, or of the classes.
    interaction_pairs : ndarray of shape (n_pairs, 2) or None
        Features whose products are the first interactions.
    interaction_totals : tuple of str
        Names of the interactions after those.
    is_exact : bool
        Whether base, contributions and interactions add up to the scores; not those that are estimated by permutation.
    interaction_names : tuple of str
        Names of the interactions.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OnlineLogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> learner = OnlineLogisticRegression(0.1).partial_fit(X, X[:, :2] > 0, classes=["scan", "worm"])
    >>> explanation = learner.explain([[0.2, 3.0, 0.1]])
    >>> [name for name, _ in explanation.top(1, label="worm")]
    ['x1']
    >>> total = explanation.base + explanation.contributions.sum(axis=2)
    >>> bool(np.allclose(total, explanation.scores, rtol=0, atol=1e-9))
    True
    """

    contributions: Array
    base: Array
    scores: Array
    scale: Scale
    interactions: Array
    standard_errors: Array | None
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    interaction_pairs: Array | None = None
    interaction_totals: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether base, contributions and interactions add up to the scores."""
        return self.standard_errors is None

    @cached_property
    def interaction_names(self) -> tuple[str, ...]:
        """Names of the interactions."""
        names, pairs = self.feature_names, [] if self.interaction_pairs is None else self.interaction_pairs.tolist()
        return (*(f"{names[first]} * {names[second]}" for first, second in pairs), *self.interaction_totals)

    def top(self, k: int = 5, *, label: int | str = 0, row: int = 0) -> list[tuple[str, float]]:
        """Return the features that add most to a score, or take most from it.

        Parameters
        ----------
        k : int, default=5
            Number of features, at least 1.
        label : int or str, default=0
            Position or name of the label.
        row : int, default=0
            Position of the row.

        Returns
        -------
        list of (str, float)
            Names and contributions, the largest first whatever their sign; ties in the order of the features. Those
            that add nothing are left out.
        """
        require_integer(k, "k", minimum=1)
        values = self.contributions[self._row(row), self.label_index(label)]
        order = np.argsort(-np.abs(values), kind="stable")[:k]
        return [(self.feature_names[f], float(values[f])) for f in order.tolist() if values[f] != 0.0]

    def describe(self, k: int = 5, *, label: int | str = 0, row: int = 0) -> str:
        """Say in one line what a score is made of.

        Parameters
        ----------
        k, label, row
            As in `top`.

        Returns
        -------
        str
            Label, score, scale, the features that `top` returns, and the largest interaction.
        """
        largest = ", ".join(f"{name} {value:+.3g}" for name, value in self.top(k, label=label, row=row)) or "as usual"
        j = self.label_index(label)
        score = f"{self.scores[row, j]:.3g}" if self.scale == "probability" else f"{self.scores[row, j]:+.3g}"
        kind = self.scale if self.is_exact else f"{self.scale}, estimated"
        together = self._largest_interaction(self._row(row), j)
        return f"{self.label_names[j]}, {score} ({kind}): {largest}{together}"

    def to_frame(self) -> Any:
        """Return everything as a table of pandas.

        Returns
        -------
        DataFrame
            A line for each term of each score: row, label, term, kind ("base", "feature", "interaction" or "score"),
            and value.
        """
        with needing("Explanation.to_frame"):
            import pandas as pd

        n_rows, n_labels = self.scores.shape
        names = ["base", *self.feature_names, *self.interaction_names, "score"]
        kinds = ["base", *["feature"] * len(self.feature_names), *["interaction"] * len(self.interaction_names)]
        base, scores = np.broadcast_to(self.base, self.scores.shape)[..., np.newaxis], self.scores[..., np.newaxis]
        values = np.concatenate([base, self.contributions, self.interactions, scores], axis=2)
        return pd.DataFrame(
            {
                "row": np.repeat(np.arange(n_rows), n_labels * len(names)),
                "label": np.tile(np.repeat(np.array(self.label_names, dtype=object), len(names)), n_rows),
                "term": names * (n_rows * n_labels),
                "kind": [*kinds, "score"] * (n_rows * n_labels),
                "value": values.ravel(),
            }
        )

    def label_index(self, label: int | str) -> int:
        """Return the position of a label.

        Parameters
        ----------
        label : int or str
            Position or name of the label.

        Returns
        -------
        int
            The position.
        """
        if isinstance(label, str):
            if label in self.label_names:
                return self.label_names.index(label)
            raise ValueError(f"label must be one of {list(self.label_names)[:20]}. Got {label!r} instead.")
        return _place(label, "label", len(self.label_names))

    def __repr__(self) -> str:
        """Return a line for each label of one row, the highest score first, or the numbers of several rows."""
        n_rows, n_labels = self.scores.shape
        kind = "exact" if self.is_exact else "estimated by permutation"
        if n_rows != 1:
            sizes = f"{n_rows} rows, {n_labels} labels, {len(self.feature_names)} features"
            return f"Explanation({sizes}; {self.scale}, {kind})"
        order = np.argsort(-self.scores[0], kind="stable").tolist()
        lines = [self.describe(label=j) for j in order[:_MOST_LABELS]]
        return "\n".join([*lines, *([f"and {n_labels - _MOST_LABELS} more labels"] if n_labels > _MOST_LABELS else [])])

    def _largest_interaction(self, row: int, label: int) -> str:
        values = self.interactions[row, label]
        if not values.any():
            return ""
        largest = int(np.abs(values).argmax())
        return f"; apart: {self.interaction_names[largest]} {values[largest]:+.3g}"

    def _row(self, row: int) -> int:
        return _place(row, "row", len(self.scores))


def _place(value: int, name: str, n: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < n:
        raise ValueError(f"{name} must be in 0..{n - 1}. Got {value!r} instead.")
    return int(value)


def as_explanation(learner: Any, terms: Terms) -> Explanation:
    """Return the terms of a learner's scores with the names that it knows."""
    target, n_features = learner._target, terms.contributions.shape[2]
    if isinstance(target, ClassTarget):
        terms = terms.both_classes() if terms.scores.shape[1] == 1 and len(target.classes) == 2 else terms
        labels = tuple(map(str, target.classes.tolist()))
    else:
        given = getattr(learner, "label_names_", None)
        labels = _numbered("y", learner.n_labels_) if given is None else tuple(map(str, given))
    features = terms.feature_names
    if features is None:
        given = getattr(learner, "feature_names_in_", None)
        features = _numbered("x", n_features) if given is None else tuple(map(str, given))
    together = np.zeros((*terms.scores.shape, 0)) if terms.interactions is None else terms.interactions
    return Explanation(
        terms.contributions,
        terms.base,
        terms.scores,
        terms.scale,
        together,
        terms.errors,
        features,
        labels,
        terms.pairs,
        terms.totals,
    )


@lru_cache(maxsize=32)
def _numbered(letter: str, n: int) -> tuple[str, ...]:
    return tuple(f"{letter}{place}" for place in range(n))


def side_by_side(parts: Sequence[Terms]) -> Terms:
    """Return the terms of learners for some columns each, on one scale; products of features are one interaction."""
    if len(parts) == 1:
        return parts[0]
    parts = [part.with_pairs_summed() for part in parts]
    totals = tuple(dict.fromkeys(name for part in parts for name in part.totals))
    together = [np.zeros((*part.scores.shape, len(totals))) for part in parts]
    for columns, part in zip(together, parts, strict=True):
        if part.interactions is not None:
            columns[:, :, [totals.index(name) for name in part.totals]] = part.interactions
    base = np.concatenate([part.base for part in parts])
    added = np.concatenate([part.contributions for part in parts], axis=1)
    scores = np.hstack([part.scores for part in parts])
    return Terms(parts[0].scale, base, added, scores, np.concatenate(together, axis=1), totals=totals)


def as_array(X: Features) -> Array:
    """Return rows as a dense array."""
    return X if isinstance(X, np.ndarray) else X.toarray()


def linear_terms(X: Features, coef: Array, intercept: Array, scores: Array) -> Terms:
    """Return the terms of log-odds by coefficients (n_features, n_columns): the base is a row of zeros."""
    return Terms("logit", intercept.copy(), as_array(X)[:, np.newaxis, :] * coef.T, scores)


def mapped(terms: Terms, function: Callable[[Array], Array], scale: Scale) -> Terms:
    """Return the terms of a function of the scores (n_rows, n_columns): each scaled by the slope from base to score."""
    base, scores, first = function(terms.base[np.newaxis]), function(terms.scores), terms.base[np.newaxis]
    # into the range of probabilities, whatever the scale
    step = np.where(first > 0.5, -_STEP, _STEP)
    difference, flat = terms.scores - terms.base, (function(first + step) - base) / step
    is_flat = np.abs(difference) < _LEAST_DIFFERENCE
    slope = np.where(is_flat, flat, (scores - base) / np.where(is_flat, 1.0, difference))[:, :, np.newaxis]
    together = None if terms.interactions is None else slope * terms.interactions
    return terms._replace(
        scale=scale, base=base[0], scores=scores, contributions=slope * terms.contributions, interactions=together
    )


def as_mean(terms: Terms, weights: Array) -> Terms:
    """Return the terms of weighted means over members, whose columns are (n_labels * n_members,) one label's first.

    A label whose members have no weight has a probability of 1/2.
    """
    n_rows, n_features = len(terms.scores), terms.contributions.shape[2]
    total = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    base = (terms.base.reshape(weights.shape) * shares).sum(axis=1)
    added = np.einsum("rlmf,lm->rlf", terms.contributions.reshape(n_rows, *weights.shape, n_features), shares)
    scores = (terms.scores.reshape(n_rows, *weights.shape) * shares).sum(axis=2)
    unknown = np.where(total[:, 0] > 0, 0.0, 0.5)
    return Terms("probability", base + unknown, added, scores + unknown)


def inner_terms(estimator: Any, X: Features) -> Terms | None:
    """Return the terms of the scores of one of our learners inside another, which has checked the rows."""
    with lock_of(estimator):
        return terms_of(estimator, estimator._check_features(X))


def terms_of(learner: Any, X: Features) -> Terms | None:
    """Return the terms of a learner's scores, or None if it does not know them; its lock is held, its rows are checked.

    Probabilities of classes, one against the others, that are divided by their sum are votes.
    """
    terms: Terms | None = learner._explain(X)
    is_divided = isinstance(learner._target, ClassTarget) and learner.n_labels_ > 1 and not learner._traits.takes_codes
    return terms._replace(scale="vote") if terms is not None and terms.scale == "probability" and is_divided else terms


def permuted(
    learner: Any, X: Features, background: Features | None, n_repeats: int, random_state: RandomStateLike
) -> Terms:
    """Estimate what each feature adds to probabilities: their change where it takes the values of other rows.

    `learner` is one of ours, whose lock is held, and its rows are checked.
    """
    if background is None:
        raise ValueError(
            f"background must be recent rows: {type(learner).__name__} is explained by permutation within them. Got "
            "None instead; pass some hundred rows that came before."
        )
    rng, n_rows, n_features = check_random_state(random_state), X.shape[0], X.shape[1]
    drawn = rng.randint(background.shape[0], size=(n_features, n_repeats))
    base, scores = _probabilities(learner, background).mean(axis=0), _probabilities(learner, X)
    contributions = np.empty((n_rows, scores.shape[1], n_features))
    errors = np.empty_like(contributions)
    for feature in range(n_features):
        changed = _with_values(X, feature, background[drawn[feature]][:, [feature]])
        lost = scores - _probabilities(learner, changed).reshape(n_repeats, *scores.shape)
        contributions[:, :, feature] = lost.mean(axis=0)
        errors[:, :, feature] = lost.std(axis=0, ddof=1) / np.sqrt(n_repeats)
    return Terms("probability", base, contributions, scores, errors=errors)


def _probabilities(learner: Any, X: Features) -> Array:
    parts = [learner._target.probabilities(learner._infer(X[rows])[1]) for rows in blocks(X)]
    return np.concatenate(parts)


def _with_values(X: Features, feature: int, values: Features) -> Features:
    """Return the rows once for each value (n_values, 1), with this value of a feature, one table under the other."""
    if isinstance(X, np.ndarray):
        changed = np.tile(X, (values.shape[0], 1))
        changed[:, feature] = np.repeat(as_array(values)[:, 0], len(X))
        return changed
    column = sparse.kron(values, np.ones((X.shape[0], 1)), format="csr")
    before, after = (sparse.vstack([part] * values.shape[0]) for part in (X[:, :feature], X[:, feature + 1 :]))
    return sparse.csr_array(sparse.hstack([before, column, after], format="csr"))
