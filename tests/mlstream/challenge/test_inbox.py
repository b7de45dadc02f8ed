"""Submissions by folders: the protocol of both sides, and nothing but plain files of a team's own."""

import errno
import io
import json
import os
import re
import sys
import threading

import pytest

from mlstream.challenge import inbox as inbox_module
from mlstream.challenge.client import RemoteChallenge
from mlstream.challenge.errors import (
    BudgetSpent,
    ChallengeError,
    ClockRanBack,
    InvalidSubmission,
    PhaseClosed,
    StateFailed,
    UnknownToken,
    from_reply,
    to_reply,
)
from mlstream.challenge.inbox import Inbox, send
from mlstream.challenge.scoring import pool
from mlstream.challenge.scoring import process as scoring
from mlstream.challenge.state.teams import team_of_token
from tests.mlstream.challenge.challenges import START, draw, make_challenge


@pytest.fixture
def challenge(tmp_path):
    with make_challenge(tmp_path / "org", rules="queries_per_day = 1") as made:
        yield made


@pytest.fixture
def inbox(tmp_path):
    (tmp_path / "inbox").mkdir(0o700)
    return tmp_path / "inbox"


def put(inbox, token, content, *, team=None, name="a.csv"):
    folder = inbox / (team or team_of_token(token))
    folder.mkdir()
    (folder / "token").write_text(token)
    (folder / name).write_bytes(content)
    return folder


def reply_in(folder):
    assert [path.name for path in folder.iterdir()] == ["reply.json"]
    return json.loads((folder / "reply.json").read_text())


def test_a_folder_is_scored_and_holds_the_reply_and_nothing_else(challenge, inbox):
    token, other = challenge.join("Ada"), challenge.join("Bob")
    folders = [put(inbox, one, draw(challenge)) for one in (token, other)]
    box = Inbox(challenge, inbox)
    assert len(list(box.empty())) == 2
    (expected,) = {row.score for row in challenge.leaderboard()}
    replies = sorted(map(reply_in, folders), key=lambda reply: reply["submission"])
    assert replies == [{"submission": one, "query": 1, "remaining": 0, "score": expected} for one in (1, 2)]
    # What has a reply is left alone.
    assert list(box.empty()) == []


@pytest.mark.parametrize("kind", ["spent", "invalid", "token", "other team", "too many", "no file"])
def test_every_refusal_is_a_reply(challenge, inbox, kind):
    token, other = challenge.join("Ada"), challenge.join("Bob")
    if kind == "spent":
        challenge.submit(draw(challenge, 1), token)
    team = team_of_token(token)
    typed = {"token": token[:-3] + "xyz", "other team": other}.get(kind, token)
    folder = put(inbox, typed, b"nonsense" if kind == "invalid" else draw(challenge), team=team)
    if kind == "too many":
        (folder / "b.csv").touch()
    if kind == "no file":
        (folder / "a.csv").unlink()
    list(Inbox(challenge, inbox).empty())
    reply = reply_in(folder)
    codes = {"spent": ("budget_spent", 3), "token": ("unknown_token", 5), "other team": ("unknown_token", 5)}
    assert (reply["error"], reply["exit_status"]) == codes.get(kind, ("invalid_submission", 2))
    assert challenge.status(token).queries_used == (kind == "spent")


@pytest.mark.parametrize("kind", ["file link", "token link", "hard link", "pipe", "folder"])
def test_links_and_anything_but_plain_files_are_refused(challenge, inbox, tmp_path, kind):
    token = challenge.join("Ada")
    folder = put(inbox, token, draw(challenge))
    secret = tmp_path / "secret"
    secret.write_text("the organiser's")
    name = "token" if kind == "token link" else "a.csv"
    (folder / name).unlink()
    if kind.endswith("link") and kind != "hard link":
        (folder / name).symlink_to(secret)
    elif kind == "hard link":
        os.link(secret, folder / name)
    elif kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).mkdir()
    list(Inbox(challenge, inbox).empty())
    text = (folder / "reply.json").read_text()
    kinds = {"hard link": "one with several names", "pipe": "a named pipe", "folder": "a folder"}
    assert re.search(f"must be a plain file.* Got {kinds.get(kind, 'a link')}", text)
    assert "organiser's" not in text
    assert secret.read_text() == "the organiser's"


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_a_team_sends_plain_files_only(challenge, inbox, tmp_path, kind):
    token, path = challenge.join("Ada"), tmp_path / "sent"
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        {"pipe": os.mkfifo, "folder": os.mkdir}[kind](path)
    client = RemoteChallenge("http://127.0.0.1:1", token)
    for send_it in (
        lambda: inbox_module.send(path, inbox, token, timeout_s=0),
        lambda: client.submit(path),
        lambda: challenge.submit(path, token),
    ):
        with pytest.raises(OSError, match=f"sent must be a plain file. Got a (named )?{kind}"):
            send_it()
    assert not list(inbox.iterdir())


def test_what_is_no_folder_of_a_team_is_reported_once_and_left_where_it_is(challenge, inbox, tmp_path):
    token = challenge.join("Ada")
    real = put(tmp_path, token, draw(challenge))
    (inbox / team_of_token(token)).symlink_to(real)
    (inbox / "..x").mkdir()
    (inbox / "README").touch()
    (inbox / ("0" * 12)).touch()
    box = Inbox(challenge, inbox)
    lines = list(box.empty())
    assert len(lines) == 3
    assert all("refused" in line for line in lines)
    assert list(box.empty()) == []
    assert {path.name for path in real.iterdir()} == {"token", "a.csv"}
    assert challenge.status(token).queries_used == 0


def test_a_submission_stays_when_the_disk_of_the_organiser_fails(challenge, inbox, monkeypatch):
    folder = put(inbox, challenge.join("Ada"), draw(challenge))

    def fail(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StateFailed, match=r"org must be on a disk with space\. Got this error: No space left"):
            list(Inbox(challenge, inbox).empty())
    assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "token"]
    assert len(list(Inbox(challenge, inbox).empty())) == 1
    assert reply_in(folder)["query"] == 1


@pytest.mark.parametrize("fails", ["Scorer", "_score"])
def test_a_submission_stays_when_the_truth_cannot_be_read(challenge, inbox, monkeypatch, fails):
    folder = put(inbox, challenge.join("Ada"), draw(challenge))

    def fail(*arguments, **options):
        raise OSError(errno.EIO, "Input/output error", "truth/01.npz")

    with monkeypatch.context() as patch:

        def ask(process, request):
            replies = io.StringIO()
            patch.setattr(sys, "argv", ["", challenge.folder.path])
            patch.setattr(sys, "stdin", io.StringIO(request))
            patch.setattr(sys, "stdout", replies)
            scoring.main()
            return json.loads(replies.getvalue())

        patch.setattr(os, "nice", lambda step: None)
        patch.setattr(scoring, "_bound_memory", lambda scorer: None)
        patch.setattr(scoring, fails, fail)
        patch.setattr(pool, "_ask", ask)
        patch.setattr(challenge, "_pool", pool.ScoringPool(challenge.folder))
        with pytest.raises(StateFailed, match=r"a disk that can be read\. Got this error: truth/01\.npz"):
            list(Inbox(challenge, inbox).empty())
        challenge._pool.close()
    assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "token"]
    assert len(list(Inbox(challenge, inbox).empty())) == 1
    assert reply_in(folder)["query"] == 1


def test_a_submission_stays_when_the_state_cannot_be_written(challenge, inbox, monkeypatch):
    folder = put(inbox, challenge.join("Ada"), draw(challenge))

    def fail(*arguments, **options):
        raise StateFailed("state.sqlite must be the state of a challenge, on a disk with space.")

    with monkeypatch.context() as patch:
        patch.setattr(challenge, "submit", fail)
        with pytest.raises(StateFailed, match="on a disk with space"):
            list(Inbox(challenge, inbox).empty())
    assert len(list(Inbox(challenge, inbox).empty())) == 1
    assert reply_in(folder)["query"] == 1


def test_a_team_sends_and_waits_for_the_reply(challenge, inbox, tmp_path):
    token, done = challenge.join("Ada"), threading.Event()
    contents = [draw(challenge), draw(challenge), draw(challenge, 1)]
    thread = threading.Thread(target=watch, args=(Inbox(challenge, inbox), done))
    thread.start()
    try:
        for content in contents[:2]:
            (tmp_path / "mine.csv").write_bytes(content)
            reply = send(tmp_path / "mine.csv", inbox, token, timeout_s=60)
            assert (reply["submission"], reply["query"]) == (1, 1)
        (tmp_path / "mine.csv").write_bytes(contents[2])
        with pytest.raises(BudgetSpent) as caught:
            send(tmp_path / "mine.csv", inbox, token, timeout_s=60)
    finally:
        done.set()
        thread.join()
    assert caught.value.reset == challenge.status(token).reset
    assert [path.name for path in inbox.iterdir()] == [team_of_token(token)]


def watch(box, done):
    while not done.wait(0.01):
        list(box.empty())


def test_a_submission_that_waits_is_not_replaced(challenge, inbox, tmp_path):
    token = challenge.join("Ada")
    (tmp_path / "mine.csv").write_bytes(draw(challenge))
    with pytest.raises(TimeoutError, match="Got no reply; it may come later"):
        send(tmp_path / "mine.csv", inbox, token, timeout_s=0)
    with pytest.raises(FileExistsError, match="an earlier submission waits"):
        send(tmp_path / "mine.csv", inbox, token, timeout_s=0)
    assert len(list(Inbox(challenge, inbox).empty())) == 1
    assert "score" in reply_in(inbox / team_of_token(token))


@pytest.mark.parametrize(
    "error",
    [BudgetSpent("m", START), *(kind("m") for kind in (InvalidSubmission, PhaseClosed, UnknownToken, ClockRanBack))],
)
def test_an_error_goes_through_a_reply(error):
    again = from_reply(json.loads(json.dumps(to_reply(error))))
    assert (type(again), str(again), again.exit_status) == (type(error), "m", error.exit_status)
    assert getattr(again, "reset", None) == getattr(error, "reset", None)
    assert type(from_reply({"error": "else"})) is ChallengeError


@pytest.mark.parametrize("mode", [0o755, 0o1777, 0o740])
def test_an_inbox_that_others_can_list_is_refused_for_tokens_lie_in_it(challenge, inbox, mode):
    inbox.chmod(mode)
    with pytest.raises(PermissionError, match="chmod 1733"):
        Inbox(challenge, inbox)
    inbox.chmod(0o1733)
    assert list(Inbox(challenge, inbox).empty()) == []


@pytest.mark.parametrize(
    ("reply", "found"),
    [("3", "3 instead"), ("[]", r"\[\] instead"), ("nothing", "line 1 column 1"), ("[" * 60_000, "recursion|line 1")],
)
def test_a_reply_that_is_no_object_is_an_error_of_one_line(tmp_path, reply, found):
    (tmp_path / inbox_module.REPLY).write_text(reply)
    with pytest.raises(ValueError, match=rf"must be a JSON object\. Got .*{found}.*\.$"):
        inbox_module._wait(tmp_path, 1)
