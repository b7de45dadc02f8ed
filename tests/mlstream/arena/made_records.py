"""Records of the arena made by hand."""

from mlstream.arena.records import Cell, LearnerRecord
from mlstream.arena.suite import Board, Step, StreamEntry, Suite


def make_suite(n_streams=4, **changes):
    """A suite with one board of drawn rows."""
    streams = [
        StreamEntry(
            name=f"s{number}",
            board="worlds",
            data_sha256="",
            lite=number == 0,
            make=Step(generator="multiplier_stream", seed=number, parameters={"multipliers": "rand", "n_rows": 60}),
        )
        for number in range(n_streams)
    ]
    board = Board(title="Worlds", about="Drawn rows.", metrics=["acc", "rmse"], decision="half")
    fields = {
        "version": 1,
        "cap_s": 60.0,
        "rules": ["half"],
        "undecided": ["rmse"],
        "cpu_power_w": 15.0,
        "reference": "NN",
        "worlds": "worlds",
        "panel": ["BR_LR", "last_class", "mean", "1NN"],
        "tolerance": 0.01,
        "boards": {"worlds": board},
        "streams": [one.model_copy(update={"data_sha256": one._make().card.data_sha256}) for one in streams],
    }
    return Suite.model_validate(fields | changes)


def make_cell(acc, rmse=0.5, *, status="done", half=None, cpu_s=1.0):
    """A cell with scores under two rules."""
    scores = {"acc": acc, "acc[half]": acc if half is None else half, "rmse": rmse}
    return Cell(status=status, scores=scores, wall_s=cpu_s, cpu_s=cpu_s, energy_j=15 * cpu_s)


def make_learner(name, cells):
    """The record of a learner."""
    return LearnerRecord(
        suite=1, learner=name, estimator=f"{name}()", source_sha256="ab" * 32, versions={}, machine={}, cells=cells
    )
