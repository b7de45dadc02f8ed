"""Splitters share rows out as published, read unknown labels as unknown, and work in scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)

from estimators import MultilabelStratifiedKFold, PrequentialSplit, StreamRidgeClassifier
from metrics.scorers import get_scorer

TABLES = st.integers(2, 30).flatmap(
    lambda n: arrays(float, st.tuples(st.just(n), st.integers(1, 5)), elements=st.sampled_from([0, 0, 1, np.nan]))
)


def stratify(Y, n_splits, **options):
    rows = np.zeros((len(Y), 1))
    return [test for _, test in MultilabelStratifiedKFold(n_splits, **options).split(rows, Y)]


def slow_folds(Y, n_splits, order):
    """Deal rows one by one, as published, ties to the first fold; a fold that is full takes no more."""
    n_labels = Y.shape[1]
    groups = {}
    for i, row in enumerate(Y):
        present = [j for j in range(n_labels) if row[j] == 1]
        keys = [(0, j, k) for j in present for k in present if j == k or (order == 2 and j < k)]
        keys += [(1, j, j) for j in range(n_labels) if row[j] == 0 and np.isnan(Y[:, j]).any()]
        for key in keys:
            groups.setdefault(key, set()).add(i)
    sizes = [len(Y) // n_splits + (fold < len(Y) % n_splits) for fold in range(n_splits)]
    folds = [[] for _ in range(n_splits)]
    wanted = {key: [len(rows) / n_splits] * n_splits for key, rows in groups.items()}
    wanted_rows = [len(Y) / n_splits] * n_splits
    remaining = set(range(len(Y)))
    while remaining:
        counts = {key: len(rows & remaining) for key, rows in groups.items() if rows & remaining}
        key = min(sorted(counts), key=counts.get) if counts else None
        for i in sorted(groups[key] & remaining if counts else remaining):
            open_folds = [fold for fold in range(n_splits) if len(folds[fold]) < sizes[fold]]
            fold = max(open_folds, key=lambda fold: (wanted[key][fold] if counts else 0, wanted_rows[fold], -fold))
            folds[fold].append(i)
            remaining.remove(i)
            wanted_rows[fold] -= 1
            for other, rows in groups.items():
                if i in rows:
                    wanted[other][fold] -= 1
    return [sorted(fold) for fold in folds]


@given(TABLES, st.integers(2, 4), st.sampled_from([1, 2]))
def test_rows_are_dealt_as_one_by_one(Y, n_splits, order):
    if len(Y) >= n_splits:
        assert [fold.tolist() for fold in stratify(Y, n_splits, order=order)] == slow_folds(Y, n_splits, order)


@given(TABLES, st.integers(2, 4), st.integers(0, 3))
def test_folds_are_a_partition_of_sizes_within_one_and_share_the_rarest_label(Y, n_splits, seed):
    if len(Y) < n_splits:
        return
    folds = stratify(Y, n_splits, shuffle=True, random_state=seed)
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(Y)))
    assert np.ptp([len(fold) for fold in folds]) <= 1
    present = (Y == 1)[:, (Y == 1).any(axis=0)]
    if present.size and not np.isnan(Y).any():
        rarest = present[:, present.sum(axis=0).argmin()]
        assert np.ptp([rarest[fold].sum() for fold in folds]) <= 1


def test_shares_of_labels_are_at_least_as_even_as_those_of_a_peer():
    peer = pytest.importorskip("skmultilearn.model_selection", reason="needs scikit-multilearn(-ng)")
    rng = np.random.default_rng(0)

    def spread(folds, Y):
        counts = np.array([Y[fold].sum(axis=0) for fold in folds])
        return np.abs(counts - Y.sum(axis=0) / len(folds)).mean()

    for order in (1, 2):
        ours, theirs, unstratified = [], [], []
        for _ in range(5):
            Y = (rng.random((200, 8)) < rng.random(8) ** 2).astype(int)
            ours.append(spread(stratify(Y, 5, order=order), Y))
            theirs.append(
                spread(
                    [test for _, test in peer.IterativeStratification(5, order=order, random_state=0).split(Y, Y)], Y
                )
            )
            unstratified.append(spread([test for _, test in KFold(5).split(Y)], Y))
        assert np.mean(ours) < min(1.1 * np.mean(theirs), 0.5 * np.mean(unstratified))


def test_known_absences_of_a_label_that_is_unknown_elsewhere_are_shared_out():
    Y = np.full((40, 1), np.nan)
    Y[:4], Y[4:8] = 1, 0
    for fold in stratify(Y, 4):
        assert sorted(Y[fold][~np.isnan(Y[fold])].tolist()) == [0, 1]


def test_one_class_a_row_is_stratified_by_class():
    y = np.repeat(["a", "b", "c"], [30, 6, 3])
    for fold in stratify(y, 3):
        assert sorted(y[fold].tolist()) == ["a"] * 10 + ["b"] * 2 + ["c"]


@given(st.integers(1, 5), st.one_of(st.none(), st.integers(1, 3)), st.integers(0, 2), st.integers(0, 10))
def test_prequential_blocks_follow_those_that_are_learnt(n_splits, window, gap, n_more):
    n_rows, n_blocks = n_splits + gap + 1 + n_more, n_splits + gap + 1
    blocks = np.array_split(np.arange(n_rows), n_blocks)
    splits = list(PrequentialSplit(n_splits, window=window, gap=gap).split(np.zeros((n_rows, 1))))
    assert len(splits) == PrequentialSplit(n_splits).get_n_splits() == n_splits
    for tested, (train, test) in enumerate(splits, start=gap + 1):
        learnt = blocks[: tested - gap] if window is None else blocks[: tested - gap][-window:]
        assert test.tolist() == blocks[tested].tolist()
        assert train.tolist() == np.concatenate(learnt).tolist()


def test_blocks_of_equal_sizes_are_those_of_a_time_series_split():
    X = np.zeros((24, 1))
    peer = TimeSeriesSplit(5, max_train_size=8)
    for ours, theirs in zip(PrequentialSplit(5, window=2).split(X), peer.split(X), strict=True):
        assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]


def test_groups_are_kept_together():
    groups = list("bbbaaaaccd")
    splits = [
        (train.tolist(), test.tolist()) for train, test in PrequentialSplit(2, window=1).split(groups, None, groups)
    ]
    assert splits == [([0, 1, 2, 3, 4, 5, 6], [7, 8]), ([7, 8], [9])]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros((6, 2)), r"groups must have shape \(6,\), one value a row. Got \(6, 2\) instead."),
        ([(day, "a") for day in range(6)], r"one value a row. Got \(6, 2\)"),
        (pd.DataFrame({"day": range(6)}), r"one value a row. Got \(6, 1\)"),
        (["a", "b", None, "c", "d", "e"], "groups must name the group of each row. Got None at row 2 instead."),
        (np.array([np.nan, 1, 2, 3, 4, 5]), "Got nan at row 0"),
        (pd.Series([1, 2, None, 3, 4, 5], dtype="Int64"), "Got <NA> at row 2"),
        (np.ma.masked_equal(range(6), 3), "Got -- at row 3"),
        (pl.Series(["a", None, "b", "c", "d", "e"]), "Got None at row 1"),
        (pd.to_datetime(["2026-01-01", None] * 3), "Got NaT at row 1"),
    ],
)
def test_groups_that_are_no_value_a_row_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        list(PrequentialSplit(2).split(np.zeros((6, 1)), groups=groups))


def test_wrong_options_and_tables_are_refused():
    X = np.zeros((3, 1))
    for call, message in [
        (lambda: MultilabelStratifiedKFold(order=3), "order must be one of 1, 2. Got 3 instead"),
        (lambda: MultilabelStratifiedKFold(1), "n_splits=1"),
        (lambda: stratify(X, 4), "n_splits=4 greater than the number of samples"),
        (lambda: list(MultilabelStratifiedKFold(2).split(X)), "y must hold the labels to stratify by. Got None"),
        (lambda: PrequentialSplit(0), "n_splits must be an integer of at least 1. Got 0"),
        (lambda: PrequentialSplit(window=0), "window must be an integer of at least 1. Got 0"),
        (
            lambda: list(PrequentialSplit(2, gap=1).split(X)),
            "X must have at least 4 rows for n_splits=2 and gap=1. Got 3",
        ),
        (lambda: list(PrequentialSplit(2).split(X, groups=[0, 0, 1])), "X must have at least 3 groups"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("splitter", [MultilabelStratifiedKFold(3, shuffle=True, random_state=0), PrequentialSplit(3)])
def test_scikit_learn_takes_them_for_tables_with_unknown_labels(splitter):
    rng = np.random.default_rng(0)
    X = rng.random((150, 3))
    Y = np.where(rng.random(X.shape) < 0.3, np.nan, X > 0.5)
    learner, scorer = StreamRidgeClassifier(random_state=0), get_scorer("f1_macro")
    assert repr(pickle.loads(pickle.dumps(splitter))) == repr(splitter)  # noqa: S301 - made here
    wanted = cross_val_score(learner, X, Y, cv=splitter, scoring=scorer, error_score="raise").tolist()
    assert min(wanted) > 0.8
    for given_Y in (pd.DataFrame(Y), pl.DataFrame(Y)):
        found = cross_val_score(learner, X, given_Y, cv=splitter, scoring=scorer, error_score="raise", n_jobs=2)
        assert found.tolist() == wanted
    for search in (
        GridSearchCV(learner, {"l2": [1.0]}, cv=splitter),
        RandomizedSearchCV(learner, {}, n_iter=1, cv=splitter),
    ):
        assert search.fit(X, Y).best_score_ > 0.7
    assert learning_curve(learner, X, Y, cv=splitter, train_sizes=[0.5, 1.0], error_score="raise")[2].shape == (2, 3)
    if isinstance(splitter, MultilabelStratifiedKFold):
        assert cross_val_predict(learner, X, Y, cv=splitter).shape == Y.shape
    with sklearn.config_context(enable_metadata_routing=True):
        routed = {"groups": np.arange(150) // 10} if isinstance(splitter, PrequentialSplit) else {}
        assert len(cross_val_score(learner, X, Y, cv=splitter, params=routed, error_score="raise")) == 3
