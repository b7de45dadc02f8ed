"""`import metrics` costs what NumPy and SciPy cost, and needs nothing else."""

import inspect
import subprocess
import sys
from pathlib import Path

import metrics

ROOT = Path(__file__).parents[2]
ALLOWED = {"metrics", "numpy", "scipy"}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in result.stdout.split()}


def test_nothing_but_numpy_and_scipy_is_loaded() -> None:
    foreign = loaded_by("import metrics") - ALLOWED - set(sys.stdlib_module_names)
    # what NumPy and SciPy bring themselves, whatever they call it
    assert foreign <= loaded_by("import numpy, scipy.sparse")


def test_the_statistics_of_scipy_are_not_loaded_before_a_test_is_run() -> None:
    code = "import sys, metrics; print('scipy.stats' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_every_public_function_documents_its_parameters() -> None:
    for name in metrics.__all__:
        function = getattr(metrics, name)
        if inspect.isfunction(function):
            documented = inspect.getdoc(function)
            assert documented is not None
            missing = [parameter for parameter in inspect.signature(function).parameters if parameter not in documented]
            assert not missing, f"{name} does not document {missing}"
            assert "Examples\n" in documented, f"{name} has no example"
