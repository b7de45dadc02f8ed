"""Fixtures for every test: the shared data, or a skip that names what is missing; and the profiles of Hypothesis."""

import gc
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

pytest_plugins = ["tests.skips"]

# What is imported and collected stays until the end: a search for garbage among it would take a tenth of the time.
gc.disable()


def pytest_collection_finish() -> None:
    """Let the search for garbage begin with what tests make."""
    gc.freeze()
    gc.enable()


# A busy machine must not fail a test, so examples have no deadline. The suite draws the same examples in every run;
# `make fuzz` draws new ones, and more of them.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("fixed", _patient, max_examples=20, derandomize=True)
settings.register_profile("explore", _patient, max_examples=100, derandomize=False)
# Whether a mutant is killed is all that is asked: no smaller example is sought.
settings.register_profile("mutants", settings.get_profile("fixed"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
if settings().derandomize:
    # Hypothesis would also draw numbers that stand in the modules loaded by then, which are others in each process.
    # Versions that do not, have no such module or no such names.
    with suppress(ImportError, AttributeError):
        from hypothesis.internal.conjecture import providers

        _no_constants = type(providers.GLOBAL_CONSTANTS)()
        providers._get_local_constants = lambda: _no_constants

SHARED_DATA = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Return the path of a file of the shared data folder; the test is skipped where the file is absent."""

    def locate(name: str) -> Path:
        path = SHARED_DATA / name
        # Not exists(), which fails in a folder that this user may not enter.
        if not os.access(path, os.R_OK):
            pytest.skip(f"needs the shared data file {path}")
        return path

    return locate
