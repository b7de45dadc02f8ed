"""The shell completes commands, options, and the names of data sets, streams and strategies."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from mlstream.cli import app
from tests.loops import check_all

NAMES = [
    ("gen", ["generate"]),
    ("generate ye", ["yeast", "yeast-osc-mlc", "yeast-boomer", "yeast-boomer-training", "yeast-boomer-test"]),
    ("generate yeast --ord", ["--order"]),
    ("suggest-tasks scene-boomer-", ["scene-boomer-training", "scene-boomer-test"]),
    ("datasets fetch scene yeast-o", ["yeast-osc-mlc"]),
    ("run yeast", ["yeast-tasks"]),
    ("run yeast-tasks sc", ["scene-tasks"]),
    ("run yeast-tasks --energy c", ["codecarbon", "cpu"]),
    ("run yeast-tasks -s NN_TLH_m", ["NN_TLH_memories", "NN_TLH_mini_memories"]),
    ("run yeast-tasks -s mean,LC", ["mean,LC_HT"]),
    ("detect yeast-tasks -d ADWIN,P", ["ADWIN,PageHinkley"]),
    ("detect yeast-tasks -l prior", ["prior_distribution"]),
    ("detect yeast-tasks --errors h", ["hamming"]),
    ("inspect synthetic-r", ["synthetic-rand"]),
    ("perturb noisy-labels 20ng-i", ["20ng-iirc"]),
    ("strategies NN_TLH_m", ["NN_TLH_memories", "NN_TLH_mini_memories"]),
    ("strategies mean,LC", []),
    ("inspect ./yeast", []),
]


def complete(shell, typed):
    """Return what a shell is sent when the tab key is pressed after what was typed."""
    words = ["mlstream", *typed.split()]
    environment = {"_MLSTREAM_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": " ".join(words)}
    environment |= {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    environment["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    return CliRunner().invoke(app, [], prog_name="mlstream", env=environment).stdout.splitlines()


def test_names_are_completed_in_bash():
    def check(case):
        typed, names = case
        assert [line for line in complete("bash", typed) if line] == names

    check_all(NAMES, check)


def test_fish_and_zsh_are_sent_descriptions_too():
    expected = "Genes of yeast and their functions"
    assert any(line.startswith(f"yeast-tasks\t{expected}") for line in complete("fish", "run y"))
    assert f'"yeast-tasks":"{expected}' in "\n".join(complete("zsh", "run y"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_calls_this_program(shell, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    script = CliRunner().invoke(app, [], prog_name="mlstream", env={"_MLSTREAM_COMPLETE": f"source_{shell}"}).stdout
    assert "_MLSTREAM_COMPLETE=complete_" + shell in script


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "name"), [("mlstream run yeast-tasks -s me", "mean"), ("mlstream detect yeast-tasks -d AD", "ADWIN")]
)
def test_completion_imports_no_arrays(typed, name):
    code = "import sys\ntry:\n    from mlstream.cli import main; main()\nfinally:\n    print('MODULES', *sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "_MLSTREAM_COMPLETE": "complete_bash"}
    environment |= {"COMP_WORDS": typed, "COMP_CWORD": "4"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    found, _, modules = done.stdout.partition("MODULES ")
    assert found.split() == [name]
    assert not {"numpy", "scipy", "sklearn", "numba"} & set(modules.split())
