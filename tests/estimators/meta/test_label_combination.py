from functools import reduce
from operator import add

import numpy as np
import pytest
from river import multioutput, tree
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from estimators.meta.label_combination import LabelCombination
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from tests.estimators import published, streams

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


class Told:
    """Remembers what it is taught, and votes as it was told to."""

    def __init__(self, votes=()):
        self.votes = votes
        self.taught = []

    def get_params(self, deep=True):
        return {"votes": self.votes}

    def partial_fit(self, X, codes, classes=None):
        self.taught += list(zip(X[:, 0].tolist(), codes.tolist(), strict=True))
        return self

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X):
        return np.tile(np.asarray(self.votes, dtype=float), (len(X), 1))


A, B, AB, ABC = [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]


def taught(sets, **parameters):
    X = np.arange(len(sets), dtype=float)[:, np.newaxis]
    learner = LabelCombination(Told(votes=(1.0,) * 4), max_combinations=4, **parameters).fit(X, np.array(sets))
    return learner._model.estimator.taught


def test_without_pruning_every_set_has_a_code_in_the_order_they_come():
    assert taught([A, AB, A, B]) == [(0, 0), (1, 1), (2, 0), (3, 2)]


def test_rows_of_a_rare_set_wait_until_it_is_frequent():
    assert taught([A, B, A, A, B, B], pruning=1) == [(0, 0), (2, 0), (3, 0), (1, 1), (4, 1), (5, 1)]


def test_a_row_that_waits_too_long_is_learnt_with_its_largest_frequent_subset():
    sets = [A, A, AB, AB, ABC, B]
    assert taught(sets, pruning=1, buffer_size=1)[-1] == (4, 1)


def test_a_row_without_a_frequent_subset_is_dropped():
    assert taught([B, A, A, ABC], pruning=1, buffer_size=0) == [(2, 0), (3, 0)]


def test_sets_past_the_last_code_are_taken_for_subsets():
    sets = [A, B, AB, [0, 0, 1], ABC, ABC]
    assert taught(sets, buffer_size=0) == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 2), (5, 2)]


def test_probabilities_are_marginals_and_decisions_the_best_set():
    learner = LabelCombination(Told(votes=(0.4, 0.3, 0.2, 0.1)), max_combinations=4)
    learner.fit(np.zeros((3, 1)), np.array([A, AB, B]))
    # 0.1 of an unknown set is left out
    np.testing.assert_allclose(learner.predict_proba(np.zeros((1, 1))), [[0.7 / 0.9, 0.5 / 0.9, 1e-300]], atol=1e-12)
    assert learner.predict(np.zeros((1, 1))).tolist() == [A]


def test_twenty_labels_are_no_burden():
    rng = np.random.default_rng(0)
    X, Y = rng.random((2000, 3)), (rng.random((2000, 20)) < 0.3).astype(int)
    learner = LabelCombination(HoeffdingTreeClassifier(), max_combinations=32, buffer_size=10).fit(X, Y)
    assert learner.n_sets_ == 32
    assert len(learner._sets.counts) <= 42
    assert learner.memory_bytes_ < 2_000_000


def test_decisions_are_rivers_label_combination(monkeypatch):
    # From Python 3.12 on, a sum of floats is compensated, and River decides between near equals by the last bits.
    monkeypatch.setattr("builtins.sum", lambda values, start=0: reduce(add, values, start))
    X, Y = streams.drawn()
    learner = LabelCombination(HoeffdingTreeClassifier(**EAGER), decisions="published")
    decided, _ = learner.predict_then_fit(X, Y)
    river = multioutput.MultiClassEncoder(tree.HoeffdingTreeClassifier(**EAGER))
    for i, (row, labels) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
        x = dict(enumerate(row))
        answer = river.predict_one(x)
        assert decided[i].tolist() == [int(answer.get(j, 0)) for j in range(3)]
        river.learn_one(x, dict(enumerate(labels)))


@pytest.mark.parametrize(
    ("name", "settings", "printed"),
    [
        ("monolab", (200, 1e-6, 0.05), [0.613, 0.641, -0.243, 0.094, -0.030, 0.250]),
        ("bilab", (100, 1e-6, 0.05), [0.668, 0.679, -0.144, 0.053, -0.235, 0.290]),
        ("rand", (100, 1e-6, 0.05), [0.771, 0.801, -0.029, 0.012, -0.022, 0.436]),
    ],
)
def test_published_scores_come_out(name, settings, printed, shared_data):
    base = HoeffdingTreeClassifier(**dict(zip(("grace_period", "delta", "tau"), settings, strict=True)))
    stream = published.load(shared_data, name)
    answers = published.test_then_train(LabelCombination(base, decisions="published"), stream)
    np.testing.assert_allclose(published.scores(answers, stream), printed, atol=0.01)


@pytest.mark.slow
def test_classes_that_come_later_suit_classifiers_that_refuse_them():
    X, Y = streams.drawn(300)
    learner = LabelCombination(SGDClassifier(loss="log_loss", random_state=0), max_combinations=8)
    decided, _ = learner.partial_fit(X[:1], Y[:1]).predict_then_fit(X[1:], Y[1:])
    assert (decided == Y[1:]).mean() > 0.6


def test_sparse_rows_may_wait():
    X, Y = streams.drawn(300)
    X[X < 0.5] = 0
    one, two = (
        LabelCombination(HoeffdingTreeClassifier(), pruning=3, buffer_size=5).fit(form(X), Y)
        for form in (np.array, sparse.csr_array)
    )
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pruning": -1}, "pruning must be an integer of at least 0. Got -1"),
        ({"buffer_size": -1}, "buffer_size must be an integer of at least 0. Got -1"),
        ({"decisions": "all"}, "decisions must be one of 'best-set', 'published'. Got 'all'"),
        ({"max_combinations": 1}, "max_combinations must be an integer of at least 2. Got 1"),
    ],
)
def test_senseless_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        LabelCombination(HoeffdingTreeClassifier(), **parameters).fit(*streams.drawn(20))
