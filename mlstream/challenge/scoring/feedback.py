"""Answers to queries: how much of a score a team is told, by the noise of the rows that it is measured on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from mlstream.challenge.config import ChallengeConfig, MetricName
from mlstream.challenge.manifest import Feedback
from mlstream.challenge.scoring.metric import metric_of
from mlstream.challenge.truth import Truth

# Metrics that are the mean over rows of numbers in [0, 1].
_OF_ROWS = frozenset({"rmse", "precision_at_k", "pw_js"})
_MOST_DECIMALS = 15
# Of a challenge that was made before the manifest held it.
_FIRST = Feedback(decimals=3, step=0.0)


def report(feedback: Feedback, score: float, reached: float | None, *, lower_is_better: bool) -> float:
    """Return the score that a team is told; `reached` is the best one that it was told before, or None.

    With a step, it is that of the ladder of Blum and Hardt (2015, algorithm 1).
    """
    if not feedback.step:
        return _round(score, feedback.decimals)
    if reached is not None and (reached - score if lower_is_better else score - reached) <= feedback.step:
        return reached
    return _round(feedback.step * round(score / feedback.step), feedback.decimals)


def plan_feedback(config: ChallengeConfig, validation: Sequence[Truth], trained: Sequence[Truth]) -> Feedback:
    """Choose the step and the decimals that the rules leave open, and where the ladder begins.

    `validation` are the validation environments, `trained` the held-out rows of training environments. The step is two
    standard errors of the score, of both the larger one, rounded up to 1, 2 or 5 times a power of ten, so that it does
    not tell how many rows there are. Decimals are those of the step.
    """
    starts = [_constant_scores(config, truths) for truths in (validation, trained)]
    step, decimals = config.ladder_step, config.decimals
    if step is None:
        pairs = zip((validation, trained), starts, strict=True)
        error = max(standard_error(config.metric, truths, scores) for truths, scores in pairs if truths)
        # A step that the decimals cannot write would be rounded to another one.
        step = _round_up(max(2 * error, 0.0 if decimals is None else 10.0**-decimals))
    if decimals is None:
        decimals = _count_decimals(step) if step else _FIRST.decimals
    first, second = (_round(float(np.mean(scores)), decimals) if step and scores else None for scores in starts)
    return Feedback(decimals=decimals, step=step, start=first, start_in_distribution=second)


def feedback_of(config: ChallengeConfig, planned: Feedback | None) -> Feedback:
    """Return what was planned when a challenge was made, or, before plans were recorded, what its rules say."""
    stated = {"decimals": config.decimals, "step": config.ladder_step}
    return planned or _FIRST.model_copy(update={key: value for key, value in stated.items() if value is not None})


def standard_error(metric: MetricName, environments: Sequence[Truth], constant_scores: Sequence[float]) -> float:
    """Return a bound on the standard error of the score of a guess, the mean over environments.

    `constant_scores` are those of constant predictions in each environment.
    """
    errors = [_guess_error(metric, truth, score) for truth, score in zip(environments, constant_scores, strict=True)]
    return math.sqrt(sum(error**2 for error in errors)) / len(errors)


def _guess_error(metric: MetricName, truth: Truth, constant_score: float) -> float:
    if metric in _OF_ROWS:
        # The variance of numbers in [0, 1] with this mean is no larger (Bhatia and Davis, 2000).
        mean = 0.5 if metric == "pw_js" else min(constant_score, 0.5)
        return math.sqrt(mean * (1 - mean) / truth.mask.any(axis=1).sum())
    # That of the mean of both recalls. Labels have rows in common, so that their errors do not average out.
    present, absent = (((value == truth.Y) & truth.mask).sum(axis=0) for value in (1, 0))
    return float(np.mean(np.sqrt(1 / present + 1 / absent) / 4))


def _constant_scores(config: ChallengeConfig, environments: Sequence[Truth]) -> list[float]:
    """Return the score of the base rates of each environment, which no look at a feature has improved."""
    metric = metric_of(config.metric)
    rates = (np.nanmean(np.where(truth.mask, truth.Y, np.nan), axis=0) for truth in environments)
    return [
        metric.score(truth.Y, np.broadcast_to(rate, truth.Y.shape), truth.mask, eps=config.eps_public, k=config.k)
        for truth, rate in zip(environments, rates, strict=True)
    ]


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return round(next(step * power for step in (1, 2, 5, 10) if step * power >= value), 15)


def _count_decimals(step: float) -> int:
    exponent = Decimal(repr(step)).normalize().as_tuple().exponent
    return min(max(0, -int(exponent)), _MOST_DECIMALS)


def _round(score: float, decimals: int) -> float:
    # No -0.0, whose sign would be one more digit.
    return round(score, decimals) + 0.0
