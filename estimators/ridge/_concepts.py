"""Concepts of a drifting stream: sums over recent rows, over those of the current concept, and over earlier ones.

Sums are additive, so the products of a row are computed once and added wherever they belong.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np

from estimators._typing import Array
from estimators.contract.base import Mask
from estimators.contract.blas_threads import one_thread
from estimators.contract.validation import Features
from estimators.ridge._basis import score
from estimators.ridge._kernels.ridge import blend_then_follow
from estimators.ridge._sums import Block, Model, Sums, stack, widened

# A loss must be lower by this share before it is evidence against the model of all rows, or for that of recent rows.
_MARGIN = 0.02


class Contest(NamedTuple):
    """Weights and evidence of models, never changed in place. Model 0 is that of all rows, model 1 of recent rows."""

    weights: Array  # (n_models,), of sum 1: of the mixture
    evidence: Array  # (n_models,): loss saved compared with the current model, since this was last nothing
    spans: Array  # (n_models,): rows since then
    gains: Array  # (n_models,): loss saved compared with the current model, since it became current
    late: Array  # (2, n_labels): weights of rows that count the label, and of positive ones; old rows fade
    errors: Array  # (n_models, n_labels): sums of score minus label over the same rows

    @classmethod
    def start(cls, n_labels: int) -> Self:
        """Start with the models of all rows and of recent ones, all trust in the first."""
        nothing, labels = np.zeros(2), np.zeros((2, n_labels))
        return cls(np.array([1.0, 0.0]), nothing, nothing, nothing, labels, labels)

    def widened(self, n_new: int) -> "Contest":
        """Return the same with more labels, which no row has counted."""
        return self._replace(late=widened(self.late, n_new), errors=widened(self.errors, n_new))

    def blend(self, scores: Array) -> Array:
        """Return the mixture (n_samples, n_labels) of scores (n_samples, n_models * n_labels)."""
        nothing = np.zeros((0, self.late.shape[1]), dtype=np.uint8)
        return self.blend_then_follow(scores, nothing, nothing.astype(np.bool_), np.zeros(nothing.shape[1]), 0)[0]

    def blend_then_follow(
        self, scores: Array, Y: Array, counted: Array, prevalence: Array, current: int
    ) -> tuple[Array, "Contest"]:
        """Return the mixture of each row by the weights that rows before it leave, and the contest after all."""
        after, out = Contest(*(part.copy() for part in self)), np.empty((len(scores), Y.shape[1]))
        margins = np.full(len(self.weights), 0.0 if current else _MARGIN)
        margins[1] = _MARGIN
        numbers = after.weights, after.evidence, after.spans, after.gains, after.late, after.errors
        blend_then_follow(scores, Y, counted, prevalence, current, margins, *numbers, np.empty(len(margins)), out)
        return out, after

    def rearranged(self, sources: list[int], trusted: int) -> "Contest":
        """Return a new contest, in which model i starts from the weight and errors of model ``sources[i]``.

        The new model `trusted` is trusted most from now on.
        """
        weights = self.weights[sources]
        weights[trusted] = weights.max()
        nothing = np.zeros(len(sources))
        return Contest(weights / weights.sum(), nothing, nothing, nothing, self.late, self.errors[sources])

    def strongest(self, models: list[int]) -> int:
        """Return which of some models has the most evidence for it."""
        return max(models, key=lambda model: float(self.evidence[model]))


# Rows after which the weight of a row in the sums of recent rows has halved.
_HALF_LIFE = 250
# Rows that are kept as they came, to begin a concept with those that showed it.
_KEPT_ROWS = 300
# Evidence that makes another model the current one: odds of about 3,000 to 1.
_ENOUGH_EVIDENCE = 8.0
# Earlier concepts that are stored; if there are more, the two most alike become one.
_MAX_STORED = 4
# Rows of a concept, at least: fewer are not stored, and a concept with fewer is not replaced by a new one.
_MIN_ROWS = 100
# Rows that count a label, at least, before a model that does not learn from all rows has coefficients of its own.
_MIN_COUNTED = 50
# The model of recent rows is computed after so many rows, and again after as many, or a quarter of the basis.
_FIRST_RECENT, _RECENT_EVERY = 150, 50
# A young concept's model is computed again when its rows have grown by this share, or by a fiftieth of the basis.
_GROWTH = 0.2

_ALL, _RECENT, _CURRENT = 0, 1, 2

Solver = Callable[[Sums], Model]


class Expert(NamedTuple):
    """Sums over some rows, and the model that follows from them."""

    sums: Sums
    n_rows: int
    due: int  # number of rows at which the model is computed again
    model: Model | None = None

    def plus(self, sums: Sums, n_rows: int) -> "Expert":
        """Add rows."""
        return self._replace(sums=self.sums.plus(sums), n_rows=self.n_rows + n_rows)

    def solved(self, solve: Solver, step: int) -> "Expert":
        """Compute the model, and again after so many rows."""
        return self._replace(model=solve(self.sums), due=self.n_rows + step)

    def widened(self, n_new: int) -> "Expert":
        """Return the same with more labels, which no row has counted."""
        model = None if self.model is None else Model(*(widened(part, n_new) for part in self.model))
        return self._replace(sums=self.sums.widened(n_new), model=model)


# concepts beside the current one, each with the place of its weights in the contest
_Stored = list[tuple[Expert, int]]


class Concepts(NamedTuple):
    """Models beside that of all rows, and the contest between them all; never changed in place."""

    experts: tuple[Expert, ...]  # of recent rows; once a drift was found, of the current concept; then stored ones
    contest: Contest  # of the model of all rows and the experts
    coef: Array  # (n_features, n_models * n_labels): of all models, with the prevalence of all rows
    is_new: bool = False  # the current concept began with a drift, and was not recalled
    kept: tuple[Block, ...] = ()  # the latest rows

    @classmethod
    def start(cls, n_features: int, n_labels: int) -> Self:
        """Start with no row, for the constant and features of a basis."""
        recent = Expert(Sums.zeros(n_features, n_labels), 0, _FIRST_RECENT)
        return cls((recent,), Contest.start(n_labels), np.zeros((n_features, 2 * n_labels)))

    def widened(self, n_new: int) -> "Concepts":
        """Return the same with more labels, which no row has counted."""
        n_models = len(self.experts) + 1
        coef = np.dstack(np.split(self.coef, n_models, axis=1))
        coef = np.pad(coef, [(0, 0), (0, n_new), (0, 0)])
        return self._replace(
            experts=tuple(expert.widened(n_new) for expert in self.experts),
            contest=self.contest.widened(n_new),
            coef=np.hstack([coef[:, :, model] for model in range(n_models)]),
            kept=tuple(block.widened(n_new) for block in self.kept),
        )

    # ------------------------------------------------------------------ scores
    def score(self, F: Features) -> Array:
        """Score rows that follow those learnt, by the mixture."""
        return self.contest.blend(score(F, self.coef))

    def mixed_coef(self) -> Array:
        """Return the coefficients (n_features, n_labels) of the mixture by which `score` scores rows."""
        weights = self.contest.weights
        by_model = self.coef.reshape(len(self.coef), len(weights), -1)
        return np.einsum("fml,m->fl", by_model, weights)

    def score_then_follow(self, F: Features, Y: Array, counted: Mask, prevalence: Array) -> tuple[Array, "Concepts"]:
        """Score each row by the rows before it; return the concepts whose weights have seen them all."""
        scores, contest = self.contest.blend_then_follow(score(F, self.coef), Y, counted, prevalence, self._current)
        return scores, self._replace(contest=contest)

    def with_models(self, everything: Model | None) -> "Concepts":
        """Take the coefficients that experts have now, or those of all rows for labels that an expert has rarely seen.

        Constants are moved so that all models have the prevalence of all rows: how frequent labels are at the moment
        is not what the models differ in.
        """
        if everything is None:
            return self
        parts = [everything.coef, *(_with_prevalence(expert, everything) for expert in self.experts)]
        return self._replace(coef=np.ascontiguousarray(np.hstack(parts)))

    def with_labels(self, everything: Model, labels: Array) -> "Concepts":
        """Take the coefficients that some labels have now in the model of all rows."""
        coef = self.coef.copy()
        tables = coef.reshape(len(coef), -1, everything.coef.shape[1])
        tables[:, 0, labels] = everything.coef[:, labels]
        for place, expert in enumerate(self.experts, start=1):
            tables[:, place, labels] = _with_prevalence(expert, everything, labels)
        return self._replace(coef=coef)

    # ---------------------------------------------------------------- learning
    def plus(self, block: Block, sums: Sums, everything: Sums, solve: Solver) -> "Concepts":
        """Add rows, recall or begin a concept if there is enough evidence, and solve what is due.

        `sums` are those of the block; `everything` are those of all rows, the block included.
        """
        n_rows = len(block.weight)
        recent = self.experts[0]._replace(sums=self.experts[0].sums.times(0.5 ** (n_rows / _HALF_LIFE)))
        learning = [recent, *self.experts[1:_CURRENT]]
        experts = (*(expert.plus(sums, n_rows) for expert in learning), *self.experts[_CURRENT:])
        after = self._replace(experts=experts, kept=_latest([*self.kept, block]))
        return after._changed(everything, solve)._solved(solve)

    @property
    def _current(self) -> int:
        return _CURRENT if len(self.experts) > 1 else _ALL

    def _solved(self, solve: Solver) -> "Concepts":
        """Compute the models that are due."""
        n_basis = len(self.experts[0].sums.products)
        experts = list(self.experts)
        if experts[0].n_rows >= experts[0].due:
            experts[0] = experts[0].solved(solve, max(_RECENT_EVERY, n_basis // 4))
        for place, expert in enumerate(experts[1:], start=1):
            if expert.n_rows >= expert.due:
                experts[place] = expert.solved(solve, max(1, int(_GROWTH * expert.n_rows), n_basis // 50))
        return self._replace(experts=tuple(experts))

    # ------------------------------------------------------------------ drifts
    def _changed(self, everything: Sums, solve: Solver) -> "Concepts":
        """Begin a concept, or recall one, if another model has proved better than the current one."""
        can_begin = not self._current or self.experts[1].n_rows >= _MIN_ROWS
        rivals = [*([_RECENT] if can_begin else []), *range(_CURRENT + 1, len(self.experts) + 1)]
        if not rivals or self.contest.evidence[best := self.contest.strongest(rivals)] <= _ENOUGH_EVIDENCE:
            return self
        rows = _last(self.kept, int(self.contest.spans[best]))
        shown = Expert(Sums.of([rows]), len(rows.weight), 0)
        stored = [(self.experts[model - 1], model) for model in rivals if model not in {_RECENT, best}]
        is_same = best != _RECENT and self.is_new and self.contest.gains[best] > 0
        if is_same:
            shown = self.experts[1]
        elif closed := self._closed(everything, shown, solve):
            stored.append((closed, self._current))
        current = shown if best == _RECENT else self.experts[best - 1].plus(shown.sums, shown.n_rows)._replace(due=0)
        if len(stored) > _MAX_STORED:
            stored = _with_two_merged(stored, everything, solve)
        experts, sources = zip((self.experts[0], _RECENT), (current, best), *stored, strict=True)
        contest = self.contest.rearranged([_ALL, *sources], trusted=_CURRENT)
        return self._replace(experts=experts, contest=contest, is_new=best == _RECENT)

    def _closed(self, everything: Sums, shown: Expert, solve: Solver) -> Expert | None:
        """Return the current concept without the rows that showed another, if enough rows are left."""
        whole = self.experts[1] if self._current else self.experts[0]._replace(sums=everything)
        n_rows = whole.n_rows - shown.n_rows
        return Expert(whole.sums.minus(shown.sums), n_rows, 0).solved(solve, 1) if n_rows >= _MIN_ROWS else None


def _with_two_merged(stored: _Stored, everything: Sums, solve: Solver) -> _Stored:
    """Replace the two concepts whose scores differ least by one of the rows of both."""
    (first, source), (second, _) = min(
        combinations(stored, 2), key=lambda pair: _distance(pair[0][0], pair[1][0], everything.products)
    )
    merged = first.plus(second.sums, second.n_rows).solved(solve, 1)
    return [*(one for one in stored if one[0] is not first and one[0] is not second), (merged, source)]


def _distance(first: Expert, second: Expert, products: Array) -> float:
    """Return the squared difference of scores that two concepts would lose as one, as in Ward's clustering."""
    if first.model is None or second.model is None:
        return np.inf
    # columns are labels: BLAS adds them up in the order of memory
    difference = np.asfortranarray(first.model.coef - second.model.coef)
    with one_thread():
        loss = float(np.vdot(difference, products @ difference))
    return loss * first.n_rows * second.n_rows / (first.n_rows + second.n_rows)


def _with_prevalence(expert: Expert, everything: Model, labels: Array | slice = slice(None)) -> Array:
    if expert.model is None:
        return everything.coef[:, labels]
    moved = expert.model.coef[:, labels].copy()
    moved[0] += (everything.prevalence - expert.model.prevalence)[labels]
    # a model that was computed before a label had a positive row would tell nothing about it
    knows = (expert.sums.in_mask[0, labels] >= _MIN_COUNTED) & (expert.model.prevalence[labels] > 0)
    return np.where(knows, moved, everything.coef[:, labels])


def _latest(blocks: list[Block]) -> tuple[Block, ...]:
    """Return the last blocks that hold the rows to keep."""
    n_rows = sum(len(block.weight) for block in blocks)
    while n_rows - len(blocks[0].weight) >= _KEPT_ROWS:
        n_rows -= len(blocks.pop(0).weight)
    return tuple(blocks)


def _last(blocks: Sequence[Block], n_rows: int) -> Block:
    block = stack(blocks)
    start = len(block.weight) - min(n_rows, _KEPT_ROWS)
    return Block(block.F[start:], block.Y[start:], block.mask[start:], block.weight[start:])
