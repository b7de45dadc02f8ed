"""One estimator, several threads: calls are made one after another, and nothing is lost, torn or waited for."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import sleep

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info

from estimators import FIFOMemory, MeanLabelsClassifier, as_river
from estimators.checks._check_data import predictions, same, stream
from estimators.contract.blas_threads import one_thread
from estimators.contract.locks import _ENTRIES, lock_of
from tests.estimators.instances import BATCHES, IN_STREAMS, made
from tests.estimators.learners import Logistic
from tests.loops import check_all

PATIENCE_S = 120
CHUNK_ROWS, N_CHUNKS = 100, 40
ROWS, _, _ = stream().parts(CHUNK_ROWS, 10)
# how many rows an estimator has learnt, where it counts them
COUNTS = {
    "NN": lambda one: one.n_steps_,
    "NN_TL": lambda one: one.n_steps_,
    "NN_TLH": lambda one: one.n_steps_,
    "NN_TLH_sampling": lambda one: one._memories[0].n_seen_,
    "NN_TLH_fifo": lambda one: one._memories[0].n_seen_,
    "NN_TLH_memories": lambda one: one._memories[1].n_seen_,
    "NN_TLH_mini_memories": lambda one: one.n_steps_,
    "EWC": lambda one: one.n_steps_,
    "LwF": lambda one: one.n_steps_,
    "GDumb": lambda one: one.memory_.n_seen,
    "PRS": lambda one: one._memories[0].n_seen_,
    "OCDM": lambda one: one._memories[0].n_seen_,
    "DERpp": lambda one: one.n_steps_,
    "A-GEM": lambda one: one.n_steps_,
    "StreamRidge": lambda one: one.n_rows_,
    "no_features": lambda one: one._prevalence.usual[1, 0],
    "prior_distribution": lambda one: one.counts_[0, 0],
    "mean": lambda one: one.counts_[0, 0],
    "replay": lambda one: one.memories_[1].n_seen_,
    "stack": lambda one: one.n_rows_,
    "prevalence threshold": lambda one: one._prevalence.usual[1, 0],
    "GDumb on another": lambda one: one.memory_.n_seen,
    "pipeline": lambda one: one.steps_[0][1].n_samples_seen_,
    "River": lambda one: one.bridge_.models[0].class_counts.total(),
}


def _in_threads(*jobs):
    with ThreadPoolExecutor(len(jobs)) as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result()


def _learn_and_predict(name):
    """Let two threads learn and two predict; what is left must be what one thread leaves."""
    shared, alone = made(name).partial_fit(*ROWS), made(name).partial_fit(*ROWS)

    def learn():
        for _ in range(N_CHUNKS):
            shared.partial_fit(*ROWS)

    def predict():
        for _ in range(N_CHUNKS):
            assert all(np.isfinite(answer).all() for answer in predictions(shared, ROWS))

    _in_threads(learn, learn, predict, predict)
    for _ in range(2 * N_CHUNKS):
        alone.partial_fit(*ROWS)
    assert same(predictions(alone, ROWS), predictions(shared, ROWS))
    if name in COUNTS:
        assert COUNTS[name](shared) == (2 * N_CHUNKS + 1) * CHUNK_ROWS


def _fit_and_predict(name):
    """Fit on few classes or on many: what is predicted is of either fit, never of both."""
    X, y = ROWS.X, np.arange(CHUNK_ROWS) % 4
    shared = made(name).fit(X, y)

    def fit():
        for i in range(6):
            shared.fit(X, y if i % 2 else y % 2)

    def predict():
        for _ in range(60):
            assert set(np.unique(shared.predict(X))) <= {0, 1, 2, 3}
            assert np.allclose(shared.predict_proba(X).sum(axis=1), 1)

    _in_threads(fit, fit, predict, predict)


def _run_apart(work, name):
    """Work in a process of its own, so that a crash or a wait without end fails one learner and not all."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=work, args=(name,))
    process.start()
    process.join(PATIENCE_S)
    if process.is_alive():
        process.kill()
        process.join()
        pytest.fail(f"{name} has not returned after {PATIENCE_S} s.")
    assert process.exitcode == 0


# one of each way to keep what is learnt: arrays of kernels, threads of its own, others' models, learners inside
FAMILIES = ("NN_TLH_memories", "BR_HT", "forest in threads", "River", "pipeline", "prior_distribution")


def test_two_threads_learn_while_two_predict():
    check_all(FAMILIES, partial(_run_apart, _learn_and_predict))


@pytest.mark.slow
def test_two_threads_learn_while_two_predict_whatever_the_learner():
    check_all([name for name in IN_STREAMS if name not in FAMILIES], partial(_run_apart, _learn_and_predict))


@pytest.mark.slow
def test_two_threads_fit_while_two_predict():
    check_all(BATCHES, partial(_run_apart, _fit_and_predict))


HALFWAY = threading.Event()


class Slow(Logistic):
    """Learns in two halves, between which its state is not to be seen."""

    def _start(self):
        super()._start()
        self.halves_ = np.zeros(2)

    def _learn(self, X, Y, mask, weight):
        self.halves_[0] += 1
        HALFWAY.set()
        sleep(0.01)
        self.halves_[1] += 1


@pytest.mark.parametrize(
    "read",
    [
        lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 - our own bytes
        copy.deepcopy,
        copy.copy,
    ],
)
def test_copies_are_taken_between_two_calls(read):
    learner, copies = Slow().partial_fit(*ROWS), []
    HALFWAY.clear()
    thread = threading.Thread(target=lambda: [learner.partial_fit(*ROWS) for _ in range(5)])
    thread.start()
    while thread.is_alive():
        if HALFWAY.wait(0.01):
            HALFWAY.clear()
            copies.append(read(learner))
    assert copies
    assert all(one.halves_[0] == one.halves_[1] for one in copies)
    assert learner.halves_.tolist() == [6, 6]


def test_parameters_are_set_between_two_calls():
    seen = []

    class Watcher(Slow):
        def _learn(self, X, Y, mask, weight):
            before = self.learning_rate
            sleep(0.02)
            seen.append((before, self.learning_rate))

    learner = Watcher().partial_fit(*ROWS)
    thread = threading.Thread(target=lambda: [learner.partial_fit(*ROWS) for _ in range(5)])
    thread.start()
    for rate in (1.0, 2.0, 3.0, 4.0):
        learner.set_params(learning_rate=rate)
    thread.join()
    assert all(before == after for before, after in seen)


def test_the_lock_is_in_no_copy_comparison_or_file():
    used, unused = (MeanLabelsClassifier().partial_fit(*ROWS) for _ in range(2))
    with lock_of(used):
        assert vars(used).keys() == vars(unused).keys()
        assert joblib.hash(used) == joblib.hash(unused)
        assert pickle.dumps(used) == pickle.dumps(unused)
    for twin in (clone(used), copy.deepcopy(used), pickle.loads(pickle.dumps(used))):  # noqa: S301 - our own bytes
        assert lock_of(twin) is not lock_of(used)


def test_estimators_that_compare_by_value_have_locks_of_their_own():
    class Equal(Logistic):
        def __eq__(self, other):
            return True

        __hash__ = None

    one, two = Equal(), Equal()
    assert lock_of(one) is lock_of(one)
    assert lock_of(one) is not lock_of(two)


def test_locks_go_with_their_estimators():
    before = len(_ENTRIES)
    learners = [Logistic() for _ in range(5)]
    assert len({id(lock_of(one)) for one in learners}) == 5
    assert len(_ENTRIES) == before + 5
    learners.clear()
    assert len(_ENTRIES) == before


def test_a_method_may_call_others_of_itsmade():
    class Curious(Logistic):
        def _learn(self, X, Y, mask, weight):
            super()._learn(X, Y, mask, weight)
            assert self.predict(X).shape == Y.shape
            assert copy.deepcopy(self.set_params(targeted=False)).__getstate__().keys() >= {"coef_", "n_labels_"}

    Curious().partial_fit(*ROWS)


FORK = """
import os, sys, threading, time, warnings
import numpy as np
from estimators import MeanLabelsClassifier
from estimators.contract.locks import lock_of

warnings.simplefilter("ignore")  # newer Pythons warn of what is tried here
learner = MeanLabelsClassifier().partial_fit([[0.0]], [[1, 0]])
held, done = threading.Event(), threading.Event()

def hold():
    with lock_of(learner):
        held.set()
        done.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
if (child := os.fork()) == 0:
    learner.partial_fit([[0.0]], [[1, 0]])
    os._exit(0)
print(os.waitpid(child, 0)[1])
done.set()
"""


FORK_WHILE_COMPILING = """
import os, signal, sys, threading, warnings
import numba
from numba.extending import intrinsic
import estimators._kernels.adwin

warnings.simplefilter("ignore")  # newer Pythons warn of what is tried here
compiles, forks, forked = (threading.Event() for _ in range(3))
children = []

def fork():
    children.append(os.fork())
    if children[-1] == 0:
        signal.alarm(100)  # ends a child that waits for a lock

def wait_for_fork():
    compiles.set()
    forks.wait()
    forked.wait(1)  # in vain, if the fork waits for the compilation

@intrinsic
def watched(typingctx, x):
    def codegen(context, builder, signature, args):
        {within}()
        return args[0]
    return x(x), codegen

function = numba.njit(lambda x: watched(x) + 1)
if "{within}" == "fork":
    function(1)
else:
    os.register_at_fork(before=forks.set, after_in_parent=forked.set)
    thread = threading.Thread(target=function, args=(1,))
    thread.start()
    compiles.wait()
    fork()
if children[-1] == 0:
    os._exit(numba.njit(lambda x: x + function(x))(1) != 3)
print(os.waitpid(children[-1], 0)[1], function(1))
"""


def _run_code(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not():
    assert _run_code(FORK) == "0\n"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("within", ["wait_for_fork", "fork"], ids=["another thread compiles", "the same thread"])
def test_a_process_that_is_forked_during_a_compilation_can_compile(within):
    assert _run_code(FORK_WHILE_COMPILING.replace("{within}", within)) == "0 2\n"


def test_behind_rivers_interface_rows_are_learnt_one_after_another():
    model = as_river(Slow())

    def learn():
        for _ in range(10):
            model.learn_one({"a": 1.0}, {"u": True, "v": False})

    def predict():
        for _ in range(10):
            assert model.predict_proba_one({"a": 1.0}).keys() <= {"u", "v"}

    _in_threads(learn, learn, predict)
    assert model.learner.halves_.tolist() == [20, 20]


def test_a_ridge_that_is_done_leaves_another_its_single_thread():
    seen, second_is_in, first_is_out = [], threading.Event(), threading.Event()

    def n_threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    def second():
        with one_thread():
            second_is_in.set()
            first_is_out.wait(10)
            seen.append(n_threads())

    thread, before = threading.Thread(target=second), n_threads()
    with one_thread():
        thread.start()
        second_is_in.wait(0.3)
    first_is_out.set()
    thread.join()
    assert seen == [{1}]
    assert n_threads() == before


def test_memories_plan_no_row_twice():
    memory, planned = FIFOMemory(100_000).begin(random_state=0), []

    def plan():
        for _ in range(200):
            planned.extend(memory.plan(10).slots.tolist())

    _in_threads(plan, plan, plan)
    assert sorted(planned) == list(range(6000))
