"""Records of the arena: for each learner its source and costs, and for each of its cells the scores that rank it.

A cell is the run of a learner on a stream of the suite. Records are compact: a line of JSON per learner.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import Field

from mlstream._support.content import open_xz
from mlstream._support.files import atomic_path, read_bounded, write_text_atomically
from mlstream.analysis.costs import energy_j
from mlstream.arena.suite import NEWEST_SUITE, Suite, load_suite, score_names
from mlstream.records.run_result import RunResult, Score, total_cost
from mlstream.records.schema import Record

# Of each learner and stream, a matrix R for each metric.
Matrices = dict[tuple[str, str], dict[str, list[list[Score]]]]

# Digits of scores and costs in records.
_DIGITS = 6
_MOST_BYTES = 2**26


class Cell(Record):
    """The run of a learner on a stream."""

    status: Literal["done", "capped", "failed"]
    scores: dict[str, Score] = Field(default_factory=dict)
    wall_s: float | None = None  # In the learner's calls, as the next one.
    cpu_s: float | None = None
    energy_j: float | None = None  # CPU seconds times the power that the suite states.
    error: str | None = None  # The last line of the error of a run that failed.

    def score(self, name: str) -> Score:
        """Return a score, None where it is not defined.

        Decisions without probabilities are what a rule would decide if they were certain: they count under every rule.
        """
        return self.scores.get(name, self.scores.get(name.partition("[")[0]))


class LearnerRecord(Record):
    """A learner in the arena: what it is, and its cells by stream."""

    suite: int
    learner: str
    estimator: str = Field(description="The learner's own representation, parameters included.")
    source_sha256: str = Field(description="Hash of the learner's source: its own module, and what that imports.")
    seed: int = 0
    versions: dict[str, str]
    machine: dict[str, str]
    cells: dict[str, Cell]


def make_record(name: str, source_sha256: str, runs: Sequence[RunResult], suite: Suite) -> LearnerRecord:
    """Make the record of a learner from its runs, at least one."""
    first = runs[0]
    other = next((run for run in runs if run.estimator != first.estimator), None)
    if other is not None:
        raise ValueError(
            f"Runs of {name} must be of one estimator; give each another name (--name). Got {first.estimator} on "
            f"{first.stream}, and {other.estimator} on {other.stream}."
        )
    return LearnerRecord(
        suite=suite.version,
        learner=name,
        estimator=first.estimator,
        source_sha256=source_sha256,
        versions=first.versions,
        machine=first.machine,
        cells={run.stream: _make_cell(run, score_names(suite, run.stream)) for run in runs},
    )


def _make_cell(run: RunResult, names: Iterable[str]) -> Cell:
    if run.status == "failed":
        return Cell(status="failed", error=(run.error or "").strip().rpartition("\n")[2])
    return Cell(
        status=run.status,
        scores={name: _round(run.scores[name]) for name in names if name in run.scores},
        wall_s=_round(total_cost(run, "wall_time_s")),
        cpu_s=_round(total_cost(run, "cpu_time_s")),
        energy_j=_round(energy_j(run)),
    )


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def save_records(records: Iterable[LearnerRecord], path: str | os.PathLike[str]) -> None:
    """Write records, a line per learner."""
    lines = (record.model_dump_json(exclude_defaults=True) for record in records)
    write_text_atomically(path, "".join(f"{line}\n" for line in lines))


def read_records(path: str | os.PathLike[str]) -> dict[str, LearnerRecord]:
    """Read the records of a file by learner; a ValueError names the file and the line that is not a record."""
    found = {}
    for number, line in enumerate(read_bounded(path, _MOST_BYTES).decode("utf-8").splitlines(), 1):
        try:
            record = LearnerRecord.model_validate_json(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}, must be the record of a learner. Got this: {error}") from None
        found[record.learner] = record
    return found


@lru_cache
def load_records(suite: int = NEWEST_SUITE) -> Mapping[str, LearnerRecord]:
    """Read the records that come with this package.

    Parameters
    ----------
    suite : int
        Number of the suite; by default the newest.

    Returns
    -------
    mapping of str to LearnerRecord
        By learner: strategies, and outsiders.

    Raises
    ------
    ValueError
        If there is no such suite here.

    Examples
    --------
    >>> records = load_records(1)
    >>> records["StreamRidge"].cells["yeast-tasks"].status
    'done'
    """
    load_suite(suite)
    with resources.as_file(resources.files(__package__) / f"records_{suite}.jsonl") as path:
        return read_records(Path(path))


def matrices_of(runs: Iterable[RunResult]) -> Matrices:
    """Return the matrices R of runs from which their scores follow, rounded."""
    return {
        (run.strategy, run.stream): {
            name: [[_round(value) for value in row] for row in R] for name, R in run.R.items() if _is_kept(name)
        }
        for run in runs
    }


def save_matrices(matrices: Matrices, path: str | os.PathLike[str]) -> None:
    """Write matrices, packed, a line per learner and stream."""
    lines = [
        json.dumps({"learner": learner, "stream": stream, "R": R}, separators=(",", ":"))
        for (learner, stream), R in matrices.items()
    ]
    with atomic_path(path) as temporary, lzma.open(temporary, "wt", encoding="utf-8", preset=9) as file:
        file.write("".join(f"{line}\n" for line in lines))


def load_matrices(suite: int = NEWEST_SUITE) -> Matrices:
    """Read the matrices R behind the records that come with this package.

    Parameters
    ----------
    suite : int
        Number of the suite; by default the newest.

    Returns
    -------
    dict of (str, str) to dict of str to list of list of float or None
        By learner and stream the matrix of each metric that scores of the arena follow from: a row for each number of
        experiences learnt, from 0 on, and a column for each task. None where it is not defined.

    Raises
    ------
    ValueError
        If there is no such suite here.

    Examples
    --------
    >>> R = load_matrices(1)["StreamRidge", "yeast-tasks"]["ba_macro"]
    >>> len(R), len(R[0])
    (9, 4)
    """
    load_suite(suite)
    with (
        resources.as_file(resources.files(__package__) / f"matrices_{suite}.jsonl.xz") as path,
        path.open("rb") as file,
    ):
        lines = [json.loads(line) for line in open_xz(file).read(_MOST_BYTES).splitlines()]
    return {(line["learner"], line["stream"]): line["R"] for line in lines}


def _is_kept(name: str) -> bool:
    return name.partition("[")[0] in {"ba_macro", "pw_js", "nce"}
