"""Explanations: contributions add up to what is predicted, name the cause, and change nothing."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from estimators import (
    AdaptiveRandomForestClassifier,
    ADWINBaggingClassifier,
    ADWINBoostingClassifier,
    AlarmBudget,
    BinaryRelevance,
    ExtremelyFastDecisionTreeClassifier,
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
    InvariantLogisticClassifier,
    ISOUPTreeClassifier,
    LabelBudget,
    MultiLabelHoeffdingAdaptiveTreeClassifier,
    MultiLabelHoeffdingTreeClassifier,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PragmaStreamForestClassifier,
    PrequentialCalibrator,
    PrevalenceThreshold,
    RollingForestClassifier,
    StreamPipeline,
    StreamRidgeClassifier,
)
from tests.estimators import instances

ARF = AdaptiveRandomForestClassifier(3, random_state=0)
NATIVE = AdaptiveRandomForestClassifier(3, multilabel="native", random_state=0)
EXACT = {
    "ridge": StreamRidgeClassifier(random_state=0),
    "ridge, late": StreamRidgeClassifier(random_state=0, late_in_predict=True),
    "ridge, linear": StreamRidgeClassifier(knots=0, hidden_units=0, random_state=0),
    "ridge, projected": StreamRidgeClassifier(n_components=6, random_state=0),
    "logistic": OnlineLogisticRegression(0.1),
    "invariant": InvariantLogisticClassifier(random_state=0),
    "tree": HoeffdingTreeClassifier(delta=0.1),
    "tree of zeros": HoeffdingTreeClassifier(delta=0.1, zeros="together"),
    "tree of categories": HoeffdingTreeClassifier(delta=0.1, categorical_features={7: 4}),
    "fast tree": ExtremelyFastDecisionTreeClassifier(delta=0.1),
    "adaptive tree": HoeffdingAdaptiveTreeClassifier(delta=0.1),
    "forest": ARF,
    "forest of categories": AdaptiveRandomForestClassifier(3, random_state=0, categorical_features={7: 4}),
    "rolling": RollingForestClassifier(5, random_state=0),
    "tree of labels": MultiLabelHoeffdingTreeClassifier(delta=0.1),
    "tree of labels and categories": MultiLabelHoeffdingTreeClassifier(delta=0.1, categorical_features={7: 4}),
    "forest of labels": NATIVE,
    "weighted forest": PragmaStreamForestClassifier(ARF, importance=2.0, compromise=(0.1, 0.9), random_state=0),
    "weighted forest of labels": PragmaStreamForestClassifier(NATIVE, random_state=0),
    "regression tree of labels": ISOUPTreeClassifier(delta=0.1),
    "adaptive tree of labels": MultiLabelHoeffdingAdaptiveTreeClassifier(delta=0.1, random_state=0),
    "adaptive tree of labels and categories": MultiLabelHoeffdingAdaptiveTreeClassifier(
        delta=0.1, random_state=0, categorical_features={7: 4}
    ),
    "bagging": ADWINBaggingClassifier(3, random_state=0),
    "boosting": ADWINBoostingClassifier(3, random_state=0),
    "relevance": BinaryRelevance(HoeffdingTreeClassifier(delta=0.1), start="first-positive"),
    "relevance of ridges": BinaryRelevance(StreamRidgeClassifier(random_state=0, late_in_predict=True)),
    "threshold": PrevalenceThreshold(StreamRidgeClassifier(random_state=0)),
    "budgeted": LabelBudget(OnlineLogisticRegression(0.1), 0.5),
    "calibrated": PrequentialCalibrator(OnlineLogisticRegression(0.1)),
    "calibrated trees": AlarmBudget(PrequentialCalibrator(BinaryRelevance(HoeffdingTreeClassifier(delta=0.1)))),
    "pipeline": StreamPipeline([("scale", StandardScaler()), ("learn", OnlineLogisticRegression(0.1))]),
}


def stream(n_rows=1200, seed=0):
    """Return rows of eight features, the last of them a category, and four labels with one cause each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    X[:, 6], X[:, 7] = X[:, 6] > 0, rng.integers(0, 4, n_rows)
    return X, np.column_stack([X[:, 0] > 1, X[:, 1] > 1, X[:, 2] < -1, X[:, 6] > 0]).astype(int)


def check_sums(learner, X):
    # as rows of the stream are predicted, of which ridge regression expects that what came last goes on
    found, proba = learner.explain(X), learner._target.probabilities(learner._infer_each(X)[1])
    total = found.base + found.contributions.sum(axis=2) + found.interactions.sum(axis=2)
    assert np.abs(total - found.scores).max() <= 1e-9
    scores = expit(found.scores) if found.scale == "logit" else found.scores
    if isinstance(learner.classes_, np.ndarray) and learner.classes_.ndim == 1:
        scores = scores / scores.sum(axis=1, keepdims=True)
    assert np.abs(scores - proba).max() <= 1e-9
    assert found.is_exact
    return found


@pytest.mark.parametrize("n_rows", [0, 1, 60, 1000])
@pytest.mark.parametrize("name", EXACT)
def test_contributions_add_up_to_what_is_predicted(name, n_rows):
    X, Y = stream()
    learner = EXACT[name]
    learner = learner.fit(X[:n_rows], Y[:n_rows]) if n_rows else learner.begin(X[:1], Y[:1])
    check_sums(learner, X[1000:])


@pytest.mark.parametrize("name", instances.IN_STREAMS)
def test_whatever_says_that_it_is_exact_adds_up(name):
    X, Y = stream(200)
    learner = instances.made(name).partial_fit(X[:150], Y[:150])
    if hasattr(learner, "explain") and learner.explain(X[150:], background=X[:5], n_repeats=2).is_exact:
        check_sums(learner, X[150:])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", [name for name in EXACT if "calibrated" not in name and "of labels" not in name])
def test_contributions_of_classes_add_up_too(name, n_classes):
    X, _ = stream()
    y = np.digitize(X[:, 0], [0.0, 1.0][: n_classes - 1])
    found = check_sums(EXACT[name].fit(X[:1000], y[:1000]), X[1000:])
    assert found.label_names == ("0", "1", "2")[:n_classes]


@pytest.mark.parametrize("name", ["ridge", "logistic", "tree", "adaptive tree", "forest", "rolling", "tree of labels"])
def test_leaves_and_hidden_units_leave_the_cause_with_its_feature(name):
    X, Y = stream(6000)
    learner = EXACT[name].fit(X[:5000], Y[:5000])
    found, decided = learner.explain(X[5000:]), learner.predict(X[5000:]) * Y[5000:]
    named = [
        found.top(1, row=row, label=label)[0][0] == ("x0", "x1", "x2", "x6")[label]
        for row, label in np.argwhere(decided).tolist()
    ]
    assert len(named) > 300
    assert np.mean(named) > 0.95


def test_permutation_names_the_cause_with_an_error_and_does_not_add_up():
    X, Y = stream(4000)
    learner = OnlineNeuralClassifier(learning_rate=0.1, random_state=0).fit(X[:3500], Y[:3500])
    alarms = X[3500:][learner.predict(X[3500:])[:, 0] == 1]
    found = learner.explain(alarms, background=X[3000:3500], n_repeats=30)
    assert not found.is_exact
    assert found.standard_errors.shape == found.contributions.shape
    assert np.mean([found.top(1, row=row)[0][0] == "x0" for row in range(len(alarms))]) > 0.97
    again = learner.explain(alarms, background=X[3000:3500], n_repeats=30)
    assert np.array_equal(again.contributions, found.contributions)
    table = sparse.csr_array(alarms)
    of_sparse = learner.explain(table, background=sparse.csr_array(X[3000:3500]), n_repeats=30)
    assert of_sparse.contributions == pytest.approx(found.contributions, abs=1e-5)


def test_permutation_is_the_mean_change_over_background_rows():
    X, Y = stream(600)
    learner = OnlineNeuralClassifier(random_state=0).fit(X, Y)
    background = np.repeat(X[:1], 5, axis=0)
    found = learner.explain(X[5:8], background=background, n_repeats=2)
    changed = X[5:8].copy()
    changed[:, 3] = X[0, 3]
    expected = learner.predict_proba(X[5:8]) - learner.predict_proba(changed)
    assert found.contributions[:, :, 3] == pytest.approx(expected, abs=1e-6)
    assert np.abs(found.standard_errors).max() == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("learner", [OnlineNeuralClassifier(random_state=0), BinaryRelevance(SGDClassifier())])
def test_without_a_background_an_estimate_is_refused(learner):
    X, Y = stream(100)
    with pytest.raises(ValueError, match=r"background must be recent rows: .* is explained by permutation"):
        learner.fit(X, Y).explain(X[:1])


@pytest.mark.parametrize("name", ["ridge", "tree", "forest", "rolling", "threshold"])
def test_nothing_about_the_learner_changes(name):
    X, Y = stream()
    learner = EXACT[name].fit(X, Y)
    before = pickle.dumps(learner)
    learner.explain(X[:20])
    assert pickle.dumps(learner) == before


@pytest.mark.parametrize("name", ["ridge", "logistic", "tree", "rolling"])
def test_sparse_rows_are_explained_as_dense_ones(name):
    X, Y = stream()
    learner = EXACT[name].fit(X, Y)
    dense, of_sparse = learner.explain(X[:20]), learner.explain(sparse.csr_array(X[:20]))
    assert of_sparse.contributions == pytest.approx(dense.contributions, abs=1e-12)


def test_products_of_flags_are_named():
    rng = np.random.default_rng(0)
    X = (rng.random((3000, 5)) > 0.5).astype(float)
    Y = (X[:, 1] * X[:, 3])[:, np.newaxis].astype(int)
    found = StreamRidgeClassifier(random_state=0).fit(X, Y).explain(X[Y[:, 0] == 1][:10])
    largest = np.abs(found.interactions[:, 0]).argmax(axis=1)
    assert {found.interaction_names[place] for place in largest.tolist()} == {"x1 * x3"}


def test_names_follow_frames_steps_and_labels():
    pd = pytest.importorskip("pandas")
    X, Y = stream()
    frame = pd.DataFrame(X, columns=[f"feature {place}" for place in range(8)])
    learner = StreamPipeline([("scale", StandardScaler()), ("learn", OnlineLogisticRegression(0.1))])
    learner.partial_fit(frame, Y, classes=["scan", "worm", "flood", "spam"])
    row = X[Y[:, 1] == 1][:1]
    found = learner.explain(pd.DataFrame(row, columns=frame.columns))
    assert found.top(1, label="worm")[0][0] == "feature 1"
    assert found.describe(1, label="worm").startswith("worm, ")
    assert "feature 1 +" in repr(found)
    table = found.to_frame()
    of_worm = table[table["label"] == "worm"].set_index("term")["value"]
    assert of_worm["score"] == pytest.approx(of_worm.drop("score").sum())


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"label": "nobody"}, "label must be one of"),
        ({"label": 4}, r"label must be in 0\.\.3\. Got 4 instead"),
        ({"row": 2}, r"row must be in 0\.\.1\. Got 2 instead"),
        ({"k": 0}, "k must be an integer of at least 1"),
    ],
)
def test_wrong_places_are_refused(option, message):
    X, Y = stream(100)
    found = OnlineLogisticRegression().fit(X, Y).explain(X[:2])
    with pytest.raises(ValueError, match=message):
        found.top(**option)


def test_alarms_of_a_budget_are_explained_by_the_learner_inside():
    X, Y = stream()
    budget = AlarmBudget(OnlineLogisticRegression(0.1), 20, period=100).partial_fit(X, Y)
    inner = OnlineLogisticRegression(0.1).partial_fit(X, Y)
    assert np.array_equal(budget.explain(X[:9]).contributions, inner.explain(X[:9]).contributions)


def test_learners_around_a_pipeline_keep_the_names_of_a_frame():
    X, Y = stream(300)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    inside = StreamPipeline([("scale", StandardScaler()), ("learn", OnlineLogisticRegression(0.1))])
    learner = AlarmBudget(PrequentialCalibrator(inside)).partial_fit(frame, Y)
    assert learner.explain(frame[:1]).feature_names == tuple("abcdefgh")
