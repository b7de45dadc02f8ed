"""A law for paths: however a path is spelled, a command does what it does with the absolute path.

A row is what is typed. In curly braces is a path: of a file if it has an ending, else of a folder. A row is run in a
copy of the files that it names, by absolute paths and by each spelling.
"""

import inspect
import os
import re
import shlex
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from mlstream import arena, load_dataset, publish, run_campaign, save
from mlstream.challenge.engine import Challenge
from mlstream.cli import app, main
from mlstream.cli.challenge import demo as challenge_demo
from mlstream.cli.errors import _commands
from mlstream.data.event_files import write_events
from mlstream.generators import environment_stream, synthetic_events, task_stream
from tests.mlstream.arena.drawn_records import join_arena
from tests.mlstream.challenge.challenges import draw, score_in_this_process
from tests.mlstream.cli.commands import write_table
from tests.mlstream.cli.test_perturb import PERTURBATIONS
from tests.mlstream.evaluation.streams import make_stream
from tests.mlstream.interop.hub_stand_in import run_hub

# Streams made by hand state no terms; the library of a hub calls its transport in a way that is deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The stream should state:UserWarning", "ignore::DeprecationWarning")

BUILT = typer.main.get_command(app)
# In the help of what is no path only.
MAY_BE_FILE = re.compile(r"\.(npz|xml)\b|path of a table|JSON file|^A stream,")
PATH = re.compile(r"\{(.+?)\}")
TABLE = "{table.csv} --labels {labels.xml} --about {about.toml} -o {new.npz}"
TEAM = "--folder {org} --token-file {team.token}"
ROWS = (
    f"generate {TABLE} --tasks 2",
    f"scenario {TABLE} class-incremental",
    f"label-emerging {TABLE}",
    f"carve {TABLE} --roles train,test",
    "iirc {zoo.arff} --labels {zoo.xml} --hierarchy {parents.json} --introductions {lists.json} -o {new.train.parquet} "
    "--about {about.toml}",
    "suggest-tasks {table.csv} --labels {labels.xml}",
    "windowed {log.csv} --time time --label threat --by host --every 1h -o {new.parquet}",
    *(f"synthesise {kind} --rows 20 -o {{new.npz}}" for kind in ("monolab", "bilab", "rand", "hyperplane", "tree")),
    *(f"synthesise {kind} --rows 20 -o {{new.npz}}" for kind in ("categorical", "interactions")),
    "synthesise rbf --rows 20 -o {new.arff}",
    "synthesise environments --rows 20 -o {new.npz}",
    "synthesise hat-and-shirt --copies 1 -o {new.npz}",
    "synthesise events --days 1 --hosts 1 -o {new.jsonl}",
    *(
        f"perturb {kind} {{toy.npz}} {shlex.join(map(str, options))} -o {{new.npz}}"
        for kind, options in PERTURBATIONS.items()
    ),
    "inspect {published}",
    "convert {n.npz} {new.arff}",
    "convert {a.arff} {new.train.csv.gz}",
    "convert {c.train.csv} {new.train.parquet}",
    "convert {p.train.parquet} {new.npz}",
    "publish {n.npz} {new} --about {about.toml}",
    "verify {published}",
    "regenerate {published} --table {toy.arff} -o {new.npz}",
    "regenerate {published/stream.card.json} --table {toy.arff} -o {new.npz}",
    "run {n.npz} {a.arff} -o {new} -s mean --energy none",
    "detect {n.npz} -o {new} -d ADWIN -l mean",
    "report {runs} -o {new.html}",
    "arena run mean -o {new} --lite --boards environments",
    "arena page -o {new} --learner {joined}",
    "arena pack {ran/mean} -o {new.zip}",
    "arena verify {mean.zip}",
    "cards {new}",
    "challenge create --config {rules.toml} --folder {new} --bundle {public}",
    "challenge create {rules.npz} --config {rules.toml} --folder {new} --bundle {public}",
    "challenge verify {org} --bundle {pub}",
    "challenge join {org} Bob",
    "challenge invite {org}",
    "challenge merge {org} Ada Eve",
    "challenge clock {org}",
    "challenge serve {org} --bundle {pub} --certificate {host.pem} --key {host.key}",
    "challenge score {org} --inbox {inbox} --once",
    "challenge leaderboard {org} --html {new.html}",
    "challenge close {org} --early",
    "challenge release {ended} --to {new}",
    "challenge audit {org}",
    "challenge predict {pub} -s mean -o {new.csv}",
    f"challenge submit {{mine.csv}} {TEAM}",
    "challenge submit {mine.csv} --inbox {inbox} --token-file {team.token} --timeout 0",
    f"challenge status {TEAM}",
    f"challenge select 1 {TEAM}",
)
# Of seconds each.
SLOW = (
    "demo -o {new}",
    "synthesise stand-in --tasks 2 --starts 1 -o {new.npz}",
    "suggest-tasks {toy.arff} --picture {new.png}",
    "inspect {n.npz} --pictures {new}",
    "run {campaign.toml}",
    "run {campaign.toml} -o {new}",
    "report {runs} --tables --figures",
    "upload {published} me/mine",
    "track {runs} --to http://127.0.0.1:9",
    "challenge demo --output {new}",
    "challenge export {org} --to codabench -o {new.zip} --development-ends '2099-02-01 00:00:00'",
)
# What they print, apart from paths, and write holds times, or what is drawn.
VARIES = re.compile("run|arena (?!pack|page)|detect|upload|demo|challenge (?!predict|verify)")
HASH = re.compile("[0-9a-f]{64}")
# A server that is not there, and a wait that ends.
FAILS = re.compile("track|.* --timeout 0")
HAS_HUB = find_spec("huggingface_hub") is not None


class Spelling(NamedTuple):
    """The folder of the files, the working directory, and what is typed before a path, and behind that of a folder."""

    files: str
    directory: str
    before: str
    behind: str = ""


SPELLINGS = {
    "relative": Spelling("files", "files", ""),
    "./x below a link, with a slash behind folders": Spelling("files", "link", "./", "/"),
    "../x below a link": Spelling("files", "inner-link", "../"),
    "in folders with a blank, a letter that is not ASCII, and called ~": Spelling("~/Zoë B", ".", "~/Zoë B/"),
}


class Outcome(NamedTuple):
    """Exit status of a command, the lines that it prints, and the content of all files, None where it varies."""

    status: object
    lines: list[str]
    files: dict[str, bytes | None]


class Place:
    """A folder in which rows are run on copies of the files in `template`."""

    def __init__(self, base, template):
        self.base, self.template = base, template
        (base / "link").symlink_to("files")
        (base / "inner-link").symlink_to("files/inner")
        self.known = {}

    def fill(self, row, spelling):
        """Copy the files of a row."""
        files = self.base / spelling.files
        shutil.rmtree(files, ignore_errors=True)
        (files / "inner").mkdir(parents=True)
        needed = {re.split("[./]", path)[0] for path in PATH.findall(row)}
        for one in self.template.iterdir():
            if one.name.split(".")[0] in needed:
                (shutil.copytree if one.is_dir() else shutil.copy2)(one, files / one.name)
        return files

    def run(self, row, spelling):
        """Run a row as it is spelled."""
        files = self.fill(row, spelling)
        status, printed = self.call([spell(word, spelling) for word in shlex.split(row)], spelling.directory)
        for start in filter(None, (f"{files}{os.sep}", spelling.before)):
            printed = printed.replace(start, "")
        lines, found = printed.splitlines(), contents(files)
        if VARIES.match(row):
            names = re.compile(rf"\b({'|'.join(map(re.escape, PATH.findall(row)))})\b")
            lines = [line for line in lines if names.search(line)]
            found = dict.fromkeys(HASH.sub("HASH", name) for name in found)
        return Outcome(status, lines, found)

    def call(self, words, directory):
        """Run a command; return its exit status, and what it prints."""
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out, redirect_stderr(out):
            patch.chdir(self.base / directory)
            patch.setattr(sys, "path", [*sys.path])
            patch.setattr(sys, "argv", ["mlstream", *words])
            with pytest.raises(SystemExit) as ended:
                main()
        return ended.value.code, out.getvalue()

    def compare(self, row, spelling):
        """Describe how a row that is spelled so differs from the absolute one; None if it does not."""
        if row not in self.known:
            self.known[row] = self.run(row, Spelling("files", ".", f"{self.base / 'files'}/"))
        expected, got = self.known[row], self.run(row, spelling)
        if bool(expected.status) != bool(FAILS.match(row)):
            return f"{row}: status {expected.status} by absolute paths: {expected.lines}"
        if got[:2] != expected[:2]:
            return f"{row}: {got[:2]} instead of {expected[:2]}"
        other = sorted({name for name, _ in got.files.items() ^ expected.files.items()})
        return f"{row}: other files: {', '.join(other)}" if other else None


def spell(word, spelling):
    return PATH.sub(lambda path: spelling.before + path[1] + ("" if is_file(path[1]) else spelling.behind), word)


def is_file(path):
    return "." in path


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """Return a folder with all the files that rows name, and what belongs to them."""
    at = tmp_path_factory.mktemp("template")
    write_table(at / "toy.arff")
    table = load_dataset(at / "toy.arff")
    rows = [",".join(f"{value:g}" for value in (*y, *x)) for x, y in zip(table.X, table.Y, strict=True)]
    (at / "table.csv").write_text("\n".join(["k,l,m,n,x,t", *rows]) + "\n")
    for file, names in {"labels.xml": "klmn", "zoo.xml": ("animal", "plant", "dog", "rose")}.items():
        labels = "".join(f"<label name='{name}'/>" for name in names)
        (at / file).write_text(f"<labels xmlns='http://mulan.sourceforge.net/labels'>{labels}</labels>")
    (at / "about.toml").write_text('data_biases = "None is known."\n')
    write_table(at / "zoo.arff", ("animal", "plant", "dog", "rose"), ("1000", "0100", "1010", "0101"))
    (at / "parents.json").write_text('{"dog": "animal", "rose": "plant"}')
    (at / "lists.json").write_text('[["animal", "plant"], ["dog", "rose"]]')
    write_events(synthetic_events(n_days=1, n_hosts=2, seed=1), at / "log.csv")
    save(task_stream(table, n_tasks=2), at / "toy.npz")
    publish(task_stream(table, n_tasks=2), at / "published")
    for name in ("n.npz", "a.arff", "c.train.csv", "p.train.parquet", "campaign.npz"):
        save(make_stream(name=name[0]), at / name)
    run_campaign(["mean"], [make_stream()], [0], at / "runs", energy="none")
    options = 'strategies = ["mean"]\ndirectory = "new"\nenergy = "none"\n'
    (at / "campaign.toml").write_text(f'streams = ["campaign.npz"]\n{options}')
    join_arena(at / "joined")
    arena.pack(arena.run("mean", at / "ran", scope="lite", boards=["environments"]).folder, at / "mean.zip")
    make_challenges(at)
    return at


def make_challenges(at):
    environments = environment_stream(("train", "train", "validation", "test", "unseen"), n_rows=60, seed=2**50)
    save(environments, at / "rules.npz")
    (at / "rules.toml").write_text('name = "toy"\nmin_rows = 10\nstream = "rules.npz"\n')
    (at / "inbox").mkdir(0o700)
    (at / "host.pem").touch()
    (at / "host.key").touch()
    with pytest.MonkeyPatch.context() as patch:
        score_in_this_process(patch)
        with Challenge.create(environments, at / "rules.toml", at / "org", at / "pub") as challenge:
            token = challenge.join("Ada")
            challenge.join("Eve")
            (at / "team.token").write_text(token)
            (at / "mine.csv").write_bytes(draw(challenge))
            challenge.submit(at / "mine.csv", token)
        shutil.copytree(at / "org", at / "ended")
        with Challenge.open(at / "ended") as challenge:
            challenge.close(early=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory, template):
    """Return where rows are run, in one process; commands are built once, and what takes long is cut short."""
    with pytest.MonkeyPatch.context() as patch, run_hub() as hub:
        patch.setitem(main.__globals__, "app", BUILT)
        patch.setenv("HF_ENDPOINT", hub.endpoint)
        patch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        if HAS_HUB:
            patch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        patch.setattr("mlstream.challenge.server.serve._Server.run", read_certificate)
        patch.setattr("mlstream.publishing.folder.list_presets", lambda: ("synthetic-rand",))
        patch.setattr("mlstream.cli.demo.STRATEGIES", ("mean",))
        patch.setattr("mlstream.cli.demo.load_registered", lambda _name: load_dataset(template / "toy.arff"))
        patch.setattr(challenge_demo, "TEAMS", ())
        patch.setattr(challenge_demo, "_RULES", 'name = "toy"\nmin_rows = 10\n')
        patch.setattr(challenge_demo, "environment_stream", partial(environment_stream, n_rows=60))
        score_in_this_process(patch)
        yield Place(tmp_path_factory.mktemp("place"), template)


def read_certificate(server):
    for path in (server.config.ssl_certfile, server.config.ssl_keyfile):
        Path(path).read_bytes()


# links are for the slow tier
@pytest.mark.parametrize(
    "spelling", [pytest.param(name, marks=pytest.mark.slow) if "link" in name else name for name in SPELLINGS]
)
def test_a_path_may_be_spelled(spelling, place):
    found = [place.compare(row, SPELLINGS[spelling]) for row in ROWS]
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.slow
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_path_of_a_slow_command_may_be_spelled(spelling, place):
    found = [place.compare(row, SPELLINGS[spelling]) for row in SLOW if HAS_HUB or not row.startswith("upload")]
    assert not any(found), "\n".join(filter(None, found))


def test_a_slash_behind_the_name_of_a_file_is_one_error(place):
    found = []
    for row in (*ROWS, *SLOW):
        for path in filter(is_file, PATH.findall(row)):
            before = contents(place.fill(row, SPELLINGS["relative"]))
            words = [spell(word, SPELLINGS["relative"]) for word in shlex.split(row)]
            status, printed = place.call([f"{word}/" if word == path else word for word in words], "files")
            errors = [line for line in printed.splitlines() if line.startswith("Error: ")]
            if not status or len(errors) != 1 or f"{path}/" not in errors[0]:
                found.append(f"{row}, {path}/: status {status}, {printed}")
            if contents(place.base / "files") != before:
                found.append(f"{row}, {path}/: wrote something")
    assert not found, "\n".join(found)


def test_every_path_stands_in_a_row():
    commands = {name: one for name, one in _commands(BUILT) if not hasattr(one, "commands")}
    typed = {}
    for row in (*ROWS, *SLOW):
        words, name = shlex.split(row), ""
        while name not in commands:
            name = f"{name} {words.pop(0)}".strip()
        context = commands[name].make_context(name, words)
        typed.setdefault(name, set()).update(key for key, value in context.params.items() if PATH.search(str(value)))
    absent = {name: path_parameters(command) - typed.get(name, set()) for name, command in commands.items()}
    assert not any(absent.values()), {name: paths for name, paths in absent.items() if paths}


def path_parameters(command):
    """Find the parameters that are paths, or that may be the path of a file, as the help says."""
    command = getattr(command, "build", lambda: command)()
    annotations = inspect.signature(command.callback, eval_str=True).parameters if command.callback else {}
    return {
        one.name
        for one in command.params
        if one.name in annotations and ("Path" in str(annotations[one.name].annotation) or MAY_BE_FILE.search(one.help))
    }
