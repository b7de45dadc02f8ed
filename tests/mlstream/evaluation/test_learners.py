"""Whatever an estimator offers, a clone of it is seeded, taught row after row, and asked."""

import threading
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import SGDClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neural_network import MLPClassifier

from estimators import AlarmBudget, BinaryRelevance, OnlineLogisticRegression, StreamPipeline, make_strategy
from estimators.contract.new_labels import set_choice
from metrics import ba_macro
from mlstream.evaluation.evaluate import evaluate
from mlstream.evaluation.learners import (
    ChunkLearner,
    GrowingLearner,
    RowLearner,
    adapt,
    adapt_to_stream,
    fresh,
    model_size_bytes,
)
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.warm_up import warm_up
from mlstream.generators import emerging_labels_stream, scenario_stream, synthetic_events, windowed
from tests.estimators.learners import Growing, Logistic, Peeker
from tests.mlstream.evaluation.streams import Online, Targeted, make_stream
from tests.mlstream.generators.tables import make_table

STREAM = make_stream()
FIRST = STREAM.experiences[0]
MIXED = STREAM.experiences[2]

TABLE_ROWS, N_LABELS = 1500, 30


def learner_of(estimator):
    return adapt(fresh(estimator, 0), STREAM.n_labels, ResourceMeter("none"))


def test_every_random_state_gets_the_seed_those_of_nested_estimators_too():
    given = MultiOutputClassifier(SGDClassifier(random_state=5))
    assert fresh(given, 7).estimator.random_state == 7
    assert given.estimator.random_state == 5
    assert fresh(Online(random_state=3), 4).random_state == 4
    assert not hasattr(fresh(Logistic(), 4), "random_state")


def test_chunks_are_for_those_who_can_rows_for_all_others():
    assert isinstance(learner_of(Logistic()), ChunkLearner)
    assert isinstance(learner_of(Online()), RowLearner)


@pytest.mark.parametrize("estimator", [Logistic(), Logistic(targeted=True), Online(), Targeted()])
def test_learning_a_mixed_experience_is_learning_its_rows_one_by_one(estimator):
    learner, alone = learner_of(estimator), fresh(estimator, 0)
    learner.learn(MIXED.X, MIXED.Y, MIXED.label_mask)
    for i in range(len(MIXED)):
        told = {"label_mask": MIXED.label_mask[i : i + 1]} if getattr(estimator, "uses_task", False) else {}
        alone.partial_fit(MIXED.X[i : i + 1], MIXED.Y[i : i + 1], **told)
    np.testing.assert_array_equal(learner.predict(FIRST.X).proba, alone.predict_proba(FIRST.X))


@pytest.mark.parametrize("estimator", [Logistic(), Logistic(targeted=True), Online(), Targeted()])
def test_a_row_of_which_no_label_counts_is_answered_and_not_learnt(estimator):
    mask = MIXED.label_mask.copy()
    mask[[0, 3, 4, len(MIXED) - 1]] = False
    met, taught, alone = learner_of(estimator), learner_of(estimator), fresh(estimator, 0)
    predictions, learnt = met.test_then_train(MIXED.X, MIXED.Y, mask), False
    taught.learn(MIXED.X, MIXED.Y, mask)
    for i in range(len(MIXED)):
        if learnt:
            np.testing.assert_array_equal(predictions.proba[i], alone.predict_proba(MIXED.X[i : i + 1])[0])
        if mask[i].any():
            told = {"label_mask": mask[i : i + 1]} if getattr(estimator, "uses_task", False) else {}
            alone.partial_fit(MIXED.X[i : i + 1], MIXED.Y[i : i + 1], **told)
            learnt = True
    for learner in (met, taught):
        np.testing.assert_array_equal(learner.predict(FIRST.X).proba, alone.predict_proba(FIRST.X))


@pytest.mark.parametrize("estimator", [Logistic(), Online()])
def test_nothing_is_learnt_where_no_label_ever_counts(estimator):
    learner = learner_of(estimator)
    nothing = np.zeros(STREAM.n_labels, dtype=bool)
    assert not learner.test_then_train(FIRST.X, FIRST.Y, nothing).proba.any()
    learner.learn(FIRST.X, FIRST.Y, nothing)
    assert not learner.predict(FIRST.X).proba.any()


def test_a_learner_that_trains_before_it_tests_is_believed_only_where_it_says_so():
    # The chunk path believes `predict_then_fit`; the laws of estimators/checks refuse such a learner.
    honest, peeking = learner_of(Logistic()), learner_of(Peeker())
    rows = FIRST.X, FIRST.Y, FIRST.label_mask
    assert not np.array_equal(honest.test_then_train(*rows).proba, peeking.test_then_train(*rows).proba)


class Recorder(BaseEstimator):
    """Writes down how it is called first."""

    def partial_fit(self, X, Y, classes=None):
        self.first_ = getattr(self, "first_", classes)
        return self

    def predict(self, X):
        return np.zeros((len(X), 5))


def test_classes_are_announced_at_the_first_call_to_those_who_ask_for_them():
    learner = learner_of(Recorder())
    learner.learn(FIRST.X, FIRST.Y, FIRST.label_mask)
    assert learner.estimator.first_.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "estimator", [MLPClassifier(hidden_layer_sizes=()), MultiOutputClassifier(SGDClassifier(loss="log_loss"))]
)
def test_probabilities_of_scikit_learn_are_those_of_the_label_being_there(estimator):
    learner = learner_of(estimator)
    learner.learn(FIRST.X, FIRST.Y, FIRST.label_mask)
    predictions = learner.predict(FIRST.X)
    # Where a label is said to be there, its probability is more than one half, and the other way round.
    np.testing.assert_array_equal(predictions.decided == 1, predictions.proba > 0.5)
    assert 0 < predictions.decided[:, :3].mean() < 1


class ProbabilitiesOnly(BaseEstimator):
    """Has no decisions of its own."""

    def partial_fit(self, X, Y):
        return self

    def predict_proba(self, X):
        return np.tile([0.49, 0.5, 0.51, 0.0, 1.0], (len(X), 1))


def test_one_half_decides_where_a_learner_has_no_decision_of_its_own():
    learner = learner_of(ProbabilitiesOnly())
    learner.learn(FIRST.X, FIRST.Y, FIRST.label_mask)
    assert learner.predict(FIRST.X[:1]).decided.tolist() == [[0, 1, 1, 0, 1]]


def test_before_anything_is_learnt_there_is_the_start_state_or_zero():
    for estimator, expected in ((Logistic(), 0.5), (Online(), 0.0)):
        learner = learner_of(estimator)
        learner.begin(FIRST.X, FIRST.Y)
        assert set(learner.predict(FIRST.X).proba.ravel()) == {expected}


def test_memory_maps_reach_the_learner_as_plain_arrays(tmp_path):
    class Choosy(Online):
        def partial_fit(self, X, Y):
            assert type(X) is np.ndarray
            return super().partial_fit(X, Y)

    np.save(tmp_path / "X.npy", FIRST.X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    learner = learner_of(Choosy())
    learner.test_then_train(mapped, FIRST.Y, FIRST.label_mask)
    learner.predict(mapped)


def test_the_size_of_a_model_grows_with_what_it_knows_and_is_unknown_where_it_cannot_be_told():
    small = fresh(Online(), 0)
    large = fresh(Online(), 0).partial_fit(FIRST.X, FIRST.Y)
    assert 20 * 8 < model_size_bytes(large) - model_size_bytes(small) < 1000
    assert model_size_bytes(Logistic().begin(FIRST.X, FIRST.Y)) == Logistic().begin(FIRST.X, FIRST.Y).memory_bytes_
    large.lock_ = threading.Lock()
    assert model_size_bytes(large) is None


def test_warming_up_leaves_the_estimator_as_it_is():
    estimator = Online(random_state=4)
    for stream in (STREAM, make_stream(visits=((0, 1),), sizes=(9,)), make_stream(as_sparse=True)):
        warm_up(estimator, stream)
    assert vars(estimator) == {"step": 0.5, "random_state": 4}


# -------------------------------------------------------------- unknown labels
def unknown_in_part(Y):
    """Half of the labels unknown, and all labels of some rows."""
    Y = np.where(np.random.default_rng(0).random(Y.shape) < 0.5, np.nan, Y).astype(np.float32)
    Y[[0, 3, 4, len(Y) - 1]] = np.nan
    return Y


@pytest.mark.parametrize(
    ("estimator", "way_out"),
    [
        (MultiOutputClassifier(SGDClassifier()), r"MultiOutputClassifier learns.* BinaryRelevance\(SGDClassifier\("),
        (
            MLPClassifier(),
            r"MLPClassifier learns. Got NaN at row \d, column \d instead; BinaryRelevance\(MLPClassifier\(",
        ),
        (Online(), r"BinaryRelevance\(Online\("),
    ],
)
def test_an_estimator_of_another_package_is_not_given_unknown_labels(estimator, way_out):
    Y = unknown_in_part(FIRST.Y)
    for call in ("test_then_train", "learn"):
        learner = learner_of(estimator)
        with pytest.raises(ValueError, match=way_out):
            getattr(learner, call)(FIRST.X, Y, FIRST.label_mask)
        assert not learner.predict(FIRST.X).proba.any()


def test_it_learns_the_rows_between_those_of_which_nothing_is_known():
    Y = FIRST.Y.astype(np.float32)
    Y[[0, 3, 4, len(Y) - 1]] = np.nan
    kept = ~np.isnan(Y).any(axis=1)
    tested, taught, alone = (learner_of(Online()) for _ in range(3))
    predictions = tested.test_then_train(FIRST.X, Y, FIRST.label_mask)
    taught.learn(FIRST.X, Y, FIRST.label_mask)
    expected = alone.test_then_train(FIRST.X[kept], FIRST.Y[kept], FIRST.label_mask)
    np.testing.assert_array_equal(predictions.proba[kept], expected.proba)
    for learner in (tested, taught):
        np.testing.assert_array_equal(learner.predict(MIXED.X).proba, alone.predict(MIXED.X).proba)


def test_a_learner_of_rows_that_takes_the_mask_gets_unknown_labels_outside_it():
    Y = unknown_in_part(MIXED.Y)
    mask = MIXED.label_mask & ~np.isnan(Y)
    tested, alone = learner_of(Targeted()), learner_of(Targeted())
    tested.test_then_train(MIXED.X, Y, MIXED.label_mask)
    alone.test_then_train(MIXED.X, np.nan_to_num(Y), mask)
    np.testing.assert_array_equal(tested.predict(FIRST.X).proba, alone.predict(FIRST.X).proba)


def test_learners_that_use_keys_are_given_those_of_the_rows():
    table = windowed(synthetic_events(n_days=3, n_hosts=4), "30min", empty="keep", clock=[])
    stream = scenario_stream(table, "online", by="time", n_tasks=2, unlabelled="keep")
    learner, kept, spent = AlarmBudget(OnlineLogisticRegression(), 6, period="1d", key_budget=2), [], []
    adapted = adapt(clone(learner), stream.n_labels, ResourceMeter("none"))
    for part in stream:
        given = part.X, part.Y, part.label_mask, None, part.task_ids, part.keys
        kept.append(adapted.test_then_train(*given).decided)
        spent.append(learner.predict_then_fit(part.X, part.Y, keys=part.keys)[0])
    np.testing.assert_array_equal(np.concatenate(kept), np.concatenate(spent))
    assert 0 < np.concatenate(spent).sum() < 24
    assert evaluate(learner, stream, energy="none").scores["ba_macro"] > 0


def test_held_out_rows_are_predicted_in_one_pass(monkeypatch):
    passes = []

    def counted(name):
        method = getattr(Logistic, name)
        return lambda self, X: passes.append(name) or method(self, X)

    learner = adapt(Logistic(), STREAM.n_labels, ResourceMeter("none"))
    first, held_out = STREAM.experiences[0], STREAM.evaluation_sets[0]
    learner.test_then_train(first.X, first.Y, first.label_mask)
    expected = learner.estimator.predict(held_out.X), learner.estimator.predict_proba(held_out.X)
    for name in ("predict", "predict_proba", "predict_with_proba"):
        monkeypatch.setattr(Logistic, name, counted(name))
    found = learner.predict(held_out.X)
    assert passes == ["predict_with_proba"]
    np.testing.assert_array_equal(found.decided, expected[0])
    np.testing.assert_array_equal(found.proba, expected[1])


def emerging_stream(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((TABLE_ROWS, 5))
    Y = (X @ rng.random((5, N_LABELS)) + rng.normal(0, 0.2, (TABLE_ROWS, N_LABELS))) > 1.8
    Y[:, 3:] &= rng.random((TABLE_ROWS, N_LABELS - 3)) < 0.2
    Y[np.arange(N_LABELS)] = np.eye(N_LABELS, dtype=bool)
    return emerging_labels_stream(make_table(Y, X), seed=seed, first_labels=3, labels_per_task=3)


EMERGING = emerging_stream()


class GrowingRecorder(Growing):
    """Records the columns that it is given."""

    tables: ClassVar[list] = []

    def predict_then_fit(self, X, Y, classes=None, **options):
        self.tables.append(Y)
        return super().predict_then_fit(X, Y, classes, **options)


def adapted(estimator, stream=EMERGING):
    return adapt_to_stream(estimator, stream, ResourceMeter("none"))


def test_the_stream_grows_from_three_labels_to_thirty():
    widths = [int(experience.label_mask.sum()) for experience in EMERGING]
    assert widths[0] == 3
    assert widths[-1] == EMERGING.n_labels == N_LABELS


@pytest.mark.slow
@pytest.mark.parametrize("grows", [True, False])
def test_a_learner_is_given_the_labels_that_have_emerged_if_it_grows(grows):
    GrowingRecorder.tables = []
    evaluate(GrowingRecorder(on_new_labels="grow" if grows else "error"), EMERGING, energy="none", chunk_size=10_000)
    order = np.argsort(EMERGING.card.scenario.emergence, kind="stable")
    for experience, table in zip(EMERGING, GrowingRecorder.tables, strict=True):
        columns = order[: experience.label_mask.sum()] if grows else np.arange(N_LABELS)
        np.testing.assert_array_equal(table, experience.Y[:, columns])


@pytest.mark.parametrize("targeted", [False, True])
def test_predictions_are_those_of_the_slow_loop_and_nothing_for_labels_to_come(targeted):
    learner, alone = adapted(Growing(targeted=targeted, on_new_labels="grow")), Growing(targeted=targeted)
    held_out = EMERGING.evaluation_sets[0]
    assert not learner.predict(held_out.X).proba.any()
    for experience in EMERGING:
        decided, proba, _ = learner.test_then_train(experience.X, experience.Y, experience.label_mask)
        # labels that have not emerged are unknown to a learner that knows all columns
        known = np.where(experience.label_mask, experience.Y, np.nan)
        wanted = alone.predict_then_fit(experience.X, known)
        for found, expected in ((decided, wanted[0]), (proba, wanted[1])):
            np.testing.assert_allclose(found, expected * experience.label_mask, atol=1e-12)
        expected = alone.predict_proba(held_out.X) * experience.label_mask
        np.testing.assert_allclose(learner.predict(held_out.X).proba, expected, atol=1e-12)


def test_scores_are_those_of_its_predictions():
    result = evaluate(Growing(on_new_labels="grow"), EMERGING, energy="none", label_space="all", references=True)
    learner = adapted(Growing(on_new_labels="grow"))
    parts = [learner.test_then_train(part.X, part.Y, part.label_mask).decided for part in EMERGING]
    Y = np.concatenate([experience.Y for experience in EMERGING])
    assert result.status == "done"
    assert result.scores["ba_macro"] == pytest.approx(ba_macro(Y, np.concatenate(parts)))
    assert result.scores["acc"] is not None
    assert result.scores["acc_joint"] is not None
    assert {score for score in result.R["ba_macro"][0] if score is not None} == {0.5}


def test_only_learners_that_grow_on_streams_whose_labels_emerge_are_treated_so():
    nested = set_choice(StreamPipeline([("learn", BinaryRelevance(Growing()))]), "grow")
    assert type(adapted(nested)) is type(adapted(Growing(on_new_labels="grow"))) is GrowingLearner
    assert type(adapted(Growing())) is ChunkLearner
    assert type(adapted(Growing(on_new_labels="grow"), make_stream())) is ChunkLearner


def test_a_named_strategy_learns_the_stream():
    result = evaluate(make_strategy("BR_HT", on_new_labels="grow"), EMERGING, energy="none")
    assert result.status == "done"
    assert result.scores["ba_macro"] > 0.5
