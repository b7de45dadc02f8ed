"""Bundles of Codabench: what the platform checks, its call of the scoring program, and who can see what."""

import ast
import io
import re
import zipfile
from datetime import UTC, datetime
from importlib.resources import files

import numpy as np
import pytest
import yaml

from mlstream.challenge.codabench.check import check_bundle, dry_run
from mlstream.challenge.codabench.export import draw_logo, export_codabench
from mlstream.challenge.config import parse_time
from mlstream.challenge.engine import Challenge
from mlstream.challenge.scoring.metric import METRIC_NAMES
from mlstream.challenge.scoring.scorer import Scorer
from mlstream.challenge.submissions.files import read_submission
from mlstream.challenge.truth import format_keys
from mlstream.generators import environment_stream
from tests.loops import check_all
from tests.mlstream.challenge.challenges import layout_of, truth_table
from tests.mlstream.challenge.sample_files import WRITERS, as_csv, make_layout, make_prob
from tests.mlstream.cli.commands import invoke

ENDS = datetime(2099, 2, 1, tzinfo=UTC)
ROLES = ("train", "train", "validation", "test", "test", "unseen", "unseen")


def make(path, metric="nce", rules="ladder_step = 0.0\n"):
    path.mkdir(exist_ok=True)
    stream = environment_stream(ROLES, n_rows=60, seed=2**50, n_labels=3, evaluation_fraction=0.5)
    (path / "c.toml").write_text(f'name = "a: \\"toy\\" # é"\nmin_rows = 10\nmetric = "{metric}"\n{rules}')
    return Challenge.create(stream, path / "c.toml", path / "org", path / "pub")


def program():
    namespace = {"__name__": "score"}
    exec(files("mlstream.challenge.codabench").joinpath("program", "score.py").read_text(), namespace)  # noqa: S102
    return namespace


def one_fast(cases):
    """Mark all cases but the first as slow: each starts the program twice."""
    return [pytest.param(case, marks=[pytest.mark.slow] if number else []) for number, case in enumerate(cases)]


@pytest.fixture(scope="module")
def challenge(tmp_path_factory):
    with make(tmp_path_factory.mktemp("codabench"), rules="in_distribution_score = true\nladder_step = 0.0\n") as made:
        yield made


@pytest.fixture(scope="module")
def bundle(challenge):
    output = challenge.folder.path.parent / "bundle.zip"
    export_codabench(challenge.folder.path, output, development_ends=ENDS)
    return output


@pytest.mark.slow
@pytest.mark.parametrize("metric", one_fast(METRIC_NAMES))
def test_the_scoring_program_computes_the_scores_of_the_engine(tmp_path, metric):
    with make(tmp_path, metric, "k = 2\neps_final = 1e-9\nladder_step = 0.0\n") as challenge:
        layout = layout_of(challenge)
        prob = make_prob(layout, seed=3).round(1)  # ties, 0 and 1: clipping matters
        expected = Scorer(challenge.folder)
        public, final = expected.score_public(prob), expected.score_final(prob)
        export_codabench(challenge.folder.path, tmp_path / "b.zip", development_ends=ENDS)
        (tmp_path / "mine.csv").write_bytes(as_csv(layout, prob, order=range(len(prob))[::-1]))
        got = dry_run(tmp_path / "b.zip", tmp_path / "mine.csv")
    assert got["development"] == {"validation": round(public["validation"], 3)}
    assert got["final"]["validation"] == round(public["validation"], 3)
    assert got["final"]["generalisation"] == pytest.approx(final["test"], abs=1e-12)
    assert got["final"]["robustness"] == pytest.approx(final["unseen"], abs=1e-12)


@pytest.mark.parametrize("metric", METRIC_NAMES)
def test_metrics_of_the_program_leave_out_unknown_and_masked_cells_as_the_engine_does(metric):
    from mlstream.challenge.scoring.metric import metric_of

    namespace = program()
    rng = np.random.default_rng(0)
    for _ in range(20):
        Y = rng.integers(0, 2, (30, 4)).astype(np.float32)
        Y[rng.random(Y.shape) < 0.1] = np.nan
        P, mask = rng.random(Y.shape).round(1), rng.random(Y.shape) < 0.9
        Y[:, 0], Y[:2, 0] = 0, 1
        # Two labels of each row count, so that k = 2 is defined; some rows do not count at all.
        Y[:, :2] = np.nan_to_num(Y[:, :2])
        mask[:, :2] = True
        mask[:3] = False
        expected = metric_of(metric).score(Y, P, mask, eps=1e-6, k=2)
        got = namespace["METRICS"][metric](Y, P, mask & ~np.isnan(Y), 1e-6, 2)
        assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("form", one_fast(["csv", "csv.gz", "npz", "packed npz"]))
def test_the_program_reads_every_form_of_a_submission_but_parquet(tmp_path, challenge, bundle, form):
    layout = layout_of(challenge)
    path = tmp_path / f"mine.{form.removeprefix('packed ')}"
    path.write_bytes(WRITERS[form](layout, truth_table(challenge)))
    got = dry_run(bundle, path)
    # The truth scores -1 to within eps_public.
    assert got["development"] == pytest.approx({"validation": -1, "in_distribution": -1}, abs=0.02)
    # At the end, probabilities are clipped to eps_final only.
    assert got["final"]["robustness"] == pytest.approx(-1, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("row_id", "id", 1), "columns"),
        (lambda text: "\n".join(text.splitlines()[:-1]) + "\n", "rows"),
        (lambda text: text + text.splitlines()[1] + "\n", "rows"),
        (lambda text: text.replace(text.splitlines()[3].split(",")[0], "0" * 16), "missing"),
        (lambda text: text.replace("0.5", "1.5", 1), r"\[0, 1\]"),
        (lambda text: text.replace("0.5", "nan", 1), r"\[0, 1\]"),
        (lambda text: text.replace("0.5", "half", 1), "half"),
        (lambda text: text.replace(",0.5", "", 1), "Line 2"),
        (lambda text: text + " " * 10**7, "bytes"),
    ],
)
def test_the_program_refuses_what_is_no_submission(tmp_path, challenge, bundle, change, words):
    text = (challenge.folder.path.parent / "pub" / "sample_submission.csv").read_text()
    (tmp_path / "mine.csv").write_text(change(text))
    with pytest.raises(RuntimeError, match=words):
        dry_run(bundle, tmp_path / "mine.csv")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ", ", "; "])
def test_the_program_reads_the_separators_that_the_engine_reads(tmp_path, separator):
    layout, path = make_layout(), tmp_path / "a.csv"
    prob = make_prob(layout)
    path.write_bytes(as_csv(layout, prob).replace(b",", separator.encode()) + b"\n" + separator.encode() * 2)
    ids, got = program()["read_csv"](path, list(layout.label_names), 10**6)
    assert ids == format_keys(layout.keys)
    np.testing.assert_array_equal(got, prob)
    np.testing.assert_array_equal(read_submission(path.read_bytes(), layout), prob)


def test_the_program_needs_numpy_only_and_runs_on_the_platforms_python():
    text = files("mlstream.challenge.codabench").joinpath("program", "score.py").read_text()
    tree = ast.parse(text, feature_version=(3, 7))
    found = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    found |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert found - {"__future__", "csv", "gzip", "io", "json", "sys", "pathlib", "typing"} == {"numpy"}


def test_the_bundle_passes_the_checks_and_states_the_rules(bundle):
    assert check_bundle(bundle) == []
    with zipfile.ZipFile(bundle) as archive:
        content = yaml.safe_load(archive.read("competition.yaml"))
    assert (content["version"], content["title"]) == (2, 'a: "toy" # é')
    development, final = content["phases"]
    assert development["end"] == "2099-02-01 00:00:00"
    assert final["start"] == "2099-02-01 00:01:00"
    assert "end" not in final
    assert development["max_submissions_per_day"] == 30
    assert development["max_submissions"] > 100
    columns = {column["key"]: column for column in content["leaderboards"][0]["columns"]}
    assert {column["sorting"] for column in columns.values()} == {"asc"}
    assert [key for key, column in columns.items() if column["hidden"]] == ["generalisation", "robustness"]
    assert all("input_data" not in task and "ingestion_program" not in task for task in content["tasks"])


def test_truth_is_in_reference_data_only_and_that_of_the_final_phase_in_its_own(challenge, bundle):
    with zipfile.ZipFile(bundle) as archive:
        arrays = {}
        for task in ("development", "final"):
            with np.load(io.BytesIO(archive.read(f"reference_{task}/truth.npz")), allow_pickle=False) as found:
                arrays[task] = {name: found[name] for name in found.files}
        public = {name: archive.read(name) for name in archive.namelist() if name.startswith("public_data/")}
    rows = {task: {name: len(one) for name, one in found.items()} for task, found in arrays.items()}
    count = {
        role: sum(one.n_rows for one in challenge.manifest.of_role(role)) for role in ("validation", "test", "unseen")
    }
    hidden = sum(n for name, n in rows["development"].items() if name.startswith("rows"))
    trained = sum(one.n_rows for one in challenge.manifest.of_role("in-distribution"))
    assert hidden == count["validation"] + trained
    assert sum(n for name, n in rows["final"].items() if name.startswith("rows")) == sum(count.values())
    own = challenge.folder.path.parent / "pub"
    assert {name.removeprefix("public_data/") for name in public} == {path.name for path in own.iterdir()}
    for name in ("holdout.csv", "train.csv", "sample_submission.csv", "RULES.md", "card.public.json"):
        assert public[f"public_data/{name}"] == (own / name).read_bytes()
    assert bundle.stat().st_mode & 0o077 == 0


def test_a_ladder_is_said_to_have_no_effect_there(tmp_path):
    with make(tmp_path, rules="") as challenge:
        step = f"as a multiple of {challenge.feedback.step:g}"
        assert step in (tmp_path / "pub" / "RULES.md").read_text()
        assert (
            "ladder_step has no effect"
            in export_codabench(challenge.folder.path, tmp_path / "b.zip", development_ends=ENDS)[0]
        )
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert f"rounded to {challenge.feedback.decimals} decimals" in archive.read("pages/rules.md").decode()


def edit(bundle, path, change, drop=()):
    """Write a bundle again, with a change of what competition.yaml holds."""
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            if name not in drop and name != "competition.yaml":
                new.writestr(name, old.read(name))
        content = yaml.safe_load(old.read("competition.yaml"))
        change(content)
        new.writestr("competition.yaml", yaml.safe_dump(content))
    return check_bundle(path)


def put(*path_and_value):
    *path, last, value = path_and_value

    def change(content):
        for key in path:
            content = content[key]
        content[last] = value

    return change


def test_what_the_platform_refuses_is_found(tmp_path, bundle):
    def check(case):
        number, (change, words) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        found = edit(bundle, folder / "b.zip", change)
        assert any(words in line for line in found), found

    check_all(
        enumerate(
            [
                (put("version", 1), "version"),
                (put("title", ""), "title"),
                (put("pages", []), "pages"),
                (put("pages", 0, "file", "nowhere.md"), "nowhere.md"),
                (put("terms", None), "terms"),
                (put("image", "pages/terms.md"), "image"),
                (put("tasks", []), "tasks"),
                (put("tasks", 1, "index", 0), "indices"),
                (put("tasks", 0, "reference_data", "nowhere"), "nowhere"),
                (put("tasks", 0, "ingestion_only_during_scoring", True), "result submissions"),
                (put("phases", []), "phases"),
                (put("phases", 0, "end", "2099-02-01 00:01:00"), "before the start"),
                (put("phases", 0, "end", None), "must have an end"),
                (put("phases", 0, "start", datetime(2020, 1, 1)), "as text"),
                (put("phases", 0, "auto_migrate_to_this_phase", True), "first phase"),
                (put("phases", 1, "tasks", [7]), "tasks that are there"),
                (put("phases", 0, "public_data", "nowhere"), "nowhere"),
                (put("leaderboards", []), "leaderboards"),
                (put("leaderboards", 0, "columns", []), "columns"),
                (put("leaderboards", 0, "columns", 1, "index", 0), "index"),
                (put("leaderboards", 0, "columns", 1, "key", "validation"), "key"),
                (put("leaderboards", 0, "columns", 1, "title", "x" * 37), "36 characters"),
                (put("leaderboards", 0, "columns", 0, "sorting", "up"), "sorting"),
                (put("leaderboards", 0, "submission_rule", "Best"), "submission_rule"),
                (put("leaderboards", 0, "primary_index", 9), "primary_index"),
            ]
        ),
        check,
    )


def test_a_program_without_a_command_a_bundle_without_yaml_and_no_zip_are_found(tmp_path, bundle):
    found = edit(bundle, tmp_path / "a.zip", lambda content: None, drop=("scoring_program/metadata.yaml",))
    assert any("command" in line for line in found)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("folder/competition.yaml", "version: 2")
    assert check_bundle(tmp_path / "b.zip") == ["competition.yaml must be at the root of the zip"]
    (tmp_path / "c.zip").write_text("x")
    assert "must be a zip" in check_bundle(tmp_path / "c.zip")[0]


def test_a_phase_that_is_followed_needs_an_end(tmp_path, challenge):
    with pytest.raises(ValueError, match="--development-ends"):
        export_codabench(challenge.folder.path, tmp_path / "b.zip")
    assert not list(tmp_path.iterdir())


def test_an_end_is_stated_once(tmp_path):
    with (
        make(tmp_path / "made", rules="development_ends = 2099-01-01\n") as challenge,
        pytest.raises(ValueError, match="--development-ends must be left out"),
    ):
        export_codabench(challenge.folder.path, tmp_path / "b.zip", development_ends=ENDS)
    assert not (tmp_path / "b.zip").exists()


def test_the_zip_must_not_lie_in_the_organisers_folder(challenge):
    with pytest.raises(ValueError, match="apart"):
        export_codabench(challenge.folder.path, challenge.folder.path / "b.zip", development_ends=ENDS)


def test_the_logo_is_a_picture(tmp_path):
    from PIL import Image

    (tmp_path / "logo.png").write_bytes(draw_logo(12))
    with Image.open(tmp_path / "logo.png") as picture:
        picture.load()
        assert picture.size == (240, 240)
        assert len(picture.getcolors()) == 2


@pytest.mark.parametrize(
    "text", ["2099-02-01 00:00:00", "2099-02-01T00:00Z", "2099-02-01T02:00:00+02:00", "2099-01-31"]
)
def test_the_end_of_development_is_a_time_in_utc(text):
    assert parse_time("x", text) == ENDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2099-02", r"--development-ends must be a time, such as 2027-01-01T00:00:00\. Got '2099-02' instead"),
        ("soon", r"--development-ends must be a time, such as 2027-01-01T00:00:00\. Got 'soon' instead"),
    ],
)
def test_the_command_refuses_what_is_no_time(tmp_path, challenge, text, message):
    arguments = ("export", challenge.folder.path, "--to", "codabench", "-o", tmp_path / "b.zip")
    assert re.match(message, str(invoke("challenge", *arguments, "--development-ends", text).exception))


@pytest.mark.slow
def test_the_command_warns_that_truth_is_in_the_zip(tmp_path, challenge):
    arguments = ("challenge", "export", challenge.folder.path, "--to", "codabench", "-o", tmp_path / "b.zip")
    done = invoke(*arguments, "--development-ends", "2099-02-01 00:00:00")
    assert done.exit_code == 0, done.output or done.exception
    assert "holds truth" in done.stderr
    assert "in task final" in done.stdout
    assert "--force" in str(invoke(*arguments).exception)
