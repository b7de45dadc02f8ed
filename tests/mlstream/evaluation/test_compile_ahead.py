import json
import os
import subprocess
import sys

import pytest

from mlstream.cli.progress import compilation_progress
from mlstream.evaluation.compile_ahead import Compilation, compile_ahead
from tests.mlstream.evaluation import kernels_ahead

USE = "from estimators import make_strategy; make_strategy('no_features').predict_then_fit([[0.0], [1.0]], [[0], [1]])"


def run(arguments, cache=None):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    return subprocess.run([sys.executable, *arguments], env=environment, check=True, capture_output=True, text=True)


@pytest.mark.slow
def test_all_names_meet_every_kernel_and_nothing_is_compiled_twice():
    found = json.loads(run([kernels_ahead.__file__]).stdout)
    assert found["missing"] == []
    assert found["kernels"] > 60
    assert found["again"] == 0


@pytest.mark.slow
def test_what_is_compiled_ahead_is_there_in_the_next_process(tmp_path):
    command = ["-m", "mlstream", "warm-up", "no_features", "mean"]
    first, second = (run(command, tmp_path) for _ in range(2))
    lines = first.stdout.splitlines()
    assert lines[0].startswith("no_features: ")
    assert len(lines) == 2
    assert int(lines[1].split()[0]) > 0
    assert second.stdout.startswith("0 kernels compiled")
    assert first.stderr == second.stderr == ""
    assert run(["-c", USE], tmp_path).stderr == ""


@pytest.mark.slow
def test_the_first_compilation_says_so_in_one_line(tmp_path):
    first, second = (run(["-c", USE], tmp_path).stderr for _ in range(2))
    assert first == (
        "Compiling kernels of estimators, once per installation: a few seconds. "
        "`mlstream warm-up` compiles all beforehand.\n"
    )
    assert second == ""


def test_an_unknown_name_is_refused_before_anything_is_compiled():
    with pytest.raises(
        ValueError, match=r"What is compiled must be among no_features, .* ARFF\. Got 'no_feature' instead"
    ):
        compile_ahead(["mean", "no_feature"])


def test_the_name_that_was_meant_comes_first_and_is_suggested():
    with pytest.raises(ValueError, match=r"among no_features, NN, .* instead; did you mean 'no_features'\?"):
        compile_ahead(["no_feature"])


@pytest.mark.slow
def test_nothing_is_compiled_that_could_not_be_kept(tmp_path):
    place = tmp_path / "file"
    place.touch()
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(["-m", "mlstream", "warm-up", "mean"], place)
    assert caught.value.stdout == ""
    assert caught.value.stderr == (
        f"Error: A folder for compiled kernels must be writable. Got {place} instead; "
        "set NUMBA_CACHE_DIR to a folder of yours.\n"
    )


@pytest.mark.slow
def test_where_nothing_is_kept_the_note_does_not_advise_to_compile_ahead(tmp_path):
    place = tmp_path / "file"
    place.touch()
    errors = run(["-W", "ignore", "-c", USE], place).stderr
    assert errors == "Compiling kernels of estimators, in every process: a few seconds.\n"


def test_one_kernel_is_not_called_kernels(capsys):
    with compilation_progress(1) as show:
        show(Compilation("mean", 1, 0.25))
    assert capsys.readouterr().out == "mean: 1 kernel, 0.2 s\n"
