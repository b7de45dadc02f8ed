"""The report as files for papers: tables in CSV, Markdown and LaTeX for booktabs, figures in PNG and SVG."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mlstream._support.files import write_text_atomically
from mlstream.analysis.comparison import Comparison, ranking_of
from mlstream.analysis.costs import cost_points
from mlstream.analysis.curves import stream_curves
from mlstream.analysis.groups import Group, score_names
from mlstream.analysis.pareto import pareto_points
from mlstream.analysis.score_info import score_heading
from mlstream.analysis.transfer import transfer
from mlstream.cards.markdown import escape_markdown, one_line
from mlstream.plotting.alarms import alarm_figure
from mlstream.plotting.critical_difference import rank_figure
from mlstream.plotting.matplotlib_parts import write_png_and_svg
from mlstream.plotting.pareto_front import cost_figure
from mlstream.plotting.score_curves import curve_figure
from mlstream.plotting.transfer_matrix import transfer_figure
from mlstream.records.detection_record import Detection
from mlstream.records.paths import file_name
from mlstream.reporting.detection import alarm_lanes, charted
from mlstream.reporting.detection_tables import delay_table, detection_table, group_detections
from mlstream.reporting.ranks import friedman_table, left_out_table, pair_table, rank_table
from mlstream.reporting.strategy_tables import cost_table
from mlstream.reporting.tables import Cell, Table, overview_table, rows_csv, score_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCORE = "ba_macro"
_ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}
_LIGATURE = re.compile("-(?=-)")
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
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    # The end of a row takes these, if they come next, for options of its own.
    "[": "{[}",
    "*": "{*}",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "†": r"$\dagger$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "²": r"$^2$",
    "\N{MINUS SIGN}": "$-$",
    "\N{GREEK SMALL LETTER CHI}": r"$\chi$",
}


def write_tables(
    folder: Path,
    streams: Mapping[str, list[Group]],
    comparisons: Sequence[Comparison],
    detections: Sequence[Detection] = (),
) -> Iterator[Path]:
    """Write every table of a report in three formats, and yield each file written.

    The folder is made if absent, and files in it are replaced. The tables are an overview per score; scores, costs and
    detections per stream; and the statistics.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in chain(_tables(streams, comparisons), _detection_tables(detections)):
        for suffix, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            path = folder / f"{file_name(name)}.{suffix}"
            write_text_atomically(path, write(table))
            yield path


def to_csv(table: Table) -> str:
    """Write a table as CSV: numbers in full, empty where they are not defined. See `rows_csv`."""
    heads = [column.title for column in table.columns]
    return rows_csv([heads, *([cell.value for cell in row] for row in table.rows)])


def to_markdown(table: Table) -> str:
    """Write a table as Markdown, as it is shown, with its note below; the best of a column is bold."""
    heads = [escape_markdown(f"{column.title}{_ARROWS[column.better]}") for column in table.columns]
    lines = [heads, [":---", *["---:"] * (len(heads) - 1)]]
    lines += [[_markdown_cell(cell) for cell in row] for row in table.rows]
    note = f"\n{escape_markdown(table.note)}\n" if table.note else ""
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + note


def to_latex(table: Table) -> str:
    """Write a table as LaTeX for the package booktabs, as it is shown; the best of a column is bold.

    The note is a comment, to be taken over into the caption.
    """
    heads = [_escape_latex(f"{column.title}{_ARROWS[column.better]}") for column in table.columns]
    lines = [
        f"\\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        "\\toprule",
        f"{' & '.join(heads)} \\\\",
        "\\midrule",
        *(f"{' & '.join(map(_latex_cell, row))} \\\\" for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
        *([f"% {_escape_latex(table.note)}"] if table.note else []),
    ]
    return "\n".join(lines) + "\n"


def _tables(streams: Mapping[str, list[Group]], comparisons: Sequence[Comparison]) -> Iterator[tuple[str, Table]]:
    for name in score_names([group for groups in streams.values() for group in groups]):
        yield f"overview-{name}", overview_table(streams, name)
    for stream, groups in streams.items():
        yield f"scores-{stream}", score_table(groups)
        yield f"costs-{stream}", cost_table(groups)
    if comparisons:
        yield "mean-ranks", rank_table(comparisons)
        yield "friedman", friedman_table(comparisons)
    if left_out := left_out_table(comparisons):
        yield "left-out", left_out
    for one in comparisons:
        yield f"pairs-{one.metric}", pair_table(one)


def _detection_tables(detections: Sequence[Detection]) -> Iterator[tuple[str, Table]]:
    for stream, groups in group_detections(detections).items():
        yield f"detection-{stream}", detection_table(groups)
        for learner in dict.fromkeys(group.learner for group in groups):
            yield f"delays-{stream}-{learner}", delay_table([group for group in groups if group.learner == learner])


def _markdown_cell(cell: Cell) -> str:
    text = escape_markdown(cell.text)
    return f"**{text}**" if cell.is_best else text


def _latex_cell(cell: Cell) -> str:
    text = _escape_latex(cell.text)
    return f"\\textbf{{{text}}}" if cell.is_best else text


def _escape_latex(text: str) -> str:
    return _LIGATURE.sub("-{}", "".join(_LATEX.get(letter, letter) for letter in one_line(text)))


def write_figures(
    folder: Path,
    streams: Mapping[str, list[Group]],
    comparisons: Sequence[Comparison],
    detections: Sequence[Detection] = (),
) -> Iterator[Path]:
    """Draw the figures of a report, each as PNG and as SVG, and yield each file written.

    The folder is made if absent, and files in it are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in chain(_figures(streams, comparisons), _alarms(detections)):
        yield from write_png_and_svg(figure, folder, file_name(name))


def _figures(streams: Mapping[str, list[Group]], comparisons: Sequence[Comparison]) -> Iterator[tuple[str, Figure]]:
    for one in comparisons:
        yield f"critical-difference-{one.metric}", rank_figure(ranking_of(one))
    front = pareto_points(streams) if streams else None
    if front is not None:
        yield "pareto-front", cost_figure(front.points, score_heading("acc").title, front.title)
    for stream, groups in streams.items():
        measured = [group for group in groups if group.measured]
        curves = stream_curves(measured, _SCORE, "windowed")
        if curves is not None:
            yield f"curves-{stream}", curve_figure(*curves)
        for cost in cost_points(measured):
            title = score_heading("acc").title
            yield f"acc-against-{cost.name}-{stream}", cost_figure(cost.points, title, cost.title)
        for group in measured:
            matrix = transfer(group, _SCORE)
            if matrix is not None:
                yield f"tasks-{stream}-{group.strategy}", transfer_figure(group.label, matrix)


def _alarms(detections: Sequence[Detection]) -> Iterator[tuple[str, Figure]]:
    for stream, groups in group_detections(detections).items():
        for name, alike in charted(groups):
            yield f"alarms-{stream}-{name}", alarm_figure(f"{stream}: errors of {name}", *alarm_lanes(alike))
