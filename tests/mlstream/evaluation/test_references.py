"""Reference models are clones: trained jointly on shuffled rows, or on one task alone."""

from itertools import product

import numpy as np
import pytest

from mlstream.evaluation.evaluate import evaluate
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.references import reference_scores
from mlstream.evaluation.settings import Settings
from mlstream.generators import SCENARIOS, delayed_labels, missing_labels, multiplier_stream, scenario_stream
from tests.estimators.learners import Logistic
from tests.loops import check_all
from tests.mlstream.evaluation.slow import accuracy_on_pool
from tests.mlstream.evaluation.streams import VISITS, Online, Targeted, make_stream
from tests.mlstream.generators.tables import make_table

STREAM = make_stream()
FIRST = {0: 1, 1: 2, 2: 3}


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
