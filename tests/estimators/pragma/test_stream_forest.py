import pickle
from itertools import product

import numpy as np
import pytest

from estimators.pragma.stream_forest import PragmaStreamForestClassifier as PragmaForest
from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier
from metrics import pragma
from tests.estimators import streams
from tests.loops import check_all

FOREST = AdaptiveRandomForestClassifier(4, random_state=0)
MINORITY = {"importance": {0: 1, 1: 10}, "compromise": {0: (0.8, 0.8), 1: (0.1, 0.9)}}


def minority(n_rows, seed=0, *, turn=None):
    """Draw rows of which one in twelve is of a class that overlaps the other; from `turn` on it lies elsewhere."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 1 / 12).astype(int)
    shift = np.where(np.arange(n_rows) < (turn or n_rows), 1.2, -1.2)
    return rng.normal(size=(n_rows, 4)) + (y * shift)[:, np.newaxis] * [1.0, 1.0, 0.0, 0.0], y


# ------------------------------------------------------------------------------ what it is for
@pytest.mark.slow
def test_pragma_is_lower_than_that_of_the_forest():
    def check(seed, turn):
        X, y = minority(6000, seed, turn=turn)
        forest = AdaptiveRandomForestClassifier(random_state=seed)
        plain, _ = forest.begin(X, y).predict_then_fit(X, y)
        weighted, _ = PragmaForest(forest, **MINORITY).begin(X, y).predict_then_fit(X, y)
        assert pragma(y, weighted, **MINORITY) < 0.7 * pragma(y, plain, **MINORITY)

    check_all(product(range(3), [None, 3000]), lambda case: check(*case))


def test_pragma_is_lower_for_labels_and_for_several_classes():
    X, Y = streams.drawn(4000)
    Y = Y & (np.random.default_rng(0).random(Y.shape) < 0.3)
    wanted = {"importance": {0: 1, 1: 5, 2: 2}, "compromise": {0: (0.1, 0.9), 1: (0.3, 0.3), 2: (0.2, 0.7)}}
    for target in (Y, Y[:, 0] + (Y[:, 1] & (1 - Y[:, 0])) * 2):
        plain, _ = FOREST.begin(X, target).predict_then_fit(X, target)
        weighted, _ = PragmaForest(FOREST, **wanted, random_state=0).begin(X, target).predict_then_fit(X, target)
        assert pragma(target, weighted, **wanted) < 0.9 * pragma(target, plain, **wanted)


# ------------------------------------------------------------------- votes cast before learning
def test_weights_are_the_best_for_votes_cast_before_their_rows_were_learnt():
    """The window is rebuilt by a forest asked row by row, and every threshold is tried, slowly."""
    X, y = minority(400)
    model = PragmaForest(FOREST, window=150, period=100, **MINORITY).begin(X, y)
    peer, cast = AdaptiveRandomForestClassifier(4, random_state=0).begin(X, y), []
    for i in range(400):
        row = slice(i, i + 1)
        cast.append(peer.predict_proba(X[row])[0] if i else np.zeros(2))
        peer.partial_fit(X[row], y[row])
        model.partial_fit(X[row], y[row])
        if (i + 1) % 100 == 0:
            votes, truth = np.array(cast[max(i - 149, 1) :]), y[max(i - 149, 1) : i + 1]
            assert model.pragma_ == pytest.approx(_reached(truth, votes, model.vote_weights_), abs=1e-12)
            points = np.unique(votes[votes[:, 1] > 0, 0] / votes[votes[:, 1] > 0, 1])
            ratios = [points[0] / 2, *np.sqrt(points[1:]) * np.sqrt(points[:-1]), points[-1] * 2]
            assert model.pragma_ == pytest.approx(min(_reached(truth, votes, np.array([1, r])) for r in ratios))
    assert len(model._window.codes) == 150


def _reached(truth, votes, weights):
    return pragma(truth, (votes * weights).argmax(axis=1), **MINORITY)


def test_rows_go_to_the_class_of_greatest_weight_times_votes():
    X, y = minority(2000)
    names = np.array(["rare", "common"])[1 - y]
    wanted = {"importance": {"common": 1, "rare": 10}, "compromise": {"common": (0.8, 0.8), "rare": (0.1, 0.9)}}
    model = PragmaForest(FOREST, **wanted).fit(X, names)
    votes = AdaptiveRandomForestClassifier(4, random_state=0).fit(X, names).predict_proba(X)
    weighted = votes * model.vote_weights_
    assert np.prod(model.vote_weights_) == pytest.approx(1)
    assert model.vote_weights_[1] > 1.5
    assert np.array_equal(model.predict(X), np.array(["common", "rare"])[weighted.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_proba(X), weighted / weighted.sum(axis=1, keepdims=True))


def test_until_the_first_search_votes_weigh_alike():
    X, Y = streams.drawn(99)
    model = PragmaForest(FOREST).begin(X, Y)
    for given, expected in zip(model.predict_then_fit(X, Y), FOREST.begin(X, Y).predict_then_fit(X, Y), strict=True):
        np.testing.assert_allclose(given[1:], expected[1:], atol=1e-12)
    assert np.isnan(model.pragma_)
    assert model.vote_weights_.tolist() == [1, 1, 1]


# --------------------------------------------------------------------------------------- drift
def test_votes_from_before_a_drift_do_not_count():
    X, y = minority(4000)
    y = np.where(np.arange(4000) < 2000, X[:, 2] > 0.5, X[:, 2] <= 0.5).astype(int)
    model = PragmaForest(AdaptiveRandomForestClassifier(random_state=0), window=3000, **MINORITY).begin(X, y)
    for i in range(0, 3000, 100):
        rows = slice(i, i + 100)
        model.partial_fit(X[rows], y[rows])
        since = model.forest_.members["n_drifts"].sum() - model._window.drifts[:, 0]
        if i >= 2000 and (since < 5).sum() > 100:
            break
    assert (since >= 5).sum() >= 2000
    stayed = model._window.codes[since >= 5]
    # other truths about rows that no longer count change nothing
    model._window.codes[since >= 5] = 1 - stayed
    twin = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    twin._window.codes[since >= 5] = stayed
    rows = slice(i + 100, i + 200)
    assert np.array_equal(
        model.partial_fit(X[rows], y[rows]).vote_weights_, twin.partial_fit(X[rows], y[rows]).vote_weights_
    )


def test_masked_cells_and_rows_without_weight_do_not_count():
    X, Y = streams.drawn(600)
    mask = np.random.default_rng(0).random(Y.shape) < 0.6
    mask[:, 0] = True
    forest = AdaptiveRandomForestClassifier(3, targeted=True, random_state=0)
    model = PragmaForest(forest, compromise=(0.1, 0.9), random_state=0)
    twin = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    model.partial_fit(X, Y, label_mask=mask)
    twin.partial_fit(X, np.where(mask, Y, 1 - Y), label_mask=mask)
    assert np.array_equal(model.vote_weights_, twin.vote_weights_)
    assert (model._window.codes == -1).sum() == (~mask).sum()
    light = PragmaForest(FOREST, random_state=0).partial_fit(X, Y, sample_weight=np.arange(600) % 2)
    odd = PragmaForest(FOREST, random_state=0).partial_fit(X[1::2], Y[1::2])
    assert np.array_equal(light.predict_proba(X), odd.predict_proba(X))


def test_a_label_that_does_not_occur_keeps_its_weight():
    X, Y = streams.drawn(800)
    Y[400:, 1] = 0
    model = PragmaForest(FOREST, window=200, compromise=(0.1, 0.9)).partial_fit(X[:599], Y[:599])
    before = model.vote_weights_.copy()
    after = model.partial_fit(X[599:], Y[599:]).vote_weights_
    assert before[1] == after[1] != 1
    assert before[0] != after[0]


def test_memory_stays_flat():
    X, Y = streams.drawn(3000)
    model = PragmaForest(AdaptiveRandomForestClassifier(2, max_bytes=20_000, random_state=0), window=100)
    sizes = [model.partial_fit(X, Y).memory_bytes_ for _ in range(6)]
    assert sizes[-1] <= 1.5 * sizes[1]
    assert len(model._window.votes) == 100


def test_nonsense_is_refused_before_anything_is_learnt():
    def check(parameters, message):
        model = PragmaForest(**parameters)
        with pytest.raises(ValueError, match=message):
            model.fit(*minority(60))
        assert not [name for name in vars(model) if name.endswith("_")]

    check_all(
        [
            ({"importance": -1}, "importance must be a finite number greater than 0"),
            ({"compromise": (0.5, 1)}, r"y must be in \[0, 1\)"),
            (
                {"compromise": {0: (0.1, 0.1), 9: (0.1, 0.1)}},
                "compromise must name classes of the data only. Got class 9",
            ),
            ({"window": 0}, "window must be an integer of at least 1. Got 0"),
            ({"period": 1.5}, "period must be an integer of at least 1. Got 1.5"),
            ({"search": "guess"}, "search must be one of"),
            ({"forest": AdaptiveRandomForestClassifier(0)}, "n_models must be an integer of at least 1. Got 0"),
        ],
        lambda case: check(*case),
    )


def test_another_estimator_is_no_forest():
    with pytest.raises(TypeError, match=r"forest must be an AdaptiveRandomForestClassifier or None\. Got 3"):
        PragmaForest(3).fit(*minority(60))
