"""Transfers by hand, under recurrence, and as the two papers print them."""

import numpy as np
import pytest

import metrics
from tests.metrics import published
from tests.metrics.test_continual import ORDER, R


def test_backward_transfer_compares_the_end_with_the_last_visit() -> None:
    assert metrics.bwt(R, ORDER) == pytest.approx(((0.70 - 0.95) + (0.50 - 0.80)) / 2)
    assert metrics.bwt(R, ORDER, reference="first") == pytest.approx(((0.70 - 0.90) + (0.50 - 0.80)) / 2)


def test_tasks_of_the_last_experience_are_left_out_of_backward_transfer() -> None:
    again, order = R[:4], ORDER[:3]
    assert metrics.bwt(again, order) == pytest.approx(0.55 - 0.80)
    assert metrics.bwt(again, order, reference="first") == pytest.approx(0.55 - 0.80)
    relearnt = metrics.bwt(again, order, reference="first", include_current=True)
    assert relearnt == pytest.approx(((0.55 - 0.80) + (0.95 - 0.90)) / 2)


def test_forward_transfer_is_what_is_known_just_before_a_task_is_first_learnt() -> None:
    assert metrics.fwt(R, ORDER) == pytest.approx(((0.45 - 0.40) + (0.40 - 0.30)) / 2)


def test_the_surveys_forward_transfer_is_what_learning_alone_would_not_have_given() -> None:
    alone = [0.9, 0.75, 0.9]
    assert metrics.fwt(R, ORDER, reference_scores=alone) == pytest.approx(((0.80 - 0.75) + (0.85 - 0.90)) / 2)


def test_without_recurrence_the_definitions_of_lopez_paz_and_ranzato_come_out() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((6, 5))
    bwt = np.mean([scores[5, i] - scores[i + 1, i] for i in range(4)])
    fwt = np.mean([scores[i, i] - scores[0, i] for i in range(1, 5)])
    assert metrics.bwt(scores, range(5)) == pytest.approx(bwt)
    assert metrics.fwt(scores, range(5)) == pytest.approx(fwt)


def test_stepwise_transfer_by_hand() -> None:
    transfer = metrics.stepwise_transfer(R, ORDER)
    assert transfer["BWT"] == pytest.approx(np.mean([0.60 - 0.90, 0.55 - 0.80, ((0.70 - 0.95) + (0.50 - 0.55)) / 2]))
    assert transfer["FWT"] == pytest.approx(np.mean([((0.45 - 0.40) + (0.35 - 0.30)) / 2, 0.45 - 0.35, 0.40 - 0.45]))
    assert transfer["FWT+"] == pytest.approx(np.mean([0.05, 0.10]))
    assert transfer["FWT-"] == pytest.approx(-0.05)
    assert transfer["BWT+"] == 0.0


def test_no_change_counts_as_a_gain() -> None:
    level = np.full((3, 2), 0.5)
    level[2] = [0.5, 0.7]
    transfer = metrics.stepwise_transfer(level, [0, 1])
    assert transfer["BWT+"] == transfer["BWT-"] == 0.0
    level[2, 0] = 0.4
    wide = np.column_stack([level, [0.5, 0.5, 0.5]])
    assert metrics.stepwise_transfer(wide, [0, 1])["FWT+"] == 0.0
    assert metrics.stepwise_transfer(wide, [0, 1])["BWT-"] == pytest.approx(-0.1)


def test_a_zero_baseline_needs_no_first_row_and_counts_first_scores_as_forward_transfer() -> None:
    unmeasured = R.copy()
    unmeasured[0] = np.nan
    transfer = metrics.stepwise_transfer(unmeasured, ORDER, baseline="zero")
    assert transfer["FWT+"] == pytest.approx(np.mean([(0.45 + 0.35) / 2, 0.10]))


@pytest.mark.parametrize(
    ("run", "printed"),
    [  # BWT-, BWT+, FWT-, FWT+ of tables III to VI
        (published.SUPPLEMENT_MONOLAB, (-0.387, 0.000, 0.000, 0.167)),
        (published.SUPPLEMENT_BILAB, (-0.256, 0.144, -0.210, 0.289)),
        (published.SUPPLEMENT_RAND, (-0.079, 0.063, 0.000, 0.292)),
    ],
)
def test_the_supplements_signed_transfers_come_out(
    run: tuple[np.ndarray, list[int]], printed: tuple[float, ...]
) -> None:
    transfer = metrics.stepwise_transfer(*run, baseline="zero")
    assert [transfer[name] for name in ("BWT-", "BWT+", "FWT-", "FWT+")] == pytest.approx(printed, abs=6e-4)


@pytest.mark.parametrize(
    ("run", "printed"),
    [(published.EGC_MONOLAB, -0.106), (published.EGC_BILAB, -0.077), (published.EGC_RAND, -0.012)],
)
def test_the_papers_unsigned_backward_transfer_includes_the_current_task(
    run: tuple[np.ndarray, list[int]], printed: float
) -> None:
    transfer = metrics.stepwise_transfer(*run, baseline="zero", include_current=True)
    assert transfer["BWT"] == pytest.approx(printed, abs=6e-4)
