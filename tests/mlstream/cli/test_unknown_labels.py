"""Tables with unknown labels go through the commands, and errors name the cell."""

import numpy as np
import pytest

from mlstream.data.datasets import load_dataset
from mlstream.formats import load
from tests.mlstream.cli.commands import invoke, make, write_table
from tests.mlstream.small_streams import assert_same_stream

LABEL_SETS = ("1100", "0?10", "0011", "100?", "?110", "1011")


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "toy.arff", label_sets=LABEL_SETS)


@pytest.mark.parametrize("suffix", [".npz", ".arff", ".train.csv"])
def test_a_stream_of_them_is_generated_converted_and_shown(table, tmp_path, suffix):
    stream = make("generate", table, "--tasks", 2, output=tmp_path / "s.npz")
    Y = load_dataset(table).Y
    assert np.isnan(Y).any()
    for part in (*stream.experiences, *stream.evaluation_sets):
        np.testing.assert_array_equal(part.Y, Y[part.row_ids])
    assert invoke("convert", tmp_path / "s.npz", tmp_path / f"t{suffix}").exit_code == 0
    assert_same_stream(load(tmp_path / f"t{suffix}"), stream)
    shown = invoke("inspect", tmp_path / f"t{suffix}", "--full")
    assert shown.exit_code == 0
    expected = ", ".join(f"{task.unknown_share:.1%} in {task.name}" for task in stream.card.tasks if task.unknown_share)
    assert f"Unknown labels: {expected}" in shown.output


@pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")
def test_a_published_folder_states_how_many_are_unknown(table, tmp_path):
    stream = make("generate", table, "--tasks", 2, output=tmp_path / "s.npz")
    terms = ("--licence", "CC0-1.0", "--citation", "None.", "--description", "Made up.", "--creator", "A tester")
    assert invoke("publish", tmp_path / "s.npz", tmp_path / "out", *terms).exit_code == 0
    assert invoke("verify", tmp_path / "out").exit_code == 0
    stream = load(tmp_path / "out" / "stream.npz")
    again = make("regenerate", tmp_path / "out", "--table", table, output=tmp_path / "again.npz")
    assert_same_stream(again, stream)
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    shares = ", ".join(f"{task.name} {task.unknown_share:.2%}" for task in stream.card.tasks if task.unknown_share)
    assert f"| labels of the task that are unknown | {shares} |" in page
    assert "0, 1 or ? (unknown)" in page


@pytest.mark.parametrize("scenario", ["class-incremental", "task-free", "online", "domain-incremental"])
def test_a_scenario_of_them_is_made(table, tmp_path, scenario):
    stream = make("scenario", table, scenario, "--tasks", 2, output=tmp_path / "s.npz")
    Y = load_dataset(table).Y
    for part in stream:
        np.testing.assert_array_equal(np.isnan(part.Y), np.isnan(Y[part.row_ids]))


def test_labels_go_missing_on_the_command_line(table, tmp_path):
    make("generate", table, "--tasks", 2, output=tmp_path / "s.npz")
    hidden = make("perturb", "missing-labels", tmp_path / "s.npz", "--rate", 1, output=tmp_path / "t.npz")
    assert all(np.isnan(part.Y).all() for part in hidden)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "y,a\n1,1\n,2\n0,\n",
            "toy.csv, line 4: column 'a' must have a value in every row; labels only may be unknown.",
        ),
        ("y,a\n1,1\nperhaps,2\n", "toy.csv, line 3: label 'y' must be 0 or 1, or empty where it is unknown."),
        ("y,a\n1,1\n0.5,2\n", "toy.csv, line 3: label 'y' must be 0 or 1. Got 0.5"),
    ],
)
def test_errors_name_the_cell(tmp_path, text, message):
    (tmp_path / "toy.csv").write_text(text, encoding="utf-8")
    result = invoke("generate", tmp_path / "toy.csv", "--labels", "y", "-o", tmp_path / "s.npz")
    assert message in str(result.exception)
    assert not (tmp_path / "s.npz").exists()
