"""Reference models: clones that learn jointly or one task alone, to compare a learner with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metrics import stack_counts
from mlstream.evaluation.held_out import (
    add_counts,
    count_known_by_rule,
    pooled_ba_macro,
    predict_held_out,
)
from mlstream.evaluation.label_space import CountedLabels, labels_at_prediction, learning_view
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.learners import adapt_to_stream, fresh
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.summary import ReferenceScores
from mlstream.streams.frames import Features
from mlstream.streams.stream import Index, Indicator, Mask, Stream
from mlstream.streams.tables.arrays import join_rows


class _Rows(NamedTuple):
    X: Features
    Y: Indicator
    mask: Mask
    task_ids: Index

    def take(self, rows: Index | Mask) -> _Rows:
        return _Rows(self.X[rows], self.Y[rows], self.mask[rows], self.task_ids[rows])


def reference_scores(estimator: object, stream: Stream, seed: int, settings: Settings) -> list[ReferenceScores]:
    """Train reference models and score them on the evaluation sets of tasks, by rule, that of the run first.

    A joint model learns the rows of several experiences in a seeded random order, each once, as the learner does.
    Meanwhile the rows of the stream are in memory twice. The estimator is cloned for every model.
    """
    models = _Models(estimator, stream, seed, settings)
    scores = ReferenceScores(*(np.full((len(settings.rules), stream.n_tasks), np.nan) for _ in range(3)))
    order, shown = stream.order, learning_view(stream)
    last, trained = len(stream), np.flatnonzero(order.any(axis=0)).tolist()
    first = order.argmax(axis=0) + 1
    for step in sorted({*first[trained].tolist(), last}):
        new = [task for task in trained if first[task] == step]
        wanted = trained if step == last else new
        joint = models.score(models.train(_shuffled(_rows_until(shown, step), seed, step)), step, wanted)
        scores.joint_at_first_visit[:, new] = joint[:, new]
        if step == last:
            scores.joint[:, trained] = joint[:, trained]
    for task in trained:
        step = int(first[task])
        single = models.score(models.train(_rows_of_task(shown, step, task)), step, [task])
        scores.single[:, task] = single[:, task]
    return [ReferenceScores(*of_rule) for of_rule in zip(*scores, strict=True)]


class _Models:
    """Trains clones, and scores them as the learner itself is scored after the same number of experiences."""

    def __init__(self, estimator: object, stream: Stream, seed: int, settings: Settings) -> None:
        self._estimator = estimator
        self._stream = stream
        self._seed = seed
        self._counted = CountedLabels(stream, settings.label_space)
        self._one_class = settings.one_class
        self._settings = settings
        self._signatures = np.stack([task.signature for task in stream.tasks])

    def train(self, rows: _Rows) -> Learner:
        copy = fresh(self._estimator, self._seed, self._stream)
        learner = adapt_to_stream(copy, self._stream, ResourceMeter("none"), self._settings)
        learner.learn(*rows)
        return learner

    def score(self, learner: Learner, step: int, tasks: Sequence[int]) -> Floats:
        """Return the balanced accuracy of each of some tasks, (n_rules, n_tasks); those of the others mean nothing."""
        pools = self._counted.pools(step)
        is_needed = np.any(pools[tasks], axis=0).tolist()
        counts, n_rules = [], len(self._settings.rules)
        for held_out, needed in zip(self._stream.evaluation_sets, is_needed, strict=True):
            heads = labels_at_prediction(self._stream, np.array([held_out.task_id]))
            predicted = predict_held_out(learner, held_out, heads) if needed else ()
            known = (count_known_by_rule(held_out.Y[rows], predictions) for rows, predictions in predicted)
            counts.append(add_counts(known, n_rules, self._stream.n_labels))
        options = (pools, self._signatures, self._one_class)
        return np.stack([pooled_ba_macro(stack_counts(of_rule), *options) for of_rule in zip(*counts, strict=True)])


def _rows_until(stream: Stream, step: int) -> _Rows:
    experiences = stream.experiences[:step]
    X, Y = join_rows([part.X for part in experiences]), np.concatenate([part.Y for part in experiences])
    mask = np.concatenate([np.broadcast_to(part.label_mask, part.Y.shape) for part in experiences])
    return _Rows(X, Y, mask, np.concatenate([part.task_ids for part in experiences]))


def _rows_of_task(stream: Stream, step: int, task: int) -> _Rows:
    experience = stream.experiences[step - 1]
    mask = np.broadcast_to(experience.label_mask, experience.Y.shape)
    return _Rows(experience.X, experience.Y, mask, experience.task_ids).take(experience.task_ids == task)


def _shuffled(rows: _Rows, seed: int, step: int) -> _Rows:
    return rows.take(np.random.default_rng([seed, step]).permutation(len(rows.Y)))
