"""The hash of a learner's source: records are of one version of the code, and are stale once that changes."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sklearn.base import BaseEstimator


class _Module(NamedTuple):
    """A module that was found by its name, without being imported."""

    name: str
    path: Path
    is_package: bool


def hash_source(estimator: object) -> str:
    """Return the SHA-256 of the source of a learner: its module, that of every learner inside, and what they import.

    Imports are followed within the folder that holds the top-level package, or module, of each class; other packages
    have a version. Comments, docstrings and the layout of the code do not count. A learner whose class has no source,
    as one that was typed into a shell, raises a ValueError.
    """
    found: dict[str, Path] = {}
    for kind in sorted(_classes(estimator), key=lambda one: (one.__module__, one.__qualname__)):
        found |= _modules_of(kind)
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(f"{name}\0{_normalised(found[name])}\0".encode())
    return digest.hexdigest()


def _classes(estimator: object) -> set[type]:
    """Return the class of a learner and of the estimators among its parameters, but those of installed libraries."""
    values = [estimator]
    if hasattr(estimator, "get_params"):
        values += estimator.get_params(deep=True).values()
    nested = [item for value in values for item in (value if isinstance(value, list | tuple) else [value])]
    kinds = {type(item) for item in nested if item is estimator or isinstance(item, BaseEstimator)}
    return {kind for kind in kinds if not _is_installed(kind)}


def _is_installed(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in _LIBRARIES


_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Their versions are in the records.
_LIBRARIES = {"builtins", "sklearn", "river", "lightgbm", "xgboost", "catboost", "torch", "numpy", "scipy", "capymoa"}


def _modules_of(kind: type) -> dict[str, Path]:
    try:
        file = Path(inspect.getfile(kind)).resolve()
        inspect.getsource(kind)
    except (OSError, TypeError):
        raise ValueError(
            f"A learner of the arena must have its source in a file: save {kind.__name__} in a module, such as "
            f"my_module.py. Got a class of {kind.__module__!r} without one."
        ) from None
    name = kind.__module__
    if name == "__main__":
        return {file.stem: file}
    root = file.parents[name.count(".") + (file.name == "__init__.py")]
    return {module.name: module.path for module in _closure(name, root)}


@lru_cache(maxsize=256)
def _closure(name: str, root: Path) -> tuple[_Module, ...]:
    """List a module and all that it imports from the same folder, directly or not."""
    seen: dict[str, _Module] = {}
    waiting = deque([name])
    while waiting:
        one = waiting.popleft()
        module = None if one in seen else _locate(one, root)
        if module is not None:
            seen[one] = module
            waiting.extend(_imports(module))
    return tuple(seen.values())


def _locate(name: str, root: Path) -> _Module | None:
    path = root.joinpath(*name.split("."))
    for file, is_package in ((path.with_suffix(".py"), False), (path / "__init__.py", True)):
        if file.is_file():
            return _Module(name, file, is_package)
    return None


@lru_cache(maxsize=1024)
def _imports(module: _Module) -> tuple[str, ...]:
    return tuple(_walk_imports(_parse(module.path), module))


def _walk_imports(node: ast.AST, module: _Module) -> Iterator[str]:
    """Yield the names that code imports, but those for type checkers alone."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for other in node.orelse:
            yield from _walk_imports(other, module)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _base_of(node, module)
        yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
    for child in ast.iter_child_nodes(node):
        yield from _walk_imports(child, module)


def _base_of(node: ast.ImportFrom, module: _Module) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    parts = parts[: len(parts) - node.level + module.is_package]
    return ".".join([*parts, *([node.module] if node.module else [])])


@lru_cache(maxsize=1024)
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@lru_cache(maxsize=1024)
def _normalised(path: Path) -> str:
    """Return the lines of code, but for comments, docstrings and empty ones; all versions of Python find the same."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(_parse(path)):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            start, stop = node.body[0].lineno - 1, node.body[0].end_lineno
            lines[start:stop] = [""] * len(lines[start:stop])
    stripped = (line.rstrip() for line in lines)
    return "\n".join(line for line in stripped if line and not line.lstrip().startswith("#"))
