"""Rows with labels that nobody has named stand out, and groups of them are offered, named and dismissed."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from estimators import (
    AlarmBudget,
    LabelBudget,
    NovelLabels,
    OnlineLogisticRegression,
    PredictionSets,
    PrequentialCalibrator,
    PrevalenceThreshold,
    StreamRidgeClassifier,
    make_strategy,
)
from tests.estimators.meta.test_prequential_calibrator import Given

N_ROWS, FIRST = 900, 400


def make_world(seed=0, usual=0.0, n_features=3):
    """Draw rows of two labels, `usual` of them without any, and from row 400 on many of a third label at one place."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, n_features))
    Y = (X[:, :2] > 0).astype(int)
    Y[~Y.any(axis=1), 0] = 1
    Y[rng.random(N_ROWS) < usual] = 0
    new = (np.arange(N_ROWS) >= FIRST) & (rng.random(N_ROWS) < 0.2)
    X[new], Y[new] = 0.3 * X[new] + 4, 0
    return X, Y, new


def growing(**parameters):
    return NovelLabels(OnlineLogisticRegression(on_new_labels="grow"), **parameters)


@pytest.mark.parametrize("usual", [0.0, 0.8], ids=["every row has a label", "most rows have none"])
def test_rows_of_a_label_without_a_name_stand_out_and_are_offered(usual):
    X, Y, new = make_world(usual=usual)
    learner = growing()
    novelty, _ = learner.score_novelty_then_fit(X, Y)
    assert roc_auc_score(new[FIRST:], novelty[FIRST:]) > 0.85
    groups = learner.groups_
    assert groups
    assert all(new[group.rows].mean() > 0.5 for group in groups)
    for group in groups:
        np.testing.assert_array_equal(group.X, X[group.rows])
        np.testing.assert_array_equal(group.novelty, novelty[group.rows])


def test_nothing_is_offered_where_nothing_is_new():
    X, Y, new = make_world()
    assert growing().partial_fit(X[~new], Y[~new]).groups_ == []


def slow_groups(X, Y, novelty, share, size, window):
    """Return the rows of groups by a loop over all pairs, as the notes tell it."""
    bare, candidates, centres, groups = ~Y.any(axis=1), set(), [], []

    def squared(a, b, scale):
        return sum(min(abs((X[a, j] - X[b, j]) * scale[j]), 5.0) ** 2 for j in range(X.shape[1]))

    for end in range(50, len(X) + 1, 50):
        start = end - 50
        scale = 1 / X[:end].std(axis=0)
        limit = np.quantile(novelty[max(0, start - window) : start], 1 - share) if start >= 100 else np.inf
        recent = [row for row in range(max(0, end - window), end) if bare[row]]
        fresh = []
        for row in range(start, end):
            inside = any(squared(row, centre, scale) <= radius for centre, radius in centres)
            if bare[row] and novelty[row] >= limit and not inside:
                fresh.append(row)
        candidates |= set(fresh)
        for row in fresh:
            if row not in candidates or len(recent) < size:
                continue
            near = sorted(recent, key=lambda other: (squared(other, row, scale), other))
            members = sorted(candidates & set(near[:size]))
            if 2 * len(members) >= size:
                radius = squared(near[size - 1], row, scale)
                groups.append(members)
                centres.append((row, radius))
                candidates -= {other for other in recent if squared(other, row, scale) <= radius}
    return groups


@pytest.mark.parametrize(("share", "size", "window"), [(0.1, 20, 1000), (0.3, 5, 200)])
def test_groups_are_those_of_the_loop_over_all_pairs(share, size, window):
    X, Y, _ = make_world(seed=1, usual=0.3)
    learner = growing(share=share, group_size=size, window=window)
    novelty, _ = learner.score_novelty_then_fit(X, Y)
    expected = slow_groups(X, Y, novelty, share, size, window)
    assert expected
    assert [group.rows.tolist() for group in learner.groups_] == expected


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_features", [3, 70])
def test_chunks_do_not_matter_and_predictions_are_those_of_the_classifier(as_rows, n_features):
    X, Y, _ = make_world(n_features=n_features)
    X = as_rows(X)
    whole, cut, inner = growing(random_state=0), growing(random_state=0), OnlineLogisticRegression()
    novelty, proba = whole.score_novelty_then_fit(X, Y)
    parts = []
    for row in range(len(Y)):
        one = slice(row, row + 1)
        parts.append(cut.score_novelty(X[one]) if row else cut.begin(X[one], Y[one]).score_novelty(X[one]))
        cut.partial_fit(X[one], Y[one])
    np.testing.assert_array_equal(novelty, np.concatenate(parts))
    np.testing.assert_array_equal(proba, inner.predict_then_fit(X, Y)[1])
    assert [group.rows.tolist() for group in whole.groups_] == [group.rows.tolist() for group in cut.groups_]
    assert sparse.issparse(whole.groups_[0].X) == sparse.issparse(X)


def test_a_group_that_is_named_is_a_label_and_one_that_is_dismissed_is_not_offered_again():
    X, Y, new = make_world()
    named, dismissed = growing(), growing()
    half = (FIRST + N_ROWS) // 2
    for learner in (named, dismissed):
        learner.partial_fit(X[:half], Y[:half])
    (group,) = named.groups_
    assert named.name_group(group.number).groups_ == []
    assert named.n_labels_ == 3
    wide = np.column_stack([Y, new])
    proba = named.predict_then_fit(X[half:], wide[half:])[1]
    assert roc_auc_score(new[half:], proba[:, 2]) > 0.95
    assert named.groups_ == []
    dismissed.dismiss_group(group.number).partial_fit(X[half:], Y[half:])
    assert dismissed.groups_ == []
    assert dismissed.n_labels_ == 2
    untouched = growing().partial_fit(X[:half], Y[:half])
    assert untouched.name_group(0, 1).n_labels_ == 2
    assert untouched.predict_proba(X[new])[:, 1].mean() > dismissed.predict_proba(X[new])[:, 1].mean()


def test_labels_with_names_are_named():
    X, Y, _ = make_world()
    learner = growing().partial_fit(X, Y, classes=["scan", "worm"])
    number = learner.groups_[0].number
    with pytest.raises(ValueError, match=r"label must be a name, since the labels have names: \['scan', 'worm'\]\."):
        learner.name_group(number)
    assert learner.name_group(number, "theft").label_names_ == ["scan", "worm", "theft"]


def test_wrong_answers_change_nothing_and_say_what_to_do():
    X, Y, _ = make_world()
    learner = NovelLabels(OnlineLogisticRegression()).partial_fit(X, Y)
    before = learner.predict_proba(X)
    number = learner.groups_[0].number
    with pytest.raises(ValueError, match="or make the learner with on_new_labels='grow'"):
        learner.name_group(number)
    with pytest.raises(ValueError, match=r"label must be at most 2, which is a new label\. Got 3 instead\."):
        learner.name_group(number, 3)
    for answer in (learner.name_group, learner.dismiss_group):
        with pytest.raises(ValueError, match=r"group must be the number of a group in groups_, one of \[0"):
            answer(99)
        with pytest.raises(ValueError, match="group must be an integer of at least 0"):
            answer(0.0)
    np.testing.assert_array_equal(learner.predict_proba(X), before)
    assert learner.groups_[0].number == number


def test_labels_that_nobody_knows_tell_nothing():
    X, Y, new = make_world()
    partly = Y.astype(float)
    partly[new, 0] = np.nan
    learner = NovelLabels(StreamRidgeClassifier(random_state=0)).partial_fit(X, partly)
    assert learner.groups_ == []
    only_scored = NovelLabels(Given()).partial_fit(X[:2, :2] * 0 + 0.5, Y[:2])
    first = only_scored.score_novelty([[0.5, 0.5]])
    only_scored.predict_then_fit([[0.5, 0.5]] * 30, [[np.nan, np.nan]] * 30)
    assert only_scored.score_novelty([[0.5, 0.5]]) == first


def test_for_one_class_a_row_far_rows_are_novel_and_none_is_offered():
    X, _, new = make_world()
    learner = NovelLabels(make_strategy("BR_LR"))
    novelty, _ = learner.score_novelty_then_fit(X[:500], np.where(X[:500, 0] > 0, "a", "b"))
    assert novelty[FIRST:500][new[FIRST:500]].mean() > novelty[FIRST:500][~new[FIRST:500]].mean()
    assert learner.groups_ == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"share": 0}, r"share must be a share of the rows, inside \(0, 1\)"),
        ({"share": float("nan")}, r"share must be a share of the rows, inside \(0, 1\)"),
        ({"group_size": 1}, "group_size must be"),
        ({"window": 99}, "window must be"),
        ({"group_size": 101, "window": 100}, r"group_size must be at most window, 100\. Got 101 instead\."),
    ],
)
def test_parameters_that_are_wrong_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        growing(**parameters).partial_fit([[0.0]], [[0]])


def test_rows_of_a_group_are_those_that_came_though_their_array_is_used_again():
    X, Y, _ = make_world()
    learner, place = growing(), np.empty(X.shape[1])
    for x, y in zip(X, Y, strict=True):
        place[:] = x
        learner.partial_fit_one(place, y)
    group = learner.groups_[0]
    np.testing.assert_array_equal(group.X, X[group.rows])


def test_a_group_that_is_changed_by_its_reader_is_named_as_it_was_offered():
    X, Y, _ = make_world()
    read, untouched = (growing().partial_fit(X, Y) for _ in range(2))
    read.groups_[0].X[:] = np.nan
    expected = untouched.name_group(0).predict_proba(X)
    np.testing.assert_array_equal(read.name_group(0).predict_proba(X), expected)


@pytest.mark.parametrize(
    "around", [AlarmBudget, LabelBudget, PredictionSets, PrequentialCalibrator, PrevalenceThreshold]
)
def test_a_label_that_is_named_inside_another_estimator_is_refused_by_it(around):
    X, Y, _ = make_world()
    outer = around(growing(share=0.5))
    outer.partial_fit(X, Y)
    outer.estimator_.partial_fit(X, Y)
    outer.estimator_.name_group(outer.estimator_.groups_[0].number)
    message = r"estimator_ must have the 2 labels of the \w+ around it\. Got 3 instead; put NovelLabels outermost"
    for call in (outer.predict, outer.predict_proba, outer.explain):
        with pytest.raises(ValueError, match=message):
            call(X[:3])
    for call in (outer.partial_fit, outer.predict_then_fit):
        with pytest.raises(ValueError, match=message):
            call(X[:3], Y[:3])
    with pytest.raises(ValueError, match=message):
        outer.predict_then_fit_one(X[0], Y[0])
    # following the advice works
    outermost = NovelLabels(around(OnlineLogisticRegression(on_new_labels="grow")), share=0.5).partial_fit(X, Y)
    assert outermost.name_group(outermost.groups_[0].number).predict_proba(X[:3]).shape == (3, 3)
