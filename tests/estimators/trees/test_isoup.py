import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from river.tree import ISOUPTreeRegressor
from scipy import sparse

from estimators.trees._kernels.isoup import in_tenths
from estimators.trees._kernels.tree_arrays import NONE
from estimators.trees.isoup import ISOUPTreeClassifier
from tests.estimators import published, streams

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


def assert_same_nodes(node, tree, i):
    """Compare everything that River's node holds, and return the number of splits below it."""
    ours = tree.nodes[i]
    if hasattr(node, "children"):
        assert (ours["feature"], ours["threshold"]) == (node.feature, node.threshold)
        left, right = node.children
        return 1 + assert_same_nodes(left, tree, ours["left"]) + assert_same_nodes(right, tree, ours["right"])
    assert ours["feature"] == NONE
    assert tree.weights[i] == [node.total_weight]
    assert ours["last_attempt"] == node.last_split_attempt_at
    for j, spread in node.stats.items():
        assert (tree.mean[i, j], tree.squares[i, j]) == (spread.mean.get(), spread._S)
        models = (node._fmse_mean[j], node._fmse_model[j])
        np.testing.assert_allclose(tree.errors[ours["leaf"], j], models, rtol=1e-9)
    for f, splitter in node.splitters.items():
        assert_same_values(splitter._root, tree.search, tree.roots[ours["leaf"], f])
    return 0


def assert_same_values(node, search, i):
    if node is None:
        assert i == NONE
        return
    place = search.places[i]
    assert place["key"] == node.att_val
    assert [*search.weights[i], *search.mean[i]] == [
        node.estimator[0].n,
        *(one.mean.get() for one in node.estimator.values()),
    ]
    assert_same_values(node._left, search, place["left"])
    assert_same_values(node._right, search, place["right"])


def compare(X, Y, **parameters):
    river, outputs = ISOUPTreeRegressor(**parameters), []
    for row, labels in zip(X.tolist(), Y.tolist(), strict=True):
        x = dict(enumerate(row))
        prediction = river.predict_one(x)
        outputs.append([prediction.get(j, 0.0) for j in range(Y.shape[1])])
        river.learn_one(x, dict(enumerate(labels)))
    ours = ISOUPTreeClassifier(**parameters)
    _, proba = ours.predict_then_fit(X, Y)
    np.testing.assert_allclose(proba, np.clip(outputs, 0, 1), atol=1e-9)
    return assert_same_nodes(river._root, ours.tree_, 0)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"grace_period": 100, "delta": 1e-6, "tau": 0.05}, EAGER])
def test_every_node_is_rivers_on_synthetic_rand(shared_data, parameters):
    X, Y = streams.rand(shared_data)
    assert compare(X[:2500], Y[:2500], **parameters) > 1


@pytest.mark.slow
def test_every_node_is_rivers_on_yeast(shared_data):
    X, Y = streams.yeast(shared_data)
    assert compare(X[:160], Y[:160, :4], grace_period=40, delta=0.3, tau=0.1) > 0


def test_every_node_is_rivers_where_values_round_to_ties():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(900, 3)), 2)
    X[:, 2] = X[:, 0]
    assert compare(X, np.column_stack([X[:, 0] > 0.25, X[:, 1] > -0.35]).astype(int), **EAGER) > 1


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(lambda n: n / 100))
@example(0.05)
@example(0.25)
@example(-0.35)
@example(2.0**48 + 2.0**-4)
@example(2.0**49 - 2.0**-4)
@example(1.7e308)
def test_values_are_rounded_as_python_rounds(x):
    assert in_tenths.py_func(x) == round(x, 1)


@pytest.mark.parametrize(
    ("name", "settings", "printed"),
    [
        ("monolab", (100, 1e-6, 0.05), [0.768, 0.650, -0.387, 0.000, 0.000, 0.167]),
        ("bilab", (200, 1e-7, 0.1), [0.787, 0.768, -0.256, 0.144, -0.210, 0.289]),
        ("rand", (200, 1e-6, 0.1), [0.846, 0.875, -0.079, 0.063, 0.000, 0.292]),
    ],
)
def test_published_scores_come_out(name, settings, printed, shared_data):
    tree = ISOUPTreeClassifier(**dict(zip(("grace_period", "delta", "tau"), settings, strict=True)))
    stream = published.load(shared_data, name)
    scores = published.scores(published.test_then_train(tree, stream), stream, half=True)
    np.testing.assert_allclose(scores, printed, atol=0.0005 + 1e-9)


def test_a_bound_on_memory_holds_and_still_learns():
    X, Y = streams.drawn(4000)
    free, bound = (ISOUPTreeClassifier(**EAGER, max_bytes=size).fit(X, Y) for size in (10**9, 2000))
    assert bound.memory_bytes_ < free.memory_bytes_
    assert (bound.tree_.nodes["active"][: bound.tree_.counts[0]] == 0).any()
    assert (bound.predict(X) == Y).mean() > 0.6


def test_sparse_rows_equal_dense_rows():
    X, Y = streams.drawn(600)
    X[X < 0.5] = 0
    one, two = (ISOUPTreeClassifier(**EAGER).fit(form(X), Y).predict_proba(X) for form in (np.array, sparse.csr_array))
    assert np.array_equal(one, two)


def test_models_that_diverge_return_no_nan():
    X, Y = streams.drawn(300)
    learner = ISOUPTreeClassifier().fit(1e150 * X, Y)
    assert np.isfinite(learner.predict_proba(1e150 * X)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"grace_period": 0}, "grace_period must be at least 1. Got 0"),
        ({"delta": 2}, r"delta must be in \(0, 1\]. Got 2"),
        ({"max_bytes": -1}, "max_bytes must be at least 0. Got -1"),
    ],
)
def test_senseless_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        ISOUPTreeClassifier(**parameters).fit(*streams.drawn(20))
