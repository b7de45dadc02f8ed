import numpy as np
import pytest
from river import multioutput, tree
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from estimators.meta.classifier_chain import ClassifierChain
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from tests.estimators import published, streams

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


def test_a_chain_learns_from_true_labels_and_predicts_from_decided_ones():
    X, Y = streams.drawn()
    order = [2, 0, 1]
    chain = ClassifierChain(HoeffdingTreeClassifier(**EAGER), order=order).fit(X[:1000], Y[:1000])
    seen, learnt = X[1000:], X[:1000]
    for label in order:
        one = HoeffdingTreeClassifier(**EAGER).fit(learnt, Y[:1000, label])
        decided = one.predict(seen)
        assert np.array_equal(chain.predict(X[1000:])[:, label], decided)
        learnt, seen = np.column_stack([learnt, Y[:1000, label]]), np.column_stack([seen, decided])


def test_test_then_train_of_a_chunk_is_the_loop_over_rows():
    X, Y = streams.drawn(300)
    chunk = ClassifierChain(HoeffdingTreeClassifier(**EAGER)).predict_then_fit(X, Y)
    learner = ClassifierChain(HoeffdingTreeClassifier(**EAGER)).begin(X, Y)
    for i in range(300):
        row = slice(i, i + 1)
        assert np.array_equal(learner.predict(X[row]), chunk[0][row])
        assert np.array_equal(learner.predict_proba(X[row]), chunk[1][row])
        learner.partial_fit(X[row], Y[row])


def test_decisions_from_predicted_labels_are_rivers():
    X, Y = streams.drawn()
    # River's first row has no features of labels yet; both classes of each label come first in both
    Y[:2] = [[0, 0, 0], [1, 1, 1]]
    decided, _ = ClassifierChain(HoeffdingTreeClassifier(**EAGER), chain_features="predicted").predict_then_fit(X, Y)
    river = multioutput.ClassifierChain(tree.HoeffdingTreeClassifier(**EAGER), order=[0, 1, 2])
    differ = 0
    for i, (row, labels) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
        x = dict(enumerate(row))
        answer = river.predict_one(x)
        differ += decided[i].tolist() != [int(answer.get(j, 0) or 0) for j in range(3)]
        river.learn_one(x, dict(enumerate(labels)))
    assert differ <= 15


def test_published_scores_come_out(shared_data):
    # on the other two streams River leaves out features of values that a label has not had yet; here all come at once
    base = HoeffdingTreeClassifier(grace_period=100, delta=1e-7, tau=0.05)
    stream = published.load(shared_data, "rand")
    answers = published.test_then_train(ClassifierChain(base, chain_features="predicted"), stream)
    printed = [0.887, 0.917, -0.042, 0.024, -0.023, 0.309]
    np.testing.assert_allclose(published.scores(answers, stream), printed, atol=0.01)


def test_an_ensemble_averages_chains_of_different_orders():
    X, Y = streams.drawn(600, n_labels=5)
    ensemble = ClassifierChain(HoeffdingTreeClassifier(**EAGER), order="random", n_chains=4, random_state=0).fit(X, Y)
    assert len({tuple(order) for order in ensemble.orders_.tolist()}) > 1
    alone = [
        ClassifierChain(HoeffdingTreeClassifier(**EAGER), order=order).fit(X, Y).predict_proba(X)
        for order in ensemble.orders_
    ]
    np.testing.assert_allclose(ensemble.predict_proba(X), np.mean(alone, axis=0), atol=1e-12)


def test_sparse_rows_stay_sparse():
    X, Y = streams.drawn(300)
    X[X < 0.5] = 0
    one, two = (ClassifierChain(BernoulliNB()).fit(form(X), Y) for form in (np.array, sparse.csr_array))
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(sparse.csr_array(X)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": [0, 0, 1]}, r"permutation of 0..2. Got \[0, 0, 1\]"),
        ({"order": "best"}, "order must be 'given', 'random' or a permutation"),
        ({"chain_features": "all"}, "chain_features must be one of 'true', 'predicted'. Got 'all'"),
        ({"n_chains": 0}, "n_chains must be an integer of at least 1. Got 0"),
    ],
)
def test_senseless_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        ClassifierChain(GaussianNB(), **parameters).fit(*streams.drawn(20))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"n_chains": 1}, {"n_chains": 3}),
        ({"n_chains": 3}, {"n_chains": 1}),
        ({"chain_features": "true"}, {"chain_features": "predicted"}),
        ({"chain_features": "predicted"}, {"chain_features": "true"}),
    ],
)
def test_chains_that_have_begun_keep_their_number_and_their_features(before, after):
    X = np.random.default_rng(0).random((400, 4))
    Y = (X[:, :3] > 0.5).astype(int)
    changed, kept = (
        ClassifierChain(HoeffdingTreeClassifier(), order="random", random_state=0, on_new_labels="grow", **before)
        for _ in "ab"
    )
    for chain in (changed, kept):
        chain.partial_fit(X, Y[:, :2])
    changed.set_params(**after)
    for labels in (Y[:, :2], Y):
        found, expected = (np.array(chain.predict_then_fit(X, labels)) for chain in (changed, kept))
        assert np.array_equal(found, expected)
    found, expected = (np.array(chain.predict_then_fit_one(X[0], Y[0])) for chain in (changed, kept))
    assert np.array_equal(found, expected)
    assert changed.fit(X, Y).orders_.shape == (changed.n_chains, 3)
