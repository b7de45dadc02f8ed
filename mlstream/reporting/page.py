"""Content of the report's page: the variables of its templates, from records and cards."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlstream._support.version import __version__
from mlstream.analysis.comparison import compare, compare_all
from mlstream.analysis.costs import energy_marks
from mlstream.analysis.groups import Group
from mlstream.analysis.score_info import score_heading
from mlstream.analysis.transfer import Limits, Transfer, score_limits, transfer
from mlstream.cards.terms import StatedTerms, stated_terms
from mlstream.plotting.labels import label_chart
from mlstream.plotting.plotly_parts import Chart
from mlstream.plotting.schedule import schedule_chart
from mlstream.plotting.styles import Key, strategy_key, task_keys
from mlstream.records.detection_record import Detection
from mlstream.records.run_result import RunResult
from mlstream.reporting.along_stream import along_table, final_table, repeating_note, speed_table
from mlstream.reporting.charts import cost_charts, curve_chart, pareto_part, transfer_charts
from mlstream.reporting.detection import DetectionPart, Unfinished, detection_part
from mlstream.reporting.headline import headline
from mlstream.reporting.methods_text import (
    Paragraph,
    data_text,
    decisions_text,
    describe_shares,
    methods_text,
    software_text,
)
from mlstream.reporting.ranks import (
    draw_pairs,
    draw_ranks,
    friedman_table,
    left_out_table,
    pair_table,
    rank_table,
)
from mlstream.reporting.recorded_facts import agreed, recorded_facts
from mlstream.reporting.strategy_tables import cost_table, strategy_table, trial_table
from mlstream.reporting.tables import Table, overview_table
from mlstream.streams.card_model import StreamCard

_OVERVIEW_SCORE = "ba_macro"
_SEED = re.compile(r"random_state=\d+")


@dataclass(frozen=True)
class StrategyPart:
    """One strategy on one stream: charts of its matrix R, and R by metric."""

    group: Group
    charts: list[Chart]
    transfers: dict[str, Transfer]


@dataclass(frozen=True)
class Described:
    """The card of a stream, and what follows from it."""

    card: StreamCard
    terms: StatedTerms
    labels: Chart
    schedule: Chart


@dataclass(frozen=True)
class StreamPart:
    """One stream: description, scores, curves, transfer, cost; a live source has no card."""

    anchor: str
    name: str
    n_rows: str
    described: Described | None
    scores: Table
    along: Table | None
    repeating: str
    orders: str
    curves: Chart | None
    speeds: Table | None
    strategies: list[StrategyPart]
    strategy_keys: list[Key]
    task_keys: list[Key]
    transfer_views: list[str]
    cost_charts: list[Chart]
    costs: Table
    shares: str
    marks: str
    undefined: list[tuple[str, str]]
    notices: list[str]


@dataclass(frozen=True)
class StrategyTables:
    """One strategy over all streams, if there are several, and the configurations tried, if there was a search."""

    name: str
    table: Table | None
    trials: Table | None


@dataclass(frozen=True)
class Statistics:
    """Strategies compared over streams; both charts have a view per score."""

    views: list[str]
    ranks: Chart
    pairs: Chart
    tests: Table
    left_out: Table | None
    rank_table: Table
    pair_tables: list[tuple[str, Table]]


def describe(
    runs: Sequence[RunResult],
    streams: Mapping[str, list[Group]],
    cards: Mapping[str, StreamCard],
    detections: Sequence[Detection] = (),
) -> dict[str, Any]:
    """Gather the variables of ``templates/report.html``; without detections, there must be runs."""
    statistics, detection = _statistics(streams), detection_part(detections, cards)
    return {
        **_heads(runs, streams, detection),
        "pareto": pareto_part(streams) if runs else None,
        "detection": detection,
        "runs": runs,
        "counts": Counter(run.status for run in runs),
        "overview": overview_table(streams, _OVERVIEW_SCORE) if len(streams) > 1 else None,
        "statistics": statistics,
        "overview_title": score_heading(_OVERVIEW_SCORE).title,
        "streams": [
            _describe_stream(f"stream-{place}", name, cards.get(name), groups, is_alone=len(streams) == 1)
            for place, (name, groups) in enumerate(streams.items(), 1)
        ],
        "strategies": _strategy_parts(runs, streams),
        "unfinished": [
            Unfinished.of(run, run.error or _unrecorded_reason(run)) for run in runs if run.status != "done"
        ],
        "estimators": _estimators(runs),
        "methods": _methods(runs, cards, detections, detection, is_compared=statistics is not None),
        "recorded": recorded_facts(runs) if runs else [],
        "machine": agreed([run.machine for run in runs] + [one.machine for one in detections]),
        "versions": agreed([run.versions for run in runs] + [one.versions for one in detections]),
        "mlstream_version": __version__,
    }


def _heads(
    runs: Sequence[RunResult], streams: Mapping[str, list[Group]], detection: DetectionPart | None
) -> dict[str, str]:
    """Return the title and the sentence below it: about runs, or about detections where there are no runs."""
    if detection is not None and not runs:
        return {"title": detection.title, "headline": detection.headline}
    n_strategies, names = len({run.strategy for run in runs}), list(streams)
    compared = "1 strategy" if n_strategies == 1 else f"{n_strategies} strategies"
    where = names[0] if len(names) == 1 else f"{len(names)} streams"
    first = headline(streams, compare(streams, _OVERVIEW_SCORE), _OVERVIEW_SCORE)
    return {
        "title": f"{compared} on {where}",
        "headline": " ".join(part for part in (first, decisions_text(runs)) if part),
    }


def _methods(
    runs: Sequence[RunResult],
    cards: Mapping[str, StreamCard],
    detections: Sequence[Detection],
    detection: DetectionPart | None,
    *,
    is_compared: bool,
) -> list[Paragraph]:
    of_detections = [] if detection is None else detection.methods
    if runs:
        return methods_text(runs, cards, is_compared=is_compared) + of_detections
    data, software = data_text(detections, cards), software_text(detections)
    return [Paragraph("Data", data), *of_detections, Paragraph("Software", software)]


def _strategy_parts(runs: Sequence[RunResult], streams: Mapping[str, list[Group]]) -> list[StrategyTables]:
    """List the strategies that have more to show than one row: several streams, or a search."""
    names = dict.fromkeys(run.strategy for run in runs)
    tables = {name: strategy_table(streams, name) for name in names}
    parts = [
        StrategyTables(name, table if len(table.rows) > 1 else None, trial_table(streams, name))
        for name, table in tables.items()
    ]
    return [one for one in parts if one.table or one.trials]


def _statistics(streams: Mapping[str, list[Group]]) -> Statistics | None:
    comparisons = compare_all(streams)
    if not comparisons:
        return None
    return Statistics(
        views=[score_heading(one.metric).title for one in comparisons],
        ranks=draw_ranks(comparisons),
        pairs=draw_pairs(comparisons),
        tests=friedman_table(comparisons),
        left_out=left_out_table(comparisons),
        rank_table=rank_table(comparisons),
        pair_tables=[(score_heading(one.metric).title, pair_table(one)) for one in comparisons],
    )


def _describe_stream(
    anchor: str, name: str, card: StreamCard | None, groups: list[Group], *, is_alone: bool
) -> StreamPart:
    n_rows = [sum(run.experience_sizes) for group in groups for run in group.runs]
    names = dict.fromkeys(name for group in groups for run in group.measured for name in run.R)
    limits = {name: score_limits(groups, name) for name in names}
    return StreamPart(
        anchor=anchor,
        name=name,
        n_rows=" to ".join(f"{number:,}" for number in sorted({min(n_rows), max(n_rows)})),
        described=None if card is None else _describe_card(card),
        scores=final_table(groups),
        along=along_table(groups),
        repeating=repeating_note(groups),
        orders=_describe_orders(groups),
        curves=curve_chart(groups),
        speeds=speed_table(groups),
        strategies=[_describe_strategy(group, limits) for group in groups if group.measured],
        strategy_keys=[strategy_key(group.label, group.style) for group in groups if group.measured],
        task_keys=task_keys(groups[0].runs[0].task_names),
        transfer_views=[score_heading(name).title for name in names],
        # Of a stream alone, accuracy against energy is the figure that the page begins with.
        cost_charts=cost_charts(groups, ("time",) if is_alone else ("time", "energy")),
        costs=cost_table(groups),
        shares=describe_shares([run for group in groups for run in group.measured]),
        marks="".join(energy_marks(group) for group in groups),
        undefined=_undefined(groups),
        notices=_notices(card, [run for group in groups for run in group.runs]),
    )


def _describe_card(card: StreamCard) -> Described:
    return Described(
        card=card,
        terms=stated_terms(card),
        labels=label_chart(card),
        schedule=schedule_chart(card),
    )


def _describe_orders(groups: Iterable[Group]) -> str:
    """Say which runs a curve or a matrix R is the mean of, where not of all; see `layout`."""
    n_orders = len({json.dumps(run.order) for group in groups for run in group.measured})
    return f"Runs visit the tasks in {n_orders} orders; shown are those in the order of the first." * (n_orders > 1)


def _undefined(groups: Iterable[Group]) -> list[tuple[str, str]]:
    """List why scores are not defined, once for all strategies that share score and reason."""
    shared: dict[tuple[str, str], dict[str, None]] = {}
    for group in groups:
        for run in group.measured:
            for name, reason in run.undefined.items():
                shared.setdefault((score_heading(name).title, reason), {})[group.strategy] = None
    return [(f"{title}: {', '.join(names)}", reason) for (title, reason), names in shared.items()]


def _notices(card: StreamCard | None, runs: Sequence[RunResult]) -> list[str]:
    """Return warnings about runs whose scores could be misread."""
    notices = []
    # Repetitions of the order or split are other data, as they should be.
    plain = [run for run in runs if run.order_seed is None and run.split_seed is None]
    others = 0 if card is None else sum(run.stream_sha256 != card.data_sha256 for run in plain)
    if others:
        notices.append(
            f"{others} of {len(runs)} runs used other data than this card describes (their SHA-256 differs): "
            "another split, order or version of the stream."
        )
    if any(run.settings.get("one_class") == "river" for run in runs):
        notices.append(
            "BA_macro follows River's convention for labels of one class here: a constant predictor can reach 0.6."
        )
    without_task = dict.fromkeys(run.strategy for run in runs if run.given_labels == "all")
    if without_task:
        notices.append(
            f"This scenario never shows the task: strategies that use it were given all labels "
            f"({', '.join(without_task)})."
        )
    left_out = {(name, one.n, one.of, one.what): None for run in runs for name, one in run.left_out.items()}
    return notices + [_describe_left_out(*one) for one in left_out]


def _describe_left_out(name: str, n: int, of: int, what: str) -> str:
    title = score_heading(name).title
    if what == "labels":
        return f"{title}: {n} of {of} labels have one class, and are left out of the mean."
    return f"{title}: {n} of {of} scores on evaluation sets are undefined, and left out of means."


def _describe_strategy(group: Group, limits: dict[str, Limits]) -> StrategyPart:
    transfers = {name: one for name in limits if (one := transfer(group, name)) is not None}
    return StrategyPart(group, transfer_charts(group.strategy, transfers, limits), transfers)


def _unrecorded_reason(run: RunResult) -> str:
    if run.status == "failed":
        return ""
    seen = max((curve.n_rows[-1] for curve in run.curves.values() if curve.n_rows), default=0)
    cap = f" of {run.settings['time_cap_s']} s" if run.settings.get("time_cap_s") else ""
    return f"Stopped at the time cap{cap} after {seen:,} of {sum(run.experience_sizes):,} rows."


def _estimators(runs: Sequence[RunResult]) -> list[RunResult]:
    """List one run of each configuration; those that differ in seeds only are one."""
    distinct: dict[tuple[str, str, str], RunResult] = {}
    for run in runs:
        parameters = {name: value for name, value in run.parameters.items() if not name.endswith("random_state")}
        distinct.setdefault((run.strategy, _SEED.sub("", run.estimator), json.dumps(parameters)), run)
    return list(distinct.values())
