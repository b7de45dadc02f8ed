"""The public board of the development phase, and what a team sees of itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.errors import UnknownSubmission
from mlstream.challenge.replies import BoardRow, SubmissionStatus, TeamEntry, TeamStatus
from mlstream.challenge.scoring.metric import metric_of
from mlstream.challenge.state.budget import count_used
from mlstream.challenge.state.phases import phase_of
from mlstream.challenge.state.store import SUBMISSIONS, Reading, marks, read_time
from mlstream.challenge.state.teams import members_of, names_of, roots_of


class _Best(NamedTuple):
    key: float
    submission: int
    score: float


def make_board(state: Reading, config: ChallengeConfig) -> tuple[BoardRow, ...]:
    """Return the public board: teams with a score, by their best reported score, then by the earlier submission."""
    roots, names, metric = roots_of(state), names_of(state), metric_of(config.metric)
    best: dict[str, _Best] = {}
    counts: dict[str, int] = {}
    # The index of scores holds all that is asked for.
    choose = "MIN" if metric.lower_is_better else "MAX"
    query = f"SELECT team, {choose}(reported) AS best, COUNT(*) AS n FROM scores GROUP BY team"  # noqa: S608 - our own
    first = "SELECT MIN(submission) FROM scores WHERE team = ? AND reported = ?"
    for row in state.rows(query):
        team, score = roots[row["team"]], row["best"]
        found = _Best(metric.sort_key(score), state.count(first, row["team"], score), score)
        best[team] = min(best.get(team, found), found)
        counts[team] = counts.get(team, 0) + row["n"]
    ordered = sorted(best, key=lambda team: best[team])
    return tuple(
        BoardRow(rank, names[team], best[team].score, counts[team], _time_of(state, best[team].submission))
        for rank, team in enumerate(ordered, start=1)
    )


def make_history(
    state: Reading, config: ChallengeConfig, teams: Collection[str] | None = None
) -> dict[str, list[tuple[datetime, float]]]:
    """Return the times at which each team's best reported score improved, in order, and the scores.

    `teams` are names; all by default.
    """
    roots, names, metric = roots_of(state), names_of(state), metric_of(config.metric)
    members = [team for team, root in roots.items() if teams is None or names[root] in teams]
    history: dict[str, list[tuple[datetime, float]]] = {}
    query = (
        "SELECT s.time, s.team, c.reported FROM scores AS c JOIN submissions AS s ON s.id = c.submission "  # noqa: S608
        f"WHERE c.team IN ({marks(members)}) ORDER BY s.id"
    )
    for time, team, score in state.rows(query, *members):
        steps = history.setdefault(names[roots[team]], [])
        if not steps or metric.is_better(score, steps[-1][1]):
            steps.append((read_time(time), score))
    return history


def make_status(state: Reading, config: ChallengeConfig, team: str, now: datetime) -> TeamStatus:
    """Return what a team, by its id, may know of itself: budget, submissions and selection."""
    members = members_of(state, team)
    budget, selected = count_used(state, members, now, config), find_selected(state, config, team)
    rows = state.rows(
        f"SELECT s.id, s.file_name, s.time, c.reported, c.in_distribution, r.message FROM {SUBMISSIONS} "  # noqa: S608
        f"WHERE s.team IN ({marks(members)}) ORDER BY s.id",
        *members,
    )
    return TeamStatus(
        team=names_of(state)[team],
        phase=phase_of(state, config, now),
        queries_used=budget.used,
        remaining=budget.remaining,
        reset=budget.reset,
        invalid_used=budget.invalid,
        submissions=tuple(
            SubmissionStatus(number, name, read_time(time), score, trained, problem, number in selected)
            for number, name, time, score, trained, problem in rows
        ),
        selected=selected,
        timezone=config.timezone,
    )


def list_teams(state: Reading) -> tuple[TeamEntry, ...]:
    """List all teams in the order in which they were made, those that were merged as one."""
    roots = roots_of(state)
    query = (
        "SELECT s.team, COUNT(c.submission) AS scored, COUNT(r.submission) AS invalid, COUNT(*) AS n "  # noqa: S608
        f"FROM {SUBMISSIONS} GROUP BY s.team"
    )
    counts: dict[str, Counter[str]] = {}
    for team, scored, invalid, n in state.rows(query):
        numbers = {"scored": scored, "invalid": invalid, "waiting": n - scored - invalid}
        counts.setdefault(roots[team], Counter()).update(numbers)
    return tuple(
        TeamEntry(
            name, read_time(time), *(counts.get(team, Counter())[kind] for kind in ("scored", "waiting", "invalid"))
        )
        for team, name, time in state.rows("SELECT id, name, time FROM teams ORDER BY time, id")
        if roots[team] == team
    )


def find_selected(state: Reading, config: ChallengeConfig, team: str) -> tuple[int, ...]:
    """Return the submissions of a team, by its id, that count at the end.

    They are those that it selected last, or the one with the best reported score, the earlier of equal ones; empty
    without a score.
    """
    members = members_of(state, team)
    chosen = state.first(
        f"SELECT submissions FROM selections WHERE team IN ({marks(members)}) ORDER BY id DESC LIMIT 1",  # noqa: S608 - marks only
        *members,
    )
    if chosen is not None:
        return tuple(json.loads(chosen["submissions"]))
    direction = "ASC" if metric_of(config.metric).lower_is_better else "DESC"
    best = state.first(
        f"SELECT submission FROM scores WHERE team IN ({marks(members)}) "  # noqa: S608 - marks only
        f"ORDER BY reported {direction}, submission LIMIT 1",
        *members,
    )
    return () if best is None else (int(best["submission"]),)


def require_selectable(state: Reading, config: ChallengeConfig, team: str, submissions: Sequence[int]) -> None:
    """Raise UnknownSubmission for too many submissions, or for one that is not the team's or not scored."""
    if not 1 <= len(submissions) <= config.final_selections or len(set(submissions)) < len(submissions):
        raise UnknownSubmission(
            f"A selection must be of 1 to {config.final_selections} different submissions. Got {list(submissions)}."
        )
    members = members_of(state, team)
    query = f"SELECT submission FROM scores WHERE team IN ({marks(members)})"  # noqa: S608 - marks only
    scored = {row["submission"] for row in state.rows(query, *members)}
    for number in submissions:
        if number not in scored:
            raise UnknownSubmission(
                f"A selected submission must be one of the team that has a score. Got {number} instead."
            )


def _time_of(state: Reading, submission: int) -> datetime:
    return read_time(state.rows("SELECT time FROM submissions WHERE id = ?", submission)[0]["time"])
