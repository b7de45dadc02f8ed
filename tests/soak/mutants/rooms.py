"""What is mutated, and by which tests mutants are killed."""

from dataclasses import dataclass

import numpy as np

from tests.soak.mutants.mutations import ROOT, Mutant, find_mutants

# Of the sample of a room: the same mutants in every run.
SAMPLE_SEED = 25


# What pytest's `-m` leaves of the tests of a room.
TIERS = {"fast": "not slow and not soak", "full": "not soak"}


@dataclass(frozen=True)
class Room:
    """A package and its tests.

    Parameters
    ----------
    package : str
        Folder, from the root.
    tests : tuple of str
        What pytest is given.
    n_mutants : int or None
        Size of the sample; all mutants by default.
    compiled : bool
        If not, kernels run as Python, and are mutated too.
    elsewhere : tuple of str
        Files, from the root, that are not mutated, because their tests run in processes of their own.
    """

    package: str
    tests: tuple[str, ...]
    n_mutants: int | None = None
    compiled: bool = True
    elsewhere: tuple[str, ...] = ()


# Beginnings of the names of tests that take minutes where loops are not compiled; shorter ones look at the same loops.
_LONG = (
    "arff/test_blocks.py::test_the_compiled_loop_is_loaded_by_long_files_only",
    "arff/test_writer.py::test_compiled_",
    "arff/test_writer.py::test_wide_tables",
    "test_io.py::test_yeast",
    "test_unknown_labels.py::test_compiled_loops",
    "test_unknown_labels.py::test_yeast",
)
_FORMATS = "tests/mlstream/formats"
_FORMATS_TESTS = (*(f"--deselect={_FORMATS}/{name}" for name in _LONG), _FORMATS, "tests/fuzz")
# They compile everything, in processes of their own, where no mutant is.
_EVALUATION = "tests/mlstream/evaluation"
_IN_PROCESSES = (
    f"--ignore={_EVALUATION}/test_compile_ahead.py",
    f"--deselect={_EVALUATION}/test_warm_up.py::test_a_run_meets_no_compiled_function_that_its_warm_up_has_not",
)
_LEARNERS = "tests/estimators"
# What compiles by itself, and processes.
_COMPILING = tuple(
    f"--ignore={_LEARNERS}/test_{name}.py"
    for name in ("kernel_cache", "kernel_complexity", "kernel_signatures", "prebuilt_kernels", "interrupts")
)
_CHALLENGE = "tests/mlstream/challenge"
# Whole challenges, and processes that are killed.
_WHOLE = tuple(f"--ignore={_CHALLENGE}/test_{name}.py" for name in ("kills", "processes", "whole"))
ROOMS = {
    "metrics": Room("metrics", ("tests/metrics",)),
    "formats": Room("mlstream/formats", _FORMATS_TESTS, 300, compiled=False),
    "evaluation": Room(
        "mlstream/evaluation",
        (*_IN_PROCESSES, _EVALUATION),
        300,
        # Whether it meets every kernel shows where none is on disk, which takes minutes.
        elsewhere=("mlstream/evaluation/compile_ahead.py",),
    ),
    "estimators": Room("estimators", (*_COMPILING, _LEARNERS), 300),
    "challenge": Room("mlstream/challenge", (*_WHOLE, _CHALLENGE), 300),
}


def mutants_of(room: Room, n_mutants: int | None, seed: int = SAMPLE_SEED) -> list[Mutant]:
    """Draw mutants of a room without replacement, or return all, in the order of the files.

    Files that only re-export are left out: their names are compared with the documentation. So are kernels, where they
    run compiled.
    """
    left_out = {ROOT / file for file in room.elsewhere}
    paths = sorted(path for path in (ROOT / room.package).rglob("*.py") if path.name != "__init__.py")
    mutated = [path for path in paths if path not in left_out and not (room.compiled and "_kernels" in path.parts)]
    found = [mutant for path in mutated for mutant in find_mutants(path)]
    if n_mutants is None or n_mutants >= len(found):
        return found
    return [found[i] for i in np.sort(np.random.default_rng(seed).choice(len(found), n_mutants, replace=False))]
