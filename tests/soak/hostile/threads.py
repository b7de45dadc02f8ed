"""Four threads use one learner: two learn, one predicts and saves, and one makes calls that are refused."""

import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tests.estimators.instances import BATCHES, MEMORIES, made
from tests.soak.hostile import tables
from tests.soak.hostile.calls import Target, good_call
from tests.soak.hostile.detectors import good_update, is_detector
from tests.soak.hostile.sequences import Step, check_message, predictions, shrink

_N_ROUNDS = 12


def run_threads(step: Step, name: str, seed: list[int]) -> Counter[str]:
    """Use one object in four threads; what is left must be what one thread leaves."""
    rng = np.random.default_rng(seed)
    shared, alone = made(name), made(name)
    learn, look = _jobs(name, shared, alone, rng)
    step("four threads")

    def learn_all() -> None:
        for _ in range(_N_ROUNDS):
            learn(shared)

    def look_often() -> None:
        for _ in range(_N_ROUNDS):
            look(shared)
            look(pickle.loads(pickle.dumps(shared)))  # noqa: S301 - our own bytes

    _in_threads(learn_all, learn_all, look_often, lambda: _be_refused(shared, name))
    for _ in range(2 * _N_ROUNDS):
        learn(alone)
    if not all(map(np.array_equal, look(shared), look(alone))):
        raise AssertionError("rows were lost, or learnt twice, between four threads")
    return Counter({"four threads on one object": 1})


def _jobs(name: str, shared: Any, alone: Any, rng: tables.Draw) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return how to learn, and how to look at what was learnt; all have begun."""
    if is_detector(shared) or name in MEMORIES:
        for one in (shared, alone):
            if name in MEMORIES:
                one.begin(0)
        call = good_update(shared, rng)
        call.on(shared), call.on(alone)
        return call.on, lambda one: (np.asarray(call.on(pickle.loads(pickle.dumps(one)))[0]),)  # noqa: S301
    seed = int(rng.integers(2**31))
    for one in (shared, alone):
        shrink(one, np.random.default_rng(seed))
    target = Target(3, False) if name in BATCHES else Target(3, True)
    X = tables.rows_of_features(20, rng)
    call = good_call("fit" if name in BATCHES else "partial_fit", target, rng, 20)
    call.on(shared), call.on(alone)
    return call.on, lambda one: predictions(one, X)


def _be_refused(shared: Any, name: str) -> None:
    wrong = {"fit": (np.full((2, 6), np.nan), np.ones((2, 3))), "update_many": (["word"],), "plan": ("word",)}
    method = next(one for one in ("partial_fit", "fit", "update_many", "plan") if hasattr(shared, one))
    arguments = wrong["fit" if method == "partial_fit" else method]
    for _ in range(_N_ROUNDS):
        try:
            getattr(shared, method)(*arguments)
        except (ValueError, TypeError) as error:
            check_message(error)
        else:
            raise AssertionError(f"{name} was not refused a wrong call")
        shared.set_params(**shared.get_params(deep=False))


def _in_threads(*jobs: Callable[[], None]) -> None:
    with ThreadPoolExecutor(len(jobs)) as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result()
