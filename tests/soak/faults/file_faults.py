"""One command, one fault of its files: afterwards all is whole or absent, one line says why, and it works again."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.soak.faults.cases import CASES, Case
from tests.soak.faults.commands import Done
from tests.soak.faults.file_system import CLOCKS, FAULTS, POWER_LOSS, TOO_LARGE, Fault, Operation
from tests.soak.faults.power import lose_power
from tests.soak.faults.snapshots import Snapshot
from tests.soak.faults.stage import Stage, Undisturbed, differing

_LIMITS_PER_CASE = 6
# The lines that a command prints fit into this.
_LEAST_BYTES = 4096
# Of a phase of a run of a few rows.
_LONGEST_S = 600.0
_NEXT_STEP = re.compile(r"\b(free|check|use|run|name|give|set|make|allow|remove|again)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Attempt:
    """One command with one fault.

    Parameters
    ----------
    case : int
        Place of the command among `CASES`.
    fault : Fault
        What fails.
    at : int
        The number of the call that fails, from 0; of `TOO_LARGE`, the largest size of a file in bytes.
    """

    case: int
    fault: Fault
    at: int


class FileFaults:
    """Commands, and what each leaves behind when nothing disturbs it.

    Parameters
    ----------
    folder : Path
        Where everything lies.
    cases : tuple of Case
        The commands.
    """

    def __init__(self, folder: Path, cases: tuple[Case, ...] = CASES) -> None:
        self._cases = cases
        self._stage = Stage(folder, cases)
        self._attempts: dict[int, list[Attempt]] = {}
        self._shuffled: list[Attempt] = []

    def close(self) -> None:
        """End the process that runs commands."""
        self._stage.close()

    def attempt(self, number: int, seed: int) -> Attempt | None:
        """Return one of all attempts in random order, each command once first; None if there are no more."""
        rng = np.random.default_rng([seed, len(self._cases)])
        first = rng.permutation(len(self._cases))
        if number < len(first):
            some = self.attempts(int(first[number]))
            return some[np.random.default_rng([seed, number]).integers(len(some))]
        if not self._shuffled:
            every = [one for place in range(len(self._cases)) for one in self.attempts(place)]
            self._shuffled = [every[place] for place in rng.permutation(len(every))]
        rest = number - len(first)
        return self._shuffled[rest] if rest < len(self._shuffled) else None

    def attempts(self, place: int) -> list[Attempt]:
        """Return every fault at every call of a command, which is run undisturbed first."""
        if place not in self._attempts:
            known = self._stage.meet(self._cases[place])
            every = [
                Attempt(place, fault, at)
                for fault in (*FAULTS, *CLOCKS, POWER_LOSS)
                for at in range(sum(known.counts[kind] for kind in fault.operations))
            ]
            self._attempts[place] = every + [Attempt(place, TOO_LARGE, limit) for limit in _limits(known.most_bytes)]
        return self._attempts[place]

    def try_one(self, attempt: Attempt, rng: np.random.Generator) -> Counter[str]:
        """Let a command fail, and examine what it left.

        Raises
        ------
        AssertionError
            If something is half-written, or the error is not one line, or the command fails afterwards, too.
        """
        case, stage = self._cases[attempt.case], self._stage
        expected = stage.meet(case)
        done = self._fail(case, attempt)
        where = f"mlstream {case.command}, {attempt.fault.name}, n = {attempt.at} ({stage.files.failed})"
        is_off = attempt.fault is POWER_LOSS
        if is_off:
            lose_power(stage.work, stage.files.log, rng)
        may_leave = attempt.fault.operations == Operation.DELETE
        found = stage.require_whole(case, where, was_cut=is_off, may_leave=may_leave)
        if not is_off:
            _require_one_line(done, expected, found, where, names_file=not attempt.fault.jump_s)
        if attempt.fault.jump_s:
            _require_durations(stage.work, where)
        else:
            # After an error of the clock, the organiser has to set it first.
            stage.require_success(case, found, where, was_cut=is_off, may_leave=may_leave)
        stage.require_check(case, where)
        # Two processes may come to fewer calls than they did undisturbed.
        has_failed = done.status != 0 or stage.files.failed or attempt.fault.jump_s
        return Counter({attempt.fault.name: 1} if has_failed else {})

    def _fail(self, case: Case, attempt: Attempt) -> Done:
        self._stage.begin(case)
        is_limit = attempt.fault is TOO_LARGE
        at, limit = (None, attempt.at) if is_limit else (attempt.at, None)
        with self._stage.files.failing(self._stage.work, attempt.fault, at):
            return self._stage.run(case, most_bytes=limit)


def _limits(most_bytes: int) -> list[int]:
    """Return sizes that a command with files of up to so many bytes may be held to, far apart."""
    if most_bytes <= _LEAST_BYTES:
        return []
    return [int(limit) for limit in np.geomspace(_LEAST_BYTES, most_bytes, _LIMITS_PER_CASE + 1)[:-1]]


def _require_one_line(done: Done, expected: Undisturbed, found: Snapshot, where: str, *, names_file: bool) -> None:
    assert done.status is not None, f"{where}: does not end"
    assert done.status >= 0, f"{where}: killed by signal {-done.status}"
    assert "Traceback" not in done.errors + done.output, f"{where}: a traceback: {done.last_line}"
    if done.status == 0:
        # What a run can do without: its progress.
        assert found == expected.after, f"{where}: ends well, but differs in {differing(found, expected.after)}"
        return
    lines = [line for line in done.errors.splitlines() if line.startswith("Error:")]
    assert lines == [done.last_line], f"{where}: no line of error: {done.errors!r}"
    if not names_file:
        return
    names = {Path(name).parts[0] for name in (*expected.before, *expected.after)}
    assert any(re.search(rf"(?<!\w){re.escape(name)}", lines[0]) for name in names), f"{where}: no name: {lines[0]}"
    assert not re.search(r"\.part\b|/work/\.", lines[0]), f"{where}: names a temporary file: {lines[0]}"
    assert _NEXT_STEP.search(lines[0]), f"{where}: does not say what to do: {lines[0]}"


def _require_durations(folder: Path, where: str) -> None:
    """Require that no record holds a time that the clock has made of its jump, or has been cut short by it."""
    for path in folder.glob("out/runs/*/*.json"):
        record = json.loads(path.read_bytes())
        assert record["status"] == "done", f"{where}: {path.name} is {record['status']}"
        times = [phase["wall_time_s"] for phase in record["resources"]["phases"].values()]
        assert all(0 <= one < _LONGEST_S for one in times), f"{where}: {path.name} has taken {times} s"
