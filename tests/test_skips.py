"""Skips are counted by reason; where they are forbidden, only those on the list pass."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import FORBID, Skip, find_faults, read_allowed, summarize

ROOT = Path(__file__).parents[1]
SUITE = """
import pytest

def test_runs():
    pass

@pytest.mark.parametrize("n", [1, 2])
def test_waits(n):
    pytest.skip("needs a browser")
"""
SKIPPED_FILE = 'import pytest\npytest.importorskip("no_such_package", reason="needs no_such_package")\n'


def run_suite(folder: Path, *options: str, forbid: bool) -> subprocess.CompletedProcess[str]:
    """Run two files of tests, with the plugin, in a process of its own."""
    (folder / "test_some.py").write_text(SUITE)
    (folder / "test_none.py").write_text(SKIPPED_FILE)
    # Other plugins are not needed, and take long to import.
    variables = {"PYTHONPATH": os.fspath(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", FORBID: "1" if forbid else ""}
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", ".", "-p", "tests.skips", *options]
    return subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [(), pytest.param(("-p", "xdist", "-n", "2"), marks=pytest.mark.slow)],
    ids=["one process", "two workers"],
)
def test_a_run_counts_skips_and_fails_only_where_they_are_forbidden(tmp_path, options):
    polite = run_suite(tmp_path, *options, forbid=False)
    assert polite.returncode == 0
    assert "3 skipped: 2 needs a browser; 1 needs no_such_package\n" in polite.stdout
    strict = run_suite(tmp_path, *options, forbid=True)
    assert strict.returncode == 1
    assert strict.stdout.count("must not be skipped: needs a browser\n") == 2
    assert strict.stdout.count("must not be skipped: needs no_such_package\n") == 1


@pytest.mark.slow
def test_a_run_without_skips_passes_where_they_are_forbidden(tmp_path):
    done = run_suite(tmp_path, "-k", "runs", "--ignore", "test_none.py", forbid=True)
    assert (done.returncode, "0 skipped\n" in done.stdout) == (0, True)


def test_an_allowed_skip_passes_and_one_that_no_longer_occurs_does_not():
    skips = [Skip("tests/test_a.py::test_x[1]", "no screen")]
    assert find_faults(skips, {"tests/test_a.py"}, ["tests/test_a.py::test_x*"]) == []
    (fault,) = find_faults([], {"tests/test_a.py"}, ["tests/test_a.py::test_x*"])
    assert fault == "tests/test_a.py::test_x* is no longer skipped: remove its line from allowed_skips.txt"
    assert find_faults([], {"tests/test_b.py"}, ["tests/test_a.py::test_x*"]) == []
    (fault,) = find_faults(skips, {"tests/test_a.py"}, [])
    assert fault == "tests/test_a.py::test_x[1] must not be skipped: no screen"


def test_every_allowed_skip_has_a_reason_and_names_a_file_that_exists(tmp_path):
    assert all((ROOT / pattern.partition("::")[0]).is_file() for pattern in read_allowed())
    path = tmp_path / "allowed_skips.txt"
    path.write_text("# a comment\n\ntests/test_a.py::* | needs a screen\n")
    assert read_allowed(path) == ["tests/test_a.py::*"]
    path.write_text("tests/test_a.py::* |\n")
    with pytest.raises(pytest.UsageError, match=r"must be PATTERN \| REASON"):
        read_allowed(path)


def test_reasons_are_grouped_with_the_most_frequent_first():
    skips = [Skip("a", "needs B"), Skip("b", "needs C"), Skip("c", "needs C")]
    assert summarize(skips) == "3 skipped: 2 needs C; 1 needs B"
    assert summarize([]) == "0 skipped"
