"""Campaigns as commands run them: progress, then tables of scores, means of repeated runs, and CPU time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from metrics.named import NAMED_METRICS
from mlstream._support.toml import read_toml_text
from mlstream.campaign.campaign import CampaignProgress, run_campaign
from mlstream.campaign.config import CampaignConfig, DetectionConfig, load_config
from mlstream.campaign.detection import run_detections
from mlstream.campaign.progress_files import LEARNERS, RunCpu, add_up, read_ledger, sum_run
from mlstream.cli.arguments import require_folder
from mlstream.cli.console import print_line, show_lines
from mlstream.cli.errors import InterruptionError
from mlstream.cli.options import OPTIONS
from mlstream.cli.progress import campaign_progress, detection_progress
from mlstream.evaluation.cpu_ledger import CpuLedger, cpu_part
from mlstream.publishing.named_streams import open_named
from mlstream.records.detection_record import Detection, detection_path_of, load_detections, require_detected
from mlstream.records.frugality import FRUGALITIES
from mlstream.records.run_record import has_runs, load_runs, path_of, require_success
from mlstream.records.run_result import RunResult, total_cost
from mlstream.reporting.methods_text import decisions_text
from mlstream.reporting.report import report
from mlstream.reporting.tables import mean_table, plain_score
from mlstream.streams.stream import Stream

_SHOWN = {
    "detection_rate": "found",
    "f1": "F1",
    "mean_delay": "delay, rows",
    "false_alarms_per_1000": "false per 1,000",
}

_MEANINGS = {
    "scores": "rows and evaluation sets, of runs and of searches",
    "curves": "scores at the checkpoints, and of the whole stream",
    "meters": "readings of energy and memory",
    "warm-up": "imports and compiled code of learners, before the clock starts",
    "records": "descriptions, checks, files",
    "streams": "made or read",
    "reports": "tables and page",
    "starts of processes": "Python and its imports",
    "plans and hand-overs": "runs planned, sent to processes, received",
    "the rest": "between these, within runs",
}

# Facts of runs and detections for programs; the records hold the rest.
_OF_BOTH = ("stream", "seed", "status", "parameters", "scores", "undefined", "error")
_OF_RUNS = ("strategy", "order_seed", "split_seed", "tuning")
_OF_DETECTIONS = ("learner", "detector", "detector_parameters", "error_rate", "drifts", "alarms")


class Outcome(NamedTuple):
    """Runs and detections of a folder, and the page about them."""

    folder: Path
    runs: Sequence[RunResult] = ()
    detections: Sequence[Detection] = ()
    page: Path | None = None

    def show(self) -> None:
        """Print tables, and where the page is."""
        if self.runs:
            with cpu_part("reports"):
                show_results(self.runs)
        if self.detections:
            show_detections(self.detections)
        if self.page is not None:
            print_line(f"Wrote {self.page}")

    def describe(self, ended: Sequence[CampaignProgress] | None = None) -> dict[str, object]:
        """Describe all for programs; `ended`, if it is known, tells which runs were recorded earlier."""
        kept = {
            (event.stream, event.strategy, event.seed, event.order_seed, event.split_seed)
            for event in ended or ()
            if event.state == "kept"
        }
        runs = []
        for run in self.runs:
            costs = {name: total_cost(run, name) for name in ("wall_time_s", "energy_kwh")}
            runs.append(_pick(run, _OF_RUNS) | costs | {"record": path_of(run, self.folder)})
            if ended is not None:
                runs[-1]["recorded_earlier"] = (run.stream, run.strategy, *run.repetition) in kept
        detections = [
            _pick(found, _OF_DETECTIONS) | {"record": detection_path_of(found, self.folder)}
            for found in self.detections
        ]
        return {"folder": self.folder, "page": self.page, "runs": runs, "detections": detections}

    def require_success(self) -> None:
        """Raise a RuntimeError if a run or a detection failed."""
        require_success(self.runs, self.folder)
        require_detected(self.detections, self.folder)


def load_outcome(folder: Path, page: Path) -> Outcome:
    """Read all runs and detections of a folder, about which there is a page."""
    return Outcome(folder, load_runs(folder) if has_runs(folder) else [], load_detections(folder), page)


def _pick(record: RunResult | Detection, names: Sequence[str]) -> dict[str, object]:
    return {name: getattr(record, name) for name in (*_OF_BOTH, *names)}


# Where and how a campaign file is run depends on the machine; its rule of decisions is what two campaigns compare.
_FOR_FILES = ("n_jobs", "dask", "decision")
_BESIDE_FILES = ("sources", "output", "quiet", "times", "trust", "as_json")


def run_and_show(
    strategies: Any,
    streams: Sequence[Stream],
    folder: Path,
    *,
    quiet: bool,
    ended: list[CampaignProgress],
    **options: Any,
) -> list[RunResult]:
    """Run a campaign, show its progress, and append the runs that have ended to `ended`."""
    with watched(folder, quiet=quiet, ended=ended) as progress:
        return run_campaign(strategies, streams, directory=folder, progress=progress, **options)


@contextmanager
def watched(
    folder: Path, *, quiet: bool, ended: list[CampaignProgress]
) -> Iterator[Callable[[CampaignProgress], None]]:
    """Show the progress of a campaign, of which runs that have ended are appended to `ended`.

    Ctrl-C becomes an InterruptionError that counts the runs recorded.
    """
    last: list[CampaignProgress] = []
    try:
        with nullcontext() if quiet else campaign_progress() as show:

            def progress(event: CampaignProgress) -> None:
                last[:] = [event]
                if event.state != "running":
                    ended.append(event)
                if show is not None:
                    show(event)

            yield progress
    except KeyboardInterrupt:
        n_ended, n_runs = (last[0].n_runs_ended, last[0].n_runs) if last else (0, "the")
        recorded = f"{n_ended} of {n_runs} runs recorded in {folder}; the same command goes on."
        raise InterruptionError(recorded) from None


def detect_and_show(
    detectors: Any, streams: Sequence[Stream], learners: Any, folder: Path, *, quiet: bool, **options: Any
) -> list[Detection]:
    """Run a campaign of detections, and show its progress."""
    last: list[tuple[int, int]] = []
    try:
        with nullcontext() if quiet else detection_progress() as show:

            def progress(one: Detection, was_kept: bool, n_done: int, n_in_all: int) -> None:
                last[:] = [(n_done, n_in_all)]
                if show is not None:
                    show(one, was_kept, n_done, n_in_all)

            found = run_detections(detectors, streams, learners, folder, progress=progress, **options)
    except KeyboardInterrupt:
        n_done, n_in_all = last[0] if last else (0, "the")
        recorded = f"{n_done} of {n_in_all} detections recorded in {folder}; the same command goes on."
        raise InterruptionError(recorded) from None
    return found


def run_file(
    path: Path,
    output: Path | None,
    typed: Mapping[str, Any],
    *,
    quiet: bool,
    trust: bool,
    ended: list[CampaignProgress],
) -> Outcome:
    """Run a campaign file with the options that were typed beside it, and write its report.

    Its classes are imported, from its folder too, and called if it is trusted.
    """
    changed = {name: value for name, value in typed.items() if name in _FOR_FILES}
    refused = [name for name in typed if name not in {*_BESIDE_FILES, *_FOR_FILES}]
    if refused:
        flags = [OPTIONS[name].flags[0] if name in OPTIONS else f"--{name}" for name in refused]
        raise ValueError(
            f"{path} must hold every other option: only --output, --jobs, --dask, --decision, --quiet, --times, "
            f"--trust and --json may be combined with a campaign file. Got {', '.join(flags)}."
        )
    if trust:
        # Classes may lie beside the campaign file.
        sys.path.insert(0, str(path.resolve().parent))
    config = load_config(path)
    folder = output or (path.parent / config.directory if config.directory else None)
    if folder is None:
        raise ValueError(f"{path} must name the directory of the records, or --output must. Got neither.")
    require_folder(folder, f"{path}: directory")
    if isinstance(config, DetectionConfig):
        changed |= {name: True for name in typed if name == "times"}
        return _detect_file(path, config, folder, changed, quiet=quiet, trust=trust)
    with _errors_in(path), cpu_part("streams"):
        learners, streams = config.learners(trust=trust), [open_named(name, path.parent) for name in config.streams]
    text = _as_run(path, config, changed)
    results = run_and_show(learners, streams, folder, quiet=quiet, ended=ended, config=text, **config.options | changed)
    with cpu_part("reports"):
        return Outcome(folder, results, page=report(folder))


def _detect_file(
    path: Path, config: DetectionConfig, folder: Path, changed: dict[str, Any], *, quiet: bool, trust: bool
) -> Outcome:
    """Run a campaign file of the kind "detect", and write its report."""
    if refused := [OPTIONS[name].flags[0] if name in OPTIONS else f"--{name}" for name in changed if name != "n_jobs"]:
        raise ValueError(
            f"{path} is of the kind 'detect': only --output, --jobs, --quiet, --trust and --json may be combined with "
            f"it. Got {', '.join(refused)}."
        )
    with _errors_in(path):
        detectors, learners = config.make_detectors(), config.make_learners(trust=trust)
        streams = [open_named(name, path.parent) for name in config.streams]
    options = config.options | changed | {"config": read_toml_text(path)}
    found = detect_and_show(detectors, streams, learners, folder, quiet=quiet, **options)
    return Outcome(folder, detections=found, page=report(folder))


def _as_run(path: Path, config: CampaignConfig, changed: dict[str, Any]) -> str:
    """Return the text of a campaign file, to keep beside the records, with the rule of decisions that was typed."""
    text = read_toml_text(path)
    if "decision" not in changed:
        return text
    if "decision" in config.model_fields_set:
        raise ValueError(f"{path} must leave decision out where --decision is typed. Got both.")
    return f'decision = "{changed["decision"]}"\n{text}'


@contextmanager
def _errors_in(path: Path) -> Iterator[None]:
    """Let errors name the file that holds what is wrong."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path}: {error}") from error


def show_results(results: Sequence[RunResult]) -> None:
    """Print the scores of each run; where runs are repeated, their means; and why a run has no ACC."""
    columns = _columns(results)
    rows = []
    for result in results:
        run = (result.stream, result.strategy, result.tuning, str(result.seed), result.status)
        rows.append((*run, *(plain_score(result.scores.get(name)) for name in columns), f"{_seconds(result):.2f}"))
    show_lines(("stream", "strategy", "parameters", "seed", "status", *columns, "seconds"), rows)
    _show_means(results, columns)
    if rule := decisions_text(results):
        print_line(rule)
    for result in results:
        if reason := result.undefined.get("acc"):
            why = "The run was stopped before its end." if result.status == "capped" else reason
            print_line(f"ACC of {result.strategy} on {result.stream}, seed {result.seed}: not defined. {why}")


# Scores under further rules of decisions that are shown.
_RULED = ("ba_macro[", "acc[")


def _columns(results: Sequence[RunResult]) -> list[str]:
    special = [name for name in ("pw_js", "nce_worst") if any(name in result.scores for result in results)]
    named = [name for name in NAMED_METRICS if any(name in result.scores for result in results)]
    ruled = dict.fromkeys(name for result in results for name in result.scores if name.startswith(_RULED))
    return ["ba_macro", "acc", "bwt", "fwt", *ruled, *special, *FRUGALITIES, *named]


def _show_means(results: Sequence[RunResult], columns: Sequence[str]) -> None:
    means = mean_table(results, columns)
    if means is None:
        return
    print_line("\nMeans over runs, with standard deviations where they differ:")
    show_lines([column.title for column in means.columns], [[cell.text for cell in row] for row in means.rows])
    if means.note:
        print_line(means.note)


def _seconds(result: RunResult) -> float:
    return total_cost(result, "wall_time_s") or 0.0


def show_times(ended: Sequence[CampaignProgress], ledger: CpuLedger, wall_time_s: float) -> None:
    """Print where the CPU time of a campaign went.

    `ended` may include runs that were recorded earlier, which do not count. `ledger` has the CPU time of the command in
    this process.
    """
    runs = [(event, event.cpu) for event in ended if event.cpu is not None]
    print_line("\nCPU seconds of learners' calls + what the campaign adds within the run:")
    _show_run_times(runs)
    spent = sum_parts(ended, ledger)
    own, whole = spent.pop(LEARNERS, 0.0), sum(spent.values())
    print_line(f"\nCPU time: {own + whole:.1f} s in {wall_time_s:.1f} s. Learners' calls took {own:.1f} s.")
    rows = [
        (name, f"{seconds:.2f}", _share(seconds, own), _MEANINGS[name])
        for name, seconds in sorted(spent.items(), key=lambda part: -part[1])
    ]
    whole_row = ("together", f"{whole:.2f}", _share(whole, own), "")
    show_lines(("the campaign adds", "s", "of learners' calls", "what"), [*rows, whole_row])
    n_kept = sum(event.state == "kept" for event in ended)
    if n_kept:
        print_line(f"{n_kept} of {len(ended)} runs were recorded earlier, and are not counted.")


def sum_parts(ended: Sequence[CampaignProgress], ledger: CpuLedger) -> dict[str, float]:
    """Return where the CPU time of a campaign went, in s by part, `LEARNERS` among them."""
    return add_up((event.cpu for event in ended if event.cpu is not None), read_ledger(ledger))


def _show_run_times(runs: Sequence[tuple[CampaignProgress, RunCpu]]) -> None:
    """Print a table of strategies and streams; runs that repeat one are added up."""
    cells = _sum_run_times(runs)
    streams, strategies = (sorted({place[axis] for place in cells if place[axis]}) for axis in (1, 0))
    rows = []
    for strategy in (*strategies, ""):
        row = [cells.get((strategy, stream)) for stream in (*streams, "")]
        rows.append((strategy or "all", *("" if cell is None else f"{cell[0]:.1f}+{cell[1]:.1f}" for cell in row)))
    show_lines(("strategy", *streams, "all"), rows)


def _sum_run_times(runs: Sequence[tuple[CampaignProgress, RunCpu]]) -> dict[tuple[str, str], tuple[float, float]]:
    """Add up the CPU seconds of learners and of all else by strategy and stream; "" stands for all of them."""
    cells: dict[tuple[str, str], tuple[float, float]] = {}
    for event, cpu in runs:
        own, added = sum_run(cpu)
        for place in ((event.strategy, event.stream), (event.strategy, ""), ("", event.stream), ("", "")):
            before = cells.get(place, (0.0, 0.0))
            cells[place] = before[0] + own, before[1] + added
    return cells


def _share(seconds: float, own: float) -> str:
    # of calls that took next to nothing, any share is thousands of percent
    return f"{100 * seconds / own:.1f} %" if seconds < 10 * own else "-"


def show_detections(detections: Sequence[Detection]) -> None:
    """Print what each detector found: drifts, alarms, and the scores of the alarms."""
    heads = ("stream", "learner", "detector", "seed", "status", "drifts", "alarms")
    rows = []
    for one in detections:
        counts = str(one.seed), one.status, str(len(one.drifts)), str(len(one.alarms))
        scores = ("-" if (value := one.scores.get(name)) is None else f"{value:.3f}" for name in _SHOWN)
        rows.append((one.stream, one.learner, one.detector, *counts, *scores))
    show_lines((*heads, *_SHOWN.values()), rows)
