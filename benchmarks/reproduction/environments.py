"""Environments of other versions, made under build/ at the first call, from the package registry."""

import subprocess
import venv
from pathlib import Path

from benchmarks.reproduction.compare import ROOT


def python_with(name: str, *requirements: str) -> Path:
    """Give the interpreter of an environment that holds these packages."""
    environment = ROOT / "build" / name
    python = environment / "bin" / "python"
    complete = environment / "complete"
    if not complete.exists():  # never made, or stopped on the way
        venv.create(environment, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        complete.touch()
    return python
