"""The other process: a learner that was saved is loaded, goes on, and predicts.

It imports little, since every trial waits for it.
"""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np


def learn(learner: Any, X: Any, Y: Any, cuts: Any) -> None:
    """Learn rows in chunks that end at these cuts; the learners of batches learn them by `fit`."""
    if not hasattr(learner, "partial_fit"):
        learner.fit(X, Y)
        return
    for start, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        if end > start:
            learner.partial_fit(X[start:end], Y[start:end])


def load(path: Path, how: str) -> Any:
    """Load a learner."""
    if how == "skops":
        import skops.io

        return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    return pickle.loads(path.read_bytes())  # noqa: S301 - our own bytes


def resume(folder: Path, how: str, n_threads: str) -> None:
    """Load the learner, let it go on, and compare."""
    rows, learner = np.load(folder / "rows.npz"), load(folder / "learner", how)
    learner.set_params(**{name: int(n_threads) for name in learner.get_params() if name.endswith("n_jobs")})
    learn(learner, rows["X"], rows["Y"], rows["cuts"])
    if not np.array_equal(learner.predict_proba(rows["test"]), rows["here"]):
        raise AssertionError("what went on in another process predicts other bits")


if __name__ == "__main__":
    resume(Path(sys.argv[1]), *sys.argv[2:])
