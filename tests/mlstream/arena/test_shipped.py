"""The suite and the records that come with the package: frozen, complete, fresh, and what runs give again."""

import hashlib
import importlib.util
import random
import time
from importlib import resources

import numpy as np
import pytest

from estimators import STRATEGIES
from metrics import acc
from mlstream import arena
from mlstream.arena.again import compare, run_again
from mlstream.arena.running import enter, load_streams

# A suite that was released never changes.
FROZEN = {1: "1ee2e32945d40f5089e84733be2f6bb335032cc65011703155cfe8f4cb4a3f6e"}
SUITE, RECORDS = arena.load_suite(), arena.load_records()
FILES = resources.files("mlstream.arena")
N_AGAIN = 20
# Cells that take longer are run again by the maintainers.
MOST_SECONDS = 10.0


@pytest.mark.parametrize("version", FROZEN)
def test_a_released_suite_never_changes(version):
    content = FILES.joinpath(f"suite_{version}.toml").read_bytes()
    assert hashlib.sha256(content).hexdigest() == FROZEN[version], "mend streams in a suite of the next number"


def test_every_strategy_has_a_record_of_every_stream_of_the_lite_part():
    lite = {entry.name for entry in SUITE.entries("lite")}
    assert set(RECORDS) == set(STRATEGIES)
    assert {name: lite - record.cells.keys() for name, record in RECORDS.items() if lite - record.cells.keys()} == {}


def test_records_are_of_the_present_source_of_each_learner():
    stale = [
        name
        for name, record in RECORDS.items()
        if importlib.util.find_spec(STRATEGIES[name].package or "sklearn")
        and enter(name).source_sha256 != record.source_sha256
    ]
    assert not stale, f"run `python -m benchmarks.arena_records confirm`: the code of {stale} has changed"


def test_records_fit_into_the_wheel():
    sizes = [FILES.joinpath(name).stat().st_size for name in ("records_1.jsonl", "matrices_1.jsonl.xz")]
    assert sum(sizes) < 3 * 2**20


def test_scores_follow_from_the_matrices_beside_them():
    matrices = arena.load_matrices()
    cells = {(name, stream): cell for name, record in RECORDS.items() for stream, cell in record.cells.items()}
    assert matrices.keys() == {key for key, cell in cells.items() if cell.status != "failed"}
    order = next(entry for entry in SUITE.streams if entry.name == "synthetic-bilab").load().order
    for name in RECORDS:
        R = np.array(matrices[name, "synthetic-bilab"]["ba_macro"])
        assert cells[name, "synthetic-bilab"].scores["acc"] == pytest.approx(acc(R, order), abs=1e-5)


@pytest.mark.slow
def test_twenty_random_cells_come_again(shared_data, monkeypatch):
    monkeypatch.setenv("MLSTREAM_DATA", str(shared_data("multilabel").parent))
    # Another draw each day; a record that does not come again is wrong on any day.
    drawn = random.Random(time.strftime("%Y-%m-%d"))  # noqa: S311 - a draw, not a secret
    cells = [
        (name, stream)
        for name, record in RECORDS.items()
        for stream, cell in record.cells.items()
        if cell.status == "done" and (cell.cpu_s or 0) < MOST_SECONDS
    ]
    for name, stream in drawn.sample(cells, N_AGAIN):
        entry = next(entry for entry in SUITE.streams if entry.name == stream)
        streams, missing = load_streams([entry])
        assert not missing
        (difference,) = compare(RECORDS[name], run_again(enter(name), streams, SUITE))
        assert difference.size <= SUITE.tolerance, f"{name} on {stream}: {difference}"
