"""Learners and metrics work without what only POSIX has, and with a Numba that nobody has tried."""

import subprocess
import sys

import pytest

# What Windows lacks, as far as our code or that of others could ask for it.
WITHOUT_POSIX = """
import os, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

ABSENT = {"fcntl", "grp", "pty", "pwd", "resource", "termios"}
for name in ABSENT:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
for name in ("getuid", "register_at_fork", "sched_getaffinity", "fork", "O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY"):
    delattr(os, name)
"""
USE_ALL = """
import estimators, metrics
for package in (estimators, metrics):
    for name in package.__all__:
        getattr(package, name)
"""
LEARN = """
import sys
import numpy as np
from estimators import make_strategy
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(300, 3)) > 0).astype(int)
for name in sys.argv[1:]:
    learner = make_strategy(name, random_state=0)
    for rows in np.split(np.arange(300), 3):
        learner.partial_fit(X[rows], Y[rows])
    print(learner.predict_proba(X).tobytes().hex())
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)


def test_metrics_and_learners_need_nothing_that_only_posix_has():
    learnt = run(WITHOUT_POSIX + USE_ALL + LEARN, "StreamRidge").stdout
    assert learnt == run(LEARN, "StreamRidge").stdout


def test_what_needs_posix_says_so(tmp_path):
    code = (
        WITHOUT_POSIX
        + "import mlstream\ntry:\n    mlstream.evaluate\nexcept ModuleNotFoundError as error:\n    print(error)"
    )
    assert "mlstream.evaluate needs the module resource: only POSIX systems have it" in run(code).stdout
    code = (
        WITHOUT_POSIX
        + "from mlstream.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    print(end.code)"
    )
    ended = run(code, "run", "yeast-tasks", "-q", "-o", str(tmp_path))
    assert ended.stdout == "1\n"
    assert "Error: The command mlstream needs the module resource: only POSIX systems have it" in ended.stderr


def test_a_missing_package_is_named_with_the_command_that_installs_it():
    errors = {
        "mlstream.fetch_dataset('scene')": "Downloading a table needs the module pooch: pip install pooch",
        "mlstream.load_dataset('yeast')": "river/datasets, as yeast.csv. Got no such file: pip install river",
        "mlstream.load_dataset(sys.executable, format='parquet')": "Reading Parquet needs the module pyarrow: pip",
        "mlstream.save(None, 'a.train.parquet')": "Writing Parquet needs the module pyarrow: pip install pyarrow",
        "mlstream.interop.from_datasets": "interop.from_datasets needs the module pyarrow: pip install pyarrow",
        "estimators.as_river_classifier(None)": "as_river_classifier needs the module river: pip install river",
        "estimators.RiverClassifier(None).fit([[0.5]], [1])": "RiverClassifier needs the module river: pip",
    }
    code = """
import sys
sys.modules.update(dict.fromkeys(["pooch", "pyarrow", "river"]))
import estimators, mlstream.interop
for call in sys.argv[1:]:
    try:
        eval(call)
    except (FileNotFoundError, ModuleNotFoundError) as error:
        print(error)
"""
    for line, error in zip(run(code, *errors).stdout.splitlines(), errors.values(), strict=True):
        assert error in line


@pytest.mark.slow
def test_an_unknown_numba_compiles_plainly_and_gives_the_same_bits():
    names = ("BR_HT", "NN")
    unknown = run("import numba\nnumba.__version__ = '99.0'\n" + LEARN, *names)
    assert unknown.stdout == run(LEARN, *names).stdout
    assert unknown.stderr.startswith("Numba 99.0 is newer than ")
    assert unknown.stderr.count("\n") == 1
