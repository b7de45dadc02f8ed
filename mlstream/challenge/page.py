"""The standing of a challenge as one static page, which needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mlstream._support.templates import page_templates
from mlstream.challenge.clock import board_times, format_time
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import PhaseClosed
from mlstream.challenge.making.rules import say_metric
from mlstream.challenge.replies import BoardRow, LogHead
from mlstream.challenge.scoring.ranking import FinalRanking, RankedTeam

_WIDTH = 240.0
# Room for a dot at either end.
_MARGIN = 6.0


class Bar(NamedTuple):
    """A score and its interval on a common scale, in pixels from the left."""

    low: float
    score: float
    high: float


def render_page(challenge: Challenge) -> str:
    """Write the board of a challenge, and its rankings once they are published, as HTML.

    The page holds nothing that is not public: no script, and no content from elsewhere.
    """
    board = challenge.leaderboard()
    try:
        ranking: FinalRanking | None = challenge.ranking()
    except PhaseClosed:
        ranking = None
    config = challenge.config
    return format_page(config.name, config.metric, board, ranking, challenge.head(), config.timezone)


def format_page(
    name: str,
    metric: str,
    board: Sequence[BoardRow],
    ranking: FinalRanking | None,
    log: LogHead,
    timezone: str = "UTC",
) -> str:
    """Write a board, rankings, and the end of the log as HTML; `ranking` is None before the end."""
    prizes = [] if ranking is None else [("Generalisation", ranking.generalisation), ("Robustness", ranking.robustness)]
    return (
        page_templates("mlstream.challenge")
        .get_template("leaderboard.html")
        .render(
            name=name,
            metric=say_metric(metric),
            board=list(zip(board, board_times(board, timezone), strict=True)),
            ranking=ranking,
            log=log,
            closed=None if ranking is None else format_time(ranking.closed, timezone),
            prizes=[(title, list(zip(rows, place_bars(rows), strict=True))) for title, rows in prizes if rows],
            environments=_environment_table(ranking),
            width=_WIDTH,
        )
    )


def place_bars(rows: Sequence[RankedTeam]) -> list[Bar]:
    """Place the scores of a ranking, and their intervals, on one scale: a bar for each row, best first."""
    spans = [
        (row.score if row.low is None else row.low, row.score, row.score if row.high is None else row.high)
        for row in rows
    ]
    values = [value for span in spans for value in span]
    least, most = min(values), max(values)
    scale = (_WIDTH - 2 * _MARGIN) / ((most - least) or 1.0)
    return [Bar(*(round(_MARGIN + scale * (value - least), 1) for value in span)) for span in spans]


def _environment_table(ranking: FinalRanking | None) -> tuple[list[str], list[tuple[str, list[float]]]] | None:
    """Return the names of the environments, and the scores of each team in the order of the ranking."""
    if ranking is None or not ranking.environments:
        return None
    teams = [row.team for row in ranking.generalisation]
    names = list(ranking.environments[teams[0]])
    return names, [(team, [ranking.environments[team][name] for name in names]) for team in teams]
