"""Output of the command line: lines, tables, and progress bars (plain lines when not on a terminal)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
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
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    # `mlstream datasets` and `mlstream strategies` print tables without importing any of these.
    from mlstream.campaign.campaign import CampaignProgress
    from mlstream.cards.terms import StatedTerms
    from mlstream.data.registry import DatasetEntry
    from mlstream.diagnosis.diagnosis import Diagnosis, LabelDiagnosis
    from mlstream.diagnosis.task_distances import Distances
    from mlstream.evaluation.compile_ahead import Compilation
    from mlstream.generators import Suggestion
    from mlstream.records.detection_record import Detection
    from mlstream.streams.card_model import StreamCard, TaskCard

_LEVELS = " ░▒▓█"
_WIDEST_HEAT_MAP = 101
# Rich takes 80 columns where there is no terminal: too few for a table of scores.
_WIDTH_WITHOUT_TERMINAL = 140


def announce(what: str) -> None:
    """Print what is run, before the imports and the compilation, which take seconds."""
    print_line(f"Running {what}.")


def print_line(message: str) -> None:
    """Print a line."""
    Console(soft_wrap=True, highlight=False, markup=False).print(message)


def show_lines(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of texts."""
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*map(_plain, row))
    wide_console().print(table)


def show_datasets(found: Iterable[tuple[DatasetEntry, tuple[Path, ...] | None]]) -> None:
    """Print registered data sets, with the paths of those that are on this machine."""
    columns = ("name", "domain", "rows", "features", "labels", "MB", "where")
    rows = [
        (
            entry.name,
            entry.domain,
            *("?" if size is None else f"{size:,}" for size in (entry.n_samples, entry.n_features, entry.n_labels)),
            f"{sum(file.n_bytes for file in entry.files) / 1e6:.1f}",
            _place(entry, paths),
        )
        for entry, paths in found
    ]
    show_lines(columns, rows)


def _place(entry: DatasetEntry, paths: tuple[Path, ...] | None) -> str:
    if paths is None:
        return f"mlstream datasets fetch {entry.name}" if entry.is_downloadable else entry.where
    return f"embedded ({entry.package.partition('/')[0]})" if entry.package else str(paths[0])


def show_card(card: StreamCard) -> None:
    """Print a description of a stream: origin, tasks, signatures, schedule, drops."""
    from mlstream.cards.terms import stated_terms

    console = wide_console()
    terms = stated_terms(card)
    description = _plain(" ".join(terms.description.split()))
    console.print(f"[bold]{_plain(card.name)}[/bold]: {description}", soft_wrap=True)
    console.print(
        f"{len(card.feature_names)} features, {len(card.label_names)} labels, {len(card.tasks)} tasks, "
        f"{len(card.experiences)} experiences; from {_plain(card.source.name)} ({card.source.n_samples:,} rows), "
        f"generator {_plain(card.generator.name)}, seed {card.generator.seed}",
        soft_wrap=True,
    )
    console.print(_list_terms(terms, card.name), soft_wrap=True)
    console.print(_task_table(card))
    measured = {"": card.persistence, "; in the source ": card.source.persistence}
    shares = [
        f"{where}{one.repeated:.1%} ({one.by_chance:.1%} in random order)" for where, one in measured.items() if one
    ]
    if shares:
        console.print(f"Rows that repeat the label set of the row before: {''.join(shares)}", soft_wrap=True)
    if unknown := [f"{task.unknown_share:.1%} in {task.name}" for task in card.tasks if task.unknown_share]:
        console.print(f"Unknown labels: {_plain(', '.join(unknown))}", soft_wrap=True)
    console.print("Schedule: " + " -> ".join(_visit(card, i) for i in range(len(card.experiences))), soft_wrap=True)
    for drop in card.drops:
        names = f" ({', '.join(drop.names)})" if drop.names else ""
        console.print(f"Dropped: {drop.count} {drop.what}, {_plain(drop.reason + names)}", soft_wrap=True)


def _list_terms(terms: StatedTerms, name: str) -> str:
    stated = {
        "title": terms.title if terms.title != name else "",
        "made by": ", ".join(terms.creators),
        "licence": terms.licence or "not stated",
        "to be cited": terms.citation or "not stated",
        "homepage": terms.homepage,
        "published": terms.published,
    }
    text = "; ".join(f"{term}: {_plain(' '.join(value.split()))}" for term, value in stated.items() if value)
    return text[0].upper() + text[1:]


def show_diagnosis(diagnosis: Diagnosis) -> None:
    """Print measures of a stream: labels by task, distances between tasks, rows and labels used twice or never."""
    console = wide_console()
    console.print(_label_table(diagnosis))
    console.print("Tasks nearest to each other and farthest apart:")
    pairs = {"P(X)": diagnosis.distances.inputs, "P(Y)": diagnosis.distances.labels}
    pairs |= {"P(Y|X)": diagnosis.distances.labels_given_inputs, "signatures": 1 - diagnosis.signature_overlap}
    for what, matrix in pairs.items():
        console.print(f"  {what}: {_extremes(matrix, [task.name for task in diagnosis.tasks])}", markup=False)
    console.print(_persistence(diagnosis), soft_wrap=True)
    console.print(
        f"Rows of the source: {diagnosis.n_unlearnt_rows:,} are never learnt, {diagnosis.n_unused_rows:,} of them not "
        f"evaluated either; {diagnosis.n_reused_rows:,} are both learnt and evaluated.",
        soft_wrap=True,
    )
    if diagnosis.unlearnt_labels:
        console.print(f"Labels never learnt: {', '.join(diagnosis.unlearnt_labels)}", soft_wrap=True, markup=False)


def show_suggestion(suggestion: Suggestion) -> None:
    """Print the measures of each number of tasks, and the suggested number."""
    table = Table("tasks", "mean diversity", "with one label only", box=None)
    measures = zip(suggestion.candidates, suggestion.diversity, suggestion.n_single_label, strict=True)
    for n_tasks, diversity, n_single in measures:
        table.add_row(str(n_tasks), f"{diversity:.3f}", str(n_single))
    wide_console().print(table)
    print_line(f"Suggested: {suggestion.n_tasks} tasks.")


def _label_table(diagnosis: Diagnosis) -> Table:
    columns = ("labels", "per row", "density", "diversity", "imbalance")
    table = Table("task", "rows", *columns, "duplicates", "new label sets", "labels not learnt", box=None)
    for task in diagnosis.tasks:
        found = (f"{task.n_duplicates:,}", f"{task.n_new_label_sets:,}", str(len(task.unlearnt_labels)))
        table.add_row(_plain(task.name), *_label_cells(task.labels), *found)
    table.add_row("all", *_label_cells(diagnosis.overall), f"{sum(task.n_duplicates for task in diagnosis.tasks):,}")
    return table


def _label_cells(labels: LabelDiagnosis) -> tuple[str, ...]:
    measures = (labels.density, labels.diversity, labels.imbalance)
    return (
        f"{labels.n_rows:,}",
        str(labels.n_labels),
        f"{labels.cardinality:.2f}",
        *(f"{value:.3g}" for value in measures),
    )


def _extremes(distances: Distances, names: Sequence[str]) -> str:
    pairs = [
        (float(distances[one, other]), f"{names[other]} and {names[one]}")
        for one in range(len(names))
        for other in range(one)
        if not isnan(distances[one, other])
    ]
    if not pairs:
        return "no two tasks with enough rows"
    return " - ".join(f"{value:.3f} ({pair})" for value, pair in (min(pairs), max(pairs)))


def _persistence(diagnosis: Diagnosis) -> str:
    measured = [one for one in diagnosis.experiences if one.n_rows]
    ranges = {
        "": [one.repeated for one in measured],
        " (in random order ": [one.by_chance for one in measured],
        "); kappa of labels ": [one.kappa for one in measured if not isnan(one.kappa)],
    }
    texts = [f"{name}{min(values):.3f} to {max(values):.3f}" for name, values in ranges.items() if values]
    return f"Share of rows that repeat the label set before, by experience: {''.join(texts) or 'no rows'}"


def _plain(text: str) -> str:
    """Return a text without markup or control characters."""
    return escape("".join(character if character.isprintable() else "?" for character in text))


def wide_console() -> Console:
    """Return a console that is wide enough for a table of scores, unless it is a terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDTH_WITHOUT_TERMINAL)


@contextmanager
def campaign_progress() -> Iterator[Callable[[CampaignProgress], None]]:
    """Show the progress of a campaign: bars on a terminal, one line per run elsewhere."""
    console = Console(highlight=False)
    if not console.is_terminal:
        yield _print_when_ended
        return
    bar = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    columns = (*bar, _Speed(), TimeRemainingColumn(), TextColumn("{task.fields[worker]}", markup=False))
    with Progress(*columns, console=console) as bars:
        yield _Bars(bars)


@contextmanager
def detection_progress() -> Iterator[Callable[[Detection, bool, int, int], None]]:
    """Show the progress of a campaign of detections: a bar on a terminal, one line per detection elsewhere."""
    console = Console(highlight=False)
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
    console = Console(highlight=False)
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
    console = Console(highlight=False, stderr=True)
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
    console = Console(highlight=False, stderr=True)
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
        run = _name(event)
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
        self._bars.console.print(_ending(event), soft_wrap=True, markup=False)


def _print_when_ended(event: CampaignProgress) -> None:
    if event.state != "running":
        print_line(_ending(event))


def _ending(event: CampaignProgress) -> str:
    outcome = "recorded earlier" if event.state == "kept" else event.state
    return f"[{event.n_runs_ended}/{event.n_runs}] {_name(event)}: {outcome}"


def _name(event: CampaignProgress) -> str:
    repeated = (("order", event.order_seed), ("split", event.split_seed))
    others = "".join(f", {what} {number}" for what, number in repeated if number is not None)
    return f"{event.strategy} on {event.stream}, seed {event.seed}{others}"


def _visit(card: StreamCard, index: int) -> str:
    experience = card.experiences[index]
    return f"{_plain('+'.join(card.tasks[task].name for task in experience.tasks))} ({experience.n_samples})"


def _task_table(card: StreamCard) -> Table:
    table = Table("task", "learn", "evaluate", "labels", "per row", "label sets", box=None)
    drawn = len(card.label_names) <= _WIDEST_HEAT_MAP
    if drawn:
        table.add_column("how often each label occurs", no_wrap=True)
    for task in card.tasks:
        cells = [_plain(task.name), f"{task.n_learning:,}", f"{task.n_evaluation:,}", str(len(task.signature))]
        cells += [f"{task.cardinality:.2f}", str(task.n_label_sets)]
        table.add_row(*cells, *([_heat_row(task)] if drawn else []))
    return table


def _heat_row(task: TaskCard) -> str:
    # Every label that occurs is visible, however rare it is.
    levels = [0 if share == 0 else min(4, 1 + int(share * 4)) for share in task.label_frequencies]
    return "".join(_LEVELS[level] for level in levels)
