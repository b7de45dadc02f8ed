"""A campaign at the shell can be typed with several strategies, silenced and interrupted."""

import re

import pytest

from mlstream import save
from mlstream.campaign import executors
from mlstream.cli.app import main
from tests.mlstream.cli.commands import invoke
from tests.mlstream.evaluation.streams import make_stream


@pytest.fixture
def tiny(tmp_path):
    save(make_stream(), tmp_path / "tiny.npz")
    return tmp_path / "tiny.npz"


def test_options_of_strategies_add_up_and_parameters_name_runs(tiny, tmp_path):
    arguments = ("-s", "mean,last_class", "-s", "1NN(window=10)", "-o", tmp_path / "out", "--energy", "none")
    result = invoke("run", tiny, *arguments)
    assert result.exit_code == 0, result.output or result.exception
    assert len(list(tmp_path.glob("out/runs/tiny/*.json"))) == 3
    assert "1NN(window=10)" in result.output


def test_the_first_line_comes_before_anything_slow(tiny, tmp_path, monkeypatch, capsys):
    def stop(*_name):
        assert capsys.readouterr().out == f"Running NN,mean on {tiny}; records go to {tmp_path / 'out'}.\n"
        raise ValueError("here")

    monkeypatch.setattr("mlstream.publishing.named_streams.open_named", stop)
    monkeypatch.setattr("sys.argv", ["mlstream", "run", str(tiny), "-s", "NN,mean", "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == "Error: here\n"


@pytest.mark.filterwarnings("default:On tiny, seeds vary:UserWarning")
def test_seeds_vary_what_they_can_with_a_warning_and_a_folder_does_not_mix(tiny, tmp_path, monkeypatch, capsys):
    typed = [
        "mlstream",
        "run",
        str(tiny),
        "-s",
        "mean",
        "-o",
        str(tmp_path / "out"),
        "--energy",
        "none",
        "--seeds",
        "0,1",
    ]
    ends = []
    for more in (["--vary"], []):
        monkeypatch.setattr("sys.argv", [*typed, *more])
        with pytest.raises(SystemExit) as ended:
            main()
        ends.append((ended.value.code, capsys.readouterr()))
    (code, shown), (refused, then) = ends
    assert (code, refused) == (0, 1)
    assert shown.err.startswith(
        "Warning: On tiny, seeds vary the split of rows only. Every experience must hold one task"
    )
    assert "mean on tiny, seed 1, split 1: done" in shown.out
    assert then.err.startswith(f"Error: {tmp_path / 'out'} must hold no runs on tiny with vary (--vary)")
    assert {path.name for path in tmp_path.glob("out/runs/tiny/*")} == {f"mean-seed{n}-split{n}.json" for n in (0, 1)}


def test_times_say_where_cpu_time_went(tiny, tmp_path):
    options = ("-s", "mean,last_class", "-o", tmp_path / "out", "--energy", "none", "--times")
    lines = invoke("run", tiny, *options).output.splitlines()
    for strategy in ("mean", "last_class", "all"):
        assert re.search(rf"^ {strategy} +\d+\.\d\+\d+\.\d +\d+\.\d\+\d+\.\d *$", "\n".join(lines), re.MULTILINE)
    (header,) = [number for number, line in enumerate(lines) if line.startswith(" the campaign adds ")]
    (end,) = [number for number, line in enumerate(lines) if line.startswith(" together ")]
    parts = [float(re.search(r"  (\d+\.\d\d) ", line)[1]) for line in lines[header + 1 : end + 1]]
    # Each is rounded to hundredths.
    assert abs(sum(parts[:-1]) - parts[-1]) <= 0.005 * len(parts)
    whole, own = re.search(
        r"^CPU time: ([\d.]+) s in [\d.]+ s\. Learners' calls took ([\d.]+) s\.$", lines[header - 1]
    ).groups()
    assert abs(float(own) + parts[-1] - float(whole)) <= 0.11
    # a share of calls that took next to nothing says nothing
    assert all(float(share) < 1000 for share in re.findall(r"([\d.]+) %", "\n".join(lines)))
    again = invoke("run", tiny, *options).output
    assert "2 of 2 runs were recorded earlier, and are not counted." in again


def test_quiet_prints_nothing(tiny, tmp_path):
    result = invoke("run", tiny, "-s", "mean", "-o", tmp_path / "out", "--energy", "none", "--quiet", "--times")
    assert (result.exit_code, result.output) == (0, "")
    assert list(tmp_path.glob("out/runs/tiny/mean-seed0.json"))


def test_an_interrupt_says_what_is_recorded_and_that_the_same_command_goes_on(tiny, tmp_path, monkeypatch, capsys):
    first, run_job = [], executors.run_job

    def run_one_then_stop(*arguments):
        if first:
            raise KeyboardInterrupt
        first.append(1)
        return run_job(*arguments)

    monkeypatch.setattr(executors, "run_job", run_one_then_stop)
    typed = ["run", tiny, "-s", "mean,last_class,1NN", "-o", tmp_path / "out", "--energy", "none"]
    monkeypatch.setattr("sys.argv", ["mlstream", *map(str, typed)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == (
        f"Interrupted: 1 of 3 runs recorded in {tmp_path / 'out'}; the same command goes on.\n"
    )
    monkeypatch.setattr(executors, "run_job", run_job)
    assert invoke(*typed).exit_code == 0
