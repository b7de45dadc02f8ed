"""Compiled functions obey the rule on complexity as all others do, without exemptions."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from estimators._kernels.cache import KERNELS
from estimators._kernels.cache import ROOT as PACKAGES

pytest.importorskip("ruff", reason="the linter is not installed")
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
LIMIT = PROJECT["tool"]["ruff"]["lint"]["mccabe"]["max-complexity"]
# kernels that may be more complex because Numba copies them into their callers, each with its reason
EXEMPT: dict[str, str] = {}

CLOSURES = """
def kernel(n):
    def part(n):
        for i in range(n):
            if i % 2:
                if i % 3:
                    return i
    if n > 3:
        if n > 4:
            if n > 5:
                if n > 6:
                    return part(n)
"""


def complex_functions(*arguments, **options):
    """Return the functions over the limit, those with a `noqa` included."""
    command = [sys.executable, "-m", "ruff", "check", "--ignore-noqa", "--select", "C901", "--output-format", "json"]
    # Without the settings of the project, which could make exceptions.
    command += ["--no-cache", "--isolated", "--config", f"lint.mccabe.max-complexity={LIMIT}"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, **options)
    return {found["message"].split("`")[1] for found in json.loads(done.stdout)}


def test_no_kernel_is_over_the_limit_of_complexity():
    assert all((PACKAGES / folder).is_dir() for folder in KERNELS)
    assert complex_functions(*KERNELS, cwd=PACKAGES) == set(EXEMPT)


def test_the_limit_counts_nested_functions():
    assert complex_functions("-", input=CLOSURES) == {"kernel"}
