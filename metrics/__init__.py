"""Metrics for multi-label, multi-task and continual learning: pure functions that need NumPy and SciPy only."""

from metrics.anytime import anytime_score, running_mean
from metrics.areas import average_precision, roc_auc
from metrics.asymmetric import pragma, pragma_plane
from metrics.at_budget import precision_at_budget, recall_at_budget
from metrics.at_k import confident_accuracy_at_k, ndcg_at_k, precision_at_k, precision_at_k_maximum, recall_at_k
from metrics.balanced_accuracy import ba_macro, ba_macro_from_counts
from metrics.bayesian import BayesianComparison, bayesian_signed_rank
from metrics.by_row import counts_by_row, precision_at_k_by_row, rmse_by_row
from metrics.calibration import (
    CalibrationCurve,
    CalibrationSums,
    brier_score,
    brier_score_from_sums,
    calibration_curve,
    calibration_sums,
    expected_calibration_error,
    expected_calibration_error_from_sums,
)
from metrics.continual import acc, aia, fm, intransigence
from metrics.correlation import mcc, mcc_from_counts
from metrics.counts import LabelCounts, cumulative_counts, label_counts, stack_counts, windowed_counts
from metrics.detection import DetectionScores, detection_scores
from metrics.environments import nce, nce_by_environment, worst_nce
from metrics.from_counts import (
    f1_from_counts,
    fbeta_from_counts,
    hamming_loss_from_counts,
    jaccard_from_counts,
    precision_from_counts,
    recall_from_counts,
)
from metrics.frugality import frug
from metrics.hierarchy import hierarchy_consistency, pw_js, refinement_recall
from metrics.learning_curves import LearningSpeed, area_under_curve, learning_speed, transition_time
from metrics.multilabel import f1, fbeta, hamming_loss, jaccard, precision, recall, subset_accuracy
from metrics.persistence import LabelPersistence, kappa_temporal, label_persistence, no_change_predictions
from metrics.prediction_sets import set_coverage, set_size
from metrics.propensity import label_propensities, psndcg_at_k, psprecision_at_k
from metrics.ranking import coverage, lrap, one_error, ranking_loss, rmse
from metrics.refinement import refinement_jaccard
from metrics.significance import (
    FriedmanResult,
    average_ranks,
    critical_difference,
    friedman,
    nemenyi,
    rank_intervals,
    wilcoxon_holm,
)
from metrics.transfer import bwt, fwt, stepwise_transfer

__all__ = [
    "BayesianComparison",
    "CalibrationCurve",
    "CalibrationSums",
    "DetectionScores",
    "FriedmanResult",
    "LabelCounts",
    "LabelPersistence",
    "LearningSpeed",
    "acc",
    "aia",
    "anytime_score",
    "area_under_curve",
    "average_precision",
    "average_ranks",
    "ba_macro",
    "ba_macro_from_counts",
    "bayesian_signed_rank",
    "brier_score",
    "brier_score_from_sums",
    "bwt",
    "calibration_curve",
    "calibration_sums",
    "confident_accuracy_at_k",
    "counts_by_row",
    "coverage",
    "critical_difference",
    "cumulative_counts",
    "detection_scores",
    "expected_calibration_error",
    "expected_calibration_error_from_sums",
    "f1",
    "f1_from_counts",
    "fbeta",
    "fbeta_from_counts",
    "fm",
    "friedman",
    "frug",
    "fwt",
    "hamming_loss",
    "hamming_loss_from_counts",
    "hierarchy_consistency",
    "intransigence",
    "jaccard",
    "jaccard_from_counts",
    "kappa_temporal",
    "label_counts",
    "label_persistence",
    "label_propensities",
    "learning_speed",
    "lrap",
    "mcc",
    "mcc_from_counts",
    "nce",
    "nce_by_environment",
    "ndcg_at_k",
    "nemenyi",
    "no_change_predictions",
    "one_error",
    "pragma",
    "pragma_plane",
    "precision",
    "precision_at_budget",
    "precision_at_k",
    "precision_at_k_by_row",
    "precision_at_k_maximum",
    "precision_from_counts",
    "psndcg_at_k",
    "psprecision_at_k",
    "pw_js",
    "rank_intervals",
    "ranking_loss",
    "recall",
    "recall_at_budget",
    "recall_at_k",
    "recall_from_counts",
    "refinement_jaccard",
    "refinement_recall",
    "rmse",
    "rmse_by_row",
    "roc_auc",
    "running_mean",
    "set_coverage",
    "set_size",
    "stack_counts",
    "stepwise_transfer",
    "subset_accuracy",
    "transition_time",
    "wilcoxon_holm",
    "windowed_counts",
    "worst_nce",
]
