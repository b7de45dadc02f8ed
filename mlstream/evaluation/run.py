"""One run: a learner on a stream, chunk by chunk and experience by experience, each of its warnings given once."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from metrics.named import find_metrics
from mlstream._support.mapped import slices
from mlstream.evaluation.held_out import HeldOutScorer, SetScorer, count_constant_labels, predict_held_out
from mlstream.evaluation.label_space import CountedLabels, labels_at_prediction, learning_view, mask_rows
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.predictions import Floats, Predictions
from mlstream.evaluation.prequential import PrequentialScorer, plan_curves
from mlstream.evaluation.scoring import (
    FIRST,
    OF_LABELS,
    FirstPredictions,
    Scored,
    comes_first,
    count_known_only,
    with_ending,
)
from mlstream.evaluation.settings import Settings
from mlstream.records.run_result import Curve
from mlstream.streams.keys import take_keys
from mlstream.streams.stream import Experience, Mask, Stream

# Called during a run with the number of rows done, and the number of rows of the stream.
RowProgress = Callable[[int, int], None]

MAX_K = 3

# A text that differs from row to row must not fill the memory; nor the record.
MAX_TEXTS = 100
_REST = "Other warnings."
_SHOWN_ONCE = {"default", "module", "once"}


def precision_k(stream: Stream) -> int:
    """Return the k of precision@k: 3, or the size of the smallest signature where that is less."""
    return min(MAX_K, *(int(task.signature.sum()) for task in stream.tasks))


def test_then_train(
    learner: Learner, experience: Experience, mask: Mask, chunk_size: int, heads: Mask | None
) -> Iterator[Scored]:
    """Predict the rows of an experience, each before the learner learns it, chunk by chunk.

    The experience is in the view of learners, see `learning_view`, whose label mask the learner is given, never `mask`,
    the labels that count. `heads` are the labels of the rows' tasks, where the scenario shows the task at prediction.
    Both are (n_labels,) or (n_samples, n_labels).
    """
    for rows in slices(len(experience), chunk_size, experience.X, experience.Y):
        Y, shown = experience.Y[rows], mask_rows(experience.label_mask, rows)
        own = None if heads is None else mask_rows(heads, rows)
        about = experience.task_ids[rows], take_keys(experience.keys, rows)
        predictions = learner.test_then_train(experience.X[rows], Y, shown, own, *about)
        yield count_known_only(Y, predictions, mask_rows(mask, rows))


class Run:
    """Test-then-train on every row in order; before the first and after each experience, R.

    The learner must be fresh, and the run changes it. `R` holds a matrix per metric, (n_experiences + 1, n_tasks); NaN
    where not measured or not defined.
    """

    def __init__(self, learner: Learner, stream: Stream, settings: Settings) -> None:
        self._learner = learner
        self._stream = stream
        self._shown = learning_view(stream)
        self._settings = settings
        self._counted = CountedLabels(stream, settings.label_space)
        self._k = precision_k(stream)
        plan = plan_curves([len(part) for part in stream], settings.n_checkpoints, settings.window)
        metrics = find_metrics(settings.metrics, ties=settings.ties)
        options = (self._k, settings.one_class, metrics, settings.ties, settings.endings)
        self._scorer = PrequentialScorer(plan, *options)
        self._first = FirstPredictions(stream) if comes_first(stream.card) else None
        self._first_scorer = PrequentialScorer(plan, *options[:-1])
        scorer = SetScorer(stream.card, *options)
        self._held_out = HeldOutScorer(stream, self._counted, scorer, settings.one_class, settings.endings)
        self._n_rows_of_R = 0
        empty = np.full((len(stream) + 1, stream.n_tasks), np.nan)
        self.R: dict[str, Floats] = {name: empty.copy() for name in self._held_out.names}

    @property
    def constant_labels(self) -> dict[str, tuple[int, int]]:
        """Labels of one class in each environment, see `count_constant_labels`; nothing for other streams."""
        return count_constant_labels(self._stream, self._counted) if "nce" in self.R else {}

    @property
    def estimator(self) -> object:
        """The learner, as it has learnt."""
        return self._learner.estimator

    @property
    def is_complete(self) -> bool:
        """Whether everything was measured."""
        return self._n_rows_of_R == len(self._stream) + 1

    def run(self, progress: RowProgress | None) -> None:
        """Run to the end of the stream, or to the time cap."""
        cap_s = math.inf if self._settings.time_cap_s is None else self._settings.time_cap_s
        began = time.perf_counter()
        for _ in self._steps():
            if progress is not None:
                progress(self._scorer.n_rows, self._stream.n_samples)
            if time.perf_counter() - began > cap_s:
                return
        self._learner.first_rows.require_closed()

    def finish(self) -> tuple[dict[str, float], dict[str, Curve]]:
        """Return the prequential scores and their curves; beside them, where labels are late, those of `FIRST`."""
        scores, curves = self._scorer.finish()
        if self._first is None:
            return scores, curves
        first, first_curves = self._first_scorer.finish()
        first = {name: value for name, value in first.items() if name not in OF_LABELS}
        return scores | with_ending(FIRST, first), curves | with_ending(FIRST, first_curves)

    def _steps(self) -> Iterator[None]:
        first = self._stream.experiences[0]
        self._learner.begin(first.X, first.Y)
        self._measure(step=0)
        yield
        for step, (experience, mask) in enumerate(zip(self._shown, self._counted.online(), strict=True), start=1):
            heads = labels_at_prediction(self._stream, experience.task_ids)
            for scored in test_then_train(self._learner, experience, mask, self._settings.chunk_size, heads):
                self._scorer.add(scored)
                if self._first is not None:
                    self._first_scorer.add(self._first.of(scored))
                yield
            self._measure(step)
            yield

    def _measure(self, step: int) -> None:
        """Fill a row of R."""
        for name, values in self._held_out.score(step, self._predictions()).items():
            self.R[name][step] = values
        self._n_rows_of_R += 1

    def _predictions(self) -> Iterator[Iterator[tuple[slice, Predictions]]]:
        for held_out in self._stream.evaluation_sets:
            heads = labels_at_prediction(self._stream, np.array([held_out.task_id]))
            yield predict_held_out(self._learner, held_out, heads)


@contextmanager
def collapsed_warnings(name: str) -> Iterator[dict[str, int]]:
    """Keep the warnings of the block until its end, then give each once, with the number of times.

    Filters of the user hold: a warning that they ignore is not counted, and one that they make an error is raised. Like
    `warnings.catch_warnings`, it changes what all threads of the process share while the block runs. `name` is what
    learns, for the text of repeated warnings. The numbers of warnings by text are complete at the end of the block: the
    first hundred texts, and the rest together.
    """
    counts: dict[str, int] = {}
    # The first warning of each text, its category, and the file and line where it was given.
    first: dict[str, tuple[Warning, type[Warning], str, int]] = {}

    def count(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        warning = message if isinstance(message, Warning) else category(message)
        text = str(warning) if str(warning) in counts or len(counts) < MAX_TEXTS else _REST
        counts[text] = counts.get(text, 0) + 1
        first.setdefault(text, (warning, category, filename, lineno))

    try:
        with warnings.catch_warnings():
            # Python shows a text once per line, until anything changes a filter, as scikit-learn does all the time.
            shown = [("always" if action in _SHOWN_ONCE else action, *rest) for action, *rest in warnings.filters]
            warnings.filters[:] = [*shown, ("always", None, Warning, None, 0)]  # type: ignore[index]
            warnings.showwarning = count
            yield counts
    finally:
        for text, (message, category, filename, lineno) in first.items():
            if counts[text] > 1:
                message.args = (f"{text} ({counts[text]:,} times while {name} was evaluated)",)
            warnings.warn_explicit(message, category, filename, lineno)
