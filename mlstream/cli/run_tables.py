"""Tables of scores that end a campaign: one line for each run, means of repeated runs, and why ACC is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean, stdev

from rich.table import Table

from metrics.named import NAMED_METRICS
from mlstream.cli.console import print_line, wide_console
from mlstream.records.frugality import FRUGALITIES
from mlstream.records.run_record import RunResult, total_cost
from mlstream.reporting.methods_text import decisions_text


def show_results(results: Sequence[RunResult]) -> None:
    """Print the scores of each run; where runs are repeated, their means; and why a run has no ACC."""
    columns = _columns(results)
    table = Table("stream", "strategy", "parameters", "seed", "status", *columns, "seconds", box=None)
    for result in results:
        scores = [_format(result.scores.get(column)) for column in columns]
        run = (result.stream, result.strategy, result.tuning, str(result.seed), result.status)
        table.add_row(*run, *scores, f"{_seconds(result):.2f}")
    wide_console().print(table)
    _show_means(results, columns)
    if rule := decisions_text(results):
        print_line(rule)
    for result in results:
        if reason := result.undefined.get("acc"):
            why = "The run was stopped before its end." if result.status == "capped" else reason
            print_line(f"ACC of {result.strategy} on {result.stream}, seed {result.seed}: not defined. {why}")


def _columns(results: Sequence[RunResult]) -> list[str]:
    special = [name for name in ("pw_js", "nce_worst") if any(name in result.scores for result in results)]
    named = [name for name in NAMED_METRICS if any(name in result.scores for result in results)]
    return ["ba_macro", "acc", "bwt", "fwt", *special, *FRUGALITIES, *named]


def _show_means(results: Sequence[RunResult], columns: Sequence[str]) -> None:
    groups: dict[tuple[str, str, str], list[RunResult]] = {}
    for result in results:
        if result.status == "done":
            groups.setdefault((result.stream, result.strategy, result.tuning), []).append(result)
    if all(len(runs) < 2 for runs in groups.values()):
        return
    table = Table("stream", "strategy", "parameters", "runs", *columns, "seconds", box=None)
    for name, runs in groups.items():
        cells = [_mean([result.scores.get(column) for result in runs]) for column in columns]
        table.add_row(*name, str(len(runs)), *cells, f"{mean(map(_seconds, runs)):.2f}")
    print_line("\nMeans over runs, with standard deviations:")
    wide_console().print(table)


def _mean(scores: Iterable[float | None]) -> str:
    """Return the mean of the scores that are defined, with their standard deviation where there are several."""
    defined = [score for score in scores if score is not None]
    if not defined:
        return "-"
    spread = f" ± {stdev(defined):.3f}" if len(defined) > 1 else ""
    return f"{mean(defined):.3f}{spread}"


def _seconds(result: RunResult) -> float:
    return total_cost(result, "wall_time_s") or 0.0


def _format(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"
