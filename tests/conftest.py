"""What every test may ask for: the shared data, or a skip that says what is missing."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

SHARED_DATA = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Give the path of a file of the shared data folder; the test is skipped where the file is absent."""

    def locate(name: str) -> Path:
        path = SHARED_DATA / name
        if not path.exists():
            pytest.skip(f"needs the shared data file {path}")
        return path

    return locate
