"""The commands that write, each with its inputs and what it writes."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mlstream.challenge.inbox import TOKEN
from mlstream.challenge.state.teams import team_of_token
from tests.mlstream.cli.commands import write_table
from tests.soak.faults.commands import Commands

_RULES = 'name = "Faults"\nqueries_per_day = 1000\ninvalid_per_day = 1000\n'
_WRITTEN = ("t.arff", "zoo.arff", "challenge.toml")
# Superclasses and subclasses, by their names.
_ZOO = {"label_names": ("bear", "bear.polar", "bear.brown", "dog"), "label_sets": ("1100", "1010", "0001")}
_RUN = "--energy none --quiet"
# Run once, one after the other, in the folder of the inputs.
_PREPARATION = (
    "generate t.arff -o s.npz",
    "publish s.npz published",
    "synthesise events -o log.csv --days 1 --hosts 2 --events-per-hour 2",
    "synthesise hyperplane -o d.npz --rows 200",
    "synthesise environments -o e.npz --rows 60 --seed 1099511627777",
    f"run s.npz -s mean,last_class -o runs {_RUN}",
    f"run s.npz -s mean -o some {_RUN}",
    "detect d.npz -d ADWIN -l mean -o detections",
    "challenge create e.npz --config challenge.toml --folder org --bundle bundle --force",
    "challenge predict bundle -s mean -o mean.csv",
    "challenge predict bundle -s last_class -o last.csv",
)


@dataclass(frozen=True)
class Case:
    """One command.

    Parameters
    ----------
    command : str
        Its arguments.
    inputs : str
        Files and folders that it needs, split by spaces. It runs in a folder that holds copies of them.
    target : str
        Patterns of what it writes as one, which is there wholly or not at all. Every other file is so by itself.
    earlier : str
        The arguments of a command that wrote an older target; none if empty.
    check : str
        The arguments of a command that must succeed afterwards, whatever has failed.
    """

    command: str
    inputs: str = ""
    target: str = ""
    earlier: str = ""
    check: str = ""


_CHALLENGE = "org Ada.token mean.csv last.csv"
_ORG = "--folder org --token-file Ada.token"
_AUDIT = "challenge audit org"
CASES = (
    Case("generate t.arff -o out.npz", "t.arff", "out.npz"),
    Case("generate t.arff -o out.npz --force", "t.arff", "out.npz", earlier="generate t.arff -o out.npz --seed 1"),
    Case("generate t.arff -o out.arff", "t.arff", "out*"),
    Case("scenario t.arff class-incremental -o out.train.csv", "t.arff", "out*"),
    Case("label-emerging t.arff -o out.train.parquet", "t.arff", "out*"),
    Case("iirc zoo.arff --first-labels 1 --labels-per-task 2 -o out.npz", "zoo.arff", "out.npz"),
    Case("carve t.arff --roles train,train,test -o out.npz", "t.arff", "out.npz"),
    Case("windowed log.csv --time time --label threat --by host --every 1h -o out.arff", "log.csv", "out.arff"),
    Case("windowed log.csv --time time --label threat --every 1h -o out.parquet", "log.csv", "out.parquet"),
    Case("synthesise events -o out.csv --days 1 --hosts 2 --events-per-hour 2", "", "out.csv"),
    Case("synthesise rand -o out.npz --rows 60", "", "out.npz"),
    Case("perturb noisy-labels s.npz --rate 0.1 -o out.npz", "s.npz", "out.npz"),
    Case("convert s.npz out.arff", "s.npz", "out*"),
    Case("convert s.npz out.arff --force", "s.npz t.arff", "out*", earlier="generate t.arff -o out.arff --seed 1"),
    Case("convert s.npz out.train.csv.gz", "s.npz", "out*"),
    Case(
        "convert s.npz out.train.parquet --force", "s.npz t.arff", "out*",
        earlier="generate t.arff -o out.train.parquet --seed 1",
    ),
    Case("inspect s.npz --pictures out", "s.npz"),
    Case("publish s.npz out", "s.npz", "out*"),
    Case(
        "publish s.npz out --force --title Newer", "s.npz", "out", earlier="publish s.npz out --title Older",
        check="verify out",
    ),
    Case("regenerate published -o out.npz", "published t.arff", "out.npz"),
    Case(f"run s.npz -s mean,last_class -o out {_RUN}", "s.npz"),
    Case(f"run s.npz -s mean,last_class -o some {_RUN}", "s.npz some"),
    Case(f"run s.npz -s mean,last_class -o out {_RUN} --jobs 2", "s.npz"),
    Case(f"run s.npz -s NN -o out {_RUN} --tune 2", "s.npz"),
    Case("detect d.npz -d ADWIN,DDM -l mean -o out", "d.npz"),
    Case("report runs --tables --figures", "runs"),
    Case("report detections -o new/page.html", "detections"),
    Case(
        "challenge create e.npz --config challenge.toml --folder new --bundle out --force", "e.npz challenge.toml",
        "new out",
    ),
    Case("challenge join org Bob", "org", check=_AUDIT),
    Case("challenge invite org", "org", check=_AUDIT),
    Case("challenge merge org Ada Eve", "org", check=_AUDIT),
    Case("challenge predict bundle -s mean -o out.csv", "bundle", "out.csv"),
    Case(f"challenge submit mean.csv {_ORG}", _CHALLENGE, check=_AUDIT),
    Case("challenge score org --inbox inbox --once", "org inbox", check=_AUDIT),
    Case(f"challenge select 1 {_ORG}", "used/org used/Ada.token", check=_AUDIT),
    Case("challenge leaderboard org --html out.html", "used/org", "out.html", check=_AUDIT),
    Case("challenge close org --early", "used/org", check=_AUDIT),
    Case("challenge release org --to out", "closed/org", "out", check=_AUDIT),
    Case(
        "challenge export org --to codabench -o out.zip --development-ends 2027-01-01T00:00",
        "org",
        "out.zip",
        check=_AUDIT,
    ),
)  # fmt: skip


def make_inputs(cases: Iterable[Case], folder: Path, commands: Commands) -> None:
    """Make the inputs of cases."""
    write_table(folder / "t.arff")
    write_table(folder / "zoo.arff", **_ZOO)
    (folder / "challenge.toml").write_text(_RULES, encoding="utf-8")
    if all(name in _WRITTEN for case in cases for name in case.inputs.split()):
        return
    for command in _PREPARATION:
        _succeed(commands, folder, command)
    _succeed(commands, folder, "challenge join org Eve")
    token = _succeed(commands, folder, "challenge join org Ada").splitlines()[-1]
    (folder / "Ada.token").write_text(token + "\n", encoding="utf-8")
    _move_into_inbox(folder, token)
    for name in ("used", "closed"):
        (folder / name).mkdir()
        for one in ("org", "Ada.token", "mean.csv"):
            _copy(folder / one, folder / name / one)
        _succeed(commands, folder / name, f"challenge submit mean.csv {_ORG}")
    _succeed(commands, folder / "closed", "challenge close org --early")


def copy_inputs(case: Case, inputs: Path, folder: Path) -> None:
    """Copy what a case needs into a folder that does not exist."""
    folder.mkdir()
    for name in case.inputs.split():
        _copy(inputs / name, folder / Path(name).name)


def _move_into_inbox(folder: Path, token: str) -> None:
    """Write a submission as `mlstream challenge submit --inbox` does."""
    place = folder / "inbox" / team_of_token(token)
    place.mkdir(parents=True)
    shutil.copyfile(folder / "last.csv", place / "last.csv")
    (place / TOKEN).write_text(token, encoding="utf-8")
    place.chmod(0o777)
    place.parent.chmod(0o1733)


def _succeed(commands: Commands, folder: Path, command: str) -> str:
    done = commands.run(folder, *command.split())
    if done.status != 0:
        raise RuntimeError(f"mlstream {command}: {done.errors}")
    return done.output


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)
