"""Metrics for multi-label, multi-task and continual learning: pure functions that need NumPy and SciPy only."""

from metrics.at_k import confident_accuracy_at_k, ndcg_at_k, precision_at_k, recall_at_k
from metrics.balanced_accuracy import ba_macro, ba_macro_from_counts
from metrics.continual import acc, aia, fm, intransigence
from metrics.counts import LabelCounts, cumulative_counts, label_counts, stack_counts, windowed_counts
from metrics.from_counts import (
    f1_from_counts,
    hamming_loss_from_counts,
    jaccard_from_counts,
    precision_from_counts,
    recall_from_counts,
)
from metrics.frugality import frug
from metrics.multilabel import f1, hamming_loss, jaccard, precision, recall, subset_accuracy
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
    "f1",
    "f1_from_counts",
    "fm",
    "frug",
    "fwt",
    "hamming_loss",
    "hamming_loss_from_counts",
    "intransigence",
    "jaccard",
    "jaccard_from_counts",
    "label_counts",
    "lrap",
    "ndcg_at_k",
    "one_error",
    "precision",
    "precision_at_k",
    "precision_from_counts",
    "ranking_loss",
    "recall",
    "recall_at_k",
    "recall_from_counts",
    "rmse",
    "stack_counts",
    "stepwise_transfer",
    "subset_accuracy",
    "windowed_counts",
]
