import pickle
import subprocess
import sys
from copy import deepcopy
from io import StringIO
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import base as river_base
from river import checks as all_river_checks
from river import (
    datasets,
    dummy,
    ensemble,
    forest,
    linear_model,
    multioutput,
    naive_bayes,
    preprocessing,
    stats,
    stream,
    tree,
)
from river import drift as river_drift
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import FunctionTransformer

from estimators import (
    AdaptiveRandomForestClassifier,
    BinaryRelevance,
    HoeffdingTreeClassifier,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    StreamPipeline,
    drift,
    hash_categories,
)
from estimators.baselines import (
    LastLabelsClassifier,
    MeanLabelsClassifier,
    NearestRowClassifier,
    PriorLabelsClassifier,
)
from estimators.interop import _river_rows
from estimators.interop.river import RiverClassifier, as_river, as_river_classifier, as_river_detector
from tests.estimators import published
from tests.estimators.instances import IN_STREAMS, made
from tests.loops import check_all

HoeffdingTree = tree.HoeffdingTreeClassifier


@pytest.fixture(scope="module")
def yeast():
    rows = list(datasets.Yeast().take(300))
    X = np.array([list(x.values()) for x, _ in rows])
    return X, np.array([list(y.values())[:4] for _, y in rows]).astype(int)


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(0)
    X = rng.random((300, 4)) * (rng.random((300, 4)) < 0.8)
    return X, (X[:, :3] + 0.1 * rng.normal(size=(300, 3)) > 0.5).astype(int)


MODELS = [
    RiverClassifier(HoeffdingTree()),
    RiverClassifier(HoeffdingTree(), start="first-positive"),
    RiverClassifier(preprocessing.StandardScaler() | linear_model.LogisticRegression()),
    RiverClassifier(tree.ISOUPTreeRegressor()),
    RiverClassifier(multioutput.MultiClassEncoder(HoeffdingTree())),
    RiverClassifier(forest.ARFClassifier(n_models=2), random_state=3),
]
NAMES = ["trees", "late trees", "pipelines", "isoup", "combination", "forests"]


# ------------------------------------------------------------- River by hand
def by_hand(X, Y, models):
    """One River model a label, asked and taught one dictionary after the other."""
    decided, proba = np.zeros(Y.shape), np.zeros(Y.shape)
    for i in range(len(X)):
        x = {f"feature {j}": float(value) for j, value in enumerate(X[i])}
        for j, model in enumerate(models):
            decided[i, j] = model.predict_one(x) or 0
            proba[i, j] = model.predict_proba_one(x).get(1, 0)
            model.learn_one(x, int(Y[i, j]))
    return decided, proba


@pytest.mark.slow
def test_one_tree_a_label_is_river_by_hand_on_yeast(yeast):
    X, Y = yeast
    settings = {"grace_period": 100, "delta": 1e-6, "tau": 0.4}
    models = [HoeffdingTree(**settings) for _ in range(4)]
    decided, proba = by_hand(X, Y, models)
    learner = RiverClassifier(HoeffdingTree(**settings))
    given = [learner.predict_then_fit(X[a:b], Y[a:b]) for a, b in ((0, 100), (100, 101), (101, 300))]
    assert np.array_equal(np.vstack([each[0] for each in given]), decided)
    np.testing.assert_allclose(np.vstack([each[1] for each in given]), proba, rtol=0, atol=1e-12)
    assert [m.n_nodes for m in learner.bridge_.models] == [m.n_nodes for m in models]
    assert max(m.n_nodes for m in models) > 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        naive_bayes.GaussianNB,
        lambda: forest.ARFClassifier(n_models=2, seed=5),
    ],
)
def test_other_classifiers_are_river_by_hand(make, small):
    X, Y = small
    decided, proba = by_hand(X, Y, [make() for _ in range(3)])
    given = RiverClassifier(make()).predict_then_fit(X, Y)
    assert np.array_equal(given[0], decided)
    np.testing.assert_allclose(given[1], proba, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: multioutput.MultiClassEncoder(HoeffdingTree(grace_period=50)),
        lambda: multioutput.ClassifierChain(HoeffdingTree(grace_period=50)),
        lambda: multioutput.ProbabilisticClassifierChain(linear_model.LogisticRegression()),
        lambda: preprocessing.StandardScaler() | multioutput.PerOutputClassifier(linear_model.LogisticRegression()),
    ],
)
def test_multi_label_models_are_river_by_hand(make, small):
    X, Y = small
    model = make()
    decided, proba = np.zeros(Y.shape), np.zeros(Y.shape)
    for i in range(len(X)):
        x = {f"a{j}": float(value) for j, value in enumerate(X[i])}
        for name, value in model.predict_one(x).items():
            decided[i, int(name[1:])] = value or 0
        for name, each in model.predict_proba_one(x).items():
            proba[i, int(name[1:])] = each.get(True, 0)
        model.learn_one(x, {f"b{j}": bool(value) for j, value in enumerate(Y[i])})
    given = RiverClassifier(make()).predict_then_fit(X, Y)
    assert np.array_equal(given[0], decided)
    np.testing.assert_allclose(given[1], proba, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tree.ISOUPTreeRegressor(grace_period=50),
        lambda: multioutput.RegressorChain(linear_model.LinearRegression(intercept_lr=0.3)),
    ],
    ids=["isoup", "chain"],
)
def test_outputs_of_regressors_are_decided_at_one_half(make, small):
    X, Y = small
    model, outputs = make(), np.zeros(Y.shape)
    for i in range(len(X)):
        x = {f"a{j}": float(value) for j, value in enumerate(X[i])}
        outputs[i] = [model.predict_one(x).get(f"b{j}", 0) for j in range(3)]
        model.learn_one(x, {f"b{j}": value for j, value in enumerate(Y[i].tolist())})
    decided, proba = RiverClassifier(make()).predict_then_fit(X, Y)
    assert np.array_equal(decided, outputs >= 0.5)
    np.testing.assert_allclose(proba, outputs.clip(0, 1), rtol=0, atol=1e-12)
    assert isinstance(model, tree.ISOUPTreeRegressor) or (outputs < 0).any()


def test_decisions_are_the_models_own_where_it_has_no_probability(small):
    class Contrary(dummy.NoChangeClassifier):
        def predict_one(self, x, **kwargs):
            return not self.last_class

        def predict_proba_one(self, x, **kwargs):
            raise NotImplementedError

    X, Y = small
    decided, proba = RiverClassifier(Contrary()).predict_then_fit(X, Y)
    assert np.array_equal(decided[1:], 1 - Y[:-1])
    np.testing.assert_allclose(proba, decided, atol=1e-12)


def test_one_that_is_not_a_number_is_zero(small):
    class Lost(linear_model.LinearRegression):
        def predict_one(self, x):
            return float("nan")

    decided, proba = RiverClassifier(Lost()).predict_then_fit(*small)
    assert not decided.any()
    assert proba.max() < 1e-12


def test_a_label_starts_at_its_first_positive_row(small):
    X, Y = small
    Y = Y.copy()
    Y[:40, 1] = 0
    first = np.argmax(Y, axis=0)
    late = RiverClassifier(HoeffdingTree(grace_period=20), start="first-positive")
    decided, proba = late.predict_then_fit(X, Y)
    for j in range(3):
        alone = RiverClassifier(HoeffdingTree(grace_period=20))
        expected, expected_proba = alone.predict_then_fit(X[first[j] :], Y[first[j] :, [j]])
        assert np.array_equal(decided[first[j] :, j], expected[:, 0])
        assert np.array_equal(proba[first[j] :, j], expected_proba[:, 0])
        assert not decided[: first[j], j].any()


# ------------------------------------------------------------------- targets
@pytest.mark.parametrize("model", [HoeffdingTree(grace_period=50), linear_model.LogisticRegression()])
def test_classes_are_learnt_by_one_model_or_one_each(model, small):
    X, _ = small
    y = np.array(["high", "low", "middle"])[np.digitize(X[:, 0], [0.4, 0.6])]
    learner = RiverClassifier(model).fit(X, y)
    assert learner.classes_.tolist() == ["high", "low", "middle"]
    assert learner.score(X, y) > 0.4
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1)
    assert hasattr(learner.bridge_, "model") == isinstance(model, HoeffdingTree)


def test_one_model_for_classes_is_river_by_hand(small):
    X, _ = small
    y = np.digitize(X[:, 0], [0.3, 0.6])
    model, expected = HoeffdingTree(grace_period=50), np.zeros((len(y), 3))
    for i in range(len(X)):
        x = {f"a{j}": float(value) for j, value in enumerate(X[i])}
        for code, value in model.predict_proba_one(x).items():
            expected[i, code] = value
        model.learn_one(x, int(y[i]))
    _, proba = RiverClassifier(HoeffdingTree(grace_period=50)).predict_then_fit(X, y)
    np.testing.assert_allclose(proba[5:], expected[5:], rtol=0, atol=1e-12)


# ---------------------------------------------------------- rows as dictionaries
class Recorder(dummy.NoChangeClassifier):
    """Remember the rows and the weights."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y)
        self.rows.append((x, w))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_rows_carry_the_names_of_columns_and_all_zeros(convert, small):
    X, Y = small
    table = convert(X[:5])
    names = ["x0", "x1", "x2", "x3"]
    if isinstance(table, pd.DataFrame):
        names = table.columns = ["a", "b", "c", "d"]
    model = RiverClassifier(Recorder()).fit(table, Y[:5]).bridge_.models[0]
    assert [x for x, _ in model.rows] == [dict(zip(names, row, strict=True)) for row in X[:5].tolist()]
    assert {type(value) for x, _ in model.rows for value in x.values()} == {float}


def test_announced_names_are_the_keys_of_labels(small):
    X, Y = small
    model = tree.ISOUPTreeRegressor()
    learner = RiverClassifier(model).partial_fit(X, Y, classes=["red", "green", "blue"])
    assert learner.bridge_.model.targets == {"red", "green", "blue"}
    assert RiverClassifier(model).fit(X, Y).bridge_.model.targets == {"y0", "y1", "y2"}
    with pytest.raises(ValueError, match=r"other names than features. Got \['x1'\] for both"):
        RiverClassifier(model).partial_fit(X, Y, classes=["x1", "green", "blue"])


def test_weights_reach_models_that_take_them(small):
    X, Y = small
    weight = np.array([1.0, 0.0, 2.5, 1.0])
    learner = RiverClassifier(Recorder()).partial_fit(X[:4], Y[:4], sample_weight=weight)
    assert [w for _, w in learner.bridge_.models[0].rows] == [1, 2.5, 1]
    with pytest.raises(
        ValueError, match=r"must hold whole numbers, since NoChangeClassifier takes no weights, .* Got 2.5"
    ):
        RiverClassifier(dummy.NoChangeClassifier()).partial_fit(X[:4], Y[:4], sample_weight=weight)


def test_a_model_without_weights_learns_a_row_as_often_as_it_weighs(small):
    X, Y = small
    weight, model = np.arange(len(X)) % 3, RiverClassifier(naive_bayes.GaussianNB())
    expected = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, Y, sample_weight=weight).predict_proba(X), expected)


# --------------------------------------------------------- seeds, copies, errors
def test_random_state_gives_each_copy_its_own_seed(small):
    learner = RiverClassifier(forest.ARFClassifier(n_models=2), random_state=1).fit(*small)
    seeds = [model.seed for model in learner.bridge_.models]
    assert len(set(seeds)) == 3
    assert [m.seed for m in clone(learner).fit(*small).bridge_.models] == seeds
    assert [m.seed for m in learner.set_params(random_state=2).fit(*small).bridge_.models] != seeds


@pytest.mark.parametrize(
    ("model", "seed_of"),
    [
        (
            preprocessing.StandardScaler() | forest.ARFClassifier(n_models=2),
            lambda m: m["ARFClassifier"].seed,
        ),
        (multioutput.ClassifierChain(forest.ARFClassifier(n_models=2)), lambda m: m.model.seed),
    ],
    ids=["in a pipeline", "in a chain"],
)
def test_parts_of_models_are_seeded_too(model, seed_of, small):
    bridge = RiverClassifier(model, random_state=1).fit(*small).bridge_
    copy = bridge.models[0] if hasattr(bridge, "models") else bridge.model
    assert isinstance(seed_of(copy), int)
    assert seed_of(model) is None


def test_seeds_that_are_given_stay(small):
    learner = RiverClassifier(forest.ARFClassifier(n_models=2, seed=7), random_state=1).fit(*small)
    assert [m.seed for m in learner.bridge_.models] == [7, 7, 7]


def test_the_model_given_is_not_trained(small):
    model = HoeffdingTree()
    learner = RiverClassifier(model).fit(*small)
    assert learner.model is model
    assert model.n_nodes is None or model.n_nodes == 0
    assert not model.classes


def test_a_saved_learner_continues_exactly(small):
    def check(estimator):
        X, Y = small
        learner = clone(estimator)
        learner.predict_then_fit(X[:200], Y[:200])
        saved = pickle.loads(pickle.dumps(learner))  # noqa: S301 - our own bytes
        one, two = (each.predict_then_fit(X[200:], Y[200:]) for each in (learner, saved))
        assert np.array_equal(one[1], two[1])

    check_all(MODELS, check)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (RiverClassifier(HoeffdingTree), "model must be a River classifier, regressor"),
        (RiverClassifier(preprocessing.StandardScaler()), "model must be"),
        (
            RiverClassifier(HoeffdingTree(), start="late"),
            "start must be one of 'first-row', 'first-positive'. Got 'late'",
        ),
        (RiverClassifier(tree.ISOUPTreeRegressor(), start="first-positive"), "must be 'first-row' for a model of all"),
    ],
)
def test_wrong_parameters_are_refused(learner, message, small):
    with pytest.raises(ValueError, match=message):
        learner.fit(*small)


@pytest.mark.slow
def test_river_is_imported_only_where_it_is_used():
    program = "import sys, estimators.interop.river; sys.exit('river' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# ----------------------------------------------------------- published tables
@pytest.mark.parametrize(
    ("name", "model", "printed"),
    [
        ("monolab", tree.ISOUPTreeRegressor(100, delta=1e-6, tau=0.05), [0.768, 0.650, -0.387, 0.000, 0.000, 0.167]),
        pytest.param(
            "bilab",
            tree.ISOUPTreeRegressor(200, delta=1e-7, tau=0.1),
            [0.787, 0.768, -0.256, 0.144, -0.210, 0.289],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "rand",
            tree.ISOUPTreeRegressor(200, delta=1e-6, tau=0.1),
            [0.846, 0.875, -0.079, 0.063, 0.000, 0.292],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_published_scores_of_isoup_come_out(name, model, printed, shared_data):
    stream = published.load(shared_data, name)
    scores = published.scores(published.test_then_train(RiverClassifier(model), stream), stream, half=True)
    np.testing.assert_allclose(scores, printed, rtol=0, atol=0.0005 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "printed", "tolerance"),
    [
        # River's trees changed after 0.21.2, which the tables were made with
        pytest.param("monolab", (200, 1e-7, 0.1), [0.722, 0.642, -0.259, 0, 0, 0.167], 0.01, marks=pytest.mark.slow),
        pytest.param(
            "bilab", (200, 1e-7, 0.05), [0.892, 0.867, -0.144, 0.071, -0.133, 0.329], 0.001, marks=pytest.mark.slow
        ),
        ("rand", (100, 1e-7, 0.05), [0.889, 0.918, -0.045, 0.044, -0.009, 0.456], 0.001),
    ],
)
def test_published_scores_of_one_tree_a_label_come_out(name, settings, printed, tolerance, shared_data):
    grace_period, delta, tau = settings
    model = HoeffdingTree(grace_period=grace_period, delta=delta, tau=tau)
    stream = published.load(shared_data, name)
    answers = published.test_then_train(RiverClassifier(model, start="first-positive"), stream)
    np.testing.assert_allclose(published.scores(answers, stream), printed, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("name", "printed"), [("monolab", 0.326), ("bilab", 0.327), ("rand", 0.439)])
def test_published_score_of_the_mean_comes_out(name, printed, shared_data):
    stream = published.load(shared_data, name)
    running = RiverClassifier(dummy.StatisticRegressor(stats.Mean()), start="first-positive")
    answers = published.test_then_train(running, stream)
    assert published.scores(answers, stream, half=True)[0] == pytest.approx(printed, abs=0.0005)
    ours = published.test_then_train(MeanLabelsClassifier(start="first-positive"), stream)
    np.testing.assert_allclose(ours.proba, answers.proba, rtol=0, atol=1e-12)


# ------------------------------------------------------------------- as_river
def dictionaries(X, Y):
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        yield dict(zip("abcd", x, strict=True)), {f"L{j}": bool(value) for j, value in enumerate(y)}


def test_our_learners_answer_river_as_they_answer_us(small):
    X, Y = small
    decided, proba = NearestRowClassifier().predict_then_fit(X, Y)
    model = as_river(NearestRowClassifier())
    for i, (x, y) in enumerate(dictionaries(X, Y)):
        if i == 0:
            assert model.predict_one(x) == model.predict_proba_one(x) == {}
        else:
            assert model.predict_one(x) == {f"L{j}": bool(value) for j, value in enumerate(decided[i])}
            answer = model.predict_proba_one(dict(reversed(x.items())))
            assert [answer[f"L{j}"][True] for j in range(3)] == proba[i].tolist()
            assert [answer[f"L{j}"][False] for j in range(3)] == (1 - proba[i]).tolist()
        model.learn_one(x, dict(reversed(y.items())) if i else y)


def test_there_and_back_again_is_river(small):
    X, Y = small
    model = as_river(RiverClassifier(HoeffdingTree(grace_period=50)))
    direct = multioutput.PerOutputClassifier(HoeffdingTree(grace_period=50))
    for i, (x, y) in enumerate(dictionaries(X, Y)):
        if i:
            assert model.predict_one(x) == direct.predict_one(x)
        model.learn_one(x, y)
        direct.learn_one(x, y)


@pytest.mark.parametrize("estimator", [NearestRowClassifier(20), RiverClassifier(HoeffdingTree(grace_period=30))])
def test_a_new_label_is_learnt_as_if_it_had_been_unknown_all_along(estimator, small):
    X, Y = small
    late, declared = as_river(estimator, max_labels=5), as_river(estimator, labels=["L0", "L1", "L2"], max_labels=5)
    for i, (x, y) in enumerate(dictionaries(X, Y)):
        late.learn_one(x, {"L0": y["L0"], "L1": y["L1"]} if i < 100 else y)
        declared.learn_one(x, y if i >= 100 else y | {"L2": None})
        assert len(late.predict_one(x)) == (2 if i < 100 else 3)
        if i >= 100:
            assert late.predict_proba_one(x) == declared.predict_proba_one(x)


@pytest.mark.parametrize("unknown", [{}, {"L1": None}], ids=["lacking", "None"])
def test_a_label_that_river_lacks_is_not_learnt(unknown, small):
    X, Y = small
    trees = RiverClassifier(HoeffdingTree(grace_period=30))
    model, direct = as_river(trees, labels=["L0", "L1"]), HoeffdingTree(grace_period=30)
    for i, (x, y) in enumerate(dictionaries(X, Y)):
        known = {"L0": y["L0"]} | ({"L1": y["L1"]} if i % 3 else unknown)
        if i > 3:
            expected = direct.predict_proba_one(x).get(True, 0.0)
            assert model.predict_proba_one(x)["L1"][True] == pytest.approx(expected, abs=1e-12)
        model.learn_one(x, known)
        if i % 3:
            direct.learn_one(x, y["L1"])


def with_unknown(Y):
    return np.where(np.random.default_rng(3).random(Y.shape) < 0.3, np.nan, Y)


@pytest.mark.parametrize(
    ("model", "start"),
    [
        (HoeffdingTree(grace_period=30), "first-row"),
        (HoeffdingTree(grace_period=30), "first-positive"),
        (linear_model.LinearRegression(), "first-row"),
    ],
)
def test_the_copy_for_a_label_skips_the_rows_where_it_is_unknown(model, start, small):
    X, Y = small
    Y = with_unknown(Y)
    ours = RiverClassifier(model, start=start).begin(X, Y)
    ours.predict_then_fit(X[:100], Y[:100])
    ours.partial_fit(X[100:], Y[100:])
    for j in range(3):
        known = ~np.isnan(Y[:, j])
        alone = RiverClassifier(model, start=start).fit(X[known], Y[known, j : j + 1])
        assert np.array_equal(ours.predict_proba(X)[:, j], alone.predict_proba(X)[:, 0])


@pytest.mark.parametrize(
    "model",
    [
        multioutput.PerOutputClassifier(HoeffdingTree(grace_period=30)),
        multioutput.ClassifierChain(linear_model.LogisticRegression(), order=["y0", "y1", "y2"]),
    ],
    ids=["per output", "chain"],
)
def test_rivers_models_of_all_labels_get_the_known_ones(model, small):
    X, Y = small
    Y, direct = with_unknown(Y), model.clone()
    ours = RiverClassifier(model).partial_fit(X, Y)
    for row, labels in zip(X.tolist(), Y.tolist(), strict=True):
        known = {f"y{j}": bool(value) for j, value in enumerate(labels) if not np.isnan(value)}
        if known:
            direct.learn_one({f"x{f}": value for f, value in enumerate(row)}, known)
    for row, proba in zip(X.tolist(), ours.predict_proba(X).tolist(), strict=True):
        expected = direct.predict_proba_one({f"x{f}": v for f, v in enumerate(row)})
        assert proba == pytest.approx([expected[f"y{j}"].get(True, 0.0) for j in range(3)], abs=1e-12)


@pytest.mark.parametrize("model", [tree.ISOUPTreeRegressor(), multioutput.MultiClassEncoder(HoeffdingTree())])
def test_models_that_need_all_labels_refuse_a_row_known_in_part(model, small):
    X, Y = small
    ours = RiverClassifier(model).partial_fit(X, Y)
    before = ours.predict_proba(X)
    for method in (ours.partial_fit, ours.predict_then_fit):
        with pytest.raises(ValueError, match=r"Y must be known for every label of a row that .* learns"):
            method(X, with_unknown(Y))
    assert np.array_equal(ours.partial_fit(X[:2], np.full((2, 3), np.nan)).predict_proba(X), before)


def test_a_new_label_without_room_is_refused():
    model = as_river(LastLabelsClassifier(), labels=["red"])
    model.learn_one({"a": 1}, {"red": True})
    with pytest.raises(ValueError, match=r"new label 'blue' instead, where there is room for 1; declare `labels`"):
        model.learn_one({"a": 1}, {"red": False, "blue": True})
    assert model.predict_one({"a": 1}) == {"red": True}


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ({"a": 1, "c": 2}, {"red": True}, ValueError, "x must hold the keys declared. Got 'c'"),
        ({"a": "soft"}, {"red": True}, TypeError, "x must hold numbers. Got 'soft' for 'a' instead; encode"),
        ({"a": float("nan")}, {"red": True}, ValueError, "X must be finite"),
        ({"a": 1}, {"red": 3}, ValueError, "Y must be a table of 0 and 1"),
    ],
)
def test_wrong_rows_are_refused_and_change_nothing(x, y, error, message):
    model = as_river(LastLabelsClassifier(), features=["a", "b"])
    model.learn_one({"a": 1, "b": 2}, {"red": True, "blue": False})
    with pytest.raises(error, match=message):
        model.learn_one(x, y)
    assert model.predict_one({"a": 1}) == {"red": True, "blue": False}


def rows_with_more_and_more_keys():
    rng = np.random.default_rng(0)
    for width in (3, 5, 12, 30):
        for x in rng.random((25, 4)):
            y = {f"L{j}": bool(x[j % 4] > 0.5) for j in range(width) if j < 2 or rng.random() < 0.7}
            yield {f"x{j}": value for j, value in enumerate(x)}, y


@pytest.mark.parametrize(
    "learner",
    [LastLabelsClassifier(), NearestRowClassifier(20), BinaryRelevance(HoeffdingTreeClassifier(grace_period=10))],
    ids=repr,
)
def test_a_learner_that_grows_takes_new_keys_at_any_time(learner):
    growing = as_river(clone(learner).set_params(on_new_labels="grow"))
    roomy, known = as_river(learner, max_labels=30), []
    for x, y in rows_with_more_and_more_keys():
        assert growing.predict_one(x) == roomy.predict_one(x)
        assert growing.predict_proba_one(x) == roomy.predict_proba_one(x)
        assert list(growing.predict_one(x)) == known
        for model in (growing, roomy):
            model.learn_one(x, y)
        known += [key for key in y if key not in known]
    assert len(known) == 30 == growing.learner.n_labels_


def test_a_learner_that_grows_has_the_keys_of_rows_that_it_learnt_only():
    growing = as_river(LastLabelsClassifier(on_new_labels="grow"))
    growing.learn_one({"a": 1.0}, {"red": True})
    with pytest.raises(TypeError, match="y must hold numbers"):
        growing.learn_one({"a": 1.0}, {"red": True, "blue": "yes"})
    assert growing.predict_one({"a": 1.0}) == {"red": True}
    growing.learn_one({"a": 1.0}, {"green": None, "blue": True})
    assert growing.predict_one({"a": 1.0}) == {"red": True, "green": False, "blue": True}
    bounded = as_river(LastLabelsClassifier(on_new_labels="grow"), max_labels=1)
    bounded.learn_one({"a": 1.0}, {"red": True})
    with pytest.raises(ValueError, match="more room with `max_labels`"):
        bounded.learn_one({"a": 1.0}, {"blue": True})


@pytest.mark.parametrize(("labels", "max_labels"), [(["red", "blue"], 1), (None, 0)])
def test_room_for_less_than_what_is_declared_is_refused(labels, max_labels):
    with pytest.raises(ValueError, match=f"max_labels must be at least .*. Got {max_labels} instead"):
        as_river(LastLabelsClassifier(), labels=labels, max_labels=max_labels)


def test_texts_of_numbers_from_rivers_arff_are_numbers():
    file = StringIO(
        "@relation r\n@attribute y {0,1}\n@attribute z {0,1}\n@attribute a numeric\n@data\n{0 1,2 0.5}\n{1 1}\n"
    )
    model, direct = (as_river(NearestRowClassifier(), features=["a"]) for _ in range(2))
    for (x, y), (a, *labels) in zip(
        stream.iter_arff(file, ["y", "z"], sparse=True), [(0.5, 1, 0), (0, 0, 1)], strict=True
    ):
        model.learn_one(x, y)
        direct.learn_one({"a": a}, dict(zip("yz", labels, strict=True)))
        for probe in (0.1, 0.4):
            assert model.predict_proba_one({"a": str(probe)}) == direct.predict_proba_one({"a": probe})


@pytest.mark.parametrize(("yes", "no"), [("True", "False"), ("true", "false"), ("1", "0")])
def test_texts_of_truth_are_labels_and_no_features(yes, no):
    texts, direct = (as_river(NearestRowClassifier(), labels=["a", "b"]) for _ in range(2))
    for size, label in ((1.0, True), (5.0, False)):
        texts.learn_one({"size": size}, {"a": yes if label else no, "b": None})
        direct.learn_one({"size": size}, {"a": label, "b": None})
    for size in (0.0, 9.0):
        assert texts.predict_proba_one({"size": size}) == direct.predict_proba_one({"size": size})
    with pytest.raises(TypeError, match=r"x must hold numbers\. Got 'True' for 'size'"):
        texts.learn_one({"size": "True"}, {"a": True})
    with pytest.raises(TypeError, match=r"y must hold numbers\. Got 'yes' for 'a'"):
        texts.learn_one({"size": 1.0}, {"a": "yes"})


# ---------------------------------------------------------------- data frames
def in_frames(library, rows, keys):
    return library.DataFrame({key: [row.get(key) for row in rows] for key in keys})


def test_frames_are_rows_one_after_the_other(small):
    X, Y = small

    def check(library, texts, estimator):
        library = pytest.importorskip(library)
        one, many = (as_river(estimator, max_features=4, max_labels=3) for _ in range(2))
        rows, start = list(dictionaries(X, Y)), 0
        for size, features, labels in ((1, "ab", 2), (30, "abd", 3), (9, "d", 1), (60, "dcba", 3)):
            chunk = rows[start : start + size]
            xs = [{key: x[key] for key in features} for x, _ in chunk]
            ys = [
                {f"L{j}": None if (i + j) % 5 == 1 else y[f"L{j}"] for j in range(labels)}
                for i, (_, y) in enumerate(chunk)
            ]
            if texts:
                ys = [{key: value if value is None else str(value) for key, value in y.items()} for y in ys]
            frame = in_frames(library, xs, features)
            assert many.learn_many(frame, in_frames(library, ys, [f"L{j}" for j in range(labels)])) is None
            for x, y in zip(xs, ys, strict=True):
                one.learn_one(x, y)
            decided, proba = many.predict_many(frame), many.predict_proba_many(frame)
            assert type(decided) is type(proba) is library.DataFrame
            for i, x in enumerate(xs):
                assert one.predict_one(x) == {key: decided[key][i] for key in decided.columns}
                expected = {key: each[True] for key, each in one.predict_proba_one(x).items()}
                assert expected == {key: proba[key][i] for key in proba.columns}
            start += size
        assert len(many.predict_one(x)) == 3

    check_all(
        product(
            ["pandas", "polars"],
            [False, True],
            [NearestRowClassifier(20), BinaryRelevance(HoeffdingTreeClassifier(grace_period=10))],
        ),
        lambda case: check(*case),
    )


def test_predictions_of_a_frame_have_its_index():
    model = as_river(NearestRowClassifier(), features=["a"])
    X = pd.DataFrame({"a": [1.0, 2.0]}, index=["r", "s"])
    assert model.predict_many(X).equals(pd.DataFrame(index=["r", "s"]))
    model.learn_many(X, pd.DataFrame({7: pd.array([True, None], dtype="boolean"), "b": [float("nan"), 1]}))
    assert model.predict_many(X).equals(pd.DataFrame({7: [True, True], "b": [True, True]}, index=["r", "s"]))
    assert model.predict_many(X[:0]).equals(pd.DataFrame({7: [True], "b": [True]}, index=["r"])[:0])
    before = model.predict_proba_many(X)
    model.learn_many(X[:0], pd.DataFrame({7: [], "b": []}))
    for call in (
        lambda: model.learn_many(X, pd.DataFrame({7: [True]})),
        lambda: model.learn_many(X.rename(columns={"a": "z"}), pd.DataFrame({7: [True, False]})),
        lambda: model.learn_many(pd.DataFrame({"a": [0.0, np.nan]}), pd.DataFrame({7: [True, False]})),
    ):
        with pytest.raises(ValueError, match=r"must (have the same number of rows|hold the keys|be finite)"):
            call()
    with pytest.raises(TypeError, match=r"x must hold numbers\. Got 'soft' for 'a'"):
        model.learn_many(pd.DataFrame({"a": [1.0, "soft"]}), pd.DataFrame({7: [True, False]}))
    assert model.predict_proba_many(X).equals(before)


def test_a_new_feature_counts_as_0_in_the_rows_before(small):
    X, Y = small
    late = as_river(NearestRowClassifier(20), max_features=4)
    declared = as_river(NearestRowClassifier(20), features=list("abcd"))
    for i, (x, y) in enumerate(dictionaries(X, Y)):
        seen = {key: x[key] for key in "dcba"[: 1 + i // 50]}
        if i % 50:
            assert late.predict_proba_one(x) == declared.predict_proba_one(seen)
        late.learn_one(seen, y)
        declared.learn_one(seen, y)
    with pytest.raises(ValueError, match="Got the new feature 'e' instead, where there is room for 4"):
        late.learn_one({"e": 1.0}, y)


def test_a_first_row_without_labels_needs_them_declared():
    with pytest.raises(ValueError, match="y must hold at least one label in the first row"):
        as_river(LastLabelsClassifier()).learn_one({"a": 1}, {})
    model = as_river(LastLabelsClassifier(), labels=["red"])
    model.learn_one({"a": 1}, {})
    assert model.predict_one({"a": 1}) == {"red": False}


def test_labels_and_classes_are_not_taken_for_each_other():
    with pytest.raises(TypeError, match=r"as_river_classifier takes one class\. Got 'scan' instead"):
        as_river(LastLabelsClassifier()).learn_one({"a": 1.0}, "scan")
    with pytest.raises(TypeError, match=r"as_river takes a dictionary of labels\. Got \{'scan': True\} instead"):
        as_river_classifier(NearestRowClassifier()).learn_one({"a": 1.0}, {"scan": True})


@pytest.mark.parametrize("library", [None, pd.DataFrame, pl.DataFrame])
def test_a_pipeline_takes_words(library):
    X, Y = [["tcp", 2.5], ["udp", "80"], ["tcp", 0]], [[1, 0], [0, 1], [1, 0]]
    steps = [("hash", FunctionTransformer(hash_categories)), ("learn", OnlineLogisticRegression(1))]
    model = as_river(StreamPipeline(steps), features=["proto", "port"])
    if library is None:
        for x, (red, blue) in zip(X, Y, strict=True):
            model.learn_one(dict(zip(["proto", "port"], x, strict=True)), {"red": red, "blue": blue})
    else:
        X = [[word, str(number)] for word, number in X]  # a column has one type
        features, labels = (pd.DataFrame(X, columns=["proto", "port"]), pd.DataFrame(Y, columns=["red", "blue"]))
        model.learn_many(library(features.to_dict("list")), library(labels.to_dict("list")))
    learnt = StreamPipeline(steps).partial_fit(X, Y).predict_proba([["udp", "80"]])[0].tolist()
    proba = model.predict_proba_one({"port": "80", "proto": "udp"})
    assert [proba[label][True] for label in ("red", "blue")] == learnt


def test_absent_features_are_zeros():
    model = as_river(NearestRowClassifier(), features=["a", "b"])
    model.learn_one({"b": 1.0}, {"red": True})
    model.learn_one({"a": 1.0}, {"red": False})
    assert model.predict_one({"b": 0.9}) == {"red": True}


# ------------------------------------------------------------ River's checks
# one learner of each kind, a quick one in the fast tier; all others in the soak, but GaussianNB of scikit-learn, which
# smooths variances by the chunk
QUICK = ("1NN",)
SLOW = ("logistic regression", "NN_TLH_fifo", "BR_HT", "MLSAkNN", "StreamRidge", "native forest", "pipeline")
REST = [name for name in IN_STREAMS if name not in (*QUICK, *SLOW, "binary relevance in threads")]
TIERS = [
    *QUICK,
    *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW),
    *(pytest.param(name, marks=pytest.mark.soak) for name in REST),
]


@pytest.mark.parametrize("wrap", [as_river_classifier, as_river])
@pytest.mark.parametrize("name", TIERS)
def test_rivers_own_checks_pass(wrap, name, monkeypatch):
    monkeypatch.setattr(datasets, "Music", datasets.Yeast)  # River downloads the one, and ships the other
    model = wrap(made(name))
    check_all(all_river_checks.yield_checks(model), lambda check: check(model.clone()), lambda check: check.__name__)


# --------------------------------------------------------- keys that come late
def rows_of_classes():
    rng = np.random.default_rng(1)
    for i, x in enumerate(rng.random((120, 9))):
        n = 2 if i < 40 else 5 if i < 60 else 9
        yield {f"f{j}": value for j, value in enumerate(x[:n])}, "abcde"[int(x[1] * (2 if i < 50 else 5))]


@pytest.mark.parametrize(
    ("learner", "room"),
    [
        (NearestRowClassifier(20), 16),
        (HoeffdingTreeClassifier(grace_period=10), 16),
        (OnlineNeuralClassifier(8, random_state=0), 16),
    ],
    ids=["nearest row", "tree", "network"],
)
@pytest.mark.parametrize("size", [1, 7])
def test_late_classes_and_features_are_learnt_as_if_there_had_been_room(learner, room, size):
    rows, model, direct = list(rows_of_classes()), as_river_classifier(learner), clone(learner)
    order = list(dict.fromkeys(y for _, y in rows))
    for start in range(0, len(rows), size):
        X = pd.DataFrame([x for x, _ in rows[start : start + size]]).fillna(0.0)
        y = pd.Series([y for _, y in rows[start : start + size]])
        model.learn_many(X, y)
        table = np.zeros((len(X), room))
        for j, name in enumerate(X):
            table[:, j] = X[name]
            assert name == f"f{j}"
        direct.partial_fit(table, [order.index(one) for one in y], classes=np.arange(8))
    assert model.learner.n_features_in_ == room
    expected = direct.predict_proba(table)[:, :5].astype(float)
    given = model.predict_proba_many(X)
    assert list(given) == order
    np.testing.assert_allclose(given, expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
    assert list(model.predict_many(X)) == [order[code] for code in expected.argmax(axis=1)]


def test_nothing_is_predicted_before_a_class_has_occurred():
    model = as_river_classifier(NearestRowClassifier())
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_many(pd.DataFrame({"a": [1.0, 2.0]})).isna().all()
    model.learn_one({"a": 1.0}, "x")
    assert model.predict_proba_one({"b": 1.0}) == {"x": 1.0}


def test_labels_of_learners_that_do_not_grow_come_late_too():
    growing, replaying = (as_river(one) for one in (NearestRowClassifier(20), WithoutGrowth(NearestRowClassifier(20))))
    for x, y in rows_with_more_and_more_keys():
        assert growing.predict_proba_one(x) == replaying.predict_proba_one(x)
        for model in (growing, replaying):
            model.learn_one(x, y)
    assert growing.learner.n_labels_ == 30
    assert replaying.learner.learner_.n_labels_ == 32


def test_a_forest_of_all_labels_takes_late_ones():
    model = as_river(AdaptiveRandomForestClassifier(2, multilabel="native", random_state=0))
    for x, y in rows_with_more_and_more_keys():
        model.learn_one(x, y)
    assert len(model.predict_one(x)) == 30


class WithoutGrowth(BaseEstimator):
    """Another learner that has no parameter for new labels."""

    def __init__(self, learner):
        self.learner = learner

    def partial_fit(self, X, Y, classes=None):
        self.learner_ = getattr(self, "learner_", clone(self.learner)).partial_fit(X, Y, classes)

    def predict_proba(self, X):
        return self.learner_.predict_proba(X)


@pytest.mark.parametrize("late", [({"a": 1.0, "b": 2.0}, "x"), ({"a": 1.0}, "z")], ids=["feature", "class"])
def test_what_is_lost_by_starting_again_is_said(late, monkeypatch):
    monkeypatch.setattr(_river_rows, "MAX_ROWS", 10)
    model = as_river_classifier(PriorLabelsClassifier())
    for i in range(25):
        model.learn_one({"a": 1.0}, "x" if i < 15 else "y")
    with pytest.warns(UserWarning, match=r"from the last 10 rows: the 15 rows before are lost\. Declare") as caught:
        model.learn_one(*late)
    assert caught[0].filename == __file__
    assert model.predict_one({"a": 1.0}) == "y"
    model.learn_one({"a": 1.0}, "y")


def test_a_row_that_is_refused_leaves_no_key_and_no_room():
    model = as_river_classifier(NearestRowClassifier())
    model.learn_one({"a": 1.0}, "x")
    before = pickle.dumps(model)
    for row in ({"a": np.nan, "b": 1.0}, {"a": 1.0, "b": "soft"}):
        with pytest.raises((ValueError, TypeError), match="must"):
            model.learn_one(row, "z")
        assert pickle.dumps(model) == before


# --------------------------------------------------------- as_river_detector
def accuracy_of(model):
    rng, right = np.random.default_rng(0), []
    for i, x in enumerate(rng.random((900, 2)).tolist()):
        row, y = {"a": x[0], "b": x[1]}, (x[0] > 0.5) != (i >= 500)
        right.append(model.predict_one(row) == y)
        model.learn_one(row, y)
    return right


DETECTORS = [
    (drift.ADWIN(delta=0.1), river_drift.ADWIN(delta=0.1)),
    (drift.DDM(warm_start=10), river_drift.binary.DDM(warm_start=10)),
    (drift.HDDMW(), river_drift.binary.HDDMW()),
]


@pytest.mark.parametrize(("ours", "rivers"), DETECTORS)
@pytest.mark.parametrize(
    "around",
    [
        lambda detector: tree.HoeffdingAdaptiveTreeClassifier(grace_period=30, drift_detector=detector, seed=1),
        lambda detector: forest.ARFClassifier(2, grace_period=30, drift_detector=detector, seed=1),
        lambda detector: river_drift.DriftRetrainingClassifier(HoeffdingTree(grace_period=30), detector, False),
    ],
    ids=["tree", "forest", "retraining"],
)
def test_rivers_models_are_the_same_with_our_detectors(around, ours, rivers):
    detector = as_river_detector(ours)
    detector.update(1)
    assert accuracy_of(around(detector.clone())) == accuracy_of(around(rivers))


@pytest.mark.parametrize(("ours", "rivers"), DETECTORS)
@pytest.mark.parametrize("copied", [lambda one: one, deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301
def test_signals_are_those_of_river(ours, rivers, copied):
    detector, rivers = as_river_detector(ours), rivers.clone()
    warns = isinstance(rivers, river_base.BinaryDriftAndWarningDetector)
    assert isinstance(detector, river_base.DriftAndWarningDetector) == warns
    signals = []
    for value in (np.random.default_rng(0).random(1500) < np.repeat([0.1, 0.5, 0.2], 500)).tolist():
        for one in (detector, rivers):
            one.update(value)
        signals.append(detector.drift_detected)
        assert signals[-1] == rivers.drift_detected
        if warns:
            assert detector.warning_detected == rivers.warning_detected
        detector = copied(detector)
    assert any(signals)


def test_rivers_checks_of_detectors_pass():
    detector = as_river_detector(drift.DDM())
    checks = [check for check in all_river_checks.yield_checks(detector) if check.__name__ != "check_tags"]
    # no detector of River has tags
    assert not hasattr(river_drift.ADWIN(), "_tags")
    check_all(checks, lambda check: check(detector.clone()), lambda check: check.__name__)


def test_a_background_model_is_trained_after_a_warning():
    around = [
        river_drift.DriftRetrainingClassifier(HoeffdingTree(grace_period=30), detector)
        for detector in (as_river_detector(drift.DDM()), river_drift.binary.DDM())
    ]
    assert accuracy_of(around[0]) == accuracy_of(around[1])


def test_only_detectors_of_a_number_go_to_river():
    for detector in (drift.LabelDrift(), river_drift.ADWIN(), drift.ADWIN):
        with pytest.raises(TypeError, match="detector must be a drift detector of a single number"):
            as_river_detector(detector)


def test_our_trees_are_bagged_by_river(small):
    bagged = ensemble.ADWINBaggingClassifier(as_river_classifier(HoeffdingTreeClassifier(grace_period=20)), 3, seed=1)
    assert np.mean(accuracy_of(bagged)[200:500]) > 0.9


# ------------------------------------------------------- as_river_classifier
def test_classes_of_river_are_learnt_as_ours(small):
    X, Y = small
    y = np.array(["low", "high"])[Y[:, 0]]
    ours, model = NearestRowClassifier(20), as_river_classifier(NearestRowClassifier(20), classes=["high", "low"])
    assert model.predict_proba_one({"a": 1.0}) == {"high": 0.5, "low": 0.5}
    for i in range(60):
        x = dict(zip("abcd", X[i].tolist(), strict=True))
        if i:
            assert list(model.predict_proba_one(x).values()) == ours.predict_proba(X[i : i + 1])[0].tolist()
        model.learn_one(x, str(y[i]))
        ours.partial_fit(X[i : i + 1], y[i : i + 1], classes=["high", "low"])
    with pytest.raises(ValueError, match=r"y must be one of the classes \['high', 'low'\]. Got 'middle' instead"):
        model.learn_one(x, "middle")
    with pytest.raises(ValueError, match="classes must be at least two, each once"):
        as_river_classifier(NearestRowClassifier(), classes=["one"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_classes_are_rows_one_after_the_other(library, small):
    library, (X, Y) = pytest.importorskip(library), small
    one, many = (as_river_classifier(NearestRowClassifier(20), classes=["low", "high"]) for _ in range(2))
    frame, classes = library.DataFrame(dict(zip("abcd", X.T, strict=True))), np.array(["low", "high"])[Y[:, 0]].tolist()
    assert list(many.predict_many(frame)) == ["low"] * len(X)
    many.learn_many(frame[:200], library.Series(classes[:200]))
    for (x, _), y in zip(list(dictionaries(X, Y))[:200], classes[:200], strict=True):
        one.learn_one(x, y)
    decided, proba = many.predict_many(frame[200:]), many.predict_proba_many(frame[200:])
    for i, (x, _) in enumerate(list(dictionaries(X, Y))[200:]):
        assert one.predict_one(x) == list(decided)[i]
        assert one.predict_proba_one(x) == {key: list(proba[key])[i] for key in ("low", "high")}
    with pytest.raises(ValueError, match=r"X and y must have the same number of rows\. Got 300 and 1 instead"):
        many.learn_many(frame, library.Series(["low"]))
