"""Scores as tables: for the page, and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from mlstream._support.content import table_text
from mlstream.analysis.costs import wall_time_s
from mlstream.analysis.groups import Group, describe_tunings, group_runs, score_names
from mlstream.analysis.score_info import Better, Heading, score_heading
from mlstream.records.run_result import RunResult
from mlstream.reporting.methods_text import same_scores_note

STRATEGY = Heading("Strategy")
PARAMETERS = Heading(
    "Parameters",
    meaning="'tuned (10)': chosen among 10 configurations, tried on the first experience, or on the environments named "
    "beside it; 'defaults': no search.",
)
UNDEFINED = "n/a"


@dataclass(frozen=True)
class Cell:
    """A cell: the text shown, the value it is sorted by (None: always last), and a note that qualifies it."""

    text: str
    value: float | str | None
    note: str = ""
    is_best: bool = False


@dataclass(frozen=True)
class Table:
    """A table that can be sorted by any column; the first cell of a row names it."""

    columns: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""  # A sentence to stand below it.


def score_table(groups: Sequence[Group], names: Sequence[str] | None = None) -> Table:
    """Build the table of scores of one stream, a row per group; `names` are the scores, by default all.

    The best strategy comes first, by the first score that has a direction. Strategies without that score, or without a
    finished run, come last.
    """
    names = score_names(groups) if names is None else names
    groups = _best_first(groups, names)
    heads = [_head(name, groups) for name in names]
    columns = [_score_cells(groups, name) for name in names]
    rows = [(*name_cells(group), *cells, _runs_cell(group)) for group, *cells in zip(groups, *columns, strict=True)]
    return Table((STRATEGY, PARAMETERS, *heads, Heading("Runs")), tuple(rows), same_scores_note(groups))


def overview_table(streams: Mapping[str, list[Group]], name: str) -> Table:
    """Build the table of one score, a row per strategy and a column per stream.

    Best first by the mean rank over streams; strategies without a score on some stream come last.
    """
    columns = []
    for groups in streams.values():
        cells = _score_cells(groups, name)
        columns.append({group.strategy: cell for group, cell in zip(groups, cells, strict=True)})
    ranks = [_ranks(groups, name) for groups in streams.values()]
    strategies = sorted(
        dict.fromkeys(strategy for column in columns for strategy in column),
        key=lambda strategy: _mean_rank(strategy, ranks),
    )
    heads = [replace(score_heading(name), title=stream) for stream in streams]
    tuning = describe_tunings(streams)
    baselines = {group.strategy for groups in streams.values() for group in groups if group.is_baseline}
    rows = [
        (
            Cell(row, row, note="baseline" if row in baselines else ""),
            Cell(tuning[row], tuning[row]),
            *(column.get(row, Cell(UNDEFINED, None, note="Not run.")) for column in columns),
        )
        for row in strategies
    ]
    return Table((STRATEGY, PARAMETERS, *heads), tuple(rows), same_scores_note(chain.from_iterable(streams.values())))


def mean_table(runs: Sequence[RunResult], names: Sequence[str]) -> Table | None:
    """Build the table of the means of repeated runs that finished, for the shell; None where none is repeated."""
    groups = [group for group in chain.from_iterable(group_runs(runs).values()) if group.status == "done"]
    if all(len(group.measured) < 2 for group in groups):
        return None
    rows = []
    for group in groups:
        run, scores = group.measured[0], [plain_score(*group.score(name)[:2]) for name in names]
        texts = (run.stream, run.strategy, run.tuning, str(len(group.measured)), *scores)
        seconds = group.mean(wall_time_s).mean or 0.0
        rows.append(tuple(Cell(text, text) for text in (*texts, f"{seconds:.2f}")))
    heads = "stream", "strategy", "parameters", "runs", *names, "seconds"
    return Table(tuple(map(Heading, heads)), tuple(rows), same_scores_note(groups))


def scores_csv(streams: Mapping[str, list[Group]]) -> str:
    """Write every score as CSV, one line per stream, strategy and score, under a header; see `rows_csv`."""
    head = ("stream", "strategy", "score", "better", "mean", "standard_deviation", "seeds", "parameters")
    rows = (
        (stream, group.strategy, name, score_heading(name).better, *group.score(name), group.tuning)
        for stream, groups in streams.items()
        for group in groups
        for name in score_names(groups)
    )
    return rows_csv([head, *rows])


def rows_csv(rows: Iterable[Sequence[float | str | None]]) -> str:
    r"""Write rows as CSV: numbers in full, and nothing where a value is None.

    Text that a spreadsheet would take for a formula has an apostrophe before it, see `mlstream._support.content`.

    >>> rows_csv([("NN", -0.5, None), ("=1+1", 1, "a,b")])
    'NN,-0.5,\n\'=1+1,1,"a,b"\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [table_text(value) if isinstance(value, str) else value for value in row] for row in rows
    )
    return text.getvalue()


def format_score(
    mean: float | None, deviation: float | None = None, *, form: str = ".3f", minus: str = "\N{MINUS SIGN}"
) -> str:
    """Format a score, and its spread where there is one; `form` is that of a number in Python.

    >>> format_score(0.5, 0.02), format_score(0.5, 1e-9), format_score(0.5, 0.0)
    ('0.500 ± 0.020', '0.500 ± <0.001', '0.500')
    """
    if mean is None or math.isnan(mean):
        return UNDEFINED
    shown = f"{mean:z{form}}".replace("-", minus)
    if not deviation:
        return shown
    spread = f"{deviation:{form}}"
    return f"{shown} ± {spread}" if spread.strip("0.") else f"{shown} ± <{spread[:-1]}1"


def plain_score(mean: float | None, deviation: float | None = None) -> str:
    """Format a score for the shell, from where other programs may read it."""
    return "-" if mean is None else format_score(mean, deviation, minus="-")


def name_cells(group: Group) -> tuple[Cell, Cell]:
    """Return the cells of `STRATEGY` and `PARAMETERS`; baselines and strategies that did not finish are marked."""
    name = Cell(group.strategy, group.strategy, note=group.badge)
    return name, Cell(group.tuning, group.tuning)


def best_of(means: Iterable[float | None], better: Better) -> float | None:
    """Return the best of at least two means that are known; None for fewer, or where neither direction is better."""
    known = [mean for mean in means if mean is not None]
    if len(known) < 2 or better == "neither":
        return None
    return max(known) if better == "higher" else min(known)


def _head(name: str, groups: Sequence[Group]) -> Heading:
    """Return a score's heading, with the number of labels that it takes."""
    head = score_heading(name)
    values = (run.settings.get("k") for group in groups for run in group.measured)
    k = ", ".join(sorted({str(value) for value in values if value is not None}))
    return replace(head, title=head.title.replace("@k", f"@{k}")) if k else head


def _runs_cell(group: Group) -> Cell:
    counts = Counter(run.status for run in group.runs)
    ended = [f"{counts[status]} {status}" for status in ("done", "capped", "failed") if counts[status]]
    return Cell(", ".join([*ended, *(["deterministic"] if group.is_deterministic else [])]), counts["done"])


def _score_cells(groups: Sequence[Group], name: str) -> list[Cell]:
    spreads = [group.score(name) for group in groups]
    # What a capped run measured covers less of the stream than the others: it competes with none of them.
    finished = [one.mean for one, group in zip(spreads, groups, strict=True) if group.status == "done"]
    best = best_of(finished, score_heading(name).better)
    return [
        Cell(
            format_score(one.mean, one.deviation),
            one.mean,
            note=_why_undefined(group, name) if one.mean is None else "",
            is_best=group.status == "done" and one.mean is not None and one.mean == best,
        )
        for one, group in zip(spreads, groups, strict=True)
    ]


def _best_first(groups: Sequence[Group], names: Sequence[str]) -> list[Group]:
    directed = next((name for name in names if score_heading(name).better != "neither"), None)
    if directed is None:
        return list(groups)
    ranks = [_ranks(groups, directed)]
    return sorted(groups, key=lambda group: _mean_rank(group.strategy, ranks))


def _ranks(groups: Sequence[Group], name: str) -> dict[str, int]:
    """Rank the strategies that finished by a score: for each, the number of better ones."""
    means = {group.strategy: group.score(name).mean for group in groups if group.status == "done"}
    known = {strategy: mean for strategy, mean in means.items() if mean is not None}
    sign = -1 if score_heading(name).better == "lower" else 1
    return {strategy: sum(sign * other > sign * mean for other in known.values()) for strategy, mean in known.items()}


def _mean_rank(strategy: str, ranks: Sequence[Mapping[str, int]]) -> tuple[int, float]:
    """Return a key that sorts strategies: streams without a rank, then the mean rank on the others."""
    known = [one[strategy] for one in ranks if strategy in one]
    return len(ranks) - len(known), sum(known) / max(len(known), 1)


def _why_undefined(group: Group, name: str) -> str:
    reasons = dict.fromkeys(run.undefined[name] for run in group.measured if name in run.undefined)
    return " ".join(reasons) or ("Not measured." if group.measured else "Every run failed.")
