"""Our compiled networks take the steps that torch takes."""

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from estimators import DivergedError, FIFOMemory, OnlineNeuralClassifier, ReservoirMemory, make_strategy
from mlstream import load_dataset
from tests.estimators import published, streams
from tests.estimators.learners import refuses_until_it_is_fitted
from tests.loops import check_all, in_two_tiers

SAMPLING, FIFO = {"reservoir": ReservoirMemory(40, 5)}, {"fifo": FIFOMemory(30, 5)}
TARGETED = {"targeted_loss": "signature"}
VARIANTS = {
    "NN": {},
    "NN_TL": TARGETED,
    "published loss": {"targeted_loss": "published"},
    "NN_TLH": {"hidden_units": 20, **TARGETED},
    "two hidden layers": {"hidden_units": (9, 7), **TARGETED},
    "NN_TLH_sampling": {"hidden_units": 20, **TARGETED, **SAMPLING},
    "NN_TLH_fifo": {"hidden_units": 20, **TARGETED, **FIFO},
    "NN_TLH_memories": {"hidden_units": 20, **TARGETED, **SAMPLING, **FIFO},
    "NN_TLH_mini_memories": {"hidden_units": 20, **TARGETED, **SAMPLING, **FIFO, "replay": "mini-batch"},
    "linear replay": {**TARGETED, **SAMPLING, **FIFO},
    "linear mini-batch": {**TARGETED, **SAMPLING, "replay": "mini-batch"},
    "mini-batches of five": {"hidden_units": 6, "reservoir": ReservoirMemory(40, 4), "replay": "mini-batch"},
    "mini-batches of nine": {"reservoir": ReservoirMemory(40, 1), "fifo": FIFOMemory(30, 7), "replay": "mini-batch"},
    "frozen": {"hidden_units": 20, **TARGETED, "freeze_masked": True},
    "frozen, linear": {**TARGETED, "freeze_masked": True},
    "frozen mini-batch": {"hidden_units": 20, **TARGETED, **SAMPLING, "replay": "mini-batch", "freeze_masked": True},
    "descent": {"hidden_units": 20, "optimizer": "sgd", "learning_rate": 0.1, **TARGETED},
    "standardised": {"hidden_units": 20, "standardize": True, **FIFO},
    "scaled": {"hidden_units": 20, "standardize": "scale", **FIFO},
    "balanced": {"hidden_units": 20, "balance_labels": True, **TARGETED, **SAMPLING, "replay": "mini-batch"},
}


def made(name, **parameters):
    return OnlineNeuralClassifier(**{**VARIANTS[name], "random_state": 0, **parameters})


def masked_stream(n_rows=2000, n_features=6, n_labels=5):
    """Draw a stream of three tasks, one after the other, with rows of weight 0 and 2 among those of weight 1."""
    X, Y = streams.drawn(n_rows, n_features, n_labels)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = 0
    signatures = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]], dtype=bool)
    mask = signatures[np.arange(n_rows) * 3 // n_rows]
    weight = np.random.default_rng(2).choice([0, 1, 2], n_rows, p=[0.1, 0.8, 0.1]).astype(float)
    return X, Y * mask, mask, weight


# ------------------------------------------------------------------ arithmetic
@in_two_tiers(["NN_TLH", *(name for name in VARIANTS if name != "NN_TLH")])
def test_every_step_is_torchs(cases):
    oracle = pytest.importorskip("tests.estimators.networks.torch_oracle", reason="torch is not installed")

    def check(name):
        replays = any(isinstance(value, ReservoirMemory | FIFOMemory) for value in VARIANTS[name].values())
        X, Y, mask, weight = masked_stream(300 if replays else 2000)
        ours = made(name, dtype="float64").begin(X, Y)
        theirs = oracle.TorchNetwork(ours)
        answers = theirs.predict_then_fit(X, Y, mask, weight)
        given = []
        for i in range(0, len(Y), 100):
            part = slice(i, i + 100)
            given.append(ours.predict_proba(X[part][:1]))
            ours.partial_fit(X[part], Y[part], label_mask=mask[part], sample_weight=weight[part])
        np.testing.assert_allclose(np.vstack(given), answers[::100], rtol=0, atol=1e-10)
        with oracle.torch.no_grad():
            np.testing.assert_allclose(
                ours.predict_proba(X), theirs.module(theirs._features(X)).numpy(), rtol=0, atol=1e-10
            )

    check_all(cases, check)


def test_to_torch_gives_the_same_probabilities():
    torch = pytest.importorskip("torch")
    X, Y, *_ = masked_stream(300)
    for learner in map(made, ("two hidden layers", "NN", "standardised", "scaled")):
        for kind in (np.asarray, sparse.csr_array):
            learnt = clone(learner).fit(kind(X), Y)
            with torch.no_grad():
                theirs = learnt.to_torch()(torch.tensor(X, dtype=torch.float32)).numpy()
            np.testing.assert_allclose(learnt.predict_proba(X), theirs, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------- sparse
def sparse_stream(n_rows=1500, n_features=60, n_labels=5):
    """Draw rows of few features, some so rare that hundreds of steps are made up for at once."""
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, n_features)) * (rng.random((n_rows, n_features)) < np.geomspace(0.5, 0.002, n_features))
    _, Y, mask, weight = masked_stream(n_rows, n_labels=n_labels)
    return X, Y, mask, weight


@pytest.mark.slow
def test_sparse_rows_teach_what_dense_rows_teach():
    def check(name):
        X, Y, mask, weight = sparse_stream()
        dense, rows = made(name, dtype="float64").begin(X, Y), sparse.csr_array(X)
        few = clone(dense).begin(rows, Y)
        for i in range(0, len(Y), 150):
            part = slice(i, i + 150)
            for learner, chunk in ((dense, X[part]), (few, rows[part])):
                learner.partial_fit(chunk, Y[part], label_mask=mask[part], sample_weight=weight[part])
            np.testing.assert_allclose(few.predict_proba(rows), dense.predict_proba(X), rtol=0, atol=1e-9)

    check_all([name for name in VARIANTS if name != "standardised"], check)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NN", "NN_TLH", "NN_TLH_memories"])
def test_sparse_rows_of_slashdot_teach_what_dense_rows_teach(name, shared_data):
    data = load_dataset(shared_data("multilabel/Slashdot.arff"))
    X, Y = sparse.csr_array(data.X)[:1000], np.asarray(data.Y)[:1000]
    learner = made(name, dtype="float64")
    dense, few = (clone(learner).predict_then_fit(rows, Y)[1] for rows in (X.toarray(), X))
    np.testing.assert_allclose(few, dense, rtol=0, atol=1e-9)


def test_rates_that_change_and_dense_rows_in_between_are_made_up_for():
    X, Y, *_ = sparse_stream(600)
    dense = made("NN_TLH_sampling", dtype="float64")
    mixed = clone(dense)
    for i, rate in ((0, 0.01), (200, 0.001), (400, 0.05)):
        part = slice(i, i + 200)
        chunk = X[part] if i == 200 else sparse.csr_array(X[part])
        dense.set_params(learning_rate=rate).partial_fit(X[part], Y[part])
        mixed.set_params(learning_rate=rate).partial_fit(chunk, Y[part])
    np.testing.assert_allclose(mixed.predict_proba(X), dense.predict_proba(X), rtol=0, atol=1e-9)


# ----------------------------------------------------------------------- state
LAWFUL = ["NN", "NN_TLH", "NN_TLH_memories", "NN_TLH_mini_memories", "frozen mini-batch", "scaled", "balanced"]


def test_a_network_cut_anywhere_and_saved_in_between_goes_on_bit_for_bit():
    def check(kind, name):
        X, Y, mask, _ = masked_stream(400)
        X = kind(X)
        whole = made(name).partial_fit(X, Y, label_mask=mask)
        cut = made(name)
        for start, stop in ((0, 1), (1, 2), (2, 130), (130, 131), (131, 400)):
            part = slice(start, stop)
            cut = pickle.loads(pickle.dumps(cut)).partial_fit(X[part], Y[part], label_mask=mask[part])  # noqa: S301
        np.testing.assert_array_equal(cut.predict_proba(X), whole.predict_proba(X))
        assert cut.n_steps_ == whole.n_steps_

    check_all(product([np.asarray, sparse.csr_array], LAWFUL), lambda case: check(*case))


# ------------------------------------------------------------------- published
# ACC of Table 2 of the survey's section on networks, on three synthetic streams
PRINTED = {
    "NN": (0.675, 0.768, 0.879),
    "NN_TL": (0.943, 0.942, 0.879),
    "NN_TLH_mini_memories": (0.968, 0.971, 0.919),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tolerance"), [("NN", 0.002), ("NN_TL", 0.002), ("NN_TLH_mini_memories", 0.006)])
def test_scores_on_the_synthetic_streams_are_those_printed(name, tolerance, shared_data):
    rate = 0.01 if "memories" in name else 0.1
    learner = make_strategy(name, learning_rate=rate)
    for k, stream_name in enumerate(published.NAMES):
        stream = published.load(shared_data, stream_name)
        seeds = [published_acc(clone(learner).set_params(random_state=seed), stream) for seed in range(10)]
        assert np.mean(seeds) == pytest.approx(PRINTED[name][k], abs=tolerance)


def published_acc(learner, stream):
    return published.scores(published.test_then_train(learner, stream, told=True), stream)[1]


# ---------------------------------------------------------------------- bounds
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_memory_does_not_grow_with_the_stream(kind):
    X, Y, *_ = masked_stream(1000)
    X, learner, peaks = kind(X), made("NN_TLH_mini_memories"), []
    tracemalloc.start()
    for _ in range(3):
        for _ in range(10):
            learner.predict_then_fit(X, Y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.reset_peak()
    tracemalloc.stop()
    assert peaks[2] < 1.05 * peaks[0]


def test_weights_that_rest_hold_no_denormal_numbers():
    X = np.ones((3000, 3), np.float32)
    X[1000:, 1] = 0
    learner = made("NN_TLH").fit(X, np.ones((3000, 2), dtype=int))
    for name in "mv":
        moments = learner._state[name]
        assert abs(moments[moments != 0]).min() >= np.finfo(np.float32).tiny


# ------------------------------------------------------------------- bad input
def spoilt(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


@pytest.mark.parametrize("name", ["NN", "NN_TLH_memories"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_call_with_invalid_input_changes_nothing(name, kind):
    X, Y, *_ = masked_stream(100)
    learner = made(name).fit(kind(X), Y)
    before = learner.predict_proba(X)
    none = np.ones(Y.shape, dtype=bool)
    none[5] = False
    calls = {
        "NaN at row 3, column 2": lambda: learner.partial_fit(kind(spoilt(X, np.nan)), Y),
        r"infinity \(inf\) at row 3, column 2": lambda: learner.partial_fit(kind(spoilt(X, np.inf)), Y),
        "row without any, row 5": lambda: learner.partial_fit(kind(X), Y, label_mask=none),
        "as fixed at the first call. Got 6": lambda: learner.partial_fit(kind(X), np.hstack([Y, Y[:, :1]])),
        "must fit float32": lambda: learner.partial_fit(kind(spoilt(X, 1e300)), Y),
    }
    for message, call in calls.items():
        with pytest.raises(ValueError, match=message):
            call()
        np.testing.assert_array_equal(learner.predict_proba(X), before)


def same_state(one, two):
    return all(np.array_equal(one._state[name], two._state[name]) for name in one._state)


def test_a_row_too_large_to_learn_asks_for_fit():
    def check(name, spoilt_kind, n_rows):
        X, Y, *_ = sparse_stream(300)
        learner = made(name).fit(X, Y)
        with pytest.raises(DivergedError, match=r"diverged at row 0: .* features up to 1e[+]30 and learning_rate"):
            learner.partial_fit(spoilt_kind(spoilt(X, 1e30)[3 : 3 + n_rows]), Y[3 : 3 + n_rows])
        refuses_until_it_is_fitted(learner, clone(learner), X, Y)

    check_all(
        product(
            ["NN", "NN_TLH", "NN_TLH_memories", "NN_TLH_mini_memories", "descent", "balanced"],
            [np.asarray, sparse.csr_array],
            [1, 20],
        ),
        lambda case: check(*case),
    )


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("method", ["partial_fit", "predict_then_fit"])
def test_steps_that_are_too_long_ask_for_fit(optimizer, method):
    X, Y, *_ = masked_stream(100)
    learner = OnlineNeuralClassifier((9, 7), optimizer=optimizer, random_state=0).fit(X, Y)
    twin = clone(learner)
    with pytest.raises(DivergedError, match=r"diverged at row \d+: .* learning_rate 1e\+16 instead"):
        getattr(learner.set_params(learning_rate=1e16), method)(X, Y)
    refuses_until_it_is_fitted(learner.set_params(learning_rate=0.01), twin, X, Y)


def test_a_row_too_large_to_predict_changes_nothing():
    X, Y, *_ = masked_stream(100)
    learner = OnlineNeuralClassifier(learning_rate=10.0, random_state=0).fit(X, Y)
    before = learner.predict_proba(X)
    with pytest.raises(DivergedError, match="diverged at row 3"):
        learner.predict_proba(spoilt(X, 3e38))
    np.testing.assert_array_equal(learner.predict_proba(X), before)


def test_a_learning_rate_too_large_for_the_precision_changes_nothing():
    def check(dtype, rate, parameters):
        X, Y, *_ = masked_stream(100)
        learner = OnlineNeuralClassifier(**parameters, dtype=dtype, random_state=0).fit(X, Y)
        before = learner.predict_proba(X)
        with pytest.raises(ValueError, match=rf"learning_rate must be .* less than 1e\+(18|150) in {dtype}. Got 1e\+"):
            learner.set_params(learning_rate=rate).partial_fit(X, Y)
        np.testing.assert_array_equal(learner.predict_proba(X), before)

    check_all(
        product(
            [("float32", 1e18), ("float32", 1e300), ("float64", 1e200)], [{}, {"hidden_units": 8}, {"optimizer": "sgd"}]
        ),
        lambda case: check(*case[0], case[1]),
    )


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_the_largest_learning_rate_makes_no_nan(optimizer):
    X, Y, *_ = masked_stream(100)
    learner = OnlineNeuralClassifier(optimizer=optimizer, learning_rate=9e17, random_state=0).fit(X, Y)
    assert np.isfinite(learner._state["w"]).all()
    assert np.isfinite(learner.predict_proba(X)).all()


# ------------------------------------------------------- contexts kept between calls
@pytest.mark.slow
@pytest.mark.parametrize("name", ["NN", "NN_TLH", "NN_TLH_memories", "NN_TLH_mini_memories", "frozen mini-batch"])
def test_what_is_kept_between_calls_changes_nothing(name):
    X, Y, mask, _ = sparse_stream(240)
    learner, rng = made(name), np.random.default_rng(0)
    twin = learner
    for i in range(0, 240, 4):
        size, rate, kind = rng.choice([1, 4]), rng.choice([0.01, 0.02]), rng.choice([np.asarray, sparse.csr_array])
        part = slice(i, i + size)
        learner = learner.set_params(learning_rate=rate)
        twin = pickle.loads(pickle.dumps(twin)).set_params(learning_rate=rate)  # noqa: S301 - nothing kept is saved
        answers = (one.predict_then_fit(kind(X[part]), Y[part], label_mask=mask[part])[1] for one in (learner, twin))
        np.testing.assert_array_equal(*answers)
        np.testing.assert_array_equal(learner.predict_proba(kind(X[:2])), twin.predict_proba(kind(X[:2])))
    assert same_state(learner, twin)


def test_threads_that_predict_at_once_get_their_own_probabilities():
    X, Y, *_ = masked_stream(2000)
    learner = made("NN_TLH").fit(X, Y)
    parts = [X[i : i + 200] for i in range(0, 2000, 200)] * 4
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(learner.predict_proba, parts))
    for part, answer in zip(parts, answers, strict=True):
        np.testing.assert_array_equal(answer, learner.predict_proba(part))


def test_parameters_no_network_can_have_are_refused():
    def check(parameters, message):
        X, Y, *_ = masked_stream(20)
        learner = OnlineNeuralClassifier(**parameters)
        with pytest.raises(ValueError, match=message):
            learner.partial_fit(X, Y)
        assert not hasattr(learner, "classes_")

    check_all(
        [
            ({"learning_rate": 0}, "learning_rate must be a number greater than 0 and less than .* Got 0 instead"),
            (
                {"learning_rate": np.nan},
                "learning_rate must be a number greater than 0 and less than .* Got nan instead",
            ),
            ({"hidden_units": 0}, "hidden_units must be positive integers. Got 0 instead"),
            ({"hidden_units": (5, 2.5)}, "hidden_units must be positive integers. Got .5, 2.5. instead"),
            ({"optimizer": "lbfgs"}, "optimizer must be one of 'adam', 'sgd'. Got 'lbfgs' instead"),
            ({"replay": "batch"}, "replay must be one of 'online', 'mini-batch'. Got 'batch' instead"),
            ({"dtype": "float16"}, "dtype must be one of 'float32', 'float64'. Got 'float16' instead"),
            ({"reservoir": ReservoirMemory(5, 10)}, "size must be greater than draws.*Got size 5 and draws 10 instead"),
        ],
        lambda case: check(*case),
    )


# ---------------------------------------------------------------------- device
@pytest.mark.slow
def test_the_steps_taken_on_a_device_are_ours():
    pytest.importorskip("torch").set_num_threads(1)

    def check(name):
        X, Y, mask, weight = masked_stream(150)
        ours = made(name, dtype="float64")
        there = clone(ours).set_params(device="cpu")
        for start, stop in ((0, 1), (1, 90), (90, 150)):
            part = slice(start, stop)
            for learner in (ours, there):
                learner.partial_fit(X[part], Y[part], label_mask=mask[part], sample_weight=weight[part])
        np.testing.assert_allclose(there.predict_proba(X), ours.predict_proba(X), rtol=0, atol=1e-11)
        both = (learner.predict_then_fit(X[:40], Y[:40], label_mask=mask[:40])[1] for learner in (there, ours))
        np.testing.assert_allclose(*both, rtol=0, atol=1e-11)
        assert there.n_steps_ == ours.n_steps_

    check_all([name for name in VARIANTS if not {"standardize", "balance_labels"} & VARIANTS[name].keys()], check)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"device": "nowhere"}, "device must be None or a device that torch can use. Got 'nowhere' instead"),
        ({"device": "cpu", "standardize": True}, "standardize and balance_labels must be False on a device"),
        ({"device": "cpu", "optimizer": "sgd", "learning_rate": 1e300}, "learning_rate must be"),
    ],
)
def test_what_a_device_cannot_do_is_refused(parameters, message):
    pytest.importorskip("torch")
    X, Y, *_ = masked_stream(20)
    with pytest.raises(ValueError, match=message):
        OnlineNeuralClassifier(3, **parameters, random_state=0).fit(X, Y)
    with pytest.raises((TypeError, ValueError), match=r"[Ss]parse|dense"):
        OnlineNeuralClassifier(3, device="cpu").fit(sparse.csr_array(X), Y)


def test_a_device_that_torch_cannot_use_is_refused_between_two_chunks():
    pytest.importorskip("torch")
    X, Y, *_ = masked_stream(20)
    learner = OnlineNeuralClassifier(3, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"device must be None or a device that torch can use\. Got 'nowhere' instead"):
        learner.set_params(device="nowhere").partial_fit(X, Y)


def test_a_device_that_fails_halfway_changes_nothing(monkeypatch):
    pytest.importorskip("torch")
    X, Y, *_ = masked_stream(80)
    learner, twin = (made("NN_TLH_memories", device="cpu").fit(X[:40], Y[:40]) for _ in range(2))
    with monkeypatch.context() as patched:
        patched.setattr("estimators.networks._torch_network._Network.state", _run_out_of_memory)
        with pytest.raises(RuntimeError, match="out of memory"):
            learner.partial_fit(X[40:], Y[40:])
    for one in (learner, twin):
        one.partial_fit(X[40:], Y[40:])
    assert same_state(learner, twin)


def _run_out_of_memory(network):
    raise RuntimeError("out of memory")


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_network_that_diverges_on_a_device_asks_for_fit(optimizer):
    pytest.importorskip("torch")
    X, Y, *_ = masked_stream(100)
    learner = OnlineNeuralClassifier((9, 7), optimizer=optimizer, device="cpu", random_state=0).fit(X, Y)
    twin = clone(learner)
    with pytest.raises(DivergedError, match=r"The network diverged.* Got learning_rate 1e\+16 instead"):
        learner.set_params(learning_rate=1e16).partial_fit(X, Y)
    refuses_until_it_is_fitted(learner.set_params(learning_rate=0.01), twin, X, Y)
