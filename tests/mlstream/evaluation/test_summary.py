"""The numbers of a run are the metrics of R, and what is not defined says why."""

import math

import numpy as np
import pytest

from metrics import acc, bwt, fm, frug, fwt, stepwise_transfer
from mlstream.evaluation.summary import (
    ReferenceScores,
    ScoreBook,
    add_continual,
    add_environments,
    add_frugality,
    add_hierarchy,
    add_prequential,
    add_references,
)

R = np.array([[0.5, 0.5, 0.4], [0.9, 0.6, 0.5], [0.7, 0.8, 0.6], [0.8, 0.7, 0.9]])
ORDER = np.eye(3, dtype=bool)


def book_of(matrix, order=ORDER):
    book = ScoreBook()
    add_continual(book, matrix, order)
    return book


def test_every_metric_of_the_matrix_is_there_under_its_name():
    book = book_of(R)
    expected = {
        "acc": acc(R, ORDER),
        "acc_mean": acc(R, ORDER, when="mean"),
        "bwt": bwt(R, ORDER),
        "fwt": fwt(R, ORDER),
        "fm": fm(R, ORDER),
    } | stepwise_transfer(R, ORDER)
    assert book.values == expected
    assert book.undefined == {}


def test_a_missing_cell_makes_the_metrics_null_that_need_it_and_no_others():
    torn = R.copy()
    torn[0, 1] = np.nan
    book = book_of(torn)
    assert {name for name, value in book.values.items() if value is None} == {
        "fwt", "BWT", "FWT", "BWT+", "BWT-", "FWT+", "FWT-",
    }  # fmt: skip
    assert all("R[0, 1]" in reason for reason in book.undefined.values())
    assert book.values["acc"] == pytest.approx(0.8)


def test_with_one_task_there_is_no_transfer():
    book = book_of(R[:2, :1], ORDER[:1, :1])
    assert book.values["acc"] == 0.9
    assert {name for name, reason in book.undefined.items() if reason == "No task qualifies."} == {"bwt", "fwt", "fm"}


def test_a_prequential_score_without_a_label_of_two_classes_is_null():
    book = ScoreBook()
    add_prequential(book, {"ba_macro": math.nan, "rmse": 0.5})
    assert book.values == {"ba_macro": None, "rmse": 0.5}
    assert book.undefined == {"ba_macro": "No label that counts has both classes."}


def test_references_give_intransigence_forward_transfer_and_the_joint_bound():
    book = book_of(R)
    joint, early, single = np.array([0.9, 0.95, 0.85]), np.array([0.9, 0.85, 0.95]), np.array([0.8, 0.7, 0.6])
    add_references(book, R, ORDER, ReferenceScores(joint, early, single))
    # a*_k - a_kk = 0, .05, .05; a_jj - single = .1, .3
    assert book.values["im"] == pytest.approx(0.1 / 3)
    assert book.values["fwt_single"] == pytest.approx(0.2)
    assert book.values["acc_joint"] == pytest.approx(0.9)


def test_frugality_needs_both_accuracy_and_energy():
    book = book_of(R)
    add_frugality(book, 0.001, "Wh")
    assert book.values["frug"] == frug(acc(R, ORDER), 0.001, energy_unit="Wh")
    add_frugality(book, None, "kWh")
    assert (book.values["frug"], book.undefined["frug"]) == (None, "Energy was not measured.")
    unknown = book_of(R * np.nan)
    add_frugality(unknown, 0.001, "kWh")
    assert (unknown.values["frug"], unknown.undefined["frug"]) == (None, "ACC is not defined.")


def test_environments_have_a_score_each_and_a_worst():
    book, order = ScoreBook(), np.array([[True, False, False]])
    add_environments(book, {"nce": np.array([[9.0, 9, 9], [0.3, -0.2, 0.1]])}, order, ("a", "b", "c"))
    assert book.values == {"nce[a]": 0.3, "nce[b]": -0.2, "nce[c]": 0.1, "nce_worst": 0.3, "nce_worst_unseen": 0.1}
    book = ScoreBook()
    add_environments(book, {"nce": np.array([[9.0, 9], [0.3, np.nan]])}, order[:, :2], ("a", "b"))
    assert {name for name, value in book.values.items() if value is None} == {
        "nce[b]", "nce_worst", "nce_worst_unseen",
    }  # fmt: skip
    assert book.undefined.keys() == {"nce[b]", "nce_worst", "nce_worst_unseen"}


def test_hierarchies_have_means_over_the_tasks_seen():
    matrices = {name: R * scale for name, scale in (("pw_js", 1), ("jaccard", 0.5), ("refinement_recall", 0.2))}
    book = ScoreBook()
    add_hierarchy(book, matrices, ORDER)
    assert book.values["pw_js"] == pytest.approx((0.8 + 0.7 + 0.9) / 3)
    assert book.values["jaccard"] == pytest.approx(0.4)
    assert book.values["refinement_recall"] == pytest.approx(0.16)
    assert book.values["pw_js_mean"] == pytest.approx((0.9 + 0.75 + 0.8) / 3)


def test_streams_without_hierarchy_or_environments_get_no_such_score():
    book = ScoreBook()
    add_hierarchy(book, {"ba_macro": R}, ORDER)
    add_environments(book, {"ba_macro": R}, ORDER, "abc")
    assert book.values == {}
