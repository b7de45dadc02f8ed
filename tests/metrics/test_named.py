"""Metrics by name are the functions of the package, and say which direction is better."""

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as peers

import metrics
from metrics import LabelCounts, calibration_sums, label_counts
from metrics.named import NAMED_METRICS, NamedMetric, find_metrics
from tests import oracles
from tests.loops import check_all

RNG = np.random.default_rng(0)
# Every row and label has both classes.
Y = np.vstack([np.eye(4, dtype=int), 1 - np.eye(4, dtype=int), RNG.integers(0, 2, (20, 4)) | np.eye(4, dtype=int)[[0]]])
Y[8:, 1] = 0
P = RNG.integers(0, 2, Y.shape)
S = RNG.permuted(np.tile([0.1, 0.4, 0.6, 0.9], (len(Y), 1)), axis=1)

OF_DECISIONS = {
    "hamming_loss": peers.hamming_loss,
    "hamming_loss_samples": peers.hamming_loss,
    "mcc_macro": lambda t, p: np.mean(
        [peers.matthews_corrcoef(*pair) for pair in zip(t.T, p.T, strict=True) if pair[0].any() and not pair[0].all()]
    ),
    "mcc_micro": lambda t, p: peers.matthews_corrcoef(t.ravel(), p.ravel()),
    "subset_accuracy": peers.accuracy_score,
} | {
    f"{name}_{average}": lambda t, p, name=name, average=average: getattr(peers, f"{name}_score")(
        t, p, average=average, zero_division=1.0 if average == "samples" else np.nan
    )
    for name in ("precision", "recall", "f1", "jaccard")
    for average in ("macro", "micro", "samples")
    # scikit-learn's Jaccard knows no NaN.
    if (name, average) not in {("jaccard", "macro"), ("jaccard", "micro")}
}
OF_SCORES = {
    "coverage": peers.coverage_error,
    "ranking_loss": peers.label_ranking_loss,
    "lrap": peers.label_ranking_average_precision_score,
    "one_error": oracles.one_error,
    "recall_at_k": lambda t, s: oracles.recall_at_k(t, s, 2),
    "ndcg_at_k": lambda t, s: peers.ndcg_score(t, s, k=2),
    "confident_accuracy_at_k": lambda t, s: oracles.confident_accuracy_at_k(t, s, 2),
}
OF_SCORES |= {
    "brier_macro": lambda t, s: np.mean([peers.brier_score_loss(*pair) for pair in zip(t.T, s.T, strict=True)]),
    "brier_micro": lambda t, s: peers.brier_score_loss(t.ravel(), s.ravel()),
    "ece_macro": oracles.expected_calibration_error,
    "ece_micro": lambda t, s: oracles.expected_calibration_error(t, s, average="micro"),
}
JACCARD = {name: lambda t, p, name=name: peers.jaccard_score(t, p, average=name) for name in ("macro", "micro")}


def call(one: NamedMetric, y_true: Any, decided: Any, scores: Any, k: int = 2) -> float:
    if one.form == "counts":
        return float(one.function(label_counts(y_true, decided)))
    if one.form == "calibration":
        return float(one.function(calibration_sums(y_true, scores)))
    read = {"decisions": (decided,), "scores": (scores,), "best": (scores, k)}[one.form]
    return float(one.function(y_true, *read))


def check_every(check: Callable[[NamedMetric], None]) -> None:
    check_all(NAMED_METRICS.values(), check, name=lambda one: one.name)


def test_a_name_stands_for_the_metric_that_others_know() -> None:
    def check(name: str) -> None:
        peer: Any = OF_DECISIONS.get(name) or JACCARD.get(name.removeprefix("jaccard_"))
        expected = peer(Y, P) if peer else OF_SCORES[name](Y, S)
        assert call(NAMED_METRICS[name], Y, P, S) == pytest.approx(expected)

    check_all(NAMED_METRICS, check)


def test_the_truth_is_best_and_its_opposite_worst() -> None:
    def check(one: NamedMetric) -> None:
        rows = Y[Y.any(axis=1)]
        best, worst = (call(one, rows, decided, decided.astype(float)) for decided in (rows, 1 - rows))
        assert (best > worst) == (one.better == "higher")
        ideal = {"coverage": rows.sum(axis=1).mean(), "recall_at_k": oracles.recall_at_k(rows, rows, 2)}
        assert best == pytest.approx(ideal.get(one.name, 1.0 if one.better == "higher" else 0.0))

    check_every(check)


def test_the_direction_is_the_one_that_the_function_documents() -> None:
    def check(one: NamedMetric) -> None:
        function = getattr(one.function, "func", one.function)
        assert one.has_ties == ("ties" in inspect.signature(function).parameters)
        assert f"{one.better} is better" in function.__doc__.splitlines()[0]
        assert function is getattr(metrics, function.__name__)

    check_every(check)


def test_an_oracle_is_best_on_rows_and_labels_that_are_empty() -> None:
    def check(one: NamedMetric) -> None:
        empty = np.array([[0, 0, 0], [1, 0, 0]])
        ideal = {"coverage": 0.5, "one_error": 0.5}.get(one.name, 1.0 if one.better == "higher" else 0.0)
        assert call(one, empty, empty, empty.astype(float), k=1) == pytest.approx(ideal)

    check_every(check)


def test_the_title_is_the_name_in_words() -> None:
    def check(one: NamedMetric) -> None:
        assert re.sub(r"[^a-zA-Z0-9]+", "_", one.title.replace("@", "_at_")).lower() == one.name
        assert one.title[0].isupper()

    check_every(check)


def test_rows_count_alike_however_many_of_their_cells_do() -> None:
    (one,) = find_metrics(["hamming_loss_samples"])
    assert one.function([[1, 0], [1, 0]], [[1, 0], [0, 0]], label_mask=[[True, True], [True, False]]) == 0.5


def test_false_alarms_on_an_empty_label_cost() -> None:
    quiet, alarmed = label_counts([[1, 0]], [[1, 0]]), label_counts([[1, 0]], [[1, 1]])
    for name in ("f1_macro", "precision_macro", "jaccard_macro"):
        (one,) = find_metrics([name])
        assert (float(one.function(quiet)), float(one.function(alarmed))) == (1.0, 0.5)


def test_nothing_to_count_is_not_defined() -> None:
    nothing = np.zeros(3, dtype=np.int64)
    for one in NAMED_METRICS.values():
        if one.form == "counts":
            assert math.isnan(one.function(LabelCounts(nothing, nothing, nothing, nothing)))


def test_one_rule_for_ties_holds_for_all_names_that_need_one() -> None:
    tied = [[0, 1, 0]], [[0.25, 0.25, 0.25]]
    for one in find_metrics([name for name, one in NAMED_METRICS.items() if one.has_ties], ties="order"):
        assert call(one, tied[0], None, tied[1], k=1) == float(one.name in ("one_error", "confident_accuracy_at_k"))


def test_names_are_found_in_the_order_asked_for() -> None:
    assert [one.name for one in find_metrics(["lrap", "coverage"])] == ["lrap", "coverage"]
    with pytest.raises(ValueError, match=r"--metrics must be among hamming_loss, .* Got 'F1_macro' .* 'f1_macro'\?"):
        find_metrics(["F1_macro"], "--metrics")
    with pytest.raises(ValueError, match=r"^metrics must be among .* Got 'xyz' instead\.$"):
        find_metrics(["xyz"])


def test_the_documentation_lists_every_name() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics" / "scores.rst").read_text(encoding="utf-8")

    def check(one: NamedMetric) -> None:
        reads = "decisions" if one.form in ("counts", "decisions") else "probabilities"
        assert f"   * - ``{one.name}``\n     - {one.better}\n     - {reads}\n     - {one.meaning}\n" in page

    check_every(check)
