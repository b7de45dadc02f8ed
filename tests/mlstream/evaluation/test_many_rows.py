"""Streams in files are evaluated as streams in memory are, and held-out rows in parts as all at once."""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from estimators import make_strategy
from metrics.named import NAMED_METRICS
from mlstream import evaluate, load
from mlstream.evaluation import held_out
from mlstream.formats import save
from mlstream.generators import environment_stream, iirc_stream, missing_labels, multiplier_stream
from tests.loops import check_all, in_two_tiers
from tests.mlstream.evaluation.streams import make_stream
from tests.mlstream.evaluation.test_held_out import PARENTS, zoo

ORDER = [["bear", "dog"], ["polar"], ["brown"]]
STREAMS = {
    "dense": lambda: multiplier_stream("rand", n_rows=90),
    "blended": lambda: multiplier_stream("rand", n_rows=90, window=20),
    "sparse": lambda: make_stream(as_sparse=True),
    "unknown labels": lambda: missing_labels(multiplier_stream("rand", n_rows=90), rate=0.3),
    "hierarchy": lambda: iirc_stream(zoo(), hierarchy=PARENTS, introductions=ORDER, plain_first=True),
    "environments": lambda: environment_stream(("train", "test", "unseen"), n_rows=80, n_labels=2),
}


def record(strategy, stream):
    result = evaluate(make_strategy(strategy), stream, energy="none", metrics=["hamming_loss", "ndcg_at_k"])
    return json.loads(result.model_copy(update={"resources": None}).model_dump_json())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mlstream.evaluation.evaluate.UndefinedCellsWarning")
@in_two_tiers(product(["NN", "BR_HT", "StreamRidge"], STREAMS), n_fast=2)
def test_a_stream_in_a_file_is_evaluated_as_one_in_memory_is(tmp_path, cases):
    def check(case):
        strategy, kind = case
        stream, path = STREAMS[kind](), tmp_path / f"{strategy} {kind}.npz"
        save(stream, path)
        expected = record(strategy, stream)
        assert record(strategy, path) == expected
        assert record(strategy, load(path, mmap=True)) == expected

    check_all(cases, check)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mlstream.evaluation.evaluate.UndefinedCellsWarning")
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind == "sparse" else [pytest.mark.slow]) for kind in STREAMS]
)
def test_held_out_rows_are_scored_in_parts_as_all_at_once(kind, monkeypatch):
    stream = STREAMS[kind]()
    whole = evaluate(make_strategy("BR_HT"), stream, energy="none", metrics=list(NAMED_METRICS), references=True)
    monkeypatch.setattr(held_out, "_CELLS_AT_A_TIME", 7 * stream.n_features)
    parts = evaluate(make_strategy("BR_HT"), stream, energy="none", metrics=list(NAMED_METRICS), references=True)
    assert parts.R["ba_macro"] == whole.R["ba_macro"]
    assert parts.references == whole.references
    for name, matrix in whole.R.items():
        found, expected = (np.array(rows, dtype=float) for rows in (parts.R[name], matrix))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


PROGRAM = """
import resource, sys
from estimators import make_strategy
from mlstream import evaluate
evaluate(make_strategy("NN"), sys.argv[1], energy="none")
used = [line for line in open("/proc/self/status") if line.startswith("VmData")][0].split()[1]
room = 1024 * int(used) + {room}
resource.setrlimit(resource.RLIMIT_DATA, (room, room))
evaluate(make_strategy("NN"), sys.argv[2], energy="none")
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_the_memory_of_an_evaluation_does_not_depend_on_the_number_of_rows(tmp_path):
    weights = np.random.default_rng(0).normal(size=(2, 3, 50))
    for name, n_rows in (("few", 100), ("many", 150_000)):
        save(multiplier_stream(weights, n_rows=n_rows, threshold=0.0), tmp_path / f"{name}.npz")
    n_bytes = (tmp_path / "many.npz").stat().st_size
    program = PROGRAM.format(room=n_bytes // 2)
    files = [str(tmp_path / f"{name}.npz") for name in ("few", "many")]
    run = subprocess.run([sys.executable, "-c", program, *files], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
