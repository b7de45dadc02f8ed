"""The end of a challenge: the rankings of all selected submissions, made once, and the release of truth.

By a release only, truth leaves the organiser's folder.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mlstream._support.content import guard_text
from mlstream._support.files import atomic_folder, sha256_of
from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.errors import PhaseClosed, ScoringFailed
from mlstream.challenge.folder import OrganiserFolder, require_apart
from mlstream.challenge.manifest import Manifest
from mlstream.challenge.replies import Phase
from mlstream.challenge.scoring.metric import metric_of
from mlstream.challenge.scoring.ranking import Candidate, FinalRanking, RankedTeam, rank_teams
from mlstream.challenge.scoring.scorer import FinalScores
from mlstream.challenge.state.boards import find_selected
from mlstream.challenge.state.store import Reading, Writing
from mlstream.challenge.state.submitting import submission_row
from mlstream.challenge.state.teams import names_of, roots_of
from mlstream.challenge.truth import Truth, format_keys, read_truth

TRUTH, RANKING, SUMS = "truth.csv", "ranking.json", "SHA256SUMS"


class Selected(NamedTuple):
    """A submission that counts at the end."""

    team: str  # Its id.
    submission: int
    sha256: str
    file_name: str


def require_end(config: ChallengeConfig, phase: Phase, *, early: bool) -> None:
    """Raise PhaseClosed, which names the way out, for closing a challenge before the end that its rules name."""
    last = "final" if config.final_ends else "selection" if config.development_ends else "development"
    order = ("registration", "development", "selection", "final", "published")
    if order.index(phase) < order.index(last) and not early:
        raise PhaseClosed(
            f"To close, the phase must be {last}, as the times of the rules say. Got {phase}. --early closes now, and "
            "there is no way back."
        )


def list_selected(state: Reading, config: ChallengeConfig) -> list[Selected]:
    """List the submissions that count at the end, in the order of their numbers."""
    teams = sorted(set(roots_of(state).values()))
    found = [(team, number) for team in teams for number in find_selected(state, config, team)]
    rows = [(team, submission_row(state, number)) for team, number in sorted(found, key=lambda one: one[1])]
    return [Selected(team, row["id"], row["sha256"], row["file_name"]) for team, row in rows]


def has_final(state: Reading, submission: int) -> bool:
    """Return whether a submission has final scores."""
    return state.first("SELECT 1 FROM final_scores WHERE submission = ?", submission) is not None


def record_final(state: Writing, submission: int, scores: FinalScores) -> None:
    """Record the final scores of a submission, unless another process has done so."""
    if not has_final(state, submission):
        state.add("final_scores", submission=submission, content=json.dumps(scores))


def final_scores(state: Reading) -> dict[int, FinalScores]:
    """Return all final scores by the number of the submission."""
    return {row["submission"]: json.loads(row["content"]) for row in state.rows("SELECT * FROM final_scores")}


def record_ranking(state: Writing, config: ChallengeConfig) -> None:
    """Rank all selected submissions, which have final scores, and record the rankings, unless that was done."""
    if state.first("SELECT 1 FROM rankings"):
        return
    names, scores = names_of(state), final_scores(state)
    selected = list_selected(state, config)
    if any(one.submission not in scores for one in selected):
        raise ScoringFailed(
            "All selected submissions must be scored before they are ranked. Close the challenge again."
        )
    first = {names[one.team]: scores[one.submission]["environments"] for one in reversed(selected)}
    ranking = FinalRanking(
        name=config.name,
        metric=config.metric,
        lower_is_better=metric_of(config.metric).lower_is_better,
        closed=state.now,
        generalisation=_rank(selected, scores, names, config, "test"),
        robustness=_rank(selected, scores, names, config, "unseen"),
        environments=first if config.publish_environment_scores else None,
    )
    state.add("rankings", content=ranking.model_dump_json(exclude={"head"}))


def read_ranking(state: Reading) -> FinalRanking | None:
    """Return the rankings with the hash of the event that recorded them, or None before they were made."""
    row = state.first("SELECT content FROM rankings")
    if row is None:
        return None
    head = state.rows("SELECT hash FROM events WHERE kind = 'rankings'")[0]["hash"]
    return FinalRanking.model_validate_json(row["content"]).model_copy(update={"head": head})


def release_truth(folder: OrganiserFolder, manifest: Manifest, ranking: FinalRanking, to: Path) -> Path:
    """Write the labels of all hidden rows, and the rankings, to a new folder.

    It holds ``truth.csv`` (row id, environment, role, scored labels; an empty cell does not count), ``ranking.json``
    and ``SHA256SUMS``. Raises FileExistsError if the folder exists, ValueError if it lies in the organiser's folder, or
    the reverse.
    """
    require_apart(folder.path, to)
    with atomic_folder(to) as part:
        with (part / TRUTH).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["row_id", "environment", "role", *map(guard_text, manifest.scored_names)])
            for entry in manifest.environments:
                if entry.file is not None:
                    rows = _rows(read_truth(folder.path / entry.file))
                    writer.writerows([key, entry.public_name, entry.role, *cells] for key, cells in rows)
        (part / RANKING).write_text(ranking.model_dump_json(indent=1) + "\n", encoding="utf-8")
        lines = [f"{sha256_of(part / name)}  {name}\n" for name in (RANKING, TRUTH)]
        (part / SUMS).write_text("".join(lines), encoding="utf-8")
    return to


def _rank(
    selected: Sequence[Selected],
    scores: Mapping[int, FinalScores],
    names: Mapping[str, str],
    config: ChallengeConfig,
    prize: str,
) -> tuple[RankedTeam, ...]:
    found: list[tuple[Selected, Mapping[str, Any]]] = [(one, scores[one.submission]) for one in selected]
    candidates = [
        Candidate(names[one.team], one.submission, score[prize], score[f"{prize}_resamples"])
        for one, score in found
        if score[prize] is not None
    ]
    return rank_teams(candidates, metric_of(config.metric))


def _rows(truth: Truth) -> Iterator[tuple[str, list[str]]]:
    known = truth.mask & ~np.isnan(truth.Y.astype(np.float32))
    for key, labels, counts in zip(format_keys(truth.row_keys), truth.Y, known, strict=True):
        yield key, [str(int(label)) if count else "" for label, count in zip(labels, counts, strict=True)]
