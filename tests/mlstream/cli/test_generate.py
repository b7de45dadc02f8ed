"""The commands that make streams pass every option on, and say what they wrote."""

import numpy as np
import pytest

from mlstream.generators import SCENARIOS
from tests.loops import check_all
from tests.mlstream.cli.commands import invoke, make, write_table


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "toy.arff")


def parameters(stream):
    return stream.card.generator.parameters


def test_generate_passes_its_options_on(table, tmp_path):
    options = ("--tasks", 2, "--visits", 3, "--evaluation", 0.4, "--order", "1,0,1,0,1,0", "--window", 2)
    stream = make("generate", table, *options, "--shape", "sigmoid", "--seed", 3, output=tmp_path / "s.npz")
    assert parameters(stream)["learning_fractions"] == pytest.approx([0.2] * 3)
    assert parameters(stream)["order"] == [1, 0, 1, 0, 1, 0]
    assert (parameters(stream)["window"], parameters(stream)["shape"]) == (2, "sigmoid")
    assert (stream.card.generator.seed, len(stream)) == (3, 6)


def test_generate_as_it_is_visits_each_task_twice(table, tmp_path):
    stream = make("generate", table, "--tasks", 2, output=tmp_path / "s.npz")
    assert parameters(stream)["learning_fractions"] == pytest.approx([0.35, 0.35])


def test_every_scenario_has_a_name_on_the_command_line(table, tmp_path):
    def check(case):
        number, scenario = case
        folder = tmp_path / str(number)
        folder.mkdir()
        stream = make("scenario", table, scenario, "--tasks", 2, output=folder / "s.npz")
        assert stream.card.scenario.name == scenario

    check_all(enumerate(SCENARIOS), check)


def test_scenario_takes_lists_of_labels(table, tmp_path):
    options = ("--label-lists", "k,l; m,n", "--shared-rows", "drop", "--visits", "0.3,0.4")
    stream = make("scenario", table, "online", *options, output=tmp_path / "s.npz")
    assert [task.signature.tolist() for task in stream.tasks] == [
        [True, True, False, False],
        [False, False, True, True],
    ]
    assert parameters(stream)["learning_fractions"] == [0.3, 0.4]
    assert stream.card.drops[0].count == 24


@pytest.mark.parametrize(
    ("options", "emergence"),
    [(("--label-lists", "n,m;l;k"), [2, 1, 0, 0]), (("--first-labels", 2, "--labels-per-task", 1, "--seed", 3), None)],
)
def test_labels_emerge_as_asked(options, emergence, table, tmp_path):
    stream = make("label-emerging", table, *options, output=tmp_path / "s.npz")
    when = stream.card.scenario.emergence
    assert when == emergence or (emergence is None and sorted(when) == [0, 0, 1, 2])
    assert [int(part.label_mask.sum()) for part in stream] == [2, 3, 4]


def test_scenario_takes_a_column_and_an_order(table, tmp_path):
    options = ("--by", "column", "--column", "x", "--tasks", 3, "--order", "2,0,1")
    stream = make("scenario", table, "domain-incremental", *options, output=tmp_path / "s.npz")
    assert [np.unique(part.X[:, 0]).tolist() for part in stream] == [[2], [0], [1]]


def test_scenario_takes_time_and_task_identity(table, tmp_path):
    options = ("--by", "time", "--column", "t", "--tasks", 2, "--task-identity", "never")
    stream = make("scenario", table, "task-based", *options, output=tmp_path / "s.npz")
    assert stream.card.scenario.task_identity == "never"
    assert stream.experiences[0].X[:, 1].max() < stream.experiences[1].X[:, 1].min()


def test_what_is_wrong_is_named_and_nothing_is_written(table, tmp_path):
    def check(case):
        number, (arguments, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        arguments = [table if argument == "TABLE" else argument for argument in arguments]
        result = invoke(*arguments, "-o", folder / "s.npz")
        assert result.exit_code == 1
        with pytest.raises(ValueError, match=message):
            raise result.exception
        assert list(folder.iterdir()) == []

    check_all(
        enumerate(
            [
                (
                    ("generate", "TABLE", "--visits", "often"),
                    "--visits must be a number of visits, or shares .* Got 'often'",
                ),
                (("generate", "TABLE", "--visits", "0.9", "--evaluation", 0.3), "must add up to at most 1"),
                (("generate", "TABLE", "--visits", "0"), "each of --visits must be positive"),
                (("generate", "TABLE", "--tasks", 2, "--window", -1), "--window must be a whole number, at least 0"),
                (("generate", "TABLE", "--tasks", 99), "--tasks must be at most the number of distinct label sets"),
                (("generate", "TABLE", "--tasks", 4, "--evaluation", 0.001, "--visits", "0.02"), "must hold rows"),
                (
                    ("scenario", "TABLE", "online", "--label-lists", "k,cat"),
                    "must name labels of toy that occur. Got 'cat'",
                ),
                (
                    ("scenario", "TABLE", "online", "--by", "column", "--column", "z"),
                    "--column must be a feature .* Got 'z'",
                ),
                (
                    ("scenario", "TABLE", "task-free", "--task-identity", "always"),
                    "--task-identity must be 'never'",
                ),
                (("scenario", "TABLE", "instance-incremental", "--tasks", 99), "at least 99 rows"),
                (("scenario", "TABLE", "pre-training", "--pretraining", 1.5), "--pretraining must lie between 0 and 1"),
            ]
        ),
        check,
    )


@pytest.mark.parametrize("command", [("generate",), ("scenario", "online"), ("iirc",), ("label-emerging",), ("carve",)])
def test_no_command_replaces_the_table_that_it_reads(command, table):
    before = table.read_bytes()
    result = invoke(command[0], table, *command[1:], "-o", table, "--force")
    assert "--output must not be the source" in str(result.exception)
    assert table.read_bytes() == before


def test_files_beside_the_output_are_replaced_by_force_only(table, tmp_path):
    """A card belongs to the files of one name: another format beside them would take it away."""
    make("generate", table, "--tasks", 2, output=tmp_path / "s.train.csv")
    make("generate", table, "--tasks", 2, output=tmp_path / "other.npz")
    result = invoke("convert", tmp_path / "other.npz", tmp_path / "s.arff")
    assert "s.card.json must not exist yet: --force replaces it." in str(result.exception)
    assert not (tmp_path / "s.arff").exists()
    assert invoke("inspect", tmp_path / "s.train.csv").exit_code == 0
    assert invoke("convert", tmp_path / "other.npz", tmp_path / "s.arff", "--force").exit_code == 0


@pytest.mark.parametrize("output", ["s.arff", "s.train.parquet", "s.train.csv.gz"])
def test_a_stream_is_not_converted_over_its_own_card(table, tmp_path, output):
    make("generate", table, "--tasks", 2, output=tmp_path / "s.train.csv")
    result = invoke("convert", tmp_path / "s.train.csv", tmp_path / output, "--force")
    assert "must have another name than" in str(result.exception)
    assert "both would need s.card.json" in str(result.exception)
    assert invoke("inspect", tmp_path / "s.train.csv").exit_code == 0
    assert invoke("convert", tmp_path / "s.train.csv", tmp_path / f"t{output[1:]}").exit_code == 0


@pytest.mark.parametrize(("output", "error"), [("absent/s.npz", NotADirectoryError), ("s.txt", ValueError)])
def test_an_output_that_cannot_be_is_refused_before_any_work(output, error, tmp_path):
    result = invoke("generate", tmp_path / "absent.arff", "-o", tmp_path / output)
    assert type(result.exception) is error
