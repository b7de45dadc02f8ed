"""Metrics for multi-label, multi-task and continual learning: pure functions that need NumPy and SciPy only."""

from metrics.at_k import confident_accuracy_at_k, ndcg_at_k, precision_at_k, recall_at_k
from metrics.continual import acc, aia, fm, intransigence
from metrics.counts import LabelCounts, cumulative_counts, label_counts, stack_counts, windowed_counts
from metrics.frugality import frug
from metrics.multilabel import ba_macro, ba_macro_from_counts
from metrics.ranking import coverage, lrap, one_error, ranking_loss, rmse
from metrics.transfer import bwt, fwt, stepwise_transfer

__all__ = [
    "LabelCounts",
    "acc",
    "aia",
    "ba_macro",
    "ba_macro_from_counts",
    "bwt",
    "confident_accuracy_at_k",
    "coverage",
    "cumulative_counts",
    "fm",
    "frug",
    "fwt",
    "intransigence",
    "label_counts",
    "lrap",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "ranking_loss",
    "recall_at_k",
    "rmse",
    "stack_counts",
    "stepwise_transfer",
    "windowed_counts",
]
