"""The figures that the page "How the metrics differ between libraries" gives for the Python packages."""

import warnings
from typing import Any

import numpy as np
import pytest
from river import metrics as river_metrics
from sklearn import metrics as sklearn_metrics

import metrics

Y_TRUE = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]])
Y_PRED = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]])
TIED = np.array([[0, 1, 0]]), np.array([[0.5, 0.5, 0.1]])
EMPTY = np.array([[0, 0, 0]]), np.array([[0.5, 0.5, 0.1]])


def river(average: str, metric: Any, y_true: Any = Y_TRUE, y_pred: Any = Y_PRED) -> float:
    combined = getattr(river_metrics.multioutput, average)(metric)
    for truth, prediction in zip(np.asarray(y_true).tolist(), np.asarray(y_pred).tolist(), strict=True):
        combined.update(dict(enumerate(truth)), dict(enumerate(prediction)))
    return combined.get()


@pytest.mark.parametrize(
    ("name", "average", "figure"),
    [
        ("precision", "samples", 0.625),
        ("recall", "samples", 0.4583),
        ("f1", "samples", 0.4583),
        ("jaccard", "samples", 0.3333),
        ("f1", "micro", 0.6),
        ("jaccard", "micro", 0.4286),
    ],
)
def test_decisions(name: str, average: Any, figure: float) -> None:
    peer = getattr(sklearn_metrics, f"{name}_score")
    kind = {"samples": "SampleAverage", "micro": "MicroAverage"}[average]
    answers = [
        getattr(metrics, name)(Y_TRUE, Y_PRED, average=average),
        peer(Y_TRUE, Y_PRED, average=average, zero_division=0),
        river(kind, getattr(river_metrics, name.title())()),
    ]
    assert answers == pytest.approx([figure] * 3, abs=5e-5)


def test_hamming_loss_and_subset_accuracy() -> None:
    assert metrics.hamming_loss(Y_TRUE, Y_PRED) == pytest.approx(0.3333, abs=5e-5)
    assert metrics.subset_accuracy(Y_TRUE, Y_PRED) == 0.25
    exact = river_metrics.multioutput.ExactMatch()
    for truth, prediction in zip(Y_TRUE.tolist(), Y_PRED.tolist(), strict=True):
        exact.update(dict(enumerate(truth)), dict(enumerate(prediction)))
    assert exact.get() == 0.25


def test_a_label_with_one_class() -> None:
    truth, prediction = [0, 0, 0], [1, 0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sklearn_metrics.balanced_accuracy_score(truth, prediction) == pytest.approx(0.6667, abs=5e-5)
    with pytest.raises(ValueError, match="multilabel-indicator is not supported"):
        sklearn_metrics.balanced_accuracy_score(Y_TRUE, Y_PRED)
    peer = river_metrics.BalancedAccuracy()
    for pair in zip(truth, prediction, strict=True):
        peer.update(*pair)
    assert peer.get() == pytest.approx(0.6667, abs=5e-5)
    columns = np.array([truth]).T, np.array([prediction]).T
    assert metrics.ba_macro(*columns, one_class="recall") == pytest.approx(0.6667, abs=5e-5)
    assert metrics.ba_macro(*columns, one_class="river") == pytest.approx(0.3333, abs=5e-5)


@pytest.mark.parametrize(
    ("ours", "peer", "tied", "empty"),
    [
        (metrics.coverage, sklearn_metrics.coverage_error, 2, 0),
        (metrics.ranking_loss, sklearn_metrics.label_ranking_loss, 0.5, 0),
        (metrics.lrap, sklearn_metrics.label_ranking_average_precision_score, 0.5, 1),
    ],
)
def test_rankings(ours: Any, peer: Any, tied: float, empty: float) -> None:
    assert ours(*TIED) == peer(*TIED) == tied
    assert ours(*EMPTY) == peer(*EMPTY) == empty


# To import torch takes a second or more.
@pytest.mark.slow
def test_rankings_of_torchmetrics() -> None:
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.classification")

    def score(name: str, truth: Any, scores: Any) -> float:
        function = getattr(functional, f"multilabel_{name}")
        return float(function(torch.tensor(scores), torch.tensor(truth), num_labels=len(truth[0])))

    assert score("coverage_error", *TIED) == 2
    assert score("ranking_loss", *TIED) == 0
    assert score("ranking_average_precision", *TIED) == 0.5
    assert [score(name, *EMPTY) for name in ("coverage_error", "ranking_loss", "ranking_average_precision")] == [
        0,
        0,
        1,
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert score("auroc", *ABSENT) == 0.375
        assert score("average_precision", *ABSENT) == pytest.approx(0.4167, abs=5e-5)
    assert score("accuracy", [[0, 1]], [[0.4, 0.9]]) == 1
    assert score("accuracy", [[0, 1]], [[0.4, 1.2]]) == 0.5


def test_gains_of_tied_labels() -> None:
    assert metrics.ndcg_at_k(*TIED, 2) == pytest.approx(0.8155, abs=5e-5)
    assert sklearn_metrics.ndcg_score(*TIED, k=2) == pytest.approx(0.8155, abs=5e-5)
    assert sklearn_metrics.ndcg_score(*TIED, k=2, ignore_ties=True) == 1
    assert metrics.precision_at_k(*TIED, 1) == metrics.one_error(*TIED) == 0.5
    assert metrics.ndcg_at_k(*TIED, 2, ties="order") == pytest.approx(0.6309, abs=5e-5)
    assert metrics.precision_at_k(*TIED, 1, ties="order") == 0
    assert metrics.one_error(*TIED, ties="order") == 1


ABSENT = [[1, 0], [0, 0], [1, 0]], [[0.9, 0.1], [0.3, 0.2], [0.3, 0.1]]


def test_areas_of_absent_labels() -> None:
    assert metrics.roc_auc(*ABSENT) == 0.75
    assert metrics.average_precision(*ABSENT) == pytest.approx(0.8333, abs=5e-5)
    with pytest.warns(UserWarning, match="Only one class"):
        theirs = sklearn_metrics.roc_auc_score(*ABSENT)
    assert np.isnan(theirs)
    with pytest.warns(UserWarning, match="No positive class"):
        theirs = sklearn_metrics.average_precision_score(*ABSENT)
    assert theirs == pytest.approx(0.4167, abs=5e-5)


def test_errors_of_scores() -> None:
    row = [[1, 0, 0]], [[0.4, 0.1, 0.0]]
    assert metrics.precision_at_k(*row, 2) == 0.5
    assert metrics.confident_accuracy_at_k(*row, 2) == 1
    assert metrics.rmse(*row) == pytest.approx(0.3512, abs=5e-5)
    pair = [[1, 1], [0, 0]], [[0.0, 0.0], [0.0, 0.0]]
    peers = [
        sklearn_metrics.root_mean_squared_error(*pair),
        river("MicroAverage", river_metrics.RMSE(), *pair),
        river("MacroAverage", river_metrics.RMSE(), *pair),
    ]
    assert peers == pytest.approx([0.7071] * 3, abs=5e-5)
    assert metrics.rmse(*pair) == 0.5


def test_transfers() -> None:
    R, order = [[0.5, 0.5], [0.9, 0.6], [0.7, 0.8]], [0, 1]
    answers = [
        metrics.fwt(R, order),
        metrics.fwt(R, order, reference_scores=[0.9, 0.75]),
        metrics.stepwise_transfer(R, order)["FWT"],
        metrics.stepwise_transfer(R, order, baseline="zero")["FWT"],
    ]
    assert answers == pytest.approx([0.1, 0.05, 0.1, 0.6])
    R, order = [[0.5, 0.5], [0.6, 0.5], [0.5, 0.7], [0.9, 0.6], [0.8, 0.8]], [0, 1, 0, 1]
    assert metrics.bwt(R, order) == pytest.approx(-0.1)
    assert metrics.bwt(R, order, reference="first") == pytest.approx(0.2)
