"""The evaluation of one learner on a live source: rows that come in, of which nobody knows the last."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from estimators.contract.new_labels import grows
from metrics.named import find_metrics
from mlstream._support.content import show
from mlstream._support.mapped import slices
from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.learners import ChunkLearner, adapt, fresh, model_size_bytes
from mlstream.evaluation.predictions import require_probabilities
from mlstream.evaluation.prequential import OpenPlan, PrequentialScorer
from mlstream.evaluation.provenance import describe_live_run
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import MAX_K, RowProgress, collapsed_warnings
from mlstream.evaluation.scoring import Scored, count_known_only
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.summary import ScoreRecord, add_counted, add_prequential, decided_by
from mlstream.publishing.named_streams import StreamLike
from mlstream.records.run_result import RunResult
from mlstream.streams.frames import is_frame
from mlstream.streams.keys import Keys, take_keys
from mlstream.streams.stream import Dataset, Features, Indicator, Stream

if TYPE_CHECKING:
    from typing_extensions import TypeIs


LiveSource: TypeAlias = Iterable[Dataset | tuple[Any, Any]]
"""Rows (x, y), chunks (X, Y) or tables, in any order."""


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


class Chunk(NamedTuple):
    """Rows in the columns of the first chunk."""

    X: Features
    Y: Indicator
    keys: Keys | None


def is_live(source: StreamLike | LiveSource) -> TypeIs[LiveSource]:
    """Return whether an object is a source of rows: something to iterate over, but no stream, name, or table."""
    if isinstance(source, Stream | str | PathLike | Mapping | np.ndarray) or sparse.issparse(source):
        return False
    return isinstance(source, Iterable) and not is_frame(source)


class LiveTables:
    """The tables of a source, one after the other; single rows are gathered, `chunk_size` at most.

    After each item of which no table comes yet, None does: whoever waits can look at the clock. Tables without rows are
    passed over, and so are those before the first label.
    """

    def __init__(self, source: LiveSource, chunk_size: int) -> None:
        self._source, self._chunk_size = source, chunk_size
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []

    def __iter__(self) -> Iterator[Dataset | None]:
        for number, item in enumerate(self._source):
            for table in self._take(item, number):
                yield table if table.n_samples and table.Y.shape[1] else None
            yield None
        yield from self._gathered()

    def _take(self, item: object, number: int) -> Iterator[Dataset]:
        if isinstance(item, Dataset):
            yield from self._gathered()
            yield item
            return
        if not (isinstance(item, tuple | list) and len(item) == 2):
            rule = "Each item of a live source must be a row (x, y), a chunk (X, Y) or a Dataset"
            raise TypeError(f"{rule}. Got {type(item).__name__} as item {number}.")
        X, Y = item
        if np.ndim(X) != 1 or sparse.issparse(X) or is_frame(X):
            yield from self._gathered()
            yield Dataset(X, Y)
            return
        x, y = np.asarray(X), np.asarray(Y)
        if self._rows and (x.shape, y.shape) != tuple(part.shape for part in self._rows[0]):
            yield from self._gathered()
        self._rows.append((x, y))
        if len(self._rows) >= self._chunk_size:
            yield from self._gathered()

    def _gathered(self) -> Iterator[Dataset]:
        if self._rows:
            xs, ys = zip(*self._rows, strict=True)
            self._rows = []
            yield Dataset(np.stack(xs), np.stack(ys))


class Columns:
    """The columns of the first table, in which all later ones are taken.

    Later tables may hold them in another order, and new labels, which come last, where `grows`.
    """

    def __init__(self, first: Dataset, *, grows: bool) -> None:
        self._first, self._grows = first, grows
        self.label_names = first.label_names

    def take(self, table: Dataset) -> Chunk:
        """Return the rows of a table; a ValueError names columns that are missing or new, or categories that differ."""
        first = self._first
        X, Y = table.X, table.Y
        if table.feature_names != first.feature_names:
            _require_same("features", table.feature_names, first.feature_names, may_be_new=False)
            X = X[:, [table.feature_names.index(name) for name in first.feature_names]]
        if table.feature_values != first.feature_values:
            raise ValueError(
                "Chunks must declare the same values of categories, in one order. Got "
                f"{dict(table.feature_values)}, after {dict(first.feature_values)}."
            )
        if table.label_names != self.label_names:
            new = _require_same("labels", table.label_names, self.label_names, may_be_new=self._grows)
            self.label_names += new
            Y = Y[:, [table.label_names.index(name) for name in self.label_names]]
        return Chunk(_like(X, first.X), Y, table.keys)


def _require_same(what: str, names: tuple[str, ...], known: tuple[str, ...], *, may_be_new: bool) -> tuple[str, ...]:
    """Return the names that are new; a ValueError is raised if some are missing, or are new and must not be."""
    missing = [name for name in known if name not in names]
    new = tuple(name for name in names if name not in known)
    if missing or (new and not may_be_new):
        got = [f"{kind} {', '.join(map(show, some))}" for kind, some in (("no", missing), ("new", new)) if some]
        way_out = "; a learner made with on_new_labels='grow' takes in new labels" * (what == "labels" and bool(new))
        raise ValueError(
            f"The {what} of a source must stay those of its first chunk. Got {' and '.join(got)}{way_out}."
        )
    return new


def _like(X: Features, first: Features) -> Features:
    if sparse.issparse(X) == sparse.issparse(first):
        return X
    return X.toarray() if sparse.issparse(X) else sparse.csr_array(X)
