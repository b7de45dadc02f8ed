"""A challenge: what its organiser and its teams can do, over the state in one folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from mlstream._support.files import read_bounded
from mlstream.challenge.clock import Clock, WatchedClock
from mlstream.challenge.config import ChallengeConfig, read_config
from mlstream.challenge.errors import (
    ClockJumped,
    ClockRanBack,
    InvalidSubmission,
    PhaseClosed,
    ScoringFailed,
    StateFailed,
)
from mlstream.challenge.folder import OrganiserFolder, require_private
from mlstream.challenge.manifest import Feedback, Manifest, read_manifest
from mlstream.challenge.replies import (
    AuditReport,
    BoardRow,
    ClockState,
    LogHead,
    Phase,
    Reply,
    Reservation,
    TeamEntry,
    TeamStatus,
)
from mlstream.challenge.scoring.feedback import feedback_of
from mlstream.challenge.scoring.pool import ScoringPool
from mlstream.challenge.scoring.ranking import FinalRanking
from mlstream.challenge.state import boards, closing, submitting, teams
from mlstream.challenge.state.audit import audit_challenge
from mlstream.challenge.state.grouped import GroupedWrites
from mlstream.challenge.state.phases import phase_of, require_phase
from mlstream.challenge.state.store import Store, Writing, after_last, last_time, require_time
from mlstream.challenge.submissions.files import require_size
from mlstream.challenge.submissions.rows import clean_name

if TYPE_CHECKING:
    from mlstream.streams.stream import Stream


class Challenge:
    """A challenge in the organiser's folder; safe to use from several threads and processes at once.

    Parameters
    ----------
    folder : path
        The organiser's folder, which `create` made.
    clock : callable, optional
        Returns the time of the organiser's machine; by default its clock, which is not believed when it jumps ahead.
    n_processes : int
        How many submissions are scored at once.

    Raises
    ------
    PermissionError
        If others can read the folder.
    ValueError
        If rules, manifest or state cannot be read.
    """

    def __init__(self, folder: str | os.PathLike[str], *, clock: Clock | None = None, n_processes: int = 1) -> None:
        require_private(folder)
        self.folder = OrganiserFolder(Path(folder).absolute())
        self.config: ChallengeConfig = read_config(self.folder.config)
        self.manifest: Manifest = read_manifest(self.folder.manifest)
        self.feedback: Feedback = feedback_of(self.config, self.manifest.feedback)
        self._clock = clock or WatchedClock()
        self._started = self._clock()
        self._store = Store(self.folder.state)
        self._arrivals = GroupedWrites[Reservation](self._write, self.folder.submissions)
        self._pool = ScoringPool(self.folder, n_processes)
        if not self.folder.state.is_file():
            raise StateFailed(f"{self.folder.state} must be there: it holds teams and scores. Got no file.")

    @classmethod
    def create(
        cls,
        stream: Stream,
        config: str | os.PathLike[str],
        folder: str | os.PathLike[str],
        bundle: str | os.PathLike[str],
        *,
        force: bool = False,
        clock: Clock | None = None,
    ) -> Challenge:
        """Make a challenge: the organiser's folder, and the bundle for contestants.

        Parameters
        ----------
        stream : Stream
            The stream; its tasks are the environments.
        config : path
            The rules, as TOML.
        folder, bundle : path
            The folders to make, neither of which may lie in the other.
        force : bool
            Accept hidden environments of few rows.
        clock : callable, optional
            As that of the class.

        Returns
        -------
        Challenge
            The challenge.

        Raises
        ------
        ValueError
            If rules and stream do not fit.
        """
        from mlstream.challenge.making.create import create_challenge

        clock = clock or WatchedClock()
        create_challenge(stream, Path(config), Path(folder), Path(bundle), clock=clock, force=force)
        return cls(folder, clock=clock)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, clock: Clock | None = None, n_processes: int = 1) -> Challenge:
        """Open a challenge that was created; parameters are those of the class."""
        return cls(folder, clock=clock, n_processes=n_processes)

    def shut_down(self) -> None:
        """End the processes that score, and close the file of the state; neither changes the challenge."""
        self._pool.close()
        self._store.close()

    def __enter__(self) -> Challenge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shut_down()

    def now(self) -> datetime:
        """Return the time of the organiser's machine."""
        return self._clock()

    def compare_clock(self) -> ClockState:
        """Compare the clock of the organiser's machine with the last event."""
        now = self._clock()
        with self._store.read() as state:
            last, problem = last_time(state) or now, None
            try:
                require_time(state, now, self._started)
            except (ClockJumped, ClockRanBack) as error:
                problem = str(error)
        return ClockState(now, last, problem)

    def accept_clock(self) -> ClockState:
        """Confirm that the clock is right where events are refused for it, and log that; otherwise, change nothing.

        A query counts on the day that was recorded with it: none is given back, and none is taken.

        Returns
        -------
        ClockState
            The clock and the last event as they were.
        """
        found = self.compare_clock()
        if found.problem is not None:
            with self._store.write(found.now) as state:
                state.add("clocks")
        return found

    def phase(self) -> Phase:
        """Return the phase: registration, development, selection, final or published."""
        with self._store.read() as state:
            return phase_of(state, self.config, after_last(state, self._clock()))

    def join(self, team: str) -> str:
        """Add a team; return its token, which is not stored and cannot be shown again.

        Raises
        ------
        TeamRefused
            If the name breaks a rule, or is another team's.
        """
        with self._write() as state:
            self._require_open(state, to="join")
            return teams.add_team(state, team)

    def invite(self) -> str:
        """Return the code of a new invitation, by which one team can register."""
        with self._write() as state:
            self._require_open(state, to="invite")
            return teams.add_invitation(state)

    def register(self, team: str, code: str) -> str:
        """Add a team by an invitation, which is used up; return its token.

        Raises
        ------
        UnknownToken
            If the invitation is unknown or used.
        TeamRefused
            If the name breaks a rule; the invitation is then not used.
        """
        with self._write() as state:
            self._require_open(state, to="register")
            return teams.add_team(state, team, code)

    def merge(self, kept: str, other: str) -> None:
        """Merge a team into another, by their names; what both used today adds up.

        Raises
        ------
        TeamRefused
            If a name is unknown, or the team would be too large.
        """
        with self._write() as state:
            self._require_open(state, to="merge teams")
            teams.add_merge(state, kept, other, self.config.team_size)

    def authenticate(self, token: str) -> str:
        """Return the id of the team that a token belongs to.

        Raises
        ------
        UnknownToken
            If it is no team's.
        """
        with self._store.read() as state:
            return teams.find_team(state, token)

    def submit(self, content: bytes | os.PathLike[str], token: str, *, file_name: str | None = None) -> Reply:
        """Score a submission on the validation environments, which uses a query.

        Parameters
        ----------
        content : bytes or path
            The file: CSV (also packed by gzip), NPZ or Parquet.
        token : str
            The token of the team.
        file_name : str, optional
            Name for errors and lists; by default that of the path.

        Returns
        -------
        Reply
            Score and budget. The same bytes from the same team have the same reply and cost nothing.

        Raises
        ------
        InvalidSubmission
            If the file is no submission, which costs no query.
        BudgetSpent
            If the queries of the day are used.
        PhaseClosed
            If it is not the time of development.
        UnknownToken
            If the token is no team's.
        ClockRanBack
            If the clock of this machine is before the last event.
        """
        return self.complete(self.reserve(content, token, file_name=file_name))

    def reserve(self, content: bytes | os.PathLike[str], token: str, *, file_name: str | None = None) -> Reservation:
        """Store a submission and count it as a query; `complete` scores it, even after a crash.

        Parameters
        ----------
        content : bytes or path
            The file.
        token : str
            The token of the team.
        file_name : str, optional
            Name for errors and lists; by default that of the path.

        Returns
        -------
        Reservation
            The number of the submission.

        Raises
        ------
        BudgetSpent
            As `submit`, and likewise PhaseClosed, UnknownToken, ClockRanBack; InvalidSubmission for the size alone.
        """
        name = clean_name(file_name or (os.path.basename(content) if isinstance(content, os.PathLike) else ""))  # noqa: PTH119
        team = self.authenticate(token)
        payload = content if isinstance(content, bytes) else self._read(Path(content), name)
        require_size(len(payload), self.config.max_bytes, name)
        return self._retry(lambda: self._reserve(payload, team, name), team)

    def reserve_received(self, received: submitting.Received, token: str, *, file_name: str) -> Reservation:
        """Do as `reserve` does for a file on its way, which is moved and not read again."""
        name, team = clean_name(file_name), self.authenticate(token)
        require_size(received.n_bytes, self.config.max_bytes, name)
        return self._retry(lambda: self._admit(received, team, name), team)

    def complete(self, reservation: Reservation) -> Reply:
        """Score a reserved submission, unless that was done; safe to repeat.

        Raises
        ------
        InvalidSubmission
            If the file is no submission; the query is free again.
        ScoringFailed
            If it could not be scored; it stays reserved.
        """
        self._score(reservation.submission)
        with self._store.read() as state:
            now = after_last(state, self._clock())
            reply = submitting.make_reply(state, self.config, self.feedback, reservation, now)
            if reply is None:
                row = state.rows("SELECT message FROM rejections WHERE submission = ?", reservation.submission)[0]
                raise InvalidSubmission(row["message"])
            return reply

    def complete_pending(self, team: str | None = None) -> int:
        """Score what was reserved and not scored, say by a process that died; return how many are done.

        Parameters
        ----------
        team : str, optional
            Id of a team; all teams by default.
        """
        submitting.sweep_scratch(self.folder)
        n_done = 0
        for waiting in self.waiting(team):
            try:
                self._score(waiting.submission)
            except ScoringFailed:
                continue
            n_done += 1
        return n_done

    def waiting(self, team: str | None = None) -> list[Reservation]:
        """List what was reserved and neither scored nor rejected, of a team by its id, or of all."""
        with self._store.read() as state:
            members = None if team is None else teams.members_of(state, team)
            return [Reservation(row["id"], False) for row in submitting.waiting_rows(state, members)]

    def status(self, token: str) -> TeamStatus:
        """Return budget, submissions and selection of the team that a token belongs to.

        Raises
        ------
        UnknownToken
            If it is no team's.
        """
        with self._store.read() as state:
            return boards.make_status(
                state, self.config, teams.find_team(state, token), after_last(state, self._clock())
            )

    def select(self, token: str, submissions: Sequence[int]) -> None:
        """Choose the submissions that count at the end, in place of those chosen before.

        Raises
        ------
        UnknownSubmission
            If there are too many, or one is not a scored submission of the team.
        PhaseClosed
            If the time of development and selection is over.
        """
        with self._write() as state:
            team = teams.find_team(state, token)
            require_phase(state, self.config, state.now, "development", "selection", to="select")
            boards.require_selectable(state, self.config, team, submissions)
            state.add("selections", team=team, submissions=str(list(submissions)))

    def leaderboard(self) -> tuple[BoardRow, ...]:
        """Return the public board of the development phase: best validation score, count and time of each team."""
        with self._store.read() as state:
            return boards.make_board(state, self.config)

    def head(self) -> LogHead:
        """Return the end of the log, which is public: one that was noted must be in every later log."""
        with self._store.read() as state:
            return state.head()

    def teams(self) -> tuple[TeamEntry, ...]:
        """Return all teams as the organiser sees them."""
        with self._store.read() as state:
            return boards.list_teams(state)

    def history(self, teams: Collection[str] | None = None) -> dict[str, list[tuple[datetime, float]]]:
        """Return the times at which a team's best score improved, and the scores.

        Parameters
        ----------
        teams : collection of str, optional
            Names of the teams; all by default.
        """
        with self._store.read() as state:
            return boards.make_history(state, self.config, teams)

    def close(self, *, early: bool = False) -> FinalRanking:
        """End the challenge: score every selected submission once, and rank; a repeated call returns the same.

        Parameters
        ----------
        early : bool
            Close before the end that the rules name.

        Returns
        -------
        FinalRanking
            Both rankings, with the head of the log.

        Raises
        ------
        PhaseClosed
            If the end has not come.
        ScoringFailed
            If a submission could not be scored; call it again.
        """
        with self._write() as state:
            if not state.first("SELECT 1 FROM closings"):
                closing.require_end(self.config, phase_of(state, self.config, state.now), early=early)
                state.add("closings")
        self.complete_pending()
        self._score_selected()
        with self._write() as state:
            closing.record_ranking(state, self.config)
        return self.ranking()

    def ranking(self) -> FinalRanking:
        """Return the final rankings.

        Raises
        ------
        PhaseClosed
            If the challenge has not been closed.
        """
        with self._store.read() as state:
            found = closing.read_ranking(state)
        if found is None:
            raise PhaseClosed(
                "The final ranking must be made by `mlstream challenge close` first. The phase is an earlier one."
            )
        return found

    def release(self, to: str | os.PathLike[str]) -> Path:
        """Write the truth of the hidden rows, and the rankings, to a new folder; the only way by which truth leaves.

        Raises
        ------
        PhaseClosed
            If the challenge has not been closed.
        FileExistsError
            If the folder exists.
        """
        path = closing.release_truth(self.folder, self.manifest, self.ranking(), Path(to))
        with self._write() as state:
            state.add("releases")
        return path

    def audit(self, head: str | None = None, *, files: bool = False) -> AuditReport:
        """Check log, tables and files against each other, and list submissions that look made to learn labels.

        Parameters
        ----------
        head : str, optional
            Head of the log from an earlier audit: one that was cut off or replaced since does not hold it.
        files : bool
            Read all that teams sent again, and compare it with its hashes; by default only its sizes are compared, in
            time that does not grow with its bytes. `close` compares the hash of what it scores in any case.

        Returns
        -------
        AuditReport
            What is wrong, what looks like an attack, and the head of the log.
        """
        with self._store.read() as state:
            return audit_challenge(state, self.folder, head, files=files)

    def _write(self) -> AbstractContextManager[Writing]:
        return self._store.write(self._clock(), self._started)

    def _reserve(self, content: bytes, team: str, name: str) -> Reservation:
        digest = hashlib.sha256(content).hexdigest()
        with self._store.read() as state:
            members, now = teams.members_of(state, team), after_last(state, self._clock())
            repeat = submitting.admit(state, self.config, members, now, digest)
        if repeat is not None:
            return repeat
        with submitting.Arrival(self.folder) as arrival:
            arrival.write(content)
            return self._admit(arrival.finish(), team, name)

    def _admit(self, received: submitting.Received, team: str, name: str) -> Reservation:
        def admit(state: Writing) -> Reservation:
            # It may have been merged meanwhile.
            members = teams.members_of(state, team)
            repeat = submitting.admit(state, self.config, members, state.now, received.sha256)
            if repeat is not None:
                return repeat
            submitting.store_file(self.folder, received)
            number = submitting.add_submission(state, members[0], received.sha256, received.n_bytes, name)
            return Reservation(number, False)

        return self._arrivals.run(admit)

    def _retry(self, reserve: Callable[[], Reservation], team: str) -> Reservation:
        try:
            return reserve()
        except submitting.QueriesWaiting:
            # Files that were not read yet may be invalid, and cost nothing then.
            self.complete_pending(team)
        try:
            return reserve()
        except submitting.QueriesWaiting as error:
            raise error.__cause__ or error from None

    def _score(self, submission: int) -> None:
        """Score or reject a submission, unless that was done."""
        with self._store.read() as state:
            row = submitting.submission_row(state, submission)
        with submitting.claim_file(self.folder, row["sha256"]):
            with self._store.read() as state:
                if submitting.is_done(state, submission):
                    return
            self._score_claimed(submission, row["sha256"], row["file_name"])

    def _score_claimed(self, submission: int, sha256: str, file_name: str) -> None:
        try:
            scores = self._pool.score_public(sha256, file_name)
        except InvalidSubmission as error:
            with self._write() as state:
                submitting.record_rejection(state, submission, str(error))
            with self._write() as state:
                submitting.drop_rejected(state, self.folder, sha256)
            return
        with self._write() as state:
            submitting.record_scores(state, self.config, self.feedback, submission, scores)

    def _score_selected(self) -> None:
        with self._store.read() as state:
            selected = closing.list_selected(state, self.config)
        for one in selected:
            with submitting.claim_file(self.folder, one.sha256):
                with self._store.read() as state:
                    if closing.has_final(state, one.submission):
                        continue
                scores = self._pool.score_final(one.sha256, one.file_name)
                with self._write() as state:
                    closing.record_final(state, one.submission, scores)

    def _require_open(self, state: Writing, *, to: str) -> None:
        require_phase(state, self.config, state.now, "registration", "development", to=to)

    def _read(self, path: Path, name: str) -> bytes:
        try:
            return read_bounded(path, self.config.max_bytes)
        except ValueError:
            require_size(path.stat().st_size, self.config.max_bytes, name)
            raise
