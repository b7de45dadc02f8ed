"""The metrics that a challenge can be ranked by: function, direction, and the worst of several environments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, get_args

import numpy as np

from metrics import ba_macro, nce, precision_at_k, pw_js, rmse
from mlstream.challenge.config import MetricName
from mlstream.challenge.truth import Array

# (truth, probabilities, mask, eps, k) -> score
_Function: TypeAlias = Callable[[Array, Array, Array, float, int], float]

_THRESHOLD = 0.5


@dataclass(frozen=True)
class ChallengeMetric:
    """A metric of one environment, and how scores compare."""

    name: MetricName  # Its name in `metrics`.
    lower_is_better: bool
    function: _Function  # Of truth, probabilities, mask, eps and k.

    def score(self, truth: Array, prob: Array, mask: Array, *, eps: float, k: int = 1) -> float:
        """Score the predictions of one environment; arrays are (n_samples, n_labels), `mask` the cells that count.

        True labels are 0, 1, or NaN where unknown. Probabilities are clipped to [eps, 1 - eps] by `nce`; `k` is for
        `precision_at_k`. A ValueError is raised if the metric is not defined on these labels.
        """
        return float(self.function(truth, prob, mask, eps, k))

    def worst(self, scores: Iterable[float]) -> float:
        """Return the worst of several scores."""
        return max(scores, key=self.sort_key)

    def is_better(self, score: float, other: float, by: float = 0.0) -> bool:
        """Return whether a score is better than another, by more than so much."""
        return self.sort_key(score) < self.sort_key(other) - by

    def sort_key(self, score: float) -> float:
        """Return a number that is lower for better scores."""
        return score if self.lower_is_better else -score


def metric_of(name: str) -> ChallengeMetric:
    """Return the metric of a name in `METRIC_NAMES`; a ValueError is raised for any other."""
    if name not in _METRICS:
        raise ValueError(f"metric must be one of {', '.join(_METRICS)}. Got {name!r} instead.")
    return _METRICS[name]


def _nce(truth: Array, prob: Array, mask: Array, eps: float, _k: int) -> float:
    # Labels with one class were left out when the challenge was made; a resample may have more of them.
    return nce(truth, prob, label_mask=mask, eps=eps, constant_labels="skip")


def _ba_macro(truth: Array, prob: Array, mask: Array, _eps: float, _k: int) -> float:
    return ba_macro(truth, _decide(prob), label_mask=mask)


def _rmse(truth: Array, prob: Array, mask: Array, _eps: float, _k: int) -> float:
    return rmse(truth, prob, label_mask=mask)


def _precision_at_k(truth: Array, prob: Array, mask: Array, _eps: float, k: int) -> float:
    return precision_at_k(truth, prob, k, label_mask=mask)


def _pw_js(truth: Array, prob: Array, mask: Array, _eps: float, _k: int) -> float:
    return pw_js(truth, _decide(prob), label_mask=mask)


def _decide(prob: Array) -> Array:
    return (prob >= _THRESHOLD).astype(np.uint8)


METRIC_NAMES: tuple[str, ...] = get_args(MetricName)
_METRICS = {
    metric.name: metric
    for metric in (
        ChallengeMetric("nce", True, _nce),
        ChallengeMetric("ba_macro", False, _ba_macro),
        ChallengeMetric("rmse", True, _rmse),
        ChallengeMetric("precision_at_k", False, _precision_at_k),
        ChallengeMetric("pw_js", False, _pw_js),
    )
}
