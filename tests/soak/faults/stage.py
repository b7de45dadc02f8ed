"""Commands in a folder of their own, and what each leaves there when nothing disturbs it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.soak.faults.cases import Case, copy_inputs, make_inputs
from tests.soak.faults.commands import Commands, Done, Stop
from tests.soak.faults.file_system import CLOCKS, COUNTING, FailingFiles, Operation
from tests.soak.faults.snapshots import Snapshot, find_broken, find_volatile, take_snapshot


@dataclass(frozen=True)
class Undisturbed:
    """What a command does when nothing disturbs it.

    Parameters
    ----------
    before, after : mapping
        Files before and after it.
    volatile : frozenset of str
        Those that differ from run to run.
    wall_time_s : float
        How long it takes.
    counts : mapping
        Calls of the system, by kind.
    most_bytes : int
        Size of the largest file that it leaves.
    """

    before: Snapshot
    after: Snapshot
    volatile: frozenset[str]
    wall_time_s: float
    counts: Mapping[Operation, int]
    most_bytes: int


class Stage:
    """A folder in which one command after the other runs, each on its own inputs.

    Parameters
    ----------
    folder : Path
        Where everything lies.
    cases : iterable of Case
        The commands.
    """

    def __init__(self, folder: Path, cases: Iterable[Case]) -> None:
        self.work = folder / "work"
        self.files = FailingFiles(folder)
        self._folder, self._cases = folder, tuple(cases)
        self._commands = Commands(self.files, folder)
        (folder / "inputs").mkdir()
        make_inputs(self._cases, folder / "inputs", self._commands)
        self._undisturbed: dict[Case, Undisturbed] = {}

    def close(self) -> None:
        """End the process that runs commands."""
        self._commands.close()

    def meet(self, case: Case) -> Undisturbed:
        """Return what a command does when nothing disturbs it; the first time, run it now and as if an hour later."""
        if case not in self._undisturbed:
            self._undisturbed[case] = self._meet(case)
        return self._undisturbed[case]

    def begin(self, case: Case) -> None:
        """Empty the folder, and copy the inputs of a command into it."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self._start(case), self.work)

    def run(self, case: Case, *, most_bytes: int | None = None, stop: Stop | None = None) -> Done:
        """Run a command, whose files may not grow beyond a size, or which is stopped."""
        return self._commands.run(self.work, *case.command.split(), most_bytes=most_bytes, stop=stop)

    def require_whole(self, case: Case, where: str, *, was_cut: bool, may_leave: bool = False) -> Snapshot:
        """Return the files that are there, each of which must be as before the command or as after it.

        Parameters
        ----------
        case : Case
            The command.
        where : str
            What disturbed it, for the message.
        was_cut : bool
            Whether it was cut off: a process that is gone cannot tidy up, and renames only one thing at a time.
        may_leave : bool
            Whether it may leave temporary files, as one that cannot delete them does.
        """
        expected, found = self.meet(case), self.look(case, may_leave=was_cut or may_leave)
        broken = find_broken(found, expected.before, expected.after, case.target, was_cut=was_cut)
        assert not broken, f"{where}: {broken}"
        return found

    def require_success(
        self, case: Case, found: Snapshot, where: str, *, was_cut: bool, may_leave: bool = False
    ) -> None:
        """Run a command again, now that nothing disturbs it, and compare everything."""
        expected = self.meet(case)
        if found == expected.after and not expected.volatile:
            return
        again = self.run(case)
        # What was cut off after its first rename is refused: the user removes one of two folders.
        is_done = found == expected.after or (was_cut and found != expected.before)
        assert again.status == 0 or is_done, f"{where}: fails afterwards, too: {again.last_line}"
        left = self.look(case, may_leave=was_cut or may_leave)
        if again.status == 0:
            assert left == expected.after, f"{where}: then differs in {differing(left, expected.after)}"

    def require_check(self, case: Case, where: str) -> None:
        """Require that what a command works on passes its own check."""
        if case.check:
            check = self._commands.run(self.work, *case.check.split())
            assert check.status == 0, f"{where}: mlstream {case.check}: {check.output} {check.errors}"

    def look(self, case: Case, *, may_leave: bool) -> Snapshot:
        """Return the files that are there, without those that a process made for itself if it may leave them."""
        found = take_snapshot(self.work, self.meet(case).volatile)
        # Others tidy up after it, some of it after a day.
        return {name: content for name, content in found.items() if not (may_leave and _is_of_a_process(name))}

    def _meet(self, case: Case) -> Undisturbed:
        start = self._start(case)
        copy_inputs(case, self._folder / "inputs", start)
        if case.earlier:
            self._succeed(start, case.earlier)
        runs = []
        for fault, at in ((COUNTING, None), (CLOCKS[0], 0)):
            self.begin(case)
            with self.files.failing(self.work, fault, at):
                done = self._succeed(self.work, case.command)
                counts = self.files.counts()
            runs.append(take_snapshot(self.work))
        volatile = find_volatile(*runs)
        most_bytes = max((self.work / name).stat().st_size for name in runs[-1])
        before, after = (take_snapshot(path, volatile) for path in (start, self.work))
        return Undisturbed(before, after, volatile, done.wall_time_s, counts, most_bytes)

    def _start(self, case: Case) -> Path:
        return self._folder / f"start-{self._cases.index(case)}"

    def _succeed(self, folder: Path, command: str) -> Done:
        done = self._commands.run(folder, *command.split())
        if done.status != 0:
            raise RuntimeError(f"mlstream {command} must succeed when nothing fails. Got {done.status}: {done.errors}")
        return done


def differing(one: Snapshot, other: Snapshot) -> str:
    """Return the names of the files that two snapshots do not have in common."""
    return ", ".join(sorted(name for name in {*one, *other} if one.get(name) != other.get(name)))


def _is_of_a_process(name: str) -> bool:
    """Return whether a file is one that a process makes for itself, and that outlives it."""
    parts = Path(name).parts
    return not {"running", "scratch"}.isdisjoint(parts) or any(
        part.startswith(".") and part.endswith(".part") for part in parts
    )
