"""Submissions on their way: reserved, scored or rejected, and reported."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from filelock import lock_descriptor

from mlstream._support.files import naming_errors
from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.errors import BudgetSpent
from mlstream.challenge.folder import OrganiserFolder
from mlstream.challenge.manifest import Feedback
from mlstream.challenge.replies import Reply, Reservation
from mlstream.challenge.scoring.feedback import report
from mlstream.challenge.scoring.metric import metric_of
from mlstream.challenge.scoring.scorer import PublicScores
from mlstream.challenge.state.budget import count_used, day_of, require_budget
from mlstream.challenge.state.phases import require_phase
from mlstream.challenge.state.store import SUBMISSIONS, Reading, Writing, marks
from mlstream.challenge.state.teams import members_of

# No upload is between scratch and state for so long.
_SCRATCH_S = 86_400.0


class Received(NamedTuple):
    """A file that has come, in the folder of those on their way, whose bytes are on disk."""

    path: Path
    sha256: str
    n_bytes: int


class QueriesWaiting(Exception):  # noqa: N818 - never an error for anyone: the reason to read files first
    """The budget is spent, unless files that have not been read yet turn out invalid."""


def admit(
    state: Reading, config: ChallengeConfig, members: Sequence[str], now: datetime, sha256: str
) -> Reservation | None:
    """Return the reservation of the same bytes that a team sent before, unless they were rejected; None for new bytes.

    New bytes are refused outside development or beyond the budget. Raises PhaseClosed in another phase; BudgetSpent if
    the team has used its queries of the day, or QueriesWaiting if it has unless files that wait turn out invalid.
    """
    repeat = state.first(
        f"SELECT s.id FROM {SUBMISSIONS} "  # noqa: S608 - marks only
        f"WHERE s.sha256 = ? AND r.submission IS NULL AND s.team IN ({marks(members)}) ORDER BY s.id LIMIT 1",
        sha256,
        *members,
    )
    if repeat is not None:
        return Reservation(repeat["id"], True)
    require_phase(state, config, now, "development", to="submit")
    budget = count_used(state, members, now, config)
    try:
        require_budget(budget, config)
    except BudgetSpent as error:
        if budget.waiting:
            raise QueriesWaiting from error
        raise
    return None


class Arrival:
    """A file on its way, under a name that nobody else has; it is gone after the block, unless it was moved.

    Bytes are hashed as they come, so that nothing is read again.
    """

    def __init__(self, folder: OrganiserFolder) -> None:
        self._folder = folder
        self._path = folder.scratch / secrets.token_hex(16)
        self._hash = hashlib.sha256()
        with naming_errors(folder.path):
            self._file = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def __enter__(self) -> Arrival:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._file.close()
        finally:
            self._path.unlink(missing_ok=True)

    def write(self, *pieces: bytes) -> None:
        """Add bytes."""
        for piece in pieces:
            with naming_errors(self._folder.path):
                self._file.write(piece)
            self._hash.update(piece)

    def finish(self) -> Received:
        """Wait until all bytes are on disk."""
        with naming_errors(self._folder.path):
            self._file.flush()
            os.fsync(self._file.fileno())
        return Received(self._path, self._hash.hexdigest(), self._file.tell())


def sweep_scratch(folder: OrganiserFolder) -> None:
    """Delete what processes that died left on its way, long ago."""
    oldest = time.time() - _SCRATCH_S
    for path in folder.scratch.iterdir():
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def store_file(folder: OrganiserFolder, received: Received) -> None:
    """Move a file to where submissions lie; the caller's transaction keeps others from deleting it meanwhile.

    Before it is committed, `sync_folder` must have put the move on disk.
    """
    target = folder.submissions / received.sha256
    if not target.exists():
        with naming_errors(folder.path):
            received.path.rename(target)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk."""
    with naming_errors(path.parent):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def claim_file(folder: OrganiserFolder, sha256: str) -> Iterator[None]:
    """Let nobody else score a stored file meanwhile; the system ends the claim of a process that dies.

    A file that cannot be opened was rejected, or damaged: whoever scores it finds out.
    """
    try:
        handle = os.open(folder.submissions / sha256, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        lock_descriptor(handle)
        yield
    finally:
        os.close(handle)


def record_scores(
    state: Writing, config: ChallengeConfig, feedback: Feedback, submission: int, scores: PublicScores
) -> None:
    """Record the scores of a submission, and its flag, unless another process has done so."""
    if is_done(state, submission):
        return
    team, lower_is_better = submission_row(state, submission)["team"], metric_of(config.metric).lower_is_better

    def say(column: str, score: float | None, start: float | None) -> float | None:
        if score is None:
            return None
        told = _best_reported(state, submission, team, column, lower_is_better=lower_is_better)
        reached, before = (start if best is None else best for best in told)
        reply = report(feedback, score, reached, lower_is_better=lower_is_better)
        if feedback.step and reply == reached:
            # Where a later submission was scored first, what that one reached is not this one's.
            return report(feedback, score, None, lower_is_better=lower_is_better) if before is None else before
        return reply

    state.add(
        "scores",
        submission=submission,
        team=team,
        validation=scores["validation"],
        reported=say("reported", scores["validation"], feedback.start),
        in_distribution=say("in_distribution", scores["in_distribution"], feedback.start_in_distribution),
    )
    if scores["flag"] is not None:
        state.add("flags", submission=submission, reason=scores["flag"])


def record_rejection(state: Writing, submission: int, message: str) -> None:
    """Record that a file is no submission, unless another process has done so."""
    if not is_done(state, submission):
        state.add("rejections", submission=submission, message=message)


def drop_rejected(state: Writing, folder: OrganiserFolder, sha256: str) -> None:
    """Delete a rejected file unless another submission has the same bytes.

    The transaction, which follows that of the rejection, keeps others from storing these bytes meanwhile. A process
    that dies before it leaves a file that nobody needs, never a submission without its file.
    """
    is_used = state.first(
        f"SELECT 1 FROM {SUBMISSIONS} WHERE s.sha256 = ? AND r.submission IS NULL",  # noqa: S608 - our own
        sha256,
    )
    if not is_used:
        with suppress(FileNotFoundError):
            (folder.submissions / sha256).unlink()


def is_done(state: Reading, submission: int) -> bool:
    """Return whether a submission was scored or rejected."""
    query = "SELECT 1 FROM scores WHERE submission = ? UNION ALL SELECT 1 FROM rejections WHERE submission = ?"
    return state.first(query, submission, submission) is not None


def submission_row(state: Reading, submission: int) -> sqlite3.Row:
    """Return the row of a submission that exists."""
    return state.rows("SELECT * FROM submissions WHERE id = ?", submission)[0]


def waiting_rows(state: Reading, members: Sequence[str] | None = None) -> list[sqlite3.Row]:
    """Return the rows of submissions that were neither scored nor rejected, of one team or of all."""
    chosen = "" if members is None else f"AND s.team IN ({marks(members)})"
    return state.rows(
        f"SELECT s.* FROM {SUBMISSIONS} "  # noqa: S608 - marks only
        f"WHERE c.submission IS NULL AND r.submission IS NULL {chosen} ORDER BY s.id",
        *(members or ()),
    )


def make_reply(
    state: Reading, config: ChallengeConfig, feedback: Feedback, reservation: Reservation, now: datetime
) -> Reply | None:
    """Return the reply to a submission that was scored, or None."""
    submission = reservation.submission
    score = state.first("SELECT * FROM scores WHERE submission = ?", submission)
    if score is None:
        return None
    row = submission_row(state, submission)
    members = members_of(state, row["team"])
    query = state.count(
        f"SELECT COUNT(*) FROM {SUBMISSIONS} "  # noqa: S608 - marks
        f"WHERE r.submission IS NULL AND s.day = ? AND s.id <= ? AND s.team IN ({marks(members)})",
        row["day"],
        submission,
        *members,
    )
    remaining = count_used(state, members, now, config).remaining
    repeats_best = bool(feedback.step) and (
        score["reported"] == feedback.start or _was_told(state, members, submission, score["reported"], score["time"])
    )
    return Reply(
        submission, query, remaining, score["reported"], score["in_distribution"], reservation.is_repeat, repeats_best
    )


def add_submission(state: Writing, team: str, sha256: str, n_bytes: int, file_name: str) -> int:
    """Add a submission to the queries of the day; return its number."""
    return state.add(
        "submissions", team=team, sha256=sha256, n_bytes=n_bytes, file_name=file_name, day=day_of(state.now)
    )


def _was_told(state: Reading, members: Sequence[str], submission: int, score: float, time: str) -> bool:
    """Return whether a team had been told a score before that of a submission was recorded."""
    query = (
        "SELECT 1 FROM scores WHERE reported = ? AND (time, submission) < (?, ?) "  # noqa: S608 - marks only
        f"AND team IN ({marks(members)})"
    )
    return state.first(query, score, time, submission, *members) is not None


def _best_reported(
    state: Reading, submission: int, team: str, column: str, *, lower_is_better: bool
) -> tuple[float | None, float | None]:
    """Return the best score in a column that a team was told: in all, and of submissions before this one; or None."""
    members, best = members_of(state, team), "MIN" if lower_is_better else "MAX"
    query = (
        f"SELECT {best}({column}), {best}(CASE WHEN submission < ? THEN {column} END) FROM scores "  # noqa: S608 - our own
        f"WHERE team IN ({marks(members)})"
    )
    in_all, before = state.rows(query, submission, *members)[0]
    return in_all, before
