"""The commands that draw synthetic streams pass every option on."""

import numpy as np
import pytest

from tests.mlstream.cli.commands import invoke, make


@pytest.mark.parametrize(
    ("kind", "options", "generator", "rows"),
    [
        ("bilab", ("--rows", 40), "multiplier_stream", 4 * 40),
        ("hat-and-shirt", ("--copies", 3), "hat_and_shirt_stream", 2 * 36),
        ("environments", ("--rows", 40), "environment_stream", 12 * 40),
        ("tree", ("--rows", 40), "drifting_stream", 3 * 40),
    ],
)
def test_synthetic_streams_have_the_rows_asked_for(kind, options, generator, rows, tmp_path):
    stream = make("synthesise", kind, *options, "--seed", 2, output=tmp_path / "s.npz")
    assert (stream.card.generator.name, stream.card.generator.seed) == (generator, 2)
    assert stream.n_samples + sum(len(part) for part in stream.evaluation_sets) == rows


def test_drifts_are_asked_for_by_name(tmp_path):
    options = ("--drift-in", "P(X),dependence", "--pattern", "incremental", "--window", 10, "--rows", 60)
    stream = make("synthesise", "rbf", *options, output=tmp_path / "s.npz")
    assert stream.card.drifts[0].what == ["P(X)", "dependence"]
    assert stream.card.drifts[0].pattern == "incremental"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["monolab", "bilab", "rand", "hyperplane", "tree", "rbf", "categorical", "interactions"]
)
def test_a_window_blends_the_tasks_of_every_kind_that_visits_tasks(kind, tmp_path):
    stream = make("synthesise", kind, "--window", 10, "--rows", 60, output=tmp_path / "s.npz")
    assert stream.card.scenario.boundary == "gradual"
    assert all(len(np.unique(part.task_ids)) > 1 for part in stream)


def test_lists_of_numbers_are_split_by_commas(tmp_path):
    options = ("--roles", "train,test", "--correlations", "0.5,-0.25", "--invariant", "2,2", "--rows", 40)
    stream = make("synthesise", "environments", *options, output=tmp_path / "s.npz")
    given = stream.card.generator.parameters
    assert (given["correlations"], given["invariant"], given["roles"]) == ([0.5, -0.25], [2, 2], ["train", "test"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree", "--drift-in", "weather"), "--drift-in must be a sequence of .* Got .'weather'."),
        (("tree", "--pattern", "gradual"), "--window must be 0 for abrupt drifts"),
        (("environments", "--correlations", "high"), "--correlations must be numbers split by commas. Got 'high'"),
    ],
)
def test_an_error_names_the_option_and_nothing_is_written(arguments, message, tmp_path):
    result = invoke("synthesise", *arguments, "-o", tmp_path / "s.npz")
    assert result.exit_code == 1
    with pytest.raises(ValueError, match=message):
        raise result.exception
    assert not list(tmp_path.iterdir())


def test_an_option_of_another_kind_is_refused(tmp_path):
    assert invoke("synthesise", "bilab", "--pattern", "gradual", "-o", tmp_path / "s.npz").exit_code == 2
