"""The metrics that a challenge can be ranked by: function, direction, and the worst of several environments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import get_args

import numpy as np

from metrics import ba_macro, nce, precision_at_k, pw_js, rmse
from mlstream.challenge.config import MetricName
from mlstream.challenge.truth import Array

_THRESHOLD = 0.5


@dataclass(frozen=True)
class ChallengeMetric:
    """A metric of one environment, and how scores compare."""

    name: MetricName  # Its name in `metrics`.
    lower_is_better: bool
    function: Callable[[Array, Array, Array, float, int], float]  # Of truth, probabilities, mask, eps and k.

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


def _decide(prob: Array) -> Array:
    return (prob >= _THRESHOLD).astype(np.uint8)


METRIC_NAMES: tuple[str, ...] = get_args(MetricName)
_METRICS = {
    metric.name: metric
    for metric in (
        # Labels with one class were left out when the challenge was made; a resample may have more of them.
        ChallengeMetric(
            "nce", True, lambda Y, prob, mask, eps, _k: nce(Y, prob, label_mask=mask, eps=eps, constant_labels="skip")
        ),
        ChallengeMetric("ba_macro", False, lambda Y, prob, mask, _eps, _k: ba_macro(Y, _decide(prob), label_mask=mask)),
        ChallengeMetric("rmse", True, lambda Y, prob, mask, _eps, _k: rmse(Y, prob, label_mask=mask)),
        ChallengeMetric(
            "precision_at_k", False, lambda Y, prob, mask, _eps, k: precision_at_k(Y, prob, k, label_mask=mask)
        ),
        ChallengeMetric("pw_js", False, lambda Y, prob, mask, _eps, _k: pw_js(Y, _decide(prob), label_mask=mask)),
    )
}
