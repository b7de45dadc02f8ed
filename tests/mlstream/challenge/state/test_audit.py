"""The log proves itself: whoever changes, adds, removes or reorders anything is found out."""

# ruff: noqa: S608 - names of tables are our own
import json
import shutil
import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import ScoringFailed, StateFailed
from mlstream.challenge.state.events import check_chain, check_times, list_clocks, next_event
from mlstream.challenge.state.store import TABLES, intended_schema
from tests.loops import check_all
from tests.mlstream.challenge.challenges import START, Clock, draw, layout_of, make_challenge
from tests.mlstream.challenge.sample_files import as_csv


@pytest.fixture
def challenge(tmp_path):
    with make_challenge(tmp_path / "org") as made:
        ada, bob = made.join("Ada"), made.join("Bob")
        for seed in range(3):
            made.submit(draw(made, seed), ada)
        made.submit(draw(made, 3), bob)
        made.select(ada, [2])
        yield made


def tamper(challenge, *statements):
    """Change the file of the state as one who may write it: without its triggers."""
    with sqlite3.connect(challenge.folder.state) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
    connection.close()


def decoding(layout):
    """Return a submission whose score tells the labels of 24 rows."""
    prob = np.full((len(layout.keys), 2), 0.5)
    prob[:24, 0] = 1 / (1 + np.exp(-(2.0 ** np.arange(-12, 12) / 1e3)))
    return prob


def test_a_log_that_nobody_touched_is_whole(challenge):
    report = challenge.audit()
    assert (report.is_whole, report.problems, report.flags) == (True, (), ())
    challenge.close()
    assert challenge.audit().head == challenge.ranking().head != report.head


def test_what_was_tampered_with_is_named(challenge, tmp_path):
    def check(case):
        number, (statement, problem) = case
        folder = shutil.copytree(challenge.folder.path, tmp_path / str(number))
        with Challenge(folder, clock=Clock()) as copy:
            assert copy.audit().is_whole
            tamper(copy, statement)
            report = copy.audit()
        assert not report.is_whole
        assert any(one.startswith(problem) for one in report.problems), report.problems

    check_all(
        enumerate(
            [
                (
                    "UPDATE events SET content = replace(content, 'Bob', 'Eve') WHERE kind = 'teams'",
                    "event 3 has changed since",
                ),
                (
                    "UPDATE events SET time = '2026-02-01T00:00:00.000000+00:00' WHERE id = 4",
                    "event 4 has changed since",
                ),
                ("DELETE FROM events WHERE id = 5", "event 5 is missing"),
                ("DELETE FROM events WHERE id = (SELECT MAX(id) FROM events)", "row 1 of selections is not in the log"),
                ("UPDATE scores SET reported = -9 WHERE submission = 4", "row 4 of scores has changed"),
                ("DELETE FROM submissions WHERE id = 2", "row 2 of submissions is missing"),
                ("UPDATE submissions SET day = '2000-01-01'", "row 1 of submissions has changed"),
                ("UPDATE submissions SET id = 77 WHERE id = 1", "row 77 of submissions is not in the log"),
                ("INSERT INTO merges VALUES ('a', 'b', 'c')", "row 1 of merges is not in the log"),
                ("UPDATE teams SET token_hash = 'x' WHERE name = 'Bob'", "row 2 of teams has changed"),
            ]
        ),
        check,
    )


def test_a_log_that_was_written_again_has_another_head(challenge):
    head = challenge.audit().head
    with challenge._store.read() as state:
        rows = [(one.time, one.kind, json.loads(one.content)) for one in state.events()]
    last = None
    for time, kind, row in rows:
        last = next_event(last, time, kind, row if row.get("name") != "Bob" else row | {"name": "Eve"})
    assert last.hash != head


def test_an_older_copy_and_a_log_without_its_end_lack_the_head_that_was_noted(challenge, tmp_path):
    old, head = tmp_path / "old.sqlite", challenge.audit().head
    connection = sqlite3.connect(challenge.folder.state)
    connection.execute("VACUUM INTO ?", [str(old)])
    connection.close()
    challenge.submit(draw(challenge, 7), challenge.join("Eve"))
    noted = challenge.audit().head
    assert challenge.audit(head).is_whole
    assert challenge.audit(noted).is_whole
    challenge.shut_down()
    for path in challenge.folder.path.glob("state.sqlite*"):
        path.unlink()
    old.rename(challenge.folder.state)
    assert challenge.audit().is_whole
    # The file that Eve sent is still there.
    assert any("is in no event" in flag for flag in challenge.audit().flags)
    assert any(noted in problem for problem in challenge.audit(noted).problems)


def test_tables_that_no_trigger_guards_any_more_are_named(challenge):
    tamper(challenge)
    problems = challenge.audit().problems
    assert "the trigger 'scores_no_UPDATE' is missing from the state" in problems
    assert len(problems) == 2 * (len(TABLES) + 1)


def test_every_definition_in_the_state_is_compared(challenge):
    connection = sqlite3.connect(challenge.folder.state)
    connection.executescript(
        "DROP TRIGGER scores_no_UPDATE; DROP INDEX by_hash;"
        "CREATE TRIGGER scores_no_UPDATE BEFORE UPDATE ON scores BEGIN SELECT 1; END;"
        "CREATE TRIGGER more AFTER INSERT ON submissions BEGIN DELETE FROM notes; END;"
        "CREATE TABLE notes (id INTEGER); CREATE INDEX by_note ON notes (id); CREATE VIEW best AS SELECT * FROM scores;"
    )
    connection.close()
    assert set(challenge.audit().problems) == {
        "the trigger 'scores_no_UPDATE' has another definition than the one it was made with",
        "the index 'by_hash' is missing from the state",
        "the trigger 'more' does not belong to the state",
        "the table 'notes' does not belong to the state",
        "the index 'by_note' does not belong to the state",
        "the view 'best' does not belong to the state",
    }


def chain(*times_and_kinds):
    """Return a log of such events, whose hashes are right."""
    last, events = None, []
    for time, kind in times_and_kinds:
        last = next_event(last, time, kind, {})
        events.append(last)
    return events


def define(challenge, index, sql):
    """Let SQLite believe that an index was made by another statement."""
    with sqlite3.connect(challenge.folder.state) as connection:
        (version,) = connection.execute("PRAGMA schema_version").fetchone()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, index))
        connection.execute(f"PRAGMA schema_version = {version + 1}")
    connection.close()


@pytest.mark.parametrize("index", ["by_team_and_day", "by_score"])
def test_an_index_without_its_rows_hides_neither_scores_nor_queries(challenge, index):
    _, sql = intended_schema()["index", index]
    define(challenge, index, f"{sql} WHERE 0")
    with sqlite3.connect(challenge.folder.state) as connection:
        connection.execute(f"REINDEX {index}")
    connection.close()
    define(challenge, index, sql)
    with Challenge.open(challenge.folder.path, clock=Clock()) as copy:
        assert f"row 1 missing from index {index}" in copy.audit().problems


def test_times_go_back_only_where_the_organiser_set_the_clock():
    one, two, three = (f"2026-01-0{day}T00:00:00+00:00" for day in (1, 2, 3))
    events = chain((one, "a"), (three, "a"), (two, "clocks"), (two, "a"), (one, "a"))
    assert [line.partition(" is")[0] for line in check_times(events)] == ["event 5"]
    assert list(list_clocks(events)) == [
        "event 3: the organiser accepted a clock that showed 2026-01-02 00:00:00 UTC, after an event of "
        "2026-01-03 00:00:00 UTC"
    ]


def test_a_submission_counts_on_the_day_of_its_time(challenge):
    """A log that was written again, whole by its hashes, cannot move a submission to another day."""
    with challenge._store.write(START) as state:
        state.add("submissions", team="a", sha256="b", n_bytes=1, file_name="c", day="2026-02-28")
    assert any(
        one.startswith("submission 5 counts on the day 2026-02-28, but was sent at 2026-03-01T12")
        for one in challenge.audit().problems
    )


@pytest.mark.parametrize("files", ["", "{", "[]", "1"])
def test_a_log_whose_first_event_is_damaged_is_audited_to_its_end(challenge, files):
    tamper(challenge, f"UPDATE creations SET files = '{files}'", "DELETE FROM scores WHERE submission = 1")
    problems = challenge.audit().problems
    assert {"the log does not begin with the files of the challenge", "row 1 of scores is missing"} <= {*problems}


def test_a_state_that_is_no_text_is_named_as_one_that_cannot_be_read(challenge):
    challenge.shut_down()
    with sqlite3.connect(challenge.folder.state) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    content = challenge.folder.state.read_bytes()
    assert b"CREATE TRIGGER scores_no_UPDATE" in content
    changed = content.replace(b"CREATE TRIGGER scores_no_UPDATE", b"CR\xc5ATE TRIGGER scores_no_UPDATE")
    challenge.folder.state.write_bytes(changed)
    with pytest.raises(StateFailed, match="must be the state of a challenge"):
        challenge.audit()


def test_tables_refuse_changes_and_deletions(challenge):
    challenge.close()
    connection = sqlite3.connect(challenge.folder.state)
    for table in [*TABLES, "events"]:
        if connection.execute("SELECT 1 FROM " + table).fetchone():
            for statement in ("DELETE FROM " + table, "UPDATE " + table + " SET time = 'x'"):
                with pytest.raises(sqlite3.IntegrityError, match="only grows"):
                    connection.execute(statement)
    connection.close()


def test_stored_files_and_those_of_the_challenge_are_compared_with_their_hashes(challenge):
    one, other, link, _ = sorted(challenge.folder.submissions.iterdir())
    one.write_bytes(one.read_bytes() + b"\n")
    other.unlink()
    link.symlink_to(link.rename(challenge.folder.path / "elsewhere"))
    truth = challenge.folder.truth / "02.npz"
    truth.write_bytes(truth.read_bytes()[:-1])
    challenge.folder.salt.write_bytes(bytes(31) + b"x")
    challenge.folder.stream.write_bytes(b"of others")
    assert set(challenge.audit().problems) == {
        "salt.key has changed since the challenge was created",
        "stream.npz has changed since the challenge was created",
        "truth/02.npz has changed since the challenge was created",
        f"the stored submission {one.name} has changed",
        f"the stored submission {other.name} is missing",
        f"the stored submission {link.name} is missing",
    }


def forge(challenge, submission):
    """Change a stored submission to another one of the same size; return its hash."""
    with challenge._store.read() as state:
        digest = state.rows("SELECT sha256 FROM submissions WHERE id = ?", submission)[0]["sha256"]
    path = challenge.folder.submissions / digest
    content = path.read_bytes()
    path.write_bytes(content.replace(b",0.1", b",0.9"))
    assert path.stat().st_size == len(content)
    return digest


def test_another_file_of_the_same_size_is_found_by_reading_all(challenge):
    digest = forge(challenge, 1)
    assert challenge.audit().is_whole
    assert challenge.audit(files=True).problems == (f"the stored submission {digest} has changed",)


def test_no_file_is_scored_that_is_not_the_one_sent(tmp_path):
    with make_challenge(tmp_path / "org", processes=True) as challenge:
        challenge.submit(draw(challenge), challenge.join("Ada"))
        digest = forge(challenge, 1)
        with pytest.raises(ScoringFailed, match=f"{digest} must be the file that its team sent"):
            challenge.close(early=True)
        with challenge._store.read() as state:
            assert not state.count("SELECT COUNT(*) FROM final_scores")


def test_a_challenge_that_an_older_version_began_goes_on(challenge):
    """Its state has fewer tables, its log begins with fewer files, and submissions were scored without a flag."""
    token, layout = challenge.join("Eve"), layout_of(challenge)
    number = challenge.submit(as_csv(layout, decoding(layout)), token).submission
    challenge.shut_down()
    connection = sqlite3.connect(challenge.folder.state)
    connection.executescript(
        "DROP TRIGGER creations_no_UPDATE; DROP TRIGGER events_no_UPDATE; DROP TRIGGER events_no_DELETE;"
        "DELETE FROM events WHERE kind = 'flags'; DROP TABLE flags; PRAGMA user_version = 1;"
    )
    files = json.loads(connection.execute("SELECT files FROM creations").fetchone()[0])
    older = json.dumps({name: one for name, one in files.items() if name not in {"salt.key", "stream.npz"}})
    connection.execute("UPDATE creations SET files = ?", [older])
    last = None
    for row in connection.execute("SELECT time, kind, content FROM events ORDER BY id").fetchall():
        time, kind, content = row
        content = json.loads(content) | ({"files": older} if kind == "creations" else {})
        last = next_event(last, time, kind, content)
        connection.execute("UPDATE events SET content = ?, previous = ?, hash = ? WHERE id = ?", [*last[3:], last.id])
    for table, act in (("creations", "UPDATE"), ("events", "UPDATE"), ("events", "DELETE")):
        connection.execute(intended_schema()["trigger", f"{table}_no_{act}"][1])
    connection.commit()
    connection.close()
    report = challenge.audit()
    assert (report.is_whole, report.problems, report.flags) == (True, (), ())
    assert [flag.partition(":")[0] for flag in challenge.audit(files=True).flags] == [f"submission {number}"]
    challenge.submit(draw(challenge, 9), token)
    assert challenge.audit().is_whole


def test_submissions_made_to_learn_labels_are_flagged_and_others_are_not(challenge):
    token, layout = challenge.join("Eve"), layout_of(challenge)
    number = challenge.submit(as_csv(layout, decoding(layout)), token).submission
    challenge.submit(as_csv(layout, np.full((len(layout.keys), 2), 0.5)), token)
    for files in (False, True):
        report = challenge.audit(files=files)
        assert report.is_whole
        assert [flag.partition(":")[0] for flag in report.flags] == [f"submission {number}"]


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers()), min_size=2, max_size=6), st.data())
def test_every_change_of_a_chain_is_found(rows, data):
    events, last = [], None
    for row in rows:
        last = next_event(last, "t", "k", row)
        events.append(last)
    assert not list(check_chain(events))
    place = data.draw(st.integers(0, len(events) - 1))
    field = data.draw(st.sampled_from(["time", "kind", "content", "previous", "hash"]))
    changed = events[place]._replace(**{field: "x" + getattr(events[place], field)})
    assert list(check_chain([*events[:place], changed, *events[place + 1 :]]))
    if place < len(events) - 1:
        assert list(check_chain([*events[:place], *events[place + 1 :]]))
        swapped = list(events)
        swapped[place : place + 2] = swapped[place + 1], swapped[place]
        assert list(check_chain(swapped))
