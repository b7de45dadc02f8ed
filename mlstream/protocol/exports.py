"""The tables of the report as files for other programs: CSV, Markdown, and LaTeX for booktabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mlstream._files import write_text_atomically
from mlstream._spreadsheets import table_text
from mlstream.protocol.comparison import Comparison
from mlstream.protocol.costs import cost_table
from mlstream.protocol.folder import plain
from mlstream.protocol.groups import Group
from mlstream.protocol.ranking import friedman_table, left_out_table, pair_table, rank_table
from mlstream.protocol.tables import Cell, Table, overview_table, score_names, score_table

_ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "†": r"$\dagger$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "²": r"$^2$",
    "\N{MINUS SIGN}": "$-$",
    "\N{GREEK SMALL LETTER CHI}": r"$\chi$",
}


def write_tables(folder: Path, streams: Mapping[str, list[Group]], comparisons: Sequence[Comparison]) -> Iterator[Path]:
    """Write every table of a report in three formats.

    Parameters
    ----------
    folder : Path
        Where to; made if absent, and files in it are replaced.
    streams : mapping
        Name of the stream -> its groups.
    comparisons : sequence of Comparison
        Strategies over streams.

    Yields
    ------
    Path
        Each file written: per score an overview, per stream scores and costs, and the statistics.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in _tables(streams, comparisons):
        for suffix, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            path = folder / f"{plain(name)}.{suffix}"
            write_text_atomically(path, write(table))
            yield path


def to_csv(table: Table) -> str:
    """Write a table as CSV: numbers in full, empty where they are not defined, and no text that is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([table_text(column.title) for column in table.columns])
    writer.writerows([[_csv_value(cell) for cell in row] for row in table.rows])
    return text.getvalue()


def to_markdown(table: Table) -> str:
    r"""Write a table as Markdown, as it is shown; the best of a column is bold.

    Examples
    --------
    >>> from mlstream.protocol.headings import Heading
    >>> print(to_markdown(Table((Heading("a|b"), Heading("c", "higher")), ((Cell("x", "x"), Cell("1", 1.0)),))))
    | a\|b | c ↑ |
    | :--- | ---: |
    | x | 1 |
    <BLANKLINE>
    """
    heads = [f"{column.title}{_ARROWS[column.better]}" for column in table.columns]
    lines = [heads, [":---", *["---:"] * (len(heads) - 1)]]
    lines += [[f"**{cell.text}**" if cell.is_best else cell.text for cell in row] for row in table.rows]
    escaped = [[text.replace("|", "\\|") for text in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def to_latex(table: Table) -> str:
    """Write a table as LaTeX for the package booktabs, as it is shown; the best of a column is bold."""
    heads = [_escape(f"{column.title}{_ARROWS[column.better]}") for column in table.columns]
    lines = [
        f"\\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        "\\toprule",
        f"{' & '.join(heads)} \\\\",
        "\\midrule",
        *(f"{' & '.join(map(_latex_cell, row))} \\\\" for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def spelt(metric: str) -> str:
    """Tell names of files apart that differ in signs and capitals only: BWT, BWT+, BWT-, bwt."""
    stepwise = "stepwise-" if metric[:3] in ("BWT", "FWT") else ""
    return stepwise + metric.replace("+", "-gains") if not metric.endswith("-") else f"{stepwise}{metric}losses"


def _tables(streams: Mapping[str, list[Group]], comparisons: Sequence[Comparison]) -> Iterator[tuple[str, Table]]:
    for name in score_names([group for groups in streams.values() for group in groups]):
        yield f"overview-{spelt(name)}", overview_table(streams, name)
    for stream, groups in streams.items():
        yield f"scores-{stream}", score_table(groups)
        yield f"costs-{stream}", cost_table(groups)
    if comparisons:
        yield "mean-ranks", rank_table(comparisons)
        yield "friedman", friedman_table(comparisons)
    if left_out := left_out_table(comparisons):
        yield "left-out", left_out
    for one in comparisons:
        yield f"pairs-{spelt(one.metric)}", pair_table(one)


def _csv_value(cell: Cell) -> float | str:
    if cell.value is None:
        return ""
    return table_text(cell.value) if isinstance(cell.value, str) else cell.value


def _latex_cell(cell: Cell) -> str:
    text = _escape(cell.text)
    return f"\\textbf{{{text}}}" if cell.is_best else text


def _escape(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
