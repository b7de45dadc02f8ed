"""What starts often starts quickly: a command imports no package that it does not need."""

import os
import subprocess
import sys

import pytest

from mlstream import save
from tests.loops import check_all
from tests.mlstream.evaluation.streams import make_stream

# Packages, and parts of them, that take a tenth of a second or more to import.
LEARNING = {"numba", "sklearn", "torch"}
TABLES = {"pandas", "pyarrow", "river", "scipy.stats"}
DRAWING = {"matplotlib", "plotly", "jinja2"}
ARRAYS = {"numpy", "scipy"}
ALL = LEARNING | TABLES | DRAWING | ARRAYS

# Each piece of code runs in a fork, and leaves a file with the names of all modules that are then imported.
FORKS = """
import os, sys, traceback
{first}
for place, code in enumerate({codes!r}):
    child = os.fork()
    if not child:
        try:
            exec(code, {{"sys": sys}})
            with open(f"{{place}}.modules", "w") as file:
                print(*sys.modules, file=file)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""
COMMAND = """
from mlstream.cli import main
sys.argv = ["mlstream", *{arguments!r}]
try:
    main()
except SystemExit as stopped:
    assert not stopped.code, stopped.code
"""


def check_imports(codes, forbidden, folder, first=""):
    """Run pieces of code, by name, in forks of one process that ran the first; none may import what is forbidden."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    script = FORKS.format(first=first, codes=list(codes.values()))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder, env=environment
    )
    places = {name: place for place, name in enumerate(codes)}

    def check(name):
        file = folder / f"{places[name]}.modules"
        assert file.exists(), done.stderr
        found = set(file.read_text().split())
        assert found & {"estimators", "mlstream"}
        assert found & forbidden == set()

    check_all(codes, check)


def check_commands(lines, forbidden, folder, first=""):
    codes = {line: COMMAND.format(arguments=line.split()) for line in lines}
    check_imports(codes, forbidden, folder, first=f"import mlstream.cli\n{first}")


def test_a_command_that_only_lists_needs_no_arrays(tmp_path):
    lines = ["--help", "--version", "datasets", "strategies", "strategies NN_TLH", "streams", "run --help"]
    check_commands(lines, ALL, tmp_path)


@pytest.mark.slow
def test_a_stream_is_made_and_inspected_without_learners(tmp_path):
    save(make_stream(), tmp_path / "tiny.npz")
    lines, forbidden = ["inspect tiny.npz", "inspect synthetic-rand", "generate --help"], LEARNING | TABLES | DRAWING
    check_commands(lines, forbidden, tmp_path, first="import numpy, scipy.sparse")
    # It is made from a CSV file.
    check_commands(["inspect yeast-tasks"], forbidden - {"pyarrow"}, tmp_path)


def test_packages_import_what_they_need_when_it_is_used(tmp_path):
    codes = [
        "import estimators",
        "from estimators import STRATEGIES, grid, make_strategy\nlist(STRATEGIES)\ngrid('BR_HT')",
        "import mlstream",
        "from mlstream import list_datasets\nlist_datasets()",
    ]
    check_imports({code: code for code in codes}, ALL, tmp_path)
