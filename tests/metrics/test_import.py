"""`import metrics` costs what NumPy and SciPy cost, and needs nothing else."""

import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import metrics

ROOT = Path(__file__).parents[2]
ALLOWED = {"metrics", "numpy", "scipy"}


def test_nothing_but_numpy_and_scipy_is_loaded_and_no_statistics_before_a_test_is_run() -> None:
    # What NumPy and SciPy bring themselves may be there, whatever they call it.
    code = (
        "import sys, numpy, scipy.sparse; before = set(sys.modules); import metrics; print(*set(sys.modules) - before)"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = result.stdout.split()
    assert "metrics" in loaded
    assert "scipy.stats" not in loaded
    assert {name.split(".")[0] for name in loaded} <= ALLOWED | set(sys.stdlib_module_names)


def test_every_public_function_documents_its_parameters() -> None:
    for name in metrics.__all__:
        function = getattr(metrics, name)
        if inspect.isfunction(function):
            documented = inspect.getdoc(function)
            assert documented is not None
            missing = [parameter for parameter in inspect.signature(function).parameters if parameter not in documented]
            assert not missing, f"{name} does not document {missing}"
            assert "Examples\n" in documented, f"{name} has no example"


def test_signatures_name_their_types() -> None:
    signatures = {name: str(inspect.signature(getattr(metrics, name))) for name in metrics.__all__}
    # spelled out unions and arrays, and strings in named tuples, which come of annotations that are not evaluated
    unreadable = {
        name: text for name, text in signatures.items() if re.search(r"_Supports|Union|ForwardRef|ndarray\[", text)
    }
    assert not unreadable


def test_type_hints_can_be_evaluated() -> None:
    for name in metrics.__all__:
        typing.get_type_hints(getattr(metrics, name))
