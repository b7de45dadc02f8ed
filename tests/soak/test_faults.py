"""Faults are seen by every writer, found when a command leaves half of a file, and survived by those that we have."""

import os
import subprocess
import sys

import numpy as np
import pytest
from typer.main import get_command

from mlstream.cli.app import app
from tests.soak.faults.cases import CASES, Case
from tests.soak.faults.file_faults import FileFaults
from tests.soak.faults.file_system import COUNTING, FAULTS, POWER_LOSS, FailingFiles, Operation, find_compiler
from tests.soak.faults.power import lose_power
from tests.soak.faults.tracking import TrackingFaults
from tests.soak.faults.workers import WorkerFaults

needs_shim = pytest.mark.skipif(
    sys.platform != "linux" or find_compiler() is None, reason="needs Linux and a compiler of C"
)

pytestmark = needs_shim

EVENTS = Case("synthesise events -o out.csv --days 1 --hosts 2 --events-per-hour 2", target="out.csv")
TABLES = Case("generate t.arff -o out.arff", "t.arff", "out*")
# Python imports this before anything else: the writers of the command lose what makes them atomic.
NOT_ATOMIC = """
from contextlib import contextmanager
from pathlib import Path
import mlstream._support.files

@contextmanager
def write_in_place(path, *, replace=True):
    yield Path(path)

mlstream._support.files.atomic_path = write_in_place
"""
NOT_TOGETHER = """
import mlstream._support.files
mlstream._support.files._put = lambda temporary, path: temporary.replace(path) and (lambda: None)
"""
WRITERS = {
    "python": "from pathlib import Path; Path(path).write_text('x')",
    "numpy": "import numpy; numpy.arange(9).tofile(path)",
    "zipfile": "import numpy; numpy.savez(path, x=numpy.arange(9))",
    "sqlite": "import sqlite3; sqlite3.connect(path).execute('CREATE TABLE t (x)')",
    "arrow": "import pyarrow.parquet, pyarrow; pyarrow.parquet.write_table(pyarrow.table({'x': [1]}), path)",
    "copy": "import shutil; shutil.copyfile('/etc/hostname', path)",
}


READERS = {
    "python": "open(path, 'rb').read()",
    "zipfile": "import zipfile; zipfile.ZipFile(path)",
    "sqlite": "import sqlite3; sqlite3.connect(path).execute('SELECT * FROM sqlite_master')",
    "arrow": "import pyarrow.parquet; pyarrow.parquet.read_metadata(path)",
}


# Commands without a case that write nothing, or of which a case would say nothing new.
WITHOUT_CASE = {
    "arena": "runs are written by campaigns, pages and bundles as files of other commands",
    "cards": "runs publish's writers on tables of the machine",
    "challenge audit": "reads",
    "challenge clock": "reads; with --accept, one row of the engine",
    "challenge demo": "runs the other commands of a challenge",
    "challenge serve": "a server, whose engine the other commands of a challenge share",
    "challenge status": "reads",
    "challenge verify": "reads",
    "datasets": "downloads; tests/mlstream/data/test_downloads.py cuts and kills them",
    "demo": "runs the other commands",
    "detectors": "reads",
    "strategies": "reads",
    "streams": "reads",
    "suggest-tasks": "reads",
    "track": "writes to a server; tests/soak/faults/tracking.py has its faults",
    "upload": "writes to a hub, and nothing here",
    "verify": "reads",
    "warm-up": "writes compiled kernels; tests/estimators/test_kernel_cache.py spoils them",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return FailingFiles(tmp_path_factory.mktemp("shim"))


def run(files, program, path):
    """Run a program whose files may fail; return its exit status and the last line of its errors."""
    done = subprocess.run(
        [sys.executable, "-c", f"path = {str(path)!r}\n{program}"],
        env=os.environ | files.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def test_every_command_that_writes_has_a_case():
    groups = get_command(app).commands
    names = {*groups, *(f"challenge {name}" for name in groups["challenge"].commands)} - {"challenge"}
    assert {_name(case.command) for case in CASES} == names - WITHOUT_CASE.keys()
    assert names >= WITHOUT_CASE.keys()


def _name(command):
    """Return the name of a command: two words in a challenge."""
    return " ".join(command.split()[: 1 + command.startswith("challenge ")])


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_meets_a_full_disk(files, tmp_path, name):
    with files.failing(tmp_path, COUNTING, None):
        assert run(files, WRITERS[name], tmp_path / "a.npz") == (0, "")
        assert files.counts()[Operation.WRITE] > 0
    with files.failing(tmp_path, FAULTS[0], 0):
        status, error = run(files, WRITERS[name], tmp_path / "b.npz")
    assert status == 1
    assert "No space left" in error or "disk is full" in error or "requested and" in error
    assert files.failed.startswith(f"WRITE {tmp_path / 'b.npz'}")


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_every_reader_meets_a_disk_that_fails(files, tmp_path, name):
    path = tmp_path / "x"
    path.write_bytes(b"SQLite format 3\0".ljust(4096))
    fault = next(one for one in FAULTS if one.operations == Operation.READ)
    with files.failing(tmp_path, fault, 0):
        assert run(files, READERS[name], path)[0] == 1
    assert files.failed == f"READ {path}"


def test_a_file_that_cannot_be_deleted_stays(files, tmp_path):
    (tmp_path / "x").touch()
    fault = next(one for one in FAULTS if one.operations == Operation.DELETE)
    with files.failing(tmp_path, fault, 0):
        status, error = run(files, "import os; os.unlink(path)", tmp_path / "x")
    assert status == 1
    assert "Permission denied" in error
    assert (tmp_path / "x").exists()


def test_files_elsewhere_do_not_fail(files, tmp_path):
    (tmp_path / "in").mkdir()
    with files.failing(tmp_path / "in", FAULTS[0], 0):
        assert run(files, WRITERS["python"], tmp_path / "out") == (0, "")


@pytest.mark.parametrize("is_flushed", [False, True])
def test_power_loss_takes_what_was_not_flushed(files, tmp_path, is_flushed):
    program = (
        "import os; from pathlib import Path; part = Path(path + '.part')\n"
        "with part.open('wb') as file:\n"
        "    file.write(b'new' * 1000); file.flush()\n"
        f"    {is_flushed} and os.fsync(file.fileno())\n"
        "part.rename(path); Path(path + '.later').touch(); os.rename(path + '.later', path + '.last')\n"
    )
    path = tmp_path / "x"
    with files.failing(tmp_path, POWER_LOSS, 3 if is_flushed else 2):
        assert run(files, program, path)[0] == 137
    assert path.read_bytes() == b"new" * 1000
    assert lose_power(tmp_path, files.log, np.random.default_rng(0)) == (0 if is_flushed else 1)
    assert (path.read_bytes() == b"new" * 1000) == is_flushed


def test_power_loss_brings_back_what_was_overwritten(files, tmp_path):
    (tmp_path / "x").write_bytes(b"old" * 1000)
    program = "import os; f = open(path, 'r+b', 0); f.seek(1500); f.write(b'n' * 3000); os.rename(path, path)"
    with files.failing(tmp_path, POWER_LOSS, 1):
        assert run(files, program, tmp_path / "x")[0] == 137
    for seed in range(20):
        content = (tmp_path / "x").read_bytes()
        lose_power(tmp_path, files.log, np.random.default_rng(seed))
        assert (tmp_path / "x").read_bytes()[:1500] == b"old" * 500
        assert set((tmp_path / "x").read_bytes()) <= set(b"oldn\0")
    assert content != b"old" * 500 + b"n" * 3000


def try_all(folder, case, names):
    """Try faults of some names at every call of a command; return what went wrong."""
    faults, found = FileFaults(folder, (case,)), []
    for attempt in faults.attempts(0):
        if attempt.fault.name in names:
            try:
                faults.try_one(attempt, np.random.default_rng(0))
            except AssertionError as error:
                found.append(str(error))
    faults.close()
    return found


@pytest.mark.soak
def test_a_writer_that_is_not_atomic_is_found(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(NOT_ATOMIC)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "faults").mkdir()
    found = try_all(tmp_path / "faults", EVENTS, [FAULTS[0].name, POWER_LOSS.name])
    assert any("out.csv is neither old nor new" in one and FAULTS[0].name in one for one in found)
    assert any("out.csv is neither old nor new" in one and POWER_LOSS.name in one for one in found)


@pytest.mark.soak
def test_tables_that_are_not_taken_back_are_found(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(NOT_TOGETHER)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "faults").mkdir()
    found = try_all(tmp_path / "faults", TABLES, [FAULTS[4].name])
    assert any("out.arff is the new one, out.card.json is absent" in one for one in found)


@pytest.mark.soak
@pytest.mark.parametrize("case", [EVENTS, TABLES])
def test_our_writers_survive_every_fault(tmp_path, case):
    names = {fault.name for fault in (*FAULTS, POWER_LOSS)}
    assert try_all(tmp_path, case, names) == []


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [WorkerFaults, TrackingFaults])
def test_workers_and_servers_may_go(tmp_path, kind):
    assert sum(kind(tmp_path).try_one(0, np.random.default_rng(0)).values()) == 1
