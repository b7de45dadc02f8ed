"""Records of measurements: a JSON file for each learner on each stream, complete or absent, never measured twice."""

import json
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.learner_ranks.boards import Makers, Part, boards
from benchmarks.learner_ranks.measure import prepare
from estimators import make_strategy
from mlstream._support.files import write_text_atomically


class Record(NamedTuple):
    """A learner on a stream or table of a board."""

    part: str
    board: str
    source: str
    learner: str
    scores: dict[str, dict[str, float | None]]
    cpu_s: float


class Wanted(NamedTuple):
    """A choice of parts and boards, learners, and sources by patterns such as ``tree-*``."""

    parts: Sequence[Part]
    boards: Sequence[str]
    sources: Sequence[str]
    learners: Sequence[str]


def measure_all(folder: Path, wanted: Wanted, again: Collection[str] = ()) -> Iterator[str]:
    """Measure what is wanted and has no record, source by source; yield a line about each.

    Parameters
    ----------
    folder : Path
        Where the records are.
    wanted : Wanted
        What to measure.
    again : collection of str
        Learners whose records are replaced: their code has changed.
    """
    for part in wanted.parts:
        for board in wanted.boards:
            makers = boards(part)[board]
            for source in (name for name in makers if any(fnmatch(name, pattern) for pattern in wanted.sources)):
                missing = [
                    learner
                    for learner in wanted.learners
                    if learner in again or not (folder / part / board / source / f"{learner}.json").exists()
                ]
                yield from _measure_source(folder / part / board / source, makers, missing)


def _measure_source(folder: Path, makers: Makers, learners: Sequence[str]) -> Iterator[str]:
    if not learners:
        return
    prepared = prepare(makers[folder.name]())
    folder.mkdir(parents=True, exist_ok=True)
    for learner in learners:
        measured = prepared.measure(make_strategy(learner), _seed(folder.name))
        text = json.dumps({"learner": learner, "cpu_s": measured.cpu_s, "scores": measured.scores}, indent=1)
        write_text_atomically(folder / f"{learner}.json", text + "\n")
        found = measured.scores["prevalence"]
        yield f"{folder.name:28} {learner:22} BA {found['ba_macro']:.3f}  {measured.cpu_s:7.2f} s of CPU"


def _seed(source: str) -> int:
    """Return the seed of the learners: that of a world, else 0."""
    last = source.rsplit("-", 1)[-1]
    return int(last) if last.isdigit() else 0


def load_records(folder: Path) -> list[Record]:
    """Read all records of a folder."""
    return [_load(path) for path in sorted(folder.glob("*/*/*/*.json"))]


def _load(path: Path) -> Record:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    part, board, source = path.parts[-4:-1]
    return Record(part, board, source, content["learner"], content["scores"], content["cpu_s"])
