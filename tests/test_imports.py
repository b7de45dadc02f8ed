"""Every public name can be imported, as often as one likes, and no folder takes the name of a function."""

import importlib
import pkgutil
import re
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
# Their names need PyTorch, which the checks of other versions leave out.
LEFT_OUT = set() if find_spec("torch") else {"mlstream.interop", "mlstream.interop.torch"}
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
