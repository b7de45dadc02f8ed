"""Metrics by name, for programs that take the names of metrics as text: what each reads, and which direction is better.

Every metric here can be summed: its value over a stream follows from counts of labels, from sums over bins of
probabilities, or from a sum over rows, so that a stream is read once. Where nothing can be divided by, a perfect
prediction is best all the same: in means over labels such a label is left out, in means over rows such a row counts 1
(nothing true and nothing predicted is right).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal

from metrics import at_k, calibration, correlation, from_counts, multilabel, ranking
from metrics._typing import Ties

Form = Literal["counts", "decisions", "scores", "best", "calibration"]


@dataclass(frozen=True)
class NamedMetric:
    """A metric with a name.

    Forms: "counts" is called with counts (see `metrics.label_counts`); "calibration" with sums (see
    `metrics.calibration_sums`); "decisions" and "scores" with truth, decisions or scores, and the option `label_mask`;
    "best" with truth, scores, a number of best-scored labels, and `label_mask`. All but the first two are means over
    rows. Functions with `has_ties` have the option `ties`, see `metrics.at_k`.
    """

    name: str
    title: str
    better: Literal["higher", "lower"]
    meaning: str
    form: Form
    function: Callable[..., Any]
    has_ties: bool = False


def find_metrics(names: Sequence[str], option: str = "metrics", *, ties: Ties = "expected") -> tuple[NamedMetric, ...]:
    """Find metrics by their names, in that order, with one rule for ties.

    An unknown name raises ValueError with the nearest one.
    """
    for name in names:
        if name not in NAMED_METRICS:
            near = get_close_matches(str(name), NAMED_METRICS)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise ValueError(f"{option} must be among {', '.join(NAMED_METRICS)}. Got {name!r} instead{hint}")
    found = (NAMED_METRICS[name] for name in names)
    return tuple(
        replace(metric, function=partial(metric.function, ties=ties)) if metric.has_ties else metric for metric in found
    )


def _ratios() -> list[NamedMetric]:
    """List precision, recall, F1 and Jaccard similarity, each with its three averages."""
    averages = {"macro": "mean over labels", "micro": "over all cells at once", "samples": "mean over rows"}
    meanings = {
        "precision": "Share of predicted labels that are true",
        "recall": "Share of true labels that are predicted",
        "f1": "Harmonic mean of precision and recall",
        "jaccard": "Labels right over labels true or predicted",
    }
    found = []
    for name, meaning in meanings.items():
        for average, how in averages.items():
            form, function = _ratio(name, average)
            title = f"{name.capitalize()}, {average}"
            found.append(NamedMetric(f"{name}_{average}", title, "higher", f"{meaning}, {how}.", form, function))
    return found


def _calibration() -> list[NamedMetric]:
    """List the Brier score and the expected calibration error, each with its averages."""
    meanings = {
        "brier": ("Brier", "Mean squared error of probabilities", calibration.brier_score_from_sums),
        "ece": (
            "ECE",
            "Distance of probabilities and shares of true labels in ten bins of probabilities",
            calibration.expected_calibration_error_from_sums,
        ),
    }
    averages: dict[Literal["macro", "micro"], str] = {"macro": "mean over labels", "micro": "over all cells at once"}
    return [
        NamedMetric(
            f"{name}_{average}",
            f"{title}, {average}",
            "lower",
            f"{meaning}, {how}.",
            "calibration",
            partial(function, average=average),
        )
        for name, (title, meaning, function) in meanings.items()
        for average, how in averages.items()
    ]


def _ratio(name: str, average: str) -> tuple[Form, Callable[..., Any]]:
    if average == "samples":
        return "decisions", partial(getattr(multilabel, name), average=average, zero_division=1.0)
    return "counts", partial(getattr(from_counts, f"{name}_from_counts"), average=average, zero_division=math.nan)


_METRICS = (
    NamedMetric(
        "hamming_loss",
        "Hamming loss",
        "lower",
        "Share of labels predicted wrongly, over all cells.",
        "counts",
        from_counts.hamming_loss_from_counts,
    ),
    NamedMetric(
        "hamming_loss_samples",
        "Hamming loss, samples",
        "lower",
        "Share of labels predicted wrongly, mean over rows.",
        "decisions",
        partial(multilabel.hamming_loss, average="samples"),
    ),
    NamedMetric(
        "subset_accuracy",
        "Subset accuracy",
        "higher",
        "Share of rows with every label right.",
        "decisions",
        multilabel.subset_accuracy,
    ),
    *_ratios(),
    NamedMetric(
        "mcc_macro",
        "MCC, macro",
        "higher",
        "Matthews correlation coefficient of truths and predictions, mean over labels.",
        "counts",
        partial(correlation.mcc_from_counts, average="macro"),
    ),
    NamedMetric(
        "mcc_micro",
        "MCC, micro",
        "higher",
        "Matthews correlation coefficient of truths and predictions, over all cells at once.",
        "counts",
        partial(correlation.mcc_from_counts, average="micro"),
    ),
    NamedMetric(
        "one_error",
        "One-error",
        "lower",
        "Share of rows whose best-scored label is not relevant.",
        "scores",
        ranking.one_error,
        has_ties=True,
    ),
    NamedMetric(
        "coverage",
        "Coverage",
        "lower",
        "Places of the ranking that are needed to cover every relevant label, mean over rows.",
        "scores",
        ranking.coverage,
    ),
    NamedMetric(
        "ranking_loss",
        "Ranking loss",
        "lower",
        "Share of pairs of a relevant and an irrelevant label in the wrong order, mean over rows.",
        "scores",
        ranking.ranking_loss,
    ),
    NamedMetric(
        "lrap",
        "LRAP",
        "higher",
        "Label ranking average precision: share of relevant labels among those ranked above each relevant one.",
        "scores",
        ranking.lrap,
    ),
    NamedMetric(
        "recall_at_k",
        "Recall@k",
        "higher",
        "Share of the relevant labels that are among the k best-scored ones.",
        "best",
        partial(at_k.recall_at_k, zero_division=1.0),
        has_ties=True,
    ),
    NamedMetric(
        "ndcg_at_k",
        "NDCG@k",
        "higher",
        "Discounted gain of the k best-scored labels over the best possible one.",
        "best",
        partial(at_k.ndcg_at_k, zero_division=1.0),
        has_ties=True,
    ),
    NamedMetric(
        "confident_accuracy_at_k",
        "Confident accuracy@k",
        "higher",
        "Share of right decisions, absences too, among the k labels of greatest confidence.",
        "best",
        at_k.confident_accuracy_at_k,
        has_ties=True,
    ),
    *_calibration(),
)
NAMED_METRICS = {one.name: one for one in _METRICS}
