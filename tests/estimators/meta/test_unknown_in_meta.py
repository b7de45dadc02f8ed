"""Meta-estimators and unknown labels, against slow loops over rows and labels."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from estimators.meta.binary_relevance import BinaryRelevance
from estimators.meta.classifier_chain import ClassifierChain
from estimators.meta.label_combination import LabelCombination
from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier
from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from tests.estimators import streams
from tests.estimators.trees.test_unknown_in_trees import partly_known
from tests.loops import check_all, in_two_tiers

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}
TREE = HoeffdingTreeClassifier(**EAGER)
ADAPTIVE = HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0)


# ----------------------------------------------------------- binary relevance
@in_two_tiers(product(["first-row", "first-positive"], [TREE, ADAPTIVE, BernoulliNB(binarize=0.5)]))
def test_the_classifier_of_a_label_learns_the_rows_where_it_is_known(cases):
    def check(start, base):
        X, Y = partly_known(300)
        # the only positives of the last label among the first rows are unknown
        Y[:60, 2] = np.where(Y[:60, 2] == 1, np.nan, Y[:60, 2])
        learner = BinaryRelevance(base, start=start).begin(X, Y)
        decided, proba = learner.predict_then_fit(X[:200], Y[:200])
        learner.partial_fit(X[200:], Y[200:])
        for j in range(3):
            known = np.flatnonzero(~np.isnan(Y[:, j]))
            label = np.nan_to_num(Y[:, [j]]).astype(int)
            alone = BinaryRelevance(base, start=start).begin(X, label)
            for i in range(200):
                assert (decided[i, j], proba[i, j]) == (alone.predict(X[[i]])[0, 0], alone.predict_proba(X[[i]])[0, 0])
                if i in known:
                    alone.partial_fit(X[[i]], label[[i]])
            alone.partial_fit(X[known[known >= 200]], label[known[known >= 200]])
            np.testing.assert_allclose(learner.predict_proba(X)[:, j], alone.predict_proba(X)[:, 0], rtol=1e-12)

    check_all(cases, lambda case: check(*case))


def test_forests_in_binary_relevance_learn_known_rows_however_the_stream_is_cut():
    X, Y = partly_known(120)
    learner = BinaryRelevance(AdaptiveRandomForestClassifier(2, random_state=0))
    whole = learner.begin(X, Y).predict_then_fit(X, Y)[1]
    learner.begin(X, Y)
    for i in range(len(X)):
        assert np.array_equal(learner.predict_then_fit(X[[i]], Y[[i]])[1][0], whole[i])


def test_probabilities_that_are_not_numbers_count_as_none():
    X, Y = streams.drawn(50)
    with warnings.catch_warnings():
        # GaussianNB divides by the variances of one row, which are 0
        warnings.simplefilter("ignore", RuntimeWarning)
        _, proba = BinaryRelevance(GaussianNB()).begin(X, Y).predict_then_fit(X, Y)
    assert np.isfinite(proba).all()
    assert (proba[1] < 1e-9).all()


# ---------------------------------------------------------------------- chain
def slow_chain(X, Y, order, chain_features, weight):
    """Walk the chain row by row: predict every label, then let each tree learn the row if it knows its label."""
    per_label = 1 if chain_features == "true" else 2
    trees = [
        HoeffdingTreeClassifier(**EAGER).begin(np.zeros((2, X.shape[1] + per_label * k)), [0, 1])
        for k in range(len(order))
    ]
    decided, proba = np.zeros(Y.shape, int), np.zeros(Y.shape)
    for i, x in enumerate(X):
        seen, learnt = x.tolist(), x.tolist()
        for tree, j in zip(trees, order, strict=True):
            p = tree.bank_.predict(np.array([seen]))[0, 0]
            decided[i, j], proba[i, j] = p[1] > p[0], p[1]
            if not np.isnan(Y[i, j]) and weight[i]:
                tree.partial_fit([learnt], [int(Y[i, j])], sample_weight=weight[[i]])
            if chain_features == "predicted":
                seen = learnt = seen + p.tolist()
            else:
                seen = [*seen, decided[i, j]]
                learnt = [*learnt, decided[i, j] if np.isnan(Y[i, j]) else Y[i, j]]
    return decided, proba, trees


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chain_features", ["true", "predicted"])
def test_later_classifiers_learn_what_the_chain_predicts_for_an_unknown_label(chain_features, weighted):
    X, Y = partly_known(500)
    order = [2, 0, 1]
    weight = np.random.default_rng(2).choice([0.0, 1.0, 2.0], len(X)) if weighted else np.ones(len(X))
    learner = ClassifierChain(TREE, order=order, chain_features=chain_features).begin(X, Y)
    decided, proba, trees = slow_chain(X, Y, order, chain_features, weight)
    if weighted:
        learner.partial_fit(X, Y, sample_weight=weight)
    else:
        one, two = learner.predict_then_fit(X, Y)
        assert np.array_equal(one, decided)
        np.testing.assert_allclose(two, proba, atol=1e-12)
    for member, tree in zip(learner._chains[0], trees, strict=True):
        probe = np.random.default_rng(3).random((50, tree.n_features_in_))
        assert np.array_equal(member.bank.predict(probe), tree.bank_.predict(probe))
    assert any(len(tree.bank_.tree_arrays[0].nodes) > 3 for tree in trees)


# --------------------------------------------------------------- combinations
@pytest.mark.parametrize("options", [{}, {"pruning": 2, "buffer_size": 30}], ids=["all sets", "pruned sets"])
def test_only_rows_whose_set_is_known_are_learnt_as_a_combination(options):
    X, Y = partly_known(500)
    complete = ~np.isnan(Y).any(axis=1)
    learner = LabelCombination(TREE, **options).begin(X, Y)
    decided, proba = learner.predict_then_fit(X[:300], Y[:300])
    slow = LabelCombination(TREE, **options).begin(X, np.nan_to_num(Y).astype(int))
    for i in range(300):
        assert np.array_equal(slow.predict(X[[i]])[0], decided[i])
        assert np.array_equal(slow.predict_proba(X[[i]])[0], proba[i])
        if complete[i]:
            slow.partial_fit(X[[i]], Y[[i]].astype(int))
    weight = np.where(np.arange(200) % 5 == 0, 2.0, 1.0)
    learner.partial_fit(X[300:], Y[300:], sample_weight=weight)
    rest = np.flatnonzero(complete[300:])
    slow.partial_fit(X[300:][rest], Y[300:][rest].astype(int), sample_weight=weight[rest])
    assert np.array_equal(learner.predict_proba(X), slow.predict_proba(X))
    assert learner.n_sets_ == slow.n_sets_ > 1
