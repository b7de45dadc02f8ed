"""AESAKNNS equals a loop over lists with the same draws, and gives published cells."""

import pickle
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from benchmarks.reproduction.field_scores import faded_scores
from estimators import AESAKNNSClassifier
from mlstream import load_dataset
from tests.estimators.neighbours.slow_aesaknns import SlowEnsemble
from tests.estimators.neighbours.test_self_adjusting import noisy_stream, penalty_of
from tests.loops import check_all, in_two_tiers

SMALL = {"n_members": 3, "background_rows": 40, "max_window": 40, "min_window": 5, "random_state": 0}
LEARNERS = [AESAKNNSClassifier(**SMALL), AESAKNNSClassifier(**SMALL, faithful=True)]


def stream(n_rows=400, n_labels=4, seed=0, unknown=0.0):
    """Rows of -1/2, 0 and 1/2, whose distances are exact and tie in any scale; labels turn round, then to noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n_rows, 4)) / 2
    Y = (X @ rng.normal(size=(4, n_labels)) > 0.1).astype(float)
    Y[n_rows // 2 :] = 1 - Y[n_rows // 2 :]
    noise = slice(n_rows * 3 // 5, n_rows * 4 // 5)
    Y[noise] = rng.integers(0, 2, Y[noise].shape)
    gaps = rng.random(Y.shape) < unknown
    gaps[gaps.all(axis=1), 0] = False
    return X, np.where(gaps, np.nan, Y)


def slow_version(learner, X, Y):
    return SlowEnsemble(
        (X.shape[1], Y.shape[1]),
        learner.n_members,
        learner.subspace,
        learner.background_rows,
        learner.random_state,
        high=learner.max_window,
        low=learner.min_window,
        penalty=penalty_of(learner),
        reduction=learner.reduction,
        hamming=learner.criterion == "hamming_score",
        history=learner.k_history,
        faithful=learner.faithful,
    )


def known(y):
    return np.where(np.isnan(y), 2, y).astype(int).tolist()


OPTIONS = [
    {},
    {"n_members": 4, "background_rows": 60, "penalty": 3.0, "random_state": 1},
    {"n_members": 2, "background_rows": 3, "subspace": 0.5, "penalty": 3.0},
    {"subspace": 0.1, "penalty": 0.5, "criterion": "hamming_score", "k_history": 9},
    {"max_window": 1000, "min_window": 50, "penalty": 1.5, "reduction": 0.8, "background_rows": 130, "random_state": 1},
]


@in_two_tiers(product([False, True], OPTIONS, [0.0, 0.3]))
def test_equals_the_loop(cases):
    def check(faithful, options, unknown):
        X, Y = stream(unknown=unknown)
        learner = AESAKNNSClassifier(**{**SMALL, **options}, faithful=faithful)
        slow = slow_version(learner, X, Y)
        expected = []
        for x, y in zip(X, Y, strict=True):
            expected.append(slow.predict(x))
            slow.learn(x, known(y))
        decided, proba = learner.predict_then_fit(X, Y)
        np.testing.assert_allclose(proba, expected, atol=1e-12)
        assert np.array_equal(decided, proba >= 0.5)
        assert [list(features) for features in learner.features_] == [member.features for member in slow.members]
        assert learner.window_sizes_.tolist() == [len(member.window.rows) for member in slow.members]
        assert (learner.n_restarts_, learner.n_exchanged_) == (slow.n_restarts, slow.n_exchanged)

    check_all(cases, lambda case: check(*case))


@pytest.mark.parametrize("faithful", [False, True])
def test_members_of_the_loop_start_again_and_are_replaced(faithful):
    learners = []
    for options in OPTIONS:
        X, Y = stream(unknown=0.3)
        learners.append(AESAKNNSClassifier(**{**SMALL, **options}, faithful=faithful).fit(X, Y))
    assert max(learner.n_restarts_ for learner in learners) > 2
    assert max(learner.n_exchanged_ for learner in learners) > 2


@pytest.mark.slow
@pytest.mark.parametrize("faithful", [False, True])
def test_weights_are_those_of_the_loop(faithful):
    X, Y = stream()
    weight = np.random.default_rng(1).integers(0, 9, len(X)) / 4
    learner = AESAKNNSClassifier(**SMALL, faithful=faithful)
    slow = slow_version(learner, X, Y)
    for x, y, w in zip(X[:-1], Y[:-1], weight[:-1], strict=True):
        if w > 0:
            slow.learn(x, known(y), w)
    learner.partial_fit(X[:-1], Y[:-1], sample_weight=weight[:-1])
    np.testing.assert_allclose(learner.predict_proba(X[-1:])[0], slow.predict(X[-1]), atol=1e-12)


@pytest.mark.slow
def test_chunks_and_forms_of_rows_do_not_matter():
    def check(learner, chunk, form):
        X, Y = stream(unknown=0.2)
        _, expected = fresh(learner).predict_then_fit(X, Y)
        learner, parts = fresh(learner), [slice(begin, begin + chunk) for begin in range(0, len(X), chunk)]
        got = [learner.predict_then_fit(form(X[part]), Y[part])[1] for part in parts]
        assert np.array_equal(np.concatenate(got), expected)

    check_all(product(LEARNERS, [1, 7, 1000], [np.asarray, sparse.csr_array]), lambda case: check(*case))


def test_goes_on_when_it_is_loaded():
    def check(learner, cut):
        X, Y = stream()
        learner = fresh(learner).partial_fit(X[:cut], Y[:cut])
        loaded = pickle.loads(pickle.dumps(learner))  # noqa: S301 - written here
        assert np.array_equal(
            loaded.predict_then_fit(X[cut:], Y[cut:])[1], learner.predict_then_fit(X[cut:], Y[cut:])[1]
        )

    check_all(product(LEARNERS, [30, 41, 155]), lambda case: check(*case))


def fresh(learner):
    return AESAKNNSClassifier(**learner.get_params())


def test_noise_empties_no_window_by_default():
    X, Y = noisy_stream(0.2)
    assert AESAKNNSClassifier(random_state=0).fit(X, Y).window_sizes_.mean() > 300


def test_seeds_choose_features_and_the_authors_share_theirs():
    X, Y = stream()
    one, other = (AESAKNNSClassifier(random_state=seed).fit(X, Y) for seed in (0, 1))
    assert len({tuple(features) for features in one.features_}) > 1
    assert [list(features) for features in one.features_] != [list(features) for features in other.features_]
    shared = AESAKNNSClassifier(random_state=0, faithful=True).fit(X, Y)
    assert len({tuple(features) for features in shared.features_}) == 1


def test_memory_stays_below_what_the_windows_may_take():
    X, Y = stream(2000)
    learner = AESAKNNSClassifier(**{**SMALL, "penalty": 100.0}).fit(X, Y)
    assert max(learner.window_sizes_) == 39
    learner.partial_fit(X, Y)
    distances = 2 * learner.n_members * 8 * learner.max_window**2
    assert learner.memory_bytes_ < distances + 2 * learner.n_members * Y.shape[1] * 16 * learner.k_history + 200_000


@pytest.mark.parametrize("subspace", [0.0, 1.5])
def test_refuses_a_share_of_features_outside_its_range(subspace):
    X, Y = stream()
    with pytest.raises(ValueError, match="subspace must be above 0 and at most 1"):
        AESAKNNSClassifier(subspace=subspace).fit(X, Y)


@pytest.mark.slow
def test_gives_the_published_scores_of_scene(shared_data):
    scene = load_dataset(shared_data("multilabel/Scene.arff.gz"))
    Y = np.asarray(scene.Y, dtype=int)
    Y_pred, _ = AESAKNNSClassifier(faithful=True, random_state=0).predict_then_fit(scene.X, Y)
    printed = {"subset": 0.874, "hamming": 0.973, "f1_macro": 0.768, "f1_micro": 0.923}
    assert faded_scores(Y, Y_pred) == pytest.approx(printed, abs=0.03)
