"""Commands that make a challenge, check it, and play one through."""


import pytest

from mlstream import load, save
from mlstream.challenge.engine import Challenge
from mlstream.challenge.ranking import FinalRanking
from mlstream.cli import challenge_demo
from mlstream.generators import environment_stream
from tests.mlstream.cli.commands import invoke


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(environment_stream(n_rows=60, seed=7), tmp_path / "stream.npz")
    (tmp_path / "challenge.toml").write_text('name = "Toy"\nmin_rows = 50\n')
    return tmp_path


def create(*options):
    return invoke(
        "challenge",
        "create",
        "stream.npz",
        "--config",
        "challenge.toml",
        "--folder",
        "org",
        "--bundle",
        "pub",
        *options,
    )


def test_a_challenge_is_made_with_advice_on_standard_error_and_verified(files):
    done = create()
    assert done.exit_code == 0, done.output or done.exception
    assert "Warning: The stream can be made again by guessing its seed" in done.stderr
    assert "Warning" not in done.stdout
    assert (files / "pub" / "RULES.md").is_file()
    assert load(files / "org" / "stream.npz").card.name == "environments"
    done = invoke("challenge", "verify", "org", "--bundle", "pub")
    assert done.exit_code == 0, done.output or done.exception
    with (files / "pub" / "RULES.md").open("a") as file:
        file.write("x")
    assert invoke("challenge", "verify", "org").exit_code == 0
    done = invoke("challenge", "verify", "org", "--bundle", "pub")
    assert done.exit_code == 1
    assert "RULES.md" in done.stdout


def test_small_environments_need_force(files):
    (files / "challenge.toml").write_text('name = "Toy"\n')
    assert "--force" in str(create().exception)
    assert not (files / "org").exists()
    assert create("--force").exit_code == 0


def test_the_board_is_written_as_a_page(files):
    assert create().exit_code == 0
    with Challenge.open(files / "org") as challenge:
        challenge.join("bees")
    done = invoke("challenge", "leaderboard", "org", "--html", "board.html")
    assert done.exit_code == 0, done.output or done.exception
    assert "<h1>Toy</h1>" in (files / "board.html").read_text()


def test_the_demo_plays_a_challenge_through(tmp_path, monkeypatch):
    monkeypatch.setattr(challenge_demo, "TEAMS", ("base-rate",))
    done = invoke("challenge", "demo", "--output", tmp_path / "demo", "--seed", "5")
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
    assert "--output" in str(invoke("challenge", "demo", "--output", tmp_path / "demo").exception)
