"""The boards as text for the terminal, and as CSV files for the docs."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import numpy as np

from benchmarks.learner_ranks.ranks import (
    AT_ONCE,
    BOARDS,
    ENERGY_BOUND,
    Ranked,
    Table,
    at_once,
    energy_ratios,
    make_table,
)
from benchmarks.learner_ranks.records import Record
from mlstream._support.files import write_text_atomically

SIGNIFICANT = 0.05
TEST_HEADS = ("Score", "Sources", "First", "Second", "Friedman p", "Critical difference", "p", "Worse")
AT_ONCE_TITLES = tuple(column.title for column in AT_ONCE)


def show(records: Sequence[Record], learners: Sequence[str]) -> Iterator[str]:
    """Yield the lines of all boards that have enough records."""
    tables = make_tables(records, learners)
    for name, table in tables.items():
        yield f"\n{name}: {len(table.sources)} sources, mean rank and mean score"
        yield from _show_table(table)
    if "at-once" in tables:
        yield from _show_means(tables["at-once"])
    yield f"\nprocessor's time over that of {ENERGY_BOUND}: median, greatest, sources where it is more"
    for learner in learners:
        yield from _show_energy(records, learner)


def make_tables(records: Sequence[Record], learners: Sequence[str]) -> dict[str, Table]:
    """Make the tables of all boards that have enough records."""
    made = {name: make_table(records, board, learners) for name, board in BOARDS.items()}
    tables = {name: table for name, table in made.items() if table is not None}
    goal = [tables[name] for name in ("streams", "worlds") if name in tables]
    return tables | ({"at-once": at_once(goal)} if goal else {})


def _show_table(table: Table) -> Iterator[str]:
    yield f"{'':22}" + "".join(f"{one.column.title:>18}     " for one in table.columns)
    for learner in _best_first(table):
        yield f"{table.learners[learner]:22}{''.join(_show_cell(one, learner) for one in table.columns)}".rstrip()
    for one in table.columns:
        yield (
            f"  {one.column.title}: first {table.learners[one.best]}; Friedman p {one.friedman_p:.2g}, "
            f"critical difference {one.critical_difference:.1f}; * differs from the first, Holm-Wilcoxon .05"
        )


def _show_cell(one: Ranked, learner: int) -> str:
    mark = "*" if one.holm_p[learner] <= SIGNIFICANT else " "
    return f"{one.ranks[learner]:9.2f}{one.scores[:, learner].mean():9.3f}{mark:5}"


def _best_first(table: Table) -> list[int]:
    goal = table.ranks_of(AT_ONCE_TITLES)
    return [int(i) for i in np.argsort(goal.mean(axis=0), kind="stable")]


def _show_means(table: Table) -> Iterator[str]:
    means = table.ranks_of(AT_ONCE_TITLES).mean(axis=0)
    yield "  mean of the four: " + ", ".join(f"{table.learners[i]} {means[i]:.2f}" for i in _best_first(table))
    firsts = (f"{one.column.title} {table.learners[one.best]}" for one in table.columns)
    yield f"  first: {', '.join(firsts)}"


def _show_energy(records: Sequence[Record], learner: str) -> Iterator[str]:
    ratios = energy_ratios([record for record in records if record.board != "field"], learner)
    if ratios and learner != ENERGY_BOUND:
        above = [f"{source} {ratio:.1f}" for source, ratio in ratios.items() if ratio > 1]
        values = list(ratios.values())
        yield f"{learner:22}{np.median(values):8.2f}{max(values):8.2f}  {', '.join(above[:6])}"


def energy_rows(records: Sequence[Record], learners: Sequence[str]) -> Iterator[list[str]]:
    """Yield for each learner its processor's time over that of the bound: by stream, and the median over worlds."""
    streams = list(dict.fromkeys(record.source for record in records if record.board == "streams"))
    yield ["Learner", *streams, "worlds, median"]
    for learner in learners:
        ratios = energy_ratios(records, learner)
        worlds = [ratios[one.source] for one in records if one.board == "worlds" and one.source in ratios]
        cells = [f"{ratios[stream]:.2f}" if stream in ratios else "" for stream in streams]
        if ratios and learner != ENERGY_BOUND:
            yield [learner, *cells, f"{np.median(worlds):.2f}" if worlds else ""]


def write_tables(folder: Path, part: str, records: Sequence[Record], learners: Sequence[str]) -> None:
    """Write mean ranks, mean scores and tests of every board, and the board of all four scores at once."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = make_tables(records, learners)
    for name, table in tables.items():
        heads = ["Learner", *(one.column.title for one in table.columns)]
        order = _best_first(table)
        ranks = [[table.learners[i], *(f"{one.ranks[i]:.1f}" for one in table.columns)] for i in order]
        scores = [[table.learners[i], *(f"{one.scores[:, i].mean():.3f}" for one in table.columns)] for i in order]
        _write(folder / f"{part}-{name}-ranks.csv", [heads, *ranks])
        _write(folder / f"{part}-{name}-scores.csv", [heads, *scores])
        tests = [_test_cells(table, number) for number in range(len(table.columns))]
        _write(folder / f"{part}-{name}-tests.csv", [TEST_HEADS, *tests])
    if "at-once" in tables:
        _write(folder / f"{part}-energy.csv", list(energy_rows(records, learners)))


def _test_cells(table: Table, number: int) -> list[str]:
    one = table.columns[number]
    first, second = np.argsort(one.ranks, kind="stable")[:2]
    n_worse = int(np.count_nonzero(one.holm_p <= SIGNIFICANT))
    names = table.learners[first], table.learners[second]
    figures = f"{one.friedman_p:.1g}", f"{one.critical_difference:.1f}", f"{one.holm_p[second]:.2g}"
    return [one.column.title, str(len(one.scores)), *names, *figures, f"{n_worse} of {len(table.learners) - 1}"]


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_text_atomically(path, text.getvalue())
