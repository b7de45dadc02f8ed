"""Records of older versions are read; those of newer versions are refused in one line that says what to do."""

import json
import re
import shutil
from pathlib import Path

import pytest

from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.search import Search
from mlstream.records.run_record import load_run, load_selection
from mlstream.records.schema import SCHEMA_VERSION
from tests.mlstream.evaluation.streams import Online, make_stream

STORED = Path(__file__).parent / "stored"


def test_records_of_version_0_1_are_read_and_resumed(tmp_path):
    old = json.loads((STORED / "run_of_0.1.json").read_text())
    assert (old["format_version"], "schema_version" in old) == (1, False)
    run = load_run(STORED / "run_of_0.1.json")
    assert run.schema_version == 1
    assert len({name.lower() for name in run.scores}) == len(run.scores)
    stepwise = {"BWT": "bwt_stepwise", "BWT+": "bwt_stepwise_gains", "BWT-": "bwt_stepwise_losses"}
    stepwise |= {"FWT": "fwt_stepwise", "FWT+": "fwt_stepwise_gains", "FWT-": "fwt_stepwise_losses"}
    renamed = stepwise | {"frug": "frug_kwh"}
    assert run.scores == {renamed.get(name, name): value for name, value in old["scores"].items()}
    assert (old["settings"]["energy_unit"], "energy_unit" in run.settings) == ("kWh", False)
    assert run.selection.objective == "frug_kwh"
    assert load_selection(STORED / "selection_of_0.1.json").selection == run.selection

    for kind in ("run", "selection"):
        folder = tmp_path / f"{kind}s" / "tiny"
        folder.mkdir(parents=True)
        shutil.copyfile(STORED / f"{kind}_of_0.1.json", folder / "searched-seed0.json")
    states = []
    campaign = {"searched": Search(Online(), {"step": [0.1, 0.2]}, 2)}, [make_stream()], [0], tmp_path
    options = {"energy": "none", "n_checkpoints": 4, "progress": lambda event: states.append(event.state)}
    (kept,) = run_campaign(*campaign, **options, ties="order")
    assert (kept, states) == (run, ["kept"])
    with pytest.raises(ValueError, match=r"go on with its options \(ties = 'order', or --ties order\), use another"):
        run_campaign(*campaign, **options)


@pytest.mark.parametrize(("settings", "name"), [({}, "frug_kwh"), ({"energy_unit": "kJ"}, "frug_kj")])
@pytest.mark.parametrize(("method", "objective"), [({}, None), ({"method": "training-environment"}, "nce")])
def test_older_frugality_gets_the_name_of_its_unit(tmp_path, settings, name, method, objective):
    old = json.loads((STORED / "run_of_0.1.json").read_text())
    old |= {"settings": settings, "undefined": {"frug": "Energy was not measured."}}
    old["scores"]["frug"] = 0.5
    old["selection"] |= method
    for record in (old, {"run": {"settings": settings}, "selection": old["selection"]}):
        path = tmp_path / "record.json"
        path.write_text(json.dumps(record))
        read = load_run(path) if record is old else load_selection(path)
        assert read.selection.objective == (objective or name)
        if record is old:
            assert (read.scores[name], "frug" in read.scores, [*read.undefined]) == (0.5, False, [name])
            assert read.settings == {"ties": "order"}


def test_a_campaign_whose_records_have_no_version_is_resumed(tmp_path):
    strategies = {"online": Online(), "searched": Search(Online(), {"step": [0.1, 0.2]}, 2)}
    first = run_campaign(strategies, [make_stream()], [0], tmp_path, energy="none")
    files = sorted(path for kind in ("runs", "selections") for path in (tmp_path / kind).rglob("*.json"))
    assert len(files) == 3
    for path in files:
        content = json.loads(path.read_text())
        assert content.pop("schema_version") == SCHEMA_VERSION
        path.write_text(json.dumps(content))
    before = {path: path.read_bytes() for path in files}
    states = []
    run_campaign(
        strategies, [make_stream()], [0], tmp_path, energy="none", progress=lambda event: states.append(event.state)
    )
    assert states == ["kept", "kept"]
    assert {path: path.read_bytes() for path in files} == before
    # A run that is made again uses the choice that was made before.
    files[1].unlink()
    again = run_campaign(strategies, [make_stream()], [0], tmp_path, energy="none")
    assert [one.selection for one in again] == [one.selection for one in first]


def test_reasons_keep_the_names_of_their_scores(tmp_path):
    old = json.loads((STORED / "run_of_0.1.json").read_text())
    old["scores"] |= {"BWT": None, "BWT+": None}
    old["undefined"] |= {"BWT": "R[0, 1] must be measured.", "BWT+": "R[0, 1] must be measured."}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(old))
    run = load_run(path)
    assert {name for name, value in run.scores.items() if value is None} == run.undefined.keys()
    assert run.undefined["bwt_stepwise_gains"] == "R[0, 1] must be measured."


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, 0, "1", None])
def test_another_version_is_refused_in_one_line_that_says_what_to_do(tmp_path, version):
    path = tmp_path / "x.json"
    path.write_text(
        json.dumps(json.loads((STORED / "run_of_0.1.json").read_text()) | {"schema_version": version, "new": 1})
    )
    message = f"{path} must hold a RunResult of this version (update mlstream, or use another folder): "
    with pytest.raises(
        ValueError, match=re.escape(message) + r"schema_version must be 1 to 2. Got .* instead.$"
    ) as refusal:
        load_run(path)
    assert "\n" not in str(refusal.value)


def test_a_label_space_whose_meaning_has_changed_is_not_that_of_an_older_record(tmp_path):
    strategies, stream = {"online": Online()}, make_stream()
    for label_space in ("task", "seen"):
        folder = tmp_path / label_space
        run_campaign(strategies, [stream], [0], folder, energy="none", label_space=label_space)
        (path,) = (folder / "runs").rglob("*.json")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 1}))
    run_campaign(strategies, [stream], [0], tmp_path / "task", energy="none", label_space="task")
    with pytest.raises(ValueError, match=r"label_space = 'seen \(records of version 1\)' instead of 'seen'"):
        run_campaign(strategies, [stream], [0], tmp_path / "seen", energy="none", label_space="seen")
