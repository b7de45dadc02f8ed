"""The commands that perturb streams pass every option on."""

import pytest

from mlstream.formats import load
from mlstream.generators import FROM_STREAMS
from tests.loops import check_all
from tests.mlstream.cli.commands import invoke, make, write_table

PERTURBATIONS = {
    "delayed-labels": ("--delay", "k=3,m=5", "--jitter", 2),
    "duplicated-rows": ("--rate", 0.5),
    "missing-features": ("--rate", 0.5),
    "missing-labels": ("--rate", 0.5, "--per", "row"),
    "noisy-features": ("--scale", 0.5),
    "noisy-labels": ("--rate", 0.5),
    "rare-labels": ("--keep", "k=0.5,l=0.9"),
    "reordered-rows": (),
    "reordered-tasks": (),
    "resplit-rows": (),
}


@pytest.fixture(scope="module")
def stream_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    make("generate", write_table(folder / "toy.arff"), "--tasks", 2, output=folder / "s.npz")
    return folder / "s.npz"


def test_perturbations_pass_their_options_on_and_can_be_made_again(stream_file, tmp_path):
    def check(case):
        number, kind = case
        folder = tmp_path / str(number)
        folder.mkdir()
        stream = make("perturb", kind, stream_file, *PERTURBATIONS[kind], "--seed", 3, output=folder / "p.npz")
        assert stream.card.generator.name == kind.replace("-", "_")
        assert stream.card.generator.seed == 3
        before = load(stream_file)
        again = FROM_STREAMS[stream.card.generator.name](
            before, **{k: v for k, v in stream.card.generator.parameters.items() if k != "base"}, seed=3
        )
        assert again.card.data_sha256 == stream.card.data_sha256
        # Two tasks in another order may be in the same order.
        assert kind == "reordered-tasks" or stream.card.data_sha256 != before.card.data_sha256

    check_all(enumerate(PERTURBATIONS), check)


def test_every_perturbation_has_a_name_on_the_command_line():
    assert {kind.replace("-", "_") for kind in PERTURBATIONS} == FROM_STREAMS.keys()


def test_one_delay_is_for_all_labels(stream_file, tmp_path):
    stream = make("perturb", "delayed-labels", stream_file, "--delay", 4, output=tmp_path / "p.npz")
    assert stream.card.generator.parameters["delay"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("noisy-labels", "STREAM", "--rate", 2), r"--rate must lie in \[0, 1\]. Got 2"),
        (("delayed-labels", "STREAM", "--delay", "k=soon"), "--delay must be a whole number, a time such as 2h, or"),
        (("delayed-labels", "STREAM", "--delay", "k"), "--delay must be a whole number, at least 1, and a unit"),
        (("delayed-labels", "STREAM", "--delay", "cat=3"), "--delay must name labels .* Got 'cat'"),
        (("rare-labels", "STREAM", "--keep", "k"), "--keep must be numbers by name"),
    ],
)
def test_an_error_names_the_option_and_nothing_is_written(arguments, message, stream_file, tmp_path):
    arguments = [stream_file if argument == "STREAM" else argument for argument in arguments]
    result = invoke("perturb", *arguments, "-o", tmp_path / "s.npz")
    assert result.exit_code == 1
    with pytest.raises(ValueError, match=message):
        raise result.exception
    assert not (tmp_path / "s.npz").exists()


@pytest.mark.parametrize("arguments", [("noisy-labels",), ("reordered-rows", "--rate", 0.1)])
def test_options_that_are_missing_or_unknown_are_refused(arguments, stream_file, tmp_path):
    kind, *options = arguments
    assert invoke("perturb", kind, stream_file, *options, "-o", tmp_path / "s.npz").exit_code == 2
    assert not (tmp_path / "s.npz").exists()


def test_an_existing_file_stays_unless_forced(stream_file, tmp_path):
    output = tmp_path / "there.npz"
    output.write_text("mine")
    assert isinstance(invoke("perturb", "reordered-rows", stream_file, "-o", output).exception, FileExistsError)
    assert output.read_text() == "mine"
    make("perturb", "reordered-rows", stream_file, "--force", output=output)


def test_perturb_does_not_replace_the_stream_that_it_reads(tmp_path):
    table = write_table(tmp_path / "toy.arff")
    path = tmp_path / "s.npz"
    make("generate", table, "--tasks", 2, output=path)
    before = path.read_bytes()
    result = invoke("perturb", "reordered-rows", path, "-o", path, "--force")
    assert "--output must not be the source" in str(result.exception)
    assert path.read_bytes() == before
