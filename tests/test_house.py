"""Each figure of the house is counted on a small tree of files, where the answer is known."""

import importlib.util
import runpy
import sys
from pathlib import Path
from textwrap import dedent

import pytest

FILE = Path(__file__).parents[1] / "tools" / "house.py"
SPEC = importlib.util.spec_from_file_location("house", FILE)
house = importlib.util.module_from_spec(SPEC)
sys.modules["house"] = house
SPEC.loader.exec_module(house)


@pytest.fixture
def count(tmp_path):
    """Count the figures of some files, given as text by path; the faces of the three packages are empty otherwise."""

    def write_and_count(files):
        for path, text in ({f"{package}/__init__.py": "" for package in house.PACKAGES} | files).items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text))
        return house.count(tmp_path)

    return write_and_count


def test_lines_docstrings_and_imports(count):
    figures = count({"metrics/a.py": '"""One\ntwo."""\nimport os\nfrom sys import (\n    path,\n)\n\n\n\n\n'})
    assert (figures["files"], figures["lines"]) == (4, 10)
    assert figures["docstrings, % of lines"] == 20
    assert figures["import statements per 100 lines"] == 20


def test_complexity_counts_branches_and_operators(count):
    branches = "".join(f"    if x == {i}:\n        return {i}\n" for i in range(8))
    code = f"def f(x):\n{branches}    return [y for y in x if y and y > 1]\n\n\ndef g(x): ...\n"
    figures = count({"metrics/a.py": code})
    # 1, eight times `if`, `for` and `if` of the list, and `and`
    assert figures["largest complexity"] == 12
    assert figures["functions of complexity above 10, %"] == 50


def test_an_import_in_nested_functions_is_one(count):
    code = """
        import os

        def f():
            def g():
                import sys
    """
    assert count({"metrics/a.py": code})["imports in functions"] == 1


def test_uses_of_any_are_not_its_import(count):
    figures = count({"metrics/a.py": "from typing import Any\n\nx: Any = 1\ny: list[Any] = []\n"})
    assert figures["uses of Any"] == 2
    assert figures["uses of Any per 1000 lines"] == 500


def test_private_functions_that_are_used_once(count):
    code = """
        def _once(): ...
        def _twice(): ...
        def __getattr__(name): ...
        def public(): _once(), _twice(), _twice()
        class C:
            def _method(self): ...
            def _unused(self): ...
            def public(self): self._method()
    """
    assert count({"metrics/a.py": code})["private functions used once in their file, %"] == 50


def test_small_files_with_one_importer(count):
    files = {
        "metrics/one.py": "",
        "metrics/two.py": "",
        "metrics/none.py": "",
        "metrics/long.py": "\n" * 110,
        "metrics/b.py": "from metrics import one, two\nfrom metrics.one import x\nfrom metrics.long import y\n",
        "metrics/c.py": "import metrics.two\n",
    }
    assert count(files)["files below 110 lines with one importer"] == 1


def test_modules_at_the_roots_and_in_the_largest_folder(count):
    files = {"mlstream/a.py": "\n", "estimators/a.py": "", "estimators/b.py": "", "estimators/c/__init__.py": ""}
    figures = count(files | {f"mlstream/d/{name}.py": "" for name in "abcde"})
    assert figures["modules at the root of mlstream"] == 1
    assert figures["modules at the root of estimators"] == 2
    assert figures["files in the largest folder"] == 5


def test_arrows_between_rooms(count):
    figures = count(
        {
            "mlstream/__init__.py": "from mlstream.a import x\n",
            "mlstream/a.py": "import mlstream.b.one\nimport mlstream.b.two\nimport estimators.c\n",
            "mlstream/b/__init__.py": "",
            "mlstream/b/one.py": "import mlstream.b.two\n",
            "mlstream/b/two.py": "import_module('mlstream.c')\n",
            "mlstream/c.py": "",
            "estimators/c.py": "",
        }
    )
    # __init__ -> a -> b -> c
    assert figures["arrows between rooms of mlstream"] == 3
    assert figures["arrows per room of mlstream"] == 0.8
    assert figures["arrows between rooms of estimators"] == 0


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": "import mlstream.b", "b.py": "import mlstream.c", "c.py": ""}, 0),
        ({"a.py": "import mlstream.b", "b.py": "import mlstream.c", "c.py": "import mlstream.a"}, 1),
        ({"a.py": "def f():\n    from mlstream import b", "b.py": "import_module('mlstream.a')"}, 1),
        ({"__init__.py": "from mlstream.a import x", "a.py": "import mlstream"}, 1),
        (
            {
                "c/__init__.py": "",
                "c/a/__init__.py": "",
                "c/a/one.py": "import mlstream.c.b.one",
                "c/a/two.py": "",
                "c/b/__init__.py": "",
                "c/b/one.py": "",
                "c/b/two.py": "import mlstream.c.a.two",
            },
            1,
        ),
    ],
    ids=["none", "modules", "by string", "with the face", "folders, no modules"],
)
def test_packages_with_circular_imports(count, files, expected):
    figures = count({f"mlstream/{name}": text for name, text in files.items()})
    assert figures["packages with circular imports"] == expected


def test_imports_by_string_outside_of_faces(count):
    files = {
        "mlstream/__init__.py": "import_module('mlstream.a')",
        "mlstream/a.py": "importlib.import_module('metrics')\nimport_module('numpy')\nimport_module(name)\n",
        "mlstream/b.py": "__import__('mlstream.a')",
    }
    assert count(files)["imports by string outside __init__"] == 2


def test_internal_names_with_numpydoc_sections(count):
    code = """
        def shown():
            'DOC'
            def inner():
                'DOC'

        def hidden():
            'DOC'

        class Base:
            def inherited(self):
                'DOC'
            def _inherited(self):
                'DOC'

        class Shown(Base):
            'DOC'
            def method(self):
                'DOC'
            def _helper(self):
                'DOC'

        def plain():
            'Notes are no section.'
    """.replace("DOC", r"Do this.\n\nReturns\n-------\nint")
    listed = "from metrics.a import shown as public, Shown\n\n__all__ = ['Shown', 'public']\n"
    lazy = "if TYPE_CHECKING:\n    from metrics.a import shown as shown, Shown as Shown\n"
    for face in (listed, lazy):
        figures = count({"metrics/__init__.py": face, "metrics/a.py": code})
        # inner, hidden, _inherited and _helper
        assert figures["internal names with numpydoc sections"] == 4


def test_the_table_compares_with_the_last_release_and_limits_fail(count, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(house, "STORED", tmp_path / "house.json")
    count({"mlstream/a.py": "\n"})
    assert house.main([str(tmp_path), "--write"]) == 0
    count({"mlstream/a.py": "import mlstream.a\n", "mlstream/b.py": "import_module('mlstream.a')\n\n"})
    capsys.readouterr()
    assert house.main([str(tmp_path)]) == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["lines", "1", "3", "+2"] in lines
    assert lines[-1][-4:] == ["most", "0.", "Got", "1."]


@pytest.mark.slow
def test_every_figure_of_the_last_release_is_stored(count):
    stored = house.json.loads(house.STORED.read_text()).keys()
    assert stored - count({"metrics/a.py": "\n"}).keys() == house.count_trips().keys()


def test_a_trip_goes_through_each_function_once(tmp_path):
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "a.py").write_text("def inner(): ...\n\ndef outer():\n    inner()\n    inner()\n")
    outer = runpy.run_path(str(folder / "a.py"))["outer"]
    path = str(folder / "a.py")
    assert house.trip(outer, ("house",)) == {(path, "outer"), (path, "inner")}
    assert house.trip(outer, ("elsewhere",)) == set()
