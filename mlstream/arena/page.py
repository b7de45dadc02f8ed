"""The page of the arena: one HTML file that works offline, and on which every number leads to its records."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from estimators.strategies import STRATEGIES
from mlstream._support.files import write_text_atomically
from mlstream._support.templates import page_templates
from mlstream._support.version import __version__
from mlstream.analysis.groups import BASELINES
from mlstream.analysis.pareto import pareto_front
from mlstream.analysis.score_info import score_heading
from mlstream.arena.records import Cell, LearnerRecord, load_records
from mlstream.arena.running import read_folder
from mlstream.arena.standings import ALPHA, Ranking, agree, least_p, rank_learners
from mlstream.arena.suite import NEWEST_SUITE, Scope, Score, Suite, load_suite, score_names

Json = dict[str, Any]

KINDS = {"ours": "of mlstream", "baseline": "baselines", "outsider": "of other packages", "yours": "yours"}
# Of decision rules: how a filter calls them, and how a title does.
_RULES = {
    "own": ("the learner's own", "decided by the learner"),
    "half": ("0.5", "decided at 0.5"),
    "prevalence": ("prevalence", "decided at the prevalence"),
    None: ("of probabilities", ""),
}
# More digits than are shown, of ranks and means; scores of cells are those of the records.
_DIGITS = 4


def write_page(
    output: str | os.PathLike[str] = "arena-page",
    learners: Iterable[str | os.PathLike[str]] = (),
    *,
    suite: int = NEWEST_SUITE,
) -> Path:
    """Write the boards of the arena as one page, which needs nothing from elsewhere.

    Parameters
    ----------
    output : path
        Folder of the page; it is made where it is absent, and a page in it is replaced.
    learners : iterable of path
        Folders of learners that joined, as `run` writes them: ``arena/MyLearner``.
    suite : int
        Number of the suite; by default the newest.

    Returns
    -------
    Path
        The page, ``index.html``.

    Raises
    ------
    ValueError
        If there is no such suite here, a learner ran on another one, or two have one name.
    FileNotFoundError
        If a folder holds no learner's records.

    Examples
    --------
    >>> import tempfile
    >>> from mlstream import arena
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = arena.write_page(folder)
    ...     page.name
    'index.html'
    """
    content, records = load_suite(suite), load_records(suite)
    joined: dict[str, LearnerRecord] = {}
    for folder in learners:
        record = read_folder(Path(folder))
        if record.suite != suite:
            raise ValueError(f"{folder} must hold runs of suite {suite}. Got runs of suite {record.suite}.")
        if record.learner in joined:
            raise ValueError(
                f"Learners on the page must have names of their own (`mlstream arena run --name`). "
                f"Got two called {record.learner!r}."
            )
        joined[record.learner] = record
    page = Path(output) / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    write_text_atomically(page, render_page(content, records, joined))
    return page


def render_page(suite: Suite, records: Mapping[str, LearnerRecord], joined: Mapping[str, LearnerRecord]) -> str:
    """Write the page of some records, and of those of learners that joined; both may have one of a name."""
    joined = {f"{name} (yours)" if name in records else name: record for name, record in joined.items()}
    shown = {**records, **joined}
    counted = {board: _count_streams(suite, board, records, joined) for board in suite.boards}
    rankings = {
        f"{scope}/{board}/{score.name}": ranking
        for scope in _scopes(suite)
        for board in suite.boards
        for score in suite.scores(board)
        if (ranking := rank_learners(shown, suite, board, score, scope=scope, streams=counted[board])) is not None
    }
    data = _describe(suite, shown, joined, rankings)
    return (
        page_templates("mlstream.arena", "mlstream.reporting")
        .get_template("arena.html")
        .render(
            suite=suite,
            data=data,
            coverage=data["coverage"],
            overview=_overview(suite, shown, rankings),
            version=__version__,
        )
    )


def _count_streams(
    suite: Suite, board: str, records: Mapping[str, LearnerRecord], joined: Mapping[str, LearnerRecord]
) -> set[str]:
    """Return the streams of a board on which learners are compared: those on which the ones that joined have run."""
    names = {entry.name for entry in suite.entries("full", board)}
    # One user's streams leave nobody else out, and one without a table of the board leaves its learner in.
    counted = names & {stream for record in (records or joined).values() for stream in record.cells}
    for record in joined.values():
        counted = counted & record.cells.keys() or counted
    return counted


def _scopes(suite: Suite) -> list[Scope]:
    scopes: tuple[Scope, Scope] = ("full", "lite")
    return [scope for scope in scopes if suite.entries(scope)]


def _describe(
    suite: Suite,
    records: Mapping[str, LearnerRecord],
    joined: Mapping[str, LearnerRecord],
    rankings: Mapping[str, Ranking],
) -> Json:
    """Gather what the script of the page shows; learners, streams and scores are numbered by their places."""
    places = {name: place for place, name in enumerate(records)}
    streams = {entry.name: place for place, entry in enumerate(suite.streams)}
    names = list(dict.fromkeys(name for stream in streams for name in score_names(suite, stream)))
    held = [_scores_held(stream, names, records.values()) for stream in streams]
    return {
        "suite": suite.model_dump(include={"version", "cap_s", "cpu_power_w", "reference"}),
        "kinds": KINDS,
        "alpha": ALPHA,
        "scopes": _scopes(suite),
        "boards": {board: _describe_board(suite, board) for board in suite.boards},
        "streams": [[entry.name, entry.board, entry.data_sha256] for entry in suite.streams],
        "scores": names,
        "held": [[names.index(name) for name in of_stream] for of_stream in held],
        "learners": [_describe_learner(name, record, is_joined=name in joined) for name, record in records.items()],
        "cells": [_pack_cells(record, dict(zip(streams, held, strict=True))) for record in records.values()],
        "rankings": {
            key: _pack_ranking(ranking, records, suite, places, streams)
            # The whole board, of which a ranking by the lite part is to tell the ranks.
            | _agreement(ranking, rankings.get(key.replace("lite/", "full/", 1)))
            for key, ranking in rankings.items()
        },
        "coverage": _coverage(suite, records.values()),
    }


def _scores_held(stream: str, names: Sequence[str], records: Iterable[LearnerRecord]) -> list[str]:
    """List the scores that any record has of a stream."""
    found = {name for record in records if stream in record.cells for name in record.cells[stream].scores}
    return [name for name in names if name in found]


def _pack_cells(record: LearnerRecord, held: Mapping[str, Sequence[str]]) -> list[list[Any] | None]:
    """Return the cells of a learner, None where there is no record; `held` are the scores of each stream."""
    found = [(record.cells.get(stream), names) for stream, names in held.items()]
    return [None if cell is None else _pack(cell, names) for cell, names in found]


def _pack(cell: Cell, names: Sequence[str]) -> list[Any]:
    return [cell.status, cell.wall_s, cell.cpu_s, cell.energy_j, [cell.score(name) for name in names], cell.error]


def _describe_board(suite: Suite, board: str) -> Json:
    entry = suite.boards[board]
    return {
        "title": entry.title,
        "about": entry.about,
        "scores": [_describe_score(score) for score in suite.scores(board)],
        "streams": [entry.name for entry in suite.entries("full", board)],
        "heading": suite.scores(board)[0].name,
    }


def _describe_score(score: Score) -> Json:
    heading = score_heading(score.metric)
    return {
        "name": score.name,
        "metric": score.metric,
        "title": heading.title,
        "better": heading.better,
        "meaning": heading.meaning,
        "rule": score.decision or "none",
        "rule_title": _RULES[score.decision][0],
        "decided": _RULES[score.decision][1],
    }


def _describe_learner(name: str, record: LearnerRecord, *, is_joined: bool) -> Json:
    strategy = STRATEGIES.get(record.learner)
    if is_joined:
        kind = "yours"
    elif record.estimator.partition("(")[0] in BASELINES:
        kind = "baseline"
    else:
        kind = "outsider" if strategy is None or strategy.package else "ours"
    return {
        "name": name,
        "kind": kind,
        "about": "" if strategy is None else strategy.summary,
        "command": "" if strategy is None else f"mlstream arena run {record.learner}",
        **record.model_dump(include={"estimator", "source_sha256", "seed", "versions", "machine"}),
    }


def _pack_ranking(
    ranking: Ranking,
    records: Mapping[str, LearnerRecord],
    suite: Suite,
    places: Mapping[str, int],
    streams: Mapping[str, int],
) -> Json:
    cpu, joules = (
        [_total(records[name], ranking.streams, what) for name in ranking.learners] for what in ("cpu_s", "energy_j")
    )
    of_reference = dict(zip(ranking.learners, cpu, strict=True)).get(suite.reference)
    return {
        "learners": [places[name] for name in ranking.learners],
        "streams": [streams[name] for name in ranking.streams],
        "ranks": _rounded(ranking.ranks),
        "low": _rounded(ranking.intervals[:, 0]),
        "high": _rounded(ranking.intervals[:, 1]),
        "means": _rounded(ranking.means),
        "p": [_significant(p) for p in ranking.compared_with(ranking.learners[0])],
        "least_p": least_p(len(ranking.streams), len(ranking.learners)),
        "stream_ranks": [_rounded(column) for column in ranking.stream_ranks.T],
        "cpu_s": cpu,
        "energy_j": joules,
        "times": [_significant(seconds / of_reference) if seconds and of_reference else None for seconds in cpu],
        "front": _front(ranking, joules),
        "left_out": [places[name] for name in ranking.left_out],
    }


def _agreement(ranking: Ranking, whole: Ranking | None) -> Json:
    compared = math.nan if whole is None or whole is ranking else agree(ranking, whole)
    return {"agreement": _rounded([compared])[0]}


def _significant(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _rounded(values: Iterable[float]) -> list[float | None]:
    return [None if math.isnan(value) else round(float(value), _DIGITS) for value in values]


def _total(record: LearnerRecord, streams: Iterable[str], what: str) -> float | None:
    """Sum a cost over streams; None if one run has none, as one that failed."""
    costs = [getattr(record.cells[name], what) for name in streams]
    return None if None in costs else round(math.fsum(costs), _DIGITS)


def _front(ranking: Ranking, joules: Sequence[float | None]) -> list[int]:
    """Return the places, by joules, of the learners that finished and that no other beats in score and joules."""
    sign = 1.0 if ranking.higher else -1.0
    finished = [
        (place, cost, sign * mean)
        for place, (cost, mean) in enumerate(zip(joules, ranking.means, strict=True))
        if cost is not None and not np.isnan(ranking.values[:, place]).any()
    ]
    return [finished[at][0] for at in pareto_front([(cost, score) for _, cost, score in finished])]


def _coverage(suite: Suite, records: Collection[LearnerRecord]) -> Json:
    known = {entry.name for entry in suite.streams}
    cells = [[cell for name, cell in record.cells.items() if name in known] for record in records]
    statuses = [cell.status for of_learner in cells for cell in of_learner]
    return {
        "n_learners": len(cells),
        "n_streams": len(known),
        "n_complete": sum(len(of_learner) == len(known) for of_learner in cells),
        "n_cells": len(statuses),
        "n_possible": len(cells) * len(known),
        "n_capped": statuses.count("capped"),
        "n_failed": statuses.count("failed"),
        "unrecorded": sorted(known - {name for record in records for name in record.cells}),
    }


def _overview(
    suite: Suite, records: Mapping[str, LearnerRecord], rankings: Mapping[str, Ranking]
) -> list[tuple[str, list[float | None]]]:
    """Return the mean rank of each learner on each board, by the score that heads it: best of the first board first."""
    of_boards = []
    for board in suite.boards:
        ranking = rankings.get(f"full/{board}/{suite.scores(board)[0].name}")
        of_boards.append({} if ranking is None else dict(zip(ranking.learners, ranking.ranks.tolist(), strict=True)))
    rows = [(name, [ranks.get(name) for ranks in of_boards]) for name in records]
    return sorted(rows, key=lambda row: [math.inf if rank is None else rank for rank in row[1]])
