"""What starts often starts quickly: a command imports no package that it does not need."""

import os
import subprocess
import sys

import pytest

from mlstream import save
from tests.mlstream.evaluation.streams import make_stream

# Packages, and parts of them, that take a tenth of a second or more to import.
LEARNING = {"numba", "sklearn", "torch"}
TABLES = {"pandas", "pyarrow", "river", "scipy.stats"}
DRAWING = {"matplotlib", "plotly", "jinja2"}
ARRAYS = {"numpy", "scipy"}
ALL = LEARNING | TABLES | DRAWING | ARRAYS

COMMAND = """
from mlstream.cli import main
sys.argv = ["mlstream", *{arguments!r}]
try:
    main()
except SystemExit as stopped:
    assert not stopped.code, stopped.code
"""


def imported(code, folder):
    """Run Python code in a process of its own; return the names of the modules that it imported."""
    code = f"import sys\n{code}\nprint('\\nMODULES', *sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder, env=environment
    )
    return set(done.stdout.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["datasets"], ["strategies"], ["strategies", "NN_TLH"], ["streams"], ["run", "--help"]],
    ids=" ".join,
)
def test_a_command_that_only_lists_needs_no_arrays(arguments, tmp_path):
    assert imported(COMMAND.format(arguments=arguments), tmp_path) & ALL == set()


def test_a_stream_is_inspected_without_learners(tmp_path):
    save(make_stream(), tmp_path / "tiny.npz")
    found = imported(COMMAND.format(arguments=["inspect", "tiny.npz"]), tmp_path)
    assert found & (LEARNING | TABLES | DRAWING) == set()
    assert found >= ARRAYS


@pytest.mark.parametrize(
    "arguments", [["inspect", "synthetic-rand"], ["inspect", "yeast-tasks"], ["generate", "--help"]], ids=" ".join
)
def test_a_stream_is_made_without_learners(arguments, tmp_path):
    assert imported(COMMAND.format(arguments=arguments), tmp_path) & (LEARNING | TABLES | DRAWING) == set()


@pytest.mark.parametrize(
    "code",
    [
        "import estimators",
        "from estimators import STRATEGIES, grid, make_strategy\nlist(STRATEGIES)\ngrid('BR_HT')",
        "import mlstream",
        "from mlstream import list_datasets\nlist_datasets()",
    ],
)
def test_packages_import_what_they_need_when_it_is_used(code, tmp_path):
    assert imported(code, tmp_path) & ALL == set()
