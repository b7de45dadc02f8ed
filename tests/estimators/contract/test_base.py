import pickle
from itertools import product

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from estimators import BinaryRelevance, LabelCombination, OnlineNeuralClassifier, PragmaThreshold, StreamClassifier
from tests.estimators.learners import Logistic
from tests.loops import check_all


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    return X, (X[:, :3] > 0.3).astype(int)


def test_nothing_is_answered_before_anything_is_learnt(data):
    with pytest.raises(NotFittedError, match="Logistic has not learnt"):
        Logistic().predict(data[0])
    with pytest.raises(NotFittedError):
        Logistic().predict_proba(data[0])


def test_a_learner_that_defines_no_prediction_says_what_it_must_define(data):
    class Mute(StreamClassifier):
        def _start(self):
            pass

        def _learn(self, X, Y, mask, weight):
            pass

    mute = Mute().partial_fit(*data)
    for predict in (mute.predict, mute.predict_proba):
        with pytest.raises(NotImplementedError, match=r"^Mute must define _predict_proba, or _infer\.$"):
            predict(data[0])


def test_a_begun_learner_answers_without_having_learnt(data):
    X, Y = data
    started = Logistic().begin(X, Y)
    assert (started.predict_proba(X) == 0.5).all()
    assert np.array_equal(started.partial_fit(X, Y).coef_, Logistic().partial_fit(X, Y).coef_)


def test_first_row_is_answered_from_the_start_state(data):
    X, Y = data
    decided, proba = Logistic().predict_then_fit(X, Y)
    assert proba[0].tolist() == [0.5, 0.5, 0.5]
    assert decided[0].tolist() == [1, 1, 1]


def test_predict_then_fit_is_the_loop(data):
    X, Y = data
    learner, looped = Logistic(), Logistic().begin(X, Y)
    _, proba = learner.predict_then_fit(X, Y)
    for i in range(len(X)):
        assert np.array_equal(proba[i : i + 1], looped.predict_proba(X[i : i + 1]))
        looped.partial_fit(X[i : i + 1], Y[i : i + 1])
    assert np.array_equal(learner.coef_, looped.coef_)


def test_one_class_a_row_takes_scikit_learns_shapes(data):
    X, _ = data
    y = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    learner = Logistic().fit(X, y)
    assert learner.classes_.tolist() == ["no", "yes"]
    assert learner.predict_proba(X).shape == (60, 2)
    assert learner.score(X, y) > 0.9


def test_several_classes_sum_to_one(data):
    X, _ = data
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    proba = Logistic().fit(X, y).predict_proba(X)
    assert proba.shape == (60, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_announced_classes_of_a_vector_may_come_later(data):
    X, _ = data
    learner = Logistic().partial_fit(X[:2], ["b", "b"], classes=["c", "a", "b"])
    assert learner.partial_fit(X[2:3], ["a"]).classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="announce all with `classes`"):
        learner.partial_fit(X[:1], ["d"])


@pytest.mark.parametrize("classes", [5, ["a", "b", "c", "d", "e"], [np.array([0, 1])] * 5])
def test_announced_labels_may_come_later(data, classes):
    X, Y = data
    learner = Logistic().partial_fit(X, Y, classes=classes)
    assert learner.predict(X).shape == (60, 5)
    wide = np.hstack([Y, Y[:, :2]])
    assert learner.partial_fit(X, wide).predict(X).shape == (60, 5)
    with pytest.raises(ValueError, match="at most 5 label columns"):
        learner.partial_fit(X, np.hstack([wide, wide]))


def test_other_classes_than_announced_are_refused(data):
    learner = Logistic().partial_fit(*data, classes=3)
    learner.partial_fit(*data, classes=3)
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        learner.partial_fit(*data, classes=4)


def test_senseless_classes_are_refused(data):
    def check(classes):
        with pytest.raises(ValueError, match="classes must"):
            Logistic().partial_fit(*data, classes=classes)

    check_all([["a", "a", "b"], [[0, 1], [0, 2], [0, 1]], 0, -1, [], 2.5, "abcd"], check)


@pytest.mark.parametrize("classes", [[], [1, "a", None]])
def test_senseless_classes_of_one_class_a_row_are_refused(data, classes):
    with pytest.raises(ValueError, match=r"classes must .*Got .* instead"):
        Logistic().partial_fit(data[0], data[1][:, 0], classes=classes)


def test_records_are_no_classes(data):
    with pytest.raises(ValueError, match=r"y must hold one value a row\. Got records"):
        Logistic().fit(data[0], np.zeros(60, dtype=[("a", float)]))


def test_errors_of_scikit_learn_are_passed_on_in_one_line(data):
    def check(wrong):
        with pytest.raises((TypeError, ValueError)) as refused:
            Logistic().partial_fit(**{"X": data[0], "Y": data[1], **wrong})
        assert "\n" not in str(refused.value)

    check_all(
        [
            {"X": np.ones(60)},
            {"X": 1.0},
            {"Y": np.ones((60, 3)) + 1j},
            {"Y": np.ones(60) + 1j},
            {"Y": "word"},
            {"sample_weight": np.ones(60) + 1j},
        ],
        check,
        lambda wrong: next(iter(wrong)),
    )


def test_a_table_without_a_label_is_refused(data):
    def check(method, estimator):
        X, Y = data
        if hasattr(estimator, method):
            with pytest.raises(ValueError, match=r"Y must have at least one label column. Got shape \(60, 0\) instead"):
                getattr(clone(estimator), method)(X, Y[:, :0])

    check_all(
        product(
            ["fit", "partial_fit", "predict_then_fit", "begin"],
            [Logistic(), BinaryRelevance(GaussianNB()), LabelCombination(GaussianNB()), PragmaThreshold(GaussianNB())],
        ),
        lambda case: check(*case),
    )


def test_labels_may_be_a_sparse_matrix(data):
    X, Y = data
    assert np.array_equal(Logistic().fit(X, sparse.csr_array(Y)).coef_, Logistic().fit(X, Y).coef_)


def test_csr_reaches_the_learner_as_csr(data):
    X, Y = data

    class Watcher(Logistic):
        def _learn(self, X, Y, mask, weight):
            assert isinstance(X, sparse.csr_array)
            assert X.has_canonical_format
            super()._learn(X, Y, mask, weight)

    doubled = sparse.coo_array((np.full(2, 0.5), ([0, 0], [1, 1])), shape=(1, 5))
    Watcher().fit(sparse.csr_matrix(X), Y).partial_fit(doubled, Y[:1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_keep_their_precision(data, dtype):
    class Watcher(Logistic):
        def _learn(self, X, Y, mask, weight):
            assert X.dtype == dtype

    Watcher().fit(data[0].astype(dtype), data[1])


def test_the_mask_reaches_only_learners_that_use_the_task(data):
    X, Y = data
    mask = [True, False, True]
    targeted = Logistic(targeted=True).fit(X, Y, label_mask=mask)
    assert (targeted.coef_[:, 1] == 0).all()
    assert np.array_equal(Logistic().fit(X, Y, label_mask=mask).coef_, Logistic().fit(X, Y).coef_)


def test_one_mask_a_row_equals_one_mask_for_all(data):
    X, Y = data
    mask = np.array([True, False, True])
    one = Logistic(targeted=True).predict_then_fit(X, Y, label_mask=mask)
    each = Logistic(targeted=True).predict_then_fit(X, Y, label_mask=np.tile(mask, (60, 1)))
    assert np.array_equal(one[1], each[1])


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([True, False], r"shape \(3,\) or \(60, 3\). Got \(2,\)"),
        ([False, False, False], "at least one label in every row. Got a row without any, row 0"),
        ([0.5, 1, 1], "label_mask must be boolean"),
    ],
)
def test_wrong_masks_are_refused(data, mask, message):
    with pytest.raises(ValueError, match=message):
        Logistic().partial_fit(*data, label_mask=mask)


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array])
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_not_finite_is_refused_by_row_and_column(data, value, name, convert):
    X = np.array(data[0])
    X[7, 3] = value
    with pytest.raises(ValueError, match=f"X must be finite. Got {name}.* at row 7, column 3"):
        Logistic().fit(convert(X), data[1])


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array])
def test_numbers_whose_squares_are_infinite_are_finite(data, convert):
    X = np.array(data[0])
    X[7, 3] = 1e200

    class Watcher(Logistic):
        def _learn(self, X, Y, mask, weight):
            assert X[7, 3] == 1e200

    Watcher().fit(convert(X), data[1])


@pytest.mark.parametrize("n_rows", [1, 2, 60])
def test_the_row_whose_mask_leaves_no_label_is_named(data, n_rows):
    X, Y = (part[:n_rows] for part in data)
    mask = np.tile([True, False, True], (n_rows, 1))
    learner = Logistic(targeted=True).fit(X, Y, label_mask=mask)
    mask[-1] = False
    with pytest.raises(
        ValueError, match=f"at least one label in every row. Got a row without any, row {n_rows - 1}, instead"
    ):
        learner.partial_fit(X, Y, label_mask=mask)


def test_a_wrong_call_says_why_and_changes_nothing(data):
    def check(spoil, message):
        learner = Logistic().fit(*data)
        before = pickle.dumps(learner)
        for call in (learner.partial_fit, learner.predict_then_fit):
            with pytest.raises(ValueError, match=message):
                call(*spoil(*data))
        assert pickle.dumps(learner) == before

    check_all(
        [
            (
                lambda X, Y: (X, Y + 1),
                "table of 0 and 1, with NaN where a label is unknown, or one column of classes. Got 2 at row 0, column",
            ),
            (lambda X, Y: (X, Y * 0.5), "table of 0 and 1"),
            (lambda X, Y: (X, Y[:-1]), "the same number of rows. Got 60 and 59"),
            (lambda X, Y: (X[:, 1:], Y), "features"),
            (lambda X, Y: (X, np.hstack([Y, Y])), "3 label columns, as fixed at the first call. Got 6"),
            (lambda X, Y: (X, Y[:, 1:]), "3 label columns, as fixed at the first call. Got 2"),
            (lambda X, Y: (X[:0], Y[:0]), "0 sample"),
        ],
        lambda case: check(*case),
    )


def test_a_failed_fit_keeps_what_was_learnt(data):
    X, Y = data
    learner = Logistic().fit(X, Y)
    before = learner.predict_proba(X)
    with pytest.raises(ValueError, match="table of 0 and 1"):
        learner.fit(X[:, :2], Y * 3)
    assert np.array_equal(before, learner.predict_proba(X))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"shape \(60,\). Got \(3,\)"),
        (-np.ones(60), "must not be negative"),
        (np.full(60, 1e308), r"at most 2\*\*53.* Got 1e\+308 instead; divide all weights"),
        (np.full(60, np.nextafter(2.0**53, np.inf)), r"at most 2\*\*53"),
    ],
)
def test_wrong_weights_are_refused(data, weight, message):
    with pytest.raises(ValueError, match=message):
        Logistic().partial_fit(*data, sample_weight=weight)


def test_certain_probabilities_stay_inside_the_open_interval(data):
    class Certain(Logistic):
        def _predict_proba(self, X):
            return np.tile(np.array([0, 1, 0.25], dtype=np.float32), (X.shape[0], 1))

    proba = Certain().fit(*data).predict_proba(data[0])
    assert ((proba > 0) & (proba < 1)).all()
    np.testing.assert_allclose(proba[0], [0, 1, 0.25], atol=1e-7)


def test_the_mask_is_routed_through_scikit_learn(data):
    X, Y = data
    mask = np.tile([True, False, True], (60, 1))
    with sklearn.config_context(enable_metadata_routing=True):
        learner = Logistic(targeted=True).set_fit_request(label_mask=True)
        learner.set_partial_fit_request(label_mask=True, sample_weight=False)
        fitted = make_pipeline(MaxAbsScaler(), learner).fit(X, Y, label_mask=mask)
        assert (fitted[-1].coef_[:, 1] == 0).all()
        auc = make_scorer(roc_auc_score, response_method="predict_proba")
        scores = cross_val_score(learner, X, Y, params={"label_mask": mask}, scoring=auc, cv=3)
    assert np.isfinite(scores).all()


def test_search_over_parameters_works(data):
    X, Y = data
    search = GridSearchCV(Logistic(), {"learning_rate": [-0.5, 0.5]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"learning_rate": 0.5}


def test_memory_is_told_in_bytes(data):
    learner = Logistic().fit(*data)
    assert learner.coef_.nbytes < learner.memory_bytes_ < learner.coef_.nbytes + 2000


def test_the_values_of_labels_are_no_announcement(data):
    X, Y = data
    for classes in ([0, 1], np.array([0, 1, np.nan])):
        learner = OnlineNeuralClassifier().partial_fit(X, Y[:, :3], classes=classes)
        assert learner.partial_fit(X, Y[:, :3], classes=classes).n_labels_ == 3
    with pytest.raises(ValueError, match=r"classes must name every label once. Got \['rain', nan\]"):
        OnlineNeuralClassifier().partial_fit(X, Y[:, :3], classes=["rain", np.nan])
