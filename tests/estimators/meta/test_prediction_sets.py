"""Sets of labels hold the truth as often as promised, whatever the classifier is worth, and change nothing else."""

import itertools

import numpy as np
import pytest

from estimators import DivergedError, OnlineLogisticRegression, PredictionSets, StreamRidgeClassifier
from metrics import set_coverage, set_size
from mlstream.generators import drifting_stream
from tests.estimators.meta.test_prequential_calibrator import Given

HOLDS = {0: (0, -1), 1: (1, -1)}


def missed(Y, sets):
    return np.where(Y == 1, np.isin(sets, HOLDS[1], invert=True), np.isin(sets, HOLDS[0], invert=True))


def make_world(kind, seed):
    stream = drifting_stream(kind, seed=seed, n_rows=1000, n_concepts=3, evaluation_fraction=0.1)
    return tuple(np.concatenate([getattr(one, part) for one in stream]) for part in "XY")


@pytest.mark.parametrize("of", ["label", "value"])
@pytest.mark.parametrize("kind", ["rbf", "hyperplane"])
def test_each_label_is_missed_as_often_as_promised_through_drifts(kind, of):
    X, Y = make_world(kind, 21)
    sets, _ = PredictionSets(StreamRidgeClassifier(random_state=0), of=of).predict_set_then_fit(X, Y)
    wrong = missed(Y, sets)
    np.testing.assert_allclose(wrong.mean(axis=0), 0.1, atol=0.005)
    for value in (0, 1) if of == "value" else ():
        shares = [wrong[Y[:, label] == value, label].mean() for label in range(Y.shape[1])]
        np.testing.assert_allclose(shares, 0.1, atol=0.01)
    assert (sets == -1).all(axis=1).mean() < 0.5


def test_rows_are_missed_as_often_as_promised():
    X, Y = make_world("rbf", 22)
    sets, _ = PredictionSets(StreamRidgeClassifier(random_state=0), of="row", alpha=0.2).predict_set_then_fit(X, Y)
    assert missed(Y, sets).any(axis=1).mean() == pytest.approx(0.2, abs=0.005)


def test_a_rare_label_is_found_as_often_as_a_frequent_one_and_false_alarms_are_as_rare_as_asked():
    rng = np.random.default_rng(0)
    Y = (rng.random((20000, 2)) < [0.02, 0.4]).astype(int)
    proba = 1 / (1 + np.exp(-(2.5 * Y - 2 + rng.normal(size=Y.shape))))
    sets, _ = PredictionSets(Given(), alpha=(0.005, 0.1), of="value").predict_set_then_fit(proba, Y)
    for label in range(2):
        rows = [Y[:, label] == value for value in (0, 1)]
        assert np.isin(sets[rows[1], label], (0, -2)).mean() == pytest.approx(0.1, abs=0.02)
        assert np.isin(sets[rows[0], label], (1, -2)).mean() == pytest.approx(0.005, abs=0.002)


def test_an_adversary_cannot_break_the_promise():
    rng = np.random.default_rng(5)
    learner, n_missed = PredictionSets(Given(), of="label", alpha=0.2).begin([[0.5]], [[0]]), 0
    for _ in range(1500):
        x = rng.random((1, 1))
        code = learner.predict_set(x)[0, 0]
        # whatever the set does not hold is true
        n_missed += code != -1
        learner.partial_fit_one(x[0], [0 if code in {1, -2} else 1])
    assert n_missed / 1500 == pytest.approx(0.2, abs=0.03)


def test_scores_that_say_nothing_leave_labels_open():
    Y = np.random.default_rng(0).integers(0, 2, (2000, 1))
    sets, _ = PredictionSets(Given(), of="value").predict_set_then_fit(np.full(Y.shape, 0.5), Y)
    assert missed(Y, sets).mean() == pytest.approx(0.1, abs=0.01)
    assert (sets == -1).mean() > 0.7


def test_labels_that_never_come_are_never_ruled_out_by_value():
    scores = np.random.default_rng(0).random((300, 2)) * 0.1
    learner = PredictionSets(Given(), of="value").fit(scores, np.zeros((300, 2), int))
    assert set(np.unique(learner.predict_set(scores))) == {-1, 1}
    assert PredictionSets(Given(), of="label").fit(scores, np.zeros((300, 2), int)).thresholds_[0, 1] > 0.5


def test_predictions_are_those_of_the_classifier():
    X, Y = make_world("rbf", 23)
    inner, learner = OnlineLogisticRegression(), PredictionSets(OnlineLogisticRegression())
    for ours, theirs in zip(learner.predict_then_fit(X, Y), inner.predict_then_fit(X, Y), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(learner.predict(X), inner.predict(X))
    np.testing.assert_array_equal(learner.predict_proba(X), inner.predict_proba(X))


@pytest.mark.parametrize("of", ["label", "value", "row"])
def test_one_call_is_what_a_loop_over_rows_does(of):
    X, Y = make_world("hyperplane", 24)
    Y = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    Y[50:60] = np.nan
    X, Y = X[:300], Y[:300]
    learners = [PredictionSets(StreamRidgeClassifier(random_state=0), of=of) for _ in range(4)]
    for one in learners:
        one.predict_set_then_fit(X[:40], Y[:40])
    at_once, proba = learners[0].predict_set_then_fit(X[40:], Y[40:])
    for row in range(40, 300):
        np.testing.assert_array_equal(learners[1].predict_set(X[[row]])[0], at_once[row - 40])
        learners[1].partial_fit(X[[row]], Y[[row]])
        learners[2].predict_then_fit_one(X[row], Y[row])
    _, again = learners[3].predict_then_fit(X[40:], Y[40:])
    np.testing.assert_array_equal(again, proba)
    for other in learners[1:]:
        np.testing.assert_array_equal(other._state, learners[0]._state)


def test_thresholds_say_which_values_are_in_sets():
    X, Y = make_world("rbf", 25)
    for of, alpha in itertools.product(("label", "value", "row"), (0.1, 0.6)):
        learner = PredictionSets(OnlineLogisticRegression(), of=of, alpha=alpha).fit(X, Y)
        greatest, least = learner.thresholds_.T
        proba, sets = learner.predict_proba(X), learner.predict_set(X)
        np.testing.assert_array_equal(proba <= greatest, np.isin(sets, HOLDS[0]))
        np.testing.assert_array_equal(proba >= least, np.isin(sets, HOLDS[1]))
    np.testing.assert_array_equal(learner.begin(X[:1], Y[:1]).thresholds_, np.tile([1.0, 0.0], (Y.shape[1], 1)))


def test_unknown_cells_and_rows_without_weight_teach_nothing():
    rng = np.random.default_rng(1)
    proba, Y = rng.random((400, 3)), rng.integers(0, 2, (400, 3)).astype(float)
    known = rng.random(Y.shape) < 0.6
    known[7] = False
    hidden = np.where(known, Y, np.nan)
    learner = PredictionSets(Given()).fit(proba, hidden)
    for label in range(3):
        rows = known[:, label]
        alone = PredictionSets(Given()).fit(proba[rows][:, [label]], Y[rows][:, [label]])
        np.testing.assert_array_equal(learner._state[2 * label : 2 * label + 2], alone._state)
    weighted = PredictionSets(Given()).fit(proba, Y, sample_weight=(np.arange(400) < 300) * 2.0)
    np.testing.assert_array_equal(weighted._state, PredictionSets(Given()).fit(proba[:300], Y[:300])._state)


def test_for_one_class_a_row_the_set_of_classes_holds_the_true_one():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 3))
    y = np.argmax(X + rng.gumbel(size=X.shape), axis=1)
    sets, proba = PredictionSets(OnlineLogisticRegression(), of="value").predict_set_then_fit(
        X, np.array(["a", "b", "c"])[y]
    )
    assert sets.shape == proba.shape == (3000, 3)
    possible = np.isin(sets, HOLDS[1])
    for label in range(3):
        assert possible[y == label, label].mean() == pytest.approx(0.9, abs=0.01)


class Wrong(Given):
    def _predict_proba(self, X):
        return np.where(X < 0, np.nan, X)


def test_what_is_not_a_probability_is_refused_and_teaches_nothing():
    rows, Y = np.full((3, 2), 0.5), np.zeros((3, 2), int)
    learner = PredictionSets(Wrong()).fit(rows, Y)
    before = learner._state.copy()
    with pytest.raises(ValueError, match=r"estimator must return probabilities in \[0, 1\]. Got nan in row 0, label 0"):
        learner.predict_set(-rows)
    with pytest.raises(DivergedError, match="estimator must return probabilities"):
        learner.predict_set_then_fit(-rows, Y)
    np.testing.assert_array_equal(learner._state, before)
    nothing = PredictionSets(Wrong()).fit(rows, Y)
    with pytest.raises(ValueError, match="estimator must return probabilities"):
        nothing.predict_set_then_fit(-rows, np.full((3, 2), np.nan))
    assert nothing.predict_set_then_fit(rows, Y)[0].shape == (3, 2)


def test_parameters_are_read_when_learning_begins():
    rng = np.random.default_rng(3)
    proba, Y = rng.random((200, 2)), rng.integers(0, 2, (200, 2))
    changed, same = (PredictionSets(Given()).fit(proba, Y) for _ in range(2))
    changed.set_params(of="row", alpha=0.5)
    for learner in (changed, same):
        learner.partial_fit(proba, Y)
    np.testing.assert_array_equal(changed._state, same._state)


def test_labels_that_are_new_are_open_at_first():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3))
    Y = (X > 0).astype(int)
    learner = PredictionSets(OnlineLogisticRegression(on_new_labels="grow"))
    learner.partial_fit(X, Y[:, :2], classes=["a", "b"])
    sets, _ = learner.predict_set_then_fit(X, Y, classes=["a", "b", "c"])
    assert (sets[:9, 2] == -1).all()
    assert (sets[100:, 2] != -1).any()
    assert learner.thresholds_.shape == (3, 2)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, float("nan"), float("inf"), "0.1", None, True, (0.1,), (0.1, 1)])
def test_shares_outside_0_and_1_are_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha must be a share inside \(0, 1\), or two for of='value'. Got "):
        PredictionSets(Given(), alpha=alpha, of="value").fit(np.full((3, 2), 0.5), np.zeros((3, 2), int))


def test_two_shares_need_sets_by_value():
    with pytest.raises(ValueError, match="alpha must be one share for of='row'; two are for of='value'"):
        PredictionSets(Given(), alpha=(0.1, 0.2), of="row").fit(np.full((3, 2), 0.5), np.zeros((3, 2), int))


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="of must be one of"):
        PredictionSets(Given(), of="class").fit(np.full((3, 2), 0.5), np.zeros((3, 2), int))
    with pytest.raises(TypeError, match="estimator must have predict_proba"):
        PredictionSets(object()).fit(np.full((3, 2), 0.5), np.zeros((3, 2), int))


@pytest.mark.parametrize(("of", "average"), [("value", "micro"), ("label", "micro"), ("row", "subset")])
def test_what_is_counted_is_what_metrics_say(of, average):
    rng = np.random.default_rng(3)
    proba = rng.random((1500, 3))
    Y = (rng.random(proba.shape) < proba).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    learner = PredictionSets(Given(), of=of)
    parts = [learner.predict_set_then_fit(proba[rows], Y[rows])[0] for rows in (slice(900), slice(900, None))]
    sets, known, counted = np.vstack(parts), ~np.isnan(Y), learner.counted_scores_
    assert counted["set_coverage"] == pytest.approx(set_coverage(Y, sets, average=average))
    assert counted["set_size"] == pytest.approx(set_size(sets, label_mask=known))
    sizes, faded = {1: 1, 0: 1, -1: 2, -2: 0}, [0.0, 0.0]
    for row in np.flatnonzero(known.any(axis=1)):
        values = [sizes[code] for code in sets[row, known[row]]]
        faded = [0.999 * faded[0] + sum(values), 0.999 * faded[1] + len(values)]
    assert counted["set_size_late"] == pytest.approx(faded[0] / faded[1])
