"""Accuracy, forgetting and intransigence on sequences whose answers are known by hand or printed."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import metrics
from tests.loops import check_all
from tests.metrics import published

# tasks 0, 1, 0 again, 2; the numbers are chosen so that every definition gives something else
R = np.array(
    [
        [0.50, 0.40, 0.30],
        [0.90, 0.45, 0.35],
        [0.60, 0.80, 0.45],
        [0.95, 0.55, 0.40],
        [0.70, 0.50, 0.85],
    ]
)
ORDER = [0, 1, 0, 2]


def test_accuracy_of_the_three_kinds() -> None:
    steps = [0.9, (0.6 + 0.8) / 2, (0.95 + 0.55) / 2, (0.7 + 0.5 + 0.85) / 3]
    assert metrics.acc(R, ORDER) == pytest.approx(steps[-1])
    assert metrics.acc(R, ORDER, when="mean") == pytest.approx(sum(steps) / 4)
    assert metrics.aia(R, ORDER) == pytest.approx(sum(steps) / 4)
    assert metrics.acc(R, ORDER, when="triangular") == pytest.approx((0.9 + 1.4 + 1.5 + 2.05) / 8)


def test_forgetting_looks_for_the_best_from_the_first_visit_or_the_start_on() -> None:
    high_start = R.copy()
    high_start[0] = 1.0  # before any learning: no knowledge to forget
    high_start[1, 1] = 1.0  # before task 1 was first visited
    assert metrics.fm(high_start, ORDER) == pytest.approx(((0.95 - 0.70) + (0.80 - 0.50)) / 2)
    assert metrics.fm(high_start, ORDER, best_since="start") == pytest.approx(((0.95 - 0.70) + (1.00 - 0.50)) / 2)


def test_forgetting_of_the_current_task_is_left_out_unless_asked_for() -> None:
    again, order = R[:4], ORDER[:3]
    assert metrics.fm(again, order) == pytest.approx(0.80 - 0.55)
    assert metrics.fm(again, order, include_current=True) == pytest.approx(((0.80 - 0.55) + (0.90 - 0.95)) / 2)


def test_intransigence_compares_with_the_joint_model_when_a_task_is_new() -> None:
    joint = [0.95, 0.85, 0.9]
    assert metrics.intransigence(R, ORDER, joint) == pytest.approx(0.9 - 0.85)
    assert metrics.intransigence(R, ORDER, joint, when="mean") == pytest.approx((0.05 + 0.05 + 0.05) / 3)


def test_reference_scores_of_tasks_that_are_not_used_may_be_missing() -> None:
    assert metrics.intransigence(R, ORDER, [math.nan, math.nan, 0.9]) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("run", "printed"),
    [
        (published.SUPPLEMENT_MONOLAB, 0.650),
        (published.SUPPLEMENT_BILAB, 0.768),
        (published.SUPPLEMENT_RAND, 0.875),
        (published.EGC_MONOLAB, 0.654),
        (published.EGC_BILAB, 0.755),
        (published.EGC_RAND, 0.849),
    ],
)
def test_the_papers_average_accuracy_comes_out(run: tuple[np.ndarray, list[int]], printed: float) -> None:
    assert metrics.acc(*run, when="mean") == pytest.approx(printed, abs=6e-4)


def test_an_order_of_sets_equals_the_order_of_numbers() -> None:
    present = np.eye(3, dtype=bool)[ORDER]
    for metric in (metrics.acc, metrics.aia, metrics.fm, metrics.bwt, metrics.fwt):
        assert metric(R, ORDER) == metric(R, present)
    assert metrics.stepwise_transfer(R, ORDER) == metrics.stepwise_transfer(R, present)


JOINT = [0.9, 0.85, 0.8]
NEEDLESS_START = {
    "acc": metrics.acc,
    "aia": metrics.aia,
    "fm": metrics.fm,
    "bwt": metrics.bwt,
    "fwt": partial(metrics.fwt, reference_scores=JOINT),
    "intransigence": partial(metrics.intransigence, reference_scores=JOINT),
    "stepwise_transfer": partial(metrics.stepwise_transfer, baseline="zero"),
}
NEEDED_START = {"fwt": metrics.fwt, "stepwise_transfer": metrics.stepwise_transfer}


@pytest.mark.parametrize("name", NEEDLESS_START)
def test_row_0_may_be_left_out_where_it_is_not_used(name: str) -> None:
    metric = NEEDLESS_START[name]
    assert metric(R[1:], ORDER) == metric(R, ORDER)
    assert metric(R[1:4]) == metric(R[:4]) == metric(R[:4], [0, 1, 2])


@pytest.mark.parametrize("name", NEEDED_START)
def test_row_0_must_be_there_where_it_is_used(name: str) -> None:
    metric = NEEDED_START[name]
    assert metric(R[:4]) == metric(R[:4], [0, 1, 2])
    with pytest.raises(ValueError, match=r"R must have n_experiences \+ 1 = 4 rows, row 0 .* Got 3 rows"):
        metric(R[1:4])


def test_without_an_order_each_task_is_visited_once() -> None:
    with pytest.raises(
        ValueError, match=r"order must be given unless R has row 0 and one row for each of its 3 tasks. Got 5 rows"
    ):
        metrics.acc(R)
    with pytest.raises(ValueError, match="reference_scores must be 3 numbers, one per task"):
        metrics.intransigence(R[:4])


def test_names_of_tasks_do_not_matter() -> None:
    swap = [2, 0, 1]
    renamed = [swap.index(task) for task in ORDER]
    for metric in (metrics.acc, metrics.fm, metrics.bwt, metrics.fwt):
        assert metric(R[:, swap], renamed) == pytest.approx(metric(R, ORDER))


def test_a_missing_score_matters_only_where_it_is_used() -> None:
    holes = R.copy()
    holes[0] = math.nan
    holes[1, 2] = math.nan
    assert metrics.acc(holes, ORDER, when="triangular") == metrics.acc(R, ORDER, when="triangular")
    assert metrics.fm(holes, ORDER) == metrics.fm(R, ORDER)


@pytest.mark.parametrize(
    ("metric", "cell"),
    [
        (metrics.acc, (4, 1)),
        (metrics.fm, (2, 1)),
        (partial(metrics.fm, best_since="start"), (1, 1)),
        (metrics.bwt, (3, 0)),
        (metrics.fwt, (0, 2)),
    ],
)
def test_a_missing_score_that_is_used_is_named(metric: object, cell: tuple[int, int]) -> None:
    holes = R.copy()
    holes[cell] = math.nan
    with pytest.raises(ValueError, match=rf"R must be finite .* Got nan in R\[{cell[0]}, {cell[1]}\]"):
        metric(holes, ORDER)


def test_one_experience_has_accuracy_but_nothing_to_forget() -> None:
    assert metrics.acc(R[:2], [0]) == 0.9
    assert math.isnan(metrics.fm(R[:2], [0]))
    assert math.isnan(metrics.bwt(R[:2], [0]))
    assert math.isnan(metrics.fwt(R[:2], [0]))


def _defined(values: list[float]) -> float:
    kept = [value for value in values if not math.isnan(value)]
    return sum(kept) / len(kept) if kept else math.nan


def check_means_of_defined_cells(seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.integers(4, size=6).tolist()
    scores = np.where(rng.random((7, 4)) < 0.3, math.nan, rng.random((7, 4)))
    seen = [set(order[:s]) for s in range(7)]
    first = {task: order.index(task) + 1 for task in seen[6]}
    last = {task: 6 - order[::-1].index(task) for task in seen[6]}
    gone = [task for task in seen[6] if task != order[-1]]
    new = [task for task in seen[6] if first[task] > 1]

    def fallen(since: Callable[[int], int]) -> float:
        best = {j: [scores[s, j] for s in range(since(j), 6) if not math.isnan(scores[s, j])] for j in gone}
        return _defined([max(best[j], default=math.nan) - scores[6, j] for j in gone])

    found = {
        "final": metrics.acc(scores, order, undefined="skip"),
        "mean": metrics.aia(scores, order, undefined="skip"),
        "triangular": metrics.acc(scores, order, when="triangular", undefined="skip"),
        "bwt": metrics.bwt(scores, order, undefined="skip"),
        "fwt": metrics.fwt(scores, order, undefined="skip"),
        "fm": metrics.fm(scores, order, undefined="skip"),
        "fm since the start": metrics.fm(scores, order, best_since="start", undefined="skip"),
        "im": metrics.intransigence(scores, order, [0.9] * 4, when="mean", undefined="skip"),
    }
    expected = {
        "final": _defined([scores[6, j] for j in seen[6]]),
        "mean": _defined([_defined([scores[s, j] for j in seen[s]]) for s in range(1, 7)]),
        "triangular": _defined([scores[s, j] for s in range(1, 7) for j in seen[s]]),
        "bwt": _defined([scores[6, j] - scores[last[j], j] for j in gone]),
        "fwt": _defined([scores[first[j] - 1, j] - scores[0, j] for j in new]),
        "fm": fallen(lambda task: first[task]),
        "fm since the start": fallen(lambda task: 1),
        "im": _defined([0.9 - scores[first[j], j] for j in seen[6]]),
    }
    assert found == pytest.approx(expected, nan_ok=True)
    steps = [
        [scores[s, j] - scores[s - 1, j] for j in seen[s - 1] - {order[s - 1]}]
        for s in range(1, 7)
    ]  # fmt: skip
    kept = [_defined(changes) for changes in steps if not math.isnan(_defined(changes))]
    backward = metrics.stepwise_transfer(scores, order, undefined="skip")["BWT"]
    assert backward == pytest.approx(sum(kept) / len(kept) if kept else 0.0)


def test_undefined_cells_are_left_out_of_means_on_demand() -> None:
    check_all(range(8), check_means_of_defined_cells)


def test_an_infinite_score_is_an_error_even_where_undefined_ones_are_left_out() -> None:
    holes = R.copy()
    holes[-1, 0] = math.inf
    with pytest.raises(ValueError, match=r"R must be finite .* Got inf"):
        metrics.acc(holes, ORDER, undefined="skip")
    with pytest.raises(ValueError, match="undefined must be one of 'raise', 'skip'"):
        metrics.acc(R, ORDER, undefined="drop")
