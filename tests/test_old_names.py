"""Modules that have moved can be imported by their old names; pickles that name them load."""

import os
import pickle
import subprocess
import sys

import pytest

from estimators import DivergedError
from estimators.contract import old_names
from estimators.contract.prevalence import Prevalence
from estimators.contract.targets import ClassTarget, LabelTarget
from mlstream import Task
from mlstream._support.old_names import MOVED
from mlstream.records.run_result import Curve, LeftOut, PhaseResources, References, Resources, RunResult, Runs

ALL = old_names.MOVED | MOVED
# Any module that has moved and starts quickly, with a name that it defines.
OLD, NEW, NAME = "mlstream.formats.content", "mlstream._support.content", "FormatError"
PACKAGE, LEAF = OLD.rsplit(".", 1)
IMPORTS = {
    "import": f"import {OLD}\nmodule = {OLD}",
    "import as": f"import {OLD} as module",
    "from the package": f"from {PACKAGE} import {LEAF} as module",
    "from the module": f"from {OLD} import {NAME}\nmodule = sys.modules[{OLD!r}]",
    "by string": f"module = importlib.import_module({OLD!r})",
    "the new name first": f"import {NEW}\nimport {OLD} as module",
    "reload": f"import {OLD} as module\nassert importlib.reload(module) is module",
}
# All threads start at once, half of them with the new name.
THREADS = f"""
import importlib, threading, mlstream
start, found = threading.Barrier(8), []
def work(name):
    start.wait()
    found.append(importlib.import_module(name))
threads = [threading.Thread(target=work, args=[name]) for name in [{OLD!r}, {NEW!r}] * 4]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 8 and len(set(map(id, found))) == 1, found
"""
# Pickles as they were before the moves, by hand: classes, and instances with one field.
CLASSES = {
    b"cestimators._targets\nLabelTarget\n.": LabelTarget,
    b"cestimators._targets\nClassTarget\n.": ClassTarget,
    b"cestimators._prevalence\nPrevalence\n.": Prevalence,
    b"cestimators._failed_calls\nDivergedError\n.": DivergedError,
} | {
    f"cmlstream.records.run_record\n{kind.__name__}\n.".encode(): kind
    for kind in (Curve, LeftOut, PhaseResources, References, Resources, RunResult, Runs)
}
MAKE = b"ccopy_reg\n_reconstructor\n(c%s\nc__builtin__\nobject\nNtR(dV%s\nI3\nsb."
INSTANCES = [("estimators._targets", LabelTarget, "width"), ("mlstream.stream", Task, "name")]


def load(text):
    return pickle.loads(text)  # noqa: S301 - written here


def run(code):
    """Run code in a new process, where nothing of ours is imported yet."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert not done.returncode, done.stderr


@pytest.mark.slow
def test_every_old_name_is_the_module_of_its_new_name():
    run(
        "import sys\n"
        "from importlib import import_module\n"
        f"for old, new in {ALL!r}.items():\n"
        "    module, (package, _, leaf) = import_module(old), old.rpartition('.')\n"
        "    assert module.__name__ == new, old\n"
        "    assert module is import_module(new) is sys.modules[old] is getattr(import_module(package), leaf), old\n"
    )


@pytest.mark.parametrize("code", IMPORTS.values(), ids=IMPORTS)
def test_an_old_name_can_be_imported_in_every_way(code):
    run(f"import importlib, sys\n{code}\nassert module is importlib.import_module({NEW!r})\nassert module.{NAME}")


def test_threads_that_import_both_names_get_one_module():
    run(THREADS)


def test_an_old_name_is_found_without_an_import_of_the_module():
    run(f"import sys\nfrom importlib.util import find_spec\nassert find_spec({OLD!r}) and {NEW!r} not in sys.modules")


def test_a_name_that_no_module_ever_had_is_still_an_error():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'estimators\.bases'"):
        __import__("estimators.bases")


@pytest.mark.parametrize(("text", "kind"), CLASSES.items(), ids=[kind.__name__ for kind in CLASSES.values()])
def test_a_pickle_that_names_an_old_module_loads_its_class(text, kind):
    assert load(text) is kind


@pytest.mark.parametrize(("module", "kind", "field"), INSTANCES, ids=[kind.__name__ for _, kind, _ in INSTANCES])
def test_a_pickle_that_names_an_old_module_loads_an_instance(module, kind, field):
    loaded = load(MAKE % (f"{module}\n{kind.__name__}".encode(), field.encode()))
    assert type(loaded) is kind
    assert vars(loaded) == {field: 3}
