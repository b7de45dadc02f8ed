from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.tree import DecisionTreeClassifier

from estimators.pragma._kernels.batch_tree import Nodes
from estimators.pragma.forest import PragmaForestClassifier
from estimators.pragma.tree import PragmaTreeClassifier
from metrics import pragma_plane
from tests.loops import check_all

IMPORTANCE = {0: 1, 1: 10, 2: 3}
COMPROMISE = {0: (0.8, 0.8), 1: (0.1, 0.9), 2: (0.5, 0.2)}


def classes(n_rows=300):
    return make_classification(n_rows, n_classes=3, n_informative=4, weights=[0.7, 0.2], flip_y=0.1, random_state=0)


def slow_impurity(y, side, criterion):
    total = 0.0
    for rows in (y[side], y[~side]):
        shares = [np.mean(rows == c) for c in set(rows.tolist())]
        one = [p * (1 - p) if criterion == "gini" else -p * np.log2(p) for p in shares]
        total += len(rows) / len(y) * sum(one)
    return total


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_importances_are_those_of_scikit_learns_tree(criterion):
    X, y = classes()
    ours, theirs = (
        kind(criterion=criterion, min_samples_leaf=20) for kind in (PragmaTreeClassifier, DecisionTreeClassifier)
    )
    np.testing.assert_allclose(ours.fit(X, y).feature_importances_, theirs.fit(X, y).feature_importances_)
    assert not PragmaTreeClassifier(min_samples_leaf=200).fit(X, y).feature_importances_.any()


def test_importances_of_a_forest_are_the_mean_of_its_trees():
    X, y = classes()
    forest = PragmaForestClassifier(5, criterion="pragma", n_bags=0, random_state=0).fit(X, y)
    expected = np.mean([tree.feature_importances_ for tree in forest.forest_.estimators_], axis=0)
    np.testing.assert_allclose(forest.feature_importances_, expected)
    assert SelectFromModel(forest, max_features=3).fit(X, y).get_support().sum() <= 3


def test_impurity_grows_scikit_learns_tree():
    def check(criterion, limits):
        X, y = classes()
        ours = PragmaTreeClassifier(criterion, **limits).fit(X, y)
        theirs = DecisionTreeClassifier(criterion=criterion, random_state=0, **limits).fit(X, y)
        nodes, same, n_compared = theirs.tree_, [(0, 0, np.arange(len(X)))], 0
        while same:
            a, b, rows = same.pop()
            f, t = ours.tree_.feature[a], ours.tree_.threshold[a]
            assert (f < 0) == (nodes.feature[b] < 0)
            if f < 0:
                continue
            side = X[rows, f].astype(np.float32) <= t
            their_side = X[rows, nodes.feature[b]].astype(np.float32) <= nodes.threshold[b]
            if f == nodes.feature[b] and t == pytest.approx(nodes.threshold[b]):
                n_compared += 1
                same += [
                    (ours.tree_.children_left[a], nodes.children_left[b], rows[side]),
                    (ours.tree_.children_right[a], nodes.children_right[b], rows[~side]),
                ]
            else:  # of equally good splits scikit-learn draws one
                assert slow_impurity(y[rows], side, criterion) == pytest.approx(
                    slow_impurity(y[rows], their_side, criterion)
                )
        assert n_compared >= 3

    check_all(
        product(["gini", "entropy"], [{}, {"max_depth": 3}, {"min_samples_leaf": 7}, {"min_samples_split": 30}]),
        lambda case: check(*case),
    )


def slow_pragma(left, right):
    """Give rows to classes at random: expected recall and precision of each class, one row after another."""
    planes = {c: pragma_plane(*COMPROMISE[c]) for c in COMPROMISE}
    both = np.concatenate([left, right])
    present = np.unique(both).tolist()
    says = {}
    for name, side in (("left", left), ("right", right)):
        mass = {c: IMPORTANCE[c] * np.mean(side == c) * len(side) / np.sum(both == c) for c in present}
        says[name] = {c: mass[c] / sum(mass.values()) for c in present}
    total = 0.0
    for c in present:
        told = [("left", t) for t in left] + [("right", t) for t in right]
        hits = sum(says[name][c] for name, t in told if t == c)
        predicted = sum(says[name][c] for name, _ in told)
        alpha, beta = planes[c]
        total += IMPORTANCE[c] * (1 + alpha * hits / np.sum(both == c) + beta * hits / predicted)
    return total / sum(IMPORTANCE[c] for c in present)


def test_the_first_split_has_the_lowest_expected_pragma():
    X, y = classes(60)
    X = X.astype(np.float32)
    tree = PragmaTreeClassifier(max_depth=1, importance=IMPORTANCE, compromise=COMPROMISE).fit(X, y)
    losses = {}
    for f in range(X.shape[1]):
        values = np.unique(X[:, f]).astype(float)
        for t in (values[1:] + values[:-1]) / 2:
            losses[f, t] = slow_pragma(y[X[:, f] <= t], y[X[:, f] > t])
    chosen = losses[tree.tree_.feature[0], tree.tree_.threshold[0]]
    assert chosen == pytest.approx(min(losses.values()))


def test_importance_moves_splits():
    X, y = classes()
    alike = PragmaTreeClassifier(max_depth=3, importance=1.0).fit(X, y)
    one = PragmaTreeClassifier(max_depth=3, importance={0: 1, 1: 100, 2: 1}, compromise=(0.1, 0.9)).fit(X, y)
    assert not np.array_equal(alike.tree_.threshold, one.tree_.threshold)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "pragma"])
def test_a_full_tree_knows_its_rows(criterion):
    X, y = load_iris(return_X_y=True)
    tree = PragmaTreeClassifier(criterion).fit(X, y)
    rows = {tuple(row): set() for row in X}
    for row, c in zip(X, y, strict=True):
        rows[tuple(row)].add(c)
    assert all(c in rows[tuple(row)] for row, c in zip(X, tree.predict(X), strict=True))
    assert tree.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_drawn_features_differ_by_seed_and_repeat_by_seed():
    X, y = load_breast_cancer(return_X_y=True)
    one, again, other = (PragmaTreeClassifier(max_features=3, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    assert np.array_equal(one.tree_.threshold, again.tree_.threshold)
    assert not np.array_equal(one.tree_.feature[:3], other.tree_.feature[:3])
    bag = BaggingClassifier(PragmaTreeClassifier(max_features=5), 10, random_state=0).fit(X[::2], y[::2])
    assert bag.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize("criterion", ["gini", "pragma"])
def test_a_row_of_weight_two_is_the_row_met_twice(criterion):
    X, y = classes(120)
    weight = np.random.default_rng(0).integers(3, size=len(y))
    how = {"max_depth": 6, "importance": IMPORTANCE, "compromise": COMPROMISE}
    one = PragmaTreeClassifier(criterion, **how).fit(X, y, sample_weight=weight)
    two = PragmaTreeClassifier(criterion, **how).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(one.tree_.feature, two.tree_.feature)
    assert one.tree_.value == pytest.approx(two.tree_.value)
    assert np.array_equal(one.tree_.weighted_n_node_samples, two.tree_.weighted_n_node_samples)


def test_rows_without_weight_are_refused_where_there_is_no_other():
    X, y = classes(30)
    with pytest.raises(ValueError, match="sample_weight must be greater than 0 for at least one row"):
        PragmaTreeClassifier().fit(X, y, sample_weight=np.zeros(len(y)))


def test_constant_features_end_in_a_leaf():
    tree = PragmaTreeClassifier().fit([[1.0], [1.0], [1.0]], ["a", "b", "b"])
    assert len(tree.tree_.feature) == 1
    assert tree.predict([[5.0]]).tolist() == ["b"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "mse"}, "criterion must be one of 'gini', 'entropy', 'pragma'. Got 'mse'"),
        ({"max_depth": 0}, "max_depth must be an integer of at least 1. Got 0"),
        ({"min_samples_leaf": 0.5}, "min_samples_leaf must be an integer"),
        ({"importance": {0: 1, 1: 0, 2: 1}}, "importance must be .* Got 0 for class 1"),
        ({"compromise": (1, 0)}, r"compromise of class 0 .*x must be in \[0, 1\)"),
    ],
)
def test_nonsense_is_refused(parameters, message):
    tree = PragmaTreeClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        tree.fit(*classes())
    assert not [name for name in vars(tree) if name.endswith("_")]


def test_one_class_and_nan_are_refused():
    X, y = classes()
    with pytest.raises(ValueError, match=r"y must hold at least two classes. Got one class"):
        PragmaTreeClassifier().fit(X, np.zeros(len(y)))
    X[2, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PragmaTreeClassifier().fit(X, y)


def categories(n_rows=400, n_features=50, n_values=30, seed=0):
    """Draw codes, and a class that is one value of one of the features, by codes in no order."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_rows, n_features))
    feature, value = rng.integers(0, n_features), rng.integers(1, n_values - 1)
    X[rng.random(n_rows) < 0.3, feature] = value
    return X, np.where(X[:, feature] == value, "that one", "others"), feature, value


@pytest.mark.parametrize("criterion", ["gini", "entropy", "pragma"])
def test_one_split_finds_the_value_that_is_a_class(criterion):
    X, y, feature, value = categories()
    tree = PragmaTreeClassifier(criterion, categorical_features=range(50)).fit(X, y)
    assert (tree.tree_.feature.tolist(), tree.tree_.threshold[0]) == ([feature, -1, -1], value)
    assert tree.score(X, y) == 1.0
    unseen = np.full((1, 50), 2**24 - 1)
    assert tree.predict(unseen).tolist() == ["others"]
    assert len(PragmaTreeClassifier(criterion).fit(X, y).tree_.feature) > 3


def test_the_order_of_codes_does_not_matter():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, (200, 4)), rng.random((200, 2))])
    y = (X[:, 0] == 2) ^ (X[:, 1] == 3) ^ (X[:, 4] > 0.7) ^ (rng.random(200) < 0.05)
    codes = rng.permutation(2**24 - 1)[:6]
    other = X.copy()
    other[:, :4] = codes[X[:, :4].astype(int)]
    one, two = (PragmaTreeClassifier(max_depth=4, categorical_features=range(4)).fit(rows, y) for rows in (X, other))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(other))


def test_words_of_a_frame_are_learnt_as_their_codes():
    X, y, feature, _ = categories(n_features=3)
    words = pd.DataFrame({f"x{j}": pd.Categorical([f"v{code:02}" for code in X[:, j]]) for j in range(3)})
    tree = PragmaTreeClassifier(categorical_features="from_dtype").fit(words, y)
    assert tree.tree_.feature[0] == feature
    np.testing.assert_array_equal(tree.predict(words), y)
    # what the words were does not outlive a fit without categories
    assert len(tree.set_params(categorical_features=None).fit(X, y).tree_.nominal) == 0


@pytest.mark.parametrize("code", [-1, 0.5, 2**24])
def test_what_is_no_code_is_refused(code):
    X, y, *_ = categories(n_features=3)
    tree, wrong = PragmaTreeClassifier(categorical_features=[1]).fit(X, y), X[:2].astype(float)
    wrong[1, 1] = code
    for call in (tree.predict, lambda rows: tree.fit(rows, y[:2])):
        with pytest.raises(ValueError, match=r"must hold codes, .* at row 1, column 1, instead"):
            call(wrong)


def test_a_tree_saved_before_there_were_categories_predicts():
    X, y = classes()
    tree = PragmaTreeClassifier(max_depth=3).fit(X, y)
    expected = tree.predict_proba(X)
    tree.tree_ = Nodes(*tree.tree_[:6])
    np.testing.assert_array_equal(tree.predict_proba(X), expected)
