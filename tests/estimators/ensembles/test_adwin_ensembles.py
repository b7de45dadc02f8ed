"""Bagging and boosting with ADWIN: River's own code with our draws, and a slow loop of the papers' rules."""

import math
from itertools import product

import numpy as np
import pytest
from river import ensemble, linear_model, optim
from river.drift import ADWIN
from river.utils import random as rivers_random
from scipy import sparse

from estimators import ADWINBaggingClassifier, ADWINBoostingClassifier
from tests.estimators import streams
from tests.estimators.ensembles.draws import PoissonDraws
from tests.loops import check_all

KINDS = {"bagging": ADWINBaggingClassifier, "boosting": ADWINBoostingClassifier}
PEERS = {"bagging": ensemble.ADWINBaggingClassifier, "boosting": ensemble.ADWINBoostingClassifier}


def test_a_number_of_models_set_later_counts_from_the_next_fit():
    def check(n_models, kind):
        X, Y = streams.drawn(200)
        learner, twin = (kind(3, random_state=0, on_new_labels="grow").partial_fit(X, Y) for _ in range(2))
        learner.set_params(n_models=n_models)
        wider = np.hstack([Y, Y[:, :1]])
        for labels in (Y, wider):
            got, expected = (one.predict_then_fit(X, labels) for one in (learner, twin))
            assert np.array_equal(got[1], expected[1])
            assert np.array_equal(learner.predict_proba(X), twin.predict_proba(X))
        assert learner.n_replaced_.shape == (wider.shape[1], 3)
        assert learner.set_params(n_models=2).fit(X, Y).n_replaced_.shape == (Y.shape[1], 2)

    check_all(product([1, 7, 5000], KINDS.values()), lambda case: check(*case))


def drifting(n_rows=3000, n_features=6, n_labels=2):
    """Draw rows whose labels depend on other directions in each quarter; members are replaced there."""
    rng = np.random.default_rng(0)
    X, directions = rng.normal(size=(n_rows, n_features)), rng.normal(size=(4, n_features, n_labels))
    quarter = np.arange(n_rows) * 4 // n_rows
    return X, (np.einsum("if,ifl->il", X, directions[quarter]) > 0).astype(int)


def begin(kind, X, Y, **parameters):
    """Make a learner, and return it with the random states of its members, label by label."""
    learner = KINDS[kind](random_state=3, **parameters).begin(X[:1], Y[:1])
    return learner, learner.ensembles_.states.reshape(Y.shape[1], -1).copy()


# ---------------------------------------------------------------- River's code
def rivers(peer, X, y):
    """Run River's ensemble on a label; return decisions, probabilities and how often each member was replaced."""
    decided, proba, replaced = [], [], np.zeros(len(peer), dtype=int)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x, before = dict(enumerate(row)), list(peer.models)
        votes = peer.predict_proba_one(x)
        decided.append(max(votes, key=votes.get))
        proba.append(votes[True])
        peer.learn_one(x, bool(label))
        replaced += [one is not two for one, two in zip(before, peer.models, strict=True)]
    return np.array(decided), np.array(proba), replaced


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_with_our_draws_rivers_code_gives_the_same(kind, monkeypatch):
    X, Y = drifting()
    learner, states = begin(kind, X, Y, n_models=5, learning_rate=0.05)
    decided, proba = learner.predict_then_fit(X, Y)
    for j, y in enumerate(Y.T):
        monkeypatch.setattr(rivers_random, "poisson", PoissonDraws(states[j]))
        peer = PEERS[kind](linear_model.LogisticRegression(optimizer=optim.SGD(0.05)), n_models=5)
        expected, expected_proba, replaced = rivers(peer, X, y)
        np.testing.assert_allclose(proba[:, j], expected_proba, atol=1e-10)
        assert np.array_equal(decided[:, j], expected)
        assert np.array_equal(learner.n_replaced_[j], replaced)
        assert replaced.sum() > 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_rivers_code_gives_the_same_on_scene(kind, monkeypatch, shared_data):
    from mlstream import load_dataset

    data = load_dataset(shared_data("multilabel/Scene.arff.gz"), labels=6)
    X, Y = np.asarray(data.X[:150]), np.asarray(data.Y[:150])
    learner, states = begin(kind, X, Y)
    decided, proba = learner.predict_then_fit(X, Y)
    for j in (0, 3):
        monkeypatch.setattr(rivers_random, "poisson", PoissonDraws(states[j]))
        expected, expected_proba, _ = rivers(PEERS[kind](linear_model.LogisticRegression()), X, Y[:, j])
        np.testing.assert_allclose(proba[:, j], expected_proba, atol=1e-10)
        assert np.array_equal(decided[:, j], expected)


# ---------------------------------------------------------------- the papers' rules
class SlowEnsemble:
    """An ensemble for one label with windows over errors, written from the papers with River's model and ADWIN."""

    def __init__(self, draws, n_models, learning_rate, *, boosting):
        self.draws, self.learning_rate, self.boosting = draws, learning_rate, boosting
        self.members = [self.new_member() for _ in range(n_models)]

    def new_member(self):
        model = linear_model.LogisticRegression(optimizer=optim.SGD(self.learning_rate))
        return {"model": model, "window": ADWIN(), "right": 0.0, "wrong": 0.0}

    def vote(self, member):
        if not self.boosting or member["right"] < member["wrong"] or member["right"] + member["wrong"] == 0:
            return 1.0
        error = (member["wrong"] + 1e-16) / (member["right"] + member["wrong"] + 1e-16)
        return math.log((1 - error) / error)

    def predict(self, x):
        votes = [self.vote(member) for member in self.members]
        present = [member["model"].predict_proba_one(x)[True] for member in self.members]
        return float(np.dot(votes, present) / sum(votes)) if sum(votes) else 0.5

    def learn(self, x, y, weight=1.0):
        rate, changed = 1.0, False
        for m, member in enumerate(self.members):
            for _ in range(self.draws.draw(m, min(rate, 100.0))):
                member["model"].learn_one(x, y, w=weight)
            right = member["model"].predict_one(x) == y
            if self.boosting:
                side = "right" if right else "wrong"
                member[side] += rate
                rate *= (member["right"] + member["wrong"]) / (2 * member[side])
            before = member["window"].estimation
            member["window"].update(0 if right else 1)
            changed |= member["window"].drift_detected and member["window"].estimation > before
        if changed:
            errors = [member["window"].estimation for member in self.members]
            self.members[int(np.argmax(errors))] = self.new_member()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_variant_of_the_papers_is_the_slow_loop(kind):
    X, Y = drifting()
    learner, states = begin(kind, X, Y, n_models=5, learning_rate=0.05, variant="paper")
    proba = learner.predict_then_fit(X, Y)[1]
    for j, y in enumerate(Y.T):
        slow = SlowEnsemble(PoissonDraws(states[j]), 5, 0.05, boosting=kind == "boosting")
        for i, row in enumerate(X.tolist()):
            x = dict(enumerate(row))
            assert abs(slow.predict(x) - proba[i, j]) < 1e-8, i
            slow.learn(x, bool(y[i]))
    assert learner.n_replaced_.sum() > 3


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_labels_and_weights_are_those_of_the_slow_loop(kind):
    X, Y = drifting(600)
    rng = np.random.default_rng(2)
    weight, known = rng.choice([0.0, 0.5, 2.0], 600), rng.random(Y.shape) < 0.7
    known[:, 0] |= ~known.any(axis=1)
    learner, states = begin(kind, X, Y, n_models=4, learning_rate=0.05, variant="paper")
    learner.partial_fit(X, np.where(known, Y, np.nan), sample_weight=weight)
    proba = learner.predict_proba(X[:20])
    for j, y in enumerate(Y.T):
        slow = SlowEnsemble(PoissonDraws(states[j]), 4, 0.05, boosting=kind == "boosting")
        for i in np.flatnonzero(known[:, j] & (weight > 0)):
            slow.learn(dict(enumerate(X[i].tolist())), bool(y[i]), weight[i])
        expected = [slow.predict(dict(enumerate(row))) for row in X[:20].tolist()]
        np.testing.assert_allclose(proba[:, j], expected, atol=1e-8)


def test_the_worst_member_is_replaced_by_the_papers_rule_and_the_best_by_rivers():
    # after a drift, members that err are replaced by the one rule; by the other, those that have learnt to be right
    X = np.random.default_rng(0).normal(size=(3000, 3))
    Y = (X[:, :1] > 0).astype(int)
    Y[1500:] = 1 - Y[1500:]
    replaced = {}
    for variant in ("river", "paper"):
        learner = ADWINBaggingClassifier(5, learning_rate=0.05, variant=variant, random_state=0)
        learner.partial_fit(X[:1500], Y[:1500])
        before = learner.n_replaced_.sum()
        learner.partial_fit(X[1500:1600], Y[1500:1600])
        replaced[variant] = learner.n_replaced_.sum() - before
    assert replaced["paper"] > 0 == replaced["river"]


# ---------------------------------------------------------------- what River has not
@pytest.mark.parametrize("kind", KINDS)
def test_csr_rows_give_the_bits_of_dense_rows(kind):
    X, Y = drifting(500)
    X[np.random.default_rng(4).random(X.shape) < 0.6] = 0
    dense, thin = (begin(kind, X, Y, learning_rate=0.1)[0] for _ in range(2))
    for one, two in zip(dense.predict_then_fit(X, Y), thin.predict_then_fit(sparse.csr_array(X), Y), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("kind", KINDS)
def test_the_members_of_a_label_do_not_depend_on_other_labels(kind):
    X, Y = drifting(500, n_labels=3)
    both = KINDS[kind](4, random_state=5).fit(X, Y).predict_proba(X)
    first = KINDS[kind](4, random_state=5).fit(X, Y[:, :2]).predict_proba(X)
    assert np.array_equal(both[:, :2], first)


@pytest.mark.parametrize("variant", ["river", "paper"])
def test_boosting_stays_finite_where_hardly_any_row_is_predicted_wrongly(variant):
    # members that are nearly always right give rows that they are not right on the weight of many rows
    rng = np.random.default_rng(6)
    X, Y = np.ones((4000, 1)), (rng.random((4000, 1)) < 0.002).astype(int)
    learner = ADWINBoostingClassifier(learning_rate=1.0, variant=variant, random_state=0)
    proba = learner.predict_then_fit(X * 1e30, Y)[1]
    assert np.isfinite(proba).all()
    assert np.isfinite(learner.ensembles_.right).all()
    assert np.isfinite(learner.ensembles_.wrong).all()


def test_parameters_are_checked():
    def check(kind, parameters, message):
        with pytest.raises(ValueError, match=message):
            KINDS[kind](**parameters).fit(*streams.drawn(20))

    check_all(
        product(
            KINDS,
            [
                ({"n_models": 0}, "n_models must be an integer of at least 1. Got 0 instead"),
                ({"learning_rate": 0.0}, "learning_rate must be positive"),
                ({"delta": 1.0}, r"delta must be in \(0, 1\). Got 1.0 instead"),
                ({"delta": -1}, "delta must be a finite number in"),
                ({"variant": "moa"}, "variant must be one of 'river', 'paper'. Got 'moa' instead"),
            ],
        ),
        lambda case: check(case[0], *case[1]),
    )
