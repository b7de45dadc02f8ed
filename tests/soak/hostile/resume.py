"""Learners are saved midway, and go on in another process, with other cuts and numbers of threads, to the same bits."""

import os
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import skops.io

from tests.estimators.instances import BATCHES, made
from tests.soak.hostile import resumed, tables
from tests.soak.hostile.calls import Target
from tests.soak.hostile.resumed import learn, load
from tests.soak.hostile.sequences import Step, shrink

ROOT = Path(__file__).parents[3]
FORMATS = ("pickle", "cloudpickle", "skops")
# cuts change the last bits of what scikit-learn's own estimators compute: means of a whole chunk
CUTS_MATTER = ("binary relevance in threads", "pipeline")
_N_ROWS, _N_MORE = 60, 40


def run_resume(step: Step, name: str, seed: list[int], folder: Path) -> Counter[str]:
    """Save a learner midway; one in another process that goes on must predict what the one here predicts."""
    rng = np.random.default_rng(seed)
    learner = made(name)
    shrink(learner, rng)
    X, Y = _rows(name, _N_ROWS + 2 * _N_MORE, rng)
    parts = {"X": X[_N_ROWS : _N_ROWS + _N_MORE], "Y": Y[_N_ROWS : _N_ROWS + _N_MORE], "test": X[-_N_MORE:]}
    cuts = _cuts(name, _N_MORE, rng)
    other_cuts = cuts if name in CUTS_MATTER else _cuts(name, _N_MORE, rng)
    step("learn the first rows")
    learn(learner, X[:_N_ROWS], Y[:_N_ROWS], _cuts(name, _N_ROWS, rng))
    how = str(rng.choice(FORMATS))
    step(f"save with {how}")
    how = save(learner, folder / "learner", how)
    step("go on")
    learn(learner, parts["X"], parts["Y"], cuts)
    np.savez(folder / "rows.npz", cuts=other_cuts, here=learner.predict_proba(parts["test"]), **parts)
    step(f"go on in another process, loaded with {how}")
    _go_on_elsewhere(folder, how, str(rng.choice([1, 2, 3])))
    return Counter({f"saved with {how}, and gone on in another process": 1})


def save(learner: Any, path: Path, how: str) -> str:
    """Save a learner, with pickle where skops does not know what is in it, and return how."""
    if how == "skops":
        try:
            skops.io.dump(learner, path)
            load(path, how)
        except Exception:
            return save(learner, path, "pickle")
        return how
    path.write_bytes({"pickle": pickle, "cloudpickle": cloudpickle}[how].dumps(learner))
    return how


def _rows(name: str, n_rows: int, rng: tables.Draw) -> tuple[Any, Any]:
    X = tables.rows_of_features(n_rows, rng)
    target = Target(3, False) if name in BATCHES else Target(4, True)
    return X.astype(rng.choice(["float32", "float64"])), target.draw(X, rng)


def _cuts(name: str, n_rows: int, rng: tables.Draw) -> Any:
    return np.sort(rng.integers(1, n_rows, rng.integers(0, 8)))


def _go_on_elsewhere(folder: Path, how: str, n_threads: str) -> None:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    # by its path: this package would import every learner first
    command = [sys.executable, "-W", "ignore", resumed.__file__, str(folder), how, n_threads]
    done = subprocess.run(
        command,
        env={**os.environ, **dict.fromkeys(names, n_threads), "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": n_threads},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise AssertionError(last)
