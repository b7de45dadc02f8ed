"""Whole challenges, from the stream to the last rank, made and closed by the commands."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from mlstream import load_dataset, save
from mlstream.challenge import Challenge
from mlstream.challenge.clock import utc_now
from mlstream.challenge.truth import format_keys
from mlstream.generators import carve_environments, environment_stream
from tests.mlstream.challenge.challenges import SameProcess, layout_of, truth_table
from tests.mlstream.cli.commands import invoke


@pytest.fixture(params=["synthetic", pytest.param("yeast", marks=pytest.mark.slow)])
def folder(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if request.param == "synthetic":
        stream = environment_stream(n_rows=200, seed=2**41 + 1)
    else:
        stream = carve_environments(load_dataset("yeast"), seed=0)
    save(stream, "stream.npz")
    Path("challenge.toml").write_text('name = "whole"\nstream = "stream.npz"\nmin_rows = 20\n')
    done = invoke("challenge", "create", "--config", "challenge.toml", "--folder", "org", "--bundle", "pub")
    assert done.exit_code == 0, done.exception
    return tmp_path / "org"


def write(path, layout, prob):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row_id", *layout.label_names])
        writer.writerows([key, *row] for key, row in zip(format_keys(layout.keys), prob.tolist(), strict=True))


@pytest.mark.slow
def test_a_challenge_runs_from_its_stream_to_its_ranks(folder, tmp_path):
    verified = invoke("challenge", "verify", "org", "--bundle", "pub")
    assert verified.exit_code == 0, verified.output
    with Challenge.open(folder, clock=utc_now) as challenge:
        challenge._pool = SameProcess(challenge.folder)
        layout, truth = layout_of(challenge), truth_table(challenge)
        sample = (tmp_path / "pub" / "sample_submission.csv").read_bytes()
        strengths = {"weak": 0.1, "strong": 0.8, "middle": 0.4}
        for team, strength in strengths.items():
            token = challenge.join(team)
            prob = 0.5 + strength * (np.nan_to_num(truth, nan=0.5) - 0.5)
            write(tmp_path / "a.csv", layout, prob)
            reply = challenge.submit(tmp_path / "a.csv", token)
            assert (reply.query, reply.remaining) == (1, 29)
        # The sample of the bundle is a submission.
        assert challenge.submit(sample, challenge.join("sample")).query == 1
        ranking = challenge.close()
        assert challenge.audit().is_whole
    for rows in (ranking.generalisation, ranking.robustness):
        assert [row.team for row in rows][:2] == ["strong", "middle"]
    assert json.loads(invoke("challenge", "close", "org", "--json").stdout)["head"] == ranking.head


def test_a_stream_must_be_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("challenge.toml").write_text('name = "whole"\n')
    done = invoke("challenge", "create", "--config", "challenge.toml", "--folder", "org", "--bundle", "pub")
    assert "STREAM must be given, or stream in challenge.toml" in str(done.exception)
    assert not (tmp_path / "org").exists()


def test_what_differs_is_listed_and_ends_with_status_1(folder, tmp_path):
    card = tmp_path / "pub" / "card.public.json"
    card.write_text("{}")
    done = invoke("challenge", "verify", "org", "--bundle", "pub")
    assert done.exit_code == 1
    assert "Wrong: pub/card.public.json" in done.stdout
