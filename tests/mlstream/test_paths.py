"""Files that were opened by a relative path are still found when the working directory has changed."""

import numpy as np
import pytest

from mlstream import iter_dataset, load, run_campaign, save
from mlstream.challenge.clock import utc_now
from mlstream.challenge.engine import Challenge
from tests.mlstream.challenge.challenges import draw, make_challenge, score_in_this_process
from tests.mlstream.evaluation.streams import make_stream


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Enter a folder; return a function that leaves it for another, in which there is nothing."""
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return lambda: monkeypatch.chdir(tmp_path / "elsewhere")


def test_a_mapped_stream(elsewhere):
    stream = make_stream()
    save(stream, "s.npz")
    found = load("s.npz", mmap=True)
    elsewhere()
    np.testing.assert_array_equal(found.experiences[1].X, stream.experiences[1].X)


def test_a_table_that_is_read_in_chunks(elsewhere, tmp_path):
    (tmp_path / "here" / "t.csv").write_text("k,x\n" + "1,0.5\n0,2\n" * 4)
    chunks = iter_dataset("t.csv", labels=1, chunk_size=3)
    elsewhere()
    assert [len(chunk.Y) for chunk in chunks] == [3, 3, 2]


def test_a_challenge(elsewhere, tmp_path, monkeypatch):
    made = make_challenge(tmp_path / "here" / "org", begun=utc_now())
    (tmp_path / "1.csv").write_bytes(draw(made))
    made.shut_down()
    score_in_this_process(monkeypatch)
    with Challenge.open("org") as challenge:
        elsewhere()
        challenge.submit(tmp_path / "1.csv", challenge.join("Ada"))
        challenge.close(early=True)
        assert challenge.audit().is_whole


def test_a_campaign(elsewhere, tmp_path):
    save(make_stream(), "s.npz")
    (record,) = run_campaign(["mean"], ["s.npz"], [0], "out", energy="none", progress=lambda _event: elsewhere())
    assert record.status == "done"
    assert (tmp_path / "here" / "out" / "runs").is_dir()
