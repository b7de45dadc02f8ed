"""scikit-learn's scorers, cross-validation and ensembles, given learners of one, two and three labels."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    get_scorer,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from estimators import (
    BinaryRelevance,
    DERClassifier,
    EWCClassifier,
    InvariantLogisticClassifier,
    MeanLabelsClassifier,
    NearestRowClassifier,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PragmaForestClassifier,
    PragmaThreshold,
    PriorLabelsClassifier,
    ReplayClassifier,
    StreamPipeline,
    StreamRidgeClassifier,
)
from tests.loops import check_all

LEARNERS = [
    NearestRowClassifier(20),
    MeanLabelsClassifier(),
    PriorLabelsClassifier(),
    BinaryRelevance(GaussianNB()),
    OnlineLogisticRegression(0.5),
    ReplayClassifier(NearestRowClassifier(20), random_state=0),
    PragmaThreshold(NearestRowClassifier(20), random_state=0),
    PragmaThreshold(KNeighborsClassifier(), random_state=0),
    PragmaForestClassifier(5, n_bags=0, random_state=0),
]
WIDTHS = [1, 2, 3]
SCORES = {
    "accuracy": accuracy_score,
    "f1_macro": lambda Y, Y_pred: f1_score(Y, Y_pred, average="binary" if Y.shape[1] == 1 else "macro"),
    "roc_auc": roc_auc_score,
    "average_precision": average_precision_score,
}


def _of_name(value):
    inner = getattr(value, "estimator", None)
    return type(value).__name__ + ("" if inner is None else f"({type(inner).__name__})")


def data(n_labels):
    rng = np.random.default_rng(n_labels)
    X = rng.random((90, 4))
    return X, (X[:, :n_labels] + 0.2 * rng.normal(size=(90, n_labels)) > 0.5).astype(int)


def every_learner(check, *others):
    """Run a check on every learner, with every combination of other values."""
    check_all(product(LEARNERS, *others), lambda case: check(*case), lambda case: f"{_of_name(case[0])} {case[1:]}")


def test_classes_of_labels_are_a_table_of_0_and_1():
    def check(learner, n_labels):
        classes = clone(learner).fit(*data(n_labels)).classes_
        assert isinstance(classes, np.ndarray)
        assert classes.tolist() == [[0, 1]] * n_labels

    every_learner(check, WIDTHS)


def test_classes_of_one_class_a_row_are_its_sorted_values():
    def check(learner):
        X = np.random.default_rng(0).random((60, 4))
        assert clone(learner).fit(X, np.where(X[:, 0] > 0.5, "high", "low")).classes_.tolist() == ["high", "low"]

    every_learner(check)


@pytest.mark.slow
def test_named_scorers_of_probabilities_are_the_scores():
    def check(learner, n_labels, name):
        X, Y = data(n_labels)
        fitted = clone(learner).fit(X, Y)
        wanted = SCORES[name](Y, fitted.predict_proba(X))
        assert get_scorer(name)(fitted, X, Y) == pytest.approx(wanted)
        assert make_scorer(SCORES[name], response_method="predict_proba")(fitted, X, Y) == pytest.approx(wanted)

    every_learner(check, WIDTHS, ["roc_auc", "average_precision"])


@pytest.mark.slow
def test_cross_validated_scores_are_those_of_each_fold():
    def check(learner, n_labels, name):
        X, Y = data(n_labels)
        scorer = make_scorer(SCORES["f1_macro"]) if name == "f1_macro" else name
        wanted = [
            SCORES[name](Y[test], clone(learner).fit(X[train], Y[train]).predict(X[test]))
            for train, test in KFold(3).split(X)
        ]
        assert cross_val_score(learner, X, Y, scoring=scorer, cv=KFold(3), error_score="raise").tolist() == wanted

    every_learner(check, WIDTHS, ["accuracy", "f1_macro"])


@pytest.mark.parametrize("name", ["neg_log_loss", "neg_brier_score"])
def test_scorers_of_one_label_take_its_probability(name):
    X = np.random.default_rng(0).random((90, 4))
    Y = (X[:, :1] > 0.5).astype(int)
    fitted = MeanLabelsClassifier().fit(X, Y)
    proba = fitted.predict_proba(X)[:, 0]
    known = Y[:, 0] == 1
    wanted = {
        "neg_log_loss": np.log(np.where(known, proba, 1 - proba)).mean(),
        "neg_brier_score": -((known - proba) ** 2).mean(),
    }
    assert get_scorer(name)(fitted, X, Y) == pytest.approx(wanted[name])


@pytest.mark.slow
def test_cross_validated_predictions_are_those_of_each_fold():
    def check(learner, n_labels, method):
        X, Y = data(n_labels)
        got = cross_val_predict(learner, X, Y, method=method, cv=KFold(3))
        wanted = np.vstack(
            [getattr(clone(learner).fit(X[train], Y[train]), method)(X[test]) for train, test in KFold(3).split(X)]
        )
        np.testing.assert_array_equal(got, wanted)

    every_learner(check, WIDTHS, ["predict", "predict_proba"])


def test_cross_validation_of_more_labels_than_some_fold_has_warns_of_nothing():
    def check(n_labels):
        X = np.random.default_rng(0).random((30, 4))
        Y = np.zeros((30, n_labels), dtype=int)
        Y[:10, 0] = 1
        assert cross_val_predict(NearestRowClassifier(), X, Y, method="predict_proba", cv=KFold(3)).shape == Y.shape

    check_all(WIDTHS, check)


@pytest.mark.slow
def test_stacking_learns_from_cross_validated_predictions():
    def check(learner, n_labels, method):
        X, Y = data(n_labels)
        target = Y.ravel() if n_labels == 1 else Y

        def columns(predictions):
            table = predictions.reshape(len(X), -1)
            # of two columns, scikit-learn leaves out the first: right for two classes, a loss for two labels
            return table[:, 1:] if method == "predict_proba" and n_labels <= 2 else table

        stack = StackingClassifier([("one", learner)], KNeighborsClassifier(), cv=KFold(3), stack_method=method)
        outside = cross_val_predict(learner, X, target, method=method, cv=KFold(3))
        final = KNeighborsClassifier().fit(columns(outside), target)
        wanted = final.predict(columns(getattr(clone(learner).fit(X, target), method)(X)))
        np.testing.assert_array_equal(stack.fit(X, target).predict(X), wanted)

    every_learner(check, WIDTHS, ["predict", "predict_proba"])


def test_a_stream_of_one_label_is_one_class_a_row_for_other_estimators():
    X = np.random.default_rng(0).random((90, 4))
    Y = (X[:, :1] > 0.5).astype(int)
    model = PragmaThreshold(SGDClassifier(loss="log_loss", random_state=0), period=40, random_state=0)
    of_labels, of_classes = clone(model), clone(model)
    of_labels.predict_then_fit(X, Y)
    of_classes.predict_then_fit(X, Y[:, 0])
    inner = of_labels.estimator_.predict_proba(X)
    np.testing.assert_array_equal(inner, of_classes.estimator_.predict_proba(X))
    assert of_labels.predict_proba(X).shape == (90, 1)
    np.testing.assert_array_equal(of_labels.predict_proba(X)[:, 0].argsort(), inner[:, 1].argsort())


def test_ensembles_and_searches_pass_weights_to_fit():
    X, Y = data(2)
    weight = np.arange(len(X)) % 4 / 2
    learner = OnlineLogisticRegression(0.5)
    weighted = clone(learner).partial_fit(X, Y, sample_weight=weight)
    piped = make_pipeline(learner).fit(X, y=Y, onlinelogisticregression__sample_weight=weight)
    np.testing.assert_array_equal(piped.predict_proba(X), weighted.predict_proba(X))
    y = Y[:, 0]
    expected = clone(learner).partial_fit(X, y, sample_weight=weight).predict_proba(X)
    for ensemble in (
        VotingClassifier([("one", learner)], voting="soft").fit(X, y, sample_weight=weight),
        MultiOutputClassifier(learner).fit(X, Y, sample_weight=weight).estimators_[0],
    ):
        np.testing.assert_array_equal(ensemble.predict_proba(X), expected)
    bagged = BaggingClassifier(learner, 3, random_state=0).fit(X, y, sample_weight=weight)
    assert not np.array_equal(bagged.predict_proba(X), clone(bagged).fit(X, y).predict_proba(X))
    assert AdaBoostClassifier(learner, random_state=0).fit(X, y).score(X, y) > 0.7
    with config_context(enable_metadata_routing=True):
        routed = clone(learner).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(routed, {"learning_rate": [0.5]}, cv=KFold(3))
        got = search.fit(X, Y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(got, weighted.predict_proba(X))


LINEAR = [
    OnlineLogisticRegression(0.5),
    InvariantLogisticClassifier(random_state=0),
    StreamPipeline([("as it is", None), ("learn", OnlineLogisticRegression(0.5))]),
]


@pytest.mark.parametrize("learner", LINEAR)
def test_log_odds_are_those_of_the_coefficients(learner):
    X, Y = data(3)
    for target in (Y, Y[:, :1], np.where(Y[:, 0], "high", "low"), Y[:, 0] + Y[:, 1]):
        fitted = clone(learner).fit(X, target)
        scores, model = fitted.decision_function(X), fitted[-1] if hasattr(fitted, "steps") else fitted
        expected = X @ model.coef_.T + model.intercept_
        binary = target.ndim == 1 and len(fitted.classes_) == 2
        np.testing.assert_allclose(scores, expected[:, 0] if binary else expected)
        if target.ndim == 2 or binary:
            proba = fitted.predict_proba(X)[:, 1] if binary else fitted.predict_proba(X)
            np.testing.assert_allclose(proba, expit(scores))
        np.testing.assert_allclose(fitted.decision_function(sparse.csr_array(X)), scores)


SCORED = [
    *LINEAR,
    OnlineNeuralClassifier(8, learning_rate=1.0, random_state=0),
    OnlineNeuralClassifier(standardize="scale", dtype="float64", learning_rate=0.1, random_state=0),
    DERClassifier(8, random_state=0),
    EWCClassifier(random_state=0),
    StreamRidgeClassifier(random_state=0),
    StreamRidgeClassifier(late_in_predict=True, random_state=0),
    StreamRidgeClassifier(n_components=2, random_state=0),
]


@pytest.mark.parametrize("learner", SCORED)
def test_decisions_are_those_of_predict(learner):
    X, Y = data(3)
    rare = np.column_stack([Y[:, 0], np.zeros(90), np.ones(90)])
    for target in (Y, Y[:, :1], rare, np.where(Y[:, 0], "high", "low"), Y[:, 0] + Y[:, 1], np.zeros(90)):
        fitted = clone(learner).fit(X, target)
        for rows in (X, sparse.csr_array(X), 1e8 * X):
            scores, (decided, proba) = fitted.decision_function(rows), fitted.predict_with_proba(rows)
            assert np.isfinite(scores).all()
            if target.ndim == 2:
                np.testing.assert_array_equal(scores > 0, decided)
            elif len(fitted.classes_) > 2:
                np.testing.assert_array_equal(fitted.classes_[scores.argmax(axis=1)], decided)
                continue
            else:
                np.testing.assert_array_equal(fitted.classes_[(scores > 0).astype(int)], decided)
            columns = (scores, proba) if target.ndim == 2 else (scores[:, None], proba[:, -1:])
            for score, p in zip(*(table.T for table in columns), strict=True):
                assert (np.diff(p[np.argsort(score)]) >= -1e-6).all()


@pytest.mark.parametrize("learner", SCORED[3:7])
def test_decisions_of_networks_are_logits(learner):
    X, Y = data(3)
    fitted = clone(learner).fit(X, Y)
    np.testing.assert_allclose(expit(fitted.decision_function(X)), fitted.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(fitted.decision_function(sparse.csr_array(X)), fitted.decision_function(X))


@pytest.mark.parametrize("options", [{"n_components": None}, {"n_components": 3}])
def test_coefficients_of_ridge_are_those_of_its_scores(options):
    X, Y = data(3)
    for late in (False, True):
        ridge = StreamRidgeClassifier(knots=0, hidden_units=0, late_in_predict=late, random_state=0, **options)
        for n_rows in (0, 20, 90):
            fitted = ridge.partial_fit(X[:n_rows], Y[:n_rows]) if n_rows else ridge.begin(X, Y)
            F = fitted._features(fitted._projected(X))
            expected = fitted._late_score(F) if late else fitted._score(F)
            np.testing.assert_allclose(X @ fitted.coef_.T + fitted.intercept_, expected, atol=1e-12)
            assert fitted.coef_.shape == (3, X.shape[1])
    assert not hasattr(clone(ridge), "coef_")
    with pytest.raises(AttributeError, match="knots and hidden_units must be 0"):
        _ = clone(ridge).set_params(knots=1).fit(X, Y).coef_


def test_features_are_selected_by_coefficients_and_importances():
    X, Y = data(2)
    X = np.hstack([X[:, :2], np.random.default_rng(0).random((90, 6))])
    learners = (
        OnlineLogisticRegression(0.5),
        InvariantLogisticClassifier(),
        StreamRidgeClassifier(knots=0, hidden_units=0),
        PragmaForestClassifier(20, n_bags=0),
    )
    for learner in learners:
        for selector in (
            SelectFromModel(learner, max_features=2, threshold=-np.inf),
            RFE(learner, n_features_to_select=2),
        ):
            assert selector.fit(X, Y).get_support().tolist() == [True] * 2 + [False] * 6


@pytest.mark.slow
def test_calibration_of_each_label_is_calibration_of_one_class_a_row():
    def check(n_labels):
        X, Y = data(n_labels)
        calibrated = CalibratedClassifierCV(NearestRowClassifier(20), cv=KFold(3))
        together = MultiOutputClassifier(calibrated).fit(X, Y).predict_proba(X)
        for j, proba in enumerate(together):
            np.testing.assert_array_equal(proba, clone(calibrated).fit(X, Y[:, j]).predict_proba(X))

    check_all(WIDTHS, check)
