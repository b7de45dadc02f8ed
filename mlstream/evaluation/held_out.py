"""Scores of the evaluation sets of a stream: a row of R for every metric that fits it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np

from metrics import (
    LabelCounts,
    ba_macro_from_counts,
    hierarchy_consistency,
    jaccard,
    label_counts,
    nce,
    pw_js,
    refinement_jaccard,
    refinement_recall,
    stack_counts,
)
from mlstream._support.mapped import slices
from mlstream.evaluation.label_space import CountedLabels
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.predictions import Floats, Predictions, no_predictions
from mlstream.evaluation.scoring import (
    CORE_METRICS,
    Metrics,
    NamedTally,
    Scored,
    Tally,
    count_known_only,
    join_scored,
    metrics_of_rules,
    score_sums,
    score_tallies,
    sum_rows,
    tally,
    tally_again,
    with_ending,
)
from mlstream.evaluation.settings import OneClass, Settings, Ties
from mlstream.streams.card_model import StreamCard
from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import EvaluationSet, Indicator, Mask, Stream

HIERARCHY_METRICS = ("pw_js", "jaccard", "refinement_jaccard", "refinement_recall", "hierarchy_consistency")
ENVIRONMENT_METRICS = ("nce",)

# Of features, or of labels, that are predicted in one call.
_CELLS_AT_A_TIME = 2**20

PredictedRows: TypeAlias = tuple[slice, Predictions]


class SetScorer:
    """A scorer of the rows of one evaluation set, by every metric that fits the stream.

    With a hierarchy of labels, predictions are also scored as paths through it; where tasks are environments,
    probabilities are also scored against the base rate of each. `metrics` come beside these; in `names`, metrics of
    every stream come first. `endings`, one for each rule that decides, are behind the names of named metrics and scores
    of paths that depend on decisions; all other scores come once.
    """

    def __init__(
        self,
        card: StreamCard,
        k: int,
        one_class: OneClass,
        metrics: Metrics = (),
        ties: Ties = Settings.ties,
        endings: Sequence[str] = ("",),
    ) -> None:
        place = {name: column for column, name in enumerate(card.label_names)}
        self._parents = {place[child]: place[parent] for child, parent in card.label_parents.items()}
        self._has_environments = card.scenario.name == "environments"
        self._k = k
        self._one_class = one_class
        self._ties = ties
        self._rules = dict(zip(endings, metrics_of_rules(metrics, endings), strict=True))
        self.names = (
            *CORE_METRICS,
            *(HIERARCHY_METRICS if self._parents else ()),
            *(ENVIRONMENT_METRICS if self._has_environments else ()),
            *(one.name for one in metrics),
            *(f"{name}{ending}" for ending in endings[1:] for name in HIERARCHY_METRICS if self._parents),
            *(f"{metric.name}{ending}" for ending in endings[1:] for metric in self._rules[ending]),
        )

    def score(self, parts: Iterable[Scored]) -> dict[str, float]:
        """Score one evaluation set, whose rows come in parts; NaN where a score is not defined.

        Without rows, or without a label that counts, no score is defined. Only paths through a hierarchy, and
        cross-entropies of environments, need all rows in memory.
        """
        found = dict.fromkeys(self.names, math.nan)
        pieces: dict[str, list[tuple[Tally, NamedTally]]] = {ending: [] for ending in self._rules}
        kept = []
        for part in parts:
            if self._parents or self._has_environments:
                kept.append(part)
            if len(part.Y) and part.mask.any():
                self._sum_up(part, pieces)
        if not pieces[""]:
            return found
        found |= score_tallies([tallied for tallied, _ in pieces[""]], self._k, self._one_class)
        for ending, summed in pieces.items():
            if summed:
                tallies, sums = zip(*summed, strict=True)
                found |= with_ending(ending, score_sums(tallies, sums, self._rules[ending]))
        return found | self._score_whole(join_scored(kept)) if kept else found

    def _sum_up(self, part: Scored, pieces: Mapping[str, list[tuple[Tally, NamedTally]]]) -> None:
        """Add the sums over some rows to those of each rule that has metrics, and to those of the first."""
        first = tally(part, self._k, self._ties)
        for (ending, metrics), one in zip(self._rules.items(), part.by_rule(), strict=True):
            if metrics or not ending:
                tallied = tally_again(first, one) if ending else first
                pieces[ending].append((tallied, sum_rows(one, self._k, metrics)))

    def _score_whole(self, scored: Scored) -> dict[str, float]:
        """Score all rows of a set by the metrics that do not follow from sums."""
        found = {"nce": score_environment(scored)} if self._has_environments else {}
        if self._parents:
            for ending, decided in zip(self._rules, scored.by_rule(), strict=True):
                found |= with_ending(ending, self._score_paths(decided))
        return found

    def _score_paths(self, scored: Scored) -> dict[str, float]:
        rows, mask = (scored.Y, scored.predictions.decided), scored.mask
        return {
            "pw_js": pw_js(*rows, label_mask=mask),
            "jaccard": jaccard(*rows, average="samples", label_mask=mask),
            "refinement_jaccard": refinement_jaccard(*rows, self._parents, label_mask=mask),
            "refinement_recall": refinement_recall(*rows, self._parents, label_mask=mask, zero_division=math.nan),
            "hierarchy_consistency": hierarchy_consistency(rows[1], self._parents, label_mask=mask),
        }


class HeldOutScorer:
    """A scorer of all evaluation sets of a stream after a number of experiences.

    Balanced accuracy counts the labels of a task on a pool of sets, see `CountedLabels.pools`; every other score counts
    the rows of one set. In `names`, metrics of every stream come first.
    """

    def __init__(
        self,
        stream: Stream,
        counted: CountedLabels,
        scorer: SetScorer,
        one_class: OneClass,
        endings: Sequence[str] = ("",),
    ) -> None:
        self._stream = stream
        self._counted = counted
        self._scorer = scorer
        self._one_class = one_class
        self._signatures = np.stack([task.signature for task in stream.tasks])
        self._accuracies = [f"ba_macro{ending}" for ending in endings]
        self.names = (*scorer.names, *self._accuracies[1:])

    def score(self, step: int, predictions: Iterable[Iterable[PredictedRows]]) -> dict[str, Floats]:
        """Score the predictions of all evaluation sets after `step` experiences: by metric, a score per task.

        `predictions` has an item per evaluation set, in the order of tasks, as `predict_held_out` gives them. NaN where
        a score is not defined.
        """
        rows, counts = [], []
        for held_out, predicted in zip(self._stream.evaluation_sets, predictions, strict=True):
            known: list[list[LabelCounts]] = []
            mask = self._counted.held_out(step, held_out.task_id)
            rows.append(self._scorer.score(_count_each(held_out, predicted, mask, known)))
            counts.append(add_counts(known, len(self._accuracies), self._stream.n_labels))
        found = {name: np.array([row[name] for row in rows]) for name in self._scorer.names}
        pools = self._counted.pools(step)
        for name, of_rule in zip(self._accuracies, zip(*counts, strict=True), strict=True):
            found[name] = pooled_ba_macro(stack_counts(of_rule), pools, self._signatures, self._one_class)
        return found


def predict_held_out(learner: Learner, held_out: EvaluationSet, heads: Mask | None) -> Iterator[PredictedRows]:
    """Predict an evaluation set in blocks of rows, all of a set of common size at once; the learner stays as it is.

    `heads`, (n_labels,), are the labels of the task where the scenario shows it at prediction.
    """
    X, Y = held_out.X, held_out.Y
    n_rows = max(1, _CELLS_AT_A_TIME // max(X.shape[1], Y.shape[1]))
    for rows in slices(len(held_out), n_rows, X, Y):
        yield rows, learner.predict(X[rows], heads)


def _count_each(
    held_out: EvaluationSet, predicted: Iterable[PredictedRows], mask: Mask, counts: list[list[LabelCounts]]
) -> Iterator[Scored]:
    """Yield rows to score, and add the counts of their known labels, by rule, to a list."""
    for rows, predictions in predicted:
        Y = held_out.Y[rows]
        counts.append(count_known_by_rule(Y, predictions))
        yield count_known_only(Y, predictions, mask)


def count_constant_labels(stream: Stream, counted: CountedLabels) -> dict[str, tuple[int, int]]:
    """Count the labels that have one class in an environment, and so no base rate to compare with.

    The result maps each environment that has such labels to their number, and the number of labels that count.
    """
    found = {}
    for task, held_out in zip(stream.tasks, stream.evaluation_sets, strict=True):
        mask = counted.held_out(len(stream), held_out.task_id)
        nothing = no_predictions(*held_out.Y.shape)
        n_constant = int((mask & ~_both_classes(count_known_only(held_out.Y, nothing, mask))).sum())
        if n_constant:
            found[task.name] = n_constant, int(mask.sum())
    return found


def _both_classes(scored: Scored) -> Mask:
    """Return the labels that are both 0 and 1 among the rows in which they count: (n_labels,)."""
    counted = np.broadcast_to(scored.mask, scored.Y.shape)
    n_true, n_counted = (scored.Y * counted).sum(axis=0, dtype=np.int64), counted.sum(axis=0)
    return np.asarray((n_true > 0) & (n_true < n_counted))


def score_environment(scored: Scored) -> float:
    """Return the normalised cross-entropy of rows of one environment; NaN if no label has both classes."""
    if not _both_classes(scored).any():
        return math.nan
    return nce(scored.Y, scored.predictions.proba, label_mask=scored.mask, constant_labels="skip")


def count_known(Y: Indicator, decided: Indicator) -> LabelCounts:
    """Count right and wrong decisions of every label on an evaluation set; unknown cells (NaN) do not count.

    The counts are (n_labels,); zeros for a label without a known cell.
    """
    cells = known(Y)
    if not len(Y) or (cells is not None and not cells.any()):
        nothing = np.zeros(Y.shape[1], dtype=np.int64)
        return LabelCounts(nothing, nothing, nothing, nothing)
    return label_counts(filled(Y), decided, label_mask=cells)


def count_known_by_rule(Y: Indicator, predictions: Predictions) -> list[LabelCounts]:
    """Count as `count_known` does the decisions of each rule, that of the run first."""
    return [count_known(Y, decided) for decided in (predictions.decided, *predictions.also)]


def add_counts(parts: Iterable[Sequence[LabelCounts]], n_rules: int, n_labels: int) -> list[LabelCounts]:
    """Return the sum of counts of the same labels, rule by rule; of no counts, zeros."""
    nothing = np.zeros(n_labels, dtype=np.int64)
    start = [LabelCounts(nothing, nothing, nothing, nothing)] * n_rules
    return reduce(lambda total, part: list(map(add, total, part)), parts, start)


def pooled_ba_macro(counts: LabelCounts, pools: Mask, signatures: Mask, one_class: OneClass) -> Floats:
    """Return for each task the balanced accuracy of its labels on a pool of evaluation sets, mean over labels.

    `counts` are (n_sets, n_labels), `pools` the sets of each task's pool, (n_tasks, n_sets), `signatures` the labels of
    each task, (n_tasks, n_labels). NaN where no label can be scored. Counts of disjoint sets of rows add up: a set is
    predicted once, whatever pools it is in. A row that is in two sets of a pool counts twice, as it does where each set
    is scored on its own.
    """
    parts = (counts.tp, counts.fp, counts.fn, counts.tn)
    pooled = LabelCounts(*((pools.astype(np.int64) @ part) * signatures for part in parts))
    return np.asarray(ba_macro_from_counts(pooled, one_class=one_class))
