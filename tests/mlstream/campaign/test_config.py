"""A campaign file is read as it is meant, or refused in one sentence that says why."""

import math
import os
import re
from dataclasses import asdict

import pytest

from mlstream.campaign.config import load_config
from mlstream.campaign.search import Search
from mlstream.evaluation.settings import CampaignOptions, Settings
from tests.loops import check_all
from tests.mlstream.evaluation.streams import Online

HEAD = 'streams = ["a.npz"]\n'


def config(tmp_path, text):
    path = tmp_path / "campaign.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)


def test_what_is_left_out_is_as_in_the_protocol(tmp_path):
    read = config(tmp_path, HEAD + 'strategies = ["NN", "mean"]')
    assert read.options == asdict(CampaignOptions()) | asdict(Settings())
    assert read.learners()["NN"].learning_rate == 0.01


def test_everything_can_be_said(tmp_path):
    text = """
streams = ["a.npz", "yeast-tasks"]
seeds = [3, 4]
vary = false
orders = [0, 1]
splits = [2]
n_configurations = 2
selection = "validation-environment"
objective = "frug_kj"
query_budget = 7
directory = "out"
n_jobs = 2
dask = "tcp://x:1"
label_space = "seen"
metrics = ["lrap"]
references = true
one_class = "recall"
ties = "order"
decision = "half"
also_decide = ["own"]
energy = "none"
cpu_power_w = 30.0
time_cap_s = inf
n_checkpoints = 9
window = 50
chunk_size = 64
warm_up_rows = 3
label_budget = 0.5

[strategies.NN]
[strategies.fast]
strategy = "NN"
parameters = { learning_rate = 0.1 }
[strategies.trees]
strategy = "BR_HT"
parameters = { tau = 0.05 }
grid = { delta = [1e-6, 1e-7] }
[strategies.mine]
class = "tests.mlstream.evaluation.streams:Online"
parameters = { step = 0.25 }
[strategies.searched]
class = "tests.mlstream.evaluation.streams:Online"
grid = [{ step = [0.1, 0.2] }]
"""
    read = config(tmp_path, text)
    learners = read.learners(trust=True)
    assert learners["NN"] == Search("NN", n_configurations=2)
    assert learners["fast"].learning_rate == 0.1
    assert learners["trees"] == Search("BR_HT", {"delta": [1e-6, 1e-7]}, 2, {"tau": 0.05})
    assert isinstance(learners["mine"], Online)
    assert learners["mine"].step == 0.25
    assert learners["searched"].draw(0) == Search(Online(), {"step": [0.1, 0.2]}, 2).draw(0)
    assert read.options == {
        "seeds": [3, 4],
        "vary": False,
        "orders": [0, 1],
        "splits": [2],
        "n_configurations": 2,
        "selection": "validation-environment",
        "objective": "frug_kj",
        "query_budget": 7,
        "n_jobs": 2,
        "dask": "tcp://x:1",
        "label_space": "seen",
        "metrics": ["lrap"],
        "references": True,
        "one_class": "recall",
        "ties": "order",
        "decision": "half",
        "also_decide": ["own"],
        "energy": "none",
        "cpu_power_w": 30.0,
        "time_cap_s": math.inf,
        "n_checkpoints": 9,
        "window": 50,
        "chunk_size": 64,
        "warm_up_rows": 3,
        "label_budget": 0.5,
    }


def test_a_grid_without_a_number_of_configurations_is_refused(tmp_path):
    read = config(tmp_path, HEAD + "[strategies.NN]\ngrid = { learning_rate = [0.1] }")
    with pytest.raises(ValueError, match=r"n_configurations must be at least 1 .*strategies.NN.grid.* Got 0 instead"):
        read.learners()


def test_a_file_that_makes_no_sense_is_refused(tmp_path):
    def check(case):
        number, (text, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(ValueError, match=f"^{folder / 'campaign.toml'}.*{message}") as refusal:
            config(folder, HEAD + text)
        assert not re.search(r"Input should|pydantic|\n", str(refusal.value).replace(str(folder), ""))

    check_all(
        enumerate(
            [
                (
                    'strategies = ["NN"]\nsedes = [1]',
                    r": every key .* Got 'sedes' instead; did you mean 'seeds'\?",
                ),
                (
                    "[strategies.x]\nparametrs = {}",
                    r"Got 'strategies.x.parametrs' instead; did you mean 'parameters'\?",
                ),
                ("", "strategies must be given"),
                ("strategies = []", r"strategies must have at least 1 entry. Got \[\] instead"),
                (
                    "strategies = 3",
                    "must be a list in square brackets, or be a table. Got 3 .a whole number. instead",
                ),
                ("strategies.x = 3", "strategies.x must be a table. Got 3 .a whole number. instead"),
                (
                    "[strategies.x]\ngrid = { a = [] }",
                    r"strategies.x.grid.a must have at least 1 entry. Got \[\] instead",
                ),
                ('strategies = ["NN"]\nseeds = [-1]', r"seeds.0 must be at least 0. Got -1 instead"),
                ('strategies = ["NN"]\nseeds = [1.0]', r"seeds.0 must be a whole number. Got 1.0 .a number. instead"),
                (
                    'strategies = ["NN"]\nseeds = 1',
                    r"seeds must be a list in square brackets. Got 1 .a whole number. instead",
                ),
                ('strategies = ["NN"]\nn_jobs = "two"', r"n_jobs must be a whole number. Got 'two' .text. instead"),
                ('strategies = ["NN"]\njobs = 2', r"Got 'jobs' instead; did you mean 'n_jobs'\?"),
                ('strategies = ["NN"]\nn_jobs = 0', r"n_jobs must be a number of processes.*Got 0 instead"),
                ('strategies = ["NN"]\nn_jobs = 1.5', r"n_jobs must be a whole number. Got 1.5 .a number. instead"),
                (
                    'strategies = ["NN"]\nreferences = 3',
                    r"references must be true or false. Got 3 .a whole number. instead",
                ),
                ('strategies = ["NN"]\ntime_cap_s = "x"', r"time_cap_s must be a number. Got 'x' .text. instead"),
                ('strategies = ["NN"]\ndirectory = ["x"]', r"directory must be text. Got \['x'\] .a list. instead"),
                (
                    f'strategies = ["NN"]\ndirectory = ["{"x" * 3000}"]',
                    r"directory must be text. Got \['xxx[x.]{,120}'\] .a list. instead",
                ),
                ('strategies = ["NN"]\nlabel_space = "tsk"', "'task', 'seen' or 'all'"),
                ('strategies = ["NN"]\nobjective = "frug"', "objective must be .*'frug_kwh' or 'frug_kj'"),
                (
                    'strategies = ["NN"]\nvary = true\nsplits = [1]',
                    "vary must be left out where orders or splits is given: each seed sets both. Got vary and splits",
                ),
                ('strategies = ["NN"]\ntime_cap_s = 0', "time_cap_s must be a positive number"),
                ("strategies = NN", "must be TOML. Got this: .*line 2"),
                ("kind = ['detect']", r"kind must be 'evaluate' or 'detect'. Got \['detect'\] instead"),
                (f"seeds = [{'9' * 5000}]", "must be TOML. Got this: Exceeds the limit"),
                (f"seeds = [0x{'f' * 5000}]", "must be TOML with integers of at most 64 bits"),
                (f"x = {'[' * 5000}{']' * 5000}", "must be TOML of at most 50 levels"),
                (f"x{'.x' * 500} = 1", "must be TOML of at most 50 levels"),
            ]
        ),
        check,
    )


def test_a_file_is_bounded_and_plain(tmp_path):
    path = tmp_path / "campaign.toml"
    path.write_bytes(b"#")
    os.truncate(path, 2**24 + 1)
    with pytest.raises(ValueError, match=f"^{path} must be of 16777216 bytes at most. Got more."):
        load_config(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match=f"^{path} must be a plain file. Got a named pipe."):
        load_config(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('strategies = ["NN_LT"]', "did you mean 'NN_TL'"),
        ("[strategies.NN]\nparameters = { rate = 1 }", "Got 'rate' instead"),
        ("n_configurations = 2\n[strategies.NN]\ngrid = { rate = [1] }", "Got 'rate' instead"),
        ('[strategies.x]\nclass = "no.such:Thing"', r"strategies.x: no.such:Thing must be a class .* Got Mod"),
        (
            '[strategies.x]\nclass = "collections:Counter"',
            "Counter has no method to learn, and was not called",
        ),
        ('[strategies.x]\nclass = "json:Thing"', "has no attribute 'Thing'"),
        ('[strategies.x]\nclass = "json"', "must have a class such as 'package.module:Class'"),
        ('[strategies.x]\nclass = "a:B"\nstrategy = "NN"', "or a strategy"),
    ],
)
def test_a_learner_that_does_not_exist_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        config(tmp_path, HEAD + text).learners(trust=True)


@pytest.mark.parametrize("class_", ["os:mkdir", "pathlib:Path.mkdir", "subprocess:Popen", "os:environ"])
def test_only_classes_that_learn_are_called(tmp_path, monkeypatch, class_):
    monkeypatch.chdir(tmp_path)
    parameters = "{ path = 'made' }" if class_ == "os:mkdir" else "{ args = ['mkdir', 'made'] }"
    text = f'{HEAD}[strategies.x]\nclass = "{class_}"\nparameters = {parameters}'
    with pytest.raises(ValueError, match=f"^strategies.x: {class_} must be a class of estimators"):
        config(tmp_path, text).learners(trust=True)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("class_", ["spying:Mine", "estimatorsx:Mine", "spying.estimators:Mine"])
def test_without_trust_nothing_is_imported(tmp_path, monkeypatch, class_):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("spying.py", "estimatorsx.py"):
        (tmp_path / name).write_text("open('spied', 'w')")
    text = f'[strategies.x]\nclass = "{class_}"\n'
    with pytest.raises(ValueError, match=r"^strategies\.x: a class must be of estimators, .* add --trust"):
        config(tmp_path, HEAD + text).learners()
    detection = f'kind = "detect"\n{HEAD}detectors = ["ADWIN"]\n{text.replace("strategies", "learners")}'
    with pytest.raises(ValueError, match=r"^learners\.x: a class must be of estimators"):
        config(tmp_path, detection).make_learners()
    assert not (tmp_path / "spied").exists()


def test_classes_of_estimators_need_no_trust(tmp_path):
    text = '[strategies.x]\nclass = "estimators:StreamRidgeClassifier"\n'
    assert type(config(tmp_path, HEAD + text).learners()["x"]).__name__ == "StreamRidgeClassifier"


@pytest.mark.parametrize(
    ("module", "message"),
    [("def f(:", "SyntaxError: invalid syntax"), ("raise RuntimeError('boom')", "RuntimeError: boom")],
)
def test_a_module_that_cannot_be_imported_is_one_message(tmp_path, monkeypatch, module, message):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_learners.py").write_text(module)
    with pytest.raises(ValueError, match=f"strategies.x: broken_learners:A must be a class .* Got {message}"):
        config(tmp_path, HEAD + '[strategies.x]\nclass = "broken_learners:A"').learners(trust=True)


@pytest.mark.parametrize("text", ['class = "json"', 'class = "no.such:Thing"'])
def test_an_error_about_a_learner_names_the_table_that_holds_it(tmp_path, text):
    file = f'kind = "detect"\n{HEAD}detectors = ["ADWIN"]\n[learners.x]\n{text}\n'
    with pytest.raises(ValueError, match=r"^learners\.x"):
        config(tmp_path, file).make_learners(trust=True)


def test_the_kind_is_among_the_keys_that_are_known(tmp_path):
    with pytest.raises(ValueError, match=r"one of kind, streams.* Got 'kin' instead; did you mean 'kind'\?"):
        config(tmp_path, f'kin = "detect"\n{HEAD}strategies = ["NN"]')
