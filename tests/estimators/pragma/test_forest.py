import pickle
import warnings
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification, make_multilabel_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from estimators import PragmaForestClassifier, PragmaTreeClassifier
from metrics import pragma
from tests.loops import check_all

WANTED = {"importance": {0: 1, 1: 5, 2: 2}, "compromise": {0: (0.8, 0.8), 1: (0.1, 0.9), 2: (0.5, 0.2)}}


def classes(n_rows=300, seed=0):
    return make_classification(
        n_rows, n_classes=3, n_informative=4, weights=[0.7, 0.2], flip_y=0.1, class_sep=0.5, random_state=seed
    )


def labels(n_rows=200, n_labels=4):
    X, Y = make_multilabel_classification(n_rows, n_classes=n_labels, n_labels=1, random_state=0)
    return X, Y


def trees(forest):
    return zip(forest.forest_.estimators_, forest.forest_.estimators_samples_, strict=True)


def slow_shares(tree, row, shrinkage):
    """Walk down a tree, step by step: (n_outputs, n_values)."""
    nodes, at = tree.tree_, 0
    share = nodes.value[0].copy()
    while nodes.children_left[at] >= 0:
        left = np.float32(row[nodes.feature[at]]) <= nodes.threshold[at]
        child = nodes.children_left[at] if left else nodes.children_right[at]
        n = nodes.weighted_n_node_samples[at]
        share += (nodes.value[child] - nodes.value[at]) / (1 + shrinkage / n)
        at = child
    return (share + nodes.value[at]) / 2


def slow_votes(forest, X, n_classes, *, out_of_bag):
    votes = np.zeros((len(X), n_classes))
    for tree, seen in trees(forest):
        for i, row in enumerate(X):
            if out_of_bag and i in seen:
                continue
            if forest.shrinkage is None:
                votes[i, int(tree.predict(X[i : i + 1])[0])] += 1
            else:
                votes[i] += slow_shares(tree, row, forest.shrinkage)[0]
    return votes


@pytest.mark.slow
def test_the_measure_is_that_of_the_votes_it_was_searched_on():
    def check(search, criterion, votes, shrinkage):
        X, y = classes(150)
        how = {"votes": votes, "shrinkage": shrinkage, "search": search, "n_moves": 2000, "max_depth": 4}
        how["criterion"] = criterion
        forest = PragmaForestClassifier(12, **how, random_state=0, **WANTED).fit(X, y)
        counted = slow_votes(forest, X, 3, out_of_bag=votes == "out_of_bag")
        voted = counted.any(axis=1)
        decided = (counted * forest.vote_weights_).argmax(axis=1)
        assert forest.pragma_ == pytest.approx(pragma(y[voted], decided[voted], **WANTED))
        assert forest.pragma_ < pragma(y[voted], counted.argmax(axis=1)[voted], **WANTED)
        assert forest.pragma_ == forest.search_trace_[-1]

    check_all(
        product(
            ["exact", "annealing", "both"],
            [
                ("gini", "out_of_bag", 1.0),
                ("gini", "out_of_bag", None),
                ("entropy", "in_bag", 0.0),
                ("pragma", "out_of_bag", 1.0),
            ],
        ),
        lambda case: check(case[0], *case[1]),
    )


@pytest.mark.slow
def test_rows_go_to_the_class_of_greatest_weight_times_votes():
    def check(criterion, shrinkage):
        X, y = classes()
        how = {"criterion": criterion, "shrinkage": shrinkage, "random_state": 0}
        forest = PragmaForestClassifier(15, **how, **WANTED).fit(X[:200], y[:200])
        weighted = slow_votes(forest, X[200:], 3, out_of_bag=False) * forest.vote_weights_
        assert forest.predict_proba(X[200:]) == pytest.approx(weighted / weighted.sum(axis=1, keepdims=True))
        assert np.array_equal(forest.predict(X[200:]), weighted.argmax(axis=1))
        assert np.array_equal(forest.decision_function(X[200:]).argmax(axis=1), weighted.argmax(axis=1))

    check_all(product(["gini", "pragma"], [None, 0, 1.0, 30.0]), lambda case: check(*case))


@pytest.mark.parametrize("shrinkage", [None, 3.0])
def test_labels_are_weighted_one_by_one(shrinkage):
    X, Y = labels()
    wanted = {"importance": {0: 1, 1: 2, 2: 3, 3: 4}, "compromise": (0.1, 0.9)}
    forest = PragmaForestClassifier(15, max_depth=4, shrinkage=shrinkage, random_state=0, **wanted).fit(X, Y)
    against, votes = np.zeros(Y.shape), np.zeros(Y.shape)
    for tree, seen in trees(forest):
        unseen = np.setdiff1d(np.arange(len(X)), seen)
        if shrinkage is None:
            said = tree.predict(X[unseen])
        else:
            said = np.array([slow_shares(tree, row, shrinkage)[:, 1] for row in X[unseen]])
        votes[unseen] += said
        against[unseen] += 1 - said
    voted = (votes + against).any(axis=1)
    decided = votes * forest.vote_weights_ > against
    assert forest.pragma_ == pytest.approx(pragma(Y[voted], decided[voted].astype(int), **wanted))
    assert forest.pragma_ < pragma(Y[voted], (votes > against)[voted].astype(int), **wanted)
    assert len(forest.search_trace_) == 4


def test_one_label_of_many_is_a_forest_of_its_own_measure():
    X, Y = labels()
    wanted = {"importance": 1.0, "compromise": (0.1, 0.9)}
    alone = PragmaForestClassifier(15, random_state=0, **wanted).fit(X, Y[:, :1])
    assert alone.predict(X).shape == alone.predict_proba(X).shape == (len(X), 1)
    assert np.array_equal(alone.predict(X), alone.predict_proba(X) > 0.5)
    assert not hasattr(alone, "decision_function")


def test_a_label_that_never_occurs_or_always_is_predicted_so():
    X, Y = labels()
    Y[:, 1], Y[:, 2] = 0, 1
    with pytest.warns(UserWarning, match="No out-of-bag vote is for class 1"):
        forest = PragmaForestClassifier(10, random_state=0).fit(X, Y)
    predicted = forest.predict(X)
    assert not predicted[:, 1].any()
    assert predicted[:, 2].all()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_an_integer_seed_grows_scikit_learns_forest(criterion):
    X, y = classes()
    ours = PragmaForestClassifier(10, criterion=criterion, random_state=7, vote_weights=[1, 1, 1]).fit(X, y)
    theirs = RandomForestClassifier(10, criterion=criterion, random_state=7).fit(X, y)
    for one, two in zip(ours.forest_.estimators_, theirs.estimators_, strict=True):
        assert np.array_equal(one.tree_.threshold, two.tree_.threshold)
    assert np.array_equal(ours.feature_importances_, theirs.feature_importances_)


def test_trees_grown_by_pragma_see_what_is_wanted_by_name():
    X, y = classes()
    names = np.array(["zero", "one", "two"])[y]  # their order is not that of the numbers
    by_name = {option: {("zero", "one", "two")[c]: v for c, v in by.items()} for option, by in WANTED.items()}
    forest = PragmaForestClassifier(5, criterion="pragma", random_state=0, **by_name).fit(X, names)
    tree, seen = forest.forest_.estimators_[0], forest.forest_.estimators_samples_[0]
    alone = PragmaTreeClassifier(max_features="sqrt", random_state=tree.random_state, **by_name)
    alone.fit(X[seen], names[seen])
    assert np.array_equal(tree.tree_.feature, alone.tree_.feature)
    assert set(forest.predict(X)) <= set(names)


def test_trees_grown_by_pragma_know_classes_that_their_rows_lack():
    X, y = classes(150)
    y[0] = 3
    with pytest.warns(UserWarning, match="No out-of-bag vote is for class 3"):
        forest = PragmaForestClassifier(5, criterion="pragma", max_depth=3, random_state=0).fit(X, y)
    assert all(tree.tree_.value.shape[2] == 4 for tree in forest.forest_.estimators_)
    assert any(0 not in seen for seen in forest.forest_.estimators_samples_)


def test_trees_are_grown_by_pragma_for_classes_and_dense_rows_only():
    forest = PragmaForestClassifier(5, criterion="pragma", random_state=0)
    with pytest.raises(ValueError, match=r"criterion must be 'gini' or 'entropy' for labels\. Got 'pragma'"):
        forest.fit(*labels())
    X, y = classes()
    with pytest.raises(ValueError, match=r"X must be dense for criterion='pragma'\. Got a sparse matrix"):
        forest.fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match=r"X must be dense for criterion='pragma'\. Got a sparse matrix"):
        forest.fit(X, y).predict(sparse.csr_array(X))


def test_weights_that_are_given_are_used_and_measured():
    X, y = classes()
    names = np.array(["low", "mid", "top"])[y]
    by_name = {"mid": 3.0, "low": 1.0, "top": 2.0}
    forest = PragmaForestClassifier(10, random_state=0, vote_weights=by_name).fit(X, names)
    assert forest.vote_weights_.tolist() == [1, 3, 2]
    same = clone(forest).set_params(vote_weights=[2, 6, 4]).fit(X, names)
    assert np.array_equal(forest.predict(X), same.predict(X))
    assert forest.pragma_ == same.pragma_ == forest.search_trace_[0]


def test_only_ratios_of_importance_matter():
    X, y = classes()
    one = PragmaForestClassifier(10, random_state=0, **WANTED).fit(X, y)
    scaled = {c: 4 * v for c, v in WANTED["importance"].items()}
    two = clone(one).set_params(importance=scaled).fit(X, y)
    assert np.array_equal(one.vote_weights_, two.vote_weights_)


def test_held_out_rows_are_served_better_than_by_the_plain_forest():
    wanted = {"importance": {0: 10, 1: 1}, "compromise": {0: (0.1, 0.9), 1: (0.8, 0.8)}}
    gains = []
    for seed in range(5):
        X, X_test, y, y_test = train_test_split(*load_breast_cancer(return_X_y=True), random_state=seed)
        forest = PragmaForestClassifier(20, max_depth=2, random_state=seed, **wanted).fit(X, y)
        plain = pragma(y_test, forest.forest_.predict(X_test), **wanted)
        gains.append(plain - pragma(y_test, forest.predict(X_test), **wanted))
    assert np.mean(gains) > 0


def test_the_same_seed_gives_the_same_bits_and_a_saved_forest_answers_alike():
    X, y = classes()
    forest = PragmaForestClassifier(10, search="both", n_moves=500, random_state=3, **WANTED)
    one, two = forest.fit(X, y), clone(forest).fit(X, y)
    assert np.array_equal(one.vote_weights_, two.vote_weights_)
    assert np.array_equal(one.search_trace_, two.search_trace_)
    loaded = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own bytes
    assert np.array_equal(loaded.predict_proba(X), one.predict_proba(X))


def test_sparse_rows_are_rows():
    X, y = classes()
    X[np.abs(X) < 0.5] = 0
    dense = PragmaForestClassifier(10, random_state=0, **WANTED).fit(X, y)
    csr = clone(dense).fit(sparse.csr_array(X), y)
    assert np.array_equal(dense.predict_proba(X), csr.predict_proba(sparse.csr_array(X)))


def test_a_class_without_a_vote_is_named():
    X, y = classes(150)
    X[0], y[0] = X[y == 0].mean(axis=0), 3
    with pytest.warns(UserWarning, match="No out-of-bag vote is for class 3: its weight"):
        forest = PragmaForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    assert forest.vote_weights_[3] == 1


def test_without_any_honest_vote_votes_weigh_alike():
    with pytest.warns(UserWarning, match="No out-of-bag vote is for class 'a', 'b'"):
        # whatever is drawn, some seed sees both rows in its only tree
        forest = next(
            forest
            for forest in (
                PragmaForestClassifier(1, random_state=seed).fit([[0.0], [1.0]], ["a", "b"]) for seed in range(50)
            )
            if np.isnan(forest.pragma_)
        )
    assert forest.vote_weights_.tolist() == [1, 1]


def test_invalid_preferences_are_one_clear_error():
    def check(parameters, message):
        forest = PragmaForestClassifier(5, random_state=0, **parameters)
        with pytest.raises(ValueError, match=message):
            forest.fit(*classes(60))
        assert not [name for name in vars(forest) if name.endswith("_")]

    check_all(
        [
            ({"importance": 0}, "importance must be a finite number greater than 0. Got 0 for class 0"),
            ({"importance": {0: 1, 1: -1, 2: 1}}, "importance must be .* Got -1 for class 1"),
            ({"importance": float("nan")}, "importance must be a finite number"),
            ({"compromise": (1.0, 0.5)}, r"compromise of class 0 .*x must be in \[0, 1\). Got 1.0"),
            ({"compromise": {0: (0, 0), 1: (0, -0.1), 2: (0, 0)}}, r"compromise of class 1 .*y must be in \[0, 1\)"),
            ({"compromise": 0.5}, r"compromise must be a pair \(x, y\)"),
            (
                {"compromise": {0: (0, 0), 1: (0, 0), 2: (0, 0), 9: (0, 0)}},
                "must name classes of the data only. .* class 9",
            ),
            ({"importance": {0: 1, 1: 1}}, "importance must have a value for every class. Got no value for class 2"),
            ({"vote_weights": [1, 2]}, "vote_weights must hold one weight for each of 3 classes"),
            ({"vote_weights": [1, 2, 0]}, "vote_weights must be a finite number greater than 0. Got 0 for class 2"),
            ({"votes": "all"}, "votes must be one of 'out_of_bag', 'in_bag'. Got 'all'"),
            ({"criterion": "mse"}, "criterion must be one of 'gini', 'entropy', 'pragma'. Got 'mse'"),
            (
                {"criterion": "pragma", "min_samples_leaf": 0.1},
                "min_samples_leaf must be an integer of at least 1. Got 0.1",
            ),
            ({"criterion": "pragma", "max_features": 1.5}, r"max_features must be .* in \(0, 1\]. Got 1.5"),
            ({"search": "grid"}, "search must be one of 'exact', 'annealing', 'both'. Got 'grid'"),
            ({"n_restarts": -1}, "n_restarts must be"),
            ({"n_bags": 1.5}, "n_bags must be an integer of at least 0. Got 1.5"),
            ({"shrinkage": -1}, "shrinkage must be None or a finite number of at least 0. Got -1"),
            ({"shrinkage": float("nan")}, "shrinkage must be None or a finite number"),
        ],
        lambda case: check(*case),
    )


def test_one_class_only_and_nan_are_refused():
    X, y = classes(60)
    with pytest.raises(ValueError, match=r"y must hold at least two classes. Got one class"):
        PragmaForestClassifier().fit(X, np.zeros(60))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X must be finite. Got NaN at row 3, column 1"):
        PragmaForestClassifier().fit(X, y)


def test_classes_that_all_get_votes_cause_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PragmaForestClassifier(20, random_state=0).fit(*classes())


def categories(n_rows=300):
    """Draw codes in no order, classes that are groups of values of two features, and labels that are values."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (n_rows, 5))
    y = np.isin(X[:, 0], [2, 7, 9]) + np.isin(X[:, 1], [0, 5, 11])
    return X, y, (X[:, :3] == [3, 8, 5]).astype(float)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "pragma"])
def test_trees_of_every_criterion_split_categories(criterion):
    X, y, _ = categories()
    how = {"criterion": criterion, "categorical_features": range(5), "max_features": None, "random_state": 0}
    forest = PragmaForestClassifier(5, n_bags=0, **how).fit(X, y)
    for tree, seen in trees(forest):
        how["random_state"] = tree.random_state
        alone = PragmaTreeClassifier(**how).fit(X[seen], y[seen])
        np.testing.assert_array_equal(tree.predict(X), alone.predict(X))
    assert forest.score(X, y) > 0.95
    assert forest.feature_importances_[:2].sum() > 0.5


@pytest.mark.parametrize("known", [1.0, 0.8])
def test_each_label_gets_a_forest_that_splits_categories(known):
    X, _, Y = categories()
    Y[np.random.default_rng(0).random(Y.shape) > known] = np.nan
    Y[:, 2] = 1
    forest = PragmaForestClassifier(8, categorical_features=range(5), random_state=0).fit(X, Y)
    assert [type(one) for one in forest.forest_] == [BaggingClassifier, BaggingClassifier, RandomForestClassifier]
    np.testing.assert_array_equal(forest.predict(X), (X[:, :3] == [3, 8, 5]) | [False, False, True])
    assert forest.feature_importances_.shape == (5,)


def test_sparse_rows_with_categories_are_refused():
    X, y, _ = categories()
    with pytest.raises(ValueError, match=r"X must be dense for categorical_features\. Got a sparse matrix"):
        PragmaForestClassifier(categorical_features=[0]).fit(sparse.csr_array(X), y)
