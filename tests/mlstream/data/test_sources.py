"""Generators take a table, and evaluations a stream, in whatever form a user has it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from mlstream import Dataset, evaluate, run_campaign, save
from mlstream.generators import (
    FROM_TABLES,
    carve_environments,
    emerging_labels_stream,
    iirc_stream,
    scenario_stream,
    suggest_n_tasks,
    task_stream,
)
from mlstream.publishing.named_streams import as_stream
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.small_streams import assert_same_stream

CALLS = {
    "carve_environments": lambda table: carve_environments(table, roles=("train", "test")),
    "emerging_labels_stream": emerging_labels_stream,
    "iirc_stream": lambda table: iirc_stream(table, hierarchy="discover", labels_per_task=2),
    "scenario_stream": lambda table: scenario_stream(table, "task-based", n_tasks=2),
    "task_stream": lambda table: task_stream(table, n_tasks=2),
}


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    Y = rng.permutation(np.repeat(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1]]), 30, axis=0))
    return rng.normal(size=(120, 3)) + Y[:, :3], Y


def test_every_generator_that_takes_a_table_is_tried_here():
    assert CALLS.keys() == FROM_TABLES.keys()


@pytest.mark.parametrize("name", CALLS)
def test_a_generator_takes_a_pair_a_bunch_and_what_a_frame_holds(name, arrays):
    X, Y = arrays
    expected = CALLS[name](Dataset(X, Y))
    for source in ((X, Y), Bunch(data=X, target=Y)):
        assert_same_stream(CALLS[name](source), expected)
    frame = pd.DataFrame(X).add_prefix("x").join(pd.DataFrame(Y).add_prefix("y"))
    assert_same_stream(CALLS[name](Dataset.from_frame(frame, -4)), expected)


def test_a_generator_takes_a_name():
    assert task_stream("yeast", n_tasks=2, n_init=1).card.source.origin == "yeast"
    assert suggest_n_tasks("yeast", max_tasks=2, n_init=1).n_tasks == 2


def test_a_frame_without_labels_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"as in Dataset.from_frame\(frame, labels=\[...\]\). Got None"):
        task_stream(pd.DataFrame({"a": [1.0], "k": [1]}))


def test_an_evaluation_takes_a_file(tmp_path):
    stream = make_stream()
    save(stream, tmp_path / "s.npz")
    expected = evaluate(Online(), stream, energy="none")
    for source in (tmp_path / "s.npz", str(tmp_path / "s.npz")):
        assert evaluate(Online(), source, energy="none").R == expected.R
    (result,) = run_campaign({"a": Online()}, [tmp_path / "s.npz"], [0], tmp_path / "runs", energy="none")
    assert result.R == expected.R


def test_an_evaluation_takes_the_name_of_a_stream_that_is_published():
    assert evaluate(Online(), "synthetic-monolab", energy="none").stream == "synthetic-monolab"


def test_a_path_is_no_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        as_stream(Path("synthetic-monolab"))
    save(make_stream(), "stream.npz")
    Path("synthetic-monolab").mkdir()
    Path("stream.npz").rename("synthetic-monolab/stream.npz")
    assert as_stream(Path("synthetic-monolab")).card == make_stream().card


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("yeast-task", "did you mean 'yeast-tasks'"),
        (
            Dataset([[0.5]], [[1]]),
            "stream must be .* Got Dataset instead; task_stream makes a stream of",
        ),
    ],
)
def test_what_is_no_stream_is_refused_with_the_way_out(source, message):
    with pytest.raises((TypeError, FileNotFoundError), match=message):
        as_stream(source)


def test_the_streams_of_a_campaign_are_a_list(tmp_path):
    with pytest.raises(TypeError, match=r"streams must be a list of streams, or of their names\. Got 'yeast-tasks'"):
        run_campaign(["NN_TL"], "yeast-tasks", [0], tmp_path)
