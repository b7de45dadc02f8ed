"""Records of learners that never ran: scores are drawn, and some runs are missing, capped or failed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mlstream.arena.records import Cell, LearnerRecord
from mlstream.arena.running import Origin
from mlstream.arena.suite import Suite, load_suite
from mlstream.records.run_record import save_run
from tests.mlstream.records.run_records import make_run

NAMES = ("StreamRidge", "NN", "BR_HT", "mean", "last_class", "1NN", "EWC", "iSOUP", "NN_TL", "GOOWE", "LwF", "SI")
_BASELINES = {"mean": "MeanLabelsClassifier()", "last_class": "LastLabelsClassifier()"}
# Scores of the runs on the streams of a board, beside those of every run.
_OF_BOARDS = {"hierarchy": ("pw_js", "refinement_jaccard"), "environments": ("nce_worst", "nce_worst_unseen")}
_OF_ALL = ("ba_macro", "acc", "f1_macro", "f1_micro", "subset_accuracy", "frug_kj")
_UNDECIDED = ("rmse", "precision_at_k", "nce_worst", "nce_worst_unseen")


def make_record(name: str, streams: Sequence[str], *, quality: float, cost: float, seed: int) -> LearnerRecord:
    """Make the record of a learner on some streams: scores rise with its quality, seconds with its cost."""
    suite, rng = load_suite(1), np.random.default_rng(seed)
    boards = {one.name: one.board for one in suite.streams}
    cells = {}
    for stream in streams:
        cpu_s = round(cost * float(rng.uniform(0.5, 2)), 6)
        cells[stream] = Cell(
            status="done",
            scores=_draw_scores(suite, boards[stream], quality, rng),
            wall_s=round(cpu_s * 0.9, 6),
            cpu_s=cpu_s,
            energy_j=round(cpu_s * suite.cpu_power_w, 6),
        )
    return LearnerRecord(
        suite=1,
        learner=name,
        estimator=_BASELINES.get(name, f"{name}(learning_rate=0.1)"),
        source_sha256=f"{seed:064x}",
        versions={"mlstream": "0.9", "numpy": "2.3.1"},
        machine={"cpu": "made", "cores": "2"},
        cells=cells,
    )


def _draw_scores(suite: Suite, board: str, quality: float, rng: np.random.Generator) -> dict[str, float]:
    decided = [*_OF_ALL, *(name for name in _OF_BOARDS.get(board, ()) if name not in _UNDECIDED)]
    names = [f"{name}{rule}" for name in decided for rule in ("", *(f"[{rule}]" for rule in suite.rules))]
    names += ["rmse", "precision_at_k", *(name for name in _OF_BOARDS.get(board, ()) if name in _UNDECIDED)]
    return {name: round(quality + float(rng.normal(0, 0.05)), 6) for name in names}


def make_records(names: Sequence[str] = NAMES) -> dict[str, LearnerRecord]:
    """Make records of learners on all streams; of the last three, some runs are missing, stopped or failed."""
    streams = [one.name for one in load_suite(1).streams]
    qualities, costs = np.random.default_rng(0).uniform((0.4, -1), (0.8, 2), (len(names), 2)).T
    made = {
        name: make_record(name, streams, quality=quality, cost=float(10**cost), seed=seed)
        for seed, (name, quality, cost) in enumerate(zip(names, qualities, costs, strict=True))
    }
    if len(names) > 3:
        gaps, capped, failed = names[-3:]
        made[gaps] = _with_cells(made[gaps], dict.fromkeys(streams[:5]))
        stopped = Cell(status="capped", cpu_s=601.5, wall_s=600.2, energy_j=9022.5)
        made[capped] = _with_cells(made[capped], dict.fromkeys(streams[::9], stopped))
        broken = Cell(status="failed", error="ValueError: <b>no</b>")
        made[failed] = _with_cells(made[failed], dict.fromkeys(streams[::20], broken))
    return made


def _with_cells(record: LearnerRecord, changed: Mapping[str, Cell | None]) -> LearnerRecord:
    """Return a record with other cells on some streams, or none where they are None."""
    cells = {name: cell for name, cell in (record.cells | changed).items() if cell is not None}
    return record.model_copy(update={"cells": cells})


def join_arena(folder: Path, name: str = "mine") -> Path:
    """Write the folder of a learner that joined, with a run on one stream."""
    stream = load_suite(1).streams[0].name
    save_run(make_run(name, 0, stream), folder)
    (folder / "arena.json").write_text(Origin(suite=1, learner=name, source_sha256="ab" * 32).model_dump_json())
    return folder
