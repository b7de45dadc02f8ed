"""Snippets of Python within the text of a page: whether the names and arguments in them exist, and whether they run.

A call of a public name must fit its signature. Any other name, of a method or of a private function, must be defined
somewhere in the sources, with such arguments. An argument alone must be one of something, and so must its value.
"""

import ast
import builtins
import importlib
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import estimators
import metrics
import mlstream
from tests.pages import ROOT

OURS = {package.__name__: Path(package.__file__).parent for package in (metrics, estimators, mlstream)}
# What pages name of other libraries without the module, or by the name that everybody gives it.
OTHERS = {
    "GridSearchCV": "sklearn.model_selection",
    "HistGradientBoostingClassifier": "sklearn.ensemble",
    "SGDClassifier": "sklearn.linear_model",
    "StandardScaler": "sklearn.preprocessing",
    "cross_val_score": "sklearn.model_selection",
    "isnan": "numpy",
    "train_test_split": "sklearn.model_selection",
}
ALIASES = {"np": "numpy", "frame": "pandas.DataFrame"}
# Arguments and values of other libraries.
FOREIGN = {"ignore_ties", "cuda"}


def parse_snippet(text: str) -> ast.expr | ast.stmt | None:
    """Return a snippet as a tree: a call, an import, a name in a package of ours, or arguments as a call of ``_``."""
    # Neither a fragment, nor the name of a report's row such as "tuned (10)", nor a variable of the environment.
    if re.search(r" =$|\w \(|^[A-Z_]+=", text):
        return None
    for source in (text, f"_({text})", f"{text} *"):
        try:
            (tree,) = ast.parse(re.sub(r"=(?=[,)])", "=...", source)).body
        except (SyntaxError, ValueError):
            continue
        tree = tree.value if isinstance(tree, ast.Expr) else tree
        if is_snippet(tree):
            return tree
    return None


def is_snippet(tree: ast.expr | ast.stmt) -> bool:
    """Return whether a tree is a call, an import, a name in a package of ours, or nothing but arguments."""
    if isinstance(tree, ast.Call) and ast.unparse(tree.func) == "_":
        return bool(tree.keywords) and not tree.args
    first, _, rest = ast.unparse(tree).partition(".")
    is_ours = isinstance(tree, ast.Attribute) and first in OURS and rest != "py"
    calls = isinstance(tree, ast.expr) and any(isinstance(node, ast.Call) for node in ast.walk(tree))
    return calls or is_ours or isinstance(tree, ast.Import | ast.ImportFrom)


class Definitions(ast.NodeVisitor):
    """Names that the sources define: the arguments of every function and class by name, and all strings."""

    def __init__(self) -> None:
        self.arguments: dict[str, set[str]] = defaultdict(set)
        self.strings: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Keep the arguments of a function."""
        self.arguments[node.name] |= {child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg)}
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Keep the fields of a class."""
        assigned = [part for part in node.body if isinstance(part, ast.Assign | ast.AnnAssign)]
        targets = [target for part in assigned for target in getattr(part, "targets", None) or [part.target]]
        self.arguments[node.name] |= {target.id for target in targets if isinstance(target, ast.Name)}
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Keep a string."""
        if isinstance(node.value, str):
            self.strings.add(node.value)


@cache
def definitions() -> Definitions:
    """Read the sources, those of the benchmarks too."""
    found = Definitions()
    for folder in (*OURS.values(), ROOT / "benchmarks"):
        for path in folder.rglob("*.py"):
            found.visit(ast.parse(path.read_text(encoding="utf-8")))
    return found


@cache
def public_modules() -> dict[str, str]:
    """Return the module that lists a name in its `__all__`, by that name."""
    modules = {}
    for package, folder in OURS.items():
        for path in sorted(folder.rglob("__init__.py")):
            module = ".".join((package, *path.parent.relative_to(folder).parts))
            modules |= dict.fromkeys(getattr(importlib.import_module(module), "__all__", ()), module)
    return OTHERS | modules


def find_object(name: str) -> object:
    """Return what a dotted name stands for, as a public name or as a module, or raise an error."""
    first, *rest = name.split(".")
    path = ALIASES.get(first, first)
    if first in public_modules():
        found = getattr(importlib.import_module(public_modules()[first]), first)
    else:
        module, _, part = path.partition(".")
        found = importlib.import_module(module)
        found = getattr(found, part) if part else found
    for part in rest:
        path = f"{path}.{part}"
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(path)
    return found


def problems(tree: ast.AST) -> Iterator[str]:
    """Yield what a snippet has that does not exist."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            yield from (f"no module {module}" for module in modules if not find_spec(module))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "_":
            yield from argument_problems(node)
        elif isinstance(node, ast.Call):
            yield from call_problems(node)
        elif isinstance(node, ast.Attribute) and ast.unparse(node).partition(".")[0] in OURS:
            yield from name_problems(ast.unparse(node))


def name_problems(name: str) -> Iterator[str]:
    """Yield that a name in a package of ours leads nowhere."""
    try:
        find_object(name)
    except (AttributeError, ImportError):
        yield f"no {name}"


def argument_problems(node: ast.Call) -> Iterator[str]:
    """Yield which arguments nothing takes, by name or by value; ``base__x`` is ``x`` of a learner within another."""
    known = definitions()
    arguments = set().union(FOREIGN, known.strings, *known.arguments.values())
    for keyword in node.keywords:
        if str(keyword.arg).rpartition("__")[2] not in arguments:
            yield f"no argument {keyword.arg}"
        for part in ast.walk(keyword.value):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value not in arguments:
                yield f"no {part.value!r}"


def call_problems(node: ast.Call) -> Iterator[str]:
    """Yield why a call cannot be one: nothing of that name is defined, or it takes other arguments."""
    name, known = ast.unparse(node.func), definitions().arguments
    first, last = name.partition(".")[0], name.rpartition(".")[2]
    try:
        found = find_object(name)
    except (AttributeError, ImportError, KeyError):
        keywords = {keyword.arg for keyword in node.keywords}
        if last in known:
            yield from (f"{last} has no argument {keyword}" for keyword in keywords - known[last])
        elif not (hasattr(builtins, first) or first in sys.stdlib_module_names):
            yield f"no {name}"
    else:
        yield from signature_problems(found, node, name)


def signature_problems(found: object, node: ast.Call, name: str) -> Iterator[str]:
    """Yield why a call does not fit a signature; one with ``...``, or with keywords only, need not have all."""
    given = [part for part in node.args if ast.unparse(part) != "..."]
    signature = inspect.signature(found)
    bind = signature.bind if given and given == node.args else signature.bind_partial
    try:
        bind(*given, **{str(keyword.arg): keyword for keyword in node.keywords})
    except TypeError as error:
        yield f"{name}: {error}"


def can_run(tree: ast.AST, names: dict[str, object]) -> bool:
    """Return whether a snippet is a call with all its arguments, and every name in it is known; or an import."""
    if isinstance(tree, ast.Import | ast.ImportFrom):
        return True
    nodes = list(ast.walk(tree))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if not calls or "..." in ast.unparse(tree) or not all(call.args or call.keywords for call in calls):
        return False
    return {node.id for node in nodes if isinstance(node, ast.Name)} <= {*names, *public_modules()} - {"_", *OTHERS}


def run_snippet(tree: ast.AST, names: dict[str, object]) -> None:
    """Run a snippet with the names of a page, and with public names."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - set(names)
    known = names | {name: find_object(name) for name in used if name in public_modules()}
    exec(ast.unparse(tree), known)  # noqa: S102 - our own pages
