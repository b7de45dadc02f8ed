"""Everything public is in the documentation."""

import re
import textwrap
from pathlib import Path

from typer.testing import CliRunner

import estimators
import metrics
import mlstream
from mlstream import generators
from mlstream.cli import app

API = Path(__file__).parents[1] / "docs" / "api.rst"

# Registries and the results of significance tests are described with the functions that use them.
WITH_THEIR_FUNCTIONS = {
    "BayesianComparison",
    "FROM_NOTHING",
    "FROM_STREAMS",
    "FROM_TABLES",
    "FriedmanResult",
    "GENERATORS",
    "LearningSpeed",
    "PUBLISHED_ORDERS",
    "SCENARIOS",
    "STRATEGIES",
    "StreamParts",
    "remake",
}


def test_every_public_name_is_in_the_api():
    listed = {line.strip().rpartition(".")[2] for line in API.read_text(encoding="utf-8").splitlines()}
    public = {*metrics.__all__, *estimators.__all__, *mlstream.__all__, *generators.__all__}
    assert public - listed == WITH_THEIR_FUNCTIONS


def test_the_lines_of_the_page_on_streams_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (API.parent / "streams.rst").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", page):
        exec(textwrap.dedent(block), names)  # noqa: S102 - what readers of the page would type
    assert names["worse"].card.generator.parameters["base"]["name"] == "delayed_labels"
    commands = re.findall(r"^   \$ mlstream (.*)$", page, re.MULTILINE)
    for command in commands:
        assert CliRunner().invoke(app, command.split()).exit_code == 0
    assert len(list(tmp_path.iterdir())) == len(commands)
