"""Output of the command line: lines, and tables of what there is.

Rich is imported when something is printed, so that every command can import this module.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from itertools import accumulate, groupby
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mlstream.cli.errors import escape_orders

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from mlstream.cards.terms import StatedTerms
    from mlstream.data.registry import DatasetEntry
    from mlstream.diagnosis.diagnosis import Diagnosis, LabelDiagnosis
    from mlstream.diagnosis.task_distances import Distances
    from mlstream.generators import Suggestion
    from mlstream.streams.card_model import StreamCard, TaskCard

_LEVELS = " ░▒▓█"
_WIDEST_HEAT_MAP = 101
# Characters of a list of names.
_LONGEST_LIST = 300
# Rich takes 80 columns where there is no terminal: too few for a table of scores.
_WIDTH_WITHOUT_TERMINAL = 160


def announce(what: str) -> None:
    """Print what is run, before the imports and the compilation, which take seconds."""
    print_line(f"Running {what}.")


def print_line(message: str) -> None:
    """Print a line."""
    _console(soft_wrap=True, markup=False).print(message)


def print_json(document: object) -> None:
    """Print a document of models, data classes, arrays and plain values as JSON; what is not finite is null."""
    from pydantic_core import to_jsonable_python

    plain = to_jsonable_python(document, inf_nan_mode="null", fallback=_to_plain)
    # Paths that are not UTF-8 hold halves of surrogate pairs, which are escaped here as JSON has them.
    content = escape_orders(json.dumps(plain, indent=1, ensure_ascii=False)).encode(errors="backslashreplace")
    # As bytes: JSON is UTF-8 wherever it is printed. Only what stands for a file takes text.
    typer.echo(content if hasattr(sys.stdout, "buffer") else content.decode())


def _to_plain(value: object) -> object:
    # Arrays and numbers of NumPy have a list; whatever else a parameter may be has not.
    as_list = getattr(value, "tolist", None)
    return repr(value) if as_list is None else as_list()


def print_outcome(line: str, document: object, *, as_json: bool) -> None:
    """Print what a command did: a line, or a document for programs."""
    if as_json:
        print_json(document)
    else:
        print_line(line)


@contextmanager
def keep_for_json(as_json: bool) -> Iterator[None]:
    """Send all that is printed in the block to standard error, if the command prints JSON at its end."""
    # Without a standard output, nothing is printed.
    if not as_json or sys.stdout is None:
        yield
        return
    sys.stdout.flush()
    # Processes that are started in the block, and libraries in C, print to what has this number.
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def show_lines(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of texts."""
    table = make_table(*columns)
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
    from mlstream.cards.reading import describe_reading
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
    if card.source.reading is not None:
        read = " ".join(describe_reading(card.source.reading, repr))
        console.print(f"How the source was read: {_plain(read)}", soft_wrap=True)
    console.print("\n".join(map(_plain, _list_columns(card))), soft_wrap=True)
    console.print(_task_table(card))
    measured = {"": card.persistence, "; in the source ": card.source.persistence}
    shares = "".join(
        f"{where}{one.repeated:.1%} ({one.by_chance:.1%} in random order)" for where, one in measured.items() if one
    )
    if shares:
        console.print(f"Rows that repeat the label set of the row before: {shares}", soft_wrap=True)
    if unknown := [f"{task.unknown_share:.1%} in {task.name}" for task in card.tasks if task.unknown_share]:
        console.print(f"Unknown labels: {_plain(', '.join(unknown))}", soft_wrap=True)
    visits = (
        f"{_plain('+'.join(card.tasks[task].name for task in visit.tasks))} ({visit.n_samples})"
        for visit in card.experiences
    )
    console.print("Schedule: " + " -> ".join(visits), soft_wrap=True)
    show_drops(card, named=True)


def _list_columns(card: StreamCard) -> Iterator[str]:
    yield f"Labels: {_list_names(card.label_names)}"
    yield f"Features: {_list_names(card.feature_names)}"
    if card.feature_values:
        categories = [f"{name} ({len(values)} values)" for name, values in card.feature_values.items()]
        yield f"Categories: {_list_names(categories)}"
    if card.keys:
        yield f"Keys: {_list_names(card.keys)}"


def _list_names(names: Sequence[str]) -> str:
    """List the first names; those of one column's values, NAME=VALUE, are counted."""
    groups = [list(group) for _, group in groupby(names, key=lambda name: name.partition("=")[0])]
    parts = [group[0] if len(group) == 1 else f"{group[0].partition('=')[0]}=... ({len(group)})" for group in groups]
    n_shown = max(1, sum(end <= _LONGEST_LIST for end in accumulate(len(part) + 2 for part in parts)))
    more = sum(map(len, groups[n_shown:]))
    return ", ".join(parts[:n_shown]) + (f" and {more:,} more" if more else "")


def show_drops(card: StreamCard, *, named: bool = False) -> None:
    """Print how much was left out, and why, with the names of columns on demand."""
    if (reading := card.source.reading) is not None and reading.n_dropped:
        _show_drop(reading.n_dropped, "rows", "a feature is missing")
    for drop in card.drops:
        names = f" ({', '.join(drop.names)})" if named and drop.names else ""
        _show_drop(drop.count, drop.what, _plain(drop.reason + names))


def _show_drop(count: int, what: str, reason: str) -> None:
    wide_console().print(
        f"Dropped: {count:,} {what if count > 1 else what.removesuffix('s')}, {reason}", soft_wrap=True
    )


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
    table = make_table("tasks asked for", "made", "mean diversity", "largest")
    for n_tasks, n_made, diversity, largest in zip(*suggestion[1:], strict=True):
        table.add_row(str(n_tasks), str(n_made), f"{diversity:.3f}", f"{largest:.0%}")
    wide_console().print(table)
    print_line(f"Suggested: {suggestion.n_tasks} task{'s' * (suggestion.n_tasks > 1)}.")
    if suggestion.doubt:
        print_line(
            f"{suggestion.doubt}: `mlstream scenario TABLE task-based` finds tasks by other rules (--by features, "
            f"label-lists, column or time)."
        )


def _label_table(diagnosis: Diagnosis) -> Table:
    columns = ("labels", "per row", "density", "diversity", "imbalance")
    table = make_table("task", "rows", *columns, "duplicates", "new label sets", "labels not learnt")
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
    from rich.markup import escape

    return escape("".join(character if character.isprintable() else "?" for character in text))


def make_table(*columns: str) -> Table:
    """Return a table without rows and lines."""
    from rich.table import Table

    return Table(*map(_plain, columns), box=None)


def wide_console() -> Console:
    """Return a console that is wide enough for a table of scores, unless it is a terminal."""
    console = _console()
    return console if console.is_terminal else _console(width=_WIDTH_WITHOUT_TERMINAL)


def _console(*, soft_wrap: bool = False, markup: bool = True, width: int | None = None) -> Console:
    from mlstream.cli.safe_console import SafeConsole

    return SafeConsole(soft_wrap=soft_wrap, markup=markup, width=width, highlight=False)


def _task_table(card: StreamCard) -> Table:
    table = make_table("task", "learn", "evaluate", "labels", "per row", "label sets")
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
