"""Campaigns on streams that lie in files: processes map the same file, even if it was replaced meanwhile."""

import json
from pathlib import Path

import pytest

from mlstream import run_campaign
from mlstream.formats import save
from mlstream.generators import multiplier_stream
from mlstream.publishing.named_streams import open_named

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs names of open files")


def scores(runs):
    return [json.loads(run.model_dump_json(include={"scores", "R", "stream_sha256"})) for run in runs]


@pytest.mark.slow
@needs_proc
def test_processes_learn_the_file_that_was_opened(tmp_path):
    stream = multiplier_stream("rand", name="mine", n_rows=200)
    save(stream, tmp_path / "x.npz")
    expected = run_campaign(["NN", "BR_HT"], [stream], [0], tmp_path / "expected", energy="none")
    mapped = open_named(str(tmp_path / "x.npz"))
    save(multiplier_stream("rand", name="mine", n_rows=200, seed=1), tmp_path / "x.npz")
    found = run_campaign(["NN", "BR_HT"], [mapped], [0], tmp_path / "found", energy="none", n_jobs=2)
    assert scores(found) == scores(expected)


@needs_proc
def test_a_file_is_closed_with_its_stream(tmp_path):
    save(multiplier_stream("rand", name="mine", n_rows=200), tmp_path / "x.npz")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        open_named(str(tmp_path / "x.npz"))
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
