"""One learner on one stream or table: it runs once, and its probabilities are scored under every decision rule.

Rules turn probabilities into decisions and change nothing that is learnt, so a campaign for each rule would take three
times the time, to learn the same.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.learner_ranks.boards import RECOVERY_ROWS, Source
from benchmarks.learner_ranks.decision_rules import RULES, Floats, Thresholds, decide, follow_labels, thresholds
from metrics import LabelCounts, label_counts, stack_counts
from metrics.named import find_metrics
from mlstream import Dataset, Stream
from mlstream.evaluation.held_out import count_known, pooled_ba_macro
from mlstream.evaluation.label_space import CountedLabels, labels_at_prediction, learning_view
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.learners import adapt, adapt_to_stream, fresh
from mlstream.evaluation.predictions import Predictions, join_predictions
from mlstream.evaluation.prequential import PrequentialScorer, plan_curves
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import precision_k, test_then_train
from mlstream.evaluation.scoring import (
    CORE_METRICS,
    CumulativeSums,
    Scored,
    Tally,
    count_known_only,
    join_scored,
    tally,
)
from mlstream.evaluation.settings import OneClass
from mlstream.evaluation.summary import ScoreRecord, add_continual
from mlstream.evaluation.warm_up import warm_up

Scores = dict[str, float | None]

# Checkpoints of a world are 250 rows apart: boundaries, and the ends of the rows after them, are among them.
N_CHECKPOINTS = 40
NAMED = ("subset_accuracy", "f1_micro", "f1_macro")
K, CHUNK_ROWS = 3, 256
ONE_CLASS: OneClass = "skip"


class Measured(NamedTuple):
    """Scores by rule, and the processor's time of the calls of the learner, in seconds."""

    scores: dict[str, Scores]
    cpu_s: float


class PreparedStream:
    """A stream, what of it counts, and its thresholds; they serve all learners."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._counted = CountedLabels(stream, None)
        self._signatures = np.stack([task.signature for task in stream.tasks])
        self._k = precision_k(stream)
        self._cuts = plan_curves([len(part) for part in stream], N_CHECKPOINTS, RECOVERY_ROWS).cuts

    @cached_property
    def _thresholds(self) -> Thresholds:
        return thresholds(self.stream)

    def measure(self, estimator: Any, seed: int) -> Measured:
        """Run a learner as an evaluation does, and score it under each rule."""
        warm_up(estimator, self.stream)
        meter = ResourceMeter("none")
        learner = adapt_to_stream(fresh(estimator, seed), self.stream, meter)
        first = self.stream.experiences[0]
        learner.begin(first.X, first.Y)
        online, R = [], [self._held_out(learner, 0)]
        for step, (part, mask) in enumerate(zip(learning_view(self.stream), self._counted.online(), strict=True), 1):
            heads = labels_at_prediction(self.stream, part.task_ids)
            online.append(join_scored(list(test_then_train(learner, part, mask, CHUNK_ROWS, heads))))
            R.append(self._held_out(learner, step))
        online_scores = self._online(online)
        R_by_rule = {rule: np.array([row[rule] for row in R]) for rule in RULES}
        scores = {rule: _plain(online_scores[rule] | self._continual(R_by_rule[rule])) for rule in RULES}
        return Measured(scores, _cpu_s(meter))

    def _held_out(self, learner: Learner, step: int) -> dict[str, Floats]:
        """Return, by rule, the balanced accuracy of each task after some experiences."""
        counts: dict[str, list[LabelCounts]] = {rule: [] for rule in RULES}
        for part in self.stream.evaluation_sets:
            predictions = learner.predict(part.X, labels_at_prediction(self.stream, np.array([part.task_id])))
            for rule in RULES:
                decided = decide(rule, predictions, self._thresholds.held_out[step]).decided
                counts[rule].append(count_known(part.Y, decided))
        pools = self._counted.pools(step)
        return {
            rule: pooled_ba_macro(stack_counts(found), pools, self._signatures, ONE_CLASS)
            for rule, found in counts.items()
        }

    def _online(self, experiences: list[Scored]) -> dict[str, Scores]:
        """Return the scores of the rows as they came, by rule; probabilities are scored once for all rules."""
        pieces, start = list(self._pieces(experiences)), 0
        tallies: dict[str, list[Tally]] = {rule: [] for rule in RULES}
        for piece in pieces:
            stop = start + len(piece.Y)
            whole = tally(piece, self._k)
            for rule in RULES:
                decided = decide(rule, piece.predictions, self._thresholds.online[start:stop]).decided
                counts = label_counts(piece.Y, decided, label_mask=piece.mask) if whole.n_scored else whole.counts
                tallies[rule].append(whole._replace(counts=counts))
            start = stop
        return {rule: self._read(CumulativeSums(found, self._k, ONE_CLASS)) for rule, found in tallies.items()}

    def _pieces(self, experiences: list[Scored]) -> Iterator[Scored]:
        """Cut experiences where an evaluation cuts them: the last bits of sums depend on it."""
        start = 0
        for experience in experiences:
            stop = start + len(experience.Y)
            inner = [cut - start for cut in self._cuts if start < cut < stop]
            yield from (experience.rows(*ends) for ends in pairwise([0, *inner, stop - start]))
            start = stop

    def _read(self, sums: CumulativeSums) -> Scores:
        found = {name: float(values[0]) for name, values in sums.between([0], [self.stream.n_samples]).items()}
        ends = [drift.stop for drift in self.stream.card.drifts]
        if ends:
            after = sums.between(ends, [end + RECOVERY_ROWS for end in ends])
            found["ba_recovery"] = float(np.mean(after["ba_macro"]))
        return {name: found[name] for name in (*CORE_METRICS, "ba_recovery") if name in found}

    def _continual(self, R: Floats) -> Scores:
        record = ScoreRecord()
        add_continual(record, R, self.stream.order)
        return {name: record.values[name] for name in ("acc_mean", "acc", "bwt", "fm")}


class PreparedTable:
    """A table, whose rows are tested, then learnt, in their order."""

    def __init__(self, table: Dataset) -> None:
        self.table = table

    @cached_property
    def _least(self) -> Floats:
        mask = np.ones(self.table.Y.shape[1], dtype=bool)
        return follow_labels([(self.table.Y, mask)], self.table.Y.shape[1]).online

    def measure(self, estimator: Any, seed: int) -> Measured:
        """Run a learner, and score it under each rule."""
        meter = ResourceMeter("none")
        self._predict(fresh(estimator, seed), ResourceMeter("none"), min(CHUNK_ROWS, len(self.table.Y)))
        predictions = self._predict(fresh(estimator, seed), meter, len(self.table.Y))
        scores = {rule: self._score(decide(rule, predictions, self._least)) for rule in RULES}
        return Measured(scores, _cpu_s(meter))

    def _predict(self, copy: Any, meter: ResourceMeter, n_rows: int) -> Predictions:
        X, Y, mask = self.table.X, self.table.Y, np.ones(self.table.Y.shape[1], dtype=bool)
        learner = adapt(copy, self.table.Y.shape[1], meter)
        learner.begin(X[:1], Y[:1])
        cuts = [slice(start, min(start + CHUNK_ROWS, n_rows)) for start in range(0, n_rows, CHUNK_ROWS)]
        return join_predictions([learner.test_then_train(X[rows], Y[rows], mask) for rows in cuts])

    def _score(self, predictions: Predictions) -> Scores:
        n_rows = len(self.table.Y)
        scorer = PrequentialScorer(plan_curves([n_rows], 1, n_rows), K, ONE_CLASS, find_metrics(NAMED))
        scorer.add(count_known_only(self.table.Y, predictions, np.ones(self.table.Y.shape[1], dtype=bool)))
        found, _ = scorer.finish()
        return _plain({name: found[name] for name in (*CORE_METRICS, *NAMED)})


def prepare(source: Source) -> PreparedStream | PreparedTable:
    """Return what measures learners on a stream or a table."""
    return PreparedStream(source) if isinstance(source, Stream) else PreparedTable(source)


def _cpu_s(meter: ResourceMeter) -> float:
    return sum(phase.cpu_time_s or 0.0 for phase in meter.report(None).phases.values())


def _plain(scores: Mapping[str, float | None]) -> Scores:
    return {name: None if value is None or np.isnan(value) else float(value) for name, value in scores.items()}
