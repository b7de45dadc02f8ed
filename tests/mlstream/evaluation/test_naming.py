"""Labels whose truth is withheld are scored, found and named as somebody who plays the stream by hand finds them."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import BernoulliNB

from estimators import NovelLabels, OnlineLogisticRegression
from mlstream import Dataset, evaluate_naming
from mlstream.generators import multiplier_stream
from tests.estimators.meta.test_novel_labels import FIRST, N_ROWS, make_world

LEARNER = NovelLabels(OnlineLogisticRegression(on_new_labels="grow"))


class Truth(NovelLabels):
    """Knows from the last feature whether a row has a label without a name."""

    def score_novelty_then_fit(self, X, Y, *args, **kwargs):
        novelty, proba = super().score_novelty_then_fit(X, Y, *args, **kwargs)
        return np.asarray(X)[:, -1] + 0.0 * novelty, proba


def make_table(usual=0.0):
    X, Y, new = make_world(usual=usual)
    return Dataset(np.column_stack([X, new]), np.column_stack([new, Y]), label_names=["theft", "scan", "worm"])


def test_the_game_is_that_of_the_loop():
    table = make_table()
    result = evaluate_naming(LEARNER, table, ["theft"], every=50)
    X, new = np.asarray(table.X), np.asarray(table.Y)[:, 0] == 1
    learner = NovelLabels(OnlineLogisticRegression(on_new_labels="grow"))
    novelty, proba, named_at, n_groups, n_false = [], [], None, 0, 0
    for start in range(0, N_ROWS, 50):
        part = slice(start, start + 50)
        Y = np.asarray(table.Y)[part][:, [1, 2] if named_at is None else [1, 2, 0]]
        scores, p = learner.score_novelty_then_fit(X[part], Y)
        novelty.extend(scores)
        proba.extend(p[:, 2] if named_at is not None else [])
        for group in learner.groups_:
            n_groups += 1
            if new[group.rows].mean() >= 0.5:
                learner.name_group(group.number, 2)
                named_at = named_at or start + 50
            else:
                learner.dismiss_group(group.number)
                n_false += 1
    first = int(new.argmax())
    named = result.labels["theft"]
    np.testing.assert_array_equal(result.novelty, novelty)
    assert (result.n_rows, result.n_groups, result.n_false_groups) == (N_ROWS, n_groups, n_false)
    assert result.false_groups_per_1000 == pytest.approx(1000 * n_false / N_ROWS)
    assert named.delay == named_at - first
    assert named.n_missed == new[:named_at].sum()
    assert named.auc == pytest.approx(roc_auc_score(new[first:named_at], novelty[first:named_at]))
    assert named.auc_named == pytest.approx(roc_auc_score(new[named_at:], proba))


def test_who_knows_the_truth_scores_perfectly():
    result = evaluate_naming(Truth(OnlineLogisticRegression(on_new_labels="grow")), make_table(), ["theft"])
    assert result.labels["theft"].auc == 1.0


def test_labels_that_get_no_name_are_scored_to_the_end():
    table = make_table()
    result = evaluate_naming(LEARNER, table, ["theft", "worm"], answer=False)
    new = np.asarray(table.Y)[:, :2] == 1
    worm = np.asarray(table.Y)[:, 2] == 1
    first = int(new[:, 0].argmax())
    # rows with the other label that has no name are neither
    counts = new[first:, 0] | ~(new[first:, 0] | worm[first:])
    named = result.labels["theft"]
    assert named.auc == pytest.approx(roc_auc_score(new[first:, 0][counts], result.novelty[first:][counts]))
    assert (named.delay, named.n_missed, result.n_groups) == (None, new[:, 0].sum(), 0)
    assert np.isnan(named.auc_named)


def test_early_rows_with_the_label_are_left_out():
    stream = multiplier_stream("monolab", n_rows=400)
    Y = np.concatenate([part.Y for part in stream])
    result = evaluate_naming(LEARNER, stream, ["y1"], absent_until=100)
    assert result.n_rows == len(Y) - int((Y[:100, 1] == 1).sum())
    whole = evaluate_naming(LEARNER, stream, ["y1"])
    assert whole.n_rows == len(Y)


@pytest.mark.parametrize(
    ("withheld", "options", "message"),
    [
        (["thief"], {}, r"withheld must be a list of labels of the stream, at least one and not all of \['theft',"),
        ("theft", {}, "withheld must be a list of labels"),
        ([], {}, "withheld must be a list of labels"),
        (["theft", "scan", "worm"], {}, "withheld must be a list of labels"),
        (["theft"], {"every": 0}, "every must be"),
        (["theft"], {"absent_until": -1}, "absent_until must be"),
    ],
)
def test_wrong_input_is_one_error(withheld, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate_naming(LEARNER, make_table(), withheld, **options)


def test_a_learner_without_groups_is_refused():
    with pytest.raises(TypeError, match="learner must be a NovelLabels around the learner"):
        evaluate_naming(OnlineLogisticRegression(), make_table(), ["theft"])


def test_rows_of_which_nothing_is_told_are_not_counted_as_rows_of_a_group():
    table = make_table()
    Y = np.asarray(table.Y, dtype=float)
    Y[:100, 1:] = np.nan
    late = evaluate_naming(LEARNER, Dataset(table.X, Y, label_names=table.label_names), ["theft"])
    short = Dataset(np.asarray(table.X)[100:], Y[100:], label_names=table.label_names)
    expected = evaluate_naming(LEARNER, short, ["theft"])
    assert expected.labels["theft"].delay is not None
    assert (late.n_groups, late.n_false_groups) == (expected.n_groups, expected.n_false_groups)
    np.testing.assert_array_equal(late.novelty[100:], expected.novelty)


@pytest.mark.parametrize(
    ("inside", "advice"),
    [
        (OnlineLogisticRegression(), r"so that no label gets a name, or make the learner with on_new_labels='grow'\."),
        (BernoulliNB(), "BernoulliNB cannot take in new labels: pass answer=False"),
    ],
)
def test_a_learner_that_cannot_grow_is_refused_before_it_learns(inside, advice):
    with pytest.raises(ValueError, match=advice):
        evaluate_naming(NovelLabels(inside), make_table(), ["theft"])
    assert evaluate_naming(NovelLabels(inside), make_table(), ["theft"], answer=False).n_groups == 0


def test_rows_of_the_label_are_offered_in_a_log_of_mostly_harmless_traffic():
    result = evaluate_naming(LEARNER, make_table(usual=0.8), ["theft"], absent_until=FIRST)
    assert result.labels["theft"].delay < 150
    assert result.n_false_groups <= 1
