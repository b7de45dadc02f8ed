"""Names that can be typed are listed, and the version is printed."""

import sys
from importlib import metadata

import pytest

import mlstream
from estimators.detectors import DETECTORS
from estimators.strategies import STRATEGIES
from mlstream.cli.options import parse_detectors, parse_strategies
from mlstream.publishing.presets import PRESETS
from tests.mlstream.cli.commands import invoke


def test_the_version_is_that_of_the_distribution():
    result = invoke("--version")
    assert (result.exit_code, result.output) == (0, f"mlstream {mlstream.__version__}\n")
    assert metadata.version("mlstream-toolkit") == mlstream.__version__


def test_strategies_are_listed_one_a_line_with_what_they_are():
    lines = invoke("strategies").output.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(STRATEGIES)
    assert all(len(line.split()) > 2 for line in lines)


def test_a_strategy_whose_package_is_absent_is_listed_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    for command in (["strategies"], ["strategies", "window_LightGBM"]):
        shown = " ".join(invoke(*command).output.split())
        assert shown.count("Not here: pip install 'mlstream-toolkit[lightgbm]'") == 1


def test_the_parameters_of_a_strategy_are_listed_with_their_grid():
    result = invoke("strategies", "NN_TLH")
    shown = [line.split(maxsplit=1) for line in result.output.splitlines()]
    assert ["learning_rate", "0.1, 0.01, 0.001"] in [[part.strip() for part in line] for line in shown]
    refusal = str(invoke("strategies", "NN_TLHH").exception)
    assert "must be one of NN_TLH, " in refusal
    assert "did you mean 'NN_TLH'?" in refusal


def test_detectors_are_listed_with_what_they_are_and_their_parameters():
    shown = invoke("detectors").output
    found = [line.split()[0] for line in shown.splitlines()[1:] if not line.startswith("  ")]
    assert found == list(DETECTORS)
    assert "delta=0.002" in shown


def test_detectors_are_names_or_calls_split_by_commas_or_options():
    found = parse_detectors(["DDM, ADWIN(delta=0.1)", "LabelDrift(detector='HDDMA', correction=None)"])
    assert list(found) == ["DDM", "ADWIN(delta=0.1)", "LabelDrift(detector='HDDMA', correction=None)"]
    assert [str(one) for one in found.values()] == [
        "DDM()",
        "ADWIN(delta=0.1)",
        "LabelDrift(correction=None, detector=HDDMA())",
    ]
    with pytest.raises(
        ValueError, match=r"--detector must be names, or NAME\(parameter=value, \.\.\.\). Got 'DDM\(1\)'"
    ):
        parse_detectors(["DDM(1)"])


def test_streams_are_listed_one_a_line_with_their_size_and_what_they_are():
    lines = invoke("streams").output.splitlines()[1:]
    listed = [[name, f"{preset.n_rows:,}", *map(str, preset[4:])] for name, preset in PRESETS.items()]
    assert [line.split()[:6] for line in lines] == listed
    assert all(line.rstrip().endswith(".") and len(line.split()) > 10 for line in lines)


def test_strategies_are_names_or_calls_split_by_commas_or_options():
    found = parse_strategies(["NN, mean", "1NN(window=10, metric='cosine')", "NN_TL(learning_rate=0.1)"])
    assert list(found) == ["NN", "mean", "1NN(window=10, metric='cosine')", "NN_TL(learning_rate=0.1)"]
    assert (found["NN"], found["mean"]) == ("NN", "mean")
    nearest, network = list(found.values())[2:]
    assert (nearest.window, nearest.metric, network.learning_rate) == (10, "cosine", 0.1)


@pytest.mark.parametrize(
    "text", ["NN(0.1)", "NN(**{})", "NN(learning_rate=)", "NN(learning_rate=open('x'))", "NN(", "NN)(", "NN(a=1)x"]
)
def test_what_is_no_literal_parameter_is_refused(text):
    with pytest.raises(ValueError, match=r"--strategies must be names, or NAME\(parameter=value, \.\.\.\)\. Got .NN"):
        parse_strategies([text])


def test_an_unknown_parameter_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"NN must have parameters among \['learning_rate'\]. Got 'rate' instead"):
        parse_strategies(["NN(rate=1)"])
