"""The threat model names tests that exist, and every place of the code that can execute what it is given."""

import ast
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.loops import check_all

# The tests may run against an installed package: the code is where that is.
CODE = {name: Path(find_spec(name).origin).parents[1] for name in ("metrics", "estimators", "mlstream")}
ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/security.rst").read_text(encoding="utf-8")
GUARDS = re.findall(r"``(tests/[\w/]+\.py)::(\w+)``", PAGE)
# What executes its argument, or what a file holds; and modules whose functions do.
EXECUTES = {"eval", "exec", "import_module", "__import__"}
UNPICKLES = {"pickle", "cloudpickle", "dill", "marshal", "shelve", "distributed.protocol.pickle"}
WORDS = re.compile(rf"\b({'|'.join(map(re.escape, [*EXECUTES, *UNPICKLES, 'np.load']))})\b")
WRITES_ONLY = {"dumps", "HIGHEST_PROTOCOL", "PicklingError"}
# They import modules of ours by names that stand in our own code, or unpickle what they have just pickled.
HARMLESS = {
    "estimators/checks/_label_checks.py",
    "estimators/checks/_one_row_checks.py",
    "estimators/checks/__init__.py",
    "estimators/contract/lazy.py",
    "estimators/contract/old_names.py",
    "estimators/strategies.py",
}


def test_every_guard_is_a_test() -> None:
    def check(guard: tuple[str, str]) -> None:
        file, name = guard
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)

    check_all(GUARDS, check, name="::".join)


def test_every_row_of_strangers_has_a_guard() -> None:
    rows = PAGE.partition("Not trusted")[2].partition("Not promised")[0].split("\n   * - ")[2:]
    assert len(rows) > 10
    assert all("``tests/" in row for row in rows)


def test_every_place_that_can_execute_what_it_is_given_is_on_the_page() -> None:
    named = set(re.findall(r"``((?:mlstream|estimators|metrics)/[\w/]+\.py)``", PAGE))
    assert _executing() == named | HARMLESS


def test_numpy_never_unpickles() -> None:
    calls = [call for tree in _trees().values() for call in ast.walk(tree) if _is_numpy_load(call)]
    assert calls
    for call in calls:
        assert [one.value.value for one in call.keywords if one.arg == "allow_pickle"] == [False]


@cache
def _trees() -> dict[str, ast.Module]:
    """Parse the files that hold a word of what is looked for."""
    texts = {
        str(path.relative_to(home)): path.read_text(encoding="utf-8")
        for package, home in CODE.items()
        for path in (home / package).rglob("*.py")
    }
    return {file: ast.parse(text) for file, text in texts.items() if WORDS.search(text)}


def _executing() -> set[str]:
    return {file for file, tree in _trees().items() if any(_executes(node) for node in ast.walk(tree))}


def _executes(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id in UNPICKLES and node.attr not in WRITES_ONLY
    if isinstance(node, ast.ImportFrom):
        return node.module in UNPICKLES and any(alias.name not in WRITES_ONLY for alias in node.names)
    return isinstance(node, ast.Call) and _name(node.func) in EXECUTES


def _name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _is_numpy_load(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "np.load"
