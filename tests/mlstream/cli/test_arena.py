"""The arena at the shell: where a learner stands, what is there, a page, and bundles."""

import json
import sys

import pytest

from tests.mlstream.cli.commands import invoke

LEARNER = """
import numpy as np
from sklearn.base import BaseEstimator


class Nearest(BaseEstimator):
    def partial_fit(self, X, Y):
        self.sums_ = np.stack([(1 - Y).T @ X, Y.T @ X]) + getattr(self, "sums_", 0)
        self.counts_ = np.stack([(1 - Y).sum(axis=0), Y.sum(axis=0)]) + getattr(self, "counts_", 1)
        return self

    def predict(self, X):
        without, having = (((X[:, None] - mean) ** 2).sum(axis=2) for mean in self.sums_ / self.counts_[..., None])
        return (having < without).astype(int)


class Refuses(Nearest):
    def partial_fit(self, X, Y):
        if hasattr(self, "sums_") and self.counts_.sum() > 1000:
            raise RuntimeError("too much")
        return super().partial_fit(X, Y)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder with a module of learners, as a user has it."""
    (tmp_path / "nearest_of_mine.py").write_text(LEARNER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("nearest_of_mine", None)


def run(*arguments):
    result = invoke("arena", *arguments)
    assert result.exit_code == 0, result.output or result.exception
    return result.output


def test_a_learner_joins_stands_somewhere_is_packed_and_verified(folder):
    printed = run("run", "nearest_of_mine:Nearest", "--lite", "--boards", "environments,hierarchy")
    for words in (
        "environments  nce_worst_unseen",
        "hierarchy     pw_js[half]",
        "beaten by",
        "Cost: ",
        "times StreamRidge",
    ):
        assert words in printed
    again = json.loads(run("run", "nearest_of_mine:Nearest", "--lite", "--boards", "environments", "--json"))
    assert {place["board"] for place in again["places"]} == {"environments"}
    assert "Wrote Nearest.zip" in run("pack", "arena/Nearest")
    assert "Nearest.zip holds" in run("verify", "Nearest.zip", "--learner", "nearest_of_mine:Nearest", "-q")
    run("page", "--learner", "arena/Nearest", "--output", "page")
    assert "Nearest" in (folder / "page" / "index.html").read_text()


def test_a_strategy_with_parameters_joins_by_what_was_typed(folder):
    run("run", "NN(learning_rate=0.5)", "--lite", "--boards", "environments", "-q")
    (made,) = (folder / "arena").iterdir()
    assert json.loads((made / "arena.json").read_text())["learner"] == "NN(learning_rate=0.5)"


def test_failures_are_told_after_the_standing(folder):
    result = invoke("arena", "run", "nearest_of_mine:Refuses", "--lite", "--boards", "environments", "-q")
    assert result.exit_code != 0
    assert "Got RuntimeError: too much" in str(result.exception)
    assert "3 of 3 runs failed, rank behind all others, and are tried again" in str(result.exception)
    assert "environments" in result.output


def test_boards_are_listed_and_ranked():
    listed = json.loads(run("boards", "--json"))
    assert [board["name"] for board in listed][:3] == ["all", "tasks", "classes"]
    ranked = json.loads(run("boards", "worlds", "--lite", "--json"))
    assert ranked["score"] == "ba_macro[prevalence]"
    assert [row["rank"] for row in ranked["learners"]] == sorted(row["rank"] for row in ranked["learners"])
    assert "mean rank" in run("boards", "worlds", "--score", "rmse", "--lite")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("boards", "world"), "did you mean 'worlds'"),
        (("boards", "worlds", "--score", "f1"), "The score of worlds must be one of ba_macro"),
        (("boards", "--suite", "9"), "The suite must be one of 1 to 1"),
        (("run", "StreamRige"), "did you mean 'StreamRidge'"),
        (("run", "nearest_of_mine:Nobody"), "has no attribute 'Nobody'"),
        (("pack", "nowhere"), "as `mlstream arena run` writes it"),
        (("verify", "nowhere.zip"), "nowhere.zip"),
    ],
)
def test_errors_say_what_must_be_what(arguments, message):
    result = invoke("arena", *arguments)
    assert result.exit_code != 0
    assert message in str(result.exception)
