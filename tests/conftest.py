"""What every test may ask for: the shared data, or a skip that says what is missing; and how long Hypothesis looks."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# a busy machine must not fail a test, so examples have no deadline
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _patient, max_examples=20)
settings.register_profile("thorough", _patient, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

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
