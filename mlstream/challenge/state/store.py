"""The state of a challenge in one SQLite file: tables that only grow, and the log of all their rows.

Each row is added together with an event that holds it, in one transaction, so that tables and log cannot disagree
unless someone changed the file by other means.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sized
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from mlstream.challenge.clock import MAX_STEP, format_time
from mlstream.challenge.errors import ClockJumped, ClockRanBack, StateFailed
from mlstream.challenge.replies import LogHead
from mlstream.challenge.state.events import GENESIS, Event, SqlValue, next_event

# Kind and name of what the file holds, with its table and the statement that made it.
Schema: TypeAlias = dict[tuple[str, str], tuple[str, str | None]]

# Between two events; a challenge that nobody touched for longer asks the organiser whether its clock is right.
MAX_GAP = timedelta(days=30)

# Each submission `s` beside its scores `c` and its rejection `r`; columns of what it lacks are NULL.
SUBMISSIONS = (
    "submissions AS s LEFT JOIN scores AS c ON c.submission = s.id LEFT JOIN rejections AS r ON r.submission = s.id"
)
_VERSION = 2
_BUSY_S = 60.0
# Every row of a table but `events` is the content of an event.
TABLES = {
    "creations": "id INTEGER PRIMARY KEY CHECK (id = 1), files TEXT NOT NULL, time TEXT NOT NULL",
    "invitations": "hash TEXT PRIMARY KEY, time TEXT NOT NULL",
    "teams": "id TEXT PRIMARY KEY, name TEXT NOT NULL, folded TEXT NOT NULL UNIQUE, token_hash TEXT NOT NULL, "
    "invitation TEXT UNIQUE, time TEXT NOT NULL",
    "merges": "other TEXT PRIMARY KEY, kept TEXT NOT NULL, time TEXT NOT NULL",
    "submissions": "id INTEGER PRIMARY KEY, team TEXT NOT NULL, sha256 TEXT NOT NULL, n_bytes INTEGER NOT NULL, "
    "file_name TEXT NOT NULL, day TEXT NOT NULL, time TEXT NOT NULL",
    "scores": "submission INTEGER PRIMARY KEY, team TEXT NOT NULL, validation REAL NOT NULL, reported REAL NOT NULL, "
    "in_distribution REAL, time TEXT NOT NULL",
    "flags": "submission INTEGER PRIMARY KEY, reason TEXT NOT NULL, time TEXT NOT NULL",
    "rejections": "submission INTEGER PRIMARY KEY, message TEXT NOT NULL, time TEXT NOT NULL",
    "selections": "id INTEGER PRIMARY KEY, team TEXT NOT NULL, submissions TEXT NOT NULL, time TEXT NOT NULL",
    "closings": "id INTEGER PRIMARY KEY CHECK (id = 1), time TEXT NOT NULL",
    "final_scores": "submission INTEGER PRIMARY KEY, content TEXT NOT NULL, time TEXT NOT NULL",
    "rankings": "id INTEGER PRIMARY KEY CHECK (id = 1), content TEXT NOT NULL, time TEXT NOT NULL",
    "releases": "id INTEGER PRIMARY KEY, time TEXT NOT NULL",
    "clocks": "id INTEGER PRIMARY KEY, time TEXT NOT NULL",
}
_EVENTS = (
    "id INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL, previous TEXT NOT NULL, "
    "hash TEXT NOT NULL"
)
_ALL = {**TABLES, "events": _EVENTS}
# What triggers keep from every table.
_ACTS = ("UPDATE", "DELETE")
_INDICES = {
    "by_team_and_day": "submissions (team, day)",
    "by_hash": "submissions (sha256)",
    "by_score": "scores (team, reported, submission)",
}


class Reading:
    """A consistent view of the state, over a connection in a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, query: str, *values: SqlValue) -> list[sqlite3.Row]:
        """Return all rows of a query."""
        return self._connection.execute(query, values).fetchall()

    def first(self, query: str, *values: SqlValue) -> sqlite3.Row | None:
        """Return the first row of a query, or None."""
        row: sqlite3.Row | None = self._connection.execute(query, values).fetchone()
        return row

    def count(self, query: str, *values: SqlValue) -> int:
        """Return the number that a query begins with."""
        return int(self._connection.execute(query, values).fetchone()[0])

    def schema(self) -> Schema:
        """Return the definitions of all that the file holds, by kind and name."""
        found = self.rows("SELECT type, name, tbl_name, sql FROM sqlite_master")
        return {(kind, name): (table, sql) for kind, name, table, sql in found}

    def damages(self) -> Iterator[str]:
        """Yield what SQLite finds wrong with the file: say an index, by which rows are found, that lacks some."""
        yield from (text for (text,) in self.rows("PRAGMA integrity_check") if text != "ok")

    def last_event(self) -> Event | None:
        """Return the last event, or None."""
        row = self.first("SELECT id, time, kind, content, previous, hash FROM events ORDER BY id DESC LIMIT 1")
        return None if row is None else Event(*row)

    def head(self) -> LogHead:
        """Return the end of the log."""
        last = self.last_event()
        return LogHead(0, GENESIS) if last is None else LogHead(last.id, last.hash)

    def events(self) -> Iterator[Event]:
        """Yield all events in order."""
        for row in self._connection.execute("SELECT id, time, kind, content, previous, hash FROM events ORDER BY id"):
            yield Event(*row)


class Writing(Reading):
    """A transaction that adds rows; nobody else adds any meanwhile.

    `now` is the time by the organiser's clock; the time of the rows is never before the last event. ClockRanBack is
    raised if the clock is more than a minute before it; ClockJumped if it was long after it at `started`, since when it
    is watched. Without `started`, the clock is believed.
    """

    def __init__(self, connection: sqlite3.Connection, now: datetime, started: datetime | None) -> None:
        super().__init__(connection)
        self.now = now
        if started is not None:
            self.now = require_time(self, now, started)

    def add(self, table: str, **row: SqlValue) -> int:
        """Add a row with the time, and its event; return the number of the row."""
        row["time"] = write_time(self.now)
        names = ", ".join(row)
        cursor = self._connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks(row)})",  # noqa: S608 - names are our own
            list(row.values()),
        )
        event = next_event(self.last_event(), write_time(self.now), table, {"rowid": cursor.lastrowid} | row)
        self._connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", event)
        return int(cursor.lastrowid or 0)


class Store:
    """The file of the state, over one connection for each thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []

    def create(self) -> None:
        """Make the file with empty tables; a FileExistsError is raised if it exists: a budget is never set back."""
        self._path.touch(mode=0o600, exist_ok=False)
        with self._transaction("IMMEDIATE") as connection:
            for name in _ALL:
                _make_table(connection, name)
            connection.execute(f"PRAGMA user_version = {_VERSION}")

    @contextmanager
    def read(self) -> Iterator[Reading]:
        """Yield a view of the state."""
        with self._transaction("DEFERRED") as connection:
            yield Reading(connection)

    @contextmanager
    def write(self, now: datetime, started: datetime | None = None) -> Iterator[Writing]:
        """Yield a transaction that is committed if the block succeeds; times are those of `Writing`."""
        with self._transaction("IMMEDIATE") as connection:
            yield Writing(connection, now, started)

    def close(self) -> None:
        """Close the connections of all threads, which must be done with them."""
        while self._opened:
            self._opened.pop().close()
        self._local = threading.local()

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        if not self._path.is_file():
            raise StateFailed(f"{self._path} must hold the state of the challenge. Got no file there.")
        try:
            connection = self._connect()
            connection.execute(f"BEGIN {kind}")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                # What was not committed, say because the disk is full, is undone.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # The latter comes of damaged bytes in a message of SQLite.
            raise StateFailed(
                f"{self._path} must be the state of a challenge, on a disk with space. Got this error: {error}. "
                "Check the disk and the permissions of the folder, then run the same command again."
            ) from error

    def _connect(self) -> sqlite3.Connection:
        # SQLite's connections must not be used by a process that was forked.
        if getattr(self._local, "process", None) != os.getpid():
            connection = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            self._opened.append(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            _upgrade(connection)
            self._local.connection, self._local.process = connection, os.getpid()
        found: sqlite3.Connection = self._local.connection
        return found


def last_time(state: Reading) -> datetime | None:
    """Return the time of the last event, or None."""
    last = state.last_event()
    return None if last is None else read_time(last.time)


def after_last(state: Reading, now: datetime) -> datetime:
    """Return the time, but never one before the last event.

    ClockRanBack is raised if it is more than a minute before that.
    """
    last = last_time(state) or now
    if last - now > MAX_STEP:
        raise ClockRanBack(f"The clock must not run back by more than {MAX_STEP.seconds} s. {_describe(now, last)}")
    return max(now, last)


def require_time(state: Reading, now: datetime, started: datetime) -> datetime:
    """Return the time of the next event, as `after_last`.

    ClockJumped is raised if the clock was long after the last event when this process, which watches it, started, and
    was not set back since.
    """
    last, started = last_time(state) or started, min(started, now)
    if started - last > MAX_GAP:
        raise ClockJumped(
            f"The clock must be at most {MAX_GAP.days} days after the last event, unless the organiser confirms it. "
            f"{_describe(started, last)}"
        )
    return after_last(state, now)


def _describe(now: datetime, last: datetime) -> str:
    got, before = (format_time(time, to="seconds") for time in (now, last))
    return (
        f"Got {got}, and the last event is of {before}. Set the clock of this machine, or, if it is right, run "
        "`mlstream challenge clock ORG --accept`."
    )


def marks(values: Sized) -> str:
    """Return the placeholders of a query for so many values: ``?, ?, ?`` for three."""
    return ", ".join("?" * len(values))


def intended_schema() -> Schema:
    """Return the definitions of a state that was just created; those that SQLite adds are among them."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for name in _ALL:
            _make_table(connection, name)
        return Reading(connection).schema()


def write_time(time: datetime) -> str:
    """Write a time so that texts are ordered as times are."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def read_time(text: str) -> datetime:
    """Read a time that `write_time` wrote."""
    return datetime.fromisoformat(text)


def _upgrade(connection: sqlite3.Connection) -> None:
    """Add the tables that the state of an older version lacks; what is there stays as it is."""
    # Zero: a file that is still to be filled, or something else.
    if 0 < connection.execute("PRAGMA user_version").fetchone()[0] < _VERSION:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have been faster.
            there = {name for _, name in Reading(connection).schema()}
            for name in _ALL.keys() - there:
                _make_table(connection, name)
            connection.execute(f"PRAGMA user_version = {_VERSION}")


def _make_table(connection: sqlite3.Connection, name: str) -> None:
    """Make an empty table, with its indices and the triggers that let it only grow."""
    connection.execute(f"CREATE TABLE {name} ({_ALL[name]})")
    for act in _ACTS:
        connection.execute(
            f"CREATE TRIGGER {name}_no_{act} BEFORE {act} ON {name} BEGIN SELECT RAISE(ABORT, '{name} only grows'); END"
        )
    for index, columns in _INDICES.items():
        if columns.startswith(f"{name} "):
            connection.execute(f"CREATE INDEX {index} ON {columns}")
