"""One forest for all labels: `multilabel="native"`."""

import pickle

import numpy as np
import pytest

from estimators.pragma.stream_forest import PragmaStreamForestClassifier
from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier
from estimators.trees.multilabel import MultiLabelHoeffdingTreeClassifier
from tests.estimators import streams

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


def native(n_models=3, **parameters):
    return AdaptiveRandomForestClassifier(n_models, multilabel="native", **{"random_state": 0, **parameters})


def drifting(n_rows):
    """Draw rows whose labels are all turned round in the middle."""
    X, Y = streams.drawn(n_rows)
    return X, np.where(np.arange(n_rows)[:, np.newaxis] < n_rows // 2, Y, 1 - Y)


def test_one_member_without_randomness_is_a_multi_label_tree():
    X, Y = streams.drawn(3000)
    alone = {"bagging": None, "max_features": None, "drift_delta": None, "warning_delta": None}
    tree, forest = MultiLabelHoeffdingTreeClassifier(**EAGER), native(1, **alone, **EAGER)
    expected, given = (learner.begin(X, Y).predict_then_fit(X, Y) for learner in (tree, forest))
    assert np.array_equal(given[0], expected[0])
    np.testing.assert_allclose(given[1], expected[1], atol=1e-12)
    assert forest.forest_.trees[0].foreground.tree.counts["n_nodes"] == tree.tree_.counts["n_nodes"] > 5


def test_neither_cuts_nor_threads_nor_saving_matter_in_a_drift():
    X, Y = drifting(2400)
    whole = native(max_features=0.6, **EAGER).begin(X, Y)
    expected = whole.predict_then_fit(X, Y)[1]
    cut, given = native(max_features=0.6, n_jobs=3, **EAGER).begin(X, Y), []
    for i in range(0, 2400, 77):
        cut = pickle.loads(pickle.dumps(cut))  # noqa: S301 - our own bytes
        given.append(cut.predict_then_fit(X[i : i + 77], Y[i : i + 77])[1])
    assert np.array_equal(np.concatenate(given), expected)
    assert np.array_equal(cut.n_drifts_, whole.n_drifts_)
    assert whole.n_drifts_.shape == (1, 3)


def test_members_are_replaced_after_a_drift():
    X, Y = drifting(6000)
    right = {}
    for drift_delta in (0.001, None):
        forest = native(5, max_features=0.6, drift_delta=drift_delta).begin(X, Y)
        decided, _ = forest.predict_then_fit(X, Y)
        right[drift_delta] = (decided == Y)[4500:].mean()
        assert (forest.n_drifts_ > 0).all() == (drift_delta is not None)
    assert right[0.001] > right[None] + 0.02


def test_it_is_as_good_as_a_forest_for_each_label():
    X, Y = streams.drawn(3000)
    forests = (native(10, max_features=0.6), AdaptiveRandomForestClassifier(random_state=0))
    one, each = ((forest.begin(X, Y).predict_then_fit(X, Y)[0] == Y).mean() for forest in forests)
    assert one > each - 0.03


def test_masked_labels_and_rows_without_weight_are_not_learnt():
    X, Y = streams.drawn(900)
    mask = np.random.default_rng(0).random(Y.shape) < 0.6
    mask[:, 0] = True
    masked = native(targeted=True).partial_fit(X, Y, label_mask=mask)
    other = native(targeted=True).partial_fit(X, np.where(mask, Y, 1 - Y), label_mask=mask)
    assert np.array_equal(masked.predict_proba(X), other.predict_proba(X))
    light = native().partial_fit(X, Y, sample_weight=np.arange(900) % 2)
    assert np.array_equal(light.predict_proba(X), native().partial_fit(X[1::2], Y[1::2]).predict_proba(X))


def test_trees_use_their_own_features():
    X, Y = streams.drawn(100)
    seen = [member.foreground.features.tolist() for member in native(20, max_features=2).fit(X, Y).forest_.trees]
    assert all(len(features) == 2 and features == sorted(features) for features in seen)
    assert len({tuple(features) for features in seen}) > 5


def test_memory_is_bounded():
    X, Y = streams.drawn(4000)
    free, bound = (native(max_bytes=size, **EAGER).fit(X, Y) for size in (10**9, 30_000))
    assert bound.memory_bytes_ < free.memory_bytes_
    assert (bound.predict(X) == Y).mean() > 0.6


def test_its_votes_can_be_weighted():
    X, Y = drifting(1500)
    model = PragmaStreamForestClassifier(native(), compromise=(0.1, 0.9), random_state=0).begin(X, Y)
    plain = native().begin(X, Y).predict_then_fit(X, Y)[0]
    assert model.predict_then_fit(X, Y)[0].sum() > plain.sum()


def test_classes_have_one_forest_anyway():
    X, Y = streams.drawn(500)
    one, two = native().fit(X, Y[:, 0]), AdaptiveRandomForestClassifier(3, random_state=0).fit(X, Y[:, 0])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_unknown_multilabel_is_refused():
    with pytest.raises(ValueError, match=r"multilabel must be 'binary' or 'native'. Got 'both'"):
        AdaptiveRandomForestClassifier(multilabel="both").fit(*streams.drawn(20))
