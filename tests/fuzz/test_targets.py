"""The targets of the fuzzer accept good files, spoilt ones, and nothing; a minute of fuzzing is `make fuzz`."""

import numpy as np
import pytest

from tests.fuzz.seeds import seeds
from tests.fuzz.targets import CASES, TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_good_and_spoilt_files_are_read_or_refused(name: str) -> None:
    rng = np.random.default_rng(0)
    TARGETS[name](b"")
    for content in seeds(name):
        TARGETS[name](content)
        for _ in range(20):
            spoilt = bytearray(content)
            spoilt[rng.integers(len(spoilt))] = rng.integers(256)
            TARGETS[name](bytes(spoilt[: rng.integers(1, len(spoilt) + 1)]))


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_fuzzer_found_is_read_or_refused(name: str) -> None:
    for case in sorted((CASES / name).glob("*")):
        TARGETS[name](case.read_bytes())


def test_every_case_is_that_of_a_target() -> None:
    assert {path.name for path in CASES.iterdir()} - {"README.md"} <= set(TARGETS)
