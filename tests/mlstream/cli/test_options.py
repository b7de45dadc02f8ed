"""An option has the same name, default and help in Python, in campaign files, on the command line and in docs."""

import inspect
import json
import math
import re
from pathlib import Path

import pytest
from typer.main import get_command

from mlstream import detect, evaluate, run_campaign, run_detections, save
from mlstream.campaign.config import load_config
from mlstream.cli import app
from mlstream.evaluation.settings import CampaignOptions, DetectionOptions, Settings, list_options
from tests.mlstream.cli.commands import invoke
from tests.mlstream.evaluation.streams import Online, make_stream

DOCS = Path(__file__).parents[3] / "docs" / "campaigns" / "campaigns.rst"
DETECTION_DOCS = DOCS.parents[1] / "scenarios" / "drift.rst"
OF_DETECTIONS = list_options(DetectionOptions)
OF_ONE_DETECTION = [one for one in OF_DETECTIONS if one.name not in ("seeds", "n_jobs")]
OF_RUNS, OF_CAMPAIGNS = list_options(Settings), list_options(CampaignOptions)
ALL = [*OF_CAMPAIGNS, *OF_RUNS]
# Values other than the defaults: as Python takes them, and as they are typed.
OTHERS = {
    "label_space": ("all", "all"),
    "metrics": (("hamming_loss", "lrap"), "hamming_loss,lrap"),
    "references": (True, None),
    "one_class": ("recall", "recall"),
    "ties": ("order", "order"),
    "decision": ("half", "half"),
    "also_decide": (("own",), "own"),
    "energy": ("cpu", "cpu"),
    "cpu_power_w": (7.5, "7.5"),
    "time_cap_s": (math.inf, "inf"),
    "n_checkpoints": (7, "7"),
    "window": (9, "9"),
    "chunk_size": (5, "5"),
    "warm_up_rows": (3, "3"),
    "label_budget": (0.2, "0.2"),
}


def documented(function) -> dict[str, str]:
    """Return the description of each documented parameter in one line."""
    text = inspect.cleandoc(function.__doc__).split("Parameters\n----------\n")[1].split("\n\nReturns")[0]
    parts = re.split(r"^(\*{0,2}\w+)(?: : .*)?\n", text, flags=re.MULTILINE)
    return {name: " ".join(body.split()) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def in_toml(value: object) -> str:
    return "none" if value is None else f"``{json.dumps(value)}``"


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (evaluate, OF_RUNS),
        (run_campaign, OF_CAMPAIGNS),
        (detect, OF_ONE_DETECTION),
        (run_detections, OF_DETECTIONS),
    ],
)
def test_functions_have_the_options_with_their_defaults_and_help(function, options):
    parameters, descriptions = inspect.signature(function).parameters, documented(function)
    for one in options:
        if (function, one.name) != (run_campaign, "seeds"):
            assert parameters[one.name].default == one.default, one.name
        assert descriptions[one.name].startswith(one.help), one.name


def test_a_campaign_takes_the_options_of_an_evaluation(tmp_path):
    (result,) = run_campaign({"a": Online()}, [make_stream()], [0], tmp_path, energy="none", window=9)
    assert result.settings["window"] == 9
    with pytest.raises(TypeError, match="windows"):
        run_campaign({"a": Online()}, [make_stream()], [0], tmp_path, windows=9)


def test_a_campaign_file_has_the_options_with_their_defaults_and_help(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text('streams = ["a"]\nstrategies = ["mean"]\n')
    fields = type(load_config(file)).model_fields
    assert set(fields) == {"streams", "strategies", "directory"} | {one.name for one in ALL}
    assert [(fields[one.name].default, fields[one.name].description) for one in ALL] == [
        (one.default, one.help) for one in ALL
    ]


def test_a_file_of_detections_has_the_options_with_their_defaults_and_help(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text('kind = "detect"\nstreams = ["a"]\ndetectors = ["DDM"]\nlearners = ["mean"]\n')
    fields = type(load_config(file)).model_fields
    assert set(fields) == {"streams", "detectors", "learners", "directory"} | {one.name for one in OF_DETECTIONS}
    assert [(fields[one.name].default, fields[one.name].description) for one in OF_DETECTIONS] == [
        (one.default, one.help) for one in OF_DETECTIONS
    ]


def test_the_command_of_detections_has_the_options_with_their_defaults_and_help():
    found = {param.name: param for param in get_command(app).commands["detect"].params}
    own = {"sources", "output", "detectors", "learners", "quiet", "as_json"}
    assert set(found) == own | {one.name for one in OF_DETECTIONS}
    for one in OF_DETECTIONS:
        param, default = found[one.name], one.default
        if isinstance(default, tuple):
            default = ",".join(map(str, default)) or None
        assert (tuple(param.opts), param.default, param.help) == (one.flags, default, one.help)


def test_the_command_has_the_options_with_their_defaults_and_help():
    found = {param.name: param for param in get_command(app).commands["run"].params}
    assert set(found) == {"sources", "output", "strategies", "times", "quiet", "trust", "as_json"} | {
        one.name for one in ALL
    }
    for one in ALL:
        param, default = found[one.name], one.default
        if isinstance(default, tuple):
            default = ",".join(map(str, default)) or None
        assert (tuple(param.opts), param.default, param.help) == (one.flags, default, one.help)


@pytest.mark.parametrize(("file", "options"), [(DOCS, ALL), (DETECTION_DOCS, OF_DETECTIONS)])
def test_docs_have_the_options_with_their_defaults_and_help(file, options):
    text = file.read_text(encoding="utf-8")
    for one in options:
        row = f"   * - ``{one.name}``\n     - ``{one.flags[0]}``\n     - {in_toml(one.default)}\n     - {one.help}\n"
        assert row in text, row


@pytest.mark.slow
def test_the_same_options_give_the_same_record_however_they_are_passed(tmp_path):
    from estimators.strategies import make_strategy

    assert set(OTHERS) == {one.name for one in OF_RUNS}
    stream, strategy = make_stream(), "last_class"
    save(stream, tmp_path / "tiny.npz")
    values = {name: value for name, (value, _) in OTHERS.items()}
    expected = evaluate(make_strategy(strategy), stream, **values)

    typed = [part for one in OF_RUNS for part in (one.flags[0], OTHERS[one.name][1]) if part is not None]
    done = invoke("run", tmp_path / "tiny.npz", "-s", strategy, "-o", tmp_path / "typed", *typed)
    assert done.exit_code == 0, done.output or done.exception

    lines = [f"{name} = {'inf' if value == math.inf else json.dumps(value)}" for name, value in values.items()]
    file = tmp_path / "campaign.toml"
    file.write_text("\n".join([*lines, 'streams = ["tiny.npz"]', f'strategies = ["{strategy}"]', 'directory = "file"']))
    done = invoke("run", file)
    assert done.exit_code == 0, done.output or done.exception

    for folder in ("typed", "file"):
        record = json.loads((tmp_path / folder / "runs" / "tiny" / f"{strategy}-seed0.json").read_text())
        assert (record["label_space"], record["settings"]) == (expected.label_space, expected.settings)
        assert record["R"] == expected.model_dump()["R"]


def test_a_search_is_made_only_on_demand_and_tables_say_so(tmp_path):
    save(make_stream(), tmp_path / "tiny.npz")
    for folder, arguments, tuning in (("a", (), "defaults"), ("b", ("--tune", "2"), "tuned (2)")):
        run = ("run", tmp_path / "tiny.npz", "-s", "1NN,mean", "--energy", "none", "-o", tmp_path / folder, *arguments)
        shown = invoke(*run)
        assert shown.exit_code == 0, shown.output or shown.exception
        assert [line.split("  ")[0].strip() for line in re.findall(r" (?:1NN|mean) +(.*)", shown.output)][-2:] == [
            tuning,
            "defaults",
        ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--time-cap", "0"), "--time-cap must be a positive number, or inf for no cap. Got 0.0"),
        (("--checkpoints", "0"), "--checkpoints must be a whole number, at least 1. Got 0"),
        (("--tune", "-1"), "--tune must be a whole number, at least 0. Got -1"),
        (("--cpu-power", "-1"), "--cpu-power must be a positive number. Got -1.0"),
        (("--seeds", "-1"), "each of --seeds must be a whole number from 0 to 2**32 - 1. Got -1"),
        (("--metrics", "lrpa"), "Got 'lrpa' instead; did you mean 'lrap'?"),
        (("--metrics", "lrap,lrap"), "--metrics must hold each name once. Got ['lrap', 'lrap'] instead."),
        (("--vary", "--orders", "1"), "--vary must be left out where --orders or --splits is given"),
        (("--splits", "x"), "--splits must be whole numbers split by commas. Got 'x'"),
    ],
)
def test_an_error_names_the_option_as_it_was_typed(arguments, message, tmp_path):
    done = invoke("run", "yeast-tasks", "-o", tmp_path / "out", *arguments)
    assert message in str(done.exception)
