"""The suite of the arena: boards of streams, the scores that rank learners on them, and the rules of a run.

A suite that was released never changes: streams that were mended make the next version.
"""

from __future__ import annotations

from functools import lru_cache, partial
from importlib import resources
from typing import Any, Literal, NamedTuple

from pydantic import Field, JsonValue

from mlstream._support.files import did_you_mean
from mlstream._support.toml import parse_toml
from mlstream.evaluation.settings import Decision
from mlstream.records.schema import Record
from mlstream.streams.card_model import GeneratorCard
from mlstream.streams.stream import Stream

NEWEST_SUITE = 1

# The score of boards that rank on each stream by the score that heads its own board.
OWN_RANK = "rank"

Scope = Literal["lite", "full"]


class Step(Record):
    """A call of a generator."""

    generator: str
    seed: int = 0
    parameters: dict[str, JsonValue] = Field({})


class StreamEntry(Record):
    """A stream of the suite: one that this project publishes (`preset`), or a call of a generator."""

    name: str
    board: str
    data_sha256: str
    lite: bool = False
    table: str | None = Field(None, description="The table that it is made from; None for drawn rows.")
    preset: str | None = None
    make: Step | None = None
    then: list[Step] = Field([], description="Perturbations, in order.")

    def load(self) -> Stream:
        """Make the stream.

        A FileNotFoundError says how its table can be had, a ValueError that this version of the packages makes other
        data of it than the suite has.
        """
        stream = self._make()
        if stream.card.data_sha256 != self.data_sha256:
            raise ValueError(
                f"{self.name} must have the data of the suite ({self.data_sha256[:12]}...). Got "
                f"{stream.card.data_sha256[:12]}...: its table, or a package that makes it, is of another version."
            )
        return stream

    def load_with_seed(self, seed: int) -> Stream:
        """Make such a stream of drawn rows, by another seed; it has no hash that is known."""
        if self.make is None or self.table is not None:
            raise ValueError(f"{self.name} must be simulated, for another seed to make it. Got a stream of a table.")
        return self.model_copy(update={"make": self.make.model_copy(update={"seed": seed})})._make()

    def _make(self) -> Stream:
        from mlstream.data.datasets import load_registered
        from mlstream.generators.registry import GENERATORS, remake
        from mlstream.publishing.presets import make_preset

        if self.make is None:
            stream = make_preset(str(self.preset))
        else:
            call = GeneratorCard(name=self.make.generator, seed=self.make.seed, parameters=self.make.parameters)
            stream = remake(call, partial(load_registered, str(self.table)))
        for step in self.then:
            stream = GENERATORS[step.generator](stream, **step.parameters, seed=step.seed)
        return stream.with_card(stream.card.model_copy(update={"name": self.name}))


class Score(NamedTuple):
    """A score of a board, under a decision rule; `name` is that of records."""

    name: str
    metric: str
    decision: Decision | None


class Board(Record):
    """Streams that are ranked together, and the scores that rank them: the first one heads the board."""

    title: str
    about: str
    metrics: list[str] = Field(min_length=1)
    decision: Decision = Field("own", description="The rule of the scores that heads the board.")
    streams_of: list[str] = Field([], description="Boards whose streams it ranks again, by other scores.")


class Suite(Record):
    """A version of the suite."""

    version: int
    cap_s: float = Field(gt=0, description="Seconds after which the run of a learner on a stream is stopped.")
    metrics: list[str] = Field([], description="Metrics of all streams beside those of every run.")
    rules: list[Decision] = Field(description="Decision rules beside a learner's own.")
    undecided: list[str] = Field(description="Metrics of probabilities, which no decision rule changes.")
    cpu_power_w: float = Field(gt=0)
    reference: str = Field(description="The learner whose cost others are compared with.")
    worlds: str = Field(description="The board of simulated streams, which another seed can make.")
    panel: list[str] = Field(min_length=2, description="Learners that run there again, beside one that is verified.")
    tolerance: float = Field(ge=0, description="Difference of a score that is run again on another machine.")
    boards: dict[str, Board]
    streams: list[StreamEntry]

    def entries(self, scope: Scope = "full", board: str | None = None) -> list[StreamEntry]:
        """List the streams of the suite, or of one board, or those of the lite part."""
        own = None if board is None else self.boards[board].streams_of or [board]
        return [
            entry for entry in self.streams if (own is None or entry.board in own) and (entry.lite or scope == "full")
        ]

    def scores(self, board: str) -> list[Score]:
        """List the scores of a board, under each decision rule: that which heads it first."""
        first = self.boards[board].decision
        rules = list(dict.fromkeys([first, "own", *self.rules]))
        return [
            Score(metric if rule is None or rule == "own" else f"{metric}[{rule}]", metric, rule)
            for metric in self.boards[board].metrics
            for rule in ([None] if metric in self.undecided else rules)
        ]

    def heading_scores(self, board: str) -> list[Score]:
        """List the scores of a board, each once: under the rule that heads it."""
        rule = self.boards[board].decision
        return [score for score in self.scores(board) if score.decision in (None, rule)]

    @property
    def settings(self) -> dict[str, Any]:
        """Options of `evaluate` that hold for every run."""
        return {
            "metrics": tuple(self.metrics),
            "also_decide": tuple(self.rules),
            "energy": "cpu",
            "cpu_power_w": self.cpu_power_w,
            "time_cap_s": self.cap_s,
            "n_checkpoints": 10,
        }


def score_names(suite: Suite, stream: str) -> list[str]:
    """List the names of the scores by which some board ranks learners on a stream, each once."""
    boards = [board for board in suite.boards if any(entry.name == stream for entry in suite.entries("full", board))]
    return list(dict.fromkeys(score.name for board in boards for score in suite.scores(board)))


def find_score(suite: Suite, board: str, name: str | None) -> Score:
    """Return a score of a board by its name, or the one that heads it; a ValueError lists what is there."""
    if board not in suite.boards:
        raise ValueError(
            f"The board must be one of {', '.join(suite.boards)}. Got {board!r} instead"
            f"{did_you_mean(board, suite.boards)}"
        )
    known = {score.name: score for score in suite.scores(board)}
    if name is not None and name not in known:
        raise ValueError(f"The score of {board} must be one of {', '.join(known)}. Got {name!r} instead.")
    return known[name] if name is not None else next(iter(known.values()))


@lru_cache
def load_suite(version: int = NEWEST_SUITE) -> Suite:
    """Read a version of the suite.

    Parameters
    ----------
    version : int
        Number of the suite; by default the newest.

    Returns
    -------
    Suite
        Boards, streams and rules.

    Raises
    ------
    ValueError
        If there is no such suite here.

    Examples
    --------
    >>> suite = load_suite(1)
    >>> "worlds" in suite.boards
    True
    """
    found = resources.files(__package__) / f"suite_{version}.toml"
    if not found.is_file():
        raise ValueError(
            f"The suite must be one of 1 to {NEWEST_SUITE}. Got {version!r} instead; a newer suite needs a newer "
            f"version of mlstream."
        )
    return Suite.model_validate(parse_toml(found.read_bytes(), found.name))
