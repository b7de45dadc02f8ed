"""Evaluation sets of hierarchies and of environments are scored by the metrics of their literature."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from mlstream.evaluation.evaluate import evaluate
from mlstream.evaluation.held_out import SetScorer
from mlstream.evaluation.predictions import Predictions
from mlstream.evaluation.scoring import CORE_METRICS, Scored, score_tallies, tally
from mlstream.generators import environment_stream, hat_and_shirt_stream, iirc_stream
from mlstream.records.run_result import LeftOut
from mlstream.streams.stream import Dataset
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.records.run_records import make_card

# bear, polar bear, brown bear, dog
LABELS = ("bear", "polar", "brown", "dog")
PARENTS = {"polar": "bear", "brown": "bear"}


def zoo(n_rows=30):
    Y = np.repeat(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], np.uint8), n_rows, axis=0)
    X = Y + np.random.default_rng(0).normal(scale=0.4, size=Y.shape)
    return Dataset(X, Y, tuple("abcd"), LABELS, "zoo")


def scorer(**changes):
    card = make_card(n_labels=4).model_copy(update={"label_names": list(LABELS), **changes})
    return SetScorer(card, 1, "skip")


def scored(Y, decided, proba=None, mask=None):
    Y, decided = np.array(Y, np.uint8), np.array(decided, np.uint8)
    proba = decided.astype(float) if proba is None else np.array(proba)
    return Scored(Y, Predictions(decided, proba), np.ones(Y.shape[1], bool) if mask is None else np.array(mask))


@pytest.mark.parametrize(
    ("truth", "answer", "expected"),
    [
        ([1, 1, 0, 0], [1, 1, 0, 0], 1),
        ([1, 1, 0, 0], [1, 0, 0, 0], 1 / 2),
        ([1, 0, 0, 0], [1, 1, 0, 0], 1 / 4),
        ([1, 0, 1, 0], [1, 1, 0, 0], 1 / 6),
        ([0, 0, 0, 1], [1, 0, 0, 0], 0),
    ],
)
def test_paths_are_scored_as_the_published_table_says(truth, answer, expected):
    found = scorer(label_parents=PARENTS).score([scored([truth], [answer])])
    assert found["pw_js"] == pytest.approx(expected)


def test_a_learner_that_never_refines_shows_in_the_refinement_recall():
    found = scorer(label_parents=PARENTS).score([scored([[1, 1, 0, 0], [1, 0, 1, 0]], [[1, 0, 0, 0], [1, 0, 1, 0]])])
    assert (found["refinement_recall"], found["jaccard"]) == (0.5, 0.75)


def test_labels_that_do_not_count_are_not_in_the_path():
    mask = [True, False, True, True]
    found = scorer(label_parents=PARENTS).score([scored([[1, 1, 0, 0]], [[1, 0, 0, 0]], mask=mask)])
    assert found["pw_js"] == 1
    assert np.isnan(found["refinement_recall"])


def test_other_streams_are_scored_as_ever():
    rows = scored([[1, 0, 0, 1], [0, 1, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 1]])
    plain = scorer()
    assert plain.names == CORE_METRICS
    np.testing.assert_equal(plain.score([rows]), score_tallies([tally(rows, 1)], 1, "skip"))
    uncounted = scored([[1, 0, 0, 1]], [[1, 0, 0, 0]], mask=[False] * 4)
    for nothing in ([], [uncounted]):
        assert all(np.isnan(value) for value in scorer(label_parents=PARENTS).score(nothing).values())


def expected_nce(y, proba):
    """Give the mean over labels, by scikit-learn's log-loss."""
    values = []
    for truth, p in zip(y.T, proba.T, strict=True):
        base = log_loss(truth, np.full(len(truth), truth.mean()))
        values.append((log_loss(truth, np.clip(p, 1e-15, 1 - 1e-15)) - base) / base)
    return np.mean(values)


@pytest.mark.parametrize("n_labels", [1, 3])
def test_environments_are_scored_against_their_base_rates(n_labels):
    stream = environment_stream(("train", "train", "test", "unseen"), n_rows=150, n_labels=n_labels, seed=2)
    result = evaluate(Online(), stream, energy="none")
    learner = Online(random_state=0)
    for step, experience in enumerate(stream, start=1):
        learner.partial_fit(experience.X, experience.Y)
        expected = [expected_nce(part.Y, learner.predict_proba(part.X)) for part in stream.evaluation_sets]
        np.testing.assert_allclose(result.R["nce"][step], expected, rtol=1e-9)
    names = ("train-0", "train-1", "test-0", "unseen-0")
    assert [result.scores[f"nce[{name}]"] for name in names] == pytest.approx(expected)
    assert result.scores["nce_worst"] == pytest.approx(max(expected))
    assert result.scores["nce_worst_unseen"] == pytest.approx(expected[3])


def test_where_every_environment_is_learnt_none_is_unseen():
    result = evaluate(Online(), hat_and_shirt_stream(), energy="none")
    assert "nce_worst_unseen" not in result.scores
    assert result.scores["nce_worst"] == max(result.R["nce"][-1])


def environments_with_constant_labels(n_constant):
    stream = environment_stream(("train", "unseen", "unseen"), n_rows=60, n_labels=3, seed=1)
    stream.evaluation_sets[1].Y[:, :n_constant] = 0
    return stream


def test_a_label_of_one_class_is_left_out_of_the_cross_entropy_and_counted():
    stream = environments_with_constant_labels(2)
    result = evaluate(Online(), stream, energy="none")
    learner, held_out = Online(random_state=0), stream.evaluation_sets[1]
    learner.partial_fit(stream.experiences[0].X, stream.experiences[0].Y)
    expected = expected_nce(held_out.Y[:, 2:], learner.predict_proba(held_out.X)[:, 2:])
    assert result.scores["nce[unseen-0]"] == pytest.approx(expected)
    assert result.scores["nce_worst_unseen"] is not None
    assert result.left_out == {"nce[unseen-0]": LeftOut(what="labels", n=2, of=3)}


@pytest.mark.filterwarnings("ignore::mlstream.evaluation.evaluate.UndefinedCellsWarning")
def test_an_environment_whose_labels_all_have_one_class_has_no_cross_entropy_and_the_record_states_why():
    result = evaluate(Online(), environments_with_constant_labels(3), energy="none")
    assert result.scores["nce[train-0]"] is not None
    missing = ("nce[unseen-0]", "nce_worst", "nce_worst_unseen")
    assert [result.scores[name] for name in missing] == [None] * 3
    assert "Every label of an environment has one class" in result.undefined["nce[unseen-0]"]


@pytest.mark.filterwarnings("ignore::mlstream.evaluation.evaluate.UndefinedCellsWarning")
@pytest.mark.parametrize("label_space", ["task", "seen", "all"])
def test_refined_labels_are_judged_on_every_task_seen(label_space):
    order = [["bear", "dog"], ["polar"], ["brown"]]
    stream = iirc_stream(zoo(), hierarchy=PARENTS, introductions=order, plain_first=True)
    result = evaluate(Online(), stream, label_space=label_space, energy="none")
    learner, seen = Online(random_state=0), np.zeros(4, bool)
    for step, (experience, task) in enumerate(zip(stream, stream.tasks, strict=True), start=1):
        learner.partial_fit(experience.X, experience.Y)
        seen |= task.signature
        for place, held_out in enumerate(stream.evaluation_sets):
            own = held_out.label_mask
            counts = {"task": own, "seen": seen | own, "all": np.ones(4, bool)}[label_space]
            values = []
            for y, p in zip(held_out.Y[:, counts], learner.predict(held_out.X)[:, counts], strict=True):
                truth, answer = set(np.flatnonzero(y)), set(np.flatnonzero(p))
                both = len(truth & answer)
                values.append(both / len(truth | answer) * both / len(answer) if answer else float(not truth))
            assert result.R["pw_js"][step][place] == pytest.approx(np.mean(values))
    assert result.scores["pw_js"] == pytest.approx(np.mean(result.R["pw_js"][-1]))
    assert result.scores["pw_js_mean"] == pytest.approx(
        np.mean([np.mean(result.R["pw_js"][step][:step]) for step in (1, 2, 3)])
    )


def test_a_stream_without_either_has_neither():
    result = evaluate(Online(), make_stream(), energy="none")
    assert set(result.R) == set(CORE_METRICS)
    assert not {name for name in result.scores if name.startswith(("nce", "pw_js"))}
