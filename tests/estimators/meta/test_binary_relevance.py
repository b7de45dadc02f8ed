import numpy as np
import pytest
from river.tree import HoeffdingTreeClassifier as RiverTree
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from estimators.interop.river import RiverClassifier
from estimators.meta.binary_relevance import BinaryRelevance
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from tests.estimators import published, streams

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


def test_a_label_is_learnt_as_if_there_were_no_other():
    X, Y = streams.drawn()
    together = BinaryRelevance(HoeffdingTreeClassifier(**EAGER)).fit(X, Y).predict_proba(X)
    for j in range(3):
        alone = HoeffdingTreeClassifier(**EAGER).fit(X, Y[:, j]).predict_proba(X)
        np.testing.assert_allclose(together[:, j], alone[:, 1], atol=1e-12)


@pytest.mark.parametrize("start", ["first-row", "first-positive"])
def test_trees_compiled_equal_trees_one_by_one(start):
    class Tree(HoeffdingTreeClassifier):
        """A type of its own, which binary relevance takes for anyone's classifier."""

    X, Y = streams.drawn()
    Y[:200, 1] = 0
    ours = BinaryRelevance(HoeffdingTreeClassifier(**EAGER), start=start).predict_then_fit(X, Y)
    loop = BinaryRelevance(Tree(**EAGER), start=start).predict_then_fit(X, Y)
    np.testing.assert_array_equal(ours[0], loop[0])
    # of nothing at all, a classifier of one class says one half
    np.testing.assert_allclose(ours[1][1:], loop[1][1:], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["first-row", "first-positive"])
def test_decisions_are_rivers(start):
    X, Y = streams.drawn()
    Y[:200, 1] = 0
    ours = BinaryRelevance(HoeffdingTreeClassifier(**EAGER), start=start).predict_then_fit(X, Y)
    river = RiverClassifier(RiverTree(**EAGER), start=start).predict_then_fit(X, Y)
    np.testing.assert_array_equal(ours[0], river[0])
    np.testing.assert_allclose(ours[1], river[1], atol=1e-10)


# printed: BA, ACC and the stepwise transfers BWT-, BWT+, FWT-, FWT+
@pytest.mark.parametrize(
    ("name", "settings", "printed"),
    [
        ("monolab", (200, 1e-7, 0.1), [0.722, 0.642, -0.259, 0.0, 0.0, 0.167]),
        ("bilab", (200, 1e-7, 0.05), [0.892, 0.867, -0.144, 0.071, -0.133, 0.329]),
        ("rand", (100, 1e-7, 0.05), [0.889, 0.918, -0.045, 0.044, -0.009, 0.456]),
    ],
)
def test_published_scores_come_out(name, settings, printed, shared_data):
    tree = HoeffdingTreeClassifier(**dict(zip(("grace_period", "delta", "tau"), settings, strict=True)))
    stream = published.load(shared_data, name)
    answers = published.test_then_train(BinaryRelevance(tree, start="first-positive"), stream)
    np.testing.assert_allclose(published.scores(answers, stream), printed, atol=0.01)


def test_threads_change_no_bit():
    X, Y = streams.drawn(4000, 20, 5)
    one, two = (BinaryRelevance(HoeffdingTreeClassifier(**EAGER), n_jobs=n) for n in (1, 2))
    for a, b in zip(one.predict_then_fit(X, Y), two.predict_then_fit(X, Y), strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert len(two._models.groups) == 2


def test_masked_labels_learn_nothing_from_a_row():
    X, Y = streams.drawn()
    mask = np.random.default_rng(0).random(Y.shape) < 0.7
    mask[:, 2] = True
    learner = BinaryRelevance(HoeffdingTreeClassifier(**EAGER), targeted=True).fit(X, Y, label_mask=mask)
    for j in range(3):
        alone = HoeffdingTreeClassifier(**EAGER).fit(X[mask[:, j]], Y[mask[:, j], j])
        assert np.array_equal(learner.predict(X)[:, j], alone.predict(X))


def test_before_its_first_positive_a_label_is_predicted_absent():
    X, Y = streams.drawn(300)
    Y[:200, 0] = 0
    decided, proba = BinaryRelevance(HoeffdingTreeClassifier(), start="first-positive").predict_then_fit(X, Y)
    first = int(np.argmax(Y[:, 0]))
    assert decided[: first + 1, 0].max() == 0
    assert proba[: first + 1, 0].max() < 1e-300
    assert decided[first + 1, 0] == 1


def test_copies_have_their_own_seeds_if_there_is_one_for_all():
    X, Y = streams.drawn(300)
    Y[:, 1] = Y[:, 0]
    base = SGDClassifier(loss="log_loss")
    same, other = (BinaryRelevance(base.set_params(random_state=3), random_state=s).fit(X, Y) for s in (None, 1))
    assert np.array_equal(*same.predict_proba(X).T[:2])
    assert not np.array_equal(*other.predict_proba(X).T[:2])


def test_linear_models_that_do_not_shuffle_depend_on_cuts_in_the_last_bits_only():
    unshuffled = BinaryRelevance(SGDClassifier(loss="log_loss", shuffle=False, random_state=0))
    X, Y = streams.drawn(300)
    whole, cut = clone(unshuffled).fit(X, Y), clone(unshuffled)
    for i in range(0, 300, 7):
        cut.partial_fit(X[i : i + 7], Y[i : i + 7])
    np.testing.assert_allclose(whole.predict_proba(X), cut.predict_proba(X), atol=1e-9)


@pytest.mark.slow
def test_decisions_of_a_classifier_without_probabilities_are_its_votes():
    X, Y = streams.drawn(300)
    decided, proba = BinaryRelevance(Perceptron(random_state=0)).predict_then_fit(X, Y)
    np.testing.assert_allclose(decided, proba, atol=1e-15)


def test_sparse_rows_reach_the_classifier_sparse():
    X, Y = streams.drawn(300)
    X[X < 0.5] = 0
    dense, csr = (
        BinaryRelevance(BernoulliNB()).fit(form(X), Y).predict_proba(X) for form in (np.array, sparse.csr_array)
    )
    np.testing.assert_allclose(dense, csr)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        BinaryRelevance(GaussianNB()).fit(sparse.csr_array(X), Y)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (BinaryRelevance(HoeffdingTreeClassifier(), start="late"), "start must be"),
        (BinaryRelevance(HoeffdingTreeClassifier(tau=-1)), "tau must be at least 0"),
        (BinaryRelevance(object()), "estimator must be a classifier instance with partial_fit"),
        (BinaryRelevance(GaussianNB), "estimator must be a classifier instance with partial_fit"),
    ],
)
def test_senseless_parameters_are_refused(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*streams.drawn(20))
