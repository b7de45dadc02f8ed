"""Compiled code is cached on disk by the date of its own source only; here the tests make sure it is not stale."""

from pathlib import Path

import pytest

from estimators import _kernels


@pytest.fixture(scope="session", autouse=True)
def _no_stale_kernels() -> None:
    folder = Path(_kernels.__file__).parent
    newest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    for compiled in folder.glob("__pycache__/*.nb[ci]"):
        if compiled.stat().st_mtime < newest:
            compiled.unlink(missing_ok=True)
