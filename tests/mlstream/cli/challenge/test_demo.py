"""A challenge that is played through, and the page of its standing."""

import pytest

from mlstream.challenge.engine import Challenge
from mlstream.challenge.scoring.ranking import FinalRanking
from mlstream.cli.challenge import demo as challenge_demo
from tests.mlstream.challenge.challenges import make_challenge
from tests.mlstream.cli.commands import invoke


def test_the_board_is_written_as_a_page(tmp_path):
    make_challenge(tmp_path / "org").shut_down()
    done = invoke("challenge", "leaderboard", tmp_path / "org", "--html", tmp_path / "board.html")
    assert done.exit_code == 0, done.output or done.exception
    assert "<h1>toy</h1>" in (tmp_path / "board.html").read_text()


@pytest.mark.slow
def test_the_demo_plays_a_challenge_through(tmp_path, monkeypatch):
    monkeypatch.setattr(challenge_demo, "TEAMS", ("base-rate",))
    monkeypatch.chdir(tmp_path)
    done = invoke("challenge", "demo", "--output", "demo", "--seed", "5")
    assert done.exit_code == 0, done.output or done.exception
    ranking = FinalRanking.model_validate_json((tmp_path / "demo" / "ranking.json").read_text())
    # What knows the invariant features wins both; the base rate scores 0, but for the noise of its estimate.
    assert [row.team for row in ranking.generalisation] == [challenge_demo.REFERENCE, "base-rate"]
    assert [row.team for row in ranking.robustness] == [challenge_demo.REFERENCE, "base-rate"]
    assert ranking.generalisation[0].score < -0.05
    assert abs(ranking.generalisation[1].score) < 0.1
    assert len(ranking.environments["base-rate"]) == 8
    page = (tmp_path / "demo" / "leaderboard.html").read_text()
    assert ranking.head in page
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == [
        "bundle",
        "challenge.toml",
        "leaderboard.html",
        "organiser",
        "ranking.json",
        "submissions",
    ]
    with Challenge.open(tmp_path / "demo" / "organiser") as challenge:
        assert challenge.audit().is_whole


def test_the_demo_replaces_no_folder(tmp_path):
    assert "--output" in str(invoke("challenge", "demo", "--output", tmp_path).exception)
    assert list(tmp_path.iterdir()) == []
