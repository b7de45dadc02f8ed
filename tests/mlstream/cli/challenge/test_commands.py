"""The commands of a challenge: what they print, and how they end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mlstream.challenge.clock import utc_now
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import ChallengeError
from mlstream.challenge.state.teams import team_of_token
from mlstream.cli import app
from mlstream.formats import save
from mlstream.generators.synthetic.environments import environment_stream
from tests.mlstream.challenge.challenges import draw, make_challenge, score_in_this_process
from tests.mlstream.cli.commands import invoke

ROOT = Path(__file__).parents[4]
RULES = "queries_per_day = 2"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = make_challenge(tmp_path / "org", rules=RULES, begun=utc_now())
    for seed in range(3):
        (tmp_path / f"{seed}.csv").write_bytes(draw(made, seed))
    (tmp_path / "bad.csv").write_text("nonsense")
    made.shut_down()
    score_in_this_process(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "org"


def run(*arguments):
    done = invoke("challenge", *arguments)
    assert done.exit_code == 0, done.output or done.exception
    return done.stdout


def fails(*arguments):
    """Return exit status and message of a command, as `main` would show them."""
    done = invoke("challenge", *arguments)
    assert isinstance(done.exception, ValueError | OSError), done.output
    return getattr(done.exception, "exit_status", 1), str(done.exception)


def join(folder, team):
    token = run("join", folder, team).splitlines()[-1]
    (folder.parent / f"{team}.token").write_text(token + "\n")
    return token


def test_a_challenge_from_the_first_team_to_the_release(folder):
    for team in ("Ada", "Bob"):
        join(folder, team)
    reply = json.loads(run("submit", "0.csv", "--folder", folder, "--token-file", "Ada.token", "--json"))
    assert reply.keys() == {"submission", "query", "remaining", "score"}
    assert (reply["submission"], reply["query"], reply["remaining"]) == (1, 1, 1)
    assert f"on validation is {reply['score']}." in run(
        "submit", "0.csv", "--folder", folder, "--token-file", "Ada.token"
    )
    run("submit", "1.csv", "--folder", folder, "--token-file", "Bob.token")
    run("submit", "1.csv", "--folder", folder, "--token-file", "Ada.token")
    assert fails("submit", "2.csv", "--folder", folder, "--token-file", "Ada.token")[0] == 3
    run("select", 1, "--folder", folder, "--token-file", "Ada.token")
    status = json.loads(run("status", "--folder", folder, "--token-file", "Ada.token", "--json"))
    assert (status["team"], status["remaining"], status["selected"]) == ("Ada", 0, [1])
    assert "selected" in run("status", "--folder", folder, "--token-file", "Ada.token")
    board = json.loads(run("leaderboard", folder, "--json"))
    assert sorted(row["team"] for row in board) == ["Ada", "Bob"]
    shown = run("leaderboard", folder)
    assert "Ada" in shown
    assert "agree" in run("audit", folder, "--files", "--head", shown.split()[-1])
    ranking = json.loads(run("close", folder, "--json"))
    shown = run("close", folder)
    assert ranking["head"] in shown
    assert "Robustness" in shown
    assert "truth.csv" in run("release", folder, "--to", "released")
    assert "agree" in run("audit", folder)


def test_the_exit_status_says_what_was_wrong(folder):
    join(folder, "Ada")
    submit = ("submit", "0.csv", "--folder", folder, "--token-file", "Ada.token")
    assert fails("submit", "bad.csv", *submit[2:]) == (
        2,
        "bad.csv, line 1: the columns must be row_id and the 2 scored labels. Got 'nonsense'; cells are separated by "
        "commas.",
    )
    Path("wrong.token").write_text("mlc-x")
    assert fails(*submit[:-1], "wrong.token")[0] == 5
    assert fails("submit", "absent.csv", *submit[2:])[0] == 1
    run("close", folder)
    assert fails(*submit)[0] == 4
    assert fails("select", 1, *submit[2:])[0] == 4


@pytest.mark.slow
def test_main_ends_with_the_status_of_the_error(folder):
    done = subprocess.run(
        [sys.executable, "-m", "mlstream", "challenge", "submit", "0.csv", "--folder", folder],
        env=os.environ | {"MLSTREAM_CHALLENGE_TOKEN": "mlc-x", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith("Error: The token must be that of a team")


def test_a_token_comes_from_a_file_the_environment_or_a_prompt(folder, monkeypatch):
    token = join(folder, "Ada")
    typed = CliRunner().invoke(app, ["challenge", "status", "--folder", str(folder)], input=f"{token}\n")
    assert typed.exit_code == 0, typed.exception
    assert token not in typed.output
    monkeypatch.setenv("MLSTREAM_CHALLENGE_TOKEN", token)
    assert "Team 'Ada'" in run("status", "--folder", folder)


def test_one_way_to_submit_must_be_named(folder):
    token = ("--token-file", "x")
    for ways in ((), ("--folder", folder, "--inbox", ".")):
        assert "One of --url, --folder, --inbox must be given" in fails("submit", "0.csv", *ways, *token)[1]
    assert "One of --watch and --once must be given" in fails("score", folder, "--inbox", ".")[1]


def test_an_inbox_is_emptied_once(folder):
    token = join(folder, "Ada")
    Path("inbox").mkdir(0o700)
    sent = invoke("challenge", "submit", "0.csv", "--inbox", "inbox", "--token-file", "Ada.token", "--timeout", 0)
    assert isinstance(sent.exception, TimeoutError)
    assert "submission 1, query 1" in run("score", folder, "--inbox", "inbox", "--once")
    reply = json.loads((Path("inbox") / team_of_token(token) / "reply.json").read_text())
    assert reply["submission"] == 1


def test_what_a_crash_left_is_completed_by_score(folder):
    token = join(folder, "Ada")
    with Challenge.open(folder) as challenge:
        challenge.reserve(folder.parent / "0.csv", token)
    Path("inbox").mkdir(0o700)
    assert "Completed 1 submissions" in run("score", folder, "--inbox", "inbox", "--once")


def test_teams_are_merged_by_name_and_invitations_printed(folder):
    for team in ("Ada", "Bob"):
        join(folder, team)
    assert "both tokens are valid" in run("merge", folder, "Ada", "Bob")
    with Challenge.open(folder) as challenge:
        assert challenge.register("Eve", run("invite", folder).strip()).startswith("mlc-")
    assert fails("join", folder, "eve")[1].startswith("A team must have a name of its own")


def test_an_audit_looks_for_the_head_that_was_noted(folder):
    with Challenge.open(folder) as challenge:
        head = challenge.audit().head
    assert "agree" in run("audit", folder, "--head", head)
    done = invoke("challenge", "audit", folder, "--head", "f" * 64)
    assert done.exit_code == 1
    assert "no event has the hash ffff" in done.output


def test_a_broken_log_ends_the_audit_with_status_1(folder):
    join(folder, "Ada")
    (folder / "truth" / "00.npz").unlink()
    done = invoke("challenge", "audit", folder)
    assert done.exit_code == 1
    assert "Broken: truth/00.npz has changed" in done.stdout


def test_before_its_end_a_challenge_is_closed_on_demand_only(tmp_path):
    with make_challenge(tmp_path / "org", rules="development_ends = 9999-01-01T00:00:00", begun=utc_now()):
        assert "--early" in fails("close", tmp_path / "org")[1]
        assert "Head of the log" in run("close", tmp_path / "org", "--early")


def test_errors_are_of_one_kind():
    assert issubclass(ChallengeError, ValueError)


def test_create_prints_the_moments_that_days_mean(tmp_path):
    save(environment_stream(n_rows=30, seed=2**40), tmp_path / "s.npz")
    rules = 'name = "n"\nmin_rows = 20\ntimezone = "Asia/Tokyo"\nopens = 2026-03-01\nfinal_ends = 2099-03-31\n'
    (tmp_path / "challenge.toml").write_text(rules)
    printed = run(
        *("create", tmp_path / "s.npz", "--config", tmp_path / "challenge.toml"),
        *("--folder", tmp_path / "org", "--bundle", tmp_path / "pub"),
    )
    assert printed.splitlines()[:3] == [
        "Development opens: 2026-02-28 15:00 UTC (2026-03-01 00:00 in Asia/Tokyo)",
        "Development ends, selection begins: 2099-03-31 15:00 UTC (2099-04-01 00:00 in Asia/Tokyo)",
        "Selection ends: 2099-03-31 15:00 UTC (2099-04-01 00:00 in Asia/Tokyo)",
    ]
