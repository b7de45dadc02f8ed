"""Scores of evaluation sets for streams that are more than tasks: hierarchies of labels, and environments."""

from __future__ import annotations

import math

from metrics import jaccard, nce, pw_js, refinement_recall
from mlstream.card_model import StreamCard
from mlstream.evaluation.named_scores import Metrics, score_named
from mlstream.evaluation.scoring import CORE_METRICS, Scored, score
from mlstream.evaluation.settings import OneClass

HIERARCHY_METRICS = ("pw_js", "jaccard", "refinement_recall")
ENVIRONMENT_METRICS = ("nce",)


class HeldOutScorer:
    """Scores the evaluation sets of a stream by every metric that fits it.

    Parameters
    ----------
    card : StreamCard
        Card of the stream: with a hierarchy of labels, predictions are also scored as paths through it; where tasks are
        environments, probabilities are also scored against the base rate of each.
    k : int
        Number of best-scored labels.
    one_class : {"skip", "recall", "river"}
        See `metrics.ba_macro`.
    metrics : tuple of NamedMetric
        Metrics beside those that fit the stream.

    Attributes
    ----------
    names : tuple of str
        Names of the metrics, those of every stream first.
    """

    def __init__(self, card: StreamCard, k: int, one_class: OneClass, metrics: Metrics = ()) -> None:
        place = {name: column for column, name in enumerate(card.label_names)}
        self._parents = {place[child]: place[parent] for child, parent in card.label_parents.items()}
        self._has_environments = card.scenario.name == "environments"
        self._k = k
        self._one_class = one_class
        self._metrics = metrics
        self.names = (
            *CORE_METRICS,
            *(HIERARCHY_METRICS if self._parents else ()),
            *(ENVIRONMENT_METRICS if self._has_environments else ()),
            *(one.name for one in metrics),
        )

    def score(self, scored: Scored) -> dict[str, float]:
        """Score one evaluation set.

        Parameters
        ----------
        scored : Scored
            Its rows; without rows, or without a label that counts, every score is undefined.

        Returns
        -------
        dict
            Name of each metric -> score; NaN where it is not defined.
        """
        found = dict.fromkeys(self.names, math.nan) | score(scored, self._k, self._one_class)
        found |= score_named(scored, self._k, self._metrics)
        if not len(scored.Y) or not scored.mask.any():
            return found
        if self._parents:
            found |= self._score_paths(scored)
        if self._has_environments:
            found["nce"] = _score_environment(scored)
        return found

    def _score_paths(self, scored: Scored) -> dict[str, float]:
        rows, mask = (scored.Y, scored.predictions.decided), scored.mask
        return {
            "pw_js": pw_js(*rows, label_mask=mask),
            "jaccard": jaccard(*rows, average="samples", label_mask=mask),
            "refinement_recall": refinement_recall(*rows, self._parents, label_mask=mask, zero_division=math.nan),
        }


def _score_environment(scored: Scored) -> float:
    positives, n_rows = scored.Y[:, scored.mask].sum(axis=0), len(scored.Y)
    if ((positives == 0) | (positives == n_rows)).any():
        # A label of one class has no base rate to compare with.
        return math.nan
    return nce(scored.Y, scored.predictions.proba, label_mask=scored.mask)
