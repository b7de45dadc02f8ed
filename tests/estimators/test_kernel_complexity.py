"""Compiled functions obey the rule on complexity as all others do, without exemptions."""

import json
import subprocess
import sys
from pathlib import Path

from estimators._kernels.cache import KERNELS

ROOT = Path(__file__).parents[2]
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
    command += ["--no-cache", "--config", str(ROOT / "pyproject.toml")]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, **options)
    return {found["message"].split("`")[1] for found in json.loads(done.stdout)}


def test_no_kernel_is_over_the_limit_of_complexity():
    assert complex_functions(*KERNELS, cwd=ROOT) == set(EXEMPT)


def test_the_limit_counts_nested_functions():
    assert complex_functions("-", input=CLOSURES) == {"kernel"}
