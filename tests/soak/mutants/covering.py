"""Which tests run which line, and how long each takes: found by running them once with coverage.py."""

import json
import os
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import coverage
import numba
import pytest

from tests.soak.mutants.children import in_child
from tests.soak.mutants.intrinsics import install as install_intrinsics
from tests.soak.mutants.mutations import ROOT, Mutant
from tests.soak.mutants.rooms import TIERS, Room

_PROJECT = Path(__file__).parents[3]
_IMPORT = ""
_MOST_SECONDS = 1800
_AFFORDABLE_S = 60
_OURS = {"mlstream", "tests", "estimators", "metrics", "conftest"}
# Kernels overflow by design, of which only Python warns; and pytest warns of what was imported before it.
_IGNORED = ("ignore:overflow encountered:RuntimeWarning", "ignore::pytest.PytestAssertRewriteWarning")
OPTIONS = ["-q", "-p", "no:cacheprovider", *(word for warning in _IGNORED for word in ("-W", warning))]


@dataclass(frozen=True)
class Covering:
    """The tests of a room.

    Parameters
    ----------
    seconds : dict
        How long each test takes that passes.
    by_line : dict
        The tests that run each line: file (from the root) -> line -> names. An empty name is that of import.
    modules : list of str
        What was imported meanwhile.
    failed : list of str
        Tests that fail without a mutant: none of these can tell anything.
    """

    seconds: dict[str, float]
    by_line: dict[str, dict[int, list[str]]]
    modules: list[str]
    failed: list[str]

    def affordable(self, mutant: Mutant) -> tuple[list[str], float]:
        """Return tests that run what a mutant changes, the fastest first, and their seconds, which are bounded.

        Of what is run by import, they are those beside a test that runs any line of the file. A mutant that has
        survived the fastest seldom dies by the others.
        """
        lines = self.by_line.get(str(mutant.path.relative_to(ROOT)), {})
        # A line that holds constants only is not seen to run.
        names = {*lines.get(mutant.line, []), *lines.get(mutant.statement, [])}
        if mutant.at_import or _IMPORT in names:
            names = self._beside({name for names in lines.values() for name in names})
        ordered = sorted(names, key=lambda name: (self.seconds[name], name))
        ends = list(accumulate(self.seconds[name] for name in ordered))
        n_chosen = max(1, sum(end <= _AFFORDABLE_S for end in ends))
        return ordered[:n_chosen], sum(self.seconds[name] for name in ordered[:n_chosen])

    def _beside(self, names: set[str]) -> set[str]:
        """Return the tests that stand in the same files as some."""
        files = {_file_of(name) for name in names}
        return {name for name in self.seconds if _file_of(name) in files}


def _file_of(name: str) -> str:
    return name.partition("::")[0]


def is_ours(module: str) -> bool:
    """Tell whether a module may depend on what is mutated: it is imported in children only."""
    return module.partition(".")[0] in _OURS


class _Recorder:
    """A plugin of pytest that tells coverage.py which test runs, and keeps how long it takes."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._measured.switch_context(item.nodeid)
        result = yield
        self._measured.switch_context(_IMPORT)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)


def cover(room: Room, tier: str, folder: Path) -> Covering:
    """Run the tests of a room in a process of their own, and return what they cover of its package.

    Parameters
    ----------
    room : Room
        The package and its tests.
    tier : str
        One of `TIERS`.
    folder : Path
        Where temporary files go.

    Returns
    -------
    Covering
        Tests by line.

    Raises
    ------
    RuntimeError
        If the process ends before the tests do.
    """
    result = folder / "covering.json"
    status = in_child(lambda: _record(room, tier, result), seconds=_MOST_SECONDS)
    if status != 0:
        raise RuntimeError(f"The tests of {room.package} end early: {_describe(status)}.")
    found = json.loads(result.read_text(encoding="utf-8"))
    by_line = {
        file: {int(line): names for line, names in lines.items()} for file, lines in found.pop("by_line").items()
    }
    return Covering(by_line=by_line, **found)


def _describe(status: int | None) -> str:
    return f"not done after {_MOST_SECONDS} s" if status is None else f"exit status {status}"


def prepare_child(room: Room) -> None:
    """Forget what is imported of ours, and choose whether it is compiled next time, and how Hypothesis goes on."""
    for name in [name for name in sys.modules if is_ours(name)]:
        del sys.modules[name]
    numba.config.DISABLE_JIT = not room.compiled
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    os.chdir(_PROJECT)
    if not room.compiled:
        install_intrinsics()


def _record(room: Room, tier: str, result: Path) -> int:
    prepare_child(room)
    measured = coverage.Coverage(data_file=None, config_file=False, include=[f"{ROOT / room.package}/*"])
    recorder = _Recorder(measured)
    measured.start()
    options = [*OPTIONS, "-m", TIERS[tier], "--basetemp", str(result.with_suffix(".tmp"))]
    status = pytest.main([*options, *room.tests], plugins=[recorder])
    measured.stop()
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        return int(status)
    passed = {name: spent for name, spent in recorder.seconds.items() if name not in recorder.failed}
    found = {
        "seconds": passed,
        "by_line": _lines(measured.get_data(), passed),
        "modules": sorted(sys.modules),
        "failed": sorted(recorder.failed),
    }
    result.write_text(json.dumps(found), encoding="utf-8")
    return 0


def _lines(data: coverage.CoverageData, passed: dict[str, float]) -> dict[str, dict[int, list[str]]]:
    known = {*passed, _IMPORT}
    return {
        str(Path(file).relative_to(ROOT)): {
            line: [name for name in names if name in known] for line, names in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
