"""Every public name can be imported, as often as one likes, and no folder takes the name of a function."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import estimators
import metrics
import mlstream
from tests.loops import check_all
from tests.pages import pages

ROOT = Path(__file__).parents[1]
PACKAGES = [metrics, estimators, mlstream]
# They need an extra, which the checks of other versions leave out.
NEED = {
    "torch": {"mlstream.interop", "mlstream.interop.torch"},
    "skl2onnx": {"estimators.interop._onnx_converter", "estimators.interop._onnx_graphs"},
}
LEFT_OUT = {module for package, modules in NEED.items() if not find_spec(package) for module in modules}
# They import their public names when they are first used.
LAZY = [
    name
    for name in ("estimators", "mlstream", "mlstream.challenge", "mlstream.generators", "mlstream.interop")
    if name not in LEFT_OUT
]
IMPORT = re.compile(r"^(?:>>> |\.\.\. |   )*(?:from ([\w.]+) import \(?([\w, ]+)|import ([\w.]+))", re.MULTILINE)


def modules(package: ModuleType) -> list[str]:
    """Return the names of a package and of all modules in it; its subpackages are imported."""
    found = (module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
    return [package.__name__, *(name for name in found if not name.endswith("__main__") and name not in LEFT_OUT)]


def imported_by_docs() -> set[tuple[str, str]]:
    """Return module and name of everything of ours that pages and examples import; no name: the module itself."""
    files = {ROOT / "README.md", *pages().values(), *(ROOT / "examples").rglob("*.py")}
    # Recipes import what they add; their tests run them.
    files.remove(pages()["contributing/architecture"])
    found = set()
    for page in files:
        for module, names, plain in IMPORT.findall(page.read_text(encoding="utf-8")):
            if plain.partition(".")[0] in {package.__name__ for package in PACKAGES}:
                found.add((plain, ""))
            if module.partition(".")[0] in {package.__name__ for package in PACKAGES}:
                found |= {(module, name.split(" as ")[0].strip()) for name in names.split(",") if name.strip()}
    return found


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_name_of_all_can_be_imported_twice(package):
    def check(name):
        for _ in range(2):
            module = importlib.import_module(name)
            for public in getattr(module, "__all__", ()):
                assert getattr(module, public) is getattr(importlib.import_module(name), public), public

    check_all(modules(package), check)


def test_everything_that_docs_import_can_be_imported_twice():
    def check(case):
        module, name = case
        for _ in range(2):
            found = importlib.import_module(module)
            assert not name or hasattr(found, name) or importlib.import_module(f"{module}.{name}")

    wanted = imported_by_docs()
    assert len(wanted) > 20
    check_all(sorted(wanted), check)


def test_no_folder_bears_the_name_of_a_public_function():
    """Otherwise `mlstream.report` would be a function or a folder, whichever was imported last."""
    for package in PACKAGES:
        folders = {name for name in modules(package) if hasattr(importlib.import_module(name), "__path__")}
        assert not {name for name in package.__all__ if f"{package.__name__}.{name}" in folders}


def exports(module: str) -> dict[str, str]:
    """Return the public names that type checkers read in a module, and where each is imported from."""
    found = {}
    for node in ast.walk(ast.parse(Path(find_spec(module).origin).read_text(encoding="utf-8"))):
        for alias in node.names if isinstance(node, ast.ImportFrom) else []:
            if alias.name == "*":
                found |= exports(node.module)
            elif alias.asname == alias.name and not alias.name.startswith("_"):
                found[alias.name] = node.module
    return found


@pytest.mark.parametrize("name", LAZY)
def test_type_checkers_find_each_name_where_python_does(name):
    package, shown = importlib.import_module(name), exports(name)
    assert sorted(shown) == package.__all__ == dir(package)

    def check(public):
        assert getattr(package, public) is getattr(importlib.import_module(shown[public]), public)

    check_all([] if name in LEFT_OUT else shown, check)


@pytest.mark.parametrize("name", LAZY)
def test_a_name_that_is_not_public_is_refused(name):
    with pytest.raises(AttributeError, match=f"^module '{name}' has no attribute 'Typo'$"):
        importlib.import_module(name).Typo  # noqa: B018


# mypy reads our packages and those that they import, in half a minute.
@pytest.mark.slow
def test_a_strict_type_checker_accepts_public_names_only(tmp_path):
    public = [(name, each) for name in LAZY for each in importlib.import_module(name).__all__]
    program = [
        *(f"from {name} import {each} as name_{place}" for place, (name, each) in enumerate(public)),
        "from estimators import *",
        "from mlstream import Typo",
        "reveal_type(PrevalenceClassifier())",
    ]
    (tmp_path / "program.py").write_text("\n".join(program))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.findall(r": (error|note): (.*)", done.stdout) == [
        ("error", 'Module "mlstream" has no attribute "Typo"  [attr-defined]'),
        ("note", 'Revealed type is "estimators.baselines.PrevalenceClassifier"'),
    ], done.stdout + done.stderr
