"""The numbers of a run are the metrics of R, and what is not defined says why."""

import math
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from metrics import acc, bwt, fm, fwt, stepwise_transfer
from mlstream.evaluation.evaluate import evaluate
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.summary import (
    ReferenceScores,
    ScoreRecord,
    add_continual,
    add_environments,
    add_frugality,
    add_hierarchy,
    add_prequential,
    add_references,
    reference_scores,
    without_pretraining,
)
from mlstream.generators import SCENARIOS, delayed_labels, missing_labels, multiplier_stream, scenario_stream
from mlstream.records.run_result import LeftOut
from tests.estimators.learners import Logistic
from tests.loops import check_all
from tests.mlstream.evaluation.slow import accuracy_on_pool
from tests.mlstream.evaluation.streams import VISITS, Online, Targeted, make_stream
from tests.mlstream.generators.tables import make_table

R = np.array([[0.5, 0.5, 0.4], [0.9, 0.6, 0.5], [0.7, 0.8, 0.6], [0.8, 0.7, 0.9]])
ORDER = np.eye(3, dtype=bool)
# Name in a record -> key of `stepwise_transfer`.
STEPWISE = {
    "bwt_stepwise": "BWT",
    "bwt_stepwise_gains": "BWT+",
    "bwt_stepwise_losses": "BWT-",
    "fwt_stepwise": "FWT",
    "fwt_stepwise_gains": "FWT+",
    "fwt_stepwise_losses": "FWT-",
}
STREAM = make_stream()
FIRST = {0: 1, 1: 2, 2: 3}


def book_of(matrix, order=ORDER, *, is_complete=True):
    record = ScoreRecord(is_complete=is_complete)
    add_continual(record, matrix, order)
    return record


def test_every_metric_of_the_matrix_is_there_under_its_name():
    record = book_of(R)
    expected = {
        "acc": acc(R, ORDER),
        "acc_mean": acc(R, ORDER, when="mean"),
        "bwt": bwt(R, ORDER),
        "fwt": fwt(R, ORDER),
        "fm": fm(R, ORDER),
    } | {name: stepwise_transfer(R, ORDER)[key] for name, key in STEPWISE.items()}
    assert record.values == expected
    assert len({name.lower() for name in record.values}) == len(record.values)
    assert record.undefined == {}


def test_a_missing_cell_makes_the_metrics_null_that_need_it_and_no_others():
    torn = R.copy()
    torn[0, 1] = np.nan
    record = book_of(torn, is_complete=False)
    assert record.left_out == {}
    assert {name for name, value in record.values.items() if value is None} == {
        "fwt",
        *STEPWISE,
    }
    assert all("R[0, 1]" in reason for reason in record.undefined.values())
    assert record.values["acc"] == pytest.approx(0.8)


def test_undefined_cells_of_a_complete_run_are_left_out_of_means_and_counted():
    torn = R.copy()
    torn[2:, 1] = np.nan
    torn[0, 2] = np.nan
    torn[1, 2] = np.nan  # no score uses it
    record = book_of(torn)
    assert record.undefined == {}
    assert record.values["acc"] == pytest.approx((0.8 + 0.9) / 2)
    assert record.values["bwt"] == pytest.approx(0.8 - 0.9)
    assert record.values["fm"] == pytest.approx(0.9 - 0.8)
    assert record.values["fwt"] == pytest.approx(0.6 - 0.5)
    # Six cells of tasks seen, and for the second and the third task the rows before learning and before their visits.
    assert record.left_out == {"ba_macro": LeftOut(what="cells", n=3, of=10)}


def test_with_one_task_there_is_no_transfer():
    record = book_of(R[:2, :1], ORDER[:1, :1])
    assert record.values["acc"] == 0.9
    assert {name for name, reason in record.undefined.items() if reason == "No task qualifies."} == {"bwt", "fwt", "fm"}


def test_a_prequential_score_without_a_label_of_two_classes_is_null():
    record = ScoreRecord()
    add_prequential(record, {"ba_macro": math.nan, "rmse": 0.5})
    assert record.values == {"ba_macro": None, "rmse": 0.5}
    assert record.undefined == {"ba_macro": "No label that counts has both classes."}


def test_references_give_intransigence_forward_transfer_and_the_joint_bound():
    record = book_of(R)
    joint, early, single = np.array([0.9, 0.95, 0.85]), np.array([0.9, 0.85, 0.95]), np.array([0.8, 0.7, 0.6])
    add_references(record, R, ORDER, ReferenceScores(joint, early, single))
    # a*_k - a_kk = 0, .05, .05; a_jj - single = .1, .3
    assert record.values["im"] == pytest.approx(0.1 / 3)
    assert record.values["fwt_single"] == pytest.approx(0.2)
    assert record.values["acc_joint"] == pytest.approx(0.9)


def test_frugality_needs_both_accuracy_and_energy():
    record = book_of(R)
    add_frugality(record, 0.001)
    # 1e-3 kWh, and 3.6 kJ
    assert record.values["frug_kwh"] == pytest.approx(acc(R, ORDER) - 0.001 / 1.001)
    assert record.values["frug_kj"] == pytest.approx(acc(R, ORDER) - 3.6 / 4.6)
    add_frugality(record, None)
    for name in ("frug_kwh", "frug_kj"):
        assert (record.values[name], record.undefined[name]) == (None, "Energy was not measured.")
    unknown = book_of(R * np.nan)
    add_frugality(unknown, 0.001)
    assert (unknown.values["frug_kj"], unknown.undefined["frug_kj"]) == (None, "ACC is not defined.")


def environments(*roles):
    tasks = [SimpleNamespace(name=f"environment {number}") for number in range(len(roles))]
    return SimpleNamespace(tasks=tasks, scenario=SimpleNamespace(task_roles=list(roles)))


def test_environments_have_a_score_each_and_a_worst():
    record, card = ScoreRecord(), environments("train", "test", "unseen", "unseen")
    add_environments(record, {"nce": np.array([[9.0, 9, 9, 9], [0.3, 2.34, -0.2, -0.7]])}, card)
    scores = dict(zip([f"nce[environment {number}]" for number in range(4)], [0.3, 2.34, -0.2, -0.7], strict=True))
    assert record.values == scores | {"nce_worst": 2.34, "nce_worst_unseen": -0.2}
    record = ScoreRecord()
    add_environments(record, {"nce": np.array([[9.0, 9], [0.3, np.nan]])}, environments("train", "unseen"))
    missing = {"nce[environment 1]", "nce_worst", "nce_worst_unseen"}
    assert {name for name, value in record.values.items() if value is None} == missing
    assert record.undefined.keys() == missing


def test_only_environments_with_the_role_unseen_are_unseen():
    record, card = ScoreRecord(), environments("train", "validation", "test")
    add_environments(record, {"nce": np.array([[9.0, 9, 9], [0.3, 0.5, 2.0]])}, card)
    assert "nce_worst_unseen" not in record.values


def test_scores_over_tasks_leave_pre_training_out():
    order = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    R = np.arange(15.0).reshape(5, 3)
    card = environments("pre-training", "downstream", "downstream")
    matrices, rest = without_pretraining({"ba_macro": R}, order, card)
    # The learner after pre-training is the one that the downstream tasks begin with.
    assert matrices["ba_macro"].tolist() == R[2:, 1:].tolist()
    assert rest.tolist() == [[True, False], [False, True]]
    card.scenario.task_roles = None
    matrices, same = without_pretraining({"ba_macro": R}, order, card)
    np.testing.assert_array_equal(matrices["ba_macro"], R)
    np.testing.assert_array_equal(same, order)
    scores = ReferenceScores(*np.arange(9.0).reshape(3, 3))
    assert scores.without_pretraining(environments("pre-training", "downstream", "downstream")).single.tolist() == [
        7,
        8,
    ]


def test_hierarchies_have_means_over_the_tasks_seen():
    matrices = {name: R * scale for name, scale in (("pw_js", 1), ("jaccard", 0.5), ("refinement_recall", 0.2))}
    record = ScoreRecord()
    add_hierarchy(record, matrices, ORDER)
    assert record.values["pw_js"] == pytest.approx((0.8 + 0.7 + 0.9) / 3)
    assert record.values["jaccard"] == pytest.approx(0.4)
    assert record.values["refinement_recall"] == pytest.approx(0.16)
    assert record.values["pw_js_mean"] == pytest.approx((0.9 + 0.75 + 0.8) / 3)
    assert (record.values["pw_js_bwt"], record.values["pw_js_fwt"], record.values["pw_js_fm"]) == (
        bwt(R, ORDER),
        fwt(R, ORDER),
        fm(R, ORDER),
    )
    assert {name for name in record.values if name.startswith("pw_js_")} == {
        "pw_js_mean", "pw_js_bwt", "pw_js_fwt", "pw_js_fm",
    }  # fmt: skip


def test_a_hierarchical_score_that_one_task_does_not_have_is_the_mean_over_the_others():
    recall = np.array([[np.nan] * 3, [np.nan] * 3, [np.nan, 0.4, 0.2], [np.nan, 0.6, 0.4]])
    record = ScoreRecord()
    add_hierarchy(record, {"refinement_recall": recall}, ORDER)
    assert record.values["refinement_recall"] == pytest.approx(0.5)
    assert record.left_out == {"refinement_recall": LeftOut(what="cells", n=1, of=3)}


def test_streams_without_hierarchy_or_environments_get_no_such_score():
    record = ScoreRecord()
    add_hierarchy(record, {"ba_macro": R}, ORDER)
    add_environments(record, {"ba_macro": R}, environments("train"))
    assert record.values == {}


def grade(learner, task, step, label_space):
    seen = {t for visit in VISITS[:step] for t in visit}
    decisions = [learner.predict(held_out.X) for held_out in STREAM.evaluation_sets]
    return accuracy_on_pool(STREAM, decisions, task, seen, label_space)


def teach(estimator, rows, order):
    learner = fresh(estimator, 2)
    for i in order:
        x, y, signature = rows[i]
        learner.partial_fit(x[None], y[None], **({"label_mask": signature} if hasattr(estimator, "uses_task") else {}))
    return learner


def row_callback(experiences):
    return [
        (x, y, STREAM.tasks[task].signature)
        for part in experiences
        for x, y, task in zip(part.X, part.Y, part.task_ids, strict=True)
    ]


@pytest.mark.parametrize("label_space", ["task", "seen", "all"])
@pytest.mark.parametrize("estimator", [Online(), Targeted()])
def test_references_are_those_of_a_loop_over_rows(estimator, label_space):
    (found,) = reference_scores(estimator, STREAM, 2, Settings(label_space=label_space))
    for task, step in FIRST.items():
        rows = row_callback(STREAM.experiences[:step])
        joint = teach(estimator, rows, np.random.default_rng([2, step]).permutation(len(rows)))
        assert found.joint_at_first_visit[task] == pytest.approx(grade(joint, task, step, label_space))
        first = STREAM.experiences[step - 1]
        own = [row for row, owner in zip(row_callback([first]), first.task_ids, strict=True) if owner == task]
        single = teach(estimator, own, range(len(own)))
        assert found.single[task] == pytest.approx(grade(single, task, step, label_space))
    rows = row_callback(STREAM.experiences)
    joint = teach(estimator, rows, np.random.default_rng([2, 4]).permutation(len(rows)))
    assert found.joint == pytest.approx([grade(joint, task, 4, label_space) for task in FIRST])


def test_sparse_rows_give_the_same_references():
    dense, sparse = (reference_scores(Online(), make_stream(as_sparse=form), 0, Settings()) for form in (False, True))
    np.testing.assert_array_equal(dense, sparse)


def test_a_task_that_is_never_learnt_has_no_reference():
    stream = make_stream(visits=((0,), (1,)), sizes=(20, 20))
    (found,) = reference_scores(Online(), stream, 0, Settings())
    assert np.isnan([scores[2] for scores in found]).all()
    assert np.isfinite([scores[:2] for scores in found]).all()


def test_the_record_holds_references_and_the_scores_that_need_them():
    result = evaluate(Online(), STREAM, references=True, energy="none", seed=2)
    (expected,) = reference_scores(Online(), STREAM, 2, Settings())
    assert result.references.single == expected.single.tolist()
    R = np.array(result.R["ba_macro"])
    reached = [R[FIRST[task], task] for task in range(3)]
    assert result.scores["im"] == pytest.approx(np.mean(expected.joint_at_first_visit - reached))
    assert result.scores["fwt_single"] == pytest.approx(np.mean((reached - expected.single)[1:]))
    assert result.scores["acc_joint"] == pytest.approx(expected.joint.mean())
    without = evaluate(Online(), STREAM, energy="none", seed=2)
    assert without.references is None
    assert without.R == result.R


@pytest.mark.slow
def test_every_scenario_has_bounds_in_every_label_space():
    def check(case):
        scenario, label_space = case
        rng = np.random.default_rng(0)
        table = make_table(rng.random((200, 6)) < 0.35, rng.random((200, 3)))
        stream = scenario_stream(table, scenario, n_tasks=2)
        result = evaluate(Logistic(), stream, label_space=label_space, references=True, energy="none")
        assert result.status == "done"
        assert None not in (result.scores["acc"], result.scores["acc_joint"], result.scores["im"])
        # Without a task that is first learnt after another one, there is no forward transfer to compare.
        comes_later = len({int(first) for first in stream.order.argmax(axis=0)}) > 1
        assert (result.scores["fwt_single"] is not None) == comes_later

    check_all(product(SCENARIOS, ["task", "seen", "all"]), check)


@pytest.mark.parametrize(
    "label_space", ["task", *(pytest.param(one, marks=pytest.mark.slow) for one in ("seen", "all"))]
)
def test_bounds_of_late_and_missing_labels_learn_them_once(label_space):
    stream = multiplier_stream("rand", n_rows=60)
    for perturbed in (delayed_labels(stream, delay={"y1": 9}), missing_labels(stream, rate=0.5, per="row")):
        result = evaluate(Logistic(targeted=True), perturbed, label_space=label_space, references=True, energy="none")
        assert None not in result.references.joint
        assert 0.4 < result.scores["acc_joint"] <= 1
