"""The command line works as documented, starts quickly, and reports errors in one line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mlstream import cli
from mlstream.formats import load

DENSE = """@relation 'tiny: -C 2'
@attribute p {0,1}
@attribute q {0,1}
@attribute a numeric
@attribute b numeric
@data
"""


def run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "mlstream", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


def call(*arguments):
    """Run a command in this process; give the exit status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["mlstream", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
    return stopped.value.code or 0


@pytest.fixture(scope="module")
def stream_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("stream") / "yeast.npz"
    assert call("generate", "yeast", "--seed", "1", "--name", "yeast-1", "-o", path) == 0
    return path


def write_rows(path: Path, rows: list[str]) -> Path:
    path.write_text(DENSE + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def interrupt(*_arguments, **_options):
    raise KeyboardInterrupt


def interrupt_in_numpy(*_arguments, **_options):
    raise TypeError("Cannot compare structured arrays") from KeyboardInterrupt()


@pytest.mark.parametrize("interrupt", [interrupt, interrupt_in_numpy])
def test_an_interrupt_is_one_line(stream_file, tmp_path, monkeypatch, capsys, interrupt):
    monkeypatch.setattr("mlstream.formats.save", interrupt)
    assert call("convert", stream_file, tmp_path / "out.npz") == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_help_names_every_command_and_imports_nothing_slow():
    slow = "{'numba', 'sklearn', 'torch', 'river', 'numpy', 'pydantic'}"
    script = (
        "import sys\nsys.argv = ['mlstream', '--help']\nfrom mlstream.cli import main\n"
        f"try: main()\nexcept SystemExit as stop: assert not stop.code\nprint(sorted({slow} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    commands = (
        "demo",
        "datasets",
        "generate",
        "scenario",
        "synthesise",
        "iirc",
        "label-emerging",
        "carve",
        "perturb",
        "suggest-tasks",
        "inspect",
        "convert",
        "publish",
        "verify",
        "upload",
        "regenerate",
        "cards",
        "run",
        "report",
        "track",
    )
    assert all(command in done.stdout for command in commands)


@pytest.mark.parametrize("arguments", [(), ("list",)])
def test_datasets_lists_what_is_embedded(arguments, capsys):
    assert call("datasets", *arguments) == 0
    assert "embedded (river)" in capsys.readouterr().out


def test_upload_verifies_first(tmp_path, capsys):
    assert call("upload", tmp_path, "me/stream", "--endpoint", "http://127.0.0.1:9") == 1
    assert "SHA256SUMS is missing" in capsys.readouterr().err


def test_datasets_fetch_says_where_files_are_or_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    monkeypatch.setenv("MLSTREAM_CACHE", str(tmp_path))
    assert call("datasets", "fetch", "yeast") == 0
    assert capsys.readouterr().out.rstrip().endswith("yeast.csv.gz")
    assert call("datasets", "fetch", "mediamill", "--offline") == 1
    assert "No connection is allowed" in capsys.readouterr().err
    monkeypatch.setenv("MLSTREAM_OFFLINE", "1")
    assert call("datasets", "fetch", "scene") == 1


def test_inspect_shows_tasks_and_schedule(stream_file, capsys):
    assert call("inspect", stream_file) == 0
    shown = capsys.readouterr().out
    assert "Schedule" in shown
    assert "->" in shown
    assert "repeat the label set of the row before: " in shown
    assert "; in the source 3.8% (3.8% in random order)" in shown


@pytest.mark.slow
def test_inspect_measures_and_draws_on_demand(stream_file, tmp_path, capsys):
    assert call("inspect", stream_file, "--full", "--pictures", tmp_path / "pictures") == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("diversity", "P(Y|X)", "never learnt", "kappa of labels", "schedule.svg"))
    assert len(list((tmp_path / "pictures").iterdir())) == 8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")
def test_a_stream_is_published_verified_and_made_again(stream_file, tmp_path, capsys):
    folder, again = tmp_path / "published", tmp_path / "again.npz"
    assert call("publish", stream_file, folder) == 0
    assert call("verify", folder) == 0
    assert call("publish", stream_file, folder) == 1
    assert call("publish", stream_file, folder, "--force") == 0
    card = next(folder.glob("*card.json"))
    assert call("regenerate", card, "-o", again) == 0
    assert again.read_bytes() == stream_file.read_bytes()
    (folder / "stream.npz").write_bytes(b"spoilt")
    capsys.readouterr()
    assert call("verify", folder) == 1
    assert capsys.readouterr().err.startswith("Error: ")


@pytest.mark.parametrize(
    ("kind", "generator"),
    [("bilab", "multiplier_stream"), ("environments", "environment_stream"), ("hat-and-shirt", "hat_and_shirt_stream")],
)
def test_a_synthetic_stream_is_made_from_its_kind_and_seed(kind, generator, tmp_path):
    assert call("synthesise", kind, "--seed", "3", "-o", tmp_path / "s.npz") == 0
    card = load(tmp_path / "s.npz").card
    assert (card.generator.name, card.generator.seed) == (generator, 3)
    assert call("synthesise", kind, "-o", tmp_path / "s.npz") == 1


@pytest.mark.parametrize(
    "name", ["class-incremental", "domain-incremental", "blurred-boundary", "instance-incremental"]
)
def test_a_scenario_is_made_from_its_name(name, tmp_path):
    assert call("scenario", "yeast", name, "--tasks", "3", "-o", tmp_path / "s.npz") == 0
    assert load(tmp_path / "s.npz").card.scenario.name == name


def test_an_unknown_scenario_lists_the_known_ones(tmp_path, capsys):
    assert call("scenario", "yeast", "no-such", "-o", tmp_path / "s.npz") == 1
    assert "class-incremental" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_convert_keeps_the_stream(stream_file, tmp_path):
    assert call("convert", stream_file, tmp_path / "s.arff.gz") == 0
    assert call("convert", tmp_path / "s.arff.gz", tmp_path / "s.npz") == 0
    assert (tmp_path / "s.npz").read_bytes() == stream_file.read_bytes()


@pytest.mark.slow
def test_runs_are_recorded_kept_and_reported(stream_file, tmp_path, capsys):
    runs = tmp_path / "runs"
    arguments = ("run", stream_file, "-s", "NN_TL,mean", "--seeds", "0,1", "-o", runs, "--energy", "none")
    assert call(*arguments) == 0
    records = {path: path.read_bytes() for path in runs.glob("runs/*/*.json")}
    assert len(records) == 4
    assert all(json.loads(record)["status"] == "done" for record in records.values())
    assert call(*arguments) == 0
    assert {path: path.read_bytes() for path in runs.glob("runs/*/*.json")} == records
    assert call("report", runs) == 0
    assert (runs / "report.html").exists()


OWN = """
from tests.mlstream.evaluation.streams import Online

class Mine(Online):
    pass
"""


def test_a_campaign_file_that_is_not_trusted_imports_nothing_beside_it(stream_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "not_imported.py").write_text("raise SystemExit('imported')")
    campaign = tmp_path / "campaign.toml"
    text = f'streams = ["{stream_file}"]\ndirectory = "out"\n[strategies.x]\nclass = "not_imported:A"\n'
    campaign.write_text(text)
    assert call("run", campaign) == 1
    assert "Got 'not_imported:A'; read it, then add --trust" in capsys.readouterr().err
    assert str(tmp_path) not in sys.path
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_campaign_file_is_run_kept_and_reported(stream_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "learners_of_my_own.py").write_text(OWN)
    text = f"""
streams = ["{stream_file}"]
directory = "out"
n_configurations = 2
energy = "none"
splits = [1]
[strategies.mean]
[strategies.NN]
[strategies.mine]
class = "learners_of_my_own:Mine"
parameters = {{ step = 0.1 }}
"""
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(text)
    assert call("run", campaign, "--trust") == 0
    records = {path: path.read_bytes() for path in tmp_path.glob("out/runs/*/*.json")}
    assert sorted(path.name for path in records) == [f"{name}-seed0-split1.json" for name in ("NN", "mean", "mine")]
    assert (tmp_path / "out" / "config.toml").read_text() == text
    assert (tmp_path / "out" / "report.html").exists()
    assert call("run", campaign, "--trust") == 0
    assert {path: path.read_bytes() for path in records} == records
    capsys.readouterr()
    campaign.write_text(text.replace("step = 0.1", "step = 0.2"))
    assert call("run", campaign, "--trust") == 1
    error = capsys.readouterr().err
    assert "mine-seed0-split1.json must be the record of the requested run" in error
    assert error.count("\n") == 1
    assert (tmp_path / "out" / "config.toml").read_text() == text
    assert {path: path.read_bytes() for path in records} == records


def test_failed_runs_end_with_one_line_and_status_1_after_all_others(stream_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "broken.py").write_text(
        "from tests.mlstream.evaluation.streams import Online\n\n\nclass Broken(Online):\n"
        "    def partial_fit(self, X, Y):\n        raise ArithmeticError('no more of this')\n"
    )
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(
        f'streams = ["{stream_file}"]\ndirectory = "out"\nenergy = "none"\nn_configurations = 0\n'
        '[strategies.bad]\nclass = "broken:Broken"\n[strategies.mean]\n'
    )
    assert call("run", campaign, "--trust") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "1 of 2 runs failed" in error
    (path,) = tmp_path.glob("out/runs/*/bad-seed0.json")
    assert f"Got ArithmeticError: no more of this ({path} keeps the traceback)" in error
    assert len(list(tmp_path.glob("out/runs/*/mean-seed0.json"))) == 1
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("c.toml", "--seeds", "1"),
            "--decision, --quiet, --times, --trust and --json may be combined with a campaign file. Got --seeds",
        ),
        (("c.toml",), "must name the directory of the records"),
        (("absent.toml",), "absent.toml: No such file"),
        (("yeast-task", "-o", "out"), "did you mean 'yeast-tasks'"),
        (("yeast-tasks",), "--output must name the folder"),
        (("yeast-tasks", "-o", "out", "--jobs", "0"), "--jobs must be a number of processes, or -1"),
        (("yeast-tasks", "-o", "out", "--seeds", ""), "--seeds must be whole numbers"),
        (("yeast-tasks", "-o", "out", "--strategies", ""), "A strategy must be one of"),
    ],
)
def test_a_campaign_that_cannot_be_is_one_line(arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text('streams = ["yeast-tasks"]\nstrategies = ["mean"]')
    assert call("run", *arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["c.toml"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["1,0,1.5,2", "0,1,1"], "line 8"),
        (["1,2,1.5,2"], "line 7"),
        (["1,0,?,2"], "line 7"),
        (["1,0,nan,2"], "line 7"),
        ([], "at least one row"),
        (["1,0,1,2", "0,1,2,2"], "4"),
    ],
    ids=["short row", "label not 0/1", "missing value", "NaN", "no rows", "fewer rows than tasks"],
)
def test_a_bad_table_is_one_line_and_nothing_is_written(rows, expected, tmp_path, capsys):
    source, target = write_rows(tmp_path / "bad.arff", rows), tmp_path / "bad.npz"
    assert call("generate", source, "-o", target) == 1
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert expected in error
    assert [path.name for path in tmp_path.iterdir()] == ["bad.arff"]


@pytest.mark.parametrize(
    ("name", "content"), [("absent.npz", None), ("empty.npz", b""), ("text.npz", b"no zip"), ("empty.arff", b"")]
)
def test_a_bad_stream_is_one_line(name, content, tmp_path, capsys):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert call("inspect", path) == 1
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert name in error


def test_an_output_that_exists_is_kept(stream_file, tmp_path, capsys):
    before = stream_file.read_bytes()
    assert call("generate", "yeast", "--seed", "2", "-o", stream_file) == 1
    assert call("publish", stream_file, tmp_path) == 1
    assert call("demo", "-o", tmp_path, "--no-browse") == 1
    assert capsys.readouterr().err.count("must not exist") == 3
    assert stream_file.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_strategy_is_named(stream_file, tmp_path, capsys):
    assert call("run", stream_file, "-s", "NN_LT", "-o", tmp_path / "runs") == 1
    assert "NN_LT" in capsys.readouterr().err


def test_blanks_around_the_names_of_strategies_do_not_count(stream_file, tmp_path):
    assert call("run", stream_file, "-s", "mean, last_class", "-o", tmp_path, "--energy", "none") == 0
    assert {path.name for path in tmp_path.glob("runs/*/*.json")} == {"mean-seed0.json", "last_class-seed0.json"}


def test_without_arguments_it_helps():
    done = run()
    assert "Usage" in done.stdout + done.stderr
