"""Mistakes typed at the shell end in one line that names the option, its rule and the way out."""

import errno
import os
import warnings

import pytest

from mlstream import evaluate
from mlstream.cli.app import main
from mlstream.cli.campaigns import show_results
from tests.loops import check_all
from tests.mlstream.cli.commands import write_table
from tests.mlstream.evaluation.streams import Online, make_stream


def error_of(capsys, monkeypatch, *arguments):
    """Run a command as from a shell that must fail; return the exit status and what it wrote to standard error."""
    monkeypatch.setattr("sys.argv", ["mlstream", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "what_to_do"),
    [
        (errno.ENOSPC, "No space left on device. Free some space on that disk, then run the same command again."),
        (errno.EIO, "Input/output error. Check that disk, then run the same command again."),
        (errno.EACCES, "Permission denied. Check the permissions of the file and of its folder."),
    ],
)
def test_an_error_of_the_disk_names_the_file_and_says_what_to_do(tmp_path, capsys, monkeypatch, code, what_to_do):
    def fail(handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    table, output = write_table(tmp_path / "t.arff"), tmp_path / "out.npz"
    shown = error_of(capsys, monkeypatch, "generate", table, "-o", output)
    assert shown == (1, f"Error: {output}: {what_to_do}\n")
    assert list(tmp_path.iterdir()) == [table]


def test_a_command_that_cannot_be_parsed_is_one_line_with_status_2(capsys, monkeypatch):
    def check(case):
        arguments, message = case
        status, error = error_of(capsys, monkeypatch, *arguments)
        assert (status, error.count("\n")) == (2, 1)
        assert error.startswith("Error: ")
        # Older releases of Typer parse with Click, whose words follow the bar.
        assert any(words in error for words in message.split("|"))
        assert "--help` lists " in error
        assert "Input should" not in error

    check_all(
        [
            (
                ("generate", "yeast", "-o", "x.npz", "--tasks", "many"),
                "--tasks must be a whole number. Got 'many' instead.|--tasks: 'many' is not a valid integer.",
            ),
            (
                ("generate", "yeast", "-o", "x.npz", "--seed", "-1"),
                "--seed must be at least 0. Got '-1' instead.|--seed: -1 is not in the range x>=0.",
            ),
            (("generate", "yeast"), "--output must be given."),
            (
                ("suggest-tasks", "yeast", "--starts", "0"),
                "--starts must be at least 1. Got '0' instead.|--starts: 0 is not in the range x>=1.",
            ),
            (
                ("run", "yeast-tasks", "-o", "x", "--energy", "sun"),
                "--energy must be one of 'codecarbon', 'cpu', 'none'. Got 'sun'",
            ),
            (("generate", "yeast", "-o", "x.npz", "--taks", "2"), "--taks"),
            (("generat",), "Did you mean 'generate', 'regenerate'? `mlstream --help`"),
            (("run", "yeast-tasks", "--seed", "1"), "No such option: --seed; did you mean --seeds?"),
            (
                ("synthesise", "environments", "--window", "9"),
                "No such option: --window, "
                "which is an option of `monolab`, `bilab`, `rand`, `hyperplane`, `tree`, `rbf` and others.",
            ),
            (("synthesise", "stand-in", "--strategies", "NN"), "--strategies, which is an option of `run`."),
            (("generate", "yeast", "--strategies", "NN"), "--strategies, which is an option of `run`."),
            (("streams", "--nothing"), "No such option: --nothing. `mlstream streams --help`"),
        ],
        check,
    )


@pytest.mark.filterwarnings("ignore::mlstream.evaluation.evaluate.UndefinedCellsWarning")
def test_a_run_without_acc_says_why_in_one_line(capsys):
    stream = make_stream()
    for held_out in stream.evaluation_sets:
        held_out.Y[:] = held_out.label_mask
    show_results([evaluate(Online(), stream, label_space="task", energy="none")])
    *_, last = capsys.readouterr().out.splitlines()
    assert last == (
        "ACC of Online on tiny, seed 0: not defined. No task has a label with both classes in its evaluation set."
    )


def test_a_run_that_was_stopped_has_no_acc_and_says_so(capsys):
    show_results([evaluate(Online(), make_stream(), time_cap_s=1e-9, energy="none")])
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "ACC of Online on tiny, seed 0: not defined. The run was stopped before its end."


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_without_a_place_in_the_code(capsys, monkeypatch):
    def warn(**_options):
        warnings.warn("First line,\nsecond line.", UserWarning, stacklevel=1)

    monkeypatch.setitem(main.__globals__, "app", warn)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert (stopped.value.code, capsys.readouterr().err) == (0, "Warning: First line, second line.\n")
