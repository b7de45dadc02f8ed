"""Public names of a package that are imported when they are first used."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import InspectLoader

_EXPORT = re.compile(r"^ *from ([\w.]+) import \(?\s*([^\W_]\w*) as \2\b", re.MULTILINE)
_OURS = {"metrics", "estimators", "mlstream"}
# The packages to install where one of these modules is missing: those of learners, or of streams and their evaluation.
_LEARNERS, _STREAMS = "scikit-learn numba filelock", "pydantic packaging"
_INSTALLED_BY = dict.fromkeys(("sklearn", "joblib", "threadpoolctl", "numba", "llvmlite", "filelock"), _LEARNERS) | {
    "pydantic": _STREAMS,
    "packaging": _STREAMS,
    "arff": "liac-arff",
}
EXTRAS = {
    "distributed": "dask",
    "fastapi": "challenge",
    "huggingface_hub": "hub",
    "lightgbm": "lightgbm",
    "mlcroissant": "croissant",
    "mlflow": "mlflow",
    "prometheus_client": "monitor",
    "skl2onnx": "onnx",
    "skops": "skops",
    "torch": "torch",
    "yaml": "challenge",
}
_INSTALLED_BY |= {module: f"'mlstream-toolkit[{extra}]'" for module, extra in EXTRAS.items()}


def attach(package: str, *lists: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, whose names stand in its source for type checkers.

    These are the public ones that it imports as ``from module import name as name``, under TYPE_CHECKING; it calls this
    function in the other branch. The modules in `lists` may import more of them, and are read, not imported.
    """
    home_of = {name: home for module in (package, *lists) for home, name in _EXPORT.findall(_source_of(module))}
    public = sorted(home_of)

    def find(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with needing(f"{package}.{name}"):
            return getattr(import_module(home_of[name]), name)

    return find, lambda: public, public


def _source_of(module: str) -> str:
    """Return the source of a module, be it in a folder or in an archive, without importing it."""
    spec = find_spec(module)
    source = cast("InspectLoader", spec.loader).get_source(module) if spec else None
    if source is None:
        raise ImportError(f"{module} must be installed with its source, which lists what the package offers.")
    return source


def installed_by(module: str) -> str:
    """Return what pip installs to have a module."""
    return _INSTALLED_BY.get(module, module)


@contextmanager
def needing(what: str, instead: str = "") -> Iterator[None]:
    """Say what `what` needs, and how to get it, if the block, or a decorated function, imports a missing module.

    `instead` is what can be done without it. Of blocks within each other, the innermost says it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module in _OURS or not module or " needs the module " in str(error):
            raise
        advice = f"pip install {installed_by(module)}{instead}"
        if module in sys.stdlib_module_names:
            advice = "only POSIX systems have it, and the Windows Subsystem for Linux"
        raise ModuleNotFoundError(f"{what} needs the module {module}: {advice}.", name=error.name) from None
