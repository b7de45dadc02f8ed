"""Learners see the task where the scenario shows it, and run in every scenario."""

from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from estimators.strategies import STRATEGIES, make_strategy
from mlstream.evaluation.evaluate import evaluate
from mlstream.generators import SCENARIOS, environment_stream, iirc_stream, scenario_stream
from tests.estimators.learners import Logistic
from tests.mlstream.evaluation.streams import SIGNATURES, SIZES, Targeted, make_stream
from tests.mlstream.evaluation.test_held_out import PARENTS, zoo
from tests.mlstream.generators.tables import make_table


class MultiHead(BaseEstimator):
    """The mean label vector of the rows of each head; a head is chosen by the labels of its task."""

    asked: ClassVar[list] = []
    uses_task = True

    def partial_fit(self, X, Y, label_mask):
        if not hasattr(self, "heads_"):
            self.heads_, self.n_labels_ = {}, Y.shape[1]
        for y, mask in zip(Y, np.broadcast_to(label_mask, Y.shape), strict=True):
            self.heads_.setdefault(mask.tobytes(), []).append(y)
        return self

    def predict_proba(self, X, label_mask=None):
        MultiHead.asked.append((len(X), label_mask))
        if label_mask is None:
            return np.full((len(X), self.n_labels_), 0.5)
        masks = np.broadcast_to(label_mask, (len(X), self.n_labels_))
        unknown = [np.zeros(self.n_labels_)]
        return np.stack([np.mean(self.heads_.get(mask.tobytes(), unknown), axis=0) for mask in masks])


class InChunks(MultiHead):
    """The same with `predict_then_fit`, which cannot choose a head."""

    def predict_then_fit(self, X, Y, label_mask):
        self.partial_fit(X, Y, label_mask)
        MultiHead.asked.append((len(X), None))
        return np.zeros(Y.shape), np.zeros(Y.shape)


@pytest.mark.parametrize("learner", [MultiHead, InChunks])
def test_a_learner_with_a_head_per_task_is_given_the_task_at_prediction_where_it_is_always_shown(learner):
    MultiHead.asked.clear()
    stream = make_stream(identity="always")
    result = evaluate(learner(), stream, energy="none")
    assert (result.predicts_with_task, result.given_labels) == (True, "task")
    online = [np.ravel(mask) for n, mask in MultiHead.asked if n == 1]
    owners = np.concatenate([part.task_ids for part in stream])
    # The first row is not predicted: nothing is learnt yet.
    np.testing.assert_array_equal(online, SIGNATURES[owners[1:]])
    held_out = [np.ravel(mask) for n, mask in MultiHead.asked if n > 1]
    np.testing.assert_array_equal(held_out, np.tile(SIGNATURES, (len(SIZES), 1)))


@pytest.mark.parametrize("identity", ["training", "never"])
def test_a_learner_with_a_head_per_task_is_not_given_it_elsewhere(identity):
    MultiHead.asked.clear()
    result = evaluate(MultiHead(), make_stream(identity=identity), energy="none")
    assert not result.predicts_with_task
    assert all(mask is None for _, mask in MultiHead.asked)
    MultiHead.asked.clear()
    evaluate(InChunks(), make_stream(identity=identity), energy="none")
    assert max(n for n, _ in MultiHead.asked) > 1


def test_references_are_given_the_task_at_prediction_as_the_learner_is():
    MultiHead.asked.clear()
    result = evaluate(MultiHead(), make_stream(identity="always"), energy="none", references=True)
    assert all(mask is not None for _, mask in MultiHead.asked)
    assert None not in result.references.single


@pytest.mark.parametrize(
    ("learner", "identity", "given"),
    [
        (Logistic(), "training", "none"),
        (Targeted(), "training", "task"),
        (Targeted(), "always", "task"),
        (Targeted(), "never", "all"),
    ],
)
def test_the_record_states_which_labels_a_learner_is_given(learner, identity, given):
    result = evaluate(learner, make_stream(identity=identity), energy="none")
    assert (result.given_labels, result.predicts_with_task) == (given, False)


@cache
def tiny_streams():
    rng = np.random.default_rng(0)
    table = make_table(rng.random((60, 4)) < 0.5, rng.random((60, 3)))
    return (
        *(scenario_stream(table, name, n_tasks=2) for name in SCENARIOS),
        iirc_stream(zoo(6), hierarchy=PARENTS, introductions=[["bear"], ["polar", "dog"], ["brown"]]),
        environment_stream(("train", "train", "unseen"), n_rows=20, n_labels=2),
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mlstream.evaluation.evaluate.UndefinedCellsWarning")
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_runs_in_every_scenario(name):
    if STRATEGIES[name].to_install:
        pytest.skip(f"needs {STRATEGIES[name].to_install}")
    learner = make_strategy(name)
    hidden = [stream for stream in tiny_streams() if stream.card.scenario.task_identity == "never"]
    assert {stream.card.scenario.name for stream in hidden} >= {
        "instance-incremental", "domain-incremental", "task-free", "environments",
    }  # fmt: skip
    # Whether the task is shown matters to learners that use it.
    for stream in tiny_streams() if getattr(learner, "uses_task", False) else hidden[:1]:
        result = evaluate(learner, stream, energy="none")
        assert result.status == "done"
        assert result.scores["ba_macro"] is not None
