"""The targets of the fuzzer accept good files, spoilt ones, mutants and nothing; fuzzing is `make fuzz`."""

import numpy as np
import pytest

from tests.fuzz.corpora import kept
from tests.fuzz.mutators import MUTATORS, mutate
from tests.fuzz.seeds import SEEDS, seeds
from tests.fuzz.targets import CASES, TARGETS
from tests.loops import check_all


def test_good_and_spoilt_files_are_read_or_refused() -> None:
    def check(name: str) -> None:
        rng = np.random.default_rng(0)
        TARGETS[name](b"")
        for content in seeds(name):
            TARGETS[name](content)
            for _ in range(20):
                spoilt = bytearray(content)
                spoilt[rng.integers(len(spoilt))] = rng.integers(256)
                TARGETS[name](bytes(spoilt[: rng.integers(1, len(spoilt) + 1)]))

    check_all(TARGETS, check)


@pytest.mark.slow
def test_mutants_are_read_or_refused() -> None:
    def check(name: str) -> None:
        for content in seeds(name):
            for seed in range(20):
                TARGETS[name](mutate(name, content, seed) or b"")

    check_all(TARGETS, check)


def test_what_a_fuzzer_found_is_read_or_refused() -> None:
    def check(name: str) -> None:
        for case in sorted((CASES / name).glob("*")):
            TARGETS[name](case.read_bytes())

    check_all(TARGETS, check)


def test_what_is_kept_is_read_or_refused() -> None:
    def check(name: str) -> None:
        for content in kept(name):
            TARGETS[name](content)

    check_all(TARGETS, check)


def test_every_target_has_seeds_and_a_mutator_and_every_case_is_of_a_target() -> None:
    assert SEEDS.keys() == MUTATORS.keys() == TARGETS.keys()
    assert {path.name for path in CASES.iterdir()} - {"README.md"} <= set(TARGETS)
