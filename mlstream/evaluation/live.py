"""The evaluation of one learner on a live source: rows that come in, of which nobody knows the last."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from estimators.contract.new_labels import grows
from metrics.named import find_metrics
from mlstream._support.mapped import slices
from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.learners import ChunkLearner, adapt, fresh, model_size_bytes
from mlstream.evaluation.live_chunks import Chunk, Columns, LiveSource, LiveTables
from mlstream.evaluation.predictions import require_probabilities
from mlstream.evaluation.prequential import OpenPlan, PrequentialScorer
from mlstream.evaluation.provenance import describe_live_run
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import MAX_K, RowProgress, collapsed_warnings
from mlstream.evaluation.scoring import Scored, count_known_only
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.summary import ScoreRecord, add_counted, add_prequential, decided_by
from mlstream.records.run_result import RunResult
from mlstream.streams.keys import take_keys
from mlstream.streams.stream import Dataset


def evaluate_live(
    estimator: object, source: LiveSource, seed: int, settings: Settings, progress: RowProgress | None
) -> RunResult:
    """Evaluate a learner on a live source: `evaluate` explains it.

    A ValueError is raised if an option needs tasks, the source holds no row with a label, or its columns change. An
    error of the source itself is raised as it is, with a note on the rows before it.
    """
    _require_live_options(settings)
    require_probabilities(estimator, settings)
    run = LiveRun(estimator, seed, settings)
    warned = collapsed_warnings(type(estimator).__name__)
    with cpu_part("scores"), ResourceMeter(settings.energy, settings.cpu_power_w) as meter, warned as counts:
        run.run(source, meter, progress)
        resources = meter.report(model_size_bytes(run.estimator))
    if run.first is None:
        raise ValueError("A live source must give at least one row with a label. Got 0.")
    record = _score(run, settings)
    return RunResult(
        **describe_live_run(estimator, run.first, seed, settings, run.k),
        experience_sizes=[run.n_rows],
        warm_up_rows=run.learner.first_rows.n_together,
        warnings=counts,
        status="done" if run.is_complete else "capped",
        resources=resources,
        **record,
    )


def _require_live_options(settings: Settings) -> None:
    end = "a live source, whose rows are of one task; task_stream makes a stream with tasks of a table"
    if settings.label_space not in {None, "all"}:
        raise ValueError(f"label_space must be 'all' for {end}. Got {settings.label_space!r}.")
    if settings.references:
        raise ValueError(f"references must be False for {end}. Got True.")


class LiveRun:
    """Test-then-train on every row of a source, in order.

    `first` is the first table, None until it has come; `n_rows` the number of rows that were scored.
    """

    def __init__(self, estimator: object, seed: int, settings: Settings) -> None:
        self._settings, self._seed = settings, seed
        self.estimator: Any = fresh(estimator, seed, label_budget=settings.label_budget)
        self._wanted = estimator
        self.first: Dataset | None = None
        self.is_complete = False
        self.k = 0
        self.learner: Learner
        self.scorer: PrequentialScorer

    @property
    def n_rows(self) -> int:
        """Number of rows that were predicted, scored and learnt."""
        return self.scorer.n_rows

    def run(self, source: LiveSource, meter: ResourceMeter, progress: RowProgress | None) -> None:
        """Run to the end of the source, or to the time cap, which is looked at after each item of the source."""
        cap_s = math.inf if self._settings.time_cap_s is None else self._settings.time_cap_s
        began = time.perf_counter()
        try:
            for has_learnt in self._steps(source, meter):
                if has_learnt and progress is not None:
                    progress(self.n_rows, self.n_rows)
                if time.perf_counter() - began > cap_s:
                    return
        except Exception as error:
            error.add_note(f"The source had given {0 if self.first is None else self.n_rows} rows before.")
            raise
        if self.first is not None:
            self.learner.first_rows.require_closed()
        self.is_complete = True

    def _steps(self, source: LiveSource, meter: ResourceMeter) -> Iterator[bool]:
        for table in LiveTables(source, self._settings.chunk_size):
            if table is None:
                yield False
                continue
            if self.first is None:
                self._begin(table, meter)
            n_labels = len(self._columns.label_names)
            chunk = self._columns.take(table)
            if chunk.Y.shape[1] > n_labels:
                self._widen(chunk.Y.shape[1])
            for scored in self._test_then_train(chunk):
                self.scorer.add(scored)
                yield True

    def _widen(self, n_labels: int) -> None:
        if "prevalence" in self._settings.rules:
            # It is counted label by label, from the first row on.
            rule = "decision and also_decide must hold other rules than 'prevalence' where a source brings new labels"
            raise ValueError(f"{rule}. Got {len(self._columns.label_names)} labels, after fewer.")
        self.learner.widen(n_labels)
        self.scorer.widen(n_labels)

    def _begin(self, first: Dataset, meter: ResourceMeter) -> None:
        settings, n_labels = self._settings, first.Y.shape[1]
        self.k = min(MAX_K, n_labels)
        self.estimator = fresh(self._wanted, self._seed, first, label_budget=settings.label_budget)
        self.learner = adapt(self.estimator, n_labels, meter, settings=settings)
        self._columns = Columns(first, grows=grows(self.estimator) and isinstance(self.learner, ChunkLearner))
        plan = OpenPlan(settings.n_checkpoints, settings.window)
        metrics = find_metrics(settings.metrics, ties=settings.ties)
        self.scorer = PrequentialScorer(plan, self.k, settings.one_class, metrics, settings.ties, settings.endings)
        self.learner.begin(first.X, first.Y)
        self.first = first

    def _test_then_train(self, chunk: Chunk) -> Iterator[Scored]:
        mask = np.ones(chunk.Y.shape[1], dtype=bool)
        for rows in slices(len(chunk.Y), self._settings.chunk_size, chunk.X, chunk.Y):
            Y, keys = chunk.Y[rows], take_keys(chunk.keys, rows)
            predictions = self.learner.test_then_train(chunk.X[rows], Y, mask, keys=keys)
            yield count_known_only(Y, predictions, mask)


def _score(run: LiveRun, settings: Settings) -> dict[str, Any]:
    """Return the fields of a record that hold scores."""
    with cpu_part("curves"):
        prequential, curves = run.scorer.finish()
    record = ScoreRecord()
    for ending in settings.endings:
        part = ScoreRecord()
        add_prequential(part, decided_by(ending, prequential))
        record.take(part, ending)
    add_counted(record, run.estimator)
    return {"scores": record.values, "undefined": record.undefined, "curves": curves}
