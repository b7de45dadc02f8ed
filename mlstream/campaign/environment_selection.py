"""The environments that a configuration is trained on, and those that it is scored on before it is chosen."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.held_out import score_environment
from mlstream.evaluation.label_space import CountedLabels, labels_at_prediction, learning_view, mask_rows
from mlstream.evaluation.learner_base import Learner
from mlstream.evaluation.learners import adapt_to_stream, fresh
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import collapsed_warnings
from mlstream.evaluation.scoring import count_known_only
from mlstream.evaluation.settings import SelectionMethod, Settings
from mlstream.evaluation.warm_up import warm_up
from mlstream.records.run_result import Resources
from mlstream.streams.frames import Features
from mlstream.streams.keys import take_keys
from mlstream.streams.stream import Experience, Index, Indicator, Stream
from mlstream.streams.tables.arrays import join_rows

# As in DomainBed, which splits every training environment so.
_HELD_OUT_SHARE = 0.2


class Scored(NamedTuple):
    """Rows of one environment to score on."""

    X: Features
    Y: Indicator
    task_id: int


class Fold(NamedTuple):
    """Rows to learn, in order, and environments to score on after that."""

    learnt: Sequence[Experience]
    scored: Sequence[Scored]


def require_environments(stream: Stream, method: SelectionMethod) -> None:
    """Raise a ValueError for a stream that lacks the environments that a method of selection needs.

    That is: tasks have no roles, no environment has the role "validation", or only one the role "train". See
    `mlstream.evaluation.settings.CampaignOptions` for the methods.
    """
    if method == "first-experience":
        return
    roles = stream.card.scenario.task_roles or []
    rule = f"selection (--selection) must be another method for the stream {stream.card.name!r}"
    if stream.card.scenario.name != "environments":
        raise ValueError(f"{rule}, which has no environments with roles: 'first-experience'. Got {method!r} instead.")
    if method == "validation-environment" and "validation" not in roles:
        raise ValueError(f"{rule}, of which no environment has the role 'validation'. Got {method!r} instead.")
    if method == "leave-one-environment-out" and roles.count("train") < 2:
        raise ValueError(f"{rule}, which has one training environment only. Got {method!r} instead.")


def list_folds(stream: Stream, method: SelectionMethod, seed: int) -> Iterator[Fold]:
    """List the folds on which every configuration is tried.

    There is one fold or, for leave-one-environment-out, one for each training environment. Evaluation sets of training,
    test and unseen environments are in none of them. `seed` draws the rows of training environments that are held out.
    """
    experiences = learning_view(stream).experiences
    roles = stream.card.scenario.task_roles or []
    if method == "validation-environment":
        sets = [one for one, role in zip(stream.evaluation_sets, roles, strict=True) if role == "validation"]
        yield Fold(experiences, [Scored(one.X, one.Y, one.task_id) for one in sets])
    elif method == "training-environment":
        held_out = [_draw_held_out(part, seed, number) for number, part in enumerate(experiences)]
        learnt = [_take(part, ~rows) for part, rows in zip(experiences, held_out, strict=True)]
        kept = [_take(part, rows) for part, rows in zip(experiences, held_out, strict=True)]
        yield Fold(learnt, list(_by_environment(kept)))
    else:
        for one in _by_environment(experiences):
            others = [_take(part, part.task_ids != one.task_id) for part in experiences]
            yield Fold([part for part in others if len(part)], [one])


def score_on_environments(
    estimator: object, stream: Stream, seed: int, settings: Settings, method: SelectionMethod, deadline: float
) -> tuple[float | None, bool, Resources]:
    """Train an estimator on each fold, and score it on environments that it has not learnt.

    The estimator is cloned. The score is the mean normalised cross-entropy of the environments; None if it is undefined
    in all of them, or time is up. The second value is whether all was learnt in time, the third the costs. `deadline`
    is a reading of `time.perf_counter`, after which training stops.
    """
    warm_up(estimator, stream, settings)
    counted, scores = CountedLabels(stream, settings.label_space), []
    warned, energy = collapsed_warnings(type(estimator).__name__), (settings.energy, settings.cpu_power_w)
    with cpu_part("scores"), ResourceMeter(*energy) as meter, warned:
        for fold in list_folds(stream, method, seed):
            copy = fresh(estimator, seed, stream, label_budget=settings.label_budget)
            learner = adapt_to_stream(copy, stream, meter, settings)
            if not _learn(learner, fold.learnt, settings.chunk_size, deadline):
                return None, False, meter.report(None)
            scores += [_score(learner, one, stream, counted) for one in fold.scored]
        used = meter.report(None)
    defined = [score for score in scores if not math.isnan(score)]
    return (sum(defined) / len(defined) if defined else None), True, used


def _learn(learner: Learner, experiences: Sequence[Experience], chunk_size: int, deadline: float) -> bool:
    """Learn chunk by chunk; return whether there was time for all."""
    learner.begin(experiences[0].X, experiences[0].Y)
    for part in experiences:
        for start in range(0, len(part), chunk_size):
            if time.perf_counter() > deadline:
                return False
            rows = slice(start, start + chunk_size)
            mask = mask_rows(part.label_mask, rows)
            learner.learn(part.X[rows], part.Y[rows], mask, part.task_ids[rows])
    learner.first_rows.require_closed()
    return True


def _score(learner: Learner, one: Scored, stream: Stream, counted: CountedLabels) -> float:
    heads = labels_at_prediction(stream, np.array([one.task_id]))
    mask = counted.held_out(len(stream), one.task_id)
    return score_environment(count_known_only(one.Y, learner.predict(one.X, heads), mask))


def _draw_held_out(part: Experience, seed: int, number: int) -> Index:
    """Return a mask of the rows of an experience that are held out, the same share of each environment."""
    rng, held_out = np.random.default_rng([seed, number]), np.zeros(len(part), dtype=bool)
    for task in np.unique(part.task_ids):
        rows = np.flatnonzero(part.task_ids == task)
        held_out[rng.permutation(rows)[: max(1, round(_HELD_OUT_SHARE * len(rows)))]] = True
    return held_out


def _by_environment(parts: Iterable[Experience]) -> Iterator[Scored]:
    """Yield the rows of each environment, in the order in which they first come."""
    parts = list(parts)
    for task in dict.fromkeys(task for part in parts for task in part.task_ids.tolist()):
        own = [_take(part, part.task_ids == task) for part in parts]
        yield Scored(join_rows([part.X for part in own]), np.concatenate([part.Y for part in own]), task)


def _take(part: Experience, rows: Index) -> Experience:
    return replace(
        part,
        X=part.X[rows],
        Y=part.Y[rows],
        task_ids=part.task_ids[rows],
        label_mask=mask_rows(part.label_mask, rows),
        row_ids=part.row_ids[rows],
        keys=take_keys(part.keys, rows),
    )
