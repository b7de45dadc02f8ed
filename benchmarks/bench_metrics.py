"""Metrics on 100,000 x 100 tables, side by side with scikit-learn and torchmetrics (CPU).

Asked for: 30 times faster for everything that follows from counts, 5 times for ranking metrics, and less than twice the
memory of the inputs. Every peer gets the type of array that suits it; the answers are checked before times are taken.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import torchmetrics.functional.classification as torch_metrics
from harness import Contest, main, sized
from scipy import sparse
from sklearn import metrics as sklearn_metrics

import metrics

N_SAMPLES, N_LABELS = sized(100_000, 500), 100
COUNTS, RANKING = 30, 5


def tables(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Draw truth and predictions with 30 % of ones."""
    rng = np.random.default_rng(0)
    y_true, y_pred = (rng.random((N_SAMPLES, N_LABELS)) < 0.3 for _ in range(2))
    return y_true.astype(dtype), y_pred.astype(dtype)


def sklearn_ba_macro(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    """Take the only route: balanced_accuracy_score refuses indicator matrices."""
    tn, fp, fn, tp = sklearn_metrics.multilabel_confusion_matrix(y_true, y_pred).reshape(-1, 4).T
    return float(np.mean((tp / (tp + fn) + tn / (tn + fp)) / 2))


def torch_ba_macro(y_true: torch.Tensor, y_pred: torch.Tensor) -> float:
    """Compute the same from torchmetrics' per-label counts."""
    tp, fp, tn, fn, _ = torch_metrics.multilabel_stat_scores(y_pred, y_true, num_labels=N_LABELS, average="none").T
    return float(((tp / (tp + fn) + tn / (tn + fp)) / 2).mean())


def torch_score(name: str, y_true: torch.Tensor, other: torch.Tensor, **options: Any) -> Callable[[], float]:
    """Prepare a call of a torchmetrics function."""
    function = getattr(torch_metrics, f"multilabel_{name}")
    return lambda: float(function(other, y_true, num_labels=N_LABELS, **options))


def decision_contests(dtype: Any) -> list[Contest]:
    """Everything that follows from counts."""
    y_true, y_pred = tables(dtype)
    t_true, t_pred = torch.from_numpy(y_true), torch.from_numpy(y_pred)
    size = y_true.nbytes + y_pred.nbytes
    mask = np.random.default_rng(1).random(y_true.shape) < 0.8
    kind = np.dtype(dtype).name

    def contest(name: str, ours: Callable[..., Any], **peers: Callable[[], Any]) -> Contest:
        call = partial(ours, y_true, y_pred)
        return Contest(f"{name} ({kind})", call, peers, demand=COUNTS, input_bytes=size, tolerance=1e-5)

    def sk(function: Any, **options: Any) -> Callable[[], Any]:
        return lambda: function(y_true, y_pred, **options)

    def ratio(name: str, peer: str, average: str) -> Contest:
        peers = {"sklearn": sk(getattr(sklearn_metrics, f"{name}_score"), average=average, zero_division=0)}
        if average != "samples":
            peers["torchmetrics"] = torch_score(peer, t_true, t_pred, average=average)
        return contest(f"{name} {average}", partial(getattr(metrics, name), average=average), **peers)

    return [
        contest(
            "ba_macro",
            metrics.ba_macro,
            sklearn=lambda: sklearn_ba_macro(y_true, y_pred),
            torchmetrics=lambda: torch_ba_macro(t_true, t_pred),
        ),
        contest(
            "hamming_loss",
            metrics.hamming_loss,
            sklearn=sk(sklearn_metrics.hamming_loss),
            torchmetrics=torch_score("hamming_distance", t_true, t_pred, average="micro"),
        ),
        contest(
            "subset_accuracy",
            metrics.subset_accuracy,
            sklearn=sk(sklearn_metrics.accuracy_score),
            torchmetrics=torch_score("exact_match", t_true, t_pred),
        ),
        *(
            ratio(name, peer, average)
            for name, peer in (("jaccard", "jaccard_index"), ("f1", "f1_score"), ("precision", "precision"))
            for average in ("samples", "micro", "macro")
        ),
        contest("pw_js", metrics.pw_js),
        contest("ba_macro, mask per row", partial(metrics.ba_macro, label_mask=mask)),
        contest("jaccard samples, mask per row", partial(metrics.jaccard, label_mask=mask)),
    ]


def ranking_contests(dtype: Any) -> list[Contest]:
    """Everything that ranks labels, for scores of one type."""
    y_true, _ = tables(np.uint8)
    score = np.random.default_rng(2).random(y_true.shape).astype(dtype)
    t_true, t_score = torch.from_numpy(y_true), torch.from_numpy(score)
    size, few = y_true.nbytes + score.nbytes, slice(0, N_SAMPLES // 50)
    kind = np.dtype(dtype).name

    def contest(name: str, ours: Callable[..., Any], *args: Any, **peers: Callable[[], Any]) -> Contest:
        call = partial(ours, y_true, score, *args)
        return Contest(f"{name} ({kind})", call, peers, demand=RANKING, input_bytes=size, tolerance=1e-4, repeats=3)

    def stable_sort() -> float:
        best = np.argsort(-score, axis=1, kind="stable")[:, :3]
        return float(np.take_along_axis(y_true, best, axis=1).mean())

    return [
        contest("precision_at_k, k=3", metrics.precision_at_k, 3, numpy_stable_sort=stable_sort),
        contest(
            "ndcg_at_k, k=3",
            metrics.ndcg_at_k,
            3,
            sklearn_ignoring_ties=lambda: sklearn_metrics.ndcg_score(y_true, score, k=3, ignore_ties=True),
        ),
        Contest(
            f"ndcg_at_k, k=3, ties, 2,000 rows ({kind})",
            lambda: metrics.ndcg_at_k(y_true[few], score[few].round(1), 3),
            {"sklearn": lambda: sklearn_metrics.ndcg_score(y_true[few], score[few].round(1), k=3)},
            demand=RANKING,
            tolerance=1e-4,
            repeats=3,
        ),
        contest(
            "coverage",
            metrics.coverage,
            sklearn=lambda: sklearn_metrics.coverage_error(y_true, score),
            torchmetrics=torch_score("coverage_error", t_true, t_score),
        ),
        contest(
            "ranking_loss",
            metrics.ranking_loss,
            sklearn=lambda: sklearn_metrics.label_ranking_loss(y_true, score),
            torchmetrics=torch_score("ranking_loss", t_true, t_score),
        ),
        Contest(
            f"lrap, 2,000 rows ({kind})",
            lambda: metrics.lrap(y_true[few], score[few]),
            {
                "sklearn": lambda: sklearn_metrics.label_ranking_average_precision_score(y_true[few], score[few]),
                "torchmetrics": torch_score("ranking_average_precision", t_true[few], t_score[few]),
            },
            demand=RANKING,
            tolerance=1e-4,
            repeats=3,
        ),
        contest("lrap", metrics.lrap),
        contest("roc_auc", metrics.roc_auc, sklearn=lambda: sklearn_metrics.roc_auc_score(y_true, score)),
        contest(
            "average_precision",
            metrics.average_precision,
            sklearn=lambda: sklearn_metrics.average_precision_score(y_true, score),
        ),
        contest("one_error", metrics.one_error),
        contest("rmse", metrics.rmse),
        contest("confident_accuracy_at_k, k=3", metrics.confident_accuracy_at_k, 3),
    ]


def sparse_contests() -> list[Contest]:
    """Ten times the labels, few of them set."""
    rng = np.random.default_rng(3)
    y_true, y_pred = (
        sparse.random_array((N_SAMPLES, 10 * N_LABELS), density=0.003, format="csr", rng=rng)
        .astype(bool)
        .astype(np.uint8)
        for _ in range(2)
    )
    return [
        Contest(
            "jaccard samples, CSR 0.3 % of 1,000",
            lambda: metrics.jaccard(y_true, y_pred),
            {"sklearn": lambda: sklearn_metrics.jaccard_score(y_true, y_pred, average="samples", zero_division=0)},
        )
    ]


if __name__ == "__main__":
    main(
        f"Metrics on {N_SAMPLES:,} x {N_LABELS}",
        [
            *decision_contests(np.uint8),
            *decision_contests(np.int64),
            *ranking_contests(np.float64),
            *ranking_contests(np.float32),
            *sparse_contests(),
        ],
        ["numpy", "scipy", "scikit-learn", "torch", "torchmetrics"],
        repeats=5,
    )
