"""Fixtures for the tests of mlstream."""

from collections.abc import Iterator
from functools import cache

import pytest
import typer.main
import typer.testing


@pytest.fixture(scope="session", autouse=True)
def commands_built_once() -> Iterator[None]:
    """Typer builds every command again for each call in this process, which takes longer than most calls."""
    build = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", build)
        patch.setattr(typer.testing, "_get_command", build)
        yield
