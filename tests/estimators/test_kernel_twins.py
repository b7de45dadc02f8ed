"""Every module of compiled functions is compared with a slow twin, by Hypothesis.

The twin of ``estimators/FAMILY/_kernels/MODULE.py`` is in ``tests/estimators/FAMILY/kernels/test_MODULE.py``, and those
of the other packages are where the folders of `tests` have them. A module without a test of its own stands in
``covered.txt`` of that folder, one line each: the module, the test of the same folder that compares all that it does,
and the reason, with colons between.
"""

import ast
from pathlib import Path

import pytest

from estimators._kernels.cache import KERNELS, ROOT
from tests.loops import check_all

TESTS = Path(__file__).parents[1]
COVERED = "covered.txt"


def mirror_of(folder):
    """Return the folder of the twins of a folder of kernels."""
    return TESTS / folder.replace("_kernels", "kernels")


def is_compiled(function):
    """Return whether a function is decorated with ``njit``, among others."""
    calls = [ast.unparse(decorator) for decorator in function.decorator_list]
    return any(call.partition("(")[0] == "njit" for call in calls)


def compiled_modules(folder):
    """Return the modules of a folder that define compiled functions."""
    trees = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in folder.glob("*.py")}
    return {
        name
        for name, tree in trees.items()
        if any(isinstance(node, ast.FunctionDef) and is_compiled(node) for node in ast.walk(tree))
    }


def covered(mirror):
    """Return the modules without a test of their own, with the test that covers each."""
    table = mirror / COVERED
    lines = table.read_text(encoding="utf-8").splitlines() if table.exists() else []
    rows = [line.split(": ", 2) for line in lines if line and not line.startswith("#")]
    return {module: test for module, test, reason in rows if reason}


def twins(mirror):
    """Return the tests of a folder that draw their cases."""
    files = {file.name: file.read_text(encoding="utf-8") for file in mirror.glob("test_*.py")}
    return {name for name, text in files.items() if "@given(" in text}


def without_twin(folder, mirror):
    """Return the modules that nothing is compared with."""
    tests, others = twins(mirror), covered(mirror)
    return {name for name in compiled_modules(folder) if not {f"test_{name}.py", others.get(name)} & tests}


@pytest.mark.slow
def test_every_module_is_compared_with_a_slow_twin():
    def check(folder):
        assert without_twin(ROOT / folder, mirror_of(folder)) == set()

    check_all(KERNELS, check)


def test_every_line_of_a_table_is_needed():
    def check(folder):
        mirror = mirror_of(folder)
        modules, tests = compiled_modules(ROOT / folder), twins(mirror)
        for module, test in covered(mirror).items():
            assert module in modules
            assert f"test_{module}.py" not in tests
            assert test in tests

    check_all(KERNELS, check)


def test_a_module_without_a_twin_is_found(tmp_path):
    kernels, mirror = tmp_path / "_kernels", tmp_path / "kernels"
    for folder in (kernels, mirror):
        folder.mkdir()
    for name in ("alone", "mirrored", "part"):
        (kernels / f"{name}.py").write_text("@njit(**JIT)\ndef double(x):\n    return 2 * x\n")
    (kernels / "constants.py").write_text("def double(x):\n    return 2 * x\n")
    (mirror / "test_mirrored.py").write_text("@given(st.integers())\ndef test_it(x): ...\n")
    (mirror / "test_alone.py").write_text("def test_it(): ...\n")
    (mirror / COVERED).write_text("# why\npart: test_mirrored.py: mirrored calls it\n")
    assert without_twin(kernels, mirror) == {"alone"}
