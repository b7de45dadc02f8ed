"""Learners as ONNX, run by onnxruntime: they predict what the learners predict."""

import pkgutil
import sys
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, Normalizer, OneHotEncoder, StandardScaler

import estimators
from estimators import (
    AlarmBudget,
    BinaryRelevance,
    DivergedError,
    HoeffdingTreeClassifier,
    InvariantLogisticClassifier,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PrequentialCalibrator,
    PrequentialStack,
    PrevalenceThreshold,
    ReplayClassifier,
    ReservoirMemory,
    RollingForestClassifier,
    StreamPipeline,
    StreamRidgeClassifier,
    hash_categories,
    register_onnx_converters,
    to_onnx,
)
from estimators.contract.base import StreamClassifier
from tests.estimators import streams
from tests.estimators.instances import BATCHES, IN_STREAMS, made
from tests.loops import check_all

skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

# Learners of strategies, and others, that become ONNX.
CONVERTED = (
    *("NN", "NN_TL", "NN_TLH", "NN_TLH_sampling", "NN_TLH_fifo", "NN_TLH_memories", "NN_TLH_mini_memories"),
    *("EWC", "LwF", "GDumb", "PRS", "OCDM", "DERpp", "A-GEM", "BR_LR", "StreamRidge", "RollingForest", "Stack"),
    *("ERM", "IRM", "V-REx", "GroupDRO"),
    *("logistic regression", "alarm budget", "label budget", "prediction sets", "calibrator"),
    *("prevalence threshold", "binary relevance in threads"),
    "pipeline",
)
SCALED = [("scale", StandardScaler()), ("learn", OnlineNeuralClassifier(8, random_state=0))]
RIDGE, NETWORK = StreamRidgeClassifier(random_state=0), OnlineNeuralClassifier(random_state=0)
# Options, and what is inside, on which the graph depends.
VARIANTS = {
    "ridge without hinges": clone(RIDGE).set_params(knots=0),
    "ridge without units": clone(RIDGE).set_params(hidden_units=0),
    "ridge on late labels": clone(RIDGE).set_params(late_in_predict=True),
    "ridge in fewer dimensions": clone(RIDGE).set_params(n_components=3),
    "deep": clone(NETWORK).set_params(hidden_units=(8, 5)),
    "standardised": clone(NETWORK).set_params(hidden_units=8, standardize=True),
    "scaled in float64": clone(NETWORK).set_params(standardize="scale", dtype="float64"),
    "label not begun": BinaryRelevance(OnlineLogisticRegression(0.1), start="first-positive"),
    "no probabilities": BinaryRelevance(Perceptron(shuffle=False)),
    "calibrator of slopes": PrequentialCalibrator(OnlineLogisticRegression(0.1), method="sigmoid"),
    "late thresholds": PrevalenceThreshold(OnlineLogisticRegression(0.1), late_in_predict=True),
    "threshold on another package": PrevalenceThreshold(SGDClassifier(loss="log_loss", shuffle=False)),
    "replay": ReplayClassifier(clone(NETWORK), reservoir=ReservoirMemory(50), random_state=0),
    "steps": StreamPipeline(
        [("none", None), ("rows", Normalizer()), ("most", MaxAbsScaler()), ("learn", clone(RIDGE))]
    ),
    "stack": PrequentialStack([("network", clone(NETWORK)), ("regression", OnlineLogisticRegression())]),
}


def small(n_rows=300, n_features=6):
    """Draw rows, 0/1 labels of which the last is 0 in all rows, and one class a row."""
    X, Y = streams.drawn(n_rows, n_features)
    return X, np.hstack([Y, np.zeros((n_rows, 1), dtype=int)]), X[:, :3].argmax(axis=1)


def run(model, X, **inputs):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs or {"X": X})


def predicts_alike(learner, model, X):
    """Assert that a model predicts rows as a learner does: labels where no probability is near a threshold."""
    label, probabilities = run(model, X)
    Y_pred, proba = learner.predict(X), learner.predict_proba(X)
    assert probabilities.dtype == X.dtype
    assert label.shape == Y_pred.shape
    np.testing.assert_allclose(probabilities, proba, rtol=0, atol=1e-5)
    differs = label != Y_pred
    # rounding decides for at most one row in a thousand
    assert differs.sum() <= differs.size / 1000


# ------------------------------------------------------------------ learners
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_models_predict_real_rows_as_learners_do(kind, shared_data):
    X, Y = (part[:600] for part in streams.yeast(shared_data))
    X = X.astype(kind)

    def check(name):
        learner = made(name).partial_fit(X[:300], Y[:300])
        predicts_alike(learner, to_onnx(learner, X), X)

    check_all(CONVERTED, check)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_option_is_in_the_graph(name):
    X, Y, _ = small()
    learner = clone(VARIANTS[name]).fit(X, Y)
    predicts_alike(learner, to_onnx(learner), X)


@pytest.mark.parametrize("name", ["NN", "StreamRidge", "BR_LR", "Stack", "prevalence threshold", "pipeline"])
def test_one_class_a_row(name):
    X, _, y = small()

    def check(target):
        learner = made(name).fit(X, target)
        predicts_alike(learner, to_onnx(learner), X)

    words = np.array(["a", "b", "c"])[y]
    check_all([y, y + 5.0, y == 1, words, words.astype(object), np.zeros(len(y))], check)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_forests_compare_categories_for_equality(kind):
    X, Y, _ = small(600)
    rng = np.random.default_rng(0)
    X = X.astype(kind)
    X[:, :3] = rng.choice([0, 1, 2, 5, 31, 32, 64, 2**24 - 2], (600, 3))
    Y[:, 0] = np.isin(X[:, 0], [0, 5, 32])
    forest = RollingForestClassifier(10, categorical_features=range(3), random_state=0).fit(X[:400], Y[:400])
    X[500:, :3] += 1  # some were never seen
    predicts_alike(forest, to_onnx(forest, X), X)


def test_small_probabilities_of_other_packages_are_not_rounded_before_they_are_shared_out():
    X, _, y = small()

    def check(member):
        learner = BinaryRelevance(member)
        for _ in range(10):
            learner.partial_fit(X, y)
        predicts_alike(learner, to_onnx(learner), 1000 * X)

    networks = [MLPClassifier(activation=name, random_state=0) for name in ("relu", "tanh", "logistic", "identity")]
    check_all([SGDClassifier(loss="log_loss", random_state=0), *networks, GaussianNB()], check)


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value) encountered:RuntimeWarning")
def test_variances_of_0_after_one_row_are_probabilities_of_0():
    X, Y, _ = small()
    learner = BinaryRelevance(GaussianNB()).partial_fit(X[:1], Y[:1])
    predicts_alike(learner, to_onnx(learner), X)


def test_a_learner_before_its_first_row():
    X, Y, y = small()

    def check(learner):
        for target in (Y, y):
            begun = clone(learner).begin(X, target)
            predicts_alike(begun, to_onnx(begun), X)

    check_all([RIDGE, NETWORK, OnlineLogisticRegression(), StreamPipeline(SCALED)], check)


def test_labels_that_appeared_and_labels_that_are_unknown():
    X, Y, _ = small()
    some = np.where(np.random.default_rng(0).random(Y.shape) < 0.3, np.nan, Y)
    for learner in (clone(RIDGE), clone(NETWORK)):
        learner.set_params(on_new_labels="grow").partial_fit(X, some[:, :2]).partial_fit(X[:20], some[:20])
        predicts_alike(learner, to_onnx(learner), X)


def test_steps_that_are_skipped_for_sparse_rows_are_taken():
    X, Y, _ = small()
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0
    learner = clone(NETWORK).fit(sparse.csr_array(X), Y)
    predicts_alike(learner, to_onnx(learner), X)


def test_features_that_are_not_scaled():
    X, Y, y = small()

    def check(learner):
        for rows in (1e6 * X, 1e6 + X, 1e-6 * X):
            for target in (Y, y):
                learnt = clone(learner).fit(rows, target)
                predicts_alike(learnt, to_onnx(learnt), rows)

    networks = VARIANTS["standardised"], OnlineNeuralClassifier(dtype="float64", random_state=0)
    check_all(
        [RIDGE, InvariantLogisticClassifier(), OnlineLogisticRegression(), *networks, StreamPipeline(SCALED)], check
    )


# ------------------------------------------------------------- what is covered
def test_every_linear_model_ridge_and_network_becomes_onnx():
    families = [import_module(f"estimators.{name}") for name in ("linear", "ridge", "networks", "invariance")]
    files = [f"{one.__name__}.{file.name}" for one in families for file in pkgutil.iter_modules(one.__path__)]
    public = {value for name in estimators.__all__ if isinstance(value := getattr(estimators, name), type)}
    defined = {value for file in files for value in vars(import_module(file)).values() if isinstance(value, type)}
    learners = {one for one in public & defined if issubclass(one, StreamClassifier)} - {StreamClassifier}
    assert learners <= {type(made(name)) for name in CONVERTED}


def test_other_learners_are_refused_with_the_names_of_those_that_can():
    X, Y, y = small(60)

    def check(name):
        learner = made(name).fit(X, y if name in BATCHES else Y)
        with pytest.raises(TypeError, match=r"one of AGEMClassifier, .*StreamRidgeClassifier to become ONNX\. Got \w+"):
            to_onnx(learner)

    names = {*IN_STREAMS, *BATCHES} - {*CONVERTED, "stack", "replay", "GDumb on another", "BR_SGD", "BR_PA"}
    check_all(sorted(names), check)
    spending = AlarmBudget(OnlineLogisticRegression(), budget=5).fit(X, Y)
    with pytest.raises(TypeError, match=r"AlarmBudget must have an infinite budget .*convert the classifier inside"):
        to_onnx(spending)
    to_onnx(spending.estimator_)
    for inside in (PrequentialStack([("tree", HoeffdingTreeClassifier())]), BinaryRelevance(HoeffdingTreeClassifier())):
        with pytest.raises(TypeError, match="Got HoeffdingTreeClassifier instead"):
            to_onnx(inside.fit(X, Y))


def test_a_class_that_derives_from_a_learner_is_converted_like_it():
    class Own(OnlineNeuralClassifier):
        def _learn(self, X, Y, mask, weight):
            super()._learn(X, 1 - Y, mask, weight)

    X, Y, _ = small()
    learner = Own(random_state=0).fit(X, Y)
    predicts_alike(learner, to_onnx(learner), X)


def test_a_class_that_predicts_in_its_own_way_is_refused():
    X, Y, y = small(60)

    def check(case):
        parent, method = case

        class Own(type(parent)):
            pass

        setattr(Own, method, getattr(type(parent), method))
        learner = Own(**parent.get_params(deep=False))
        for whole in (learner.fit(X, Y), PrevalenceThreshold(learner).fit(X, Y), BaggingClassifier(learner).fit(X, y)):
            with pytest.raises(TypeError, match=f"predict as it does to become ONNX. Got Own .*defines {method}"):
                to_onnx(whole)

    parents = OnlineLogisticRegression(), clone(NETWORK), clone(RIDGE), StreamPipeline([("learn", clone(NETWORK))])
    hooks = "_infer", "_predict_proba", "predict"
    check_all([*product(parents, hooks), *product(parents[:3], ["_log_odds"])], check)


# ----------------------------------------------------------- within skl2onnx
def test_skl2onnx_converts_what_scikit_learn_puts_around_learners():
    register_onnx_converters()
    X, Y, y = small()
    X = X.astype(np.float32)
    columns = ColumnTransformer([("scale", StandardScaler(), [0, 1]), ("rest", "passthrough", [2, 3, 4, 5])])

    def check(case):
        estimator, target = case
        estimator.fit(X, target)
        predicts_alike(estimator, skl2onnx.to_onnx(estimator, X[:1], options={"zipmap": False}), X)

    search = GridSearchCV(clone(NETWORK), {"learning_rate": [0.01, 0.1]}, cv=2)
    piped = make_pipeline(StandardScaler(), clone(RIDGE)), make_pipeline(columns, clone(NETWORK))
    cases = [(clone(one), target) for one in (search, *piped) for target in (Y, y)]
    check_all([*cases, (OneVsRestClassifier(OnlineLogisticRegression()), y)], check)


def test_scores_are_what_learners_decide_by():
    register_onnx_converters()
    X, Y, y = small()

    def check(learner):
        inside = [learner, make_pipeline(StandardScaler(), learner), FrozenEstimator(clone(learner).fit(X, y > 0))]
        for target, around in ((y, inside[:2]), (y > 0, inside)):
            for estimator in map(CalibratedClassifierCV, around):
                predicts_alike(estimator.fit(X, target), to_onnx(estimator), X)
        for within in inside[:2]:
            stack = StackingClassifier([("one", within)], cv=2, stack_method="decision_function").fit(X, y)
            predicts_alike(stack, to_onnx(stack), X)
        learner.fit(X, Y)
        _, scores = run(skl2onnx.to_onnx(learner, X[:1], options={"raw_scores": True}), X)
        np.testing.assert_allclose(scores, learner.decision_function(X), rtol=1e-4, atol=1e-4)

    learners = clone(RIDGE), clone(NETWORK), OnlineLogisticRegression(0.5), InvariantLogisticClassifier()
    check_all([*learners, StreamPipeline(SCALED)], check)
    calibrated = CalibratedClassifierCV(PrevalenceThreshold(OnlineLogisticRegression(0.5))).fit(X, y)
    predicts_alike(calibrated, to_onnx(calibrated), X)


def test_what_skl2onnx_computes_in_another_way_is_refused():
    X, _, y = small()
    for method in ("isotonic", "temperature"):
        with pytest.raises(ValueError, match=f"method of CalibratedClassifierCV must be 'sigmoid'.*Got '{method}'"):
            to_onnx(CalibratedClassifierCV(OnlineLogisticRegression(0.5), method=method).fit(X, y))
    search = GridSearchCV(OnlineLogisticRegression(), {"learning_rate": [0.1, 0.5]}, cv=2)
    inside = search, make_pipeline(StandardScaler(), search), FrozenEstimator(clone(search).fit(X, y))
    stacked = StackingClassifier([("one", search)], cv=2, stack_method="decision_function")
    for around in (*map(CalibratedClassifierCV, inside), stacked):
        with pytest.raises(ValueError, match="A search must not stand where scores are read"):
            to_onnx(around.fit(X, y))
    stack = StackingClassifier([("one", OnlineLogisticRegression())], stack_method="decision_function", cv=2)
    with pytest.raises(ValueError, match="stack_method of StackingClassifier must be 'predict_proba'"):
        to_onnx(stack.fit(X, y == 1))


def test_a_frozen_learner_becomes_onnx():
    X, Y, _ = small()
    frozen = FrozenEstimator(clone(NETWORK).fit(X, Y))
    predicts_alike(frozen, to_onnx(frozen), X)


def test_zipmap_makes_dictionaries_of_classes_and_leaves_labels_alone():
    register_onnx_converters()
    X, Y, y = small()
    X = X.astype(np.float32)
    learner = clone(NETWORK).fit(X, y)
    _, dictionaries = run(skl2onnx.to_onnx(learner, X[:1]), X)
    proba = [[row[label] for label in range(3)] for row in dictionaries]
    np.testing.assert_allclose(proba, learner.predict_proba(X), atol=1e-5)
    learner.fit(X, Y)
    predicts_alike(learner, skl2onnx.to_onnx(learner, X[:1]), X)


def test_a_pipeline_with_a_frozen_step():
    X, Y, _ = small()
    frozen = FrozenEstimator(StandardScaler().fit(X))
    learner = StreamPipeline([("scale", frozen), ("learn", clone(NETWORK))]).fit(X, Y)
    predicts_alike(learner, to_onnx(learner), X)


def test_pipelines_take_words():
    pandas = pytest.importorskip("pandas")
    X, Y, _ = small()
    rng = np.random.default_rng(0)
    words = rng.choice(["red", "green", "blue"], (len(X), 2)).astype(object)
    Y[:, 0] = words[:, 0] == "red"
    frame = pandas.DataFrame({"colour": words[:, 0], "size": X[:, 0], "number": rng.integers(0, 5, len(X))})
    columns = [("words", OneHotEncoder(), ["colour"]), ("numbers", StandardScaler(), ["size", "number"])]
    for encoder, rows in (
        (OneHotEncoder(), words),
        (ColumnTransformer(columns), frame),
        (ColumnTransformer(columns[1:]), frame[["size", "number"]]),
    ):
        steps = [("encode", FrozenEstimator(encoder.fit(rows))), ("scale", StandardScaler(with_mean=False))]
        for target in (Y, Y[:, 0], np.where(Y[:, 0], "red", "other"), Y[:, :2].sum(axis=1)):
            learner = StreamPipeline([*steps, ("learn", OnlineLogisticRegression(0.5))]).fit(rows, target)
            named = {} if rows is words else {name: rows[[name]].to_numpy() for name in rows}
            label, probabilities = run(to_onnx(learner, rows), words if rows is words else None, **named)
            np.testing.assert_array_equal(label, learner.predict(rows))
            np.testing.assert_allclose(probabilities, learner.predict_proba(rows), atol=1e-5)
    hashed = StreamPipeline([("hash", FunctionTransformer(hash_categories)), ("learn", OnlineLogisticRegression())])
    for rows in (frame, words, None):
        with pytest.raises(TypeError, match="Got a function, hash_categories, instead; OneHotEncoder takes words"):
            to_onnx(hashed.fit(frame if rows is None else rows, Y), rows)
    for encoder, rows in ((OneHotEncoder(), words), (ColumnTransformer(columns), frame)):
        steps = [("encode", FrozenEstimator(encoder.fit(rows))), ("learn", OnlineLogisticRegression())]
        with pytest.raises((RuntimeError, ValueError)) as caught:
            to_onnx(StreamPipeline(steps).fit(rows, Y))
        assert "X must be such rows. Got None instead" in caught.value.__notes__[0]


def test_columns_are_chosen_after_other_steps():
    pandas = pytest.importorskip("pandas")
    X, Y, _ = small()
    X = X[:, :3]
    words = np.where(X > 0.5, "more", "less").astype(object)
    columns = ColumnTransformer([("scale", StandardScaler(), [0, 2]), ("rest", "passthrough", [1])])
    named = ColumnTransformer([("scale", StandardScaler(), ["a", "c"]), ("rest", "passthrough", ["b"])])
    frame = pandas.DataFrame(X, columns=list("abc"))
    hot = OneHotEncoder(sparse_output=False).fit(words)

    def check(case):
        rows, *steps = case
        numbered = [(str(place), step) for place, step in enumerate(steps)]
        learner = StreamPipeline([*numbered, ("learn", OnlineLogisticRegression(0.5))]).fit(rows, Y)
        inputs = {name: rows[[name]].to_numpy() for name in rows} if rows is frame else {}
        _, probabilities = run(to_onnx(learner, rows), rows, **inputs)
        np.testing.assert_allclose(probabilities, learner.predict_proba(rows), atol=1e-5)

    fitted = FrozenEstimator(clone(columns).fit(X))
    after = FrozenEstimator(clone(columns).set_params(rest="drop").fit(np.eye(6)))
    piped = FrozenEstimator(make_pipeline(named, StandardScaler()).fit(frame))
    check_all([(X, StandardScaler(), fitted), (words, FrozenEstimator(hot), after), (frame, piped)], check)


def test_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, Y, _ = small()
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    learner = clone(NETWORK).fit(frame, Y)
    _, probabilities = run(to_onnx(learner, frame), None, **{name: frame[[name]].to_numpy() for name in frame})
    np.testing.assert_allclose(probabilities, learner.predict_proba(frame), atol=1e-5)
    _, probabilities = run(to_onnx(learner, polars.from_pandas(frame)), X)
    np.testing.assert_allclose(probabilities, learner.predict_proba(frame), atol=1e-5)


# ------------------------------------------------------------------- errors
def test_what_cannot_be_converted():
    X, Y, _ = small(60)
    register_onnx_converters()
    for convert in (to_onnx, lambda learner: skl2onnx.to_onnx(learner, X[:1])):
        with pytest.raises(NotFittedError, match="OnlineNeuralClassifier instance is not fitted"):
            convert(clone(NETWORK))
    with pytest.raises(ValueError, match="X must be dense: models of ONNX take no sparse rows"):
        to_onnx(clone(NETWORK).fit(X, Y), sparse.csr_array(X))
    with pytest.raises(TypeError, match="X must hold numbers where OnlineNeuralClassifier reads it"):
        to_onnx(clone(NETWORK).fit(X, Y), X.astype(str))
    for rows, got in ((X[:, :2], r"\(60, 2\)"), (X[0], r"\(6,\)")):
        for learner in (clone(NETWORK), make_pipeline(StandardScaler(), clone(NETWORK))):
            with pytest.raises(ValueError, match=rf"X must be of shape \(n_samples, 6\)\. Got {got} instead"):
                to_onnx(learner.fit(X, Y), rows)
    great = np.where(Y[:, 0], 2**64 - 1, 1).astype(np.uint64)
    with pytest.raises(ValueError, match=r"classes must be below 2\^63 to become ONNX\. Got 18446744073709551615"):
        to_onnx(clone(NETWORK).fit(X, great))
    diverged = OnlineNeuralClassifier(learning_rate=1e17, optimizer="sgd").begin(X, Y)
    with pytest.raises(DivergedError):
        diverged.partial_fit(1e17 * X, Y)
    with pytest.raises(DivergedError):
        to_onnx(diverged)


def test_an_error_names_the_extra(monkeypatch):
    # as if nothing had been converted in this process
    monkeypatch.delattr("estimators.interop._onnx_converter", raising=False)
    monkeypatch.delitem(sys.modules, "estimators.interop._onnx_converter", raising=False)
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"needs the module skl2onnx: pip install 'mlstream-toolkit\[onnx\]'"):
        to_onnx(NETWORK)
