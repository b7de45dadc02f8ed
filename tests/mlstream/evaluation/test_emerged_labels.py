"""A learner that grows is given the labels that have emerged; it is scored on all of them, like any other."""

from typing import ClassVar

import numpy as np
import pytest

from estimators import BinaryRelevance, StreamPipeline, make_strategy
from estimators.contract.new_labels import set_choice
from metrics import ba_macro
from mlstream.evaluation.evaluate import evaluate
from mlstream.evaluation.learners import ChunkLearner, GrowingLearner, adapt_to_stream
from mlstream.evaluation.resources import ResourceMeter
from mlstream.generators import emerging_labels_stream
from tests.estimators.learners import Growing
from tests.mlstream.evaluation.streams import make_stream
from tests.mlstream.generators.tables import make_table

TABLE_ROWS, N_LABELS = 1500, 30


def emerging_stream(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((TABLE_ROWS, 5))
    Y = (X @ rng.random((5, N_LABELS)) + rng.normal(0, 0.2, (TABLE_ROWS, N_LABELS))) > 1.8
    Y[:, 3:] &= rng.random((TABLE_ROWS, N_LABELS - 3)) < 0.2
    Y[np.arange(N_LABELS)] = np.eye(N_LABELS, dtype=bool)
    return emerging_labels_stream(make_table(Y, X), seed=seed, first_labels=3, labels_per_task=3)


STREAM = emerging_stream()


class Recorder(Growing):
    """Records the columns that it is given."""

    tables: ClassVar[list] = []

    def predict_then_fit(self, X, Y, classes=None, **options):
        self.tables.append(Y)
        return super().predict_then_fit(X, Y, classes, **options)


def adapted(estimator, stream=STREAM):
    return adapt_to_stream(estimator, stream, ResourceMeter("none"))


def test_the_stream_grows_from_three_labels_to_thirty():
    widths = [int(experience.label_mask.sum()) for experience in STREAM]
    assert widths[0] == 3
    assert widths[-1] == STREAM.n_labels == N_LABELS


@pytest.mark.slow
@pytest.mark.parametrize("grows", [True, False])
def test_a_learner_is_given_the_labels_that_have_emerged_if_it_grows(grows):
    Recorder.tables = []
    evaluate(Recorder(on_new_labels="grow" if grows else "error"), STREAM, energy="none", chunk_size=10_000)
    order = np.argsort(STREAM.card.scenario.emergence, kind="stable")
    for experience, table in zip(STREAM, Recorder.tables, strict=True):
        columns = order[: experience.label_mask.sum()] if grows else np.arange(N_LABELS)
        np.testing.assert_array_equal(table, experience.Y[:, columns])


@pytest.mark.parametrize("targeted", [False, True])
def test_predictions_are_those_of_the_slow_loop_and_nothing_for_labels_to_come(targeted):
    learner, alone = adapted(Growing(targeted=targeted, on_new_labels="grow")), Growing(targeted=targeted)
    held_out = STREAM.evaluation_sets[0]
    assert not learner.predict(held_out.X).proba.any()
    for experience in STREAM:
        decided, proba = learner.test_then_train(experience.X, experience.Y, experience.label_mask)
        # labels that have not emerged are unknown to a learner that knows all columns
        known = np.where(experience.label_mask, experience.Y, np.nan)
        wanted = alone.predict_then_fit(experience.X, known)
        for found, expected in ((decided, wanted[0]), (proba, wanted[1])):
            np.testing.assert_allclose(found, expected * experience.label_mask, atol=1e-12)
        expected = alone.predict_proba(held_out.X) * experience.label_mask
        np.testing.assert_allclose(learner.predict(held_out.X).proba, expected, atol=1e-12)


def test_scores_are_those_of_its_predictions():
    result = evaluate(Growing(on_new_labels="grow"), STREAM, energy="none", label_space="all", references=True)
    learner = adapted(Growing(on_new_labels="grow"))
    parts = [learner.test_then_train(part.X, part.Y, part.label_mask).decided for part in STREAM]
    Y = np.concatenate([experience.Y for experience in STREAM])
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
    result = evaluate(make_strategy("BR_HT", on_new_labels="grow"), STREAM, energy="none")
    assert result.status == "done"
    assert result.scores["ba_macro"] > 0.5
