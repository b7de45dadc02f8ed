"""Do what an environment of few packages is for, and ask for what it lacks: ``python tests/light.py learners``.

`make packages` calls it with ``metrics``, ``learners`` and ``streams``, each in an environment with the packages that
the page "Installation" names for it.
"""

import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

N_PACKAGES = {"metrics": 2, "learners": 10, "streams": 16}
BESIDE = {"mlstream-toolkit", "pip", "setuptools"}


def use_metrics() -> None:
    """Score predictions; learners are out of reach."""
    import estimators
    import metrics

    for name in metrics.__all__:
        getattr(metrics, name)
    assert metrics.subset_accuracy([[1, 0], [0, 1]], [[1, 0], [1, 1]]) == 0.5
    assert refusal(lambda: estimators.BinaryRelevance).endswith("pip install scikit-learn numba filelock.")


def use_learners() -> None:
    """Learn rows with a tree, a ridge regression and a network; evaluation is out of reach."""
    import estimators
    import mlstream

    for name in estimators.__all__:
        getattr(estimators, name)
    X, Y = make_rows()
    for strategy in ("BR_HT", "StreamRidge", "NN"):
        estimators.make_strategy(strategy).partial_fit(X, Y).predict_proba(X)
    assert refusal(lambda: mlstream.evaluate).endswith("pip install pydantic packaging.")


def use_streams() -> None:
    """Make a stream, write it, read it, and evaluate a learner on it; tables in files are out of reach."""
    import mlstream
    from estimators import make_strategy

    stream = mlstream.task_stream(make_rows(), n_tasks=2, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("npz", "arff"):
            file = Path(folder) / f"stream.{ending}"
            mlstream.save(stream, file)
            assert len(mlstream.load(file)) == len(stream)
    result = mlstream.evaluate(make_strategy("StreamRidge"), stream, energy="cpu")
    assert result.scores["frug_kwh"] < 1
    assert refusal(lambda: mlstream.publish).endswith("pip install pyarrow.")
    assert "energy='cpu'" in refusal(lambda: mlstream.evaluate(make_strategy("StreamRidge"), stream))


def make_rows():
    """Return random rows, and labels that depend on them."""
    import numpy as np

    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 4))
    return X, (X @ generator.normal(size=(4, 3)) > 0).astype(int)


def refusal(use: Callable[[], object]) -> str:
    """Return the one line that says which package is missing."""
    try:
        use()
    except ModuleNotFoundError as error:
        return str(error)
    raise AssertionError("this must be out of reach")


def main(level: str) -> None:
    """Use the environment, and count its packages."""
    {"metrics": use_metrics, "learners": use_learners, "streams": use_streams}[level]()
    names = {one.name.lower() for one in metadata.distributions()} - BESIDE
    assert len(names) == N_PACKAGES[level], sorted(names)
    print(f"{level}: {len(names)} packages do")


if __name__ == "__main__":
    main(sys.argv[1])
