"""The audit of a challenge: log, tables and stored files against each other; and submissions made to learn labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from mlstream._support.files import is_plain, read_bounded, sha256_of
from mlstream.challenge.folder import OrganiserFolder
from mlstream.challenge.replies import AuditReport
from mlstream.challenge.scoring.decoding import looks_like_decoding
from mlstream.challenge.scoring.scorer import Scorer
from mlstream.challenge.state.events import SqlValue, check_chain, check_times, list_clocks
from mlstream.challenge.state.store import SUBMISSIONS, TABLES, Reading, intended_schema
from mlstream.challenge.submissions.files import read_submission


def audit_challenge(
    state: Reading, folder: OrganiserFolder, head: str | None = None, *, files: bool = False
) -> AuditReport:
    """Check the state of a challenge: what is wrong, and what looks like an attack.

    `head` is the hash of an event that the log once ended with, from an earlier audit, and must still hold. With
    `files`, all that teams sent is read again, which takes time that grows with its bytes.
    """
    stored = _stored(state)
    checks = (
        check_chain(state.events()),
        _find_head(state, head),
        check_times(state.events()),
        _compare_schema(state),
        state.damages(),
        _compare_tables(state),
        _compare_days(state),
        _compare_files(state, folder),
        _compare_stored(stored, folder, files=files),
    )
    problems = tuple(problem for check in checks for problem in check)
    flags = (
        *list_clocks(state.events()),
        *_flag_submissions(state, stored, folder, files=files),
        *_flag_files(state, folder),
    )
    return AuditReport(not problems, problems, flags, state.head().head)


def _find_head(state: Reading, head: str | None) -> Iterator[str]:
    """Find an event by its hash: a log without its end, or an older copy of it, is whole by itself."""
    if head is not None and not state.first("SELECT 1 FROM events WHERE hash = ?", head):
        yield f"no event has the hash {head}: the log was cut off, replaced by an older copy, or written again"


def _compare_schema(state: Reading) -> Iterator[str]:
    """Compare definitions, not names: a trigger that does nothing may be called as the one that guards a table."""
    found, intended = state.schema(), intended_schema()
    for kind, name in sorted(found.keys() | intended.keys()):
        if (kind, name) not in found:
            yield f"the {kind} {name!r} is missing from the state"
        elif (kind, name) not in intended:
            yield f"the {kind} {name!r} does not belong to the state"
        elif found[kind, name] != intended[kind, name]:
            yield f"the {kind} {name!r} has another definition than the one it was made with"


def _compare_tables(state: Reading) -> Iterator[str]:
    """Compare the rows of all tables with the events that added them."""
    logged: dict[str, dict[int, dict[str, SqlValue]]] = {name: {} for name in TABLES}
    for event in state.events():
        try:
            row = json.loads(event.content)
            logged[event.kind][row.pop("rowid")] = row
        except (ValueError, KeyError, AttributeError, TypeError):
            yield f"event {event.id} does not hold a row"
    for name, expected in logged.items():
        found = {row["place"]: dict(row) for row in state.rows(f"SELECT rowid AS place, * FROM {name}")}  # noqa: S608
        for place in sorted(found.keys() | expected.keys()):
            if problem := _compare_rows(found.get(place), expected.get(place)):
                yield f"row {place} of {name} {problem}"


def _compare_days(state: Reading) -> Iterator[str]:
    """Compare the day that each submission counts on with its time, which is in UTC."""
    for number, day, time in state.rows("SELECT id, day, time FROM submissions WHERE day != substr(time, 1, 10)"):
        yield f"submission {number} counts on the day {day}, but was sent at {time}"


def _compare_rows(found: dict[str, SqlValue] | None, expected: dict[str, SqlValue] | None) -> str | None:
    if found is None or expected is None:
        return "is missing" if found is None else "is not in the log"
    place = found.pop("place")
    # The number of a row is drawn when it is added, so that its event holds it as the place.
    return None if found in (expected, {"id": place} | expected) else "has changed"


def _compare_files(state: Reading, folder: OrganiserFolder) -> Iterator[str]:
    created = state.first("SELECT files FROM creations")
    try:
        files = json.loads(created["files"] if created else "").items()
    except (ValueError, AttributeError):
        yield "the log does not begin with the files of the challenge"
        return
    for name, digest in files:
        if not is_plain(folder.path / name) or sha256_of(folder.path / name) != digest:
            yield f"{name} has changed since the challenge was created"


def _compare_stored(stored: Mapping[str, _Stored], folder: OrganiserFolder, *, files: bool) -> Iterator[str]:
    for digest, one in stored.items():
        path = folder.submissions / digest
        if not is_plain(path):
            yield f"the stored submission {digest} is missing"
        elif path.stat().st_size != one.n_bytes or (files and sha256_of(path) != digest):
            yield f"the stored submission {digest} has changed"


def _flag_submissions(
    state: Reading, stored: Mapping[str, _Stored], folder: OrganiserFolder, *, files: bool
) -> Iterator[str]:
    """List the flags that were recorded with scores; with `files`, also those that are found now.

    Versions before flags have scored some, and they are worth another look when the detector learns more.
    """
    reasons: dict[int, str] = {row["submission"]: row["reason"] for row in state.rows("SELECT * FROM flags")}
    scorer = Scorer(folder)
    for digest, one in stored.items() if files else ():
        path = folder.submissions / digest
        # A file that was not read yet may hold anything; changes of it, or of the truth, are problems of their own.
        with suppress(ValueError, OSError):
            prob = read_submission(read_bounded(path, one.n_bytes), scorer.layout)
            if reason := looks_like_decoding(prob, scorer.config.eps_public):
                reasons.update(dict.fromkeys(one.numbers, reason))
    for number, reason in sorted(reasons.items()):
        yield f"submission {number}: {reason}"


def _flag_files(state: Reading, folder: OrganiserFolder) -> Iterator[str]:
    logged = {row["sha256"] for row in state.rows("SELECT sha256 FROM submissions")}
    for path in sorted(folder.submissions.iterdir()):
        if path.name not in logged:
            yield f"the file {path.name}, which is in no event: a process died too early, or the log was set back"


class _Stored(NamedTuple):
    """A stored file, as the state has it."""

    n_bytes: int
    numbers: list[int]  # Of the submissions that are these bytes.


def _stored(state: Reading) -> dict[str, _Stored]:
    """Return the files that must be stored, by their hashes."""
    rows = state.rows(
        f"SELECT s.id, s.sha256, s.n_bytes FROM {SUBMISSIONS} WHERE r.submission IS NULL ORDER BY s.id"  # noqa: S608
    )
    found: dict[str, _Stored] = {}
    for number, digest, n_bytes in rows:
        found.setdefault(digest, _Stored(n_bytes, [])).numbers.append(number)
    return found
