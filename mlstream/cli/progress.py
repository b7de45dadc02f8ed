"""Progress of what takes long: bars on a terminal, and plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from mlstream.cli.console import print_line
from mlstream.cli.safe_console import SafeConsole

if TYPE_CHECKING:
    # A download is shown without importing any of these.
    from mlstream.campaign.campaign import CampaignProgress
    from mlstream.evaluation.compile_ahead import Compilation
    from mlstream.records.detection_record import Detection


@contextmanager
def campaign_progress() -> Iterator[Callable[[CampaignProgress], None]]:
    """Show the progress of a campaign: bars on a terminal, one line per run elsewhere."""
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        yield lambda event: print_line(event.ending) if event.state != "running" else None
        return
    bar = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    columns = (*bar, _Speed(), TimeRemainingColumn(), TextColumn("{task.fields[worker]}", markup=False))
    with Progress(*columns, console=console) as bars:
        yield _Bars(bars)


@contextmanager
def detection_progress() -> Iterator[Callable[[Detection, bool, int, int], None]]:
    """Show the progress of a campaign of detections: a bar on a terminal, one line per detection elsewhere."""
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        yield lambda *event: print_line(_detection_ending(*event))
        return
    with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console) as bars:
        bar = bars.add_task("detections", total=None)

        def show(one: Detection, was_kept: bool, n_done: int, n_in_all: int) -> None:
            bars.update(bar, completed=n_done, total=n_in_all)
            bars.console.print(_detection_ending(one, was_kept, n_done, n_in_all), soft_wrap=True, markup=False)

        yield show


@contextmanager
def compilation_progress(n_names: int) -> Iterator[Callable[[Compilation], None]]:
    """Show what is compiled: a bar on a terminal, and one line per name that was not compiled before."""
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        yield lambda one: print_line(_compilation_ending(one)) if one.n_kernels else None
        return
    with Progress(BarColumn(), MofNCompleteColumn(), console=console) as bars:
        bar = bars.add_task("kernels", total=n_names)

        def show(one: Compilation) -> None:
            bars.advance(bar)
            if one.n_kernels:
                bars.console.print(_compilation_ending(one), soft_wrap=True, markup=False)

        yield show


def counted_kernels(number: int) -> str:
    """Return a number of kernels in words.

    >>> counted_kernels(1), counted_kernels(2)
    ('1 kernel', '2 kernels')
    """
    return f"{number} kernel{'s' * (number != 1)}"


def _compilation_ending(one: Compilation) -> str:
    return f"{one.name}: {counted_kernels(one.n_kernels)}, {one.cpu_s:.1f} s"


def _detection_ending(one: Detection, was_kept: bool, n_done: int, n_in_all: int) -> str:
    outcome = "recorded earlier" if was_kept else one.status
    return f"[{n_done}/{n_in_all}] {one.detector} on {one.learner} on {one.stream}, seed {one.seed}: {outcome}"


@contextmanager
def download_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show the progress of downloads: one bar each on a terminal, nothing elsewhere."""
    console = SafeConsole(highlight=False, stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:
        rows: dict[str, TaskID] = {}

        def show(url: str, n_bytes: int, n_bytes_in_all: int) -> None:
            if url not in rows:
                rows[url] = bars.add_task(url.rpartition("/")[2], total=n_bytes_in_all)
            bars.update(rows[url], completed=n_bytes)

        yield show


@contextmanager
def tracking_progress() -> Iterator[Callable[[int, int], None] | None]:
    """Show the number of records done: a bar on a terminal, nothing elsewhere."""
    console = SafeConsole(highlight=False, stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console) as bars:
        records = bars.add_task("records", total=None)
        yield lambda n_done, total: bars.update(records, completed=n_done, total=total)


class _Speed(ProgressColumn):
    """Rows per second of a run; the campaign itself has none."""

    def render(self, task: Task) -> Text:
        """Show the speed, once there is one."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} rows/s" if speed and task.fields["is_run"] else "")


class _Bars:
    """One bar for the campaign, and one for the rows of each current run, with its worker."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._runs = bars.add_task("runs", total=None, worker="", is_run=False)
        self._rows: dict[str, TaskID] = {}
        self._ended: set[str] = set()

    def __call__(self, event: CampaignProgress) -> None:
        self._bars.update(self._runs, completed=event.n_runs_ended, total=event.n_runs)
        run = event.run
        if event.state == "running":
            # Progress of other processes is read late: sometimes after their run has ended.
            if run not in self._rows and run not in self._ended:
                self._rows[run] = self._bars.add_task(run, total=event.n_rows, worker=event.worker, is_run=True)
            if run in self._rows:
                self._bars.update(self._rows[run], completed=event.n_rows_done)
            return
        self._ended.add(run)
        if run in self._rows:
            self._bars.remove_task(self._rows.pop(run))
        self._bars.console.print(event.ending, soft_wrap=True, markup=False)
