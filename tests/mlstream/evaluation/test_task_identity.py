"""Learners see the task where the scenario shows it, and run in every scenario."""

from dataclasses import replace
from functools import cache, partial
from typing import ClassVar

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.multioutput import MultiOutputClassifier
from sklearn.preprocessing import FunctionTransformer

from estimators import InvariantLogisticClassifier, PrevalenceThreshold, StreamPipeline
from estimators.strategies import STRATEGIES, make_strategy
from metrics import nce
from mlstream.evaluation.evaluate import evaluate
from mlstream.generators import (
    SCENARIOS,
    delayed_labels,
    environment_stream,
    iirc_stream,
    missing_labels,
    scenario_stream,
)
from mlstream.streams.stream import Stream, StreamParts
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


ENVIRONMENTS = environment_stream(
    ("train", "train", "unseen"), n_rows=60, n_labels=2, correlation=(0.2, 0.9), encoding="one-hot"
)
PENALISED = {"max_iter": 20, "refresh": 1.0, "random_state": 0}


@pytest.mark.parametrize("chunk_size", [1, 17, 1000])
@pytest.mark.parametrize("penalty", ["irm", "vrex", "group-dro"])
def test_a_run_over_environments_is_a_loop_that_passes_the_environment_of_each_row(penalty, chunk_size):
    learner, loop = (InvariantLogisticClassifier(penalty, **PENALISED) for _ in range(2))
    result = evaluate(learner, ENVIRONMENTS, energy="none", chunk_size=chunk_size)
    for row, part in zip(result.R["nce"][1:], ENVIRONMENTS, strict=True):
        names = [ENVIRONMENTS.tasks[task].name for task in part.task_ids]
        for i in range(0, len(part), chunk_size):
            rows = slice(i, i + chunk_size)
            loop.partial_fit(part.X[rows], part.Y[rows], environment=names[rows])
        assert row == [nce(held.Y, loop.predict_proba(held.X)) for held in ENVIRONMENTS.evaluation_sets]
    assert result.given_environment


def test_what_stands_around_a_learner_passes_the_environment_on():
    inner = InvariantLogisticClassifier("vrex", **PENALISED)
    around = PrevalenceThreshold(StreamPipeline([("as it is", FunctionTransformer()), ("learn", inner)]))
    alone, inside = (evaluate(learner, ENVIRONMENTS, energy="none") for learner in (inner, around))
    assert inside.given_environment
    assert inside.R["nce"] == alone.R["nce"]


class Witness(ClassifierMixin, BaseEstimator):
    """A learner that needs three rows at first, and compares environments with the first feature, which tells them."""

    told: ClassVar[list] = []
    uses_task = True

    def __init__(self, step=1):
        self.step = step

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X, y):
        raise AssertionError

    def partial_fit(self, X, y, classes=None, environment=None, label_mask=None):
        if not hasattr(self, "shape_") and len(X) < 3:
            raise ValueError("Three rows, please.")
        self.told.append(environment is not None and bool((environment == X[:, 0]).all()))
        self.shape_, self.classes_ = np.shape(y)[1:], classes
        return self

    def predict(self, X):
        return np.zeros((len(X), *self.shape_), dtype=int)


class WitnessInChunks(Witness):
    """The same, called by chunks."""

    def predict_then_fit(self, X, Y, environment=None, label_mask=None):
        self.partial_fit(X, Y, environment=environment)
        return np.zeros(Y.shape), np.zeros(Y.shape)


class WitnessByRow(Witness):
    """The same, whose `predict_then_fit` takes no environment."""

    def predict_then_fit(self, X, Y, label_mask=None):
        raise AssertionError


class WitnessOfChunks(WitnessInChunks):
    """The same, of which only `predict_then_fit` takes environments."""

    def partial_fit(self, X, Y):
        raise AssertionError

    def predict_then_fit(self, X, Y, environment=None, label_mask=None):
        Witness.partial_fit(self, X, Y, environment=environment)
        return np.zeros(Y.shape), np.zeros(Y.shape)


def telling(stream):
    """Return the stream with the number of the environment as the first feature."""
    shown = (replace(part, X=np.column_stack([part.task_ids, part.X])) for part in stream)
    sets = (
        replace(held, X=np.column_stack([np.full(len(held), held.task_id), held.X])) for held in stream.evaluation_sets
    )
    return Stream(StreamParts(stream.tasks, tuple(shown), tuple(sets)), stream.card)


TELLING = telling(ENVIRONMENTS)


def told_in(stream, learner, **options):
    """Evaluate a learner, and return what it was told in its calls, and what the record states."""
    Witness.told.clear()
    result = evaluate(learner, stream, energy="none", **options)
    return set(Witness.told), result.given_environment


@pytest.mark.parametrize("learner", [Witness(), WitnessInChunks(), WitnessByRow(), WitnessOfChunks()])
@pytest.mark.parametrize("options", [{"references": True}, {"warm_up_rows": 50, "chunk_size": 7}])
def test_every_row_comes_with_its_own_environment_those_that_wait_too(learner, options):
    assert told_in(TELLING, learner, **options) == ({True}, True)


@pytest.mark.parametrize("change", [partial(delayed_labels, delay=5), partial(missing_labels, rate=0.5)])
def test_rows_that_come_late_or_without_labels_keep_their_environments(change):
    stream = telling(change(ENVIRONMENTS))
    assert told_in(stream, Witness()) == ({True}, True)
    assert told_in(stream, WitnessInChunks(), chunk_size=7) == ({True}, True)


def test_an_environment_that_is_requested_is_routed_by_scikit_learn():
    with config_context(enable_metadata_routing=True):
        asks = Witness().set_partial_fit_request(environment=True)
    assert told_in(TELLING, MultiOutputClassifier(asks)) == ({True}, True)
    assert told_in(TELLING, MultiOutputClassifier(Witness())) == ({False}, False)


def test_tasks_that_are_no_environments_are_not_passed():
    assert told_in(make_stream(), Witness()) == ({False}, False)
    assert not evaluate(InvariantLogisticClassifier("none", **PENALISED), ENVIRONMENTS, energy="none").given_environment


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
